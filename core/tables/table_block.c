/*
 * Blocks of table files: see table_block.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/tables/table_block.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* What a disk that fails can read, or not, by itself. */
#define TABLE_SECTOR ((size_t)4096)

/* --------------------------------------------------------------- reading ---
 */

static ssize_t
read_some(const struct table_source *source, void *bytes, size_t size,
          uint64_t offset)
{
    if (source->read != NULL)
        return source->read(source, bytes, size, (off_t)offset);
    return pread(source->fd, bytes, size, (off_t)offset);
}

/* Reads what can be read of a sector; the rest stays zeros, which no checksum
 * vouches for. */
static void
read_sector(const struct table_source *source, uint64_t offset, uint8_t *bytes,
            size_t size)
{
    ssize_t got;

    memset(bytes, 0, size);
    do
        got = read_some(source, bytes, size, offset);
    while (got < 0 && errno == EINTR);
}

enum colander_code
table_source_read(const struct table_source *source, uint64_t offset,
                  size_t size, struct colander_buffer *bytes,
                  struct colander_error *err)
{
    enum colander_code code = colander_buffer_reserve(bytes, size, err);

    if (code != COLANDER_OK)
        return code;
    while (size > 0) {
        ssize_t got =
            read_some(source, bytes->data + bytes->size, size, offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0 || (got < 0 && offset >= source->size))
            break;
        if (got < 0) {
            const size_t sector = TABLE_SECTOR - offset % TABLE_SECTOR;

            got = (ssize_t)(sector < size ? sector : size);
            read_sector(source, offset, bytes->data + bytes->size, (size_t)got);
        }
        bytes->size += (size_t)got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return COLANDER_OK;
}

enum colander_code
table_block_init(struct table_block *block, struct colander_error *err)
{
    memset(block, 0, sizeof(*block));
    block->key = malloc(TABLE_KEY_SIZE_MAX);
    block->spare = malloc(TABLE_KEY_SIZE_MAX);
    if (block->key != NULL && block->spare != NULL)
        return COLANDER_OK;
    table_block_release(block);
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a block");
}

void
table_block_release(struct table_block *block)
{
    colander_buffer_release(&block->stored);
    colander_buffer_release(&block->room);
    free(block->key);
    free(block->spare);
    memset(block, 0, sizeof(*block));
}

void
table_block_rewind(struct table_block *block)
{
    block->at = 0;
    block->key_size = 0;
}

/* Decompresses what is stored, and leaves the restarts out. */
static enum colander_code
unpack(struct table_block *block, const char **why, struct colander_error *err)
{
    const size_t number = sizeof(uint32_t);
    struct colander_slice content;
    enum colander_code code;
    uint64_t restarts;

    table_block_rewind(block);
    block->entries = colander_slice_of(NULL, 0);
    code = table_codec_decompress(block->stored.data,
                                  block->stored.size - TABLE_TRAILER_SIZE,
                                  &block->room, &content, why, err);
    if (code != COLANDER_OK || *why != NULL)
        return code;
    *why = "it is no block";
    if (content.size < number)
        return COLANDER_OK;
    restarts = table_get_32(content.data + content.size - number);
    if (restarts > content.size / number - 1)
        return COLANDER_OK;
    content.size -= (size_t)(restarts + 1) * number;
    block->entries = content;
    *why = NULL;
    return COLANDER_OK;
}

enum colander_code
table_block_read(struct table_block *block, const struct table_source *source,
                 struct table_place place, unsigned *checksum_kind,
                 const char **why, struct colander_error *err)
{
    const uint64_t size = place.size + TABLE_TRAILER_SIZE;
    enum colander_code code;

    *why = NULL;
    if (place.size > TABLE_BLOCK_SIZE_MAX)
        *why = "it is larger than any block";
    else if (place.offset > source->size || size > source->size - place.offset)
        *why = "the file ends before it does";
    if (*why != NULL)
        return COLANDER_OK;
    colander_buffer_clear(&block->stored);
    code = table_source_read(source, place.offset, (size_t)size, &block->stored,
                             err);
    if (code != COLANDER_OK)
        return code;
    if (block->stored.size < size)
        *why = "the file ends before it does";
    else if (!table_codec_is_whole(block->stored.data, (size_t)place.size,
                                   checksum_kind))
        *why = "its checksum is wrong";
    return *why != NULL ? COLANDER_OK : unpack(block, why, err);
}

enum colander_code
table_block_take(struct table_block *block, const uint8_t *stored, size_t size,
                 const char **why, struct colander_error *err)
{
    enum colander_code code;

    *why = NULL;
    colander_buffer_clear(&block->stored);
    code = colander_buffer_append(&block->stored, stored,
                                  size + TABLE_TRAILER_SIZE, err);
    return code != COLANDER_OK ? code : unpack(block, why, err);
}

/* --------------------------------------------------------------- entries ---
 */

/* The sizes that an entry begins with. */
struct head {
    uint64_t shared;
    uint64_t rest;
    uint64_t value; /* 0: not told */
};

static bool
get_head(const uint8_t **at, const uint8_t *end, bool has_value_size,
         struct head *head)
{
    head->value = 0;
    return table_get_varint(at, end, 32, &head->shared) &&
           table_get_varint(at, end, 32, &head->rest) &&
           (!has_value_size || table_get_varint(at, end, 32, &head->value));
}

/* Puts the next key together; *at moves behind it. */
static bool
get_key(struct table_block *block, const uint8_t **at, const struct head *head)
{
    const uint8_t *const end = block->entries.data + block->entries.size;
    uint8_t *const key = block->spare;

    if (head->shared > block->key_size || head->rest > (size_t)(end - *at) ||
        head->shared + head->rest > TABLE_KEY_SIZE_MAX)
        return false;
    memcpy(key, block->key, (size_t)head->shared);
    memcpy(key + head->shared, *at, (size_t)head->rest);
    *at += head->rest;
    block->spare = block->key;
    block->key = key;
    block->key_size = (size_t)(head->shared + head->rest);
    return true;
}

enum table_parse
table_block_next(struct table_block *block, struct colander_slice *key,
                 struct colander_slice *value)
{
    const uint8_t *const end = block->entries.data + block->entries.size;
    const uint8_t *at = block->entries.data + block->at;
    struct head head;

