/*
 * Row keys: front coding of ascending keys in blocks.
 *
 * A key is coded as the number of bytes that it shares with the key before and
 * the bytes that follow. Every ROW_KEYS_RESTART keys one is whole; its offset
 * is stored at the end of the block. So a key is found in at most
 * ROW_KEYS_RESTART steps, and a search halves the whole keys without decoding
 * anything.
 *
 * A reader trusts only the size of the block: an entry must lie inside it and
 * must not share more than the key before has. So a key is never longer than
 * its block.
 *
 * Bytes: filters/FORMAT.md, "Key blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/row_keys.h"

#include "core/bytes.h"

#include <assert.h>

#define LENGTH_MORE 15u /* in four bits: a varint follows, with the rest \ */
#define ENTRY_HEAD_MAX                                                         \
    11                 /* most bytes before the suffix: 1, and two varints     \
                        */
#define RESTART_SIZE 2 /* bytes of a restart's offset */
#define TRAILER_SIZE 2 /* bytes of the number of keys */

/* Only a key that is alone in its block makes the block longer. */
static_assert(ROW_KEYS_BLOCK_SIZE <= UINT16_MAX, "offsets have 16 bits");

/* Short suffixes are copied in this many bytes, which is cheaper than their
 * exact number. */
#define COPY_SIZE 16

size_t
row_keys_shared(struct colander_slice a, struct colander_slice b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    size_t shared = 0;

    while (size - shared >= sizeof(uint64_t) &&
           memcmp(a.data + shared, b.data + shared, sizeof(uint64_t)) == 0)
        shared += sizeof(uint64_t);
    while (shared < size && a.data[shared] == b.data[shared])
        shared++;
    return shared;
}

struct colander_slice
row_keys_separator(struct colander_slice before, struct colander_slice key)
{
    size_t shared = row_keys_shared(before, key);

    if (shared < key.size)
        key.size = shared + 1;
    return key;
}

/* --------------------------------------------------------------- coder --- */

void
row_keys_coder_init(struct row_keys_coder *coder, row_keys_sink *sink,
                    void *context)
{
    memset(coder, 0, sizeof(*coder));
    coder->sink = sink;
    coder->context = context;
}

void
row_keys_coder_release(struct row_keys_coder *coder)
{
    colander_buffer_release(&coder->block);
    colander_buffer_release(&coder->restarts);
    colander_buffer_release(&coder->last);
}

/* Ends the block and begins the next. */
static enum colander_code
block_end(struct row_keys_coder *coder, struct colander_error *err)
{
    uint32_t key_count = coder->unit_count - coder->first_unit;
    size_t size = coder->restarts.size + TRAILER_SIZE;
    enum colander_code code = colander_buffer_reserve(&coder->block, size, err);
    uint8_t *end;

    if (code != COLANDER_OK)
        return code;
    end = coder->block.data + coder->block.size;
    memcpy(end, coder->restarts.data, coder->restarts.size);
    bytes_put_le16(end + coder->restarts.size, (uint16_t)key_count);
    code = coder->sink(
        coder->context,
        colander_slice_of(coder->block.data, coder->block.size + size),
        coder->first_unit, err);
    if (code != COLANDER_OK)
        return code;
    coder->first_unit = coder->unit_count;
    colander_buffer_clear(&coder->block);
    colander_buffer_clear(&coder->restarts);
    return COLANDER_OK;
}

/* Returns whether a key of `size` bytes, none of them shared, is too much. */
static bool
is_block_full(const struct row_keys_coder *coder, size_t size)
{
    return coder->unit_count > coder->first_unit &&
           coder->block.size + ENTRY_HEAD_MAX + size + coder->restarts.size +
                   RESTART_SIZE + TRAILER_SIZE >
               ROW_KEYS_BLOCK_SIZE;
}

/* Writes the part of a length that does not fit its four bits. */
static uint8_t *
length_put(uint8_t *bytes, size_t length)
{
    return length < LENGTH_MORE ? bytes
                                : bytes_put_varint(bytes, length - LENGTH_MORE);
}

static unsigned
nibble_of(size_t length)
{
    return length < LENGTH_MORE ? (unsigned)length : LENGTH_MORE;
}

/* Appends an entry. Requires room. */
static void
entry_put(struct colander_buffer *block, size_t shared,
          struct colander_slice suffix)
{
    uint8_t *end = block->data + block->size;

