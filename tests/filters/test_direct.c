/*
 * Direct reads: they are taken where they can be, and each doubt leaves the row
 * to the engine. What is found is the same in any case.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/damage.h"
#include "support/direct_rows.h"
#include "support/filter_files.h"
#include "support/plain_finds.h"
#include "support/scoped.h"

#include "columns/bulk.h"

/* Fills `path` with the only file in a directory of the store that ends so. */
static void
find_file(const struct store_fixture *fixture, const char *directory,
          const char *suffix, char path[FILE_NAME_SIZE])
{
    char command[2 * FILE_NAME_SIZE];
    FILE *found;

    (void)snprintf(command, sizeof(command), "ls %s/%s/*%s", fixture->directory,
                   directory, suffix);
    found = popen(command, "r");
    assert_non_null(fgets(path, FILE_NAME_SIZE, found));
    assert_null(fgets(command, sizeof(command), found));
    assert_int_equal(pclose(found), 0);
    path[strcspn(path, "\n")] = '\0';
}

/* Compares a find with the scan, in both directions. */
static void
compare_value(struct colander_family *family, const char *path,
              struct colander_value value,
              const struct colander_snapshot *snapshot)
{
    struct find_counts counts;

    memset(&counts, 0, sizeof(counts));
    for (int i = 0; i < 2; i++) {
        struct colander_query find = usual_query();
        struct colander_query scan;
        struct colander_predicate *where =
            colander_where(path, COLANDER_EQ, value, NULL);
        struct colander_predicate *hidden = colander_not(
            colander_not(colander_where(path, COLANDER_EQ, value, NULL), NULL),
            NULL);

        find.where = where;
        find.snapshot = snapshot;
        find.is_reverse = i != 0;
        scan = find;
        scan.where = hidden;
        (void)compare_find(family, &find, &scan, &counts);
        colander_predicate_destroy(where);
        colander_predicate_destroy(hidden);
    }
}

#define LARGE_ROWS 1000
#define NEAR_KINDS                                                             \
    5 /* of the first rows of each RUN_EVERY; others have others */
#define NEAR_ROWS 16
#define RUN_EVERY 64

/* A row of about a KiB, so that a block has some fifteen, or of three. */
static void
put_large(struct store_fixture *fixture, struct colander_family *family,
          int number, bool is_larger)
{
    static char filling[3000];
    const size_t size = is_larger ? sizeof(filling) - 1 : 999;
    char key[16];

    memset(filling, 'a' + number % 7, size);
    filling[size] = 0;
    key_text(key, number);
    colander_row_builder_add(fixture->builder, "filling",
                             colander_text(filling));
    colander_row_builder_add(fixture->builder, "kind",
                             colander_integer(number % RUN_EVERY < NEAR_ROWS
                                                  ? number % NEAR_KINDS
                                                  : number));
    OK(put_text(fixture, family, key, "number", colander_text(key), NULL));
}

FIXTURE_TEST(rows_of_a_file_are_read_directly)
{
    struct colander_family *family = fill(fixture);

    assert_int_equal(direct_rows(family, NULL, "first", GROUP), GROUP);
    fixture_reopen(fixture, COLANDER_OPEN_EXISTING);
    family = kept_family(fixture, "rows");
    assert_int_equal(direct_rows(family, NULL, "first", GROUP), GROUP);
    fixture_reopen(fixture, COLANDER_OPEN_READ_ONLY);
    family = kept_family(fixture, "rows");
    assert_int_equal(direct_rows(family, NULL, "first", GROUP), GROUP);
}

/* Rows of one anchor for 16 rows are read in runs. */
FIXTURE_TEST(rows_of_segments_are_read_directly)
{
    struct colander_filter_options options;
    struct colander_family *family = kept_family(fixture, "rows");

    colander_filter_options_init(&options);
    options.rows_per_segment = 16;
    OK(colander_family_create(family, NULL));
    OK(colander_family_set_filters(family, &options, NULL));
    family = fill(fixture);
    assert_int_equal(direct_rows(family, NULL, "first", GROUP), GROUP);
}