    if (at == end)
        return TABLE_PARSED_ALL;
    if (!get_head(&at, end, true, &head) || !get_key(block, &at, &head) ||
        head.value > (size_t)(end - at))
        return TABLE_PARSED_NONE;
    *key = colander_slice_of(block->key, block->key_size);
    *value = colander_slice_of(at, (size_t)head.value);
    block->at = (size_t)(at - block->entries.data) + (size_t)head.value;
    return TABLE_PARSED;
}

/* A place stands as what its size is more than that of the place before, where
 * it follows that, and the key shares something with the one before. */
static bool
get_place(const uint8_t **at, const uint8_t *end, bool is_delta,
          struct table_place *place)
{
    uint64_t number;

    if (!is_delta)
        return table_get_varint(at, end, 64, &place->offset) &&
               table_get_varint(at, end, 64, &place->size);
    if (!table_get_varint(at, end, 64, &number))
        return false;
    place->offset += place->size + TABLE_TRAILER_SIZE;
    place->size += (number >> 1) ^ (0 - (number & 1));
    return true;
}

enum table_parse
table_block_next_place(struct table_block *block, bool is_delta,
                       struct colander_slice *key, struct table_place *place)
{
    const uint8_t *const end = block->entries.data + block->entries.size;
    const uint8_t *at = block->entries.data + block->at;
    const uint8_t *value;
    struct head head;

