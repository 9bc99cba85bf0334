/*
 * Groups in parts: what threads, families and machines have grouped apart is
 * merged to the same bytes, in whatever order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "group_moves.h"
#include "support/random.h"
#include "support/store_fixture.h"

#include <math.h>

#define PART_ROWS 4000
#define PARTS_MAX 7

/* Values of all types, some of them equal or nearly so. */
static struct colander_value
any_value(uint64_t *random)
{
    static const double doubles[] = {0.0,  -0.0, 1.0,   2.5,
                                     1e23, NAN,  -1e23, HUGE_VAL};
    static const uint8_t array[] = {0x92, 0x01, 0x02};
    struct colander_value value = colander_null();

    switch (random_below(random, 7)) {
    case 0:
        return value;
    case 1:
        return colander_integer((int64_t)random_below(random, 3));
    case 2:
        return colander_double(doubles[random_below(random, COUNT(doubles))]);
    case 3:
        return colander_text(random_below(random, 2) == 0 ? "a" : "b");
    case 4:
        value.type = COLANDER_ARRAY;
        value.bytes = colander_slice_of(array, 1 + 2 * random_below(random, 2));
        if (value.bytes.size == 1)
            value.bytes = colander_slice_of("\x90", 1);
        return value;
    case 5:
        return colander_integer((int64_t)random_below(random, 1 << 20));
    default:
        return colander_double(ldexp((double)random_next(random),
                                     (int)random_below(random, 120) - 100));
    }
}

static void
add_array(struct colander_row_builder *builder, const char *name,
          uint64_t *random)
{
    colander_row_builder_begin_array(builder, name);
    for (uint64_t i = random_below(random, 5); i > 0; i--)
        colander_row_builder_add(builder, NULL, any_value(random));
    colander_row_builder_end(builder);
}

/* Rows of several families have the same keys and times. */
static void
make_part_rows(struct store_fixture *fixture, struct colander_buffer *keys,
               struct colander_buffer *rows, uint64_t *random)
{
    for (size_t i = 0; i < PART_ROWS; i++) {
        const struct colander_value part =
            colander_integer((int64_t)random_below(random, 3));
        struct colander_slice row;

        if (random_below(random, 9) > 0)
            colander_row_builder_add(fixture->builder, "g", any_value(random));
        if (random_below(random, 9) > 0)
            add_array(fixture->builder, "w", random);
        if (random_below(random, 9) > 0)
            colander_row_builder_add(fixture->builder, "v", any_value(random));
        colander_row_builder_add(
            fixture->builder, "at",
            colander_timestamp((int64_t)random_below(random, 4), 0));
        OK(colander_row_builder_finish(fixture->builder, &row, why()));
        colander_buffer_clear(&rows[i]);
        OK(colander_buffer_append(&rows[i], row.data, row.size, NULL));
        OK(colander_key_encode(&part, 1, &keys[i], why()));
    }
}

/* Adds the rows to `count` parts, of which random ones are merged until there
 * is one. Returns its groups as JSON, and how many values were left out. */
