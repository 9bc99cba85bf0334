/*
 * Bulks: all rows become visible at once or none do. Of each key the latest row
 * counts, in whatever order they are added and whatever runs they fill.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/bulk/bulk_build.h"

#include "bulks.h"
#include "support/cases.h"
#include "support/scoped.h"

static void
random_bulk(struct store_fixture *fixture, uint64_t *random, const char *name)
{
    struct bulk_limits limits = small_limits();
    struct colander_family *family = fixture_family(fixture, name);
    struct model *model = calloc(1, sizeof(*model));
    uint64_t keys = 1 + random_below(random, KEYS_MAX);
    uint64_t count = random_below(random, 2 * KEYS_MAX);
    struct colander_bulk *bulk;

    limits.sorter.run_size = 1 + random_below(random, 100000);
    limits.sorter.run_rows = 1 + random_below(random, 1000);
    limits.sorter.fan_in = 2 + random_below(random, 6);
    limits.sst_size = 1 + random_below(random, 100000);
    limits.thread_count = 1 + random_below(random, 4);
    bulk = begin(family, &limits);
    for (uint64_t i = 0; i < count; i++)
        add_row(bulk, random_below(random, keys),
                random_row(fixture->builder, random), model);
    assert_int_equal(commit(bulk), model_count(model));
    assert_model(family, model);
    colander_family_close(family);
    fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
    family = fixture_family(fixture, name);
    assert_model(family, model);
    colander_family_close(family);
    model_release(model);
}

FIXTURE_TEST(rows_in_any_order_are_the_latest_of_their_keys)
{
    uint64_t random = random_seed(__func__);
    char name[24];

    for (unsigned i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "family %u", i);
        random_bulk(fixture, &random, name);
    }
    assert_int_equal(count_directories(fixture), 0);
}

/* `step` and `first` determine the order of the keys. */
static void
bulk_in_order(struct store_fixture *fixture, const char *name, uint64_t first,
              uint64_t step, const struct bulk_limits *limits)
{
    SCOPED_FAMILY family = fixture_family(fixture, name);
    struct model *model = calloc(1, sizeof(*model));
    struct colander_bulk *bulk = begin(family, limits);

    for (uint64_t i = 0; i < KEYS_MAX; i++)
        add_row(bulk, (first + i * step) % KEYS_MAX, number_row(fixture, i),
                model);
    assert_int_equal(commit(bulk), KEYS_MAX);
    assert_model(family, model);
    model_release(model);
}

FIXTURE_TEST(sorted_and_reverse_rows_come_out_in_order)
{
    const struct bulk_limits small = small_limits();
    const struct bulk_limits usual = bulk_limits_usual();

    bulk_in_order(fixture, "sorted", 0, 1, &small);
    bulk_in_order(fixture, "sorted in memory", 0, 1, &usual);
    bulk_in_order(fixture, "reverse", KEYS_MAX - 1, KEYS_MAX - 1, &small);
    bulk_in_order(fixture, "reverse in memory", KEYS_MAX - 1, KEYS_MAX - 1,
                  &usual);
    bulk_in_order(fixture, "mixed", 17, 7 * 11, &small);
}

FIXTURE_TEST(one_key_many_times_is_one_row)
{
    const struct bulk_limits small = small_limits();
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct model *model = calloc(1, sizeof(*model));
    struct colander_bulk *bulk = begin(family, &small);
    struct colander_bulk_progress progress;

    for (uint64_t i = 0; i < 5000; i++)
        add_row(bulk, 7, number_row(fixture, i), model);
    colander_bulk_progress(bulk, &progress);
    assert_int_equal(progress.added_count, 5000);
    assert_int_equal(progress.built_count, 0);
    OK(colander_bulk_commit(bulk, NULL, NULL));
    colander_bulk_progress(bulk, &progress);
    assert_int_equal(progress.added_count, 5000);
    assert_int_equal(progress.built_count, 5000);
    colander_bulk_destroy(bulk);
    assert_model(family, model);
    model_release(model);
}

