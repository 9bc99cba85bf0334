/*
 * Chunks: see chunk.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/chunk.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* ---------------------------------------------------------------- lists --- */

/* Makes room for one more element of `size` bytes. */
static enum colander_code
grow(void **elements, size_t count, size_t *capacity, size_t size,
     struct colander_error *err)
{
    size_t larger = *capacity * 2 + 64;
    void *grown;

    if (count < *capacity)
        return COLANDER_OK;
    grown = realloc(*elements, larger * size);
    if (grown == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for records");
    *elements = grown;
    *capacity = larger;
    return COLANDER_OK;
}

enum colander_code
chunk_add_piece(struct chunk *chunk, const struct piece *piece,
                struct colander_error *err)
{
    enum colander_code code = grow((void **)&chunk->pieces, chunk->piece_count,
                                   &chunk->piece_capacity, sizeof(*piece), err);

    if (code == COLANDER_OK)
        chunk->pieces[chunk->piece_count++] = *piece;
    return code;
}

enum colander_code
chunk_add_waiting(struct chunk *chunk, size_t piece, struct colander_slice key,
                  struct colander_slice row, struct colander_error *err)
{
    const struct waiting_row waiting = {(uint32_t)piece, (uint32_t)key.size,
                                        (uint32_t)row.size};
    enum colander_code code =
        grow((void **)&chunk->waiting, chunk->waiting_count,
             &chunk->waiting_capacity, sizeof(waiting), err);

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
chunk_add_reason(struct chunk *chunk, const char *reason, uint32_t *at,
                 struct colander_error *err)
{
    *at = (uint32_t)chunk->reasons.size;
    return colander_buffer_append(&chunk->reasons, reason, strlen(reason) + 1,
                                  err);
}

enum colander_code
chunk_reject(struct chunk *chunk, const struct reject *reject,
             struct colander_error *err)
{
    enum colander_code code =
        grow((void **)&chunk->rejects, chunk->reject_count,
             &chunk->reject_capacity, sizeof(*reject), err);

    if (code == COLANDER_OK)
        chunk->rejects[chunk->reject_count++] = *reject;
    return code;
}

enum colander_code
chunk_add_reject(struct chunk *chunk, size_t piece, size_t fault,
                 const char *reason, struct colander_error *err)
{
    struct reject reject = {(uint32_t)piece, (uint32_t)fault, 0};
    enum colander_code code =
        chunk_add_reason(chunk, reason, &reject.reason, err);

    return code == COLANDER_OK ? chunk_reject(chunk, &reject, err) : code;
}

/* Gives back memory that is more than usual. */
static void
trim(struct colander_buffer *buffer)
{
    if (buffer->capacity > 4 * CHUNK_SIZE)
        colander_buffer_release(buffer);
    colander_buffer_clear(buffer);
}

static void
chunk_clear(struct chunk *chunk)
{
    struct chunk cleared = *chunk;

    if (chunk->text.capacity > 4 * CHUNK_SIZE) { /* its batch grew as well */
        colander_batch_destroy(cleared.batch);
        cleared.batch = NULL;
    }
    trim(&cleared.text);
    trim(&cleared.keys);
    trim(&cleared.waiting_bytes);
    trim(&cleared.reasons);
    memset(chunk, 0, sizeof(*chunk));
    chunk->text = cleared.text;
    chunk->keys = cleared.keys;
    chunk->waiting_bytes = cleared.waiting_bytes;
    chunk->reasons = cleared.reasons;
    chunk->pieces = cleared.pieces;
    chunk->piece_capacity = cleared.piece_capacity;
    chunk->waiting = cleared.waiting;
    chunk->waiting_capacity = cleared.waiting_capacity;
    chunk->rejects = cleared.rejects;
    chunk->reject_capacity = cleared.reject_capacity;
    chunk->batch = cleared.batch;
    if (chunk->batch != NULL)
        colander_batch_clear(chunk->batch);
}

static void
chunk_release(struct chunk *chunk)
{
    colander_batch_destroy(chunk->batch);
    colander_buffer_release(&chunk->text);
    colander_buffer_release(&chunk->keys);
    colander_buffer_release(&chunk->waiting_bytes);
    colander_buffer_release(&chunk->reasons);
    free(chunk->pieces);
    free(chunk->waiting);
    free(chunk->rejects);
}

/* ----------------------------------------------------------------- ring --- */

enum chunk_state { CHUNK_EMPTY = 0, CHUNK_FILLED, CHUNK_MADE };

struct ring {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_stopped;
    bool has_last; /* the last chunk was filled */

