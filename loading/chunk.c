/* SPDX-License-Identifier: MIT */
#include "loading/chunk.h"
#include "core/array.h"
#include "core/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- lists --- */

enum colander_code
chunk_add_piece(struct chunk *chunk, const struct piece *piece,
                struct colander_error *err)
{
    enum colander_code code = array_reserve(&chunk->pieces, chunk->piece_count,
                                            &chunk->piece_capacity, 1, err);

    if (code == COLANDER_OK)
        chunk->pieces[chunk->piece_count++] = *piece;
    return code;
}

enum colander_code
chunk_add_record(struct chunk *chunk, const struct colander_load_record *record,
                 bool keeps_key, struct colander_error *err)
{
    const size_t index = chunk->piece_count;
    const struct colander_slice text =
        record->is_null ? record->key : record->value;
    const struct piece piece = {record->fault != NULL ? PIECE_BAD
                                : record->is_null     ? PIECE_NULL
                                                      : PIECE_RECORD,
                                (uint32_t)chunk->text.size, (uint32_t)text.size,
                                keeps_key ? (uint32_t)record->key.size : 0,
                                (uint8_t)record->operation};
    enum colander_code code =
        array_reserve(&chunk->places, index, &chunk->place_capacity, 1, err);

    if (code == COLANDER_OK)
        code = colander_buffer_append(&chunk->text, text.data, text.size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&chunk->text, record->key.data,
                                      piece.key_size, err);
    if (code == COLANDER_OK && record->fault != NULL)
        code = chunk_add_reject(chunk, index, 0, record->fault, err);
    if (code == COLANDER_OK)
        code = chunk_add_piece(chunk, &piece, err);
    if (code == COLANDER_OK)
        chunk->places[index] = record->place;
    chunk->has_changes |= piece.kind == PIECE_NULL ||
                          (record->operation != COLANDER_LOAD_OPERATION_PUT &&
                           record->operation != COLANDER_LOAD_OPERATION_ROW);
    return code;
}

enum colander_code
place_key(const struct colander_load_place *place, bool with_time,
          struct colander_buffer *key, struct colander_error *err)
{
    const int64_t second = place->time_ms / 1000;
    const struct colander_value parts[] = {
        colander_timestamp(second, (uint32_t)(place->time_ms % 1000) * 1000000),
        colander_text(place->topic),
        colander_integer(place->partition),
        colander_integer(place->offset),
    };

    return colander_key_encode(parts + !with_time, 3 + with_time, key, err);
}

enum colander_code
chunk_add_mark(struct chunk *chunk, struct colander_slice name,
               struct colander_slice value, struct colander_error *err)
{
    const size_t sizes[] = {name.size, value.size};
    struct colander_buffer *marks = &chunk->marks;
    enum colander_code code =
        colander_buffer_append(marks, sizes, sizeof(sizes), err);

    if (code == COLANDER_OK)
        code = colander_buffer_append(marks, name.data, name.size, err);
    return code == COLANDER_OK
               ? colander_buffer_append(marks, value.data, value.size, err)
               : code;
}

bool
chunk_next_mark(const struct chunk *chunk, size_t *at,
                struct colander_slice *name, struct colander_slice *value)
{
    size_t sizes[2];
    const uint8_t *data;

    if (*at == chunk->marks.size)
        return false;
    data = chunk->marks.data + *at;
    memcpy(sizes, data, sizeof(sizes));
    *name = colander_slice_of(data + sizeof(sizes), sizes[0]);
    *value = colander_slice_of(name->data + name->size, sizes[1]);
    *at += sizeof(sizes) + sizes[0] + sizes[1];
    return true;
}

enum colander_code
chunk_add_waiting(struct chunk *chunk, size_t piece, bool has_new_key,
                  struct colander_slice key, struct colander_slice row,
                  struct colander_error *err)
{
    const struct waiting_row waiting = {
        .piece = (uint32_t)piece,
        .key_size = (uint32_t)key.size,
        .row_size = (uint32_t)row.size,
        .has_new_key = has_new_key,
        .key_at = chunk->waiting_bytes.size,
    };
    enum colander_code code =
        array_reserve(&chunk->waiting, chunk->waiting_count,
                      &chunk->waiting_capacity, 1, err);

