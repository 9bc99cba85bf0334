/*
 * Filter feeds: what comes of rows by way of a feed is what a builder makes of
 * them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/filter_feed.h"

#include "filter_model.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define OK(call) assert_int_equal((call), COLANDER_OK)

/* Bytes of rows that go through all lots more than twice. */
#define BYTES (4 * FEED_LOTS * FEED_LOT_SIZE / 2)
#define ROW_SIZE 4096

static const uint8_t tag[SST_TAG_SIZE] = {1, 2, 3};

/* Numbers in a row: copying it costs far less than building from it does, so
 * that a feed's lots are all full at times. */
#define NUMBERS 100

struct rows {
    struct colander_buffer bytes;
    size_t *ends; /* in `bytes` */
    uint32_t count;
};

struct pair {
    struct filter_builder *builder;
    struct filter_feed *feed;
    char directory[TEMPORARY_SIZE];
    char built[TEMPORARY_SIZE + 8];
    char fed[TEMPORARY_SIZE + 8];
};

static void
pair_begin(struct pair *pair)
{
    struct settings *settings;

    OK(settings_create(NULL, &settings, NULL));
    temporary_make(pair->directory);
    (void)snprintf(pair->built, sizeof(pair->built), "%s/built",
                   pair->directory);
    (void)snprintf(pair->fed, sizeof(pair->fed), "%s/fed", pair->directory);
    OK(filter_builder_create(pair->built, settings, &pair->builder, NULL));
    OK(filter_feed_create(pair->fed, settings, &pair->feed, NULL));
    settings_unref(settings);
}

static void
pair_end(struct pair *pair)
{
    filter_builder_destroy(pair->builder);
    filter_feed_destroy(pair->feed);
    temporary_remove(pair->directory);
}

/* Makes rows of a binary of `size` bytes, every third of few. */
static struct rows
rows_make(uint32_t count, size_t size)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct rows rows = {COLANDER_BUFFER_EMPTY,
                        malloc(count * sizeof(*rows.ends)), count};
    uint8_t *bytes = calloc(1, size);

    for (uint32_t i = 0; i < count; i++) {
        struct colander_value binary = colander_binary(
            colander_slice_of(bytes, i % 3 == 0 ? size / 2 : size));
        struct colander_slice row;

        memcpy(bytes, &i, sizeof(i));
        colander_row_builder_add(builder, "bytes", binary);
        colander_row_builder_begin_array(builder, "numbers");
        for (int64_t j = 0; j < NUMBERS; j++)
            colander_row_builder_add(builder, NULL,
                                     colander_integer(i * NUMBERS + j));
        colander_row_builder_end(builder);
        OK(colander_row_builder_finish(builder, &row, NULL));
        OK(colander_buffer_append(&rows.bytes, row.data, row.size, NULL));
        rows.ends[i] = rows.bytes.size;
    }
    colander_row_builder_destroy(builder);
    free(bytes);
    return rows;
}

static void
rows_free(struct rows *rows)
{
    colander_buffer_release(&rows->bytes);
    free(rows->ends);
}

/* Adds every row to one of the two, every hundredth as a deletion. */
static void
add_all(struct filter_builder *builder, struct filter_feed *feed,
        const struct rows *rows)
{
    size_t start = 0;

    for (uint32_t i = 0; i < rows->count; i++) {
        struct colander_slice row =
            colander_slice_of(rows->bytes.data + start, rows->ends[i] - start);
        bool is_put = i % 100 != 99;
        struct colander_slice key;
        char text[16];

        (void)snprintf(text, sizeof(text), "%09u", i);
        key = colander_slice_text(text);
        if (feed != NULL)
            OK(filter_feed_add(feed, key, row, is_put, NULL));
        else
            OK(filter_builder_add(builder, key, row, is_put, NULL));
        start = rows->ends[i];
    }
}

static void
assert_parts_equal(const struct filter_part *built,
                   const struct filter_part *fed)
{
    assert_int_equal(fed->shape.row_count, built->shape.row_count);
    assert_int_equal(fed->hash_count, built->hash_count);
    assert_true(colander_slice_equal(fed->first_key, built->first_key));
    assert_true(colander_slice_equal(fed->last_key, built->last_key));
}

static void
assert_files_equal(const struct pair *pair)
{
    struct filter_file *built;
    struct filter_file *fed;

    OK(filter_file_open(pair->built, &built, NULL));
    OK(filter_file_open(pair->fed, &fed, NULL));
    OK(filter_file_check(fed, NULL));
    assert_int_equal(filter_file_head(fed)->entry_count,
                     filter_file_head(built)->entry_count);
    assert_int_equal(filter_file_size(fed), filter_file_size(built));
    assert_int_equal(filter_file_part_count(fed),
                     filter_file_part_count(built));
    for (uint32_t i = 0; i < filter_file_part_count(built); i++)
        assert_parts_equal(filter_file_part(built, i),
                           filter_file_part(fed, i));
    filter_file_close(built);
    filter_file_close(fed);
}

static void
assert_filters_equal(uint32_t count, size_t size)
{
    struct rows rows = rows_make(count, size);
    struct pair pair;

    pair_begin(&pair);
    add_all(NULL, pair.feed, &rows);
    OK(filter_feed_finish(pair.feed, tag, NULL));
    add_all(pair.builder, NULL, &rows);
    OK(filter_builder_finish(pair.builder, tag, 0, 0, NULL));
    assert_files_equal(&pair);
    pair_end(&pair);
    rows_free(&rows);
}

static void
rows_of_many_lots_make_the_filter_that_a_builder_makes(void **state)
{
    (void)state;
    assert_filters_equal(BYTES / ROW_SIZE, ROW_SIZE);
}

static void
rows_larger_than_a_lot_make_the_filter_that_a_builder_makes(void **state)
{
    (void)state;
    assert_filters_equal(2 * FEED_LOTS, 3 * FEED_LOT_SIZE);
}

static void
a_feed_that_is_not_finished_leaves_no_file(void **state)
{
    struct rows rows = rows_make(3 * FEED_LOT_SIZE / ROW_SIZE, ROW_SIZE);
    struct pair pair;

    (void)state;
    pair_begin(&pair);
    add_all(NULL, pair.feed, &rows);
    filter_feed_destroy(pair.feed);
    pair.feed = NULL;
    assert_int_equal(access(pair.fed, F_OK), -1);
    pair_end(&pair);
    rows_free(&rows);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            rows_of_many_lots_make_the_filter_that_a_builder_makes),
        cmocka_unit_test(
            rows_larger_than_a_lot_make_the_filter_that_a_builder_makes),
        cmocka_unit_test(a_feed_that_is_not_finished_leaves_no_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
