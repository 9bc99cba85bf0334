/*
 * Values: the one definition of equality, order and hash (invariant I3).
 *
 * All other code compares values with these functions, or by bytes that agree
 * with them (keys). A number in a struct may have any of its types: UNSIGNED
 * that would fit an integer, a DOUBLE that is whole. Its value counts.
 *
 * Bytes: columns/FORMAT.md, "Hashes"
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/value.h"

#include "columns/utf8.h"
#include "core/bytes.h"

#include <math.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Seeds of the hash. Files depend on them: see COLANDER_HASH_VERSION. */
enum hash_seed {
    SEED_NULL = 1,
    SEED_BOOLEAN = 2,
    SEED_INTEGER = 3,
    SEED_NATURAL = 4,
    SEED_DOUBLE = 5,
    SEED_NAN = 6,
    SEED_STRING = 7,
    SEED_BINARY = 8,
    SEED_TIMESTAMP = 9,
    SEED_EXTENSION = 10,
    SEED_CONTAINER = 11,
};

/* A number in the one form that equal numbers share. */
struct number {
    enum {
        NUMBER_INTEGER, /* fits int64_t */
        NUMBER_NATURAL, /* fits uint64_t only */
        NUMBER_DOUBLE,  /* has a fraction, or is beyond both */
        NUMBER_NAN,
    } kind;
    union {
        int64_t integer;
        uint64_t natural;
        double real;
    };
};

static struct number
number_of_natural(uint64_t natural)
{
    struct number number = {.kind = NUMBER_INTEGER};

    if (natural > INT64_MAX)
        number.kind = NUMBER_NATURAL;
    number.natural = natural;
    return number;
}

static struct number
number_of_double(double real)
{
    struct number number = {.kind = NUMBER_DOUBLE};

    if (real >= -0x1p63 && real < 0x1p63) {
        int64_t whole = (int64_t)real;

        if ((double)whole == real) {
            number.kind = NUMBER_INTEGER;
            number.integer = whole;
            return number;
        }
    } else if (real >= 0x1p63 && real < 0x1p64) {
        return number_of_natural((uint64_t)real);
    } else if (isnan(real)) {
        number.kind = NUMBER_NAN;
    }
    number.real = real;
    return number;
}

static struct number
number_of(const struct colander_value *value)
{
    struct number number = {.kind = NUMBER_INTEGER};

    if (value->type == COLANDER_DOUBLE)
        return number_of_double(value->number);
    if (value->type == COLANDER_UNSIGNED)
        return number_of_natural(value->natural);
    number.integer = value->integer;
    return number;
}

/* `real` has a fraction or is out of range, so the two are never equal. */
static int
whole_compare(const struct number *whole, double real)
{
    int64_t truncated;

    if (real < -0x1p63)
        return 1;
    if (real >= 0x1p64)
        return -1;
    if (whole->kind == NUMBER_NATURAL)
        return 1;
    truncated = (int64_t)real;
    if (whole->integer == truncated)
        return real < 0 ? 1 : -1;
    return whole->integer < truncated ? -1 : 1;
}

static int
number_compare(const struct number *a, const struct number *b)
{
    if (a->kind == NUMBER_NAN || b->kind == NUMBER_NAN)
        return (a->kind == NUMBER_NAN) - (b->kind == NUMBER_NAN);
    if (a->kind == NUMBER_DOUBLE && b->kind == NUMBER_DOUBLE)
        return (a->real > b->real) - (a->real < b->real);
    if (b->kind == NUMBER_DOUBLE)
        return whole_compare(a, b->real);
    if (a->kind == NUMBER_DOUBLE)
        return -whole_compare(b, a->real);
    if (a->kind != b->kind)
        return a->kind == NUMBER_NATURAL ? 1 : -1;
    if (a->kind == NUMBER_NATURAL)
        return (a->natural > b->natural) - (a->natural < b->natural);
    return (a->integer > b->integer) - (a->integer < b->integer);
}

static int
timestamp_compare(const struct colander_value *a,
                  const struct colander_value *b)
{
    if (a->second != b->second)
        return a->second < b->second ? -1 : 1;
    return (a->nanosecond > b->nanosecond) - (a->nanosecond < b->nanosecond);
}

static int
extension_compare(const struct colander_value *a,
                  const struct colander_value *b)
{
    if (a->extension_type != b->extension_type)
        return a->extension_type < b->extension_type ? -1 : 1;
    return colander_slice_compare(a->bytes, b->bytes);
}

/* Types that compare with each other share the first of them. */
static enum colander_type
type_class(enum colander_type type)
{
    switch (type) {
    case COLANDER_UNSIGNED:
    case COLANDER_DOUBLE:
        return COLANDER_INTEGER;
    case COLANDER_MAP:
        return COLANDER_ARRAY;
    default:
        return type;
    }
}

