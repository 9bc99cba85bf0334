/* SPDX-License-Identifier: MIT */
#include "core/tables/table_block.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* The unit that a failing disk reads or not. */
#define TABLE_SECTOR ((size_t)4096)

/* -------------------------------------------------------------- reading --- */

static ssize_t
read_some(const struct table_source *source, void *bytes, size_t size,
          uint64_t offset)
{
    if (source->read != NULL)
        return source->read(source, bytes, size, (off_t)offset);
    return pread(source->fd, bytes, size, (off_t)offset);
}

/* Reads what can be read of a sector. The rest is zeros, which have no valid
 * checksum. */
static void
read_sector(const struct table_source *source, uint64_t offset, uint8_t *bytes,
            size_t size)
{
    ssize_t got;

    memset(bytes, 0, size);
    do
        got = read_some(source, bytes, size, offset);
    while (got < 0 && errno == EINTR);
    if (got < 0 && source->error != NULL)
        *source->error = errno;
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
    block->left = bytes_reader_of(block->entries);
    block->key_size = 0;
}

struct colander_slice
table_block_entries(struct colander_slice content)
{
    const size_t number = sizeof(uint32_t);
    uint64_t restarts;

    if (content.size < number)
        return colander_slice_of(NULL, 0);
    restarts = bytes_get_le32(content.data + content.size - number);
    if (restarts > content.size / number - 1)
        return colander_slice_of(NULL, 0);
    content.size -= (size_t)(restarts + 1) * number;
    return content;
}

/* Decompresses the block, and finds its entries. */
static enum colander_code
unpack(struct table_block *block, const char **why, struct colander_error *err)
{
    struct colander_slice content;
    enum colander_code code;

    block->entries = colander_slice_of(NULL, 0);
    table_block_rewind(block);
    code = table_codec_decompress(block->stored.data,
                                  block->stored.size - TABLE_TRAILER_SIZE,
                                  &block->room, &content, why, err);
    if (code != COLANDER_OK || *why != NULL)
        return code;
    block->entries = table_block_entries(content);
    table_block_rewind(block);
    *why = block->entries.data == NULL ? "it is not a block" : NULL;
    return COLANDER_OK;
}

enum colander_code
table_block_read(struct table_block *block, const struct table_source *source,
                 struct table_place place, const char **why,
                 struct colander_error *err)
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
    else if (!table_codec_is_whole(block->stored.data, (size_t)place.size))
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

/* -------------------------------------------------------------- entries --- */

/* Builds the next key from bytes of the last one and the rest. */
static void
build_key(struct table_block *block, uint64_t shared,
          struct colander_slice rest)
{
    uint8_t *const key = block->spare;

    block->left.is_bad = block->left.is_bad || shared > block->key_size ||
                         shared + rest.size > TABLE_KEY_SIZE_MAX;
    if (block->left.is_bad)
        return;
    memcpy(key, block->key, (size_t)shared);
    if (rest.size > 0)
        memcpy(key + shared, rest.data, rest.size);
    block->spare = block->key;
    block->key = key;
    block->key_size = (size_t)shared + rest.size;
}

enum table_parse
table_block_next(struct table_block *block, struct colander_slice *key,
                 struct colander_slice *value)
{
    struct bytes_reader *in = &block->left;
    uint64_t shared;
    uint64_t rest;
    uint64_t size;

    if (!in->is_bad && in->left.size == 0)
        return TABLE_PARSED_ALL;
    shared = bytes_read_varint(in);
    rest = bytes_read_varint(in);
    size = bytes_read_varint(in);
    build_key(block, shared, bytes_read(in, rest));
    *key = colander_slice_of(block->key, block->key_size);
    *value = in->left; /* an empty value has a place, too */
    value->size = bytes_read(in, size).size;
    return in->is_bad ? TABLE_PARSED_NONE : TABLE_PARSED;
}

/* If the key shares bytes with the one before, the place follows that of the
 * entry before, and only the difference of sizes is stored. */
enum table_parse
table_block_next_place(struct table_block *block, struct colander_slice *key,
                       struct table_place *place)
{
    struct bytes_reader *in = &block->left;
    uint64_t shared;
    uint64_t rest;

    if (!in->is_bad && in->left.size == 0)
        return TABLE_PARSED_ALL;
    shared = bytes_read_varint(in);
    rest = bytes_read_varint(in);
    build_key(block, shared, bytes_read(in, rest));
    *key = colander_slice_of(block->key, block->key_size);
    if (shared == 0) {
        *place = table_place_read(in);
    } else {
        const uint64_t number = bytes_read_varint(in);

        place->offset = table_place_end(*place);
        place->size += (number >> 1) ^ (0 - (number & 1));
    }
    return in->is_bad ? TABLE_PARSED_NONE : TABLE_PARSED;
}

uint64_t
table_block_index_end(struct table_block *block, uint64_t known, uint64_t limit)
{
    struct table_place place = {0, 0};
    struct colander_slice key;
    enum table_parse parsed;
    bool has_known = known == 0;
    uint64_t end = 0;

    table_block_rewind(block);
    while ((parsed = table_block_next_place(block, &key, &place)) ==
           TABLE_PARSED) {
        if (place.offset != end || place.size == 0 || end > limit ||
            place.size > limit - end)
            return 0;
        end = table_place_end(place);
        has_known = has_known || end == known;
    }
    return parsed == TABLE_PARSED_ALL && has_known && end <= limit ? end : 0;
}

/* ----------------------------------------------------------------- data --- */

struct table_key
table_key_of(struct colander_slice key)
{
    const size_t size = key.size - TABLE_KEY_TAIL;
    const uint64_t tail = bytes_get_le64(key.data + size);
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

/* Whether RocksDB writes entries of this type, for us or for others. */
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
            return "it has an invalid key";
        now = table_key_of(key);
        if (!is_data_type(now.type))
            return "it has an entry of an unknown kind";
        if (first->data == NULL) {
            /* shares no bytes: it is in the block as a whole */
            *first = colander_slice_of(value.data - key.size, key.size);
        } else if (table_key_compare(&before, &now) >= 0) {
            return "its keys are not in order";
        }
        before = now; /* is in `spare` after the next step */
    }
    if (parsed == TABLE_PARSED_NONE || first->data == NULL)
        return "it is not a block of data";
    return NULL;
}
