/*
 * Which columns have an order: a budget, columns that must have one and columns
 * that must not. Answers are those of a scan, whatever they are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/filter_file.h"
#include "filters/filters.h"
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/filter_files.h"
#include "support/random.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include <unistd.h>

#define ROWS 5000
#define FILES 3 /* so few are not compacted */

static void
put_rows(struct store_fixture *fixture, struct colander_family *family)
{
    struct colander_row_builder *builder = fixture->builder;
    uint64_t random = 7;

    for (int64_t i = 0; i < ROWS; i++) {
        struct colander_slice row;
        char text[24];

        (void)snprintf(text, sizeof(text), "t%016llx",
                       (unsigned long long)random_next(&random));
        colander_row_builder_add(
            builder, "n", colander_integer((int64_t)random_next(&random) >> 1));
        colander_row_builder_add(builder, "text", colander_text(text));
        colander_row_builder_begin_map(builder, "in");
        colander_row_builder_add(builder, "few", colander_integer(i % 7));
        colander_row_builder_add(
            builder, "n", colander_integer((int64_t)random_next(&random) >> 1));
        colander_row_builder_end(builder);
        if (i < 10)
            colander_row_builder_add(builder, "rare", colander_integer(i));
        OK(colander_row_builder_finish(builder, &row, NULL));
        put_at(family, i, row);
    }
    OK(colander_family_flush(family, NULL));
}

/* Does the same in a file that RocksDB leaves as it is: one that a flush has
 * written is compacted alone once a snapshot is released. */
static void
put_rows_for_good(struct store_fixture *fixture, struct colander_family *family)
{
    put_rows(fixture, family);
    OK(colander_family_compact(family, NULL));
    OK(colander_family_await_filters(family, NULL));
}

static struct colander_order_stats
stats_of(struct colander_family *family, const char *path)
{
    struct colander_order_stats stats;

    OK(colander_family_order_stats(family, path, &stats, why()));
    assert_int_equal(stats.struct_size, sizeof(stats));
    return stats;
}

/* Returns how many rows are read for those of `least` and more, which are those
 * of a scan. */
static uint64_t
read_for(struct colander_family *family, const char *path, int64_t least)
{
    const struct colander_value value = colander_integer(least);
    SCOPED_PREDICATE where = colander_where(path, COLANDER_GE, value, NULL);
    SCOPED_PREDICATE hidden = colander_not(
        colander_not(colander_where(path, COLANDER_GE, value, NULL), NULL),
        NULL);
    struct colander_query find = usual_query();
    struct colander_query scan = find;
    struct find_counts counts = {0};

    find.where = where;
    scan.where = hidden;
    (void)compare_find(family, &find, &scan, &counts);
    return counts.plans[COLANDER_PLAN_SCAN] > 0 ? ROWS : counts.rows_verified;
}

#define HIGH ((INT64_MAX >> 1) / 100 * 98) /* one row of 100 */

static _Thread_local unsigned lost_blocks; /* not read, next */

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. */
enum colander_code __real_filter_file_block(
    const struct filter_file *filter, const struct filter_part *part,
    enum filter_block_kind kind, uint32_t unit, struct cached_block **block,
    uint32_t *first, struct colander_error *err);
enum colander_code __wrap_filter_file_block(
    const struct filter_file *filter, const struct filter_part *part,
    enum filter_block_kind kind, uint32_t unit, struct cached_block **block,
    uint32_t *first, struct colander_error *err);
/* NOLINTEND(bugprone-reserved-identifier) */

enum colander_code
__wrap_filter_file_block(const struct filter_file *filter,
                         const struct filter_part *part,
                         enum filter_block_kind kind, uint32_t unit,
                         struct cached_block **block, uint32_t *first,
                         struct colander_error *err)
{
    if (lost_blocks == 0)
        return __real_filter_file_block(filter, part, kind, unit, block, first,
                                        err);
    lost_blocks--;
    *block = NULL;
    return COLANDER_FAIL(err, COLANDER_NOT_FOUND, "the filter was replaced");
}

FIXTURE_TEST(orders_are_counted_while_filters_are_replaced)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    struct colander_order_stats before;
    struct colander_order_stats stats;

    put_rows_for_good(fixture, family);
    before = stats_of(family, "n");
    lost_blocks = 3;
    stats = stats_of(family, "n");
    assert_int_equal(lost_blocks, 0);
    assert_memory_equal(&stats, &before, sizeof(stats));
    lost_blocks = 1000;
    FAILS(colander_family_order_stats(family, "n", &stats, why()),
          COLANDER_NOT_FOUND);
    assert_in_range(lost_blocks, 900, 999);
    lost_blocks = 0;
}

