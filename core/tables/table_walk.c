/*
 * Blocks of data found without an index: see table_walk.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/tables/table_walk.h"

#define WINDOW_SIZE_MIN ((size_t)256 << 10)

/* Enough to tell that no block begins there. */
#define HEAD_SIZE 64

/* In it a block of any size that begins in its first MiB. */
#define WINDOW_SIZE_MAX (TABLE_BLOCK_SIZE_MAX + ((size_t)1 << 20))

/* How often each byte of a file may be looked at in vain, and as many bytes as
 * a small file has anyway. A search through damaged blocks of the usual size
 * looks at a byte some ten times. */
#define WORK_PER_BYTE 64
#define WORK_MIN ((uint64_t)64 << 20)

void
table_walk_start(struct table_walk *walk, const struct table_source *source,
                 uint64_t end)
{
    walk->source = source;
    walk->end = end < source->size ? end : source->size;
    walk->at = 0;
    walk->work_left = WORK_MIN + walk->end * WORK_PER_BYTE;
}

void
table_walk_release(struct table_walk *walk)
{
    colander_buffer_release(&walk->window);
    memset(walk, 0, sizeof(*walk));
}

static void
spend(struct table_walk *walk, uint64_t work)
{
    walk->work_left -= work < walk->work_left ? work : walk->work_left;
}

/* Bytes of the file from `at` on, as many as there are in the window. */
static struct colander_slice
window_from(const struct table_walk *walk, uint64_t at)
{
    const uint64_t end = walk->window_at + walk->window.size;

    if (at < walk->window_at || at >= end)
        return colander_slice_of(NULL, 0);
    return colander_slice_of(walk->window.data + (at - walk->window_at),
                             (size_t)(end - at));
}

/* Reads more from `at` on than the window has: it moves, and grows when little
 * is left of the file that it does not have. */
static enum colander_code
move_window(struct table_walk *walk, uint64_t at, struct colander_error *err)
{
    const size_t had = window_from(walk, at).size;
    size_t size = had * 4 > WINDOW_SIZE_MIN ? had * 4 : WINDOW_SIZE_MIN;

    spend(walk, had);
    if (size > WINDOW_SIZE_MAX)
        size = WINDOW_SIZE_MAX;
    if (size > walk->end - at)
        size = (size_t)(walk->end - at);
    colander_buffer_clear(&walk->window);
    walk->window_at = at;
    return table_source_read(walk->source, at, size, &walk->window, err);
}

/* ---------------------------------------------------------------- blocks ---
 */

/* How blocks of a compression end. */
static const struct {
    uint8_t compression;
    enum table_extent (*end)(const uint8_t *bytes, size_t size, size_t *end);
} kinds[] = {
    {TABLE_LZ4, table_codec_lz4_end},
    {TABLE_ZSTD, table_codec_zstd_end},
    {TABLE_PLAIN, table_block_plain_end},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Whether a block begins at `bytes` whose checksum is right. */
static enum table_extent
try_kind(struct table_walk *walk, size_t kind, struct colander_slice bytes,
         unsigned *checksum_kind, size_t *size)
{
    enum table_extent extent = kinds[kind].end(bytes.data, bytes.size, size);

    spend(walk, *size);
    if (extent != TABLE_EXTENT_FOUND)
        return extent;
    if (*size > TABLE_BLOCK_SIZE_MAX)
        return TABLE_EXTENT_NONE;
    if (bytes.size - *size < TABLE_TRAILER_SIZE)
        return TABLE_EXTENT_SHORT;
    if (bytes.data[*size] != kinds[kind].compression)
        return TABLE_EXTENT_NONE;
    spend(walk, *size);
    return table_codec_is_whole(bytes.data, *size, checksum_kind)
               ? TABLE_EXTENT_FOUND
               : TABLE_EXTENT_NONE;
}

/* Whether a block of a kind begins at walk->at, of which the window is to have
 * as much as it takes to tell. */
static enum colander_code
measure(struct table_walk *walk, size_t kind, unsigned *checksum_kind,
        size_t *size, bool *is_found, struct colander_error *err)
{
    const uint64_t left = walk->end - walk->at;
    enum colander_code code = COLANDER_OK;

    *is_found = false;
    while (code == COLANDER_OK) {
        const struct colander_slice bytes = window_from(walk, walk->at);
        enum table_extent extent = TABLE_EXTENT_SHORT;

        if (bytes.data != NULL &&
            (bytes.size >= HEAD_SIZE || bytes.size == left))
            extent = try_kind(walk, kind, bytes, checksum_kind, size);
        *is_found = extent == TABLE_EXTENT_FOUND;
        if (extent != TABLE_EXTENT_SHORT || bytes.size == left ||
            bytes.size >= WINDOW_SIZE_MAX)
            break;
        code = move_window(walk, walk->at, err);
        if (window_from(walk, walk->at).size <= bytes.size)
            break; /* the file has become shorter */
    }
    return code;
}

/* The size of the block that begins at walk->at; 0: none does. */
static enum colander_code
measure_any(struct table_walk *walk, unsigned *checksum_kind, size_t *size,
            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_found = false;

    for (size_t kind = 0; kind < KINDS && code == COLANDER_OK && !is_found;
         kind++)
        code = measure(walk, kind, checksum_kind, size, &is_found, err);
    if (!is_found)
        *size = 0;
    return code;
}

/* Whether a block that is whole is an index: it may also look like one of data,
 * and a small one of data like an index. That tells of all blocks of data, and
 * so of those that were found. */
static bool
is_index(struct table_walk *walk, struct table_block *block)
{
    uint64_t end = table_block_index_end(block, true, walk->data_end, walk->at);

    if (end == 0)
        end = table_block_index_end(block, false, walk->data_end, walk->at);
    if (end != 0)
        walk->index_end = end;
    return end != 0;
}

/* Takes the block of a size at walk->at when it is one of data. What is whole
 * and something else is stepped over. */
static enum colander_code
take(struct table_walk *walk, size_t size, struct table_block *block,
     struct table_found *found, struct colander_error *err)
{
    struct colander_slice first;
    const char *why;
    enum colander_code code;

    code = table_block_take(block, window_from(walk, walk->at).data, size, &why,
                            err);
    if (code != COLANDER_OK)
        return code;
    if (why == NULL && !is_index(walk, block) &&
        table_block_check(block, &first) == NULL) {
        walk->data_end = walk->at + size + TABLE_TRAILER_SIZE;
        found->is_block = true;
        found->place.offset = walk->at;
        found->place.size = size;
    }
    walk->at += size + TABLE_TRAILER_SIZE;
    return COLANDER_OK;
}

enum colander_code
table_walk_next(struct table_walk *walk, unsigned *checksum_kind,
                struct table_block *block, struct table_found *found,
                struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    memset(found, 0, sizeof(*found));
    found->skipped_at = walk->at;
    while (code == COLANDER_OK && !found->is_block && walk->at < walk->end &&
           walk->work_left > 0) {
        size_t size;

        code = measure_any(walk, checksum_kind, &size, err);
        if (code == COLANDER_OK && size > 0)
            code = take(walk, size, block, found, err);
        else
            walk->at++;
    }
    if (found->is_block)
        return code;
    found->is_given_up = walk->at < walk->end;
    found->is_end = !found->is_given_up && found->skipped_at > 0 &&
                    found->skipped_at == walk->index_end;
    found->place.offset = walk->at;
    return code;
}
