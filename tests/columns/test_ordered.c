/*
 * Ordered rows: with any limit the same as sorting all rows, in memory for the
 * limit only, or with a file in any memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/random_rows.h"
#include "support/temporary.h"

#define ROWS 60

/* A row that was added: its number is its key. */
struct model_row {
    struct colander_value value;
    bool has_value;
    bool is_descending;
    int64_t number;
};

static int
compare_model(const void *a, const void *b)
{
    const struct model_row *left = a;
    const struct model_row *right = b;
    int order;

    if (left->has_value != right->has_value)
        return left->has_value ? -1 : 1;
    order = left->has_value
                ? colander_value_compare(&left->value, &right->value)
                : 0;
    if (order == 0)
        return left->number < right->number ? -1 : 1;
    return left->is_descending ? -order : order;
}

/* Adds a row whose value is at v.w, unless it has none. */
static void
add_row(struct colander_ordered *ordered, struct colander_row_builder *builder,
        const struct model_row *row)
{
    const struct colander_value part = colander_integer(row->number);
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_result result;

    memset(&result, 0, sizeof(result));
    colander_row_builder_add(builder, "other", colander_text("column"));
    colander_row_builder_begin_map(builder, "v");
    if (row->has_value)
        colander_row_builder_add(builder, "w", row->value);
    colander_row_builder_end(builder);
    OK(colander_row_builder_finish(builder, &result.row, NULL));
    OK(colander_key_encode(&part, 1, &key, NULL));
    result.key = colander_buffer_slice(&key);
    OK(colander_ordered_add(ordered, &result, NULL));
}

static void
assert_next(struct colander_ordered *ordered, const struct model_row *row)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;
    struct colander_result result;
    size_t count;
    bool is_row;

    OK(colander_ordered_next(ordered, &is_row, &result, NULL));
    assert_int_equal(is_row, row != NULL);
    if (row == NULL)
        return;
    OK(colander_key_decode(result.key, parts, &count, &scratch, NULL));
    assert_int_equal(parts[0].integer, row->number);
    OK(colander_row_get(result.row, "v.w", &parts[0], &is_row, NULL));
    assert_int_equal(is_row, row->has_value);
    if (is_row)
        assert_int_equal(colander_value_compare(&parts[0], &row->value), 0);
}

TEST(the_first_rows_are_those_of_all_that_are_sorted)
{
    SCOPED_BUILDER builder = colander_row_builder_create();
    uint64_t random = random_seed(__func__);
    static char texts[ROWS][RANDOM_TEXT_SIZE];
    static struct model_row rows[ROWS];
    char directory[TEMPORARY_SIZE];

    temporary_make(directory);
    for (uint64_t run = random_runs(500); run > 0; run--) {
        const size_t count = random_below(&random, ROWS + 1);
        struct colander_ordered *ordered;
        struct colander_order order;

        colander_order_init(&order);
        order.path = "v.w";
        order.is_descending = random_below(&random, 2) == 0;
        if (random_below(&random, 4) > 0)
            order.limit = random_below(&random, ROWS);
        if (random_below(&random, 2) == 0) {
            order.size_max = random_below(&random, 5000);
            order.directory = directory;
        }
        OK(colander_ordered_create(&order, &ordered, NULL));
        for (size_t i = 0; i < count; i++) {
            rows[i].value = random_value(&random, texts[i]);
            rows[i].has_value = random_below(&random, 5) > 0;
            rows[i].is_descending = order.is_descending;
            rows[i].number = (int64_t)i;
            add_row(ordered, builder, &rows[i]);
        }
        qsort(rows, count, sizeof(rows[0]), compare_model);
        for (size_t i = 0; i < count && i < order.limit; i++)
            assert_next(ordered, &rows[i]);
        assert_next(ordered, NULL);
        assert_next(ordered, NULL);
        colander_ordered_destroy(ordered);
    }
    ZERO(rmdir(directory)); /* nothing is left in it */
}

static bool
always(void)
{
    return true;
}

/* Adds `count` rows with falling values: each one is the first so far. Returns
 * the code of the last add. */
static enum colander_code
add_falling(struct colander_ordered *ordered, int64_t count)
{
    SCOPED_BUILDER builder = colander_row_builder_create();
    enum colander_code code = COLANDER_OK;

    for (int64_t i = 0; i < count && code == COLANDER_OK; i++) {
        struct colander_result result;

        memset(&result, 0, sizeof(result));
        result.key = colander_slice_text("key");
        colander_row_builder_add(builder, "v", colander_integer(-i));
        colander_row_builder_add(builder, "text", colander_text("some text"));
        OK(colander_row_builder_finish(builder, &result.row, NULL));
        code = colander_ordered_add(ordered, &result, NULL);
    }
    return code;
}

TEST(a_limit_bounds_the_memory)
{
    struct colander_ordered *ordered;
    struct colander_order order;

    colander_order_init(&order);
    order.path = "v";
    order.size_max = 2000;
    order.limit = 10;
    OK(colander_ordered_create(&order, &ordered, NULL));
    OK(add_falling(ordered, 100000));
    colander_ordered_destroy(ordered);
    order.limit = UINT64_MAX;
    OK(colander_ordered_create(&order, &ordered, NULL));
    FAILS(add_falling(ordered, 100000), COLANDER_LIMIT);
    colander_ordered_destroy(ordered);
    order.directory = "/dev/null";
    OK(colander_ordered_create(&order, &ordered, NULL));
    FAILS(add_falling(ordered, 100000), COLANDER_IO);
    colander_ordered_destroy(ordered);
}

TEST(a_cancelled_order_returns_nothing)
{
    struct colander_ordered *ordered;
    struct colander_order order;
    struct colander_result result;
    bool is_row;

    colander_order_init(&order);
    order.path = "v";
    order.is_cancelled = always;
    OK(colander_ordered_create(&order, &ordered, NULL));
    OK(add_falling(ordered, 1000));
    FAILS(colander_ordered_next(ordered, &is_row, &result, NULL),
          COLANDER_CANCELLED);
    colander_ordered_destroy(ordered);
    order.size_max = 2000;
    order.directory = "/tmp";
    OK(colander_ordered_create(&order, &ordered, NULL));
    FAILS(add_falling(ordered, 1000), COLANDER_CANCELLED);
    colander_ordered_destroy(ordered);
}

TEST(an_order_needs_a_path)
{
    struct colander_ordered *ordered;
    struct colander_order order;

    colander_order_init(&order);
    order.path = "a[";
    FAILS(colander_ordered_create(&order, &ordered, NULL), COLANDER_INVALID);
    assert_null(ordered);
}
