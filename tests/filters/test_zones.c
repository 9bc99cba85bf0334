/*
 * Zones: no run is denied that holds a value, against rows kept as a list.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/zone_model.h"

static void
no_row_is_outside_the_ranges_found(void **unused)
{
    static const uint32_t row_counts[] = {1, 255, 256, 257, 5000, 30000};
    struct zones_builder *builder = zones_builder_create();
    struct row_ranges ranges = ROW_RANGES_EMPTY;

    (void)unused;
    random_state = random_seed(__func__);
    fill_bytes();
    for (uint64_t run = 0; run < random_runs(18); run++) {
        size_t number = run % COUNT(row_counts);
        uint32_t row_count = row_counts[number];

        if (row_count > 257)
            row_count -= (uint32_t)below(row_count / 2);
        make_model(builder, row_count);
        for (size_t i = 0; i < 150; i++) {
            struct ask ask = any_ask();
            struct zone_span span = span_of(&ask);

            assert_int_equal(find(colander_buffer_slice(&model.block), ask.kind,
                                  ask.is_exists ? NULL : &span, &ranges),
                             COLANDER_OK);
            assert_proper(&ranges, row_count);
            check_ask(&ask, &ranges);
        }
    }
    row_ranges_release(&ranges);
    zones_builder_destroy(builder);
    release_model();
}

/* ------------------------------------------------------------- pruning --- */

/* The rows that are left when the values from `low` to `high` are asked for. */
static uint64_t
rows_left(enum kind kind, struct colander_value low, struct colander_value high)
{
    struct zone_span span = {zone_rank_of(&low), zone_rank_of(&high)};
    struct row_ranges ranges = ROW_RANGES_EMPTY;
    uint64_t rows;

    assert_int_equal(
        find(colander_buffer_slice(&model.block), kind, &span, &ranges),
        COLANDER_OK);
    rows = row_ranges_rows(&ranges);
    row_ranges_release(&ranges);
    return rows;
}

static uint64_t
rows_with(enum kind kind)
{
    struct row_ranges ranges = ROW_RANGES_EMPTY;
    uint64_t rows;

    assert_int_equal(
        find(colander_buffer_slice(&model.block), kind, NULL, &ranges),
        COLANDER_OK);
    rows = row_ranges_rows(&ranges);
    row_ranges_release(&ranges);
    return rows;
}

static void
clustered_columns_leave_few_rows(void **unused)
{
    enum { ROWS = 25600, FEW = 4 * ZONES_RUN };
    struct zones_builder *builder = zones_builder_create();

    (void)unused;
    random_state = random_seed(__func__);
    fill_bytes();
    make_model(builder, ROWS);
    for (uint32_t row = 0; row < ROWS; row += 1 + (uint32_t)below(999)) {
        struct colander_value grown = colander_integer(row * INT64_C(3));
        struct colander_value large =
            colander_integer(1500000000 + row * INT64_C(3));
        struct colander_value now =
            colander_timestamp(1600000000 + row * INT64_C(3), 0);
        struct colander_value array = colander_integer(row / 1000 * 1000);

        assert_in_range(rows_left(KIND_CLUSTERED, grown, grown), 0, FEW);
        assert_in_range(rows_left(KIND_INSTANTS, now, now), 1, FEW);
        assert_in_range(rows_left(KIND_LABELS, label(row), label(row)), 1, FEW);
        assert_in_range(rows_left(KIND_NULLS, grown, grown), 0, FEW);
        assert_in_range(rows_left(KIND_ARRAY, array, array), 1, 2 * FEW);
        assert_in_range(rows_left(KIND_OUTLIER, large, large), 1, ROWS / 4);
    }
    assert_int_equal(
        rows_left(KIND_CLUSTERED, colander_integer(-9), colander_integer(-1)),
        0);
    assert_int_equal(
        rows_left(KIND_CLUSTERED, colander_text(""), colander_text("zz")), 0);
    zones_builder_destroy(builder);
    release_model();
}

static void
columns_are_only_where_rows_have_them(void **unused)
{
    enum { ROWS = 25600 };
    struct zones_builder *builder = zones_builder_create();

    (void)unused;
    random_state = random_seed(__func__);
    fill_bytes();
    make_model(builder, ROWS);
    assert_int_equal(rows_with(KIND_CONTAINER), ROWS);
    assert_int_equal(rows_with(KIND_CONSTANT), ROWS);
    assert_in_range(rows_with(KIND_STRETCH), ROWS / 5, ROWS / 5 + 512);
    assert_in_range(rows_with(KIND_RARE), 1, ROWS / 2);
    assert_int_equal(rows_with(KIND_ABSENT), 0);
    assert_int_equal(rows_left(KIND_CONTAINER, colander_null(),
                               colander_timestamp(INT64_MAX, 0)),
                     0);
    assert_int_equal(rows_left(KIND_CONSTANT, colander_boolean(false),
                               colander_boolean(false)),
                     0);
    assert_int_equal(rows_left(KIND_NULLS, colander_null(), colander_null()),
                     ROWS);
    zones_builder_destroy(builder);
    release_model();
}

/* As of a sensor: two columns with spans of runs, two that have no use for
 * them. */
