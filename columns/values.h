/*
 * Values: scalars, what they equal, how they sort, and keys made of them.
 *
 * Memory:  the words of core.h: owned, borrowed, copied, taken
 * Bytes:   columns/FORMAT.md: keys as they stand on disk
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

/* In the order in which values of different types sort; numbers are one. */
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

/* A type as a word: "integer", "string", ... */
COLANDER_API const char *colander_type_name(enum colander_type type);

/*
 * Orders two scalars: <0, 0 or >0. By type first (null, boolean, number,
 * string, binary, timestamp, extension); numbers by what they are, whatever
 * their width or kind, exactly; NaN equals NaN and comes after every number.
 * Arrays and maps are not compared: they sort after the scalars, all alike.
 */
COLANDER_API int colander_value_compare(const struct colander_value *a,
                                        const struct colander_value *b);

/* Equal scalars have equal hashes. Stands in files: see COLANDER_HASH_VERSION
 */
COLANDER_API uint64_t colander_value_hash(const struct colander_value *value);

/* Changes whenever colander_value_hash gives another number for any value. */
#define COLANDER_HASH_VERSION 1

/* ---------------------------------------------------------------- keys --- */

/*
 * A key is 1 to COLANDER_KEY_PARTS_MAX scalars, none of them null, encoded so
 * that byte order is the order of colander_value_compare, part by part. All
 * functions take keys encoded. A DOUBLE that is a whole number and an integer
 * that equals it are the same key. An EXTENSION of type -1 is refused, as in
 * rows: that is a TIMESTAMP.
 */

/* Replaces the content of `key` by the encoded parts; on failure it stays. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_key_encode(const struct colander_value *parts, size_t count,
                    struct colander_buffer *key, struct colander_error *err);

/*
 * Fills `parts` (room for COLANDER_KEY_PARTS_MAX) and *count. Strings and
 * binaries without a zero byte are borrowed from `key`; others are unescaped
 * into `scratch`, whose content is replaced. CORRUPT for bytes that
 * colander_key_encode never made.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_key_decode(struct colander_slice key, struct colander_value *parts,
                    size_t *count, struct colander_buffer *scratch,
                    struct colander_error *err);

/* Replaces `key` by the one part `text`. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_key_text(const char *text, struct colander_buffer *key,
                  struct colander_error *err);

/*
 * Replaces `key` by a new key: one string of 26 characters (a ULID) that
 * sorts by the time it was made, and never twice the same.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_key_generate(struct colander_buffer *key, struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
