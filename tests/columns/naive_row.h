/*
 * Random rows, and their contents as a naive reader sees them.
 *
 * msgpack-c packs the rows, from a small set of names and values so that
 * predicates often match, and in every width msgpack has for a value. It also
 * unpacks them, into a list of places: each value with its path as text, in the
 * order of the row. Scalars are compared as long doubles.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_COLUMNS_NAIVE_ROW_H
#define TESTS_COLUMNS_NAIVE_ROW_H

#include "support/cases.h"
#include "support/scoped.h"

#include "columns/columns.h"
#include "support/random.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>

#define PLACES_MAX 4096
static_assert(LDBL_MANT_DIG >= 64, "a long double holds every 64-bit integer");

static uint64_t
chance(uint64_t below)
{
    return random_below(random_state(), below);
}

/* ------------------------------------------------------------ scalars --- */

enum kin { NOTHING, BOOLEAN, NUMBER, TEXT, BLOB, INSTANT, FOREIGN, KIN_COUNT };

struct scalar {
    enum kin kin;
    bool boolean;
    long double number;
    int64_t second;
    uint32_t nanosecond;
    int8_t foreign_type;
    const char *data;
    size_t size;
};

static const long double numbers[] = {0.0L,
                                      1.0L,
                                      -1.0L,
                                      2.0L,
                                      0.5L,
                                      -0.0L,
                                      127.0L,
                                      128.0L,
                                      -32.0L,
                                      -33.0L,
                                      255.0L,
                                      256.0L,
                                      65536.0L,
                                      4294967296.0L,
                                      9007199254740991.0L,
                                      9007199254740992.0L,
                                      9007199254740993.0L,
                                      -9007199254740992.0L,
                                      -9007199254740993.0L,
                                      9223372036854775807.0L,
                                      9223372036854775808.0L,
                                      -9223372036854775808.0L,
                                      18446744073709551615.0L,
                                      18446744073709551616.0L,
                                      1.5L,
                                      (long double)0.1,
                                      (long double)1e300,
                                      (long double)-1e300,
                                      (long double)5e-324,
                                      (long double)INFINITY,
                                      -(long double)INFINITY,
                                      (long double)NAN};

#define LONG_TEXT "a string that is too long for the shortest form of msgpack"

/* A test that includes this may have its own values and names. */
#ifndef NAIVE_TEXTS
#define NAIVE_TEXTS                                                            \
    "", "a", "b", "ab", "abc", "ba", "aab", "1", "\xC4\x85", "\xC4\x85z",      \
        LONG_TEXT
#endif
#ifndef NAIVE_SECONDS
#define NAIVE_SECONDS                                                          \
    0, 1, 1600000000, 4294967295, -1, 4294967296, 17179869184, -17179869184
#endif
#ifndef NAIVE_NAMES
#define NAIVE_NAMES "a", "b", "c", "a.b", "back\\slash", "x[]"
#endif

static const char *const texts[] = {NAIVE_TEXTS};
static const int64_t seconds[] = {NAIVE_SECONDS};
static const char *const names[] = {NAIVE_NAMES};

static struct scalar
scalar_draw(void)
{
    struct scalar scalar = {.kin = (enum kin)chance(KIN_COUNT)};

    if (chance(4) == 0)
        scalar.kin = NUMBER;
    scalar.boolean = chance(2) == 0;
    scalar.number = numbers[chance(chance(2) == 0 ? 4 : COUNT(numbers))];
    scalar.second = seconds[chance(chance(2) == 0 ? 3 : COUNT(seconds))];
    scalar.nanosecond = chance(2) == 0 ? 0 : (uint32_t)chance(2) * 999999999;
    scalar.foreign_type = (int8_t)(chance(2) == 0 ? 5 : -2);
    scalar.data = texts[chance(chance(2) == 0 ? 4 : COUNT(texts))];
    scalar.size = strlen(scalar.data);
    return scalar;
}

static bool
is_whole(long double number)
{
    return number >= -0x1p63L && number < 0x1p64L && floorl(number) == number;
}

static struct colander_value
number_value(long double number)
{
    bool is_double =
        !(number <= 0 || number >= 0) || (long double)(double)number == number;

    if (!is_whole(number) || (is_double && chance(2) == 0))
        return colander_double((double)number);
    if (number < 0)
        return colander_integer((int64_t)number);
    return colander_unsigned((uint64_t)number);
}

