/* SPDX-License-Identifier: MIT */
#include "core/tables/table_walk.h"

/* First size of the bytes in which the end of a block is searched for. */
#define WINDOW_SIZE ((size_t)64 << 10)

void
table_walk_start(struct table_walk *walk, const struct table_source *source,
                 uint64_t end)
{
    walk->source = source;
    walk->end = end < source->size ? end : source->size;
    walk->at = 0;
}

void
table_walk_release(struct table_walk *walk)
{
    colander_buffer_release(&walk->bytes);
    memset(walk, 0, sizeof(*walk));
}

/* Finds the size of the block at walk->at, or 0. Its bytes stay in the walk. */
static enum colander_code
measure(struct table_walk *walk, size_t *size, struct colander_error *err)
{
    const uint64_t left = walk->end - walk->at;
    enum colander_code code = COLANDER_OK;
    const size_t largest = TABLE_BLOCK_SIZE_MAX + TABLE_TRAILER_SIZE;
    size_t window = WINDOW_SIZE / 4;

    *size = 0;
    while (code == COLANDER_OK && *size == 0 && window < largest) {
        window = window * 4 < largest ? window * 4 : largest;
        colander_buffer_clear(&walk->bytes);
        code = table_source_read(walk->source, walk->at,
                                 window < left ? window : (size_t)left,
                                 &walk->bytes, err);
        if (code == COLANDER_OK)
            *size = table_codec_find_end(walk->bytes.data, walk->bytes.size);
        if (walk->bytes.size < window)
            break; /* that was all */
    }
    return code;
}

/* Whether a whole block is an index, which may also look like data. An index
 * has all blocks of data, and so those that were found. They end at `limit`,
 * where it begins, at the latest. */
static bool
is_index(struct table_walk *walk, struct table_block *block, uint64_t limit)
{
    const uint64_t end = table_block_index_end(block, walk->data_end, limit);

    if (end != 0)
        walk->index_end = end;
    return end != 0;
}

/* Reads the block at walk->at, and skips it if it is not one of data. */
static enum colander_code
take(struct table_walk *walk, size_t size, struct table_block *block,
     struct table_found *found, struct colander_error *err)
{
    struct colander_slice first;
    const char *why;
    enum colander_code code =
        table_block_take(block, walk->bytes.data, size, &why, err);

    if (code != COLANDER_OK)
        return code;
    found->place.offset = walk->at;
    found->place.size = size;
    walk->at = table_place_end(found->place);
    found->is_block = why == NULL &&
                      !is_index(walk, block, found->place.offset) &&
                      table_block_check(block, &first) == NULL;
    if (found->is_block)
        walk->data_end = walk->at;
    return COLANDER_OK;
}

enum colander_code
table_walk_next(struct table_walk *walk, struct table_block *block,
                struct table_found *found, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    size_t size = 1;

    memset(found, 0, sizeof(*found));
    found->skipped_at = walk->at;
    while (code == COLANDER_OK && !found->is_block && size > 0 &&
           walk->at < walk->end) {
        code = measure(walk, &size, err);
        if (code == COLANDER_OK && size > 0)
            code = take(walk, size, block, found, err);
    }
    if (found->is_block || code != COLANDER_OK)
        return code;
    found->is_end =
        walk->index_end != 0 && found->skipped_at == walk->index_end;
    found->is_damaged = !found->is_end && walk->at < walk->end;
    return COLANDER_OK;
}
