/*
 * Orders: a question never loses a row, and reads few that it does not want.
 *
 * The model has the values of each row, and an entry for each, as a filter's
 * builder has. Hashes of an answer are looked up in these entries.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/order/order_code.h"

#include "core/array.h"
#include "filters/build/entry_list.h"

#include <inttypes.h>

#include "filters/order_values.h"

#define COLUMNS_MAX 1100
#define BLOCKS_MAX 256
#define ROWS_MAX 70000

/* A value of a row. */
struct item {
    uint32_t row;
    struct colander_value value;
};

struct items {
    struct item *items;
    size_t count;
    size_t capacity;
};

static struct {
    struct order_builder *builder;
    struct items columns[COLUMNS_MAX];
    uint32_t row_count;
    struct entry_list entries;
    size_t value_entries; /* those of values; the others are of buckets */
    struct colander_buffer blocks[BLOCKS_MAX];
    uint32_t places[BLOCKS_MAX];
    size_t block_count;
    bool rows[ROWS_MAX]; /* that an answer leads to */
} model;

/* ---------------------------------------------------------------- model --- */

static bool is_crowded; /* all columns have one place */

static uint64_t
path_of(size_t column)
{
    return is_crowded ? column : order_bucket_hash(7, (uint32_t)column);
}

static void
clear_model(void)
{
    for (size_t i = 0; i < COLUMNS_MAX; i++)
        model.columns[i].count = 0;
    entry_list_clear(&model.entries);
    for (size_t i = 0; i < model.block_count; i++)
        colander_buffer_clear(&model.blocks[i]);
    model.block_count = model.value_entries = 0;
    text_size = 0;
    is_crowded = false;
}

static int
set_up(void **state)
{
    (void)state;
    model.builder = order_builder_create();
    assert_non_null(model.builder);
    OK(entry_list_init(&model.entries, LOCATOR_HASH_BITS, 16, NULL));
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    clear_model();
    for (size_t i = 0; i < COLUMNS_MAX; i++) {
        free(model.columns[i].items);
        memset(&model.columns[i], 0, sizeof(model.columns[i]));
    }
    for (size_t i = 0; i < BLOCKS_MAX; i++)
        colander_buffer_release(&model.blocks[i]);
    entry_list_release(&model.entries);
    order_builder_destroy(model.builder);
    return 0;
}

static void
add(size_t column, uint32_t row, struct colander_value value)
{
    struct items *items = &model.columns[column];
    const uint64_t hash = colander_value_hash(&value);
    const uint64_t entry = locator_entry(hash, 0, row);

    OK(array_reserve(&items->items, items->count, &items->capacity, 1, NULL));
    items->items[items->count++] = (struct item){row, value};
    OK(entry_list_add_rows(&model.entries, hash, 0, &row, 1, NULL));
    order_builder_value(model.builder, path_of(column), &value, entry);
}

static enum colander_code
take_block(void *context, struct colander_slice block, uint32_t place,
           struct colander_error *err)
{
    (void)context;
    assert_in_range(model.block_count, 0, BLOCKS_MAX - 1);
    assert_true(model.block_count == 0
                    ? place == 0
                    : place > model.places[model.block_count - 1]);
    model.places[model.block_count] = place;
    return colander_buffer_append(&model.blocks[model.block_count++],
                                  block.data, block.size, err);
}

static enum colander_code
take_rows(void *context, uint64_t hash, unsigned tag, const uint32_t *rows,
          size_t count, struct colander_error *err)
{
    (void)context;
    assert_int_equal(tag, 0);
    return entry_list_add_rows(&model.entries, hash, tag, rows, count, err);
}

static enum colander_code
sort_values(void *context, struct colander_error *err)
{
    (void)context;
    return entry_list_sort(&model.entries, err);
}

static uint64_t
count_listed(void *context, uint64_t hash, unsigned tag)
{
    (void)context;
    return entry_list_rows(&model.entries, hash, tag);
}

static void
finish_within(uint32_t row_count, const struct order_limits *limits)
{
    const struct order_sink sink = {NULL, sort_values, count_listed, take_block,
                                    take_rows};

    model.row_count = row_count;
    model.value_entries = model.entries.count;
    OK(order_builder_finish(model.builder, row_count, limits, &sink, NULL));
}

