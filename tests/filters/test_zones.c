/*
 * Zones rule out no run with the value; compared with lists of rows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/zone_model.h"
#include "support/cases.h"
#include "support/scoped.h"

MODEL_TEST(no_row_is_outside_the_ranges_found)
{
    static const uint32_t row_counts[] = {1, 255, 256, 257, 5000, 30000};

    for (uint64_t run = 0; run < random_runs(18); run++) {
        size_t number = run % COUNT(row_counts);
        uint32_t row_count = row_counts[number];

        if (row_count > 257)
            row_count -= (uint32_t)below(row_count / 2);
        make_model(row_count);
        for (size_t i = 0; i < 150; i++) {
            struct ask ask = any_ask();

            OK(find_ask(colander_buffer_slice(&model.block), &ask));
            assert_proper(row_count);
            check_ask(&ask);
        }
    }
}

/* A search of any column reads the runs of the column that has the value. */
MODEL_TEST(a_value_in_any_column_leaves_its_runs)
{
    enum { COLUMNS = 9, ROWS = 20 * ZONES_RUN };
    SCOPED_BUFFER block = COLANDER_BUFFER_EMPTY;

    for (int64_t row = 0; row < ROWS; row++) {
        for (int64_t i = 0; i < COLUMNS; i++) {
            const struct colander_value value = colander_timestamp(
                i * 2 * ROWS + (i % 2 == 0 ? row : ROWS - row), 0);

            zones_builder_value(builder, (uint64_t)i * 7919 + 1, &value);
        }
        zones_builder_row_end(builder);
    }
    OK(zones_builder_finish(builder, &block, NULL));
    for (int64_t i = 0; i < COLUMNS; i++) {
        const int64_t row = (int64_t)below(ROWS);
        const struct colander_value value = colander_timestamp(
            i * 2 * ROWS + (i % 2 == 0 ? row : ROWS - row), 0);
        const struct zone_span span = {zone_rank_of(&value),
                                       zone_rank_of(&value)};

        row_ranges_clear(&ranges);
        OK(zones_find_any(colander_buffer_slice(&block), ROWS, &span, &ranges,
                          NULL));
        row_ranges_order(&ranges);
        assert_in_range(row_ranges_rows(&ranges), ZONES_RUN, 2 * ZONES_RUN);
        assert_true(ranges.ranges[0].first <= row);
        assert_true(ranges.ranges[ranges.count - 1].end > row);
    }
}

/* ------------------------------------------------------------- pruning --- */

/* The number of rows that remain for the values of a span. */
static uint64_t
rows_of_span(enum kind kind, const struct zone_span *span)
{
    OK(find(colander_buffer_slice(&model.block), kind, span));
    return row_ranges_rows(&ranges);
}

/* The same for the values from `low` to `high`. */
static uint64_t
rows_left(enum kind kind, struct colander_value low, struct colander_value high)
{
    const struct zone_span span = {zone_rank_of(&low), zone_rank_of(&high)};

    return rows_of_span(kind, &span);
}

/* The number of runs with one of the rare zeros, which widen their spans. */
static uint64_t
runs_with_outliers(void)
{
    const struct model_column *column = &model.columns[KIND_OUTLIER];
    uint64_t runs = 0;
    uint64_t last_run = UINT64_MAX;

    for (size_t i = 0; i < column->count; i++) {
        uint64_t run = column->items[i].row / ZONES_RUN;

        if (column->items[i].value.integer == 0 && run != last_run) {
            last_run = run;
            runs++;
        }
    }
    return runs;
}

MODEL_TEST(clustered_columns_leave_few_rows)
{
    enum { ROWS = 25600, FEW = 4 * ZONES_RUN };
    uint64_t widened;

    make_model(ROWS);
    widened = runs_with_outliers() * ZONES_RUN;
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
        assert_in_range(rows_left(KIND_OUTLIER, large, large), 1,
                        widened + FEW);
        large = colander_integer(row % (ROWS / 5));
        assert_in_range(rows_left(KIND_LATE, large, large), 1, ROWS / 8);
    }
    assert_int_equal(
        rows_left(KIND_CLUSTERED, colander_integer(-9), colander_integer(-1)),
        0);
    assert_int_equal(
        rows_left(KIND_CLUSTERED, colander_text(""), colander_text("zz")), 0);
}

MODEL_TEST(columns_are_only_where_rows_have_them)
{
    enum { ROWS = 25600 };

    make_model(ROWS);
    assert_in_range(
        rows_left(KIND_STRETCH, colander_text(""), colander_text("\xff\xff")),
        ROWS / 6, ROWS / 5 + 512);
    assert_int_equal(rows_left(KIND_ABSENT, colander_integer(INT64_MIN),
                               colander_integer(INT64_MAX)),
                     0);
    assert_int_equal(rows_left(KIND_CONSTANT, colander_boolean(false),
                               colander_boolean(false)),
                     0);
    assert_int_equal(rows_left(KIND_NULLS, colander_null(), colander_null()),
                     ROWS);
}