FIXTURE_TEST(empty_bulk_makes_an_empty_family)
{
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct colander_bulk *bulk;
    uint64_t count = 5;

    OK(colander_bulk_create(family, &bulk, NULL));
    OK(colander_bulk_commit(bulk, &count, NULL));
    assert_int_equal(count, 0);
    FAILS(colander_bulk_commit(bulk, &count, NULL), COLANDER_INVALID);
    colander_bulk_destroy(bulk);
    assert_true(colander_family_exists(family));
    assert_int_equal(count_rows(family), 0);
    OK(put_text(fixture, family, "a", "n", colander_integer(1), NULL));
    assert_int_equal(count_rows(family), 1);
}

/* The bulk goes below level 0, which RocksDB asserts to be empty when it is
 * asked to compact a FIFO family. */
FIXTURE_TEST(fifo_family_with_a_bulk_can_be_compacted)
{
    const struct bulk_limits usual = bulk_limits_usual();
    SCOPED_FAMILY family = NULL;

    fixture->options.compaction = COLANDER_COMPACTION_FIFO;
    fixture_close(fixture);
    temporary_remove(fixture->directory);
    temporary_make(fixture->directory);
    fixture_open(fixture);
    bulk_in_order(fixture, "rows", 0, 1, &usual);
    family = fixture_family(fixture, "rows");
    OK(put_text(fixture, family, "a", "n", colander_integer(1), NULL));
    OK(colander_family_compact(family, NULL));
    assert_int_equal(count_rows(family), KEYS_MAX + 1);
}

FIXTURE_TEST(keys_that_share_much_and_little_are_sorted)
{
    struct bulk_limits limits = bulk_limits_usual();
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_bulk *bulk;
    uint64_t random = random_seed(__func__);
    char text[100];

    limits.sorter.run_rows = 1500;
    bulk = begin(family, &limits);
    for (uint64_t i = 0; i < 4000; i++) {
        uint64_t n = i * 1237 % 4000;

        snprintf(text, sizeof(text), "sensor-%.*s%llu",
                 (int)random_below(&random, 2) * 60,
                 "0000000000000000000000000000000000000000000000000000000000"
                 "000",
                 (unsigned long long)n);
        OK(colander_key_text(text, &key, NULL));
        OK(colander_bulk_add(bulk, colander_buffer_slice(&key),
                             number_row(fixture, n), NULL));
    }
    assert_int_equal(commit(bulk), 4000);
    assert_int_equal(count_rows(family), 4000);
}

FIXTURE_TEST(largest_rows_fit_and_larger_ones_are_refused)
{
    struct bulk_limits limits = small_limits();
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct colander_bulk *bulk = begin(family, &limits);
    SCOPED_MEMORY uint8_t *bytes = calloc(1, COLANDER_ROW_SIZE_MAX + 100);
    struct colander_slice row;

    for (uint64_t i = 0; i < 3; i++) {
        row = fixture_row(fixture, "b",
                          colander_binary(colander_slice_of(
                              bytes, COLANDER_ROW_SIZE_MAX - 20)));
        add_row(bulk, 3 - i, row, NULL);
        add_row(bulk, 10 + i, number_row(fixture, i), NULL);
    }
    bytes[0] = 0x80;
    FAILS(colander_bulk_add(bulk, colander_slice_text("no key"),
                            colander_slice_of(bytes, 1), why()),
          COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "rows"));
    assert_int_equal(commit(bulk), 6);
    assert_int_equal(count_rows(family), 6);
}

FIXTURE_TEST(family_with_rows_is_refused)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_bulk *bulk;

    OK(put_text(fixture, family, "a", "n", colander_integer(1), NULL));
    FAILS(colander_bulk_create(family, &bulk, why()), COLANDER_INVALID);
    assert_null(bulk);
    assert_non_null(strstr(error_text(), "family 'rows' has rows"));
    OK(colander_family_flush(family, NULL));
    FAILS(colander_bulk_create(family, &bulk, why()), COLANDER_INVALID);
    assert_int_equal(count_directories(fixture), 0);
    fixture_reopen(fixture, COLANDER_OPEN_READ_ONLY);
    family = kept_family(fixture, "others");
    FAILS(colander_bulk_create(family, &bulk, why()), COLANDER_READ_ONLY);
}