static void
finish(uint32_t row_count)
{
    const struct order_limits limits = {.bytes = UINT64_MAX};

    finish_within(row_count, &limits);
}

static uint64_t
block_bytes(void)
{
    uint64_t size = 0;

    for (size_t i = 0; i < model.block_count; i++)
        size += model.blocks[i].size;
    return size;
}

/* Returns the block that has the place. */
static struct colander_slice
block_of(uint32_t place)
{
    size_t i = model.block_count - 1;

    while (model.places[i] > place)
        i--;
    return colander_buffer_slice(&model.blocks[i]);
}

static int
compare_entries(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a;
    const uint64_t right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

static void
mark_hash(uint64_t hash)
{
    const unsigned drop = 64 - LOCATOR_HASH_BITS;
    uint64_t *entries = model.entries.entries;
    size_t low = 0;
    size_t high = model.entries.count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (entries[middle] >> drop < hash >> drop)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < model.entries.count && entries[low] >> drop == hash >> drop;
         low++)
        model.rows[entries[low] & ((1u << LOCATOR_ROW_BITS) - 1)] = true;
}

/* Marks the rows that the order leads to, and returns where. */
static enum order_where
ask(size_t column, const struct order_span *span)
{
    const uint32_t place = order_place(path_of(column), span->low.type);
    struct row_ranges ranges = ROW_RANGES_EMPTY;
    struct order_answer answer;

    memset(model.rows, 0, sizeof(model.rows));
    OK(order_find(block_of(place), model.row_count, path_of(column), span,
                  &answer, NULL));
    if (answer.where == ORDER_COLUMN) {
        for (size_t i = 0; i < model.columns[column].count; i++)
            model.rows[model.columns[column].items[i].row] = true;
    } else if (answer.where == ORDER_RUNS) {
        OK(order_runs(&answer, model.row_count, &ranges, NULL));
        for (size_t i = 0; i < ranges.count; i++)
            for (uint32_t k = ranges.ranges[i].first; k < ranges.ranges[i].end;
                 k++)
                model.rows[k] = true;
        row_ranges_release(&ranges);
    } else if (answer.where == ORDER_HASHES) {
        for (uint32_t i = answer.first; i < answer.end; i++)
            mark_hash(order_hash(&answer, i));
    }
    return answer.where;
}

static bool
has_type(const struct colander_value *value, enum colander_type type)
{
    return value->type == type || (colander_type_is_number(type) &&
                                   colander_type_is_number(value->type));
}

/* Whether the value is from `low` to `high`; NULL: to the end of the type. */
static bool
is_within(const struct colander_value *value, const struct colander_value *low,
          const struct colander_value *high)
{
    return has_type(value, low == NULL ? high->type : low->type) &&
           (low == NULL || colander_value_compare(value, low) >= 0) &&
           (high == NULL || colander_value_compare(value, high) <= 0);
}

static bool
begins(const struct colander_value *value, const struct colander_value *prefix)
{
    return value->type == prefix->type &&
           value->bytes.size >= prefix->bytes.size &&
           (prefix->bytes.size == 0 ||
            memcmp(value->bytes.data, prefix->bytes.data, prefix->bytes.size) ==
                0);
}

/* How many rows an answer leads to, and how many are wanted. */
struct counts {
    uint64_t read;
    uint64_t wanted; /* values; a row may have several */
    enum order_where where;
};

static struct counts
count_rows(size_t column, const struct colander_value *low,
           const struct colander_value *high, bool is_prefix)
{
    const struct order_span span =
        is_prefix ? order_span_of_prefix(low) : order_span_of(low, high);
    const struct items *items = &model.columns[column];
    struct counts counts = {0, 0, ask(column, &span)};

    for (size_t i = 0; i < items->count; i++) {
        const struct item *item = &items->items[i];

        if (is_prefix ? !begins(&item->value, low)
                      : !is_within(&item->value, low, high))
            continue;
        counts.wanted++;
        assert_true(model.rows[item->row]);
    }
    for (uint32_t row = 0; row < model.row_count; row++)
        counts.read += model.rows[row];
    return counts;
}