static struct colander_value
scalar_value(const struct scalar *scalar)
{
    struct colander_slice bytes = colander_slice_of(scalar->data, scalar->size);
    struct colander_value value = colander_null();

    switch (scalar->kin) {
    case BOOLEAN:
        return colander_boolean(scalar->boolean);
    case NUMBER:
        return number_value(scalar->number);
    case TEXT:
        return colander_string(bytes);
    case BLOB:
        return colander_binary(bytes);
    case INSTANT:
        return colander_timestamp(scalar->second, scalar->nanosecond);
    case FOREIGN:
        value = colander_binary(bytes);
        value.type = COLANDER_EXTENSION;
        value.extension_type = scalar->foreign_type;
        return value;
    default:
        return value;
    }
}

static int
bytes_order(const struct scalar *a, const struct scalar *b)
{
    for (size_t i = 0; i < a->size && i < b->size; i++) {
        if (a->data[i] != b->data[i])
            return (unsigned char)a->data[i] < (unsigned char)b->data[i] ? -1
                                                                         : 1;
    }
    return a->size == b->size ? 0 : a->size < b->size ? -1 : 1;
}

static int
numbers_order(long double a, long double b)
{
    if (isnan(a) || isnan(b))
        return (isnan(a) ? 1 : 0) - (isnan(b) ? 1 : 0);
    return a == b ? 0 : a < b ? -1 : 1;
}

/* Compares two scalars of one kin. */
static int
scalar_order(const struct scalar *a, const struct scalar *b)
{
    switch (a->kin) {
    case BOOLEAN:
        return (a->boolean ? 1 : 0) - (b->boolean ? 1 : 0);
    case NUMBER:
        return numbers_order(a->number, b->number);
    case INSTANT:
        if (a->second != b->second)
            return a->second < b->second ? -1 : 1;
        return numbers_order(a->nanosecond, b->nanosecond);
    case FOREIGN:
        if (a->foreign_type != b->foreign_type)
            return a->foreign_type < b->foreign_type ? -1 : 1;
        return bytes_order(a, b);
    case NOTHING:
        return 0;
    default:
        return bytes_order(a, b);
    }
}

static inline bool
scalar_equals(const struct scalar *a, const struct scalar *b)
{
    return a->kin == b->kin && scalar_order(a, b) == 0;
}

/* --------------------------------------------------------------- rows --- */

/* Packs the integer in any form that can hold it, often too wide. */
static void
pack_whole(msgpack_packer *packer, long double number)
{
    bool is_negative = number < 0;
    uint64_t natural = is_negative ? 0 : (uint64_t)number;
    int64_t integer = natural > INT64_MAX ? -1 : (int64_t)number;

    switch (chance(8)) {
    case 0:
        if (natural <= UINT8_MAX && !is_negative)
            return (void)msgpack_pack_fix_uint8(packer, (uint8_t)natural);
        break;
    case 1:
        if (natural <= UINT32_MAX && !is_negative)
            return (void)msgpack_pack_fix_uint32(packer, (uint32_t)natural);
        break;
    case 2:
        if (!is_negative)
            return (void)msgpack_pack_fix_uint64(packer, natural);
        break;
    case 3:
        if (natural <= INT64_MAX)
            return (void)msgpack_pack_fix_int64(packer, integer);
        break;
    case 4:
        if (natural <= INT16_MAX && integer >= INT16_MIN)
            return (void)msgpack_pack_fix_int16(packer, (int16_t)integer);
        break;
    default:
        break;
    }
    if (is_negative)
        msgpack_pack_int64(packer, integer);
    else
        msgpack_pack_uint64(packer, natural);
}

static void
pack_number(msgpack_packer *packer, long double number)
{
    bool is_nan = isnan(number);
    bool is_float = is_nan || isinf(number) ||
                    (fabsl(number) <= (long double)FLT_MAX &&
                     (long double)(float)number == number);
    bool is_double = is_nan || (long double)(double)number == number;

    if (is_float && chance(3) == 0)
        msgpack_pack_float(packer, (float)number);
    else if (!is_whole(number) || (is_double && chance(3) == 0))
        msgpack_pack_double(packer, (double)number);
    else
        pack_whole(packer, number);
}