/* Like a sensor's data: two columns with spans of runs, two without. */
MODEL_TEST(spans_of_runs_take_few_bytes)
{
    enum { COLUMNS = 4, RUNS = 400 };
    SCOPED_BUFFER block = COLANDER_BUFFER_EMPTY;

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
    OK(zones_builder_finish(builder, &block, NULL));
    assert_true(block.size < 8 + COLUMNS * 30 + 2 * 4 * RUNS);
}

/* --------------------------------------------------------- texts pruned --- */

/* The number of rows that remain for texts with this prefix. */
static uint64_t
rows_begun(enum kind kind, const char *begin)
{
    const struct colander_value value = colander_text(begin);
    const struct zone_span span = {zone_rank_of(&value),
                                   zone_rank_of_prefix_end(&value)};

    return rows_of_span(kind, &span);
}

/* The rows at the borders of runs are found, although the first 8 bytes that
 * differ are those of rows next to them. */
static void
check_ends_of_runs(enum kind kind, uint32_t row_count)
{
    for (uint32_t row = 0; row < row_count; row++) {
        struct colander_value value = model.columns[kind].items[row].value;
        struct ask ask = {kind, false, value, value};

        if ((row + 1) % ZONES_RUN >= 2)
            continue;
        OK(find_ask(colander_buffer_slice(&model.block), &ask));
        check_ask(&ask);
    }
}

/* They differ after 8 bytes, and from one run to the next after 11 or 13. */
MODEL_TEST(dates_that_grow_with_the_row_leave_few_rows)
{
    enum { ROWS = 25600, FEW = 2 * ZONES_RUN, DAY = 24 * 60 };
    struct model_column *dates = &model.columns[KIND_DATES];
    struct model_column *gaps = &model.columns[KIND_GAPS];

    make_model(ROWS);
    for (uint32_t row = 0; row < ROWS; row += 1 + (uint32_t)below(999)) {
        struct colander_value date = dates->items[row].value;
        struct colander_value near = gaps->items[row].value;
        char minute[17];
        char day[11];

        (void)snprintf(minute, sizeof(minute), "%.16s", date.bytes.data);
        (void)snprintf(day, sizeof(day), "%.10s", date.bytes.data);
        assert_in_range(rows_left(KIND_DATES, date, date), 1, FEW);
        assert_in_range(rows_begun(KIND_DATES, minute), 1, FEW);
        assert_in_range(rows_begun(KIND_DATES, day), 1, DAY + FEW);
        assert_in_range(rows_left(KIND_GAPS, near, near), 1, ROWS / 4);
    }
    check_ends_of_runs(KIND_GAPS, ROWS);
    check_ends_of_runs(KIND_FALLS, ROWS);
}

/* 25,600 minutes of 2016 begin with "2016-01-", names up to 699 with "sens-00",
 * and no date has a place with a digit that does not occur here. */
MODEL_TEST(texts_outside_those_of_the_part_leave_no_rows)
{
    enum { ROWS = 25600 };
    static const char *const all[] = {"", "2", "20", "2016-01", "2016-01-"};
    static const char *const none[] = {"1",
                                       "2015",
                                       "2016-00",
                                       "2016-01.",
                                       "2016-01-2",
                                       "2016-01-19",
                                       "2016-01-18T18:40",
                                       "2016-01-00",
                                       "2016-01-:",
                                       "2016-02",
                                       "2016-10",
                                       "2016-1",
                                       "2016-01-/",
                                       "3",
                                       "\x7f"};

    make_model(ROWS);
    for (size_t i = 0; i < COUNT(all); i++)
        assert_int_equal(rows_begun(KIND_DATES, all[i]), ROWS);
    for (size_t i = 0; i < COUNT(none); i++) {
        struct colander_value text = colander_text(none[i]);

        assert_int_equal(rows_begun(KIND_DATES, none[i]), 0);
        assert_int_equal(rows_left(KIND_DATES, text, text), 0);
    }
    assert_int_equal(
        rows_left(KIND_DATES, colander_text(""), colander_text("2016-01-")), 0);
    assert_int_equal(
        rows_left(KIND_DATES, colander_text("2016-02"), colander_text("x")), 0);
    assert_int_equal(
        rows_left(KIND_DATES, colander_text("2015"), colander_text("2017")),
        ROWS);
    assert_int_equal(rows_begun(KIND_STATES, "state"), ROWS);
    assert_int_equal(rows_begun(KIND_STATES, "state-open"), ROWS);
    assert_int_equal(rows_begun(KIND_STATES, "state-a"), 0);
    assert_int_equal(rows_begun(KIND_STATES, "state-t"), 0);
    assert_int_equal(rows_begun(KIND_NAMES, "sens-00"), ROWS);
    assert_int_equal(rows_begun(KIND_NAMES, "sens-007"), 0);
    assert_int_equal(rows_begun(KIND_NAMES, "sens-01"), 0);
    assert_int_equal(rows_begun(KIND_NAMES, "sens-006990"), 0);
    assert_int_equal(rows_begun(KIND_NAMES, "sent"), 0);
}

