/*
 * Recent rows: see recent.h.
 *
 * The mutex is held to change pointers and to fill the open chunk. Chunks are
 * removed from the list under it and freed after it, because freeing dozens of
 * them takes milliseconds.
 *
 * A view of the list is created when one is requested, and shared until a chunk
 * is added or removed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/recent.h"
#include "core/array.h"

#include "filters/live/recent_chunk.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

/* Chunks to prefetch ahead of the current one. */
#define FETCH_AHEAD 16

/* How many of a write's latest chunks are compared to find a repeated one. A
 * write to more families than this counts some chunks twice, harmlessly. */
#define WRITE_LOOK_BACK 8

struct recent {
    pthread_mutex_t mutex;
    atomic_uint_fast64_t bytes;

    /* Under the mutex. */
    struct recent_chunk *open; /* one of the chunks, or NULL */
    struct recent_chunk **chunks;
    size_t count;
    size_t capacity;
    uint64_t slot_count;      /* of all chunks */
    struct recent_view *view; /* current view; NULL: not created yet */
    uint64_t flushed;
    uint64_t row_count;
};

struct recent_view {
    struct recent *recent;
    atomic_size_t reference_count;
    size_t count;
    struct recent_view_chunk {
        struct recent_chunk *chunk;
        unsigned slot_bits; /* the chunk's, so that its head need not be read */
    } chunks[];
};

/* Removed from the list under the mutex, to be released after it. */
struct dropped {
    struct recent_chunk *chunks;
    struct recent_view *view;
};

struct recent *
recent_create(void)
{
    struct recent *recent = calloc(1, sizeof(*recent));

    if (recent == NULL)
        return NULL;
    if (pthread_mutex_init(&recent->mutex, NULL) != 0) {
        free(recent);
        return NULL;
    }
    return recent;
}

static void
chunk_unref(struct recent *recent, struct recent_chunk *chunk)
{
    if (atomic_fetch_sub(&chunk->reference_count, 1) != 1)
        return;
    atomic_fetch_sub(&recent->bytes, chunk->size);
    recent_chunk_destroy(chunk);
}

void
recent_destroy(struct recent *recent)
{
    if (recent == NULL)
        return;
    recent_view_release(recent->view);
    for (size_t i = 0; i < recent->count; i++) {
        assert(recent->chunks[i]->pending_count == 0);
        chunk_unref(recent, recent->chunks[i]);
    }
    assert(atomic_load(&recent->bytes) == 0);
    free(recent->chunks);
    pthread_mutex_destroy(&recent->mutex);
    free(recent);
}

/* ------------------------------------------------------ chunks that go --- */

static bool
is_done(const struct recent_chunk *chunk)
{
    return chunk->pending_count == 0 &&
           chunk->sequence <= chunk->recent->flushed;
}

/* Removes all finished chunks from the list. */
static void
drop_done(struct recent *recent, struct dropped *dropped)
{
    size_t kept = 0;

    for (size_t i = 0; i < recent->count; i++) {
        struct recent_chunk *chunk = recent->chunks[i];

        if (!is_done(chunk)) {
            recent->chunks[kept++] = chunk;
            continue;
        }
        if (recent->open == chunk)
            recent->open = NULL;
        recent->row_count -= chunk->row_count;
        recent->slot_count -= UINT64_C(1) << chunk->slot_bits;
        chunk->next_dropped = dropped->chunks;
        dropped->chunks = chunk;
    }
    if (kept == recent->count)
        return;
    recent->count = kept;
    dropped->view = recent->view;
    recent->view = NULL;
}

/* Requires that the mutex is not held. */
static void
dropped_release(struct recent *recent, struct dropped *dropped)
{
    recent_view_release(dropped->view);
    while (dropped->chunks != NULL) {
        struct recent_chunk *chunk = dropped->chunks;

        dropped->chunks = chunk->next_dropped;
        chunk_unref(recent, chunk);
    }
}

void
recent_flushed(struct recent *recent, uint64_t sequence)
{
    struct dropped dropped = {NULL, NULL};

    pthread_mutex_lock(&recent->mutex);
    if (sequence > recent->flushed) {
        recent->flushed = sequence;
        drop_done(recent, &dropped);
    }
    pthread_mutex_unlock(&recent->mutex);
    dropped_release(recent, &dropped);
}

/* -------------------------------------------------------------- writes --- */

