/*
 * Recent rows while memory is short: each allocation in turn fails, which is
 * reported as NO_MEMORY and leaves no row.
 *
 * SPDX-License-Identifier: MIT
 */
#include "recent_rows.h"
#include "support/cases.h"

#include "support/failing_memory.h"
#include "support/scoped.h"

#define MEMORY_VALUES 150000

/* Adds rows that fill chunks. Returns the first failure. */
static enum colander_code
note_much(struct recent *recent, struct recent_write *write,
          const struct recent_value *values, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < 3 && code == COLANDER_OK; i++)
        code = recent_add(recent, write, colander_slice_text("key1"),
                          values + i * (MEMORY_VALUES / 3), MEMORY_VALUES / 3,
                          err);
    return code;
}

static long
failures_of_noting(struct recent *recent, const struct recent_value *values)
{
    struct colander_error err;
    enum colander_code code = COLANDER_NO_MEMORY;
    long failed = 0;

    for (; code != COLANDER_OK; failed++) {
        struct recent_write write = {0};

        err.code = COLANDER_OK;
        allocations_left = failed;
        code = note_much(recent, &write, values, &err);
        allocations_left = -1;
        assert_int_equal(code, err.code);
        if (code == COLANDER_OK) {
            assert_int_equal(rows_found_now(recent, values[0].hash, 0), 1);
        } else {
            assert_int_equal(code, COLANDER_NO_MEMORY);
        }
        recent_write_end(&write, false, 0);
        assert_empty(recent);
    }
    return failed;
}

TEST(a_row_is_noted_or_memory_is_short)
{
    struct recent_value *values;
    SCOPED_RECENT recent = NULL;

    allocations_left = 0;
    recent = recent_create();
    allocations_left = -1;
    assert_null(recent);
    recent = recent_create();
    assert_non_null(recent);

    values = malloc(MEMORY_VALUES * sizeof(*values));
    for (size_t i = 0; i < MEMORY_VALUES; i++)
        values[i] = (struct recent_value){.hash = hash_of(i)};
    /* the chunks, their list, and the list of the write */
    assert_true(failures_of_noting(recent, values) >= 10);
    free(values);

    put_one(recent, 1, hash_of(1), 1);
    allocations_left = 0;
    assert_null(recent_view_create(recent));
    allocations_left = -1;
    assert_int_equal(rows_found_now(recent, hash_of(1), 0), 1);
    recent_flushed(recent, 1);
    assert_empty(recent);
}