static struct counts
count_between(size_t column, struct colander_value low,
              struct colander_value high)
{
    return count_rows(column, &low, &high, false);
}

static struct counts
count_prefix(size_t column, const char *prefix)
{
    const struct colander_value value = colander_text(prefix);

    return count_rows(column, &value, NULL, true);
}

/* Sorts all entries by hash, so that they can be found. */
static void
sort_entries(void)
{
    qsort(model.entries.entries, model.entries.count, sizeof(uint64_t),
          compare_entries);
}

#define ORDER_TEST(name) TEST_WITH(void *state, name, set_up, tear_down)

/* ----------------------------------------------------------- any values --- */

/* A value that the column of that number has. */
static struct colander_value
value_for(size_t column, uint32_t row)
{
    char text[40];

    switch (column) {
    case 0: /* anything */
        return any_scalar();
    case 1: /* few values */
        return colander_integer((int64_t)below(20) * 1000);
    case 2: /* many */
        return colander_double((double)below(1000000) / 64);
    case 3: /* near each other */
        return colander_integer(row * INT64_C(3) + (int64_t)below(50));
    case 4: /* half numbers, half texts */
        if (below(2) == 0)
            return colander_unsigned(random_next(random_state()));
        (void)snprintf(text, sizeof(text), "https://example.org/%06u",
                       (unsigned)below(900000));
        break;
    case 5: /* times, with one far away now and then */
        return colander_timestamp(below(500) == 0 ? INT64_MIN
                                                  : (int64_t)below(1u << 25),
                                  (uint32_t)below(1000000000));
    case 6: /* dates that ascend, and empty texts */
        if (below(9) == 0)
            return colander_text("");
        return iso_date(row * UINT64_C(600), (unsigned)below(1000));
    default: /* any bytes */
        return any_bytes(column == 7 ? COLANDER_STRING : COLANDER_BINARY);
    }
    return keep_text(COLANDER_STRING, text, strlen(text));
}

#define KINDS 9

static void
ask_anything(size_t column)
{
    const struct items *items = &model.columns[column];
    struct colander_value low = items->items[below(items->count)].value;
    struct colander_value high = items->items[below(items->count)].value;

    if (below(8) == 0)
        low = any_scalar();
    if (below(8) == 0 || !has_type(&high, low.type))
        high = low;
    if (low.type == COLANDER_NULL)
        return;
    if (colander_value_compare(&low, &high) > 0) {
        const struct colander_value swapped = low;

        low = high;
        high = swapped;
    }
    if ((low.type == COLANDER_STRING || low.type == COLANDER_BINARY) &&
        below(3) == 0) {
        low.bytes.size = below(low.bytes.size + 1);
        (void)count_rows(column, &low, NULL, true);
        return;
    }
    (void)count_rows(column, &low, &high, false);
}

static void
ask_bounded(size_t column)
{
    const struct items *items = &model.columns[column];
    const struct colander_value one = items->items[below(items->count)].value;

    if (one.type == COLANDER_NULL)
        return;
    (void)count_rows(column, &one, NULL, false);
    (void)count_rows(column, NULL, &one, false);
}

/* Each round is a part with other sizes, densities and limits. */
ORDER_TEST(no_row_of_a_range_is_lost)
{
    (void)state;
    (void)random_seed("order");
    for (uint64_t round = 0; round < random_runs(12); round++) {
        const uint32_t row_count =
            1 + (uint32_t)below(round % 3 == 0 ? 300 : 20000);
        const struct order_limits limits = {.bytes = below(4) * 20000};

        clear_model();
        fill_bytes();
        for (uint32_t row = 0; row < row_count; row++) {
            for (size_t column = 0; column < KINDS; column++) {
                /* none, one, or several as in an array */
                for (uint64_t n = below(4); n < 3; n += 1 + below(4)) {
                    const struct colander_value value = value_for(column, row);

                    if (value.type != COLANDER_NULL)
                        add(column, row, value);
                }
            }
        }
        finish_within(row_count, &limits);
        sort_entries();
        for (unsigned i = 0; i < 20; i++) {
            for (size_t column = 0; column < KINDS; column++) {
                if (model.columns[column].count == 0)
                    continue;
                ask_anything(column);
                ask_bounded(column);
            }
        }
    }
}

