/*
 * The least and greatest values of columns, which orders know, are those of a
 * scan of all rows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/groups.h"

#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/filter_files.h"
#include "support/random.h"
#include "support/scoped.h"

#include <math.h>

#define ROWS 3000

static uint64_t
below(uint64_t end)
{
    return random_below(random_state(), end);
}

/* Equal numbers of two types; values of several types; rarely null, with which
 * a scan has to be made. */
static struct colander_value
any_value(unsigned kind)
{
    static const char *const texts[] = {"", "a", "ab", "b", "zz"};
    const int64_t number = (int64_t)below(40) - 20;

    if (kind == 3)
        return below(2) == 0 ? colander_integer((int64_t)below(4))
                             : colander_double((double)below(4));
    if (kind == 1 && below(ROWS) == 0)
        return colander_null();
    if (kind == 2 || below(6) == 0)
        return colander_text(texts[below(5)]);
    if (below(50) == 0)
        return colander_double(below(2) == 0 ? INFINITY : -INFINITY);
    return below(2) == 0 ? colander_integer(number)
                         : colander_double((double)number / 2);
}

static void
put_rows(struct store_fixture *fixture, struct colander_family *family,
         unsigned kind, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const int64_t row = (int64_t)below(ROWS);

        if (below(5) == 0) {
            struct colander_value key = colander_integer(row);
            SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;

            OK(colander_key_encode(&key, 1, &bytes, NULL));
            OK(colander_family_delete(family, colander_buffer_slice(&bytes),
                                      NULL, NULL));
        } else {
            put_at(family, row, fixture_row(fixture, "v", any_value(kind)));
        }
    }
}

/* Appends the row of the result. */
static void
group(struct colander_family *family, const struct colander_predicate *where,
      struct colander_buffer *bytes, struct colander_explain *explain)
{
    const struct colander_measure measures[] = {
        {.name = "least", .aggregate = COLANDER_MIN, .path = "v"},
        {.name = "greatest", .aggregate = COLANDER_MAX, .path = "v"}};
    struct colander_query query = usual_query();
    struct colander_grouping grouping;
    struct colander_groups *groups;
    struct colander_slice row;
    bool is_group;

    colander_grouping_init(&grouping);
    grouping.measures = measures;
    grouping.measure_count = COUNT(measures);
    query.where = where;
    OK(colander_groups_create(&grouping, &groups, NULL));
    OK(colander_family_group(family, &query, groups, explain, NULL));
    OK(colander_groups_next(groups, &is_group, &row, NULL));
    assert_true(is_group);
    OK(colander_buffer_append(bytes, row.data, row.size, NULL));
    assert_int_equal(colander_groups_left_out(groups, "least"), 0);
    colander_groups_destroy(groups);
}

FIXTURE_TEST(least_and_greatest_values_are_those_of_a_scan)
{
    uint64_t by_order = 0;

    (void)random_seed("ends");
    for (unsigned round = 0; round < random_runs(24); round++) {
        SCOPED_FAMILY family = fixture_family(fixture, "rows");
        SCOPED_PREDICATE always = colander_not(
            colander_where("v", COLANDER_EQ, colander_text("none"), NULL),
            NULL);
        SCOPED_BUFFER expected = COLANDER_BUFFER_EMPTY;
        SCOPED_BUFFER found = COLANDER_BUFFER_EMPTY;
        struct colander_explain explain;

        for (unsigned i = 0; i <= round % 3; i++) {
            put_rows(fixture, family, round % 4, ROWS);
            OK(colander_family_flush(family, NULL));
        }
        OK(colander_family_await_filters(family, NULL));
        put_rows(fixture, family, round % 4, below(20));
        group(family, always, &expected, &explain);
        group(family, NULL, &found, &explain);
        ASSERT_SAME(colander_buffer_slice(&found),
                    colander_buffer_slice(&expected));
        by_order += explain.plan == COLANDER_PLAN_CANDIDATES;
        OK(colander_family_drop(family, NULL));
    }
    assert_true(by_order > 0);
}