static void
group_in_parts(const struct colander_grouping *grouping,
               const struct colander_buffer *keys,
               const struct colander_buffer *rows, size_t count,
               uint64_t *random, struct colander_buffer *text)
{
    struct colander_groups *parts[PARTS_MAX];
    struct colander_value columns = colander_null();
    const size_t start = random_below(random, PART_ROWS);
    bool is_group = true;

    columns.type = COLANDER_MAP;
    for (size_t i = 0; i < count; i++)
        OK(colander_groups_create(grouping, &parts[i], why()));
    for (size_t i = 0; i < PART_ROWS; i++) {
        const size_t at = (start + i * 1009) % PART_ROWS; /* 1009 is a prime */
        const struct colander_result result = {
            .key = colander_buffer_slice(&keys[at]),
            .row = colander_buffer_slice(&rows[at]),
        };

        OK(colander_groups_add(parts[random_below(random, count)], &result,
                               NULL, why()));
    }
    while (count > 1) {
        const size_t from = random_below(random, count);
        const size_t to = (from + 1 + random_below(random, count - 1)) % count;

        if (random_below(random, 2) == 0)
            merge_moved(parts[to], parts[from]);
        else
            OK(colander_groups_merge(parts[to], parts[from], why()));
        colander_groups_destroy(parts[from]);
        parts[from] = parts[--count];
    }
    colander_buffer_clear(text);
    for (;;) {
        OK(colander_groups_next(parts[0], &is_group, &columns.bytes, why()));
        if (!is_group)
            break;
        OK(colander_buffer_append(text, columns.bytes.data, columns.bytes.size,
                                  why()));
    }
    for (size_t i = 0; i < grouping->measure_count; i++) {
        const uint64_t left_out =
            colander_groups_left_out(parts[0], grouping->measures[i].name);

        OK(colander_buffer_append(text, &left_out, sizeof(left_out), why()));
    }
    colander_groups_destroy(parts[0]);
}

FIXTURE_TEST(parts_that_are_merged_in_any_order_are_one_grouping)
{
    const struct colander_group_key keys[] = {{"g", "g", NULL, NULL},
                                              {"w", "w[]", NULL, NULL}};
    const struct colander_measure measures[] = {
        {"n", COLANDER_COUNT, NULL, 0},
        {"c", COLANDER_COUNT, "v", 0},
        {"s", COLANDER_SUM, "v", 0},
        {"a", COLANDER_AVG, "v", 0},
        {"min", COLANDER_MIN, "v", 0},
        {"max", COLANDER_MAX, "v", 0},
        {"f", COLANDER_FIRST, "v", 0},
        {"l", COLANDER_LAST, "v", 0},
        {"d", COLANDER_DISTINCT, "v", 0},
        {"e", COLANDER_APPROX_DISTINCT, "v", 0},
        {"p50", COLANDER_QUANTILE, "v", 0.5},
        {"p99", COLANDER_QUANTILE, "v", 0.99},
    };
    uint64_t random = random_seed(__func__);
    struct colander_grouping grouping;
    struct colander_buffer *bytes = calloc(2 * PART_ROWS, sizeof(*bytes));
    SCOPED_BUFFER one = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER merged = COLANDER_BUFFER_EMPTY;

    assert_non_null(bytes);
    colander_grouping_init(&grouping);
    grouping.keys = keys;
    grouping.measures = measures;
    grouping.measure_count = COUNT(measures);
    grouping.time_path = "at";
    for (uint64_t run = random_runs(40); run > 0; run--) {
        /* all rows are one group, with more than 1,024 values */
        grouping.key_count = run % (COUNT(keys) + 1);
        make_part_rows(fixture, bytes, bytes + PART_ROWS, &random);
        group_in_parts(&grouping, bytes, bytes + PART_ROWS, 1, &random, &one);
        group_in_parts(&grouping, bytes, bytes + PART_ROWS,
                       1 + random_below(&random, PARTS_MAX), &random, &merged);
        ASSERT_SAME(colander_buffer_slice(&one),
                    colander_buffer_slice(&merged));
    }
    for (size_t i = 0; i < 2 * PART_ROWS; i++)
        colander_buffer_release(&bytes[i]);
    free(bytes);
}

/* ------------------------------------------------------- several values --- */

#define CLASSES 8 /* numbers 0 to 3, two texts, null, and no value */
#define NO_VALUE (CLASSES - 1)

static int
class_of(const struct colander_value *value, bool found)
{
    if (!found)
        return NO_VALUE;
    switch (value->type) {
    case COLANDER_INTEGER:
        return (int)value->integer;
    case COLANDER_DOUBLE:
        return (int)value->number;
    case COLANDER_STRING:
        return value->bytes.data[0] == 'a' ? 4 : 5;
    default:
        return 6;
    }
}