    *end++ = (uint8_t)(nibble_of(shared) << 4 | nibble_of(suffix.size));
    end = length_put(end, shared);
    end = length_put(end, suffix.size);
    if (suffix.size > 0)
        memcpy(end, suffix.data, suffix.size);
    block->size = (size_t)(end - block->data) + suffix.size;
}

/* Makes room everywhere for one more key, so that adding it cannot fail. */
static enum colander_code
reserve_key(struct row_keys_coder *coder, size_t size,
            struct colander_error *err)
{
    enum colander_code code =
        colander_buffer_reserve(&coder->block, size + ENTRY_HEAD_MAX, err);

    if (code == COLANDER_OK)
        code = colander_buffer_reserve(&coder->restarts, RESTART_SIZE, err);
    if (code == COLANDER_OK)
        code = colander_buffer_reserve(&coder->last, size, err);
    return code;
}

static void
add_restart(struct row_keys_coder *coder)
{
    bytes_put_le16(coder->restarts.data + coder->restarts.size,
                   (uint16_t)coder->block.size);
    coder->restarts.size += RESTART_SIZE;
}

enum colander_code
row_keys_coder_add(struct row_keys_coder *coder, struct colander_slice key,
                   struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    size_t shared = 0;

    if (is_block_full(coder, key.size))
        code = block_end(coder, err);
    if (code == COLANDER_OK)
        code = reserve_key(coder, key.size, err);
    if (code != COLANDER_OK)
        return code;

    if ((coder->unit_count - coder->first_unit) % ROW_KEYS_RESTART == 0)
        add_restart(coder);
    else
        shared = row_keys_shared(colander_buffer_slice(&coder->last), key);
    entry_put(&coder->block, shared,
              colander_slice_of(key.data + shared, key.size - shared));
    if (shared < key.size)
        memcpy(coder->last.data + shared, key.data + shared, key.size - shared);
    coder->last.size = key.size;
    coder->unit_count++;
    return COLANDER_OK;
}

enum colander_code
row_keys_coder_finish(struct row_keys_coder *coder, struct colander_error *err)
{
    if (coder->unit_count == coder->first_unit)
        return COLANDER_OK;
    return block_end(coder, err);
}

/* -------------------------------------------------------------- reader --- */

struct entry {
    size_t shared;
    size_t suffix; /* offset in the block */
    size_t size;   /* of the suffix */
};

/* Adds the varint at *offset to *length. */
static bool
length_read(struct colander_slice entries, size_t *offset, size_t *length)
{
    uint32_t rest = 0;

    for (unsigned shift = 0; shift < 32; shift += 7) {
        uint8_t byte;

        if (*offset >= entries.size)
            return false;
        byte = entries.data[(*offset)++];
        rest |= (uint32_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *length += rest;
            return true;
        }
    }
    return false;
}

/* Reads the entry at `offset`; false if it does not lie inside `entries`. */
static inline bool
entry_read(struct colander_slice entries, size_t offset, struct entry *entry)
{
    uint8_t head;

    if (offset >= entries.size)
        return false;
    head = entries.data[offset++];
    entry->shared = head >> 4;
    entry->size = head & LENGTH_MORE;
    if (entry->shared == LENGTH_MORE &&
        !length_read(entries, &offset, &entry->shared))
        return false;
    if (entry->size == LENGTH_MORE &&
        !length_read(entries, &offset, &entry->size))
        return false;
    entry->suffix = offset;
    return entry->size <= entries.size - offset;
}

static enum colander_code
entry_damaged(uint32_t index, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_CORRUPT, "key block: key %u is damaged",
                         index);
}

void
row_keys_reader_release(struct row_keys_reader *reader)
{
    struct row_keys_reader empty = ROW_KEYS_READER_EMPTY;

    colander_buffer_release(&reader->key);
    *reader = empty;
}

/* Replaces reader->key by the key of `entry`. Requires that reader->key has the
 * bytes that it shares. */
static inline enum colander_code
key_apply(struct row_keys_reader *reader, const struct entry *entry,
          struct colander_error *err)
{
    struct colander_buffer *key = &reader->key;
    const uint8_t *suffix = reader->entries.data + entry->suffix;
    size_t size = entry->shared + entry->size;