static void
spans_of_runs_take_few_bytes(void **unused)
{
    enum { COLUMNS = 4, RUNS = 400 };
    struct zones_builder *builder = zones_builder_create();
    struct colander_buffer block = COLANDER_BUFFER_EMPTY;

    (void)unused;
    random_state = random_seed(__func__);
    for (uint32_t row = 0; row < RUNS * ZONES_RUN; row++) {
        const struct colander_value values[COLUMNS] = {
            colander_timestamp(1600000000 + row, 0),
            colander_double(20 + 5 * sin(row / 5000.0) +
                            (double)below(100) / 100),
            colander_integer((int64_t)below(5)),
            colander_boolean(below(2) == 0),
        };

        for (uint64_t i = 0; i < COLUMNS; i++)
            zones_builder_value(builder, i, &values[i]);
        zones_builder_row_end(builder);
    }
    assert_int_equal(zones_builder_finish(builder, &block, NULL), COLANDER_OK);
    assert_true(block.size < 8 + COLUMNS * 30 + 2 * 4 * RUNS);
    colander_buffer_release(&block);
    zones_builder_destroy(builder);
}

static void
columns_left_out_may_be_anywhere(void **unused)
{
    struct zones_builder *builder = zones_builder_create();
    struct colander_buffer block = COLANDER_BUFFER_EMPTY;
    struct colander_value value = colander_integer(7);
    struct row_ranges ranges = ROW_RANGES_EMPTY;

    (void)unused;
    for (uint64_t i = 0; i <= ZONES_COLUMNS_MAX; i++)
        zones_builder_value(builder, i * i, &value);
    zones_builder_row_end(builder);
    zones_builder_row_end(builder);
    assert_int_equal(zones_builder_finish(builder, &block, NULL), COLANDER_OK);
    for (uint64_t i = 0; i <= ZONES_COLUMNS_MAX + 1; i++) {
        struct zone_span span = {zone_rank_of(&value), zone_rank_of(&value)};
        bool is_listed = i < ZONES_COLUMNS_MAX;

        if (i % 2 == 0)
            span.low.prefix = ++span.high.prefix; /* not the value */
        row_ranges_clear(&ranges);
        assert_int_equal(zones_find(colander_buffer_slice(&block), 2, i * i,
                                    &span, &ranges, NULL),
                         COLANDER_OK);
        assert_int_equal(row_ranges_rows(&ranges),
                         is_listed && i % 2 == 0 ? 0 : 2);
    }
    row_ranges_release(&ranges);
    colander_buffer_release(&block);
    zones_builder_destroy(builder);
}

/* --------------------------------------------------------------- bytes --- */

/* Three runs: `1` is the number of the row, `2` null in the first row and true
 * in row 300, `3` a map in all rows. Behind a byte that is there already. */
static void
bytes_of_a_block_stay_as_they_are(void **unused)
{
    static const char golden[] =
        "\xee"
        /* nothing left out, 2^8 rows a run, 3 columns, 600 rows; directory */
        "\x00\x08\x03\x00\x58\x02\x00\x00"
        "\x01\x00\x00\x00\x00\x00\x00\x00\x2c\x00\x00\x00"
        "\x02\x00\x00\x00\x00\x00\x00\x00\x3f\x00\x00\x00"
        "\x03\x00\x00\x00\x00\x00\x00\x00\x50\x00\x00\x00"
        /* 1: offsets of 2 bytes, a span; numbers; 0 to 599 and a little */
        "\x28\x22\x13\x80\xc0\x82\xb8"
        /* 0 to 255, 256 to 511, 512 to 599 */
        "\x00\x00\xdf\x80\xe0\x80\xff\x80\x00\x81\x05\x81"
        /* 2: offsets of 1 byte, a span, nulls, a bitmap; booleans; true */
        "\x1d\x11\x80\xff\xff\xff\xff\xff\xff\xff\xff"
        /* two runs: an empty span, true; the first two */
        "\x02\xff\x00\x00\x00\x03"
        /* 3: in all runs, no span */
        "\x00";
    struct zones_builder *builder = zones_builder_create();
    struct colander_buffer block = COLANDER_BUFFER_EMPTY;
    struct colander_value null = colander_null();
    struct colander_value yes = colander_boolean(true);
    struct colander_value map = colander_null();
    struct row_ranges ranges = ROW_RANGES_EMPTY;
    struct zone_span span;

    (void)unused;
    map.type = COLANDER_MAP;
    assert_int_equal(colander_buffer_append(&block, "\xee", 1, NULL),
                     COLANDER_OK);
    for (uint32_t row = 0; row < 600; row++) {
        struct colander_value number = colander_integer(row);

        zones_builder_value(builder, 3, &map);
        zones_builder_value(builder, 1, &number);
        if (row == 0)
            zones_builder_value(builder, 2, &null);
        if (row == 300)
            zones_builder_value(builder, 2, &yes);
        zones_builder_row_end(builder);
    }
    assert_int_equal(zones_builder_finish(builder, &block, NULL), COLANDER_OK);
    assert_int_equal(block.size, sizeof(golden) - 1);
    assert_memory_equal(block.data, golden, block.size);

    /* An empty span has no value, whatever is asked for. */
    span.low = zone_rank_of(&yes);
    span.high = span.low;
    assert_int_equal(
        zones_find(colander_slice_of(block.data + 1, block.size - 1), 600, 2,
                   &span, &ranges, NULL),
        COLANDER_OK);
    assert_int_equal(ranges.count, 1);
    assert_int_equal(ranges.ranges[0].first, 256);
    assert_int_equal(ranges.ranges[0].end, 512);
    row_ranges_release(&ranges);
    colander_buffer_release(&block);
    zones_builder_destroy(builder);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_row_is_outside_the_ranges_found),
        cmocka_unit_test(clustered_columns_leave_few_rows),
        cmocka_unit_test(columns_are_only_where_rows_have_them),
        cmocka_unit_test(spans_of_runs_take_few_bytes),
        cmocka_unit_test(columns_left_out_may_be_anywhere),
        cmocka_unit_test(bytes_of_a_block_stay_as_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