/* --------------------------------------------------------------- doubt --- */

FIXTURE_TEST(a_row_written_since_is_left_to_the_engine)
{
    struct colander_family *family = fill(fixture);

    put_row(fixture, family, 7, "second");
    assert_int_equal(direct_rows(family, NULL, "first", GROUP - 1), GROUP - 1);
    (void)direct_rows(family, NULL, "second", 1);
    /* the same when it is in a file: a Bloom filter may err */
    OK(colander_family_flush(family, NULL));
    assert_in_range(direct_rows(family, NULL, "first", GROUP - 1), GROUP - 5,
                    GROUP - 1);
    assert_int_equal(direct_rows(family, NULL, "second", 1), 1);
}

FIXTURE_TEST(a_deleted_row_is_left_to_the_engine)
{
    struct colander_family *family = fill(fixture);
    SCOPED_BUFFER key = text_key("00000007");

    OK(colander_family_delete(family, colander_buffer_slice(&key), NULL, NULL));
    assert_int_equal(direct_rows(family, NULL, "first", GROUP - 1), GROUP - 1);
    OK(colander_family_flush(family, NULL));
    assert_in_range(direct_rows(family, NULL, "first", GROUP - 1), GROUP - 5,
                    GROUP - 1);
}

/* The file has both versions of each row, and blocks without numbers. */
FIXTURE_TEST(blocks_with_several_versions_are_left_to_the_engine)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_snapshot *snapshot;

    for (int i = 0; i < ROWS; i++)
        put_row(fixture, family, i, "first");
    OK(colander_store_snapshot(fixture->store, &snapshot, NULL));
    for (int i = 0; i < ROWS; i++)
        put_row(fixture, family, i, "second");
    OK(colander_family_flush(family, NULL));
    assert_all_loaded(family);
    assert_int_equal(direct_rows(family, NULL, "second", GROUP), 0);
    assert_int_equal(direct_rows(family, snapshot, "first", GROUP), 0);
    assert_int_equal(direct_rows(family, NULL, "first", 0), 0);
    colander_snapshot_release(snapshot);
}

FIXTURE_TEST(a_snapshot_sees_what_was_there)
{
    struct colander_family *family = fill(fixture);
    struct colander_snapshot *snapshot;

    OK(colander_store_snapshot(fixture->store, &snapshot, NULL));
    for (int i = 0; i < ROWS; i++)
        put_row(fixture, family, i, "second");
    OK(colander_family_flush(family, NULL));
    assert_all_loaded(family);
    assert_int_equal(direct_rows(family, NULL, "second", GROUP), GROUP);
    (void)direct_rows(family, snapshot, "first", GROUP);
    (void)direct_rows(family, snapshot, "second", 0);
    colander_snapshot_release(snapshot);
}

/* A file that joined has the sequence 0 in it, which any snapshot would see. */
FIXTURE_TEST(rows_that_joined_later_are_not_seen_before)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_snapshot *snapshot;
    struct colander_bulk *bulk;

    for (int i = 0; i < 200; i++)
        put_row(fixture, family, i, "before");
    OK(colander_family_flush(family, NULL));
    for (int i = 0; i < 200; i++)
        delete_row(family, i);
    OK(colander_family_flush(family, NULL));
    (void)direct_rows(family, NULL, "before", 0); /* lists the levels */
    OK(colander_store_snapshot(fixture->store, &snapshot, NULL));
    OK(colander_bulk_create(family, &bulk, NULL));
    for (int i = 0; i < ROWS; i++) {
        SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
        char text[16];
        char group[24];
        struct colander_slice row;

        key_text(text, i);
        (void)snprintf(group, sizeof(group), "group %d", i % (ROWS / GROUP));
        OK(colander_key_text(text, &key, NULL));
        colander_row_builder_add(fixture->builder, "more",
                                 colander_text("first"));
        row = fixture_row(fixture, "group", colander_text(group));
        OK(colander_bulk_add(bulk, colander_buffer_slice(&key), row, NULL));
    }
    OK(colander_bulk_commit(bulk, NULL, NULL));
    colander_bulk_destroy(bulk);
    assert_all_loaded(family);
    assert_in_range(direct_rows(family, NULL, "first", GROUP), GROUP - 5,
                    GROUP);
    assert_int_equal(direct_rows(family, snapshot, "first", 0), 0);
    colander_snapshot_release(snapshot);
}

