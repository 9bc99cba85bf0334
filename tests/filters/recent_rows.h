/*
 * Rows for tests of recent rows: keys that contain their number, values that
 * have a number, and shortcuts for adding and finding them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FILTERS_RECENT_ROWS_H
#define TESTS_FILTERS_RECENT_ROWS_H

#include "filters/recent.h"

#include "filters/locator.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/scoped.h"

SCOPED_DEFINE(struct recent, recent_destroy)

#define SCOPED_RECENT SCOPED(scoped_recent_destroy) struct recent *

/* The hash of value number `value`. */
static inline uint64_t
hash_of(uint64_t value)
{
    return random_next(&value);
}

/* A key begins with the number of its row. */
static inline uint32_t
key_number(struct colander_slice key)
{
    uint32_t number;

    assert_true(key.size >= sizeof(number));
    memcpy(&number, key.data, sizeof(number));
    return number;
}

/* The rest of a key depends on the number as well. */
static inline struct colander_slice
key_of(uint32_t number, uint8_t *bytes, size_t size)
{
    memset(bytes, (int)(number % 251), size);
    memcpy(bytes, &number, sizeof(number));
    return colander_slice_of(bytes, size);
}

static inline void
note_one(struct recent *recent, struct recent_write *write, uint32_t number,
         uint64_t hash, uint32_t tag)
{
    struct recent_value value = {.hash = hash, .tag = tag};
    uint8_t bytes[9];

    OK(recent_add(recent, write, key_of(number, bytes, sizeof(bytes)), &value,
                  1, NULL));
}

/* Writes one row, from begin to end. */
static inline void
put_one(struct recent *recent, uint32_t number, uint64_t hash,
        uint64_t sequence)
{
    struct recent_write write = {0};

    note_one(recent, &write, number, hash, 0);
    recent_write_end(&write, true, sequence);
}

static inline enum colander_code
count_row(void *context, struct colander_slice key, struct colander_error *err)
{
    (void)key;
    (void)err;
    ++*(uint64_t *)context;
    return COLANDER_OK;
}

static inline uint64_t
rows_found(const struct recent_view *view, uint64_t hash, unsigned tag)
{
    uint64_t count = 0;

    OK(recent_find(view, hash, tag, count_row, &count, NULL));
    return count;
}

static inline uint64_t
rows_found_now(struct recent *recent, uint64_t hash, unsigned tag)
{
    struct recent_view *view = recent_view_create(recent);
    uint64_t count;

    assert_non_null(view);
    count = rows_found(view, hash, tag);
    recent_view_release(view);
    return count;
}

static inline void
assert_empty(struct recent *recent)
{
    struct recent_sizes sizes = recent_sizes(recent);

    assert_int_equal(sizes.row_count, 0);
    assert_int_equal(sizes.bytes, 0);
}

#endif