/* All ranks without a common beginning. */
ORDER_TEST(ranks_never_contradict_the_order_of_values)
{
    (void)state;
    (void)random_seed("ranks");
    fill_bytes();
    for (uint64_t run = 0; run < random_runs(300000); run++) {
        struct colander_value a = any_scalar();
        struct colander_value b = below(2) == 0 ? any_number() : any_scalar();
        const struct order_value left = order_value_of(&a);
        const struct order_value right = order_value_of(&b);
        const uint8_t *start = bytes + below(sizeof(bytes) - 4);
        const struct colander_slice beginning =
            colander_slice_of(start, (size_t)below(4));
        const uint64_t low = order_rank(&left, beginning);
        const uint64_t high = order_rank(&right, beginning);

        if (left.type != right.type)
            continue;
        if (colander_value_compare(&a, &b) < 0)
            assert_true(low <= high);
        else if (colander_value_compare(&a, &b) > 0)
            assert_true(low >= high);
        else
            assert_true(low == high);
    }
}

/* ------------------------------------------------------------- few rows --- */

#define ROWS 50000

/* Asks for ranges of `width` from `low` below `end`, and asserts what is read
 * of them. */
static void
assert_reads(size_t column, double low, double end, double width,
             enum order_where where, double share_max, uint64_t more_max)
{
    for (unsigned i = 0; i < 50; i++) {
        const double from =
            low + (end - low - width) * (double)below(1000) / 1000;
        const struct counts counts = count_between(
            column, colander_double(from), colander_double(from + width));

        assert_int_equal(counts.where, where);
        assert_true((double)counts.read <=
                    share_max * (double)counts.wanted + (double)more_max);
    }
}

ORDER_TEST(many_values_are_in_buckets)
{
    (void)state;
    clear_model();
    for (uint32_t row = 0; row < ROWS; row++) {
        add(0, row, colander_double((double)below(1u << 30) / 1024));
        add(1, row,
            colander_integer((int64_t)(random_next(random_state()) >> 1)));
        add(2, row, colander_timestamp((int64_t)below(1u << 28), 7));
    }
    finish(ROWS);
    sort_entries();
    assert_reads(0, 0, 1u << 20, 2000, ORDER_HASHES, 1, 4 * ORDER_DEPTH);
    assert_reads(1, 0, 0x1p63, 0x1p55, ORDER_HASHES, 1, 4 * ORDER_DEPTH);
    for (unsigned i = 0; i < 50; i++) {
        const int64_t from = (int64_t)below(1u << 27);
        const struct counts counts =
            count_between(2, colander_timestamp(from, 0),
                          colander_timestamp(from + 100000, 0));

        assert_in_range(counts.read, counts.wanted,
                        counts.wanted + 4 * ORDER_DEPTH);
    }
    assert_int_equal(
        count_between(0, colander_integer(-5), colander_double(-0.001)).where,
        ORDER_NOWHERE);
    assert_int_equal(
        count_between(0, colander_text("a"), colander_text("b")).where,
        ORDER_NOWHERE);
    /* a bucket and its rows take about two bytes a value */
    assert_in_range(model.entries.count - model.value_entries, 3 * ROWS,
                    3 * ROWS);
    assert_in_range(block_bytes(), 1, 3 * (ROWS / ORDER_DEPTH * 3 + 100));
}

/* What is far from all others takes none of their precision. */
ORDER_TEST(values_far_away_do_not_blur_the_others)
{
    (void)state;
    clear_model();
    for (uint32_t row = 0; row < ROWS; row++)
        add(0, row,
            row % 5000 == 7
                ? colander_integer(row % 10000 == 7 ? INT64_MIN : INT64_MAX)
                : colander_integer(750000000000000000 +
                                   (int64_t)below(10000000) * 1000));
    finish(ROWS);
    sort_entries();
    assert_reads(0, 750000000000000000.0, 750000010000000000.0, 1e8,
                 ORDER_HASHES, 1, 4 * ORDER_DEPTH);
}

