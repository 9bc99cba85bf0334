/*
 * A JSON reader for tests, and the rows it reads.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_COLUMNS_JSON_ROWS_H
#define TESTS_COLUMNS_JSON_ROWS_H

#include "rows.h"

static struct colander_json_reader *reader;

static inline int
reader_create(void **state)
{
    reader = colander_json_reader_create();
    return reader == NULL ? -1 : 0;
}

static inline int
reader_destroy(void **state)
{
    colander_json_reader_destroy(reader);
    return 0;
}

/* A row that was read; borrowed until the next one. */
struct read_row {
    struct colander_slice key;
    struct colander_slice row;
    bool has_key;
};

/* Reads a copy of exact size, so that a sanitizer detects an overrun. */
static inline enum colander_code
read_text(struct colander_slice text, struct read_row *got,
          struct colander_error *err)
{
    struct colander_slice copy = exact_copy(text);
    enum colander_code code = colander_json_reader_row(
        reader, copy, &got->key, &got->has_key, &got->row, err);

    exact_free(copy);
    if (code != COLANDER_OK) {
        assert_false(got->has_key);
        assert_int_equal(got->key.size, 0);
        assert_int_equal(got->row.size, 0);
    }
    return code;
}

static inline struct read_row
read_fine(struct colander_slice text)
{
    struct read_row got;

    OK(read_text(text, &got, why()));
    OK(colander_row_check(got.row, why()));
    return got;
}

static inline void
assert_bytes(struct colander_slice got, struct colander_slice wanted)
{
    assert_int_equal(got.size, wanted.size);
    assert_memory_equal(got.data, wanted.data, wanted.size);
}

#endif