    if (code == COLANDER_OK)
        code = colander_buffer_append(&chunk->waiting_bytes, key.data, key.size,
                                      err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&chunk->waiting_bytes, row.data, row.size,
                                      err);
    if (code == COLANDER_OK)
        chunk->waiting[chunk->waiting_count++] = waiting;
    return code;
}

enum colander_code
chunk_note_item(struct chunk *chunk, uint8_t action, bool is_upsert,
                struct colander_slice family, struct colander_error *err)
{
    struct waiting_row *waiting = &chunk->waiting[chunk->waiting_count - 1];

    waiting->action = action;
    waiting->is_upsert = is_upsert;
    waiting->family_size = (uint32_t)family.size;
    return colander_buffer_append(&chunk->waiting_bytes, family.data,
                                  family.size, err);
}

enum colander_code
chunk_add_reject(struct chunk *chunk, size_t piece, size_t fault,
                 const char *reason, struct colander_error *err)
{
    const struct reject reject = {.piece = (uint32_t)piece,
                                  .fault = (uint32_t)fault,
                                  .reason = (uint32_t)chunk->reasons.size};
    enum colander_code code = array_reserve(
        &chunk->rejects, chunk->reject_count, &chunk->reject_capacity, 1, err);

    if (code == COLANDER_OK)
        code = colander_buffer_append(&chunk->reasons, reason,
                                      strlen(reason) + 1, err);
    if (code == COLANDER_OK)
        chunk->rejects[chunk->reject_count++] = reject;
    return code;
}

void
chunk_drop_untaken(struct chunk *chunk)
{
    size_t count = 0;

    for (size_t i = 0; i < chunk->waiting_count; i++) {
        if (chunk->waiting[i].is_taken)
            chunk->waiting[count++] = chunk->waiting[i];
    }
    chunk->waiting_count = count;
}

static int
compare_rejects(const void *a, const void *b)
{
    const struct reject *first = a;
    const struct reject *second = b;

    return (first->piece > second->piece) - (first->piece < second->piece);
}

void
chunk_sort_rejects(struct chunk *chunk)
{
    if (chunk->reject_count > 1)
        qsort(chunk->rejects, chunk->reject_count, sizeof(*chunk->rejects),
              compare_rejects);
}

void
chunk_spot_move(struct chunk_spot *spot, const struct chunk *chunk, size_t at)
{
    if (at < spot->at)
        *spot = (struct chunk_spot){0, chunk->line, chunk->line_offset};
    for (size_t i = spot->at; i < at; i++) {
        if (chunk->text.data[i] == '\n') {
            spot->begin = chunk->offset + i + 1;
            spot->line++;
        }
    }
    spot->at = at;
}

/* Frees memory that is more than usual. */
static void
trim(struct colander_buffer *buffer)
{
    if (buffer->capacity > 4 * CHUNK_SIZE)
        colander_buffer_release(buffer);
    colander_buffer_clear(buffer);
}

/* Keeps the memory of lists and of what is not more than usual. */
static void
chunk_clear(struct chunk *chunk)
{
    trim(&chunk->text);
    trim(&chunk->keys);
    trim(&chunk->waiting_bytes);
    trim(&chunk->reasons);
    trim(&chunk->marks);
    *chunk = (struct chunk){
        .text = chunk->text,
        .keys = chunk->keys,
        .waiting_bytes = chunk->waiting_bytes,
        .reasons = chunk->reasons,
        .marks = chunk->marks,
        .places = chunk->places,
        .place_capacity = chunk->place_capacity,
        .pieces = chunk->pieces,
        .piece_capacity = chunk->piece_capacity,
        .waiting = chunk->waiting,
        .waiting_capacity = chunk->waiting_capacity,
        .rejects = chunk->rejects,
        .reject_capacity = chunk->reject_capacity,
    };
}

static void
chunk_release(struct chunk *chunk)
{
    colander_buffer_release(&chunk->text);
    colander_buffer_release(&chunk->keys);
    colander_buffer_release(&chunk->waiting_bytes);
    colander_buffer_release(&chunk->reasons);
    colander_buffer_release(&chunk->marks);
    free(chunk->places);
    free(chunk->pieces);
    free(chunk->waiting);
    free(chunk->rejects);
}

/* ----------------------------------------------------------------- ring --- */

struct ring {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_stopped;
    bool has_last; /* the last chunk was filled */