    /* Counts of chunks since the beginning; the ring has them modulo count. */
    size_t taken_empty;
    size_t taken_filled;
    size_t filled;
    size_t emptied;

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

static void
set_state(struct ring *ring, const struct chunk *chunk, enum chunk_state state)
{
    ring->states[chunk - ring->chunks] = state;
    pthread_cond_broadcast(&ring->changed);
}

/* A chunk that is empty and not taken is one that no count has passed. */
struct chunk *
ring_take_empty(struct ring *ring)
{
    struct chunk *chunk = NULL;

    pthread_mutex_lock(&ring->mutex);
    while (!ring->is_stopped &&
           ring->taken_empty - ring->emptied == ring->count)
        pthread_cond_wait(&ring->changed, &ring->mutex);
    if (!ring->is_stopped)
        chunk = &ring->chunks[ring->taken_empty++ % ring->count];
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

/* The time so many milliseconds from now. */
static struct timespec
after(unsigned wait_ms)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until); /* every Linux has it */
    until.tv_nsec += (long)(wait_ms % 1000) * 1000000;
    until.tv_sec += (time_t)(wait_ms / 1000) + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return until;
}

struct chunk *
ring_take_made(struct ring *ring, unsigned wait_ms)
{
    const struct timespec until = after(wait_ms);
    struct chunk *chunk = NULL;
    size_t next;

    pthread_mutex_lock(&ring->mutex);
    next = ring->emptied % ring->count;
    while (!ring->is_stopped && ring->states[next] != CHUNK_MADE) {
        if (pthread_cond_timedwait(&ring->changed, &ring->mutex, &until) ==
            ETIMEDOUT)
            break;
    }
    if (!ring->is_stopped && ring->states[next] == CHUNK_MADE)
        chunk = &ring->chunks[next];
    pthread_mutex_unlock(&ring->mutex);
    return chunk;
}

bool
ring_is_idle(struct ring *ring)
{
    bool is_idle;

    pthread_mutex_lock(&ring->mutex);
    is_idle = ring->taken_empty - ring->emptied == 1;
    pthread_mutex_unlock(&ring->mutex);
    return is_idle;
}

bool
ring_await_others(struct ring *ring)
{
    bool is_alone;

    pthread_mutex_lock(&ring->mutex);
    while (!ring->is_stopped && ring->taken_empty - ring->emptied > 1)
        pthread_cond_wait(&ring->changed, &ring->mutex);
    is_alone = !ring->is_stopped;
    pthread_mutex_unlock(&ring->mutex);
    return is_alone;
}

void
ring_fill(struct ring *ring, struct chunk *chunk)
{
    pthread_mutex_lock(&ring->mutex);
    ring->filled++;
    ring->has_last = chunk->is_last;
    set_state(ring, chunk, CHUNK_FILLED);
    pthread_mutex_unlock(&ring->mutex);
}

void
ring_make(struct ring *ring, struct chunk *chunk)
{
    pthread_mutex_lock(&ring->mutex);
    set_state(ring, chunk, CHUNK_MADE);
    pthread_mutex_unlock(&ring->mutex);
}

void
ring_empty(struct ring *ring, struct chunk *chunk)
{
    pthread_mutex_lock(&ring->mutex);
    ring->emptied++;
    set_state(ring, chunk, CHUNK_EMPTY);
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
