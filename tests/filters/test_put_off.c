/*
 * A find of few rows locates the rows of a part once it gets there. The linker
 * redirects locating to this test, which counts it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/filters.h"
#include "filters/part_find.h"
#include "support/cases.h"
#include "support/scoped.h"
#include "support/store_fixture.h"
#include "support/usual.h"

#define FILES 3
#define FILE_ROWS 12000
#define EVERY 120 /* row has the value */
#define VALUE 7
#define FOUND (FILE_ROWS / EVERY) /* of each file */

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. */
enum colander_code __real_part_find(
    const struct filter_file *filter, const struct filter_part *part,
    const struct filter_query *query, const struct hash_hints *hints,
    struct piece_answers *pieces, uint64_t *put_off, struct row_ranges *ranges,
    struct colander_error *err);
enum colander_code __wrap_part_find(
    const struct filter_file *filter, const struct filter_part *part,
    const struct filter_query *query, const struct hash_hints *hints,
    struct piece_answers *pieces, uint64_t *put_off, struct row_ranges *ranges,
    struct colander_error *err);
/* NOLINTEND(bugprone-reserved-identifier) */

static unsigned located; /* parts */

enum colander_code
__wrap_part_find(const struct filter_file *filter,
                 const struct filter_part *part,
                 const struct filter_query *query,
                 const struct hash_hints *hints, struct piece_answers *pieces,
                 uint64_t *put_off, struct row_ranges *ranges,
                 struct colander_error *err)
{
    const enum colander_code code = __real_part_find(
        filter, part, query, hints, pieces, put_off, ranges, err);

    located += code == COLANDER_OK && ranges->count > 0;
    return code;
}

/* Files of rows whose keys are 0, 1, 2... */
static struct colander_family *
fill(struct store_fixture *fixture)
{
    struct colander_family *family = fixture_family(fixture, "rows");

    for (int64_t i = 0; i < FILES * FILE_ROWS; i++) {
        const struct colander_value value =
            colander_integer(i % EVERY == 0 ? VALUE : -i);

        put_at(family, i, fixture_row(fixture, "n", value));
        if (i % FILE_ROWS == FILE_ROWS - 1)
            OK(colander_family_flush(family, NULL));
    }
    OK(colander_family_await_filters(family, NULL));
    return family;
}

static int64_t
key_of(const struct colander_result *result)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;
    size_t count;

    OK(colander_key_decode(result->key, parts, &count, &scratch, NULL));
    return parts[0].integer;
}

/* Finds the first rows, and checks how many files they were located in. */
static void
find_some(struct colander_family *family, enum colander_comparison comparison,
          uint64_t limit, bool is_reverse, unsigned files)
{
    SCOPED_PREDICATE where =
        colander_where("n", comparison, colander_integer(VALUE), NULL);
    SCOPED_CURSOR cursor = NULL;
    struct colander_query query = usual_query();
    struct colander_result result;
    struct colander_explain explain;
    int64_t count = 0;
    bool is_row;

    query.where = where;
    query.limit = limit;
    query.is_reverse = is_reverse;
    located = 0;
    OK(colander_family_find(family, &query, &cursor, NULL));
    for (;; count++) {
        const int64_t place = is_reverse ? FILES * FOUND - 1 - count : count;

        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        if (!is_row)
            break;
        assert_int_equal(key_of(&result), place * EVERY);
    }
    assert_int_equal(count,
                     limit < FILES * FOUND ? limit : (uint64_t)FILES * FOUND);
    assert_int_equal(located, files);
    colander_cursor_explain(cursor, &explain);
    assert_int_equal(explain.plan, COLANDER_PLAN_CANDIDATES);
    assert_int_equal(explain.files_read, FILES);
    /* each may be any row of a segment */
    assert_in_range(explain.rows_expected, FILES * FOUND, 16 * FILES * FOUND);
}

FIXTURE_TEST(parts_are_located_when_they_are_reached)
{
    SCOPED_FAMILY family = fill(fixture);

    for (unsigned i = 0; i < 2; i++) {
        const enum colander_comparison comparison =
            i == 0 ? COLANDER_EQ : COLANDER_GE;

        find_some(family, comparison, 5, false, 1);
        find_some(family, comparison, 5, true, 1);
        find_some(family, comparison, FOUND + 50, false, 2);
        find_some(family, comparison, FOUND + 50, true, 2);
        find_some(family, comparison, UINT64_MAX, false, FILES);
        find_some(family, comparison, UINT64_MAX - 1, true, FILES);
    }
}

FIXTURE_TEST(the_first_rows_in_an_order_are_located_where_they_are)
{
    SCOPED_FAMILY family = fill(fixture);
    struct colander_cursor *cursor = NULL;
    struct colander_ordered *ordered;
    struct colander_order order;
    struct colander_result result;
    bool is_done;
    bool is_row;

    colander_order_init(&order);
    order.path = "n";
    order.is_descending = true;
    order.limit = 10;
    OK(colander_ordered_create(&order, &ordered, NULL));
    located = 0;
    for (;;) {
        OK(colander_ordered_find(ordered, family, NULL, &cursor, &is_done,
                                 NULL));
        if (is_done)
            break;
        for (is_row = true; is_row && !colander_ordered_is_sated(ordered);) {
            OK(colander_cursor_next(cursor, &is_row, &result, NULL));
            if (is_row)
                OK(colander_ordered_add(ordered, &result, NULL));
        }
    }
    colander_cursor_close(cursor);
    for (int64_t i = 0; i < 10; i++) {
        OK(colander_ordered_next(ordered, &is_row, &result, NULL));
        assert_true(is_row);
        assert_int_equal(key_of(&result), i * EVERY);
    }
    assert_int_equal(located, 1);
    colander_ordered_destroy(ordered);
}