#define COUNTED_MAX 320

/* A binary that ends with `row`, after `size` other bytes. */
static struct colander_value
counted(uint8_t place[COUNTED_MAX], size_t size, uint32_t row)
{
    memset(place, 0xfe, size);
    for (size_t i = 0; i < 4; i++)
        place[size + i] = (uint8_t)(row >> (24 - 8 * i));
    return colander_binary(colander_slice_of(place, size + 4));
}

static uint64_t
rows_of(struct colander_slice block, uint32_t row_count,
        const struct colander_value *value)
{
    const struct zone_span span = {zone_rank_of(value), zone_rank_of(value)};

    row_ranges_clear(&ranges);
    OK(zones_find(block, row_count, 1, &span, &ranges, NULL));
    return row_ranges_rows(&ranges);
}

/* Any bytes, from the part of a common prefix that is kept to what is cut. */
MODEL_TEST(prefixes_of_255_bytes_are_ignored)
{
    enum { ROWS = 20 * ZONES_RUN };
    static const size_t sizes[] = {0, 1, 7, 8, 24, 100, 251, 255, 272, 300};
    SCOPED_BUFFER block = COLANDER_BUFFER_EMPTY;
    uint8_t place[COUNTED_MAX];

    for (size_t i = 0; i < COUNT(sizes); i++) {
        colander_buffer_clear(&block);
        for (uint32_t row = 0; row < ROWS; row++) {
            struct colander_value value = counted(place, sizes[i], row);

            zones_builder_value(builder, 1, &value);
            zones_builder_row_end(builder);
        }
        OK(zones_builder_finish(builder, &block, NULL));
        for (uint32_t row = 0; row < ROWS; row += 100) {
            struct colander_value value = counted(place, sizes[i], row);

            assert_in_range(
                rows_of(colander_buffer_slice(&block), ROWS, &value), 1,
                sizes[i] <= 272 ? ZONES_RUN : ROWS);
            value.type = COLANDER_STRING;
            assert_int_equal(
                rows_of(colander_buffer_slice(&block), ROWS, &value), 0);
        }
    }
}

/* The last row shortens the common prefix, after earlier rows were cut behind a
 * longer one. The difference takes up some of the bytes that are compared. */
MODEL_TEST(a_prefix_that_ends_late_still_prunes)
{
    enum { ROWS = 20 * ZONES_RUN, SIZE = 60 };
    SCOPED_BUFFER block = COLANDER_BUFFER_EMPTY;
    uint8_t place[COUNTED_MAX];

    for (size_t lost = 1; lost <= SIZE; lost++) {
        struct colander_value value;

        colander_buffer_clear(&block);
        for (uint32_t row = 0; row < ROWS; row++) {
            value = counted(place, SIZE, row);
            if (row == ROWS - 1)
                place[SIZE - lost] = 0xff;
            zones_builder_value(builder, 1, &value);
            zones_builder_row_end(builder);
        }
        OK(zones_builder_finish(builder, &block, NULL));
        assert_in_range(rows_of(colander_buffer_slice(&block), ROWS, &value), 1,
                        lost <= 20 ? ZONES_RUN : ROWS);
        for (uint32_t row = 0; row < ROWS - 1; row += 100) {
            value = counted(place, SIZE, row);
            assert_in_range(
                rows_of(colander_buffer_slice(&block), ROWS, &value), 1,
                lost <= 20 ? 2 * ZONES_RUN : ROWS);
        }
    }
}

/* Dates and numbered names, as in a log. */
MODEL_TEST(spans_of_texts_take_few_bytes)
{
    enum { RUNS = 400, FIXED = 120 };
    SCOPED_BUFFER block = COLANDER_BUFFER_EMPTY;

    for (uint32_t row = 0; row < RUNS * ZONES_RUN; row++) {
        struct colander_value date;

        text_size = 0;
        date = iso_date(row * UINT64_C(11), (unsigned)below(1000));
        zones_builder_value(builder, 1, &date);
        zones_builder_row_end(builder);
    }
    OK(zones_builder_finish(builder, &block, NULL));
    assert_in_range(block.size, 4 * RUNS, FIXED + 6 * RUNS);
    text_size = 0;
}

