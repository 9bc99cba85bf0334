/*
 * Rows for tests: random ones in every msgpack encoding, damaged ones, and what
 * msgpack-c reads from them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_COLUMNS_ROWS_H
#define TESTS_COLUMNS_ROWS_H

#include "support/cases.h"

#include <stddef.h>
#include <stdint.h>

#include <msgpack.h>

#include "columns/columns.h"
#include "support/random.h"

/* The bytes of a string literal, including zero bytes. The head of a name is
 * octal if a letter follows that is a hexadecimal digit: "\241a". */
#define BYTES(text) colander_slice_of((text), sizeof(text) - 1)

/* ---------------------------------------------------------------- bytes --- */

static inline void
put_bytes(struct colander_buffer *out, const void *data, size_t size)
{
    OK(colander_buffer_append(out, data, size, NULL));
}

static inline void
put_byte(struct colander_buffer *out, unsigned byte)
{
    uint8_t one = (uint8_t)byte;

    put_bytes(out, &one, 1);
}

/* Appends `number` in `size` bytes, the highest first. */
static inline void
put_number(struct colander_buffer *out, uint64_t number, unsigned size)
{
    while (size-- > 0)
        put_byte(out, (unsigned)(number >> 8 * size) & 0xff);
}

/* A head of one of two to four encodings: `fixed` (if `count` is below
 * `fixed_limit`), `wide` with one byte (if any), and the two after it. */
static inline void
put_head(struct colander_buffer *out, uint64_t *seed, uint32_t count,
         unsigned fixed, unsigned fixed_limit, unsigned wide, unsigned bytes)
{
    unsigned least = count > 0xffff ? 4 : count > 0xff ? 2 : 1;
    unsigned way = (unsigned)random_below(seed, 6);

    if (count < fixed_limit && way < 3) {
        put_byte(out, fixed | count);
        return;
    }
    for (; bytes < least || (bytes < 4 && way == 5); bytes *= 2)
        wide++;
    put_byte(out, wide);
    put_number(out, count, bytes);
}

static inline void
put_map_head(struct colander_buffer *out, uint64_t *seed, uint32_t count)
{
    put_head(out, seed, count, 0x80, 16, 0xde, 2);
}

static inline void
put_array_head(struct colander_buffer *out, uint64_t *seed, uint32_t count)
{
    put_head(out, seed, count, 0x90, 16, 0xdc, 2);
}

static inline void
put_text(struct colander_buffer *out, uint64_t *seed,
         struct colander_slice text)
{
    put_head(out, seed, (uint32_t)text.size, 0xa0, 32, 0xd9, 1);
    put_bytes(out, text.data, text.size);
}

/* A copy whose end is the end of its allocation. Free it. */
static inline struct colander_slice
exact_copy(struct colander_slice bytes)
{
    uint8_t *copy = malloc(bytes.size > 0 ? bytes.size : 1);

    assert_non_null(copy);
    if (bytes.size > 0)
        memcpy(copy, bytes.data, bytes.size);
    return colander_slice_of(bytes.size > 0 ? copy : copy + 1, bytes.size);
}

static inline void
exact_free(struct colander_slice bytes)
{
    free((uint8_t *)(uintptr_t)bytes.data - (bytes.size == 0));
}

/* --------------------------------------------------------------- random --- */

static const char *const row_names[] = {
    "a",   "b",    "c",        "d", "",
    "a.b", "tags", "\xc3\xbc", "e", "f",
    "[]",  "\\",   "_key\x01", "g", "a name of more than 31 bytes, so",
};
#define ROW_NAME_COUNT (COUNT(row_names))

static inline void
put_random_number(struct colander_buffer *out, uint64_t *seed)
{
    static const uint8_t sizes[] = {4, 8, 1, 2, 4, 8, 1, 2, 4, 8};
    unsigned kind = (unsigned)random_below(seed, 13);

    if (kind >= 10) {
        put_byte(out, (unsigned)(0xe0 + random_below(seed, 160)) & 0xff);
        return;
    }
    put_byte(out, 0xca + kind);
    put_number(out, random_next(seed) >> random_below(seed, 64), sizes[kind]);
}

