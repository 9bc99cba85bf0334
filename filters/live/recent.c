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
#include "filters/locator.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

/* Sieves to prefetch ahead of the current one. */
#define FETCH_AHEAD 8

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
    struct recent_view_sieve {
        const struct recent_sieve *sieve;
        struct recent_sieve_shape shape;
        unsigned slot_bits; /* of its chunks */
        uint64_t columns;   /* that the view has */
        struct recent_chunk *chunks[RECENT_SIEVE_WIDTH_MAX]; /* by column */
    } sieves[];
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
    atomic_fetch_sub(&recent->bytes, recent_chunk_destroy(chunk));
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
        recent->slot_count -= UINT64_C(1) << chunk->slot_bits;
        recent->row_count -= chunk->row_count;
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

/* Returns a sieve with a free column for a chunk of that size, referenced: that
 * of the last chunk, or another. NULL if memory is short. */
static struct recent_sieve *
next_sieve(struct recent *recent, unsigned slot_bits)
{
    const struct recent_sieve_shape shape = recent_chunk_sieve(slot_bits);
    struct recent_sieve *sieve;

    if (recent->count > 0) {
        const struct recent_chunk *last = recent->chunks[recent->count - 1];

        if (last->slot_bits == slot_bits &&
            last->sieve->column_count < shape.width)
            return recent_sieve_ref(last->sieve);
    }
    sieve = recent_sieve_create(shape);
    if (sieve != NULL)
        atomic_fetch_add(&recent->bytes, recent_sieve_size(shape));
    return sieve;
}