/* Opens the only filter of the store. */
static struct filter_file *
open_filter(const struct store_fixture *fixture)
{
    struct filter_file *filter;
    char path[FILE_NAME_SIZE];

    find_file(fixture, "filters", ".filter", path);
    OK(filter_file_open(path, NULL, &filter, NULL));
    return filter;
}

/* The file has deletes, and several versions of rows. */
FIXTURE_TEST(a_rebuilt_filter_knows_the_blocks)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_snapshot *snapshot;
    struct filter_file *before;
    struct filter_file *after;
    uint64_t direct_count;

    for (int i = 0; i < ROWS; i++)
        put_row(fixture, family, i, "first");
    OK(colander_store_snapshot(fixture->store, &snapshot, NULL));
    for (int i = 0; i < 300; i++) {
        if (i % 2 == 0)
            put_row(fixture, family, i, "second");
        else if (i % 10 == 1)
            delete_row(family, i);
    }
    for (int i = 0; i < ROWS; i++) /* blocks without rows */
        delete_row(family, ROWS + i);
    OK(colander_family_flush(family, NULL));
    assert_all_loaded(family);
    direct_count = direct_rows(family, NULL, "first", GROUP);
    assert_true(direct_count > 0);
    before = open_filter(fixture);
    OK(colander_family_refilter(family, NULL, NULL));
    assert_all_loaded(family);
    assert_int_equal(direct_rows(family, NULL, "first", GROUP), direct_count);
    (void)direct_rows(family, snapshot, "first", GROUP);
    after = open_filter(fixture);
    assert_int_equal(after->span_count, before->span_count);
    assert_memory_equal(after->spans, before->spans,
                        before->span_count * sizeof(*before->spans));
    assert_int_equal(after->head.entry_count, before->head.entry_count);
    filter_file_unref(before);
    filter_file_unref(after);
    colander_snapshot_release(snapshot);
}

FIXTURE_TEST(without_memory_for_places_rows_are_left_to_the_engine)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct family_filters *found;

    OK(colander_family_create(family, NULL));
    filters_of(family, &found)->commons->span_bytes_max =
        2 * sizeof(struct filter_span);
    family = fill(fixture);
    assert_int_equal(direct_rows(family, NULL, "first", GROUP), 0);
    ZERO(atomic_load(&filters_of(family, &found)->commons->span_bytes));
    filters_of(family, &found)->commons->span_bytes_max = 1 << 20;
    OK(colander_family_refilter(family, NULL, NULL));
    assert_int_equal(direct_rows(family, NULL, "first", GROUP), GROUP);
    assert_true(atomic_load(&filters_of(family, &found)->commons->span_bytes) >
                0);
}

/* Without its Bloom filter, a file may have any key. */
FIXTURE_TEST(without_memory_for_bloom_filters_rows_are_left_to_the_engine)
{
    struct colander_family *family = fill(fixture);
    struct family_filters *found;

    filters_of(family, &found)->commons->levels_memory.max = 0;
    put_row(fixture, family, 0, "second");
    put_row(fixture, family, ROWS - 1, "second");
    OK(colander_family_flush(family, NULL));
    assert_all_loaded(family);
    assert_int_equal(direct_rows(family, NULL, "first", GROUP), 0);
    filters_of(family, &found)->commons->levels_memory.max = 1 << 20;
    assert_in_range(direct_rows(family, NULL, "first", GROUP), GROUP - 5,
                    GROUP);
}

