/*
 * Finds in stores of all shapes: other compactions, many files, many families.
 * They give what scans give.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/compared_finds.h"
#include "support/filter_files.h"

#define KEYS 900

static void
write_random(struct store_fixture *fixture, struct colander_family *family,
             unsigned count, uint64_t *random)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;

    for (unsigned i = 0; i < count; i++) {
        random_key(random, KEYS, &key);
        if (random_below(random, 8) == 0)
            OK(colander_family_delete(family, colander_buffer_slice(&key),
                                      COLANDER_AS_STORE, NULL));
        else
            OK(colander_family_put(family, colander_buffer_slice(&key),
                                   random_row(fixture->builder, random),
                                   COLANDER_AS_STORE, NULL));
    }
    colander_buffer_release(&key);
}

/* ------------------------------------------------------------ compactions ---
 */

/* Writes and flushes, so that files are compacted all the while. */
static void
write_and_compare(struct store_fixture *fixture, const char *name,
                  unsigned files)
{
    struct colander_family *family = fixture_family(fixture, "rows");
    uint64_t random = random_seed(name);
    struct find_counts counts = {.row_count = 0};

    for (unsigned i = 0; i < files; i++) {
        write_random(fixture, family, 200, &random);
        OK(colander_family_flush(family, NULL));
        write_random(fixture, family, 10, &random);
        compare_random_finds(fixture->store, family, KEYS, 20, &random,
                             &counts);
    }
    OK(colander_family_flush(family, NULL));
    assert_all_loaded(family);
    assert_filters_of_ssts(fixture, &family, 1);
    assert_int_equal(filter_stats(family).rebuilt_count, 0);
    assert_int_equal(filter_stats(family).error_count, 0);
    assert_true(counts.row_count > 0);
    colander_family_close(family);
}

static void
finds_equal_scans_under_universal_compaction(void **state)
{
    struct store_fixture *fixture = *state;

    fixture->options.compaction = COLANDER_COMPACTION_UNIVERSAL;
    fixture_remake(fixture);
    write_and_compare(fixture, "universal", 30);
}

static void
finds_equal_scans_with_many_small_files_and_threads(void **state)
{
    struct store_fixture *fixture = *state;

    fixture->options.thread_count = 4;
    fixture->options.sst_size = 64 << 10;
    fixture->options.compression = COLANDER_COMPRESSION_NONE;
    fixture_remake(fixture);
    write_and_compare(fixture, "small files", 60);
}

/* Rows of a find, one after the other. */
struct row_list {
    struct colander_buffer bytes;
    size_t ends[KEYS];
    size_t count;
};

static void
list_rows(struct colander_family *family,
          const struct colander_predicate *predicate, struct row_list *list)
{
    struct colander_query query;
    struct colander_cursor *cursor;
    struct colander_result result;

    colander_query_init(&query);
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
    colander_cursor_close(cursor);
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

/* Files go whenever they like: what a scan gives before, and what one gives
 * after, bound what a find may give. (Each key is written once: an older row
 * cannot come to light.) */
static void
finds_of_a_fifo_store_give_rows_of_scans_beside_them(void **state)
{
    struct store_fixture *fixture = *state;
    struct colander_family *family;
    uint64_t random = random_seed("fifo");
    struct row_list lists[3];
    int64_t number = 0;

    fixture->options.compaction = COLANDER_COMPACTION_FIFO;
    fixture->options.fifo_size = 1 << 20;
    fixture->options.compression = COLANDER_COMPRESSION_NONE;
    fixture_remake(fixture);
    family = fixture_family(fixture, "rows");
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
            struct colander_predicate *predicate =
                colander_where("user", COLANDER_EQ, colander_integer(i), NULL);
            struct colander_predicate *hidden = colander_not(
                colander_not(colander_where("user", COLANDER_EQ,
                                            colander_integer(i), NULL),
                             NULL),
                NULL);

            list_rows(family, hidden, &lists[0]);
            list_rows(family, predicate, &lists[1]);
            list_rows(family, hidden, &lists[2]);
            assert_within(&lists[1], &lists[0]);
            assert_within(&lists[2], &lists[1]);
            colander_predicate_destroy(predicate);
            colander_predicate_destroy(hidden);
        }
    }
    assert_true(count_rows(family) < (uint64_t)number);
    /* A file that was read when it was dropped goes with the next flush. */
    OK(put_text(fixture, family, "last", "user", colander_integer(1), NULL));
    OK(colander_family_flush(family, NULL));
    assert_all_loaded(family);
    assert_filters_of_ssts(fixture, &family, 1);
    for (size_t i = 0; i < 3; i++)
        colander_buffer_release(&lists[i].bytes);
    colander_family_close(family);
}

