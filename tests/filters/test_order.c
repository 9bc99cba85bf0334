/*
 * Orders: a question never loses a row, and reads few that it does not want.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/order_model.h"

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

/* Asks for values between two, without these. */
static void
ask_between(size_t column)
{
    const struct items *items = &model.columns[column];
    const struct colander_value low = items->items[below(items->count)].value;
    const struct colander_value high = items->items[below(items->count)].value;
    struct order_span span;

    if (low.type == COLANDER_NULL || !has_type(&high, low.type) ||
        colander_value_compare(&low, &high) > 0)
        return;
    span = order_span_of(&low, &high);
    span.low.shift = 1;
    span.high.shift = -1;
    (void)ask(column, &span);
    for (size_t i = 0; i < items->count; i++) {
        const struct item *item = &items->items[i];

        if (is_within(&item->value, &low, &high) &&
            colander_value_compare(&item->value, &low) != 0 &&
            colander_value_compare(&item->value, &high) != 0)
            assert_true(model.rows[item->row]);
    }
}

/* Each round is a part with other sizes, densities and limits. */
ORDER_TEST(no_row_of_a_range_is_lost)
{
    (void)state;
    (void)random_seed("order");
    for (uint64_t round = 0; round < random_runs(12); round++) {
        const uint32_t row_count =
            1 + (uint32_t)below(round % 3 == 0 ? 300 : 20000);

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
        finish_within(row_count, below(4) * 20000);
        for (unsigned i = 0; i < 20; i++) {
            for (size_t column = 0; column < KINDS; column++) {
                if (model.columns[column].count == 0)
                    continue;
                ask_anything(column);
                ask_bounded(column);
                ask_between(column);
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
        const bool is_coded = below(2) == 0;
        const uint64_t low = order_rank(&left, beginning, true, is_coded);
        const uint64_t high = order_rank(&right, beginning, true, is_coded);

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

/* A text of bytes that have short symbols, and of others. */
static struct colander_slice
letters(uint8_t text[20])
{
    static const char some[] = "abyz eeee09AZ-._\t\n~{`@/\xff\x80\x7f";
    const size_t size = (size_t)below(20);

    for (size_t i = 0; i < size; i++)
        text[i] = below(8) == 0 ? (uint8_t)below(256)
                                : (uint8_t)some[below(sizeof(some))];
    return colander_slice_of(text, size);
}

/* Also the texts that stand for a rank, and ranks next to it. */
ORDER_TEST(symbols_keep_the_order_of_texts)
{
    (void)state;
    (void)random_seed("symbols");
    for (uint64_t run = 0; run < random_runs(300000); run++) {
        const bool is_coded = below(4) != 0;
        uint8_t texts[2][20];
        uint8_t bound[ORDER_SYMBOLS];
        const struct colander_slice a = letters(texts[0]);
        const struct colander_slice b =
            below(3) == 0 ? colander_slice_of(a.data, below(a.size + 1))
                          : letters(texts[1]);
        const uint64_t low = order_word(a, 0, is_coded, NULL);
        const uint64_t high = order_word(b, 0, is_coded, NULL);
        const uint64_t rank =
            below(2) == 0 ? low : low >> 8 * below(8) << 8 * below(8);
        size_t size;

        assert_true(colander_slice_compare(a, b) <= 0 ? low <= high
                                                      : low >= high);
        assert_true(order_word(a, UINT8_MAX, is_coded, NULL) >= low);
        size = order_text_of_word(rank, false, is_coded, bound);
        if ((low & ~UINT64_C(255)) >= rank)
            assert_true(
                colander_slice_compare(a, colander_slice_of(bound, size)) >= 0);
        size = order_text_of_word(rank, true, is_coded, bound);
        if (size != SIZE_MAX &&
            (low & ~UINT64_C(255)) < (rank & ~UINT64_C(255)))
            assert_true(
                colander_slice_compare(a, colander_slice_of(bound, size)) < 0);
    }
}

/* Some eleven letters, not seven, tell names apart, and names in capitals or in
 * other letters keep their seven bytes. */
ORDER_TEST(letters_of_lower_case_are_shorter_in_ranks)
{
    const struct colander_slice a = colander_slice_text("maryann julia");
    const struct colander_slice b = colander_slice_text("maryann jones");

    (void)state;
    assert_int_equal(order_symbol_bits(a), 11 * 5 + 6); /* of 12 bytes */
    assert_true(order_word(a, 0, true, NULL) > order_word(b, 0, true, NULL));
    assert_true(order_word(a, 0, false, NULL) == order_word(b, 0, false, NULL));
    assert_int_equal(order_symbol_bits(colander_slice_text("MARY-2")),
                     4 * 9 + 9 + 8);
    assert_int_equal(order_symbol_bits(colander_slice_text("\xd0\xb0")), 26);
    assert_int_equal(order_symbol_bits(colander_slice_text("")), 0);
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

ORDER_TEST(many_values_are_in_groups)
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
    assert_reads(0, 0, 1u << 20, 2000, ORDER_LISTS, 1, ORDER_GROUP);
    assert_reads(1, 0, 0x1p63, 0x1p55, ORDER_LISTS, 1, ORDER_GROUP);
    for (unsigned i = 0; i < 50; i++) {
        const int64_t from = (int64_t)below(1u << 27);
        const struct counts counts =
            count_between(2, colander_timestamp(from, 0),
                          colander_timestamp(from + 100000, 0));

        assert_in_range(counts.read, counts.wanted,
                        counts.wanted + ORDER_GROUP);
    }
    assert_int_equal(
        count_between(0, colander_integer(-5), colander_double(-0.001)).where,
        ORDER_NOWHERE);
    assert_int_equal(
        count_between(0, colander_text("a"), colander_text("b")).where,
        ORDER_NOWHERE);
    /* these take less than two bytes a value */
    assert_in_range(block_bytes(), 3 * ROWS, 3 * ROWS * 2);
}

/* Heaps of values that differ little: a group has those of two or three heaps,
 * which even fractions would not divide. */
ORDER_TEST(uneven_values_are_told_apart)
{
    uint64_t wanted = 0;
    uint64_t read = 0;

    (void)state;
    clear_model();
    for (uint32_t row = 0; row < ROWS; row++)
        add(0, row,
            colander_double((double)below(ROWS / 64) * 1024 +
                            (double)below(1u << 20) / (1u << 15)));
    finish(ROWS);
    for (unsigned i = 0; i < 200; i++) {
        const double from = (double)below(ROWS / 64) * 1024 + (double)below(24);
        const struct counts counts =
            count_between(0, colander_double(from), colander_double(from + 4));

        wanted += counts.wanted;
        read += counts.read;
    }
    assert_true((double)read < 3.4 * (double)wanted);
}

/* Where a value has one rank, those equal to an end are not read. */
ORDER_TEST(excluded_ends_are_passed_over)
{
    const struct colander_value five = colander_integer(5);
    const struct colander_value text = colander_text("beta");
    struct order_span span;

    (void)state;
    clear_model();
    for (uint32_t row = 0; row < ROWS; row++) {
        add(0, row, colander_integer(row % 100 == 0 ? (int64_t)below(5) : 5));
        add(1, row, colander_text(row % 5 == 0 ? "alpha" : "beta"));
    }
    finish(ROWS);
    span = order_span_of(NULL, &five);
    span.high.shift = -1;
    assert_in_range((ask(0, &span), rows_read()), ROWS / 100 - 150,
                    ROWS / 100 + ORDER_GROUP);
    span = order_span_of(&text, NULL);
    span.low.shift = 1;
    assert_int_equal(ask(1, &span), ORDER_NOWHERE);
}

/* Of two parts the first ones together. */
ORDER_TEST(ends_tell_within_which_value_the_first_rows_lie)
{
    (void)state;
    for (unsigned round = 0; round < 40; round++) {
        struct order_ends ends = {.is_descending = round % 2 == 0,
                                  .wanted = 1 + below(300),
                                  .type = round % 4 < 2 ? COLANDER_INTEGER
                                                        : COLANDER_STRING};
        struct colander_value bound;
        uint64_t count = 0;
        uint32_t first;

        clear_model();
        for (uint32_t row = 0; row < ROWS / 5; row++) {
            char text[20];

            (void)snprintf(text, sizeof(text), "item %05u",
                           (unsigned)below(90000));
            add(0, row,
                ends.type == COLANDER_STRING
                    ? keep_text(COLANDER_STRING, text, strlen(text))
                    : colander_integer((int64_t)below(1u << 30)));
        }
        finish(ROWS / 5);
        for (unsigned part = 0; part < 2; part++)
            OK(order_ends_add(&ends, block_of(order_place(path_of(0)), &first),
                              path_of(0), NULL));
        assert_true(order_ends_bound(&ends, &bound));
        for (size_t i = 0; i < model.columns[0].count; i++) {
            const int order = colander_value_compare(
                &model.columns[0].items[i].value, &bound);

            if (ends.is_descending ? order >= 0 : order <= 0)
                count += 2;
        }
        assert_in_range(count, ends.wanted - ends.wanted / 8,
                        2 * ends.wanted + 10);
        order_ends_release(&ends);
    }
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
    assert_reads(0, 750000000000000000.0, 750000010000000000.0, 1e8,
                 ORDER_LISTS, 1, ORDER_GROUP);
}

ORDER_TEST(few_values_lead_to_their_rows)
{
    enum { VALUES = 300 };
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
    finish_within(ROWS, 2 * (VALUES * (4 + 7) + 100));
    assert_reads(0, 0, 10 * VALUES, 200, ORDER_LISTS, 1, 3 * ROWS / VALUES);
    for (unsigned i = 0; i < 30; i++) {
        char prefix[24];

        (void)snprintf(prefix, sizeof(prefix), "station-%02u", i);
        counts = count_prefix(1, prefix);
        assert_int_equal(counts.where, ORDER_LISTS);
        assert_int_equal(counts.read, counts.wanted);
    }
    assert_int_equal(count_prefix(1, "station-5").where, ORDER_NOWHERE);
    assert_in_range(block_bytes(), 1, 2 * (VALUES * (4 + 7) + 100));
}

/* The locator leads from 3 to all rows in which some column with the same tag
 * has 3. */
ORDER_TEST(values_that_other_columns_have_too_are_in_groups)
{
    enum { RARE = 40 };
    const uint64_t budget = 20000;
    struct counts counts;

    (void)state;
    *random_state() = 1; /* with some samples runs are good enough */
    clear_model();
    for (uint32_t row = 0; row < ROWS; row++) {
        add(0, row, colander_integer((int64_t)below(100)));
        add(1, row,
            colander_integer(below(RARE) == 0 ? (int64_t)below(100) : 1000));
    }
    finish_within(ROWS, budget);
    for (int64_t i = 0; i < 90; i++) {
        counts = count_between(1, colander_integer(i), colander_integer(i + 3));
        assert_int_equal(counts.where, ORDER_LISTS);
        assert_in_range(counts.read, counts.wanted,
                        counts.wanted + ORDER_GROUP);
    }
    assert_in_range(block_bytes(), budget / 20, budget);
}

/* Rows that ascend with their values, nearly or not, take a few bits each. */
ORDER_TEST(values_that_lie_together_take_few_bytes)
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
    assert_reads(0, 0, 3 * ROWS, 1000, ORDER_LISTS, 1, 2 * ORDER_GROUP);
    assert_reads(2, 0, ROWS / 1000.0, 2, ORDER_LISTS, 1, 1000);
    assert_in_range(count_prefix(1, "2016-01-17T").read, 24 * 60,
                    24 * 60 + 2 * ORDER_GROUP);
    assert_in_range(count_prefix(1, "2016-01-17T11:").read, 60,
                    3 * ORDER_GROUP);
    assert_int_equal(count_prefix(1, "2016-02-30").read, 0);
    assert_in_range(block_bytes(), 1, 2 * (uint64_t)ROWS / 2);
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
    for (unsigned i = 10; i < 90; i++) {
        char prefix[300];
        struct counts counts;

        memset(prefix, 'x', 240);
        (void)snprintf(prefix + 240, sizeof(prefix) - 240, "%03u", i * 9);
        counts = count_prefix(0, prefix);
        assert_int_equal(counts.where, ORDER_LISTS);
        assert_in_range(counts.read, counts.wanted,
                        counts.wanted + 2 * ORDER_GROUP);
    }
    assert_true(count_prefix(0, "a").wanted > 0);
    assert_true(count_prefix(0, "zx").wanted > 0);
    assert_int_equal(
        count_between(0, colander_text(""), colander_text("")).wanted,
        (ROWS + 2) / 3);
}

/* What the beginning loses comes before the ranks so far: here a zero byte. */
ORDER_TEST(a_beginning_may_lose_zeros)
{
    (void)state;
    clear_model();
    for (uint32_t row = 0; row < 2000; row++) {
        char text[12] = "ab";

        (void)snprintf(text + 3, sizeof(text) - 3, "%06u2",
                       row * 54321 % 1000000);
        if (row >= 1000)
            text[2] = 'c';
        add(0, row, keep_text(COLANDER_STRING, text, 10));
    }
    finish(2000);
    for (size_t row = 0; row < 2000; row++) {
        const struct colander_value value = model.columns[0].items[row].value;

        assert_int_equal(count_rows(0, &value, &value, false).wanted, 1);
    }
}

/* --------------------------------------------------------------- limits --- */

/* Two of four columns have groups. */
ORDER_TEST(groups_keep_within_their_budget)
{
    unsigned count = 0;

    (void)state;
    clear_model();
    for (uint32_t row = 0; row < ROWS; row++)
        for (size_t i = 0; i < 4; i++)
            add(i, row, colander_integer((int64_t)below(1u << 30)));
    finish_within(ROWS, 4 * ROWS);
    for (size_t i = 0; i < 4; i++)
        count +=
            count_between(i, colander_integer(0), colander_integer(1000000))
                .where == ORDER_LISTS;
    assert_int_equal(count, 2);
    assert_in_range(block_bytes(), 2 * ROWS, 4 * ROWS + 1000);
}

/* Returns the bits of fractions of a column. */
static unsigned
grain_of(size_t column)
{
    struct order_column_view view;
    bool is_there;
    uint32_t first;

    OK(order_column_find(block_of(order_place(path_of(column)), &first),
                         order_id(path_of(column), COLANDER_INTEGER), &view,
                         &is_there, NULL));
    assert_true(is_there);
    return view.grain;
}

/* Two columns of about 11 bits an item, and fractions of 1 to 3 bits. */
ORDER_TEST(what_is_left_of_the_budget_is_for_some_columns)
{
    unsigned finer = 0;

    (void)state;
    for (uint64_t tenths = 22; tenths < 40; tenths++) {
        const uint64_t budget = ROWS * tenths / 10;
        unsigned grains[2];

        clear_model();
        for (uint32_t row = 0; row < ROWS; row++)
            for (size_t i = 0; i < 2; i++)
                add(i, row, colander_integer((int64_t)below(1u << 30)));
        finish_within(ROWS, budget);
        grains[0] = grain_of(0);
        grains[1] = grain_of(1);
        if (grains[0] > 0 && grains[1] > 0)
            finer += grains[0] != grains[1];
        assert_in_range(block_bytes(), 0, budget + budget / 50);
    }
    assert_true(finer > 0);
}

/* All groups are those of the values that few rows have. */
ORDER_TEST(a_range_without_the_value_of_most_rows_is_in_lists)
{
    struct counts counts;

    (void)state;
    clear_model();
    for (uint32_t row = 0; row < ROWS; row++)
        add(0, row,
            colander_integer(row % 20 == 0 ? 1 + (int64_t)below(1u << 30) : 0));
    finish(ROWS);
    counts = count_between(0, colander_integer(1), colander_integer(1 << 30));
    assert_int_equal(counts.where, ORDER_LISTS);
    assert_in_range(counts.read, ROWS / 20, ROWS / 20 + 2 * ORDER_GROUP);
    counts = count_between(0, colander_integer(0), colander_integer(1 << 30));
    assert_int_equal(counts.where, ORDER_COLUMN);
}

/* The list tells of a value only that 65,535 rows have it, or more. */
ORDER_TEST(a_range_with_a_value_of_very_many_rows_may_be_anywhere)
{
    (void)state;
    clear_model();
    for (uint32_t row = 0; row < ROWS_MAX; row++)
        add(0, row,
            colander_integer(row % 20 == 0 ? 1 + (int64_t)below(1u << 30) : 0));
    finish(ROWS_MAX);
    assert_int_equal(
        count_between(0, colander_integer(0), colander_integer(1 << 30)).where,
        ORDER_COLUMN);
}

/* The least and the greatest value are known without any budget. */
ORDER_TEST(columns_without_a_budget_know_their_ends)
{
    (void)state;
    clear_model();
    for (uint32_t row = 0; row < ROWS; row++)
        add(0, row, colander_integer((int64_t)below(1u << 30)));
    finish_within(ROWS, 0);
    assert_in_range(block_bytes(), 1, 100);
    assert_int_equal(
        count_between(0, colander_integer(1 << 28), colander_integer(1 << 29))
            .where,
        ORDER_COLUMN);
    assert_int_equal(
        count_between(0, colander_integer(-7), colander_integer(-5)).where,
        ORDER_NOWHERE);
}

/* Each row has one column of many. */
ORDER_TEST(columns_that_few_rows_have_keep_within_the_budget)
{
    enum { COLUMNS = 500, BUDGET = 40000 };
    unsigned counts[ORDER_LISTS + 1] = {0};

    (void)state;
    clear_model();
    for (uint32_t row = 0; row < ROWS; row++)
        add(row % COLUMNS, row, colander_integer((int64_t)below(1u << 30)));
    finish_within(ROWS, BUDGET);
    assert_in_range(block_bytes(), BUDGET / 2, BUDGET + COLUMNS * 60);
    for (size_t i = 0; i < COLUMNS; i++)
        counts[count_between(i, colander_integer(0), colander_integer(1u << 27))
                   .where]++;
    assert_true(counts[ORDER_LISTS] > 100 && counts[ORDER_COLUMN] > 100);
}

ORDER_TEST(columns_too_many_may_be_anywhere)
{
    (void)state;
    clear_model();
    for (size_t i = 0; i <= ORDER_COLUMNS_MAX; i++)
        add(i, 0, colander_integer(7));
    finish(1);
    for (size_t i = 0; i <= ORDER_COLUMNS_MAX; i++)
        assert_int_equal(
            count_between(i, colander_integer(8), colander_integer(9)).where,
            i < ORDER_COLUMNS_MAX ? ORDER_NOWHERE : ORDER_COLUMN);
}

/* As in a long array. */
ORDER_TEST(columns_with_values_too_many_may_be_anywhere)
{
    const uint64_t few = path_of(1);
    const struct colander_value seven = colander_integer(7);

    (void)state;
    clear_model();
    order_builder_value(model.builder, few, &seven, 0);
    for (uint32_t i = 0; i <= ORDER_VALUES_MAX; i++) {
        const struct colander_value value = colander_integer(i / 2);

        order_builder_value(model.builder, path_of(0), &value,
                            (uint64_t)(i / 2) << LOCATOR_ROW_BITS);
    }
    assert_in_range(order_builder_size(model.builder), ORDER_VALUES_MAX / 2,
                    ORDER_VALUES_MAX / 2 + 2);
    for (uint32_t i = 0; i <= ORDER_VALUES_MAX; i++) {
        const struct colander_value value = colander_integer(i);

        order_builder_value(model.builder, path_of(0), &value,
                            (uint64_t)i << LOCATOR_ROW_BITS);
    }
    assert_int_equal(order_builder_size(model.builder), ORDER_VALUES_MAX);
    finish(1);
    assert_int_equal(
        count_between(0, colander_integer(-2), colander_integer(-1)).where,
        ORDER_COLUMN);
}

/* Of one row, in a list of few values and in runs. */
ORDER_TEST(numbers_with_one_hash_are_both_found)
{
    const struct colander_value low = colander_integer(5);
    const struct colander_value high = colander_integer(5000000);

    (void)state;
    clear_model();
    for (uint32_t row = 0; row < 2000; row++) {
        const uint64_t entry = locator_entry(~UINT64_C(0), 0, row);

        order_builder_value(model.builder, path_of(0), &low, entry);
        order_builder_value(model.builder, path_of(0), &high, entry);
    }
    assert_int_equal(order_builder_size(model.builder), 4000);
    finish(2000);
    assert_int_not_equal(count_between(0, high, high).where, ORDER_NOWHERE);
    assert_int_not_equal(count_between(0, low, low).where, ORDER_NOWHERE);
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
    assert_int_equal(model.block_count, 1);
    for (size_t i = 0; i < 500; i++)
        count +=
            count_between(i, colander_integer(8), colander_integer(9)).where ==
            ORDER_COLUMN;
    assert_in_range(count, 370, 450);
}

/* Numbers with one hash are easy to make. */
ORDER_TEST(many_values_with_one_hash_do_not_take_long)
{
    enum { VALUES = 5000 };

    (void)state;
    clear_model();
    for (uint32_t row = 0; row < 8 * VALUES; row++) {
        const struct colander_value value =
            colander_integer(row * INT64_C(7919) % VALUES);

        add_entry(1, row);
        order_builder_value(model.builder, path_of(0), &value,
                            locator_entry(1, 0, row));
    }
    finish(8 * VALUES);
    assert_in_range(model.counted, VALUES, 1000 * VALUES);
}

/* Blocks of a few columns, so that a question reads little. */
ORDER_TEST(columns_are_in_small_blocks)
{
    (void)state;
    clear_model();
    for (size_t i = 0; i < 1000; i++)
        add(i, 0, colander_integer((int64_t)i));
    finish(1);
    assert_in_range(model.block_count, 8, 20);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(count_between(i, colander_integer((int64_t)i),
                                       colander_integer((int64_t)i))
                             .read,
                         1);
}
