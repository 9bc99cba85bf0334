/* See key_tally.h. SPDX-License-Identifier: MIT */
#include "loading/key_tally.h"

#include <stdlib.h>

#include <xxhash.h>

#define HASHES_MAX ((size_t)1 << 20)
#define SLOTS_MIN 1024
#define LOOKUPS_MAX 2000

/* Copies the largest key, which is borrowed. */
static enum colander_code
keep_last(struct key_tally *tally, struct colander_error *err)
{
    enum colander_code code;

    if (tally->last.data == tally->last_bytes.data)
        return COLANDER_OK;
    colander_buffer_clear(&tally->last_bytes);
    code = colander_buffer_append(&tally->last_bytes, tally->last.data,
                                  tally->last.size, err);
    tally->last = colander_buffer_slice(&tally->last_bytes);
    return code;
}

enum colander_code
key_tally_begin(struct key_tally *tally, struct colander_family *family,
                struct colander_error *err)
{
    struct colander_cursor *cursor = NULL;
    struct colander_result result;
    struct colander_query query;
    enum colander_code code;

    tally->family = family;
    tally->is_known = true;
    colander_query_init(&query);
    query.keys_only = true;
    query.is_reverse = true;
    query.limit = 1;
    code = colander_family_find(family, &query, &cursor, err);
    if (code == COLANDER_OK)
        code = colander_cursor_next(cursor, &tally->had_rows, &result, err);
    if (code == COLANDER_OK && tally->had_rows) {
        tally->last = result.key;
        code = keep_last(tally, err);
    }
    colander_cursor_close(cursor);
    return code;
}

void
key_tally_release(struct key_tally *tally)
{
    colander_buffer_release(&tally->last_bytes);
    colander_buffer_release(&tally->row);
    free(tally->hashes);
    memset(tally, 0, sizeof(*tally));
}

/* -------------------------------------------------------------- hashes --- */

/* Returns the slot of a hash, or the free one where it belongs. */
static uint64_t *
find_slot(uint64_t *hashes, size_t slot_count, uint64_t hash)
{
    size_t at = (size_t)hash & (slot_count - 1);

    while (hashes[at] != 0 && hashes[at] != hash)
        at = (at + 1) & (slot_count - 1);
    return &hashes[at];
}

/* Doubles the table, which is at most half full. */
static enum colander_code
grow(struct key_tally *tally, struct colander_error *err)
{
    const size_t count =
        tally->slot_count == 0 ? SLOTS_MIN : 2 * tally->slot_count;
    uint64_t *hashes = calloc(count, sizeof(*hashes));

    if (hashes == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for keys");
    for (size_t i = 0; i < tally->slot_count; i++) {
        if (tally->hashes[i] != 0)
            *find_slot(hashes, count, tally->hashes[i]) = tally->hashes[i];
    }
    free(tally->hashes);
    tally->hashes = hashes;
    tally->slot_count = count;
    return COLANDER_OK;
}

/* Adds a key. *is_there: the load had it before. */
static enum colander_code
add(struct key_tally *tally, struct colander_slice key, bool *is_there,
    struct colander_error *err)
{
    /* the address is a seed that a foreign file cannot know */
    uint64_t hash =
        XXH3_64bits_withSeed(key.data, key.size, (uint64_t)(uintptr_t)tally);
    enum colander_code code = COLANDER_OK;
    uint64_t *slot;

    *is_there = false;
    if (tally->hash_count >= HASHES_MAX)
        return COLANDER_OK;
    if (2 * tally->hash_count >= tally->slot_count)
        code = grow(tally, err);
    if (code != COLANDER_OK)
        return code;
    hash += hash == 0;
    slot = find_slot(tally->hashes, tally->slot_count, hash);
    *is_there = *slot == hash;
    tally->hash_count += !*is_there;
    *slot = hash;
    return COLANDER_OK;
}

/* ---------------------------------------------------------------- keys --- */

/* Whether a key that is not after all others, nor in the hashes, is new. */
static enum colander_code
look_up(struct key_tally *tally, struct colander_slice key, bool *is_new,
        struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool found = false;

    if (tally->hash_count >= HASHES_MAX ||
        (tally->had_rows && tally->lookup_count >= LOOKUPS_MAX)) {
        tally->is_known = false;
    } else if (tally->had_rows) {
        tally->lookup_count++;
        code = colander_family_get(tally->family, key, NULL, &tally->row,
                                   &found, err);
    }
    *is_new = !found;
    return code;
}

static enum colander_code
tally_key(struct key_tally *tally, struct colander_slice key, bool *is_new,
          struct colander_error *err)
{
    enum colander_code code;
    bool is_there;

    *is_new = colander_slice_compare(key, tally->last) > 0;
    if (*is_new)
        tally->last = key;
    code = add(tally, key, &is_there, err);
    return code == COLANDER_OK && !*is_new && !is_there
               ? look_up(tally, key, is_new, err)
               : code;
}

enum colander_code
key_tally_chunk(struct key_tally *tally, const struct chunk *chunk,
                uint64_t *new_count, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    *new_count = 0;
    for (size_t i = 0;
         i < chunk->waiting_count && tally->is_known && code == COLANDER_OK;
         i++) {
        bool is_new = chunk->waiting[i].has_new_key;

        if (!chunk->waiting[i].is_taken)
            continue;
        if (!is_new)
            code = tally_key(tally, chunk_waiting_key(chunk, i), &is_new, err);
        *new_count += is_new;
    }
    return code == COLANDER_OK ? keep_last(tally, err) : code;
}