static void
rows_of_deleted_ranges_are_not_found(void **state)
{
    struct store_fixture *fixture = *state;
    struct colander_family *family = fixture_family(fixture, "rows");
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
        OK(colander_family_delete_range(family, &range, COLANDER_AS_STORE, NULL,
                                        NULL));
        compare_random_finds(fixture->store, family, KEYS, 30, &random,
                             &counts);
    }
    colander_buffer_release(&bounds[0]);
    colander_buffer_release(&bounds[1]);
    colander_family_close(family);
}

/* --------------------------------------------------------------- families ---
 */

static void
families_without_rows_have_nothing_to_find(void **state)
{
    struct store_fixture *fixture = *state;
    struct colander_family *family = fixture_family(fixture, "empty");
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
    colander_family_close(family);
}

static void
family_of_a_dropped_name_begins_anew(void **state)
{
    static const char *const left_out[] = {"n"};
    struct store_fixture *fixture = *state;
    struct colander_filter_options options;

    for (int64_t i = 0; i < 6; i++) {
        struct colander_family *family = fixture_family(fixture, "again");

        OK(colander_family_get_filters(family, &options, NULL));
        assert_int_equal(options.left_out_count, 0);
        colander_filter_options_release(&options);
        assert_int_equal(count_equal(fixture, family, "n", i - 1), 0);
        OK(put_text(fixture, family, "flushed", "n", colander_integer(i),
                    NULL));
        if (i % 2 == 0)
            OK(colander_family_flush(family, NULL));
        OK(put_text(fixture, family, "recent", "n", colander_integer(i), NULL));
        assert_int_equal(count_equal(fixture, family, "n", i), 2);
        options.left_out = left_out;
        options.left_out_count = 1;
        OK(colander_family_set_filters(family, &options, NULL));
        assert_int_equal(count_equal(fixture, family, "n", i), 2);
        OK(colander_family_drop(family, NULL));
        colander_family_close(family);
        if (i % 3 == 2)
            fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
    }
}

static void
rows_are_found_in_each_of_200_families(void **state)
{
    enum { FAMILIES = 200 };
    struct store_fixture *fixture = *state;
    struct colander_family *families[FAMILIES];
    char name[16];

    for (unsigned pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < FAMILIES; i++) {
            snprintf(name, sizeof(name), "f%d", (int)i);
            families[i] = fixture_family(fixture, name);
            if (pass > 0)
                continue;
            OK(put_text(fixture, families[i], "own", "n", colander_integer(i),
                        NULL));
            OK(put_text(fixture, families[i], "same", "n", colander_integer(-1),
                        NULL));
            if (i % 10 == 0)
                OK(colander_family_flush(families[i], NULL));
        }
        for (int64_t i = 0; i < FAMILIES; i++) {
            assert_int_equal(count_equal(fixture, families[i], "n", i), 1);
            assert_int_equal(count_equal(fixture, families[i], NULL, -1), 1);
            assert_int_equal(count_equal(fixture, families[i], "n", i + 1), 0);
        }
        if (pass > 0) {
            OK(colander_family_await_filters(families[0], NULL));
            assert_filters_of_ssts(fixture, families, FAMILIES);
        }
        for (size_t i = 0; i < FAMILIES; i++)
            colander_family_close(families[i]);
        fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
    }
}