const char *
colander_type_name(enum colander_type type)
{
    static const char *const names[] = {
        [COLANDER_NULL] = "null",
        [COLANDER_BOOLEAN] = "boolean",
        [COLANDER_INTEGER] = "integer",
        [COLANDER_UNSIGNED] = "unsigned",
        [COLANDER_DOUBLE] = "double",
        [COLANDER_STRING] = "string",
        [COLANDER_BINARY] = "binary",
        [COLANDER_TIMESTAMP] = "timestamp",
        [COLANDER_EXTENSION] = "extension",
        [COLANDER_ARRAY] = "array",
        [COLANDER_MAP] = "map",
    };

    if ((size_t)type >= sizeof(names) / sizeof(names[0]))
        return "unknown";
    return names[type];
}

enum colander_code
value_check(const struct colander_value *value, struct colander_error *err)
{
    if (value->type == COLANDER_STRING &&
        !utf8_is_valid(value->bytes.data, value->bytes.size))
        return COLANDER_FAIL(err, COLANDER_INVALID, "string is not UTF-8");
    if (value->type == COLANDER_TIMESTAMP &&
        value->nanosecond >= VALUE_NANOSECONDS)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "timestamp has %u nanoseconds", value->nanosecond);
    if (value->type == COLANDER_EXTENSION &&
        value->extension_type == VALUE_TIMESTAMP_TYPE)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "extension type %d is a timestamp",
                             VALUE_TIMESTAMP_TYPE);
    return COLANDER_OK;
}

int
colander_value_compare(const struct colander_value *a,
                       const struct colander_value *b)
{
    enum colander_type a_class = type_class(a->type);
    enum colander_type b_class = type_class(b->type);
    struct number a_number;
    struct number b_number;

    if (a_class != b_class)
        return a_class < b_class ? -1 : 1;
    switch (a_class) {
    case COLANDER_BOOLEAN:
        return a->boolean - b->boolean;
    case COLANDER_INTEGER:
        a_number = number_of(a);
        b_number = number_of(b);
        return number_compare(&a_number, &b_number);
    case COLANDER_STRING:
    case COLANDER_BINARY:
        return colander_slice_compare(a->bytes, b->bytes);
    case COLANDER_TIMESTAMP:
        return timestamp_compare(a, b);
    case COLANDER_EXTENSION:
        return extension_compare(a, b);
    default:
        return 0;
    }
}

static uint64_t
hash_word(uint64_t bits, enum hash_seed seed)
{
    uint8_t bytes[sizeof(bits)];

    bytes_put_le64(bytes, bits);
    return XXH3_64bits_withSeed(bytes, sizeof(bytes), seed);
}

static uint64_t
hash_bytes(struct colander_slice bytes, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes.size == 0 ? "" : (const char *)bytes.data,
                                bytes.size, seed);
}

static uint64_t
hash_nothing(enum hash_seed seed)
{
    return XXH3_64bits_withSeed("", 0, seed);
}

static uint64_t
hash_number(const struct colander_value *value)
{
    struct number number = number_of(value);
    uint64_t bits;

    switch (number.kind) {
    case NUMBER_INTEGER:
        return hash_word((uint64_t)number.integer, SEED_INTEGER);
    case NUMBER_NATURAL:
        return hash_word(number.natural, SEED_NATURAL);
    case NUMBER_DOUBLE:
        memcpy(&bits, &number.real, sizeof(bits));
        return hash_word(bits, SEED_DOUBLE);
    default:
        return hash_nothing(SEED_NAN);
    }
}

static uint64_t
hash_timestamp(const struct colander_value *value)
{
    uint8_t bytes[12];

    bytes_put_le64(bytes, (uint64_t)value->second);
    bytes_put_le32(bytes + 8, value->nanosecond);
    return XXH3_64bits_withSeed(bytes, sizeof(bytes), SEED_TIMESTAMP);
}

static uint64_t
hash_boolean(bool boolean)
{
    uint8_t byte = boolean ? 1 : 0;

    return XXH3_64bits_withSeed(&byte, sizeof(byte), SEED_BOOLEAN);
}

uint64_t
colander_value_hash(const struct colander_value *value)
{
    uint64_t extension;

    switch (value->type) {
    case COLANDER_NULL:
        return hash_nothing(SEED_NULL);
    case COLANDER_BOOLEAN:
        return hash_boolean(value->boolean);
    case COLANDER_INTEGER:
    case COLANDER_UNSIGNED:
    case COLANDER_DOUBLE:
        return hash_number(value);
    case COLANDER_STRING:
        return hash_bytes(value->bytes, SEED_STRING);
    case COLANDER_BINARY:
        return hash_bytes(value->bytes, SEED_BINARY);
    case COLANDER_TIMESTAMP:
        return hash_timestamp(value);
    case COLANDER_EXTENSION:
        extension = (uint64_t)(uint8_t)value->extension_type << 8;
        return hash_bytes(value->bytes, SEED_EXTENSION | extension);
    default:
        return hash_nothing(SEED_CONTAINER);
    }
}