    if (at == end)
        return TABLE_PARSED_ALL;
    if (!get_head(&at, end, !is_delta, &head) || !get_key(block, &at, &head))
        return TABLE_PARSED_NONE;
    value = at;
    if (head.value > (size_t)(end - at) ||
        !get_place(&at, end, is_delta && head.shared > 0, place))
        return TABLE_PARSED_NONE;
    if (!is_delta)
        at = value + head.value;
    *key = colander_slice_of(block->key, block->key_size);
    block->at = (size_t)(at - block->entries.data);
    return TABLE_PARSED;
}

uint64_t
table_block_index_end(struct table_block *block, bool is_delta, uint64_t known,
                      uint64_t limit)
{
    struct table_place place = {0, 0};
    struct colander_slice key;
    enum table_parse parsed;
    bool has_known = known == 0;
    uint64_t end = 0;

    table_block_rewind(block);
    while ((parsed = table_block_next_place(block, is_delta, &key, &place)) ==
           TABLE_PARSED) {
        if (place.offset != end || place.size == 0 || end > limit ||
            place.size > limit - end)
            return 0;
        end = table_place_end(place);
        has_known = has_known || end == known;
    }
    return parsed == TABLE_PARSED_ALL && has_known && end <= limit ? end : 0;
}

/* ------------------------------------------------------------------ data ---
 */

struct table_key
table_key_of(struct colander_slice key)
{
    const size_t size = key.size - TABLE_KEY_TAIL;
    const uint64_t tail = table_get_64(key.data + size);
    struct table_key taken = {colander_slice_of(key.data, size), tail >> 8,
                              (uint8_t)(tail & 255)};

    return taken;
}

int
table_key_compare(const struct table_key *a, const struct table_key *b)
{
    const int order = colander_slice_compare(a->user, b->user);

    if (order != 0)
        return order;
    return (a->sequence < b->sequence) - (a->sequence > b->sequence);
}

/* Whether RocksDB writes such an entry among data, for us or for others. */
static bool
is_data_type(uint8_t type)
{
    return type <= 2 || type == 7 || type == 0x11 || type == 0x14 ||
           type == 0x16;
}

const char *
table_block_check(struct table_block *block, struct colander_slice *first)
{
    struct colander_slice key;
    struct colander_slice value;
    enum table_parse parsed;
    struct table_key before = {{NULL, 0}, 0, 0};
    struct table_key now;

    *first = colander_slice_of(NULL, 0);
    table_block_rewind(block);
    while ((parsed = table_block_next(block, &key, &value)) == TABLE_PARSED) {
        if (key.size < TABLE_KEY_TAIL)
            return "it has a key that is none";
        now = table_key_of(key);
        if (!is_data_type(now.type))
            return "it has an entry of no known kind";
        if (first->data == NULL) {
            /* not shared with any: it stands in the block as it is */
            *first = colander_slice_of(value.data - key.size, key.size);
        } else if (table_key_compare(&before, &now) >= 0) {
            return "its keys are not in order";
        }
        before = now; /* in the spare, after the next one */
    }
    if (parsed == TABLE_PARSED_NONE || first->data == NULL)
        return "it is no block of data";
    return NULL;
}

/* Steps over an entry, or finds where one would have no key: there is the first
 * restart, which is 0. */
static enum table_extent
step_entry(const uint8_t **at, const uint8_t *end, uint64_t *key_size)
{
    const size_t head_size_max = 15;
    const uint8_t *const begin = *at;
    struct head head;

    if (!get_head(at, end, true, &head)) {
        *at = begin;
        return (size_t)(end - begin) < head_size_max ? TABLE_EXTENT_SHORT
                                                     : TABLE_EXTENT_NONE;
    }
    if (head.shared + head.rest == 0) {
        *at = begin;
        return TABLE_EXTENT_FOUND;
    }
    if (head.shared > *key_size || head.shared + head.rest < TABLE_KEY_TAIL ||
        head.shared + head.rest > TABLE_KEY_SIZE_MAX ||
        head.value > TABLE_BLOCK_SIZE_MAX)
        return TABLE_EXTENT_NONE;
    *key_size = head.shared + head.rest;
    if (head.rest + head.value > (size_t)(end - *at))
        return TABLE_EXTENT_SHORT;
    *at += head.rest + head.value;
    return TABLE_EXTENT_FOUND;
}

/* Steps over restarts up to what counts them. Each is behind an entry that is
 * behind the one before, and so never what counts them. */
static enum table_extent
step_restarts(const uint8_t **at, const uint8_t *end, size_t entries_size)
{
    uint32_t last = 0;

    for (uint32_t i = 0; end - *at >= 4; i++, *at += 4) {
        const uint32_t number = table_get_32(*at);

        if (i > 0 && number == i) {
            *at += 4;
            return TABLE_EXTENT_FOUND;
        }
        if (i == 0 ? number != 0
                   : number < last + TABLE_ENTRY_SIZE_MIN ||
                         number >= entries_size)
            return TABLE_EXTENT_NONE;
        last = number;
    }
    return TABLE_EXTENT_SHORT;
}

enum table_extent
table_block_plain_end(const uint8_t *bytes, size_t size, size_t *end)
{
    const uint8_t *const limit = bytes + size;
    const uint8_t *begin = NULL;
    const uint8_t *at = bytes;
    enum table_extent extent = TABLE_EXTENT_FOUND;
    uint64_t key_size = 0;

    while (extent == TABLE_EXTENT_FOUND && begin != at) {
        begin = at;
        extent = step_entry(&at, limit, &key_size);
    }
    if (extent == TABLE_EXTENT_FOUND && at == bytes)
        extent = TABLE_EXTENT_NONE;
    if (extent == TABLE_EXTENT_FOUND)
        extent = step_restarts(&at, limit, (size_t)(at - bytes));
    *end = (size_t)(at - bytes);
    return extent;
}