/* A compaction's file is seen before it is in the levels. */
FIXTURE_TEST(a_file_that_is_not_in_the_levels_is_left_to_the_engine)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct family_filters *found;

    for (int i = ROWS; i < 2 * ROWS; i++)
        put_row(fixture, family, i, "first");
    OK(colander_family_flush(family, NULL));
    assert_int_equal(direct_rows(family, NULL, "first", GROUP), GROUP);
    (void)filters_of(family, &found);
    found->levels_change = UINT64_MAX; /* as listed last, however it changes */
    (void)fill(fixture);
    assert_int_equal(direct_rows(family, NULL, "first", 2 * GROUP), GROUP);
    found->levels_change = 0;
    assert_int_equal(direct_rows(family, NULL, "first", 2 * GROUP), 2 * GROUP);
}

/* While filters are off, deletes are not among the recent rows. */
FIXTURE_TEST(rows_written_without_filters_are_in_doubt)
{
    struct colander_family *family = fill(fixture);
    struct colander_filter_options options;

    colander_filter_options_init(&options);
    options.is_on = false;
    OK(colander_family_set_filters(family, &options, NULL));
    delete_row(family, 7);
    put_row(fixture, family, 107, "second");
    assert_int_equal(direct_rows(family, NULL, "first", GROUP - 2), 0);
    options.is_on = true;
    OK(colander_family_set_filters(family, &options, NULL));
    OK(colander_family_compact(family, NULL));
    assert_all_loaded(family);
    assert_true(direct_rows(family, NULL, "first", GROUP - 2) >= GROUP - 2);
}

/* Decoded, the keys of a block would take twenty times as much memory. */
FIXTURE_TEST(blocks_of_long_similar_keys_are_left_to_the_engine)
{
    enum { KEY_SIZE = 900 };
    struct colander_family *family = kept_family(fixture, "rows");
    char key[KEY_SIZE + 16];

    memset(key, 'k', KEY_SIZE);
    for (int i = 0; i < ROWS; i++) {
        char group[24];

        (void)snprintf(key + KEY_SIZE, 16, "%08d", i);
        (void)snprintf(group, sizeof(group), "group %d", i % (ROWS / GROUP));
        colander_row_builder_add(fixture->builder, "more",
                                 colander_text("first"));
        OK(put_text(fixture, family, key, "group", colander_text(group), NULL));
    }
    OK(colander_family_flush(family, NULL));
    assert_all_loaded(family);
    assert_int_equal(direct_rows(family, NULL, "first", GROUP), 0);
}

/* --------------------------------------------------------------- memory --- */

/* Blocks of files that are gone make room in the cache of the engine. */
FIXTURE_TEST(memory_of_deleted_files_is_given_back)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct family_filters *found;
    struct filters *filters;

    for (int i = 0; i < 5 * LARGE_ROWS; i++)
        put_large(fixture, family, i, false);
    OK(colander_family_flush(family, NULL));
    assert_all_loaded(family);
    filters = filters_of(family, &found);
    for (int i = NEAR_ROWS; i < 5 * LARGE_ROWS; i += 10) { /* in most blocks */
        uint64_t count;

        if (i % RUN_EVERY < NEAR_ROWS)
            continue; /* its kind is that of others */
        OK(find_count(family, "kind", i, &count));
        assert_int_equal(count, 1);
    }
    assert_true(block_cache_bytes_used(filters->commons->rows) > 3 << 20);
    assert_true(atomic_load(&filters->commons->lent) >= 3);
    put_large(fixture, family, 0, false);
    OK(colander_family_flush(family, NULL));
    OK(colander_family_compact(family, NULL));
    for (int i = 0; i < 1000 && atomic_load(&filters->commons->lent) > 0; i++) {
        assert_all_loaded(family); /* files are replaced a moment later */
        pause_shortly();
    }
    ZERO(atomic_load(&filters->commons->lent));
    assert_true(block_cache_bytes_used(filters->commons->rows) < 1 << 20);
}