FIXTURE_TEST(columns_have_an_order_as_the_options_say)
{
    static const char *const in[] = {"in", "rare"};
    static const char *const n[] = {"in.n", "text"};
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    struct colander_filter_options options;
    struct colander_order_stats stats;

    put_rows_for_good(fixture, family);
    stats = stats_of(family, "in.few");
    assert_int_equal(stats.ordered_count, 1);
    assert_int_equal(stats.listed_count, 7);
    assert_int_equal(stats.group_count, 0);
    assert_int_equal(stats_of(family, "rare").few_count, 1);
    assert_int_equal(stats_of(family, "in").ordered_count, 0);
    assert_int_equal(stats_of(family, "none").unknown_count, 0);

    colander_filter_options_init(&options);
    options.order_budget = 0;
    OK(colander_family_set_filters(family, &options, NULL));
    OK(colander_family_refilter(family, NULL, NULL));
    assert_int_equal(stats_of(family, "n").no_budget_count, 1);
    assert_int_equal(stats_of(family, "n").size, 0);
    assert_int_equal(read_for(family, "n", HIGH), ROWS);

    options.ordered = in; /* beyond the budget */
    options.ordered_count = 2;
    OK(colander_family_set_filters(family, &options, NULL));
    OK(colander_family_refilter(family, NULL, NULL));
    assert_int_equal(stats_of(family, "n").no_budget_count, 1);
    assert_int_equal(stats_of(family, "rare").ordered_count, 1);
    stats = stats_of(family, "in.n");
    assert_int_equal(stats.ordered_count, 1);
    assert_int_equal(stats.value_count, ROWS);
    assert_in_range(stats.size, ROWS, 4 * ROWS);
    assert_in_range(read_for(family, "in.n", HIGH), 1, ROWS / 20);
    assert_in_range(read_for(family, "rare", 5), 1, 10);

    options.order_budget = 1;
    options.unordered = n;
    options.unordered_count = 2;
    OK(colander_family_set_filters(family, &options, NULL));
    OK(colander_family_refilter(family, NULL, NULL));
    assert_int_equal(stats_of(family, "in.n").refused_count, 1);
    assert_int_equal(stats_of(family, "in.few").ordered_count, 1);
    assert_int_equal(stats_of(family, "n").ordered_count, 1);
    assert_int_equal(stats_of(family, "text").refused_count, 1);
    assert_int_equal(read_for(family, "in.n", HIGH), ROWS);
    assert_in_range(read_for(family, "n", HIGH), 1, ROWS / 20);

    options.ordered_count = options.unordered_count = 0;
    options.order_budget = 0.001; /* for few values */
    OK(colander_family_set_filters(family, &options, NULL));
    OK(colander_family_refilter(family, NULL, NULL));
    assert_int_equal(stats_of(family, "n").over_budget_count, 1);
    assert_int_equal(stats_of(family, "in.few").ordered_count, 1);
}

/* The bytes of all columns are about those of all blocks. */
FIXTURE_TEST(bytes_of_columns_add_up)
{
    static const char *const paths[] = {"n", "text", "in.few", "in.n", "rare"};
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    struct colander_filter_options options;
    struct colander_filter_stats all;
    uint64_t size = 0;

    colander_filter_options_init(&options);
    options.order_budget = 1;
    OK(colander_family_set_filters(family, &options, NULL));
    put_rows_for_good(fixture, family);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        size += stats_of(family, paths[i]).size;
    OK(colander_family_filter_stats(family, &all, NULL));
    assert_in_range(size, all.order_size * 9 / 10, all.order_size);
}

FIXTURE_TEST(files_without_orders_are_counted)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    struct colander_order_stats stats;
    struct colander_filter_options options;

    assert_int_equal(stats_of(family, "n").unknown_count, 0);
    put_rows_for_good(fixture, family);
    colander_filter_options_init(&options);
    options.rows_per_segment = 0;
    OK(colander_family_set_filters(family, &options, NULL));
    OK(colander_family_refilter(family, NULL, NULL));
    stats = stats_of(family, "n");
    assert_int_equal(stats.unknown_count, 1);
    assert_int_equal(stats.ordered_count, 0);
    FAILS(colander_family_order_stats(family, "a[", &stats, NULL),
          COLANDER_INVALID);
}

/* Whether one filter has the column `n`, in the order as the options say. */
static bool
follows(struct colander_family *family, bool is_ordered)
{
    struct colander_order_stats stats;

    OK(colander_family_await_filters(family, NULL));
    stats = stats_of(family, "n");
    return stats.ordered_count == is_ordered &&
           stats.no_budget_count == !is_ordered && stats.unknown_count == 0;
}

static void
list_ssts(const struct store_fixture *fixture, struct file_numbers *ssts)
{
    char path[TEMPORARY_SIZE + 16];

    (void)snprintf(path, sizeof(path), "%s/rocksdb", fixture->directory);
    list_numbers(path, ".sst", ssts);
}