static inline void
put_random_extension(struct colander_buffer *out, uint64_t *seed)
{
    unsigned kind = (unsigned)random_below(seed, 5);

    if (kind == 0) { /* timestamps */
        put_number(out, 0xd6ff, 2);
        put_number(out, random_next(seed), 4);
    } else if (kind == 1) {
        put_number(out, 0xd7ff, 2);
        put_number(out, random_below(seed, 1000000000) << 34 | 12345, 8);
    } else if (kind == 2) {
        put_number(out, 0xc70cff, 3);
        put_number(out, random_below(seed, 1000000000), 4);
        put_number(out, random_next(seed), 8);
    } else if (kind == 3) {
        put_byte(out, 0xd4 + (unsigned)random_below(seed, 2));
        put_byte(out, (unsigned)random_below(seed, 128));
        put_number(out, random_next(seed), out->data[out->size - 2] - 0xd3u);
    } else {
        put_number(out, 0xc70305, 3);
        put_number(out, random_next(seed), 3);
    }
}

static inline void
put_random_text(struct colander_buffer *out, uint64_t *seed)
{
    char text[400];
    size_t size = random_below(seed, 8);

    if (random_below(seed, 20) == 0)
        size = random_below(seed, sizeof(text));
    for (size_t i = 0; i < size; i++)
        text[i] = (char)('a' + random_below(seed, 4));
    if (size >= 2 && random_below(seed, 4) == 0)
        memcpy(text, "\xc3\xa9", 2);
    put_text(out, seed, colander_slice_of(text, size));
}

static inline void
put_random_binary(struct colander_buffer *out, uint64_t *seed)
{
    unsigned size = (unsigned)random_below(seed, 5);

    put_byte(out, 0xc4);
    put_byte(out, size);
    put_number(out, random_next(seed), size);
}

static inline void put_random_map(struct colander_buffer *out, uint64_t *seed,
                                  unsigned levels);

/* A value with at most `levels` nested containers. */
static inline void
put_random_value(struct colander_buffer *out, uint64_t *seed, unsigned levels)
{
    static const uint8_t plain[] = {0xc0, 0xc0, 0xc2, 0xc3};
    unsigned kind = (unsigned)random_below(seed, levels > 0 ? 18 : 10);
    uint32_t count;

    if (kind < 3) {
        put_random_number(out, seed);
    } else if (kind < 6) {
        put_random_text(out, seed);
    } else if (kind < 8) {
        put_byte(out, plain[random_below(seed, sizeof(plain))]);
    } else if (kind == 8) {
        put_random_binary(out, seed);
    } else if (kind == 9) {
        put_random_extension(out, seed);
    } else if (kind < 13) {
        count = (uint32_t)random_below(seed, random_below(seed, 9) ? 4 : 20);
        put_array_head(out, seed, count);
        while (count-- > 0)
            put_random_value(out, seed, levels - 1);
    } else {
        put_random_map(out, seed, levels - 1);
    }
}

static inline void
put_random_map(struct colander_buffer *out, uint64_t *seed, unsigned levels)
{
    size_t first = random_below(seed, ROW_NAME_COUNT);
    uint32_t count = (uint32_t)random_below(seed, 7);

    if (random_below(seed, 16) == 0)
        count = ROW_NAME_COUNT;
    put_map_head(out, seed, count);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = row_names[(first + i) % ROW_NAME_COUNT];

        put_text(out, seed, colander_slice_text(name));
        put_random_value(out, seed, levels);
    }
}

/* Replaces `out` by a valid row. */
static inline void
random_row(struct colander_buffer *out, uint64_t *seed)
{
    colander_buffer_clear(out);
    put_random_map(out, seed, 1 + (unsigned)random_below(seed, 5));
}