    /* Counts of chunks since the beginning; the ring has them modulo count. */
    size_t taken_free;
    size_t taken_filled;
    size_t filled;
    size_t freed;

    size_t count;
    enum chunk_state *states;
    struct chunk *chunks;
};

struct ring *
ring_create(size_t chunk_count)
{
    struct ring *ring = calloc(1, sizeof(*ring));
    pthread_condattr_t attributes;

    if (ring == NULL)
        return NULL;
    pthread_mutex_init(&ring->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&ring->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    ring->states = calloc(chunk_count, sizeof(*ring->states));
    ring->chunks = calloc(chunk_count, sizeof(*ring->chunks));
    if (ring->states == NULL || ring->chunks == NULL) {
        ring_destroy(ring);
        return NULL;
    }
    ring->count = chunk_count;
    return ring;
}

void
ring_destroy(struct ring *ring)
{
    if (ring == NULL)
        return;
    for (size_t i = 0; ring->chunks != NULL && i < ring->count; i++)
        chunk_release(&ring->chunks[i]);
    free(ring->chunks);
    free(ring->states);
    pthread_cond_destroy(&ring->changed);
    pthread_mutex_destroy(&ring->mutex);
    free(ring);
}

struct chunk *
ring_take_free(struct ring *ring)
{
    struct chunk *chunk = NULL;

    pthread_mutex_lock(&ring->mutex);
    while (!ring->is_stopped && ring->taken_free - ring->freed == ring->count)
        pthread_cond_wait(&ring->changed, &ring->mutex);
    if (!ring->is_stopped)
        chunk = &ring->chunks[ring->taken_free++ % ring->count];
    pthread_mutex_unlock(&ring->mutex);
    if (chunk != NULL)
        chunk_clear(chunk);
    return chunk;
}

struct chunk *
ring_take_filled(struct ring *ring)
{
    struct chunk *chunk = NULL;

    pthread_mutex_lock(&ring->mutex);
    while (!ring->is_stopped && !ring->has_last &&
           ring->taken_filled == ring->filled)
        pthread_cond_wait(&ring->changed, &ring->mutex);
    if (!ring->is_stopped && ring->taken_filled < ring->filled)
        chunk = &ring->chunks[ring->taken_filled++ % ring->count];
    pthread_mutex_unlock(&ring->mutex);
    return chunk;
}

struct chunk *
ring_take_parsed(struct ring *ring, unsigned wait_ms)
{
    const struct timespec until = clock_after(CLOCK_MONOTONIC, wait_ms);
    struct chunk *chunk = NULL;
    size_t next;

    pthread_mutex_lock(&ring->mutex);
    next = ring->freed % ring->count;
    while (!ring->is_stopped && ring->states[next] != CHUNK_PARSED) {
        if (pthread_cond_timedwait(&ring->changed, &ring->mutex, &until) ==
            ETIMEDOUT)
            break;
    }
    if (!ring->is_stopped && ring->states[next] == CHUNK_PARSED)
        chunk = &ring->chunks[next];
    pthread_mutex_unlock(&ring->mutex);
    return chunk;
}

bool
ring_is_idle(struct ring *ring)
{
    bool is_idle;

    pthread_mutex_lock(&ring->mutex);
    is_idle = ring->taken_free - ring->freed == 1;
    pthread_mutex_unlock(&ring->mutex);
    return is_idle;
}

bool
ring_await_others(struct ring *ring)
{
    bool is_alone;

    pthread_mutex_lock(&ring->mutex);
    while (!ring->is_stopped && ring->taken_free - ring->freed > 1)
        pthread_cond_wait(&ring->changed, &ring->mutex);
    is_alone = !ring->is_stopped;
    pthread_mutex_unlock(&ring->mutex);
    return is_alone;
}

void
ring_put(struct ring *ring, struct chunk *chunk, enum chunk_state state)
{
    pthread_mutex_lock(&ring->mutex);
    ring->states[chunk - ring->chunks] = state;
    ring->filled += state == CHUNK_FILLED;
    ring->freed += state == CHUNK_FREE;
    if (state == CHUNK_FILLED)
        ring->has_last = chunk->is_last;
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->mutex);
}

void
ring_stop(struct ring *ring)
{
    pthread_mutex_lock(&ring->mutex);
    ring->is_stopped = true;
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->mutex);
}