/* A store that is open for reading does not see the deletes in its logs. */
FIXTURE_TEST(rows_in_logs_are_in_doubt_for_a_reader)
{
    struct colander_family *family = fill(fixture);
    SCOPED_BUFFER key = text_key("00000007");
    char copy[TEMPORARY_SIZE + 8];
    struct colander_store *store;
    struct colander_family *other;
    char command[3 * TEMPORARY_SIZE];

    put_row(fixture, family, 107, "second");
    OK(colander_family_delete(family, colander_buffer_slice(&key), NULL, NULL));
    (void)snprintf(copy, sizeof(copy), "%s.copy", fixture->directory);
    (void)snprintf(command, sizeof(command), "cp -r '%s' '%s'",
                   fixture->directory, copy);
    ZERO(system(command)); /* as a kill leaves it */
    fixture->options.mode = COLANDER_OPEN_READ_ONLY;
    OK(colander_store_open(copy, &fixture->options, &store, NULL));
    OK(colander_family_open(store, "rows", &other, NULL));
    assert_int_equal(direct_rows(other, NULL, "first", GROUP - 2), 0);
    (void)direct_rows(other, NULL, "second", 1);
    colander_family_close(other);
    OK(colander_store_close(store, NULL));
    temporary_remove(copy);
    fixture->options.mode = COLANDER_OPEN_EXISTING;
}

/* Compares finds of the rows near `changed`, alone and several together. */
static void
compare_near(struct colander_family *family, int changed,
             const struct colander_snapshot *snapshot)
{
    char text[16];

    for (int i = -1; i <= 1; i++) {
        key_text(text, changed + i);
        compare_value(family, "number", colander_text(text), snapshot);
    }
    for (int i = 0; i < NEAR_KINDS; i++)
        compare_value(family, "kind", colander_integer(i), snapshot);
}

/* Versions of one key may be in two blocks, whichever row it is: the snapshot
 * and the present must not see each other's rows, nor miss any, nor see one
 * twice. */
FIXTURE_TEST(versions_on_both_sides_of_a_block_are_told_apart)
{
    struct colander_filter_options options;

    colander_filter_options_init(&options);
    for (int changed = 0; changed < 40; changed++) {
        const bool is_larger = changed % 4 == 0;
        struct colander_family *family;
        struct colander_snapshot *snapshot;
        char name[16];

        (void)snprintf(name, sizeof(name), "rows %d", changed);
        family = fixture_family(fixture, name);
        OK(colander_family_create(family, NULL));
        options.rows_per_segment = changed % 2 == 0 ? 16 : 1;
        OK(colander_family_set_filters(family, &options, NULL));
        for (int i = 0; i < LARGE_ROWS; i++)
            put_large(fixture, family, i, is_larger);
        OK(colander_store_snapshot(fixture->store, &snapshot, NULL));
        if (changed % 3 == 0)
            delete_row(family, changed);
        else
            put_large(fixture, family, changed, is_larger);
        delete_row(family, (changed + 15) % 40);
        OK(colander_family_flush(family, NULL));
        assert_all_loaded(family);
        compare_near(family, changed, snapshot);
        compare_near(family, changed, NULL);
        compare_near(family, (changed + 15) % 40, NULL);
        colander_snapshot_release(snapshot);
        colander_family_close(family);
    }
}

/* A find that reads backwards leaves direct reads in the middle of the last
 * segment, which is not full: no key follows it. */