    if (key->capacity < size + COPY_SIZE) {
        enum colander_code code =
            colander_buffer_reserve(key, entry->size + COPY_SIZE, err);

        if (code != COLANDER_OK)
            return code;
    }
    if (entry->size <= COPY_SIZE &&
        reader->entries.size - entry->suffix >= COPY_SIZE)
        memcpy(key->data + entry->shared, suffix, COPY_SIZE);
    else
        memcpy(key->data + entry->shared, suffix, entry->size);
    key->size = size;
    return COLANDER_OK;
}

/* Reads the next key into reader->key. */
static inline enum colander_code
step(struct row_keys_reader *reader, struct colander_error *err)
{
    bool is_restart = reader->next % ROW_KEYS_RESTART == 0;
    struct entry entry;
    enum colander_code code;

    if (!entry_read(reader->entries, reader->offset, &entry) ||
        entry.shared > (is_restart ? 0 : reader->key.size))
        return entry_damaged(reader->next, err);
    code = key_apply(reader, &entry, err);
    if (code != COLANDER_OK)
        return code;
    reader->offset = entry.suffix + entry.size;
    reader->next++;
    return COLANDER_OK;
}

static uint32_t
restarts_of(uint32_t key_count)
{
    return (key_count + ROW_KEYS_RESTART - 1) / ROW_KEYS_RESTART;
}

/* Returns where the key at a restart begins. Restarts follow the entries. */
static size_t
restart_offset(const struct row_keys_reader *reader, uint32_t restart)
{
    return bytes_get_le16(reader->entries.data + reader->entries.size +
                          (size_t)restart * RESTART_SIZE);
}

/* Moves the reader before the key at a restart. */
static void
restart_seek(struct row_keys_reader *reader, uint32_t restart)
{
    reader->next = restart * ROW_KEYS_RESTART;
    reader->offset = restart_offset(reader, restart);
    colander_buffer_clear(&reader->key);
}

enum colander_code
row_keys_open(struct row_keys_reader *reader, struct colander_slice block,
              struct colander_error *err)
{
    const size_t room =
        block.size < TRAILER_SIZE ? 0 : block.size - TRAILER_SIZE;
    const uint32_t count = room == 0 ? 0 : bytes_get_le16(block.data + room);
    const size_t restarts_size = (size_t)restarts_of(count) * RESTART_SIZE;

    reader->count = 0;
    if (count == 0 || count + restarts_size > room)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "key block of %zu bytes is damaged", block.size);
    reader->entries = colander_slice_of(block.data, room - restarts_size);
    reader->count = count;
    restart_seek(reader, 0);
    return COLANDER_OK;
}

enum colander_code
row_keys_get(struct row_keys_reader *reader, uint32_t index,
             struct colander_error *err)
{
    const uint32_t restart = index / ROW_KEYS_RESTART;
    enum colander_code code = COLANDER_OK;

    if (index >= reader->count)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "key block has only %u keys", reader->count);
    if (reader->next > index || reader->next < restart * ROW_KEYS_RESTART)
        restart_seek(reader, restart);
    while (code == COLANDER_OK && reader->next <= index)
        code = step(reader, err);
    return code;
}

/* Finds the first restart whose key is not below `key`, or their number. */
static enum colander_code
restart_search(const struct row_keys_reader *reader, struct colander_slice key,
               uint32_t *restart, struct colander_error *err)
{
    uint32_t low = 0;
    uint32_t high = restarts_of(reader->count);

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct colander_slice whole;
        struct entry entry;

        if (!entry_read(reader->entries, restart_offset(reader, middle),
                        &entry) ||
            entry.shared != 0)
            return entry_damaged(middle * ROW_KEYS_RESTART, err);
        whole =
            colander_slice_of(reader->entries.data + entry.suffix, entry.size);
        if (colander_slice_compare(whole, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *restart = low;
    return COLANDER_OK;
}

enum colander_code
row_keys_search(struct row_keys_reader *reader, struct colander_slice key,
                uint32_t *index, struct colander_error *err)
{
    uint32_t restart = 0;
    enum colander_code code = restart_search(reader, key, &restart, err);

    if (code == COLANDER_OK)
        restart_seek(reader, restart == 0 ? 0 : restart - 1);
    while (code == COLANDER_OK && reader->next < reader->count) {
        code = step(reader, err);
        if (code == COLANDER_OK &&
            colander_slice_compare(colander_buffer_slice(&reader->key), key) >=
                0) {
            *index = reader->next - 1;
            return COLANDER_OK;
        }
    }
    *index = reader->count;
    return code;
}