/* Deleted rows, in the memtable and in files, neither hide those of the bulk
 * nor come back, and a snapshot keeps its state. */
FIXTURE_TEST(deleted_rows_do_not_matter)
{
    const struct bulk_limits small = small_limits();
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct model *model = calloc(1, sizeof(*model));
    struct colander_read before = {NULL, NULL, 0};
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    struct colander_snapshot *snapshot;
    struct colander_bulk *bulk;
    bool found;

    for (uint64_t i = 0; i < KEYS_MAX; i += 3) {
        key_of(i, &key);
        OK(colander_family_put(family, colander_buffer_slice(&key),
                               number_row(fixture, 1), NULL, NULL));
    }
    OK(colander_family_flush(family, NULL));
    OK(colander_store_snapshot(fixture->store, &snapshot, NULL));
    OK(colander_family_delete_range(family, NULL, NULL, NULL, NULL));
    bulk = begin(family, &small);
    for (uint64_t i = 0; i < KEYS_MAX; i += 2)
        add_row(bulk, i, number_row(fixture, 10 * i), model);
    assert_int_equal(commit(bulk), KEYS_MAX / 2);
    assert_model(family, model);
    before.snapshot = snapshot;
    for (uint64_t i = 0; i < 12; i++) {
        key_of(i, &key);
        OK(colander_family_get(family, colander_buffer_slice(&key), &before,
                               &row, &found, NULL));
        assert_int_equal(found, i % 3 == 0);
    }
    colander_snapshot_release(snapshot);
    OK(colander_family_compact(family, NULL));
    assert_model(family, model);
    model_release(model);
}

FIXTURE_TEST(snapshot_of_before_sees_nothing)
{
    const struct bulk_limits small = small_limits();
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct colander_bulk *bulk = begin(family, &small);
    SCOPED_SNAPSHOT snapshot = NULL;
    struct colander_query query = usual_query();
    uint64_t count;

    for (uint64_t i = 0; i < KEYS_MAX; i++)
        add_row(bulk, i, number_row(fixture, i), NULL);
    assert_int_equal(count_rows(family), 0);
    OK(colander_store_snapshot(fixture->store, &snapshot, NULL));
    assert_int_equal(commit(bulk), KEYS_MAX);
    query.snapshot = snapshot;
    OK(colander_family_count(family, &query, &count, NULL));
    assert_int_equal(count, 0);
    assert_int_equal(count_rows(family), KEYS_MAX);
    OK(colander_family_compact(family, NULL));
    OK(colander_family_count(family, &query, &count, NULL));
    assert_int_equal(count, 0);
    assert_int_equal(count_rows(family), KEYS_MAX);
}

/* RocksDB takes rows of sequence 0 for replaced ones beside such a snapshot. */
FIXTURE_TEST(compaction_beside_a_snapshot_of_a_store_without_writes_keeps_rows)
{
    struct colander_family *family = kept_family(fixture, "rows");
    SCOPED_BULK bulk = NULL;
    SCOPED_SNAPSHOT snapshot = NULL;

    OK(colander_bulk_create(family, &bulk, NULL));
    for (uint64_t i = 0; i < 100; i++)
        add_row(bulk, i,
                fixture_row(fixture, "n", colander_integer((int64_t)i)), NULL);
    OK(colander_bulk_commit(bulk, NULL, NULL));
    OK(colander_store_snapshot(fixture->store, &snapshot, NULL));
    put_at(family, 50, fixture_row(fixture, "n", colander_integer(-1)));
    OK(colander_family_compact(family, NULL));
    assert_int_equal(count_rows(family), 100);
}