/* Makes room for one more chunk. */
static enum colander_code
write_reserve(struct recent_write *write, struct colander_error *err)
{
    size_t capacity = write->capacity * 2;
    struct recent_chunk **grown;

    if (write->count < write->capacity)
        return COLANDER_OK;
    if (write->capacity == 0) {
        write->chunks = write->first;
        write->capacity = sizeof(write->first) / sizeof(write->first[0]);
        return COLANDER_OK;
    }
    grown = realloc(write->chunks == write->first ? NULL : write->chunks,
                    capacity * sizeof(*grown));
    if (grown == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a recent row");
    if (write->chunks == write->first)
        memcpy(grown, write->first, sizeof(write->first));
    write->chunks = grown;
    write->capacity = capacity;
    return COLANDER_OK;
}

/* Keeps the chunk until the write has ended. Requires room for it. */
static void
write_touch(struct recent_write *write, struct recent_chunk *chunk)
{
    size_t until =
        write->count > WRITE_LOOK_BACK ? write->count - WRITE_LOOK_BACK : 0;

    for (size_t i = write->count; i > until; i--)
        if (write->chunks[i - 1] == chunk)
            return;
    write->chunks[write->count++] = chunk;
    chunk->pending_count++;
}

/* Ends the write for one chunk, which may then be finished. */
static void
write_end_chunk(struct recent_chunk *chunk, uint64_t sequence)
{
    struct recent *recent = chunk->recent;
    struct dropped dropped = {NULL, NULL};

    pthread_mutex_lock(&recent->mutex);
    assert(chunk->pending_count > 0);
    chunk->pending_count--;
    if (sequence > chunk->sequence)
        chunk->sequence = sequence;
    if (is_done(chunk))
        drop_done(recent, &dropped);
    pthread_mutex_unlock(&recent->mutex);
    dropped_release(recent, &dropped);
}

void
recent_write_end(struct recent_write *write, bool is_written, uint64_t sequence)
{
    for (size_t i = 0; i < write->count; i++)
        write_end_chunk(write->chunks[i], is_written ? sequence : 0);
    if (write->chunks != write->first)
        free(write->chunks);
    write->chunks = NULL;
    write->count = 0;
    write->capacity = 0;
}

/* --------------------------------------------------------------- notes --- */

/* Returns the size of the next chunk: as many slots as all chunks have
 * together. So families with few recent rows take little memory, and others
 * have few chunks to search. */
static unsigned
next_slot_bits(const struct recent *recent)
{
    unsigned bits = RECENT_SLOT_BITS_MIN;

    while (bits < RECENT_SLOT_BITS_MAX &&
           UINT64_C(2) << bits <= recent->slot_count)
        bits++;
    return bits;
}

/* Ensures that a chunk is open. */
static enum colander_code
open_chunk(struct recent *recent, size_t key_size, struct colander_error *err)
{
    struct recent_chunk *chunk;
    enum colander_code code;

    if (recent->open != NULL)
        return COLANDER_OK;
    code = array_reserve(&recent->chunks, recent->count, &recent->capacity, 1,
                         err);
    if (code != COLANDER_OK)
        return code;
    chunk = recent_chunk_create(next_slot_bits(recent), key_size);
    if (chunk == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a recent row");
    chunk->recent = recent;
    atomic_fetch_add(&recent->bytes, chunk->size);
    recent->slot_count += UINT64_C(1) << chunk->slot_bits;
    recent->chunks[recent->count++] = chunk;
    recent->open = chunk;
    /* This frees no chunk: the list still has all chunks of the view. */
    recent_view_release(recent->view);
    recent->view = NULL;
    return COLANDER_OK;
}

/* Requires the mutex. What was added before a failure belongs to `write` and is
 * removed with it. */
static enum colander_code
add_values(struct recent *recent, struct recent_write *write,
           struct colander_slice key, const struct recent_value *values,
           size_t count, struct colander_error *err)
{
    size_t done = 0;

    while (done < count) {
        enum colander_code code = write_reserve(write, err);
        size_t some;

        if (code == COLANDER_OK)
            code = open_chunk(recent, key.size, err);
        if (code != COLANDER_OK)
            return code;
        some = recent_chunk_add(recent->open, key, values + done, count - done);
        if (some > 0)
            write_touch(write, recent->open);
        if (some > 0 && done == 0) {
            recent->open->row_count++;
            recent->row_count++;
        }
        done += some;
        if (done < count)
            recent->open = NULL;
    }
    return COLANDER_OK;
}

enum colander_code
recent_add(struct recent *recent, struct recent_write *write,
           struct colander_slice key, const struct recent_value *values,
           size_t count, struct colander_error *err)
{
    enum colander_code code;

    if (key.size > RECENT_KEY_SIZE_MAX)
        return COLANDER_FAIL(
            err, COLANDER_LIMIT,
            "a key of %zu bytes is too long for a recent row: at most "
            "%d",
            key.size, RECENT_KEY_SIZE_MAX);
    pthread_mutex_lock(&recent->mutex);
    code = add_values(recent, write, key, values, count, err);
    pthread_mutex_unlock(&recent->mutex);
    return code;
}

/* --------------------------------------------------------------- views --- */

/* Requires the mutex. */
static struct recent_view *
view_make(struct recent *recent)
{
    struct recent_view *view = malloc(
        sizeof(*view) + recent->count * sizeof(struct recent_view_chunk));

    if (view == NULL)
        return NULL;
    view->recent = recent;
    atomic_init(&view->reference_count, 1);
    view->count = recent->count;
    for (size_t i = 0; i < recent->count; i++) {
        struct recent_chunk *chunk = recent->chunks[i];

        atomic_fetch_add(&chunk->reference_count, 1);
        view->chunks[i].chunk = chunk;
        view->chunks[i].slot_bits = chunk->slot_bits;
    }
    return view;
}

struct recent_view *
recent_view_create(struct recent *recent)
{
    struct recent_view *view;

    pthread_mutex_lock(&recent->mutex);
    if (recent->view == NULL)
        recent->view = view_make(recent);
    view = recent->view;
    if (view != NULL)
        atomic_fetch_add(&view->reference_count, 1);
    pthread_mutex_unlock(&recent->mutex);
    return view;
}

void
recent_view_release(struct recent_view *view)
{
    if (view == NULL || atomic_fetch_sub(&view->reference_count, 1) != 1)
        return;
    for (size_t i = 0; i < view->count; i++)
        chunk_unref(view->recent, view->chunks[i].chunk);
    free(view);
}

bool
recent_view_is_empty(const struct recent_view *view)
{
    return view->count == 0;
}

/* ------------------------------------------------------------- finding --- */

/* Starts fetching the sieve's word in chunk `index`, if there is one. */
static inline void
fetch(const struct recent_view *view, size_t index, uint64_t hash)
{
    if (index < view->count)
        __builtin_prefetch((const void *)recent_chunk_word(
            view->chunks[index].chunk, view->chunks[index].slot_bits, hash));
}

/* Returns the newest entry of the hash in chunk `index`, or 0, and fetches what
 * the search in a later chunk begins with. */
static inline uint32_t
newest_entry(const struct recent_view *view, size_t index, uint64_t hash)
{
    const struct recent_view_chunk *at = &view->chunks[index];

    fetch(view, index + FETCH_AHEAD, hash);
    return recent_chunk_may_have(at->chunk, at->slot_bits, hash)
               ? recent_chunk_find(at->chunk, at->slot_bits, hash)
               : 0;
}

/* Visits the rows of one chunk, from `entry` on. */
static enum colander_code
visit_entries(const struct recent_view_chunk *at, uint32_t entry, unsigned tag,
              enum colander_code (*visit)(void *context,
                                          struct colander_slice key,
                                          struct colander_error *err),
              void *context, struct colander_error *err)
{
    const uint8_t *last = NULL;
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK) {
        struct colander_slice key;

        entry = recent_chunk_match(at->chunk, at->slot_bits, entry, tag);
        if (entry == 0)
            break;
        key = recent_chunk_key(at->chunk, at->slot_bits, entry);
        /* Skips the second entry of a row that has the value in two columns. */
        if (key.data != last)
            code = visit(context, key, err);
        last = key.data;
        entry = recent_chunk_older(at->chunk, at->slot_bits, entry);
    }
    return code;
}

enum colander_code
recent_find(const struct recent_view *view, uint64_t hash, unsigned tag,
            enum colander_code (*visit)(void *context,
                                        struct colander_slice key,
                                        struct colander_error *err),
            void *context, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < FETCH_AHEAD; i++)
        fetch(view, i, hash);
    for (size_t i = 0; i < view->count && code == COLANDER_OK; i++) {
        uint32_t entry = newest_entry(view, i, hash);

        if (entry != 0)
            code = visit_entries(&view->chunks[i], entry, tag, visit, context,
                                 err);
    }
    return code;
}

uint64_t
recent_count(const struct recent_view *view, uint64_t hash, unsigned tag,
             uint64_t limit)
{
    uint64_t count = 0;

    for (size_t i = 0; i < FETCH_AHEAD; i++)
        fetch(view, i, hash);
    for (size_t i = 0; i < view->count && count < limit; i++) {
        const struct recent_view_chunk *at = &view->chunks[i];
        uint32_t entry = newest_entry(view, i, hash);

        while (entry != 0 && count < limit) {
            entry = recent_chunk_match(at->chunk, at->slot_bits, entry, tag);
            if (entry == 0)
                break;
            count++;
            entry = recent_chunk_older(at->chunk, at->slot_bits, entry);
        }
    }
    return count;
}

struct recent_sizes
recent_sizes(struct recent *recent)
{
    struct recent_sizes sizes;

    pthread_mutex_lock(&recent->mutex);
    sizes.row_count = recent->row_count;
    pthread_mutex_unlock(&recent->mutex);
    sizes.bytes = atomic_load(&recent->bytes);
    return sizes;
}
