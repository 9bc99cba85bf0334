/*
 * A family of rows in groups, and how many of a group a find reads directly.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_DIRECT_ROWS_H
#define TESTS_SUPPORT_DIRECT_ROWS_H

#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/filter_files.h"
#include "support/plain_finds.h"
#include "support/scoped.h"

#include "filters/live.h"

#define ROWS 2000
#define GROUP 20 /* rows with the same value */

static inline void
key_text(char text[16], int number)
{
    (void)snprintf(text, 16, "%08d", number);
}

static inline void
put_row(struct store_fixture *fixture, struct colander_family *family,
        int number, const char *more)
{
    char key[16];
    char group[24];

    key_text(key, number);
    (void)snprintf(group, sizeof(group), "group %d", number % (ROWS / GROUP));
    colander_row_builder_add(fixture->builder, "more", colander_text(more));
    OK(put_text(fixture, family, key, "group", colander_text(group), NULL));
}

/* A family whose rows are all in one SST. */
static inline struct colander_family *
fill(struct store_fixture *fixture)
{
    struct colander_family *family = kept_family(fixture, "rows");

    for (int i = 0; i < ROWS; i++)
        put_row(fixture, family, i, "first");
    OK(colander_family_flush(family, NULL));
    assert_all_loaded(family);
    return family;
}

/* Finds group 7, at a snapshot (NULL: now). Asserts that it has `expected`
 * rows with `more`, and returns how many were read directly. */
static inline uint64_t
direct_rows(struct colander_family *family,
            const struct colander_snapshot *snapshot, const char *more,
            uint64_t expected)
{
    struct colander_query query = usual_query();
    struct colander_predicate *both[2];
    struct colander_predicate *where;
    struct colander_explain explain;
    struct colander_cursor *cursor;
    struct colander_result result;
    uint64_t count = 0;

    both[0] =
        colander_where("group", COLANDER_EQ, colander_text("group 7"), NULL);
    both[1] = colander_where("more", COLANDER_EQ, colander_text(more), NULL);
    where = colander_all_of(both, 2, NULL);
    query.where = where;
    query.snapshot = snapshot;
    OK(colander_family_find(family, &query, &cursor, NULL));
    while (next_row(cursor, &result))
        count++;
    colander_cursor_explain(cursor, &explain);
    colander_cursor_close(cursor);
    colander_predicate_destroy(where);
    assert_int_equal(count, expected);
    assert_int_equal(explain.plan, COLANDER_PLAN_CANDIDATES);
    assert_true(explain.rows_direct <= explain.rows_verified);
    return explain.rows_direct;
}

static inline void
delete_row(struct colander_family *family, int number)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    char text[16];

    key_text(text, number);
    OK(colander_key_text(text, &key, NULL));
    OK(colander_family_delete(family, colander_buffer_slice(&key), NULL, NULL));
}

/* Returns what belongs to the filters of the store. */
static inline struct filters *
filters_of(struct colander_family *family, struct family_filters **found)
{
    struct engine_family *engine_family;
    struct filters *filters;

    OK(filters_look_up(family, &filters, &engine_family, found, NULL));
    return filters;
}

#endif
