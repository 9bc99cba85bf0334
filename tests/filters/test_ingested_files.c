/*
 * SST files that another program wrote, ingested into an open store: their rows
 * are found without a filter, with one, and after the store is reopened.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/filter_files.h"
#include "support/rocksdb_inside.h"

#include "columns/bulk.h"
#include "columns/candidates.h"

#define ROWS 200

/* A row with a shared value and one of its own. Borrowed until the builder is
 * next used. */
static struct colander_slice
row_of(struct store_fixture *fixture, int64_t key, int64_t n)
{
    colander_row_builder_add(fixture->builder, "id",
                             colander_integer(10000 * n + key));
    return fixture_row(fixture, "n", colander_integer(n));
}

/* Writes an SST of the keys first, first + 2, ...: each has the value `n`. */
static void
write_sst(struct store_fixture *fixture, const char *path, int64_t first,
          int64_t n)
{
    struct colander_buffer keys[ROWS];
    struct colander_buffer rows[ROWS];
    struct colander_slice key_slices[ROWS];
    struct colander_slice row_slices[ROWS];

    memset(keys, 0, sizeof(keys));
    memset(rows, 0, sizeof(rows));
    for (int64_t i = 0; i < ROWS; i++) {
        const struct colander_value part = colander_integer(first + 2 * i);
        struct colander_slice row;

        OK(colander_key_encode(&part, 1, &keys[i], NULL));
        row = row_of(fixture, first + 2 * i, n);
        OK(colander_buffer_append(&rows[i], row.data, row.size, NULL));
        key_slices[i] = colander_buffer_slice(&keys[i]);
        row_slices[i] = colander_buffer_slice(&rows[i]);
    }
    rocksdb_write_sst(path, key_slices, row_slices, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        colander_buffer_release(&keys[i]);
        colander_buffer_release(&rows[i]);
    }
}

static void
put_numbers(struct store_fixture *fixture, struct colander_family *family,
            int64_t first, int64_t count, int64_t n)
{
    for (int64_t i = first; i < first + count; i++)
        put_at(family, i, row_of(fixture, i, n));
}

/* The row under `key` is found by its own value, as the writer of `n` wrote it,
 * and by no other value. */
static void
assert_version(struct store_fixture *fixture, struct colander_family *family,
               int64_t key, int64_t n)
{
    struct find_counts counts = {.row_count = 0};

    for (int64_t i = 1; i <= 4; i++) {
        assert_int_equal(compare_equal(fixture->store, family, "id",
                                       colander_integer(10000 * i + key),
                                       &counts),
                         i == n);
    }
}

/* Rows of 1, some overwritten by rows of 2, many of both by ingested rows of 3,
 * and some of these by rows of 4. */
static void
assert_rows(struct store_fixture *fixture, struct colander_family *family)
{
    assert_int_equal(count_equal(fixture, family, "n", 1), 140);
    assert_int_equal(count_equal(fixture, family, NULL, 2), 50);
    assert_int_equal(count_equal(fixture, family, "n", 3), ROWS - 10);
    assert_int_equal(count_equal(fixture, family, NULL, 3), ROWS - 10);
    assert_int_equal(count_equal(fixture, family, "n", 4), 20);
    assert_int_equal(count_equal(fixture, family, "n", 5), 0);
    for (int64_t i = 0; i < 2 * ROWS; i += 7)
        assert_version(fixture, family, i,
                       i < 20       ? 4
                       : i % 2 == 0 ? 3
                       : i < 300    ? 1
                                    : 2);
}

static void
ingest_between_writes(struct store_fixture *fixture,
                      struct colander_family *family, const char *path)
{
    struct engine_family *inside;

    put_numbers(fixture, family, 0, 400, 1);
    put_numbers(fixture, family, 300, 100, 2);
    OK(family_engine(family, &inside, NULL));
    write_sst(fixture, path, 0, 3);
    rocksdb_ingest(inside, path);
    put_numbers(fixture, family, 0, 20, 4);
}

FIXTURE_TEST(rows_of_an_ingested_file_are_found)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct find_counts counts = {.row_count = 0};
    struct file_numbers before;
    struct file_numbers now;
    char path[TEMPORARY_SIZE + 16];

    snprintf(path, sizeof(path), "%s/other", fixture->directory);
    ingest_between_writes(fixture, family, path);
    assert_rows(fixture, family); /* the filter may exist or not */
    assert_all_loaded(family);
    assert_int_equal(filter_stats(family).rebuilt_count, 1);
    assert_rows(fixture, family);
    OK(colander_family_flush(family, NULL));
    assert_all_loaded(family);
    list_filters(fixture, &before);

    fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
    family = kept_family(fixture, "rows");
    assert_rows(fixture, family);
    assert_int_equal(compare_equal(fixture->store, family, "n",
                                   colander_integer(5), &counts),
                     0);
    assert_int_equal(counts.files_unsure, 0);
    assert_all_loaded(family);
    list_filters(fixture, &now);
    assert_int_equal(now.count, before.count);
    assert_int_equal(filter_stats(family).rebuilt_count, 0);
    assert_int_equal(filter_stats(family).damaged_count, 0);
    assert_filters_of_ssts(fixture, &family, 1);
    OK(colander_family_compact(family, NULL));
    assert_rows(fixture, family);
}

