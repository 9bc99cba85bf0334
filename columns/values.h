/*
 * Values: scalars, their equality and order, and keys made of them.
 *
 * Memory:  the words of core.h: owned, borrowed, copied, taken
 * Bytes:   columns/FORMAT.md
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_VALUES_H
#define COLANDER_VALUES_H

#include "columns/limits.h"
#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------- values --- */

/* In the order in which values of different types sort. For sorting, all
 * numbers are one type. */
enum colander_type {
    COLANDER_NULL = 0,
    COLANDER_BOOLEAN,
    COLANDER_INTEGER,  /* int64_t */
    COLANDER_UNSIGNED, /* uint64_t, only above INT64_MAX */
    COLANDER_DOUBLE,
    COLANDER_STRING,    /* UTF-8, checked when written */
    COLANDER_BINARY,    /* any bytes */
    COLANDER_TIMESTAMP, /* an instant: seconds since 1970 and nanoseconds */
    COLANDER_EXTENSION, /* another msgpack extension: its type and bytes */
    COLANDER_ARRAY,     /* `bytes` is the encoded array */
    COLANDER_MAP,       /* `bytes` is the encoded map */
};

struct colander_value {
    enum colander_type type;
    int8_t extension_type; /* of EXTENSION */
    uint32_t nanosecond;   /* of TIMESTAMP, below 10^9 */
    union {
        bool boolean;
        int64_t integer;
        uint64_t natural;            /* of UNSIGNED */
        double number;               /* of DOUBLE */
        int64_t second;              /* of TIMESTAMP */
        struct colander_slice bytes; /* of STRING ... MAP; borrowed */
    };
};

static inline struct colander_value
colander_null(void)
{
    struct colander_value value;

    memset(&value, 0, sizeof(value));
    return value;
}

static inline struct colander_value
colander_boolean(bool boolean)
{
    struct colander_value value = colander_null();

    value.type = COLANDER_BOOLEAN;
    value.boolean = boolean;
    return value;
}

static inline struct colander_value
colander_integer(int64_t integer)
{
    struct colander_value value = colander_null();

    value.type = COLANDER_INTEGER;
    value.integer = integer;
    return value;
}

static inline struct colander_value
colander_unsigned(uint64_t natural)
{
    struct colander_value value = colander_null();

    value.type = natural > INT64_MAX ? COLANDER_UNSIGNED : COLANDER_INTEGER;
    value.natural = natural;
    return value;
}

static inline struct colander_value
colander_double(double number)
{
    struct colander_value value = colander_null();

    value.type = COLANDER_DOUBLE;
    value.number = number;
    return value;
}

static inline struct colander_value
colander_string(struct colander_slice bytes)
{
    struct colander_value value = colander_null();

    value.type = COLANDER_STRING;
    value.bytes = bytes;
    return value;
}

static inline struct colander_value
colander_text(const char *text)
{
    return colander_string(colander_slice_text(text));
}

static inline struct colander_value
colander_binary(struct colander_slice bytes)
{
    struct colander_value value = colander_string(bytes);

    value.type = COLANDER_BINARY;
    return value;
}

static inline struct colander_value
colander_timestamp(int64_t second, uint32_t nanosecond)
{
    struct colander_value value = colander_null();

    value.type = COLANDER_TIMESTAMP;
    value.second = second;
    value.nanosecond = nanosecond;
    return value;
}

/* Returns whether values of the type are numbers, which have one order. */
static inline bool
colander_type_is_number(enum colander_type type)
{
    return type == COLANDER_INTEGER || type == COLANDER_UNSIGNED ||
           type == COLANDER_DOUBLE;
}

/* Returns whether a scalar of the type has `bytes`. */
static inline bool
colander_type_has_bytes(enum colander_type type)
{
    return type == COLANDER_STRING || type == COLANDER_BINARY ||
           type == COLANDER_EXTENSION;
}

/* Returns the type as a word: "integer", "string", ... */
COLANDER_API const char *colander_type_name(enum colander_type type);

/*
 * Returns <0, 0 or >0: the order of two scalars. Types come first: null,
 * boolean, number, string, binary, timestamp, extension. Numbers compare
 * exactly, whatever their type and width; NaN equals NaN and comes after every
 * other number. Arrays and maps sort after all scalars and are not compared
 * with each other.
 */
COLANDER_API int colander_value_compare(const struct colander_value *a,
                                        const struct colander_value *b);

/* Returns a hash of a scalar. Equal scalars have equal hashes. Files hold these
 * hashes: see COLANDER_HASH_VERSION. */
COLANDER_API uint64_t colander_value_hash(const struct colander_value *value);

/* Changes if colander_value_hash ever returns another number for a value. */
#define COLANDER_HASH_VERSION 1

/* ---------------------------------------------------------------- keys --- */

/*
 * A key is a tuple of 1 to COLANDER_KEY_PARTS_MAX scalars, none of them null.
 * Encoded keys sort bytewise as the tuples do: part by part, as
 * colander_value_compare orders them. Functions take encoded keys. An integer
 * and a DOUBLE of the same value are the same key. An EXTENSION of type -1 is
 * refused, as in rows: that is a TIMESTAMP.
 */

/* Sets `key` to the encoded parts. On failure it is unchanged. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_key_encode(const struct colander_value *parts, size_t count,
                    struct colander_buffer *key, struct colander_error *err);

/* Encodes the key whose parts are the elements of an array, or the one part
 * that a scalar is. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_key_encode_value(const struct colander_value *value,
                          struct colander_buffer *key,
                          struct colander_error *err);

/* Sets `key` to the single part `text`. */
COLANDER_CHECKED static inline enum colander_code
colander_key_text(const char *text, struct colander_buffer *key,
                  struct colander_error *err)
{
    const struct colander_value part = colander_text(text);

    return colander_key_encode(&part, 1, key, err);
}

/* Sets `key` to a new key: a string of 26 characters (a ULID) that is unique
 * and sorts by the time of its creation. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_key_generate(struct colander_buffer *key, struct colander_error *err);

/* An encoded key on the stack, which needs no release. */
struct colander_key {
    uint8_t bytes[COLANDER_KEY_SIZE_MAX];
};

/* Encodes the parts into `key` and returns the encoded key, borrowed from it.
 * If the parts do not make a key, returns bytes that no call accepts: writes
 * and finds fail with INVALID, and gets find no row. So calls can be nested
 * without a check. */
COLANDER_API struct colander_slice
colander_key_of(struct colander_key *key, const struct colander_value *parts,
                size_t count);

/* Does the same with the single part `text`. */
static inline struct colander_slice
colander_key_of_text(struct colander_key *key, const char *text)
{
    const struct colander_value part = colander_text(text);

    return colander_key_of(key, &part, 1);
}

/* Fills `parts`, which has room for COLANDER_KEY_PARTS_MAX, and *count. Strings
 * and binaries without a zero byte are borrowed from `key`. Others are decoded
 * into `scratch`, whose content is replaced. Fails with CORRUPT for bytes that
 * colander_key_encode never writes. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_key_decode(struct colander_slice key, struct colander_value *parts,
                    size_t *count, struct colander_buffer *scratch,
                    struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