/* Changes, cuts or repeats some bytes. */
static inline void
damage_row(struct colander_buffer *row, uint64_t *seed)
{
    static const uint8_t heads[] = {0xc1, 0xdf, 0xdd, 0xc9, 0xdb, 0xc7, 0xd7,
                                    0x8f, 0x9f, 0xbf, 0xff, 0xc0, 0xde, 0x81};
    unsigned count = 1 + (unsigned)random_below(seed, 3);

    while (count-- > 0 && row->size > 0) {
        size_t at = random_below(seed, row->size);

        switch (random_below(seed, 5)) {
        case 0:
            row->data[at] = (uint8_t)random_next(seed);
            break;
        case 1:
            row->data[at] = heads[random_below(seed, sizeof(heads))];
            break;
        case 2:
            row->data[at] ^= (uint8_t)(1u << random_below(seed, 8));
            break;
        case 3:
            row->size = at;
            break;
        default:
            memmove(row->data + at, row->data + at / 2, row->size - at);
        }
    }
}

/* Replaces `text` by a zero-terminated path that is often in a row. */
static inline const char *
random_path(struct colander_buffer *text, uint64_t *seed)
{
    unsigned steps = 1 + (unsigned)random_below(seed, 3);

    colander_buffer_clear(text);
    for (unsigned i = 0; i < steps; i++) {
        const char *name = row_names[random_below(seed, ROW_NAME_COUNT)];

        if (i > 0)
            put_byte(text, '.');
        OK(colander_path_append_name(text, colander_slice_text(name), NULL));
        while (random_below(seed, 3) == 0)
            put_bytes(text, "[]", 2);
    }
    put_byte(text, 0);
    return (const char *)text->data;
}

/* ------------------------------------------------------------ msgpack-c --- */

/* Unpacks all of `bytes` with msgpack-c. Owned by `zone`. */
static inline msgpack_object
unpack(struct colander_slice bytes, msgpack_zone *zone)
{
    msgpack_object object;
    size_t offset = 0;

    assert_int_equal(msgpack_unpack((const char *)bytes.data, bytes.size,
                                    &offset, zone, &object),
                     MSGPACK_UNPACK_SUCCESS);
    assert_int_equal(offset, bytes.size);
    return object;
}

/* Asserts that `bytes` have the same content as `object` in any encoding. */
static inline void
assert_says(struct colander_slice bytes, msgpack_object object)
{
    msgpack_zone zone;
    msgpack_sbuffer ours, theirs;
    msgpack_packer packer;

    assert_true(msgpack_zone_init(&zone, 4096));
    msgpack_sbuffer_init(&ours);
    msgpack_sbuffer_init(&theirs);
    msgpack_packer_init(&packer, &ours, msgpack_sbuffer_write);
    assert_int_equal(msgpack_pack_object(&packer, unpack(bytes, &zone)), 0);
    msgpack_packer_init(&packer, &theirs, msgpack_sbuffer_write);
    assert_int_equal(msgpack_pack_object(&packer, object), 0);
    assert_int_equal(ours.size, theirs.size);
    assert_memory_equal(ours.data, theirs.data, ours.size);
    msgpack_sbuffer_destroy(&theirs);
    msgpack_sbuffer_destroy(&ours);
    msgpack_zone_destroy(&zone);
}

/* Returns the value of `name` in a map, or NULL. */
static inline msgpack_object *
object_find(const msgpack_object *map, const msgpack_object *name)
{
    for (uint32_t i = 0; i < map->via.map.size; i++)
        if (msgpack_object_equal(map->via.map.ptr[i].key, *name))
            return &map->via.map.ptr[i].val;
    return NULL;
}

/* An empty map or array with space for `count` members. */
static inline msgpack_object
object_container(msgpack_object_type type, uint32_t count, msgpack_zone *zone)
{
    msgpack_object object;

    memset(&object, 0, sizeof(object));
    object.type = type;
    object.via.map.ptr =
        msgpack_zone_malloc(zone, (count + 1) * sizeof(msgpack_object_kv));
    assert_non_null(object.via.map.ptr);
    return object;
}

static inline void
object_add(msgpack_object *map, msgpack_object name, msgpack_object value)
{
    map->via.map.ptr[map->via.map.size].key = name;
    map->via.map.ptr[map->via.map.size].val = value;
    map->via.map.size++;
}

#endif