/* Waits until a compaction has replaced SST `number`, which RocksDB may remove
 * only later: so no longer than ten seconds. */
static void
await_compaction(const struct store_fixture *fixture, uint64_t number)
{
    struct file_numbers ssts;

    for (unsigned tries = 0; tries < 1000; tries++) {
        list_ssts(fixture, &ssts);
        if (bsearch(&number, ssts.numbers, ssts.count, sizeof(number),
                    compare_numbers) == NULL)
            return;
        usleep(10000);
    }
}

FIXTURE_TEST(files_of_a_compaction_that_has_begun_before_get_the_new_options)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};

    for (size_t i = 0; i < COUNT(names); i++) {
        SCOPED_FAMILY family = fixture_family(fixture, names[i]);
        const bool is_ordered = i % 2 == 1;
        struct colander_filter_options options;
        struct colander_snapshot *snapshot;
        struct file_numbers ssts;

        colander_filter_options_init(&options);
        options.order_budget = is_ordered ? 0 : 1;
        OK(colander_family_set_filters(family, &options, NULL));
        put_rows(fixture, family);
        OK(colander_family_set_filters(family, &options, NULL));
        list_ssts(fixture, &ssts); /* the last is that of these rows */
        assert_true(ssts.count > 0);
        OK(colander_store_snapshot(fixture->store, &snapshot, NULL));
        colander_snapshot_release(snapshot); /* begins a compaction */
        usleep((useconds_t)i * 1000);
        options.order_budget = is_ordered ? 1 : 0;
        OK(colander_family_set_filters(family, &options, NULL));
        OK(colander_family_refilter(family, NULL, NULL));
        await_compaction(fixture, ssts.numbers[ssts.count - 1]);
        for (unsigned tries = 0; tries < 1000 && !follows(family, is_ordered);
             tries++)
            usleep(10000);
        assert_true(follows(family, is_ordered));
    }
}

/* Columns that cost about the same, in files that have room for few of them. */
FIXTURE_TEST(all_parts_order_the_same_columns)
{
    static const char *const names[] = {"a", "b", "c", "text"};
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    struct colander_row_builder *builder = fixture->builder;
    uint64_t random = 7;
    size_t ordered = 0;

    for (int64_t i = 0; i < (int64_t)FILES * ROWS; i++) {
        struct colander_slice row;
        char text[24];

        for (size_t j = 0; j < 3; j++)
            colander_row_builder_add(
                builder, names[j],
                colander_integer((int64_t)(random_next(&random) >> 24)));
        (void)snprintf(text, sizeof(text), "%06llu",
                       random_next(&random) % 1000000ULL);
        colander_row_builder_add(builder, "text", colander_text(text));
        OK(colander_row_builder_finish(builder, &row, NULL));
        put_at(family, i, row);
        if ((i + 1) % ROWS == 0)
            OK(colander_family_flush(family, NULL));
    }
    OK(colander_family_await_filters(family, NULL));
    for (size_t j = 0; j < COUNT(names); j++) {
        const struct colander_order_stats stats = stats_of(family, names[j]);

        assert_true(stats.ordered_count == 0 || stats.over_budget_count == 0);
        ordered += stats.ordered_count > 0;
    }
    assert_in_range(ordered, 1, 2);
    assert_int_equal(stats_of(family, "text").ordered_count, 0);
}

/* Long texts get what is left when numbers have three bits of fractions. */
FIXTURE_TEST(long_texts_make_the_order_of_numbers_no_coarser)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    struct colander_row_builder *builder = fixture->builder;
    struct colander_filter_options options;
    uint64_t random = 7;
    uint64_t size;

    colander_filter_options_init(&options);
    options.order_budget = 1;
    OK(colander_family_set_filters(family, &options, NULL));
    for (int64_t i = 0; i < ROWS; i++) {
        struct colander_slice row;
        char text[120];

        colander_row_builder_add(
            builder, "n", colander_integer((int64_t)random_next(&random) >> 1));
        (void)snprintf(text, sizeof(text), "%016llx%0100d",
                       (unsigned long long)random_next(&random), 0);
        colander_row_builder_add(builder, "text", colander_text(text));
        OK(colander_row_builder_finish(builder, &row, NULL));
        put_at(family, i, row);
    }
    OK(colander_family_flush(family, NULL));
    OK(colander_family_await_filters(family, NULL));
    assert_int_equal(stats_of(family, "text").ordered_count, 1);
    size = stats_of(family, "n").size;

    options.order_budget = 0.0195; /* enough for both with one bit */
    OK(colander_family_set_filters(family, &options, NULL));
    OK(colander_family_refilter(family, NULL, NULL));
    OK(colander_family_await_filters(family, NULL));
    assert_int_equal(stats_of(family, "text").over_budget_count, 1);
    assert_true(stats_of(family, "n").size >= size);
}