MODEL_TEST(columns_left_out_may_be_anywhere)
{
    SCOPED_BUFFER block = COLANDER_BUFFER_EMPTY;
    struct colander_value value = colander_integer(7);

    for (uint64_t i = 0; i <= ZONES_COLUMNS_MAX; i++)
        zones_builder_value(builder, i * i, &value);
    zones_builder_row_end(builder);
    zones_builder_row_end(builder);
    OK(zones_builder_finish(builder, &block, NULL));
    for (uint64_t i = 0; i <= ZONES_COLUMNS_MAX + 1; i++) {
        struct zone_span span = {zone_rank_of(&value), zone_rank_of(&value)};
        bool is_listed = i < ZONES_COLUMNS_MAX;

        if (i % 2 == 0)
            span.low.prefix = ++span.high.prefix; /* not the value */
        row_ranges_clear(&ranges);
        OK(zones_find(colander_buffer_slice(&block), 2, i * i, &span, &ranges,
                      NULL));
        assert_int_equal(row_ranges_rows(&ranges),
                         is_listed && i % 2 == 0 ? 0 : 2);
    }
}

/* --------------------------------------------------------------- bytes --- */

/* Three runs: `1` is the number of the row, `2` null in the first row and true
 * in row 300, `3` null in all rows, `4` a name with the number of the row, and
 * empty in row 5. The output already has a byte. */
MODEL_TEST(bytes_of_a_block_do_not_change)
{
    static const char golden[] =
        "\xee"
        /* nothing left out, 2^8 rows a run, 4 columns, 600 rows; directory */
        "\x00\x08\x04\x00\x58\x02\x00\x00"
        "\x01\x00\x00\x00\x00\x00\x00\x00\x38\x00\x00\x00"
        "\x02\x00\x00\x00\x00\x00\x00\x00\x4b\x00\x00\x00"
        "\x03\x00\x00\x00\x00\x00\x00\x00\x5c\x00\x00\x00"
        "\x04\x00\x00\x00\x00\x00\x00\x00\x5d\x00\x00\x00"
        /* 1: offsets of 2 bytes, a span; numbers; 0 to 599 and a little */
        "\x28\x22\x13\x80\xc0\x82\xb8"
        /* 0 to 255, 256 to 511, 512 to 599 */
        "\x00\x00\xdf\x80\xe0\x80\xff\x80\x00\x81\x05\x81"
        /* 2: offsets of 1 byte, a span, nulls, a bitmap; booleans; true */
        "\x1d\x11\x80\xff\xff\xff\xff\xff\xff\xff\xff"
        /* two runs: an empty span, true; the first two */
        "\x02\xff\x00\x00\x00\x03"
        /* 3: in all runs, no span, nulls */
        "\x04"
        /* 4: offsets of 2 bytes, a span; strings; empty to "id-599" */
        "\x28\x55\x02\x96\x3f"
        /* all begin with "id-"; or are empty; four places */
        "\x03id-\x84"
        "0509"
        "09\x00\x00"
        /* empty to "id-255", "id-256" to "id-511", "id-512" to "id-599" */
        "\x00\x00\x3f\x40\x40\x40\x3f\x80\x40\x80\x3f\x96";
    SCOPED_BUFFER block = COLANDER_BUFFER_EMPTY;
    struct colander_value null = colander_null();
    struct colander_value yes = colander_boolean(true);
    struct zone_span span;

    OK(colander_buffer_append(&block, "\xee", 1, NULL));
    for (uint32_t row = 0; row < 600; row++) {
        struct colander_value number = colander_integer(row);
        struct colander_value text;
        char name[8];

        text_size = 0;
        (void)snprintf(name, sizeof(name), "id-%03u", row % 1000);
        text = keep_text(COLANDER_STRING, name, row == 5 ? 0 : 6);
        zones_builder_value(builder, 4, &text);
        zones_builder_value(builder, 3, &null);
        zones_builder_value(builder, 1, &number);
        if (row == 0)
            zones_builder_value(builder, 2, &null);
        if (row == 300)
            zones_builder_value(builder, 2, &yes);
        zones_builder_row_end(builder);
    }
    OK(zones_builder_finish(builder, &block, NULL));
    assert_int_equal(block.size, sizeof(golden) - 1);
    assert_memory_equal(block.data, golden, block.size);

    /* An empty span has no value, whatever is searched for. */
    span.low = zone_rank_of(&yes);
    span.high = span.low;
    OK(zones_find(colander_slice_of(block.data + 1, block.size - 1), 600, 2,
                  &span, &ranges, NULL));
    assert_int_equal(ranges.count, 1);
    assert_int_equal(ranges.ranges[0].first, 256);
    assert_int_equal(ranges.ranges[0].end, 512);
}