FIXTURE_TEST(row_that_is_put_meanwhile_fails_the_commit)
{
    const struct bulk_limits small = small_limits();
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct colander_bulk *bulk = begin(family, &small);
    uint64_t count;

    for (uint64_t i = 0; i < KEYS_MAX; i++)
        add_row(bulk, i, number_row(fixture, i), NULL);
    OK(put_text(fixture, family, "a", "n", colander_integer(1), NULL));
    FAILS(colander_bulk_commit(bulk, &count, why()), COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "has rows"));
    assert_int_equal(count_directories(fixture), 0);
    FAILS(colander_bulk_commit(bulk, &count, why()), COLANDER_INVALID);
    colander_bulk_destroy(bulk);
    assert_int_equal(count_rows(family), 1);
}

/* To cancel after its files are built; NULL: none. The linker redirects the
 * calls here. */
static struct colander_bulk *cancelled_next;

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. */
enum colander_code __real_bulk_build(struct bulk_build *build,
                                     struct colander_error *err);
enum colander_code __wrap_bulk_build(struct bulk_build *build,
                                     struct colander_error *err);
/* NOLINTEND(bugprone-reserved-identifier) */

enum colander_code
__wrap_bulk_build(struct bulk_build *build, struct colander_error *err)
{
    const enum colander_code code = __real_bulk_build(build, err);

    if (cancelled_next != NULL)
        colander_bulk_cancel(cancelled_next);
    cancelled_next = NULL;
    return code;
}

FIXTURE_TEST(bulk_that_is_cancelled_when_it_is_built_adds_no_row)
{
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    const struct bulk_limits limits = small_limits();
    struct colander_bulk *bulk = begin(family, &limits);

    for (uint64_t i = 0; i < 500; i++)
        add_row(bulk, i, number_row(fixture, i), NULL);
    cancelled_next = bulk;
    FAILS(colander_bulk_commit(bulk, NULL, why()), COLANDER_CANCELLED);
    colander_bulk_destroy(bulk);
    assert_int_equal(count_rows(family), 0);
}

FIXTURE_TEST(of_two_bulks_of_a_family_one_is_committed)
{
    const struct bulk_limits small = small_limits();
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    SCOPED_FAMILY other = fixture_family(fixture, "other");
    struct colander_bulk *first = begin(family, &small);
    struct colander_bulk *second = begin(family, &small);
    struct colander_bulk *third = begin(other, &small);

    for (uint64_t i = 0; i < 1000; i++) {
        add_row(first, i, number_row(fixture, i), NULL);
        add_row(second, 2 * i, number_row(fixture, i), NULL);
        add_row(third, 3 * i % KEYS_MAX, number_row(fixture, i), NULL);
    }
    assert_int_equal(count_directories(fixture), 3);
    assert_int_equal(commit(second), 1000);
    FAILS(colander_bulk_commit(first, NULL, NULL), COLANDER_INVALID);
    colander_bulk_destroy(first);
    assert_int_equal(commit(third), 1000);
    assert_int_equal(count_rows(family), 1000);
    assert_int_equal(count_rows(other), 1000);
    assert_int_equal(count_directories(fixture), 0);
}

FIXTURE_TEST(bulk_of_a_dropped_family_reports_it)
{
    const struct bulk_limits small = small_limits();
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct colander_bulk *bulk = begin(family, &small);
    SCOPED_FAMILY again = NULL;

    for (uint64_t i = 0; i < KEYS_MAX; i++)
        add_row(bulk, i, number_row(fixture, i), NULL);
    OK(colander_family_drop(family, NULL));
    FAILS(colander_bulk_commit(bulk, NULL, why()), COLANDER_DROPPED);
    colander_bulk_destroy(bulk);
    assert_int_equal(count_directories(fixture), 0);
    again = fixture_family(fixture, "rows");
    assert_int_equal(count_rows(again), 0);
    OK(put_text(fixture, again, "a", "n", colander_integer(1), NULL));
}

FIXTURE_TEST(store_with_a_bulk_stays_open)
{
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct colander_bulk *bulk;

    OK(colander_bulk_create(family, &bulk, NULL));
    FAILS(colander_store_close(fixture->store, NULL), COLANDER_BUSY);
    add_row(bulk, 1, number_row(fixture, 1), NULL);
    colander_bulk_destroy(bulk);
    assert_int_equal(count_rows(family), 0);
    assert_int_equal(count_directories(fixture), 0);
}