static struct colander_value
value_of_class(int class, uint64_t *random)
{
    if (class < 4)
        return random_below(random, 2) == 0 ? colander_integer(class)
                                            : colander_double(class);
    if (class < 6)
        return colander_text(class == 4 ? "a" : "b");
    return colander_null();
}

/* Puts a row with an array, another value or nothing. Returns a bit for each
 * class of values that it has. */
static unsigned
put_several(struct store_fixture *fixture, struct colander_family *family,
            int64_t number, int64_t group, uint64_t *random)
{
    struct colander_row_builder *builder = fixture->builder;
    const uint64_t kind = random_below(random, 8);
    struct colander_slice row;
    unsigned classes = 0;

    colander_row_builder_add(builder, "g", colander_integer(group));
    colander_row_builder_add(builder, "n", colander_integer(number));
    if (kind == 0) /* has no elements */
        colander_row_builder_add(builder, "w", colander_integer(1));
    if (kind > 1) {
        colander_row_builder_begin_array(builder, "w");
        for (uint64_t i = random_below(random, 6); i > 0; i--) {
            const int class = (int)random_below(random, NO_VALUE);

            colander_row_builder_begin_map(builder, NULL);
            colander_row_builder_add(builder, "x",
                                     value_of_class(class, random));
            colander_row_builder_end(builder);
            classes |= 1U << class;
        }
        colander_row_builder_end(builder);
    }
    OK(colander_row_builder_finish(builder, &row, why()));
    put_at(family, number, row);
    return classes == 0 ? 1U << NO_VALUE : classes;
}

FIXTURE_TEST(a_row_is_in_the_group_of_each_of_its_values)
{
    const struct colander_group_key keys[] = {{"g", "g", NULL, NULL},
                                              {"w", "w[].x", NULL, NULL}};
    const struct colander_measure measures[] = {
        {"rows", COLANDER_COUNT, NULL, 0}, {"sum", COLANDER_SUM, "n", 0}};
    int64_t counts[2][CLASSES] = {{0}};
    int64_t sums[2][CLASSES] = {{0}};
    uint64_t random = random_seed(__func__);
    struct colander_family *family = kept_family(fixture, "r");
    struct colander_grouping grouping;
    struct colander_groups *groups;
    struct colander_slice row;
    struct colander_value value;
    bool is_group = true;
    bool found;

    for (int64_t i = 0; i < 2000; i++) {
        const unsigned classes =
            put_several(fixture, family, i, i % 2, &random);

        for (int class = 0; class < CLASSES; class ++) {
            counts[i % 2][class] += classes >> class & 1;
            sums[i % 2][class] += (classes >> class & 1) * i;
        }
    }
    colander_grouping_init(&grouping);
    grouping.keys = keys;
    grouping.key_count = COUNT(keys);
    grouping.measures = measures;
    grouping.measure_count = COUNT(measures);
    OK(colander_groups_create(&grouping, &groups, why()));
    OK(colander_family_group(family, NULL, groups, NULL, why()));
    assert_int_equal(colander_groups_count(groups), 2 * CLASSES);
    for (;;) {
        int64_t group;
        int class;

        OK(colander_groups_next(groups, &is_group, &row, why()));
        if (!is_group)
            break;
        OK(colander_row_get(row, "g", &value, &found, why()));
        group = value.integer;
        OK(colander_row_get(row, "w", &value, &found, why()));
        class = class_of(&value, found);
        if (class < 4) /* of equal numbers the integer is shown */
            assert_int_equal(value.type, COLANDER_INTEGER);
        OK(colander_row_get(row, "rows", &value, &found, why()));
        assert_int_equal(value.integer, counts[group][class]);
        OK(colander_row_get(row, "sum", &value, &found, why()));
        assert_int_equal(value.integer, sums[group][class]);
    }
    colander_groups_destroy(groups);
}