/* Without the worker: filters are off, so none is built. */
FIXTURE_TEST(ingested_file_without_a_filter_may_match)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct find_counts counts = {.row_count = 0};
    struct colander_filter_options options = usual_filters();
    char path[TEMPORARY_SIZE + 16];

    options.is_on = false;
    OK(colander_family_set_filters(family, &options, NULL));
    snprintf(path, sizeof(path), "%s/other", fixture->directory);
    ingest_between_writes(fixture, family, path);
    OK(colander_family_flush(family, NULL));
    assert_rows(fixture, family);
    assert_int_equal(filter_stats(family).filter_count, 0);
    options.is_on = true;
    OK(colander_family_set_filters(family, &options, NULL));
    assert_all_loaded(family);
    assert_int_equal(filter_stats(family).filter_count,
                     filter_stats(family).file_count);
    assert_rows(fixture, family);
    fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
    family = kept_family(fixture, "rows");
    assert_int_equal(compare_equal(fixture->store, family, "n",
                                   colander_integer(5), &counts),
                     0);
    assert_int_equal(counts.files_unsure, 0);
    assert_rows(fixture, family);
}

static void
copy_sst(void *context, const char *path, uint64_t entry_count)
{
    char command[3 * TEMPORARY_SIZE];

    (void)entry_count;
    (void)snprintf(command, sizeof(command), "cp '%s' '%s'", path,
                   (const char *)context);
    ZERO(system(command));
}

static void
count_line(void *context, enum colander_log_level level, const char *text)
{
    (void)level;
    (void)text;
    ++*(unsigned *)context;
}

/* The copy says that it has the filter of the original. */
FIXTURE_TEST(copy_of_a_file_of_the_store_gets_its_own_filter)
{
    char path[TEMPORARY_SIZE + 16];
    struct colander_family *family;
    struct engine_family *inside;
    struct colander_bulk *bulk;
    unsigned line_count = 0;

    fixture->options.log = count_line;
    fixture->options.log_context = &line_count;
    fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
    family = kept_family(fixture, "rows");
    OK(colander_bulk_create(family, &bulk, NULL));
    for (int64_t i = 0; i < ROWS; i++) {
        const struct colander_value part = colander_integer(i);
        SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

        OK(colander_key_encode(&part, 1, &key, NULL));
        OK(colander_bulk_add(bulk, colander_buffer_slice(&key),
                             row_of(fixture, i, 1), NULL));
    }
    OK(colander_bulk_commit(bulk, NULL, NULL));
    colander_bulk_destroy(bulk);
    assert_all_loaded(family);
    OK(family_engine(family, &inside, NULL));
    snprintf(path, sizeof(path), "%s/other", fixture->directory);
    rocksdb_visit_files(inside, copy_sst, path);
    rocksdb_ingest(inside, path);
    assert_all_loaded(family);
    assert_int_equal(count_equal(fixture, family, "n", 1), ROWS);
    assert_int_equal(filter_stats(family).rebuilt_count, 1);
    assert_int_equal(line_count, 0);
    fixture_close(fixture);
}

FIXTURE_TEST(file_that_is_ingested_twice_gets_two_filters)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct engine_family *inside;
    char path[TEMPORARY_SIZE + 16];

    OK(colander_family_create(family, NULL));
    OK(family_engine(family, &inside, NULL));
    snprintf(path, sizeof(path), "%s/other", fixture->directory);
    write_sst(fixture, path, 0, 3);
    rocksdb_ingest(inside, path);
    put_numbers(fixture, family, 0, ROWS, 4);
    assert_int_equal(count_equal(fixture, family, "n", 3), ROWS / 2);
    rocksdb_ingest(inside, path);
    assert_int_equal(count_equal(fixture, family, "n", 3), ROWS);
    assert_all_loaded(family);
    assert_int_equal(count_equal(fixture, family, "n", 3), ROWS);
    assert_int_equal(count_equal(fixture, family, "n", 4), ROWS / 2);
    assert_int_equal(filter_stats(family).rebuilt_count, 2);
    assert_filters_of_ssts(fixture, &family, 1);
}
