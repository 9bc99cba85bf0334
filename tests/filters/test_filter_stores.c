/*
 * Finds return what scans return in stores that drop files, in stores with
 * deleted ranges, and in stores with many families.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/filter_files.h"
#include "support/scoped.h"

#define KEYS 900

static void
write_random(struct store_fixture *fixture, struct colander_family *family,
             unsigned count, uint64_t *random)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    for (unsigned i = 0; i < count; i++) {
        random_key(random, KEYS, &key);
        if (random_below(random, 8) == 0)
            OK(colander_family_delete(family, colander_buffer_slice(&key), NULL,
                                      NULL));
        else
            OK(colander_family_put(family, colander_buffer_slice(&key),
                                   random_row(fixture->builder, random), NULL,
                                   NULL));
    }
}

/* ---------------------------------------------------------- compactions --- */

/* The rows of a find, concatenated. */
struct row_list {
    struct colander_buffer bytes;
    size_t ends[KEYS];
    size_t count;
};

static void
list_rows(struct colander_family *family,
          const struct colander_predicate *predicate, struct row_list *list)
{
    struct colander_query query = usual_query();
    SCOPED_CURSOR cursor = NULL;
    struct colander_result result;

    query.where = predicate;
    colander_buffer_clear(&list->bytes);
    list->count = 0;
    OK(colander_family_find(family, &query, &cursor, NULL));
    while (next_row(cursor, &result)) {
        assert_true(list->count < KEYS);
        OK(colander_buffer_append(&list->bytes, result.key.data,
                                  result.key.size, NULL));
        OK(colander_buffer_append(&list->bytes, result.row.data,
                                  result.row.size, NULL));
        list->ends[list->count++] = list->bytes.size;
    }
}

static struct colander_slice
row_at(const struct row_list *list, size_t index)
{
    size_t start = index == 0 ? 0 : list->ends[index - 1];

    return colander_slice_of(list->bytes.data + start,
                             list->ends[index] - start);
}

/* Every row of `fewer` is in `more`, in the same order. */
static void
assert_within(const struct row_list *fewer, const struct row_list *more)
{
    size_t place = 0;

    for (size_t i = 0; i < fewer->count; i++) {
        while (place < more->count &&
               !colander_slice_equal(row_at(fewer, i), row_at(more, place)))
            place++;
        assert_true(place < more->count);
    }
}

/* Files may be dropped at any time, so a find returns at least what a scan
 * after it returns, and at most what a scan before it returns. (Each key is
 * written once, so no older row can appear.) */
FIXTURE_TEST(finds_of_a_fifo_store_return_rows_of_concurrent_scans)
{
    struct colander_family *family;
    uint64_t random = random_seed("fifo");
    struct row_list lists[3];
    int64_t number = 0;

    fixture->options.compaction = COLANDER_COMPACTION_FIFO;
    fixture->options.fifo_size = 1 << 20;
    fixture->options.compression = COLANDER_COMPRESSION_NONE;
    fixture_remake(fixture);
    family = kept_family(fixture, "rows");
    memset(lists, 0, sizeof(lists));
    for (unsigned file = 0; file < 24; file++) {
        char filler[1024];

        memset(filler, 'a' + (int)(file % 26), sizeof(filler) - 1);
        filler[sizeof(filler) - 1] = '\0';
        for (unsigned i = 0; i < 100; i++) {
            char key[32];

            snprintf(key, sizeof(key), "%08lld", (long long)number++);
            colander_row_builder_add(fixture->builder, "filler",
                                     colander_text(filler));
            OK(put_text(fixture, family, key, "user",
                        colander_integer((int64_t)random_below(&random, 30)),
                        NULL));
        }
        OK(colander_family_flush(family, NULL));
        for (int64_t i = 0; i < 10; i++) {
            SCOPED_PREDICATE predicate =
                colander_where("user", COLANDER_EQ, colander_integer(i), NULL);
            SCOPED_PREDICATE hidden = colander_not(
                colander_not(colander_where("user", COLANDER_EQ,
                                            colander_integer(i), NULL),
                             NULL),
                NULL);

            list_rows(family, hidden, &lists[0]);
            list_rows(family, predicate, &lists[1]);
            list_rows(family, hidden, &lists[2]);
            assert_within(&lists[1], &lists[0]);
            assert_within(&lists[2], &lists[1]);
        }
    }
    assert_true(count_rows(family) < (uint64_t)number);
    /* The next flush removes a file that was read while it was dropped. */
    OK(put_text(fixture, family, "last", "user", colander_integer(1), NULL));
    OK(colander_family_flush(family, NULL));
    assert_all_loaded(family);
    assert_filters_of_ssts(fixture, &family, 1);
    for (size_t i = 0; i < 3; i++)
        colander_buffer_release(&lists[i].bytes);
}

