/*
 * Filter feeds produce the same filters as builders.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/filter_feed.h"
#include "support/cases.h"

#include "support/cases.h"
#include "support/scoped.h"
#include "support/temporary.h"

/* The size of rows that use all lots more than twice. */
#define BYTES (4 * FEED_LOTS * FEED_LOT_SIZE / 2)
#define ROW_SIZE 4096

static const uint8_t tag[SST_TAG_SIZE] = {1, 2, 3};

/* The count of numbers in a row. Copying a row costs far less than building
 * from it, so that all lots of a feed are full at times. */
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

/* Creates rows with a binary of `size` bytes; every third of half. */
static struct rows
rows_make(uint32_t count, size_t size)
{
    SCOPED_BUILDER builder = colander_row_builder_create();
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
        struct sst_entry entry = {
            .value = row, .block = i / 7 * 4000, .is_put = i % 100 != 99};
        char text[16];

        (void)snprintf(text, sizeof(text), "%09u", i);
        entry.key = colander_slice_text(text);
        if (feed != NULL)
            OK(filter_feed_add(feed, &entry, NULL));
        else
            OK(filter_builder_add(builder, &entry, NULL));
        start = rows->ends[i];
    }
}

static void
assert_blocks_equal(struct filter_file *built, struct filter_file *fed,
                    uint32_t part, enum filter_block_kind kind)
{
    const struct filter_part *ours = &built->parts[part];
    const struct filter_part *theirs = &fed->parts[part];

    assert_int_equal(theirs->block_count[kind], ours->block_count[kind]);
    for (uint32_t i = 0; i < ours->block_count[kind]; i++) {
        struct cached_block *a;
        struct cached_block *b;
        uint32_t first[2];

        OK(filter_file_nth_block(built, ours, kind, i, &a, &first[0], NULL));
        OK(filter_file_nth_block(fed, theirs, kind, i, &b, &first[1], NULL));
        assert_int_equal(first[0], first[1]);
        ASSERT_SAME(a->bytes, b->bytes);
        block_cache_release(built->cache, a);
        block_cache_release(fed->cache, b);
    }
}

static void
assert_parts_equal(struct filter_file *built, struct filter_file *fed,
                   uint32_t part)
{
    const struct filter_part *ours = &built->parts[part];
    const struct filter_part *theirs = &fed->parts[part];

    assert_int_equal(theirs->shape.row_count, ours->shape.row_count);
    assert_int_equal(theirs->hash_count, ours->hash_count);
    ASSERT_SAME(theirs->first_key, ours->first_key);
    ASSERT_SAME(theirs->last_key, ours->last_key);
    for (unsigned kind = 0; kind < FILTER_KINDS; kind++)
        assert_blocks_equal(built, fed, part, (enum filter_block_kind)kind);
}

static void
assert_files_equal(const struct pair *pair)
{
    struct block_cache *cache = block_cache_create(1 << 20, 4096);
    struct filter_file *built;
    struct filter_file *fed;

    OK(filter_file_open(pair->built, cache, &built, NULL));
    OK(filter_file_open(pair->fed, cache, &fed, NULL));
    OK(filter_file_check(fed, NULL));
    assert_int_equal(fed->head.entry_count, built->head.entry_count);
    assert_int_equal(fed->size, built->size);
    assert_int_equal(fed->part_count, built->part_count);
    for (uint32_t i = 0; i < built->part_count; i++)
        assert_parts_equal(built, fed, i);
    filter_file_unref(built);
    filter_file_unref(fed);
    block_cache_destroy(cache);
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
    OK(filter_builder_finish(pair.builder, tag, 0, NULL));
    assert_files_equal(&pair);
    pair_end(&pair);
    rows_free(&rows);
}

TEST(rows_of_many_lots_make_the_filter_that_a_builder_makes)
{
    assert_filters_equal(BYTES / ROW_SIZE, ROW_SIZE);
}

TEST(rows_larger_than_a_lot_make_the_filter_that_a_builder_makes)
{
    assert_filters_equal(2 * FEED_LOTS, 3 * FEED_LOT_SIZE);
}

TEST(a_feed_that_is_not_finished_leaves_no_file)
{
    struct rows rows = rows_make(3 * FEED_LOT_SIZE / ROW_SIZE, ROW_SIZE);
    struct pair pair;

    pair_begin(&pair);
    add_all(NULL, pair.feed, &rows);
    filter_feed_destroy(pair.feed);
    pair.feed = NULL;
    assert_int_equal(access(pair.fed, F_OK), -1);
    pair_end(&pair);
    rows_free(&rows);
}

/* Feeds the rows, of which the one at `bad` is truncated, to the end or until a
 * failure is reported. */
static enum colander_code
feed_all(struct filter_feed *feed, const struct rows *rows, uint32_t bad)
{
    enum colander_code code = COLANDER_OK;
    size_t start = 0;

    for (uint32_t i = 0; i < rows->count && code == COLANDER_OK; i++) {
        size_t size = i == bad ? 3 : rows->ends[i] - start;
        struct sst_entry entry = {.is_put = true};
        char text[16];

        (void)snprintf(text, sizeof(text), "%09u", i);
        entry.key = colander_slice_text(text);
        entry.value = colander_slice_of(rows->bytes.data + start, size);
        code = filter_feed_add(feed, &entry, NULL);
        start = rows->ends[i];
    }
    return code;
}

TEST(an_invalid_row_is_reported_and_leaves_no_file)
{
    struct rows rows = rows_make(BYTES / ROW_SIZE, ROW_SIZE);
    const uint32_t bad[] = {5, rows.count / 2, rows.count - 1};

    for (size_t i = 0; i < COUNT(bad); i++) {
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