FIXTURE_TEST(the_last_segment_is_read_backwards_from_any_row)
{
    enum { FIRST = 3 * RUN_EVERY, END = FIRST + 13 };
    struct colander_filter_options options;

    colander_filter_options_init(&options);
    options.rows_per_segment = 16;
    for (int changed = FIRST; changed < END; changed++) {
        struct colander_family *family;
        struct colander_snapshot *snapshot;
        char name[16];

        (void)snprintf(name, sizeof(name), "rows %d", changed);
        family = fixture_family(fixture, name);
        OK(colander_family_create(family, NULL));
        OK(colander_family_set_filters(family, &options, NULL));
        for (int i = 0; i < END; i++)
            put_large(fixture, family, i, true);
        OK(colander_store_snapshot(fixture->store, &snapshot, NULL));
        put_large(fixture, family, changed, true);
        OK(colander_family_flush(family, NULL));
        assert_all_loaded(family);
        for (int i = 0; i < NEAR_KINDS; i++)
            compare_value(family, "kind", colander_integer(i), NULL);
        assert_int_equal(filter_stats(family).damaged_count, 0);
        colander_snapshot_release(snapshot);
        colander_family_close(family);
    }
}

/* A compaction's files are in the levels as soon as it has ended. */
FIXTURE_TEST(rows_are_read_directly_after_a_compaction)
{
    struct colander_family *family = fill(fixture);

    (void)direct_rows(family, NULL, "first", GROUP);
    put_row(fixture, family, 7, "second");
    OK(colander_family_flush(family, NULL));
    (void)direct_rows(family, NULL, "second", 1);
    OK(colander_family_compact(family, NULL));
    assert_all_loaded(family);
    assert_int_equal(direct_rows(family, NULL, "first", GROUP - 1), GROUP);
    assert_int_equal(direct_rows(family, NULL, "second", 1), 1);
}

/* -------------------------------------------------------------- damage --- */

/* Exchanges two blocks of the same size and with as many rows. Their checksums
 * do not know their places. */
static void
exchange_blocks(const struct store_fixture *fixture)
{
    static uint8_t bytes[2][65536];
    char path[FILE_NAME_SIZE];
    const struct filter_span *spans;
    struct filter_file *filter;
    size_t size;
    int fd;

    find_file(fixture, "filters", ".filter", path);
    OK(filter_file_open(path, NULL, &filter, NULL));
    spans = filter->spans;
    assert_true(filter->span_count > 3);
    size = spans[2].offset - spans[1].offset;
    assert_int_equal(spans[3].offset - spans[2].offset, size);
    assert_int_equal(spans[3].first_row - spans[2].first_row,
                     spans[2].first_row - spans[1].first_row);
    assert_in_range(size, 1, sizeof(bytes[0]));
    find_file(fixture, "rocksdb", ".sst", path);
    fd = open(path, O_RDWR);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pread(fd, bytes[i], size, (off_t)spans[1 + i].offset),
                         size);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pwrite(fd, bytes[i], size, (off_t)spans[2 - i].offset),
                         size);
    ZERO(close(fd));
    filter_file_unref(filter);
}

FIXTURE_TEST(a_block_that_is_not_where_it_was_written_is_an_error)
{
    struct colander_family *family;
    unsigned failures = 0;

    fixture->options.compression = COLANDER_COMPRESSION_NONE;
    fixture_remake(fixture);
    family = kept_family(fixture, "rows");
    for (int i = 0; i < ROWS; i++) {
        char key[16];

        key_text(key, i);
        OK(put_text(fixture, family, key, "value", colander_text(key), NULL));
    }
    OK(colander_family_flush(family, NULL));
    fixture_close(fixture);
    exchange_blocks(fixture);
    fixture_open(fixture);
    family = kept_family(fixture, "rows");
    for (int i = 0; i < ROWS; i++) {
        struct colander_query query = usual_query();
        struct colander_predicate *where;
        char key[16];
        uint64_t count;

        key_text(key, i);
        where = colander_where("value", COLANDER_EQ, colander_text(key), NULL);
        query.where = where;
        if (colander_family_count(family, &query, &count, why()) !=
            COLANDER_OK) {
            assert_non_null(strstr(error_text(), ".sst' is damaged"));
            failures++;
        } else {
            assert_int_equal(count, 1);
        }
        colander_predicate_destroy(where);
    }
    assert_in_range(failures, 100, ROWS - 100);
}