ORDER_TEST(few_values_lead_to_their_rows)
{
    enum { VALUES = 300 };
    const struct order_limits limits = {.bytes = 0};
    struct counts counts;

    (void)state;
    clear_model();
    for (uint32_t row = 0; row < ROWS; row++) {
        char text[24];

        add(0, row, colander_integer((int64_t)below(VALUES) * 10));
        (void)snprintf(text, sizeof(text), "station-%03u",
                       (unsigned)below(VALUES));
        add(1, row, keep_text(COLANDER_STRING, text, strlen(text)));
    }
    finish_within(ROWS, &limits);
    sort_entries();
    assert_int_equal(model.entries.count, model.value_entries);
    assert_reads(0, 0, 10 * VALUES, 200, ORDER_HASHES, 1, 3 * ROWS / VALUES);
    for (unsigned i = 0; i < 30; i++) {
        char prefix[24];

        (void)snprintf(prefix, sizeof(prefix), "station-%02u", i);
        counts = count_prefix(1, prefix);
        assert_int_equal(counts.where, ORDER_HASHES);
        assert_int_equal(counts.read, counts.wanted);
    }
    assert_int_equal(count_prefix(1, "station-5").where, ORDER_NOWHERE);
    assert_in_range(block_bytes(), 1, 2 * (VALUES * (4 + 5) + 100));
}

/* The locator leads from 3 to all rows in which some column with the same tag
 * has 3. */
ORDER_TEST(values_that_other_columns_have_too_get_buckets)
{
    enum { RARE = 40 };
    struct order_limits limits = {.bytes = 20000};
    struct counts counts;

    (void)state;
    clear_model();
    for (uint32_t row = 0; row < ROWS; row++) {
        add(0, row, colander_integer((int64_t)below(100)));
        add(1, row,
            colander_integer(below(RARE) == 0 ? (int64_t)below(100) : 1000));
    }
    finish_within(ROWS, &limits);
    sort_entries();
    for (int64_t i = 0; i < 90; i++) {
        counts = count_between(1, colander_integer(i), colander_integer(i + 3));
        assert_int_equal(counts.where, ORDER_HASHES);
        assert_in_range(counts.read, counts.wanted,
                        counts.wanted + 4 * ORDER_DEPTH);
    }
    assert_in_range(model.entries.count - model.value_entries, 1,
                    2 * ROWS / RARE);
}

ORDER_TEST(values_that_lie_together_are_in_few_runs)
{
    (void)state;
    clear_model();
    for (uint32_t row = 0; row < ROWS; row++) {
        add(0, row, colander_integer(row * INT64_C(3) + (int64_t)below(100)));
        add(1, row, iso_date(row * UINT64_C(60), (unsigned)below(1000)));
        add(2, row, colander_integer(row / 1000));
        add(3, row, colander_boolean(true));
    }
    finish(ROWS);
    sort_entries();
    assert_int_equal(model.entries.count, model.value_entries);
    assert_reads(0, 0, 3 * ROWS, 1000, ORDER_RUNS, 1, 3 * ORDER_RUN);
    assert_reads(2, 0, ROWS / 1000, 2, ORDER_RUNS, 1, 1000 + 3 * ORDER_RUN);
    assert_in_range(count_prefix(1, "2016-01-17T").read, 24 * 60,
                    24 * 60 + 2 * ORDER_RUN);
    assert_in_range(count_prefix(1, "2016-01-17T11:").read, 60, 3 * ORDER_RUN);
    assert_int_equal(count_prefix(1, "2016-02-30").read, 0);
    assert_in_range(block_bytes(), 1, 4 * (ROWS / ORDER_RUN * 6 + 60));
}

/* The first texts of a part may share more than all, and some texts begin
 * otherwise. */