FIXTURE_TEST(rows_of_deleted_ranges_are_not_found)
{
    struct colander_family *family = kept_family(fixture, "rows");
    uint64_t random = random_seed("ranges");
    struct colander_buffer bounds[2] = {COLANDER_BUFFER_EMPTY,
                                        COLANDER_BUFFER_EMPTY};
    struct find_counts counts = {.row_count = 0};

    for (unsigned i = 0; i < 20; i++) {
        struct colander_key_range range;

        memset(&range, 0, sizeof(range));
        write_random(fixture, family, 300, &random);
        if (i % 3 != 0)
            OK(colander_family_flush(family, NULL));
        random_key(&random, KEYS, &bounds[0]);
        random_key(&random, KEYS, &bounds[1]);
        range.from = colander_buffer_slice(&bounds[0]);
        range.to = colander_buffer_slice(&bounds[1]);
        OK(colander_family_delete_range(family, &range, NULL, NULL, NULL));
        compare_random_finds(fixture->store, family, KEYS, 30, &random,
                             &counts);
    }
    colander_buffer_release(&bounds[0]);
    colander_buffer_release(&bounds[1]);
}

/* ------------------------------------------------------------- families --- */

FIXTURE_TEST(families_without_rows_have_nothing_to_find)
{
    struct colander_family *family = kept_family(fixture, "empty");
    uint64_t count;

    for (unsigned is_there = 0; is_there < 2; is_there++) {
        assert_int_equal(count_equal(fixture, family, "a", 1), 0);
        assert_int_equal(count_equal(fixture, family, NULL, 1), 0);
        OK(colander_family_await_filters(family, NULL));
        OK(colander_family_refilter(family, &count, NULL));
        assert_int_equal(count, 0);
        assert_int_equal(filter_stats(family).file_count, 0);
        OK(colander_family_create(family, NULL));
        OK(colander_family_flush(family, NULL));
    }
}

FIXTURE_TEST(family_of_a_dropped_name_begins_empty)
{
    static const char *const left_out[] = {"n"};
    struct colander_filter_options options;

    for (int64_t i = 0; i < 6; i++) {
        struct colander_family *family = kept_family(fixture, "again");

        OK(colander_family_get_filters(family, &options, NULL));
        assert_int_equal(options.unfiltered_count, 0);
        colander_filter_options_release(&options);
        assert_int_equal(count_equal(fixture, family, "n", i - 1), 0);
        OK(put_text(fixture, family, "flushed", "n", colander_integer(i),
                    NULL));
        if (i % 2 == 0)
            OK(colander_family_flush(family, NULL));
        OK(put_text(fixture, family, "recent", "n", colander_integer(i), NULL));
        assert_int_equal(count_equal(fixture, family, "n", i), 2);
        options.unfiltered = left_out;
        options.unfiltered_count = 1;
        OK(colander_family_set_filters(family, &options, NULL));
        assert_int_equal(count_equal(fixture, family, "n", i), 2);
        OK(colander_family_drop(family, NULL));
        if (i % 3 == 2)
            fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
    }
}

/* ----------------------------------------------------------- many files --- */

static uint64_t
milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* FIFO compaction does not rewrite files. */
FIXTURE_TEST(value_in_one_of_many_files_is_found)
{
    enum { FILES_MOST = 1000 };
    const uint64_t runs = random_runs(300);
    const int64_t files = runs < FILES_MOST ? (int64_t)runs : FILES_MOST;
    struct colander_family *family;
    struct find_counts counts = {.row_count = 0};
    uint64_t start;

    fixture->options.compaction = COLANDER_COMPACTION_FIFO;
    fixture_remake(fixture);
    family = kept_family(fixture, "rows");
    for (int64_t i = 0; i < files; i++) {
        char key[16];

        for (int64_t k = 0; k < 8; k++) {
            snprintf(key, sizeof(key), "%d", (int)(k * files + i));
            OK(put_text(fixture, family, key, "n",
                        colander_integer(k * files + i), NULL));
        }
        OK(colander_family_flush(family, NULL));
    }
    fixture_close(fixture);
    start = milliseconds();
    fixture_open(fixture);
    family = kept_family(fixture, "rows");
    printf("a store of %d SST files is opened in %llu ms\n", (int)files,
           (unsigned long long)(milliseconds() - start));
    assert_int_equal(compare_equal(fixture->store, family, "n",
                                   colander_integer(7 * files + files / 2),
                                   &counts),
                     1);
    assert_all_loaded(family);
    printf("its filters are loaded after %llu ms\n",
           (unsigned long long)(milliseconds() - start));
    assert_int_equal(filter_stats(family).file_count, files);
    for (int64_t i = 0; i < 50; i++)
        assert_int_equal(compare_equal(fixture->store, family, NULL,
                                       colander_integer(i * 8 * files / 50),
                                       &counts),
                         1);
    assert_int_equal(compare_equal(fixture->store, family, NULL,
                                   colander_integer(-7), &counts),
                     0);
    assert_int_equal(counts.plans[COLANDER_PLAN_SCAN], 0);
}