static void
pack_big_endian(uint8_t *bytes, uint64_t bits, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[size - 1 - i] = (uint8_t)(bits >> (8 * i));
}

/* Packs the instant in any of the three encodings that can hold it. */
static void
pack_instant(msgpack_packer *packer, const struct scalar *scalar)
{
    uint64_t bits = (uint64_t)scalar->second;
    uint8_t bytes[12];
    size_t size = 12;

    if (bits <= UINT32_MAX && scalar->nanosecond == 0 && chance(2) == 0) {
        size = 4;
        pack_big_endian(bytes, bits, 4);
    } else if (bits < UINT64_C(1) << 34 && chance(2) == 0) {
        size = 8;
        pack_big_endian(bytes, (uint64_t)scalar->nanosecond << 34 | bits, 8);
    } else {
        pack_big_endian(bytes, scalar->nanosecond, 4);
        pack_big_endian(bytes + 4, bits, 8);
    }
    msgpack_pack_ext_with_body(packer, bytes, size, -1);
}

static void
pack_scalar(msgpack_packer *packer, const struct scalar *scalar)
{
    switch (scalar->kin) {
    case BOOLEAN:
        if (scalar->boolean)
            msgpack_pack_true(packer);
        else
            msgpack_pack_false(packer);
        break;
    case NUMBER:
        pack_number(packer, scalar->number);
        break;
    case TEXT:
        msgpack_pack_str_with_body(packer, scalar->data, scalar->size);
        break;
    case BLOB:
        msgpack_pack_bin_with_body(packer, scalar->data, scalar->size);
        break;
    case INSTANT:
        pack_instant(packer, scalar);
        break;
    case FOREIGN:
        msgpack_pack_ext_with_body(packer, scalar->data, scalar->size,
                                   scalar->foreign_type);
        break;
    default:
        msgpack_pack_nil(packer);
        break;
    }
}

static void pack_map(msgpack_packer *packer, int depth);

static void
pack_value(msgpack_packer *packer, int depth)
{
    struct scalar scalar = scalar_draw();
    size_t count = chance(4);
    uint64_t shape = depth < 4 ? chance(8) : 7;

    if (shape == 0) {
        pack_map(packer, depth + 1);
        return;
    }
    if (shape > 2) {
        pack_scalar(packer, &scalar);
        return;
    }
    msgpack_pack_array(packer, count);
    while (count-- > 0)
        pack_value(packer, depth + 1);
}

static void
pack_map(msgpack_packer *packer, int depth)
{
    size_t start = chance(COUNT(names));
    size_t count = chance(COUNT(names) + 1);

    msgpack_pack_map(packer, count);
    for (size_t i = 0; i < count; i++) {
        const char *name = names[(start + i) % COUNT(names)];

        msgpack_pack_str_with_body(packer, name, strlen(name));
        pack_value(packer, depth);
    }
}

/* A copy of exact size, which the caller frees. */
static struct colander_slice
row_draw(void)
{
    SCOPED(msgpack_sbuffer_destroy) msgpack_sbuffer packed;
    msgpack_packer packer;
    uint8_t *bytes;

    msgpack_sbuffer_init(&packed);
    msgpack_packer_init(&packer, &packed, msgpack_sbuffer_write);
    pack_map(&packer, 0);
    bytes = malloc(packed.size);
    assert_non_null(bytes);
    memcpy(bytes, packed.data, packed.size);
    return colander_slice_of(bytes, packed.size);
}

/* ------------------------------------------------------------- places --- */

struct place {
    char *path;
    bool is_container;
    struct scalar scalar;
};

struct layout {
    msgpack_unpacked unpacked; /* owns what the scalars point to */
    struct place places[PLACES_MAX];
    size_t count;
};

static uint64_t
read_big_endian(const char *bytes, size_t size)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < size; i++)
        bits = bits << 8 | (unsigned char)bytes[i];
    return bits;
}