ORDER_TEST(texts_are_told_apart_behind_what_most_share)
{
    (void)state;
    clear_model();
    for (uint32_t row = 0; row < ROWS; row++) {
        char text[300];

        memset(text, 'x', 240);
        (void)snprintf(text + 240, sizeof(text) - 240, "%08u",
                       row < 2000 ? row : (unsigned)below(90000000));
        if (row % 100 == 50)
            text[0] = row % 200 == 50 ? 'a' : 'z';
        add(0, row, keep_text(COLANDER_STRING, text, strlen(text)));
        if (row % 3 == 0)
            add(0, row, colander_text(""));
    }
    finish(ROWS);
    sort_entries();
    for (unsigned i = 10; i < 90; i++) {
        char prefix[300];
        struct counts counts;

        memset(prefix, 'x', 240);
        (void)snprintf(prefix + 240, sizeof(prefix) - 240, "%03u", i * 9);
        counts = count_prefix(0, prefix);
        assert_int_equal(counts.where, ORDER_HASHES);
        assert_in_range(counts.read, counts.wanted,
                        counts.wanted + 4 * ORDER_DEPTH);
    }
    assert_true(count_prefix(0, "a").wanted > 0);
    assert_true(count_prefix(0, "zx").wanted > 0);
    assert_int_equal(
        count_between(0, colander_text(""), colander_text("")).wanted,
        (ROWS + 2) / 3);
}

/* --------------------------------------------------------------- limits --- */

ORDER_TEST(buckets_keep_within_their_limits)
{
    const uint64_t always[] = {path_of(3)};
    const uint64_t never[] = {path_of(0)};
    const struct order_limits limits = {
        .bytes = order_bucket_size(ROWS, ROWS) + 10,
        .always = always,
        .always_count = 1,
        .never = never,
        .never_count = 1,
    };
    unsigned count = 0;

    (void)state;
    clear_model();
    for (uint32_t row = 0; row < ROWS; row++)
        for (size_t i = 0; i < 4; i++)
            add(i, row, colander_integer((int64_t)below(1u << 30)));
    finish_within(ROWS, &limits);
    sort_entries();
    for (size_t i = 0; i < 4; i++) {
        const bool has_buckets =
            count_between(i, colander_integer(0), colander_integer(1000000))
                .where == ORDER_HASHES;

        assert_true(i != 0 || !has_buckets);
        assert_true(i != 3 || has_buckets);
        count += has_buckets;
    }
    assert_int_equal(count, 2);
    assert_int_equal(model.entries.count - model.value_entries, 2 * ROWS);
}

ORDER_TEST(columns_too_many_may_be_anywhere)
{
    (void)state;
    clear_model();
    for (size_t i = 0; i <= ORDER_COLUMNS_MAX; i++)
        add(i, 0, colander_integer(7));
    finish(1);
    sort_entries();
    for (size_t i = 0; i <= ORDER_COLUMNS_MAX; i++)
        assert_int_equal(
            count_between(i, colander_integer(8), colander_integer(9)).where,
            i < ORDER_COLUMNS_MAX ? ORDER_NOWHERE : ORDER_COLUMN);
}

/* A block has room for some of them only. */
ORDER_TEST(columns_of_one_place_may_be_anywhere_if_they_are_too_many)
{
    size_t count = 0;

    (void)state;
    clear_model();
    is_crowded = true;
    for (size_t i = 0; i < 500; i++)
        add(i, 0, colander_integer(7));
    finish(1);
    sort_entries();
    assert_int_equal(model.block_count, 1);
    for (size_t i = 0; i < 500; i++)
        count +=
            count_between(i, colander_integer(8), colander_integer(9)).where ==
            ORDER_COLUMN;
    assert_in_range(count, 300, 400);
}

/* Blocks of a few columns, so that a question reads little. */
ORDER_TEST(columns_are_in_small_blocks)
{
    (void)state;
    clear_model();
    for (size_t i = 0; i < 1000; i++)
        add(i, 0, colander_integer((int64_t)i));
    finish(1);
    sort_entries();
    assert_in_range(model.block_count, 8, 20);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(count_between(i, colander_integer((int64_t)i),
                                       colander_integer((int64_t)i))
                             .read,
                         1);
}

/* ---------------------------------------------------------------- bytes --- */

