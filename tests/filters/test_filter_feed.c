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
assert_blocks_equal(struct filter_file *built, struct filter_file *fed,
                    uint32_t part, enum filter_block_kind kind)
{
    struct block_cache *cache = block_cache_create(1 << 20);
    const struct filter_part *ours = filter_file_part(built, part);
    const struct filter_part *theirs = filter_file_part(fed, part);

    assert_int_equal(theirs->block_count[kind], ours->block_count[kind]);
    for (uint32_t i = 0; i < ours->block_count[kind]; i++) {
        struct cached_block *a;
        struct cached_block *b;
        uint32_t first[2];

        OK(filter_file_nth_block(built, cache, ours, kind, i, &a, &first[0],
                                 NULL));
        OK(filter_file_nth_block(fed, cache, theirs, kind, i, &b, &first[1],
                                 NULL));
        assert_int_equal(first[0], first[1]);
        assert_true(colander_slice_equal(a->bytes, b->bytes));
        block_cache_release(cache, a);
        block_cache_release(cache, b);
    }
    block_cache_destroy(cache);
}

static void
assert_parts_equal(struct filter_file *built, struct filter_file *fed,
                   uint32_t part)
{
    const struct filter_part *ours = filter_file_part(built, part);
    const struct filter_part *theirs = filter_file_part(fed, part);

    assert_int_equal(theirs->shape.row_count, ours->shape.row_count);
    assert_int_equal(theirs->hash_count, ours->hash_count);
    assert_true(colander_slice_equal(theirs->first_key, ours->first_key));
    assert_true(colander_slice_equal(theirs->last_key, ours->last_key));
    for (unsigned kind = 0; kind < FILTER_KINDS; kind++)
        assert_blocks_equal(built, fed, part, (enum filter_block_kind)kind);
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
        assert_parts_equal(built, fed, i);
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

/* Feeds the rows, of which that at `bad` is cut short, to the end or until a
 * failure is told. */
static enum colander_code
feed_all(struct filter_feed *feed, const struct rows *rows, uint32_t bad)
{
    enum colander_code code = COLANDER_OK;
    size_t start = 0;

    for (uint32_t i = 0; i < rows->count && code == COLANDER_OK; i++) {
        size_t size = i == bad ? 3 : rows->ends[i] - start;
        char text[16];

        (void)snprintf(text, sizeof(text), "%09u", i);
        code = filter_feed_add(
            feed, colander_slice_text(text),
            colander_slice_of(rows->bytes.data + start, size), true, NULL);
        start = rows->ends[i];
    }
    return code;
}

static void
a_row_that_is_none_is_told_and_leaves_no_file(void **state)
{
    struct rows rows = rows_make(BYTES / ROW_SIZE, ROW_SIZE);
    const uint32_t bad[] = {5, rows.count / 2, rows.count - 1};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct pair pair;
        enum colander_code code;

        pair_begin(&pair);
        code = feed_all(pair.feed, &rows, bad[i]);
        if (code == COLANDER_OK)
            code = filter_feed_finish(pair.feed, tag, NULL);
        assert_int_equal(code, COLANDER_CORRUPT);
        filter_feed_destroy(pair.feed);
        pair.feed = NULL;
        assert_int_equal(access(pair.fed, F_OK), -1);
        pair_end(&pair);
    }
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
        cmocka_unit_test(a_row_that_is_none_is_told_and_leaves_no_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