static struct scalar
instant_of(const char *bytes, size_t size)
{
    struct scalar scalar = {.kin = INSTANT};
    uint64_t bits;

    if (size == 4) {
        scalar.second = (int64_t)read_big_endian(bytes, 4);
    } else if (size == 8) {
        bits = read_big_endian(bytes, 8);
        scalar.nanosecond = (uint32_t)(bits >> 34);
        scalar.second = (int64_t)(bits & ((UINT64_C(1) << 34) - 1));
    } else {
        scalar.nanosecond = (uint32_t)read_big_endian(bytes, 4);
        scalar.second = (int64_t)read_big_endian(bytes + 4, 8);
    }
    return scalar;
}

static struct scalar
scalar_of(const msgpack_object *object)
{
    struct scalar scalar = {.kin = NOTHING};

    switch (object->type) {
    case MSGPACK_OBJECT_BOOLEAN:
        scalar.kin = BOOLEAN;
        scalar.boolean = object->via.boolean;
        break;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        scalar.kin = NUMBER;
        scalar.number = (long double)object->via.u64;
        break;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        scalar.kin = NUMBER;
        scalar.number = (long double)object->via.i64;
        break;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        scalar.kin = NUMBER;
        scalar.number = (long double)object->via.f64;
        break;
    case MSGPACK_OBJECT_STR:
    case MSGPACK_OBJECT_BIN:
        scalar.kin = object->type == MSGPACK_OBJECT_STR ? TEXT : BLOB;
        scalar.data = object->via.str.ptr;
        scalar.size = object->via.str.size;
        break;
    case MSGPACK_OBJECT_EXT:
        if (object->via.ext.type == -1)
            return instant_of(object->via.ext.ptr, object->via.ext.size);
        scalar.kin = FOREIGN;
        scalar.foreign_type = object->via.ext.type;
        scalar.data = object->via.ext.ptr;
        scalar.size = object->via.ext.size;
        break;
    default:
        break;
    }
    return scalar;
}

static void layout_add(struct layout *layout, const msgpack_object *object,
                       const char *path);

static void
layout_add_member(struct layout *layout, const msgpack_object_kv *member,
                  const char *path)
{
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;
    struct colander_slice name =
        colander_slice_of(member->key.via.str.ptr, member->key.via.str.size);

    OK(colander_buffer_append(&text, path, strlen(path), NULL));
    if (text.size > 0)
        OK(colander_buffer_append(&text, ".", 1, NULL));
    OK(colander_path_append_name(&text, name, NULL));
    OK(colander_buffer_append(&text, "", 1, NULL));
    layout_add(layout, &member->val, (const char *)text.data);
}

static void
layout_add_members(struct layout *layout, const msgpack_object *object,
                   const char *path)
{
    SCOPED_MEMORY char *inside = NULL;

    if (object->type == MSGPACK_OBJECT_MAP) {
        for (uint32_t i = 0; i < object->via.map.size; i++)
            layout_add_member(layout, &object->via.map.ptr[i], path);
        return;
    }
    assert_true(asprintf(&inside, "%s[]", path) > 0);
    for (uint32_t i = 0; i < object->via.array.size; i++)
        layout_add(layout, &object->via.array.ptr[i], inside);
}

static void
layout_add(struct layout *layout, const msgpack_object *object,
           const char *path)
{
    struct place *place = &layout->places[layout->count++];

    assert_true(layout->count < PLACES_MAX);
    place->path = strdup(path);
    assert_non_null(place->path);
    place->is_container = object->type == MSGPACK_OBJECT_MAP ||
                          object->type == MSGPACK_OBJECT_ARRAY;
    if (place->is_container)
        layout_add_members(layout, object, path);
    else
        place->scalar = scalar_of(object);
}

static void
layout_init(struct layout *layout, struct colander_slice row)
{
    layout->count = 0;
    msgpack_unpacked_init(&layout->unpacked);
    assert_int_equal(msgpack_unpack_next(&layout->unpacked,
                                         (const char *)row.data, row.size,
                                         NULL),
                     MSGPACK_UNPACK_SUCCESS);
    layout_add_members(layout, &layout->unpacked.data, "");
}

static void
layout_release(struct layout *layout)
{
    for (size_t i = 0; i < layout->count; i++)
        free(layout->places[i].path);
    msgpack_unpacked_destroy(&layout->unpacked);
}

#endif