/* The example of filters/FORMAT.md. */
ORDER_TEST(bytes_of_a_block_do_not_change)
{
    static const uint8_t golden[] = {
        0x00, 0x02, 0x00, 0x6d, 0x6c, 0x74, 0x7c, 0x9f, 0x60, 0x15, 0x17, 0x1b,
        0x00, 0x00, 0x00, 0x2b, 0xf8, 0x94, 0xfe, 0x72, 0xf3, 0x6e, 0x3c, 0x4d,
        0x00, 0x00, 0x00, 0x21, 0x3b, 0x03, 0x58, 0x02, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x30, 0x30, 0x30, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x39, 0x39, 0x35, 0x00, 0x00, 0x00, 0x00, 0x00, 0x30,
        0x30, 0x30, 0x69, 0x64, 0x2d, 0x00, 0x00, 0xa0, 0x40, 0xa0, 0x40, 0x20,
        0xa0, 0x20, 0xa0, 0x21, 0xa1, 0x11, 0x38, 0x00, 0x58, 0x02, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80,
        0x00, 0x00, 0x00, 0x00, 0x00, 0xb8, 0x82, 0xc0, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x98, 0xc1, 0xbf, 0x00, 0xae, 0xae, 0xbe, 0xbe, 0xc1,
    };
    const struct order_limits limits = {.bytes = 0};
    const struct order_sink sink = {NULL, sort_values, count_listed, take_block,
                                    take_rows};
    const struct colander_buffer *block = &model.blocks[0];

    (void)state;
    clear_model();
    for (uint32_t row = 0; row < 600; row++) {
        const struct colander_value number = colander_integer(row);
        struct colander_value text;
        char name[8];

        (void)snprintf(name, sizeof(name), "id-%03u", row % 1000);
        text = colander_text(name);
        order_builder_value(model.builder, 1, &number, row);
        order_builder_value(model.builder, 4, &text, row);
    }
    OK(order_builder_finish(model.builder, 600, &limits, &sink, NULL));
    assert_int_equal(model.block_count, 1);
    assert_int_equal(block->size, sizeof(golden));
    assert_memory_equal(block->data, golden, sizeof(golden));
}

/* --------------------------------------------------------------- damage --- */

/* Whatever the bytes are, nothing beyond them is read, and no row beyond the
 * part is found. */
ORDER_TEST(damaged_blocks_answer_or_are_corrupt)
{
    (void)state;
    (void)random_seed("damage");
    clear_model();
    fill_bytes();
    for (uint32_t row = 0; row < 2000; row++)
        for (size_t column = 0; column < KINDS; column++)
            add(column, row, value_for(column == 0 ? 1 : column, row));
    finish(2000);
    for (uint64_t i = 0; i < random_runs(3000); i++) {
        const struct colander_buffer *whole =
            &model.blocks[below(model.block_count)];
        const struct colander_value low = colander_integer(0);
        const struct colander_value text = colander_text("2016");
        const struct order_span spans[] = {order_span_of(&low, NULL),
                                           order_span_of_prefix(&text)};
        const size_t size = 1 + below(whole->size);
        uint8_t *copy = malloc(size); /* of this size, for sanitizers */

        assert_non_null(copy);
        memcpy(copy, whole->data, size);
        copy[below(size < 200 || below(2) == 0 ? size : 200)] ^=
            (uint8_t)(1 + below(255));
        for (size_t k = 0; k < 2 * KINDS; k++) {
            struct row_ranges ranges = ROW_RANGES_EMPTY;
            struct order_answer answer;

            if (order_find(colander_slice_of(copy, size), 2000, path_of(k / 2),
                           &spans[k % 2], &answer, NULL) != COLANDER_OK)
                continue;
            if (answer.where == ORDER_RUNS)
                OK(order_runs(&answer, 2000, &ranges, NULL));
            for (size_t n = 0; n < ranges.count; n++)
                assert_true(ranges.ranges[n].end <= 2000);
            for (uint32_t n = answer.first;
                 answer.where == ORDER_HASHES && n < answer.end; n++)
                (void)order_hash(&answer, n);
            row_ranges_release(&ranges);
        }
        free(copy);
    }
}