static void
stores_of_one_process_keep_to_themselves(void **state)
{
    enum { STORES = 3 };
    struct store_fixture *fixtures[STORES];
    struct colander_family *families[STORES];

    (void)state;
    for (int64_t i = 0; i < STORES; i++) {
        void *made;

        assert_int_equal(fixture_setup(&made), 0);
        fixtures[i] = made;
        families[i] = fixture_family(fixtures[i], "rows");
        OK(put_text(fixtures[i], families[i], "flushed", "n",
                    colander_integer(i), NULL));
        OK(colander_family_flush(families[i], NULL));
        OK(put_text(fixtures[i], families[i], "recent", "n",
                    colander_integer(i), NULL));
    }
    for (int64_t i = 0; i < STORES; i++) {
        for (int64_t k = 0; k < STORES; k++)
            assert_int_equal(count_equal(fixtures[i], families[i], "n", k),
                             i == k ? 2 : 0);
    }
    for (size_t i = 0; i < STORES; i++) {
        void *made = fixtures[i];

        colander_family_close(families[i]);
        assert_int_equal(fixture_teardown(&made), 0);
    }
}

/* ------------------------------------------------------------- many files ---
 */

static uint64_t
milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* FIFO compaction leaves files alone. */
static void
value_in_one_of_1000_files_is_found(void **state)
{
    enum { FILES = 1000 };
    struct store_fixture *fixture = *state;
    struct colander_family *family;
    struct find_counts counts = {.row_count = 0};
    uint64_t start;

    fixture->options.compaction = COLANDER_COMPACTION_FIFO;
    fixture_remake(fixture);
    family = fixture_family(fixture, "rows");
    for (int64_t i = 0; i < FILES; i++) {
        char key[16];

        for (int64_t k = 0; k < 8; k++) {
            snprintf(key, sizeof(key), "%d", (int)(k * FILES + i));
            OK(put_text(fixture, family, key, "n",
                        colander_integer(k * FILES + i), NULL));
        }
        OK(colander_family_flush(family, NULL));
    }
    colander_family_close(family);
    fixture_close(fixture);
    start = milliseconds();
    fixture_open(fixture);
    family = fixture_family(fixture, "rows");
    printf("a store of 1000 SST files is opened in %llu ms\n",
           (unsigned long long)(milliseconds() - start));
    assert_int_equal(compare_equal(fixture->store, family, "n",
                                   colander_integer(7 * FILES + 500), &counts),
                     1);
    assert_all_loaded(family);
    printf("its filters are loaded after %llu ms\n",
           (unsigned long long)(milliseconds() - start));
    assert_int_equal(filter_stats(family).file_count, FILES);
    for (int64_t i = 0; i < 50; i++)
        assert_int_equal(compare_equal(fixture->store, family, NULL,
                                       colander_integer(i * 160), &counts),
                         1);
    assert_int_equal(compare_equal(fixture->store, family, NULL,
                                   colander_integer(-7), &counts),
                     0);
    assert_int_equal(counts.plans[COLANDER_PLAN_SCAN], 0);
    colander_family_close(family);
}

int
main(void)
{
#define TEST(test)                                                             \
    cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(finds_equal_scans_under_universal_compaction),
        TEST(finds_equal_scans_with_many_small_files_and_threads),
        TEST(finds_of_a_fifo_store_give_rows_of_scans_beside_them),
        TEST(rows_of_deleted_ranges_are_not_found),
        TEST(families_without_rows_have_nothing_to_find),
        TEST(family_of_a_dropped_name_begins_anew),
        TEST(rows_are_found_in_each_of_200_families),
        TEST(stores_of_one_process_keep_to_themselves),
        TEST(value_in_one_of_1000_files_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