/* Returns the next chunk, or NULL if memory is short. */
static struct recent_chunk *
next_chunk(struct recent *recent, size_t key_size)
{
    const unsigned slot_bits = next_slot_bits(recent);
    struct recent_sieve *sieve = next_sieve(recent, slot_bits);
    struct recent_chunk *chunk;

    if (sieve == NULL)
        return NULL;
    chunk = recent_chunk_create(slot_bits, key_size, sieve);
    if (chunk != NULL)
        atomic_fetch_add(&recent->bytes, chunk->size);
    atomic_fetch_sub(&recent->bytes, recent_sieve_unref(sieve));
    return chunk;
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
    chunk = next_chunk(recent, key_size);
    if (chunk == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a recent row");
    chunk->recent = recent;
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

/* Returns how many sieves the chunks have. Those of a sieve are neighbours. */
static size_t
sieve_count(const struct recent *recent)
{
    size_t count = 0;

    for (size_t i = 0; i < recent->count; i++)
        count +=
            i == 0 || recent->chunks[i]->sieve != recent->chunks[i - 1]->sieve;
    return count;
}

static void
view_add(struct recent_view *view, struct recent_chunk *chunk)
{
    struct recent_view_sieve *at = &view->sieves[view->count];

    if (view->count == 0 || at[-1].sieve != chunk->sieve) {
        *at = (struct recent_view_sieve){.sieve = chunk->sieve,
                                         .shape = chunk->sieve->shape,
                                         .slot_bits = chunk->slot_bits};
        view->count++;
    } else {
        at--;
    }
    atomic_fetch_add(&chunk->reference_count, 1);
    at->columns |= UINT64_C(1) << chunk->column;
    at->chunks[chunk->column] = chunk;
}

/* Requires the mutex. */
static struct recent_view *
view_make(struct recent *recent)
{
    struct recent_view *view = malloc(
        sizeof(*view) + sieve_count(recent) * sizeof(struct recent_view_sieve));

    if (view == NULL)
        return NULL;
    view->recent = recent;
    atomic_init(&view->reference_count, 1);
    view->count = 0;
    for (size_t i = 0; i < recent->count; i++)
        view_add(view, recent->chunks[i]);
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
    for (size_t i = 0; i < view->count; i++) {
        uint64_t columns = view->sieves[i].columns;

        for (; columns != 0; columns &= columns - 1)
            chunk_unref(view->recent,
                        view->sieves[i].chunks[__builtin_ctzll(columns)]);
    }
    free(view);
}

bool
recent_view_is_empty(const struct recent_view *view)
{
    return view->count == 0;
}

/* ------------------------------------------------------------- finding --- */

/* Starts fetching the line of sieve `index`, if there is one. */
static inline void
fetch(const struct recent_view *view, size_t index, uint64_t hash)
{
    if (index < view->count) {
        const struct recent_view_sieve *at = &view->sieves[index];

        __builtin_prefetch(
            (const void *)recent_sieve_line(at->sieve, at->shape, hash));
    }
}

/* Where a search is. Starts zeroed but for the first three members. */
struct search {
    const struct recent_view *view;
    uint64_t hash;
    unsigned tag;
    size_t next;      /* sieve */
    uint64_t columns; /* to look at in the sieve before it */
    const struct recent_chunk *chunk;
    unsigned slot_bits;
    uint32_t entry; /* in the chunk; 0: none */
};

/* Goes to the next chunk that may have the hash. Returns false if there is
 * none. */
static bool
search_chunk(struct search *search)
{
    const struct recent_view_sieve *at;

    while (search->columns == 0) {
        if (search->next == search->view->count)
            return false;
        at = &search->view->sieves[search->next++];
        fetch(search->view, search->next + FETCH_AHEAD - 1, search->hash);
        search->columns =
            recent_sieve_find(at->sieve, at->shape, search->hash) & at->columns;
    }
    at = &search->view->sieves[search->next - 1];
    search->chunk = at->chunks[__builtin_ctzll(search->columns)];
    search->slot_bits = at->slot_bits;
    search->columns &= search->columns - 1;
    search->entry =
        recent_chunk_find(search->chunk, at->slot_bits, search->hash);
    return true;
}

/* Starts fetching what the search will read first. */
static void
fetch_first(const struct recent_view *view, uint64_t hash)
{
    for (size_t i = 0; i < FETCH_AHEAD && i < view->count; i++)
        fetch(view, i, hash);
}

/* Goes to the next entry. Returns false if there is none. */
static bool
search_next(struct search *search)
{
    if (search->entry != 0)
        search->entry =
            recent_chunk_older(search->chunk, search->slot_bits, search->entry);
    for (;;) {
        if (search->entry != 0)
            search->entry = recent_chunk_match(search->chunk, search->slot_bits,
                                               search->entry, search->tag);
        if (search->entry != 0)
            return true;
        if (!search_chunk(search))
            return false;
    }
}

enum colander_code
recent_find(const struct recent_view *view, uint64_t hash, unsigned tag,
            enum colander_code (*visit)(void *context,
                                        struct colander_slice key,
                                        struct colander_error *err),
            void *context, struct colander_error *err)
{
    struct search search = {.view = view, .hash = hash, .tag = tag};
    enum colander_code code = COLANDER_OK;
    const uint8_t *last = NULL;

    fetch_first(view, hash);
    while (code == COLANDER_OK && search_next(&search)) {
        struct colander_slice key =
            recent_chunk_key(search.chunk, search.slot_bits, search.entry);

        /* Skips the second entry of a row that has the value in two columns. */
        if (key.data != last)
            code = visit(context, key, err);
        last = key.data;
    }
    return code;
}

uint64_t
recent_count(const struct recent_view *view, uint64_t hash, unsigned tag,
             uint64_t limit)
{
    struct search search = {.view = view, .hash = hash, .tag = tag};
    uint64_t count = 0;

    fetch_first(view, hash);
    while (count < limit && search_next(&search))
        count++;
    return count;
}

void
recent_fetch_key(const struct recent_view *view, uint64_t hash)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct recent_view_sieve *at = &view->sieves[i];

        __builtin_prefetch(
            (const void *)recent_sieve_key_line(at->sieve, at->shape, hash));
    }
}

bool
recent_has_key(const struct recent_view *view, uint64_t hash)
{
    bool may_have = false;

    for (size_t i = 0; i < view->count; i++)
        may_have |= recent_sieve_has_key(view->sieves[i].sieve,
                                         view->sieves[i].shape, hash);
    return may_have && recent_count(view, hash, LOCATOR_TAG_ANY, 1) > 0;
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
