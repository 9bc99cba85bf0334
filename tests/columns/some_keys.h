/*
 * Shortcuts for encoding and decoding keys.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_COLUMNS_SOME_KEYS_H
#define TESTS_COLUMNS_SOME_KEYS_H

#include "columns/key.h"

#include "some_values.h"

#define PARTS_MAX COLANDER_KEY_PARTS_MAX

static inline void
encode(const struct colander_value *parts, size_t count,
       struct colander_buffer *key)
{
    OK(colander_key_encode(parts, count, key, why()));
}

/* Returns whether the bytes are a key. Asserts that key_is_valid agrees. */
static inline bool
is_key(struct colander_slice bytes, struct colander_value *parts, size_t *count,
       struct colander_buffer *scratch)
{
    struct colander_error err;
    enum colander_code code =
        colander_key_decode(bytes, parts, count, scratch, &err);
    bool is_valid = key_is_valid(bytes);

    assert_int_equal(is_valid, code == COLANDER_OK);
    if (!is_valid) {
        assert_int_equal(code, COLANDER_CORRUPT);
        assert_int_equal(err.code, COLANDER_CORRUPT);
        assert_int_equal(*count, 0);
    }
    return is_valid;
}

#endif
