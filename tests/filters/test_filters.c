/*
 * The life of filters: built with their SST files, doubted when they are
 * damaged, rebuilt, and removed with their SST. Whatever happens to them, finds
 * return what scans return (invariants I1, I5).
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/filter_files.h"
#include "support/random_files.h"
#include "support/scoped.h"

FIXTURE_TEST(flush_and_compaction_build_filters)
{
    struct colander_family *family = kept_family(fixture, "rows");
    uint64_t random = random_seed("built");
    struct colander_filter_stats stats;

    write_files(fixture, family, 3, &random);
    assert_all_loaded(family);
    stats = filter_stats(family);
    assert_int_equal(stats.file_count, 3);
    assert_int_equal(stats.built_count, 3);
    OK(colander_family_compact(family, NULL));
    assert_all_loaded(family);
    stats = filter_stats(family);
    assert_int_equal(stats.file_count, 1);
    assert_int_equal(stats.row_count, count_rows(family));
    assert_true(stats.built_count >= 4);
    assert_int_equal(stats.rebuilt_count, 0);
    assert_int_equal(stats.damaged_count, 0);
    assert_int_equal(stats.error_count, 0);
    assert_filters_of_ssts(fixture, &family, 1);
}

/* --------------------------------------------------------------- damage --- */

enum spoiling { MISSING, FLIPPED, CUT, EMPTY, FOREIGN, NEWER, SPOILINGS };

/* A filter's footer ends with its version and eight bytes after it. */
#define VERSION_BACK 12

/* Damages the filter `number`; `other` is the filter of another SST. */
static void
spoil(const struct store_fixture *fixture, enum spoiling how, uint64_t number,
      uint64_t other)
{
    char path[FILE_NAME_SIZE];
    char other_path[FILE_NAME_SIZE];

    assert_true(find_filter(fixture, number, path));
    assert_true(find_filter(fixture, other, other_path));
    switch (how) {
    case MISSING:
        ZERO(unlink(path));
        break;
    case FLIPPED:
        flip_from_end(path, 100);
        break;
    case CUT:
        cut_file(path);
        break;
    case EMPTY:
        ZERO(truncate(path, 0));
        break;
    case FOREIGN:
        copy_file(other_path, path);
        break;
    default:
        flip_from_end(path, VERSION_BACK);
    }
}

/* Creates a store of three files of different sizes, none of which RocksDB
 * replaces: with one more it would compact all, and the oldest one alone unless
 * it is from a compaction already. */
static void
make_store(struct store_fixture *fixture, uint64_t *random)
{
    struct colander_family *family = kept_family(fixture, "rows");

    write_files(fixture, family, 1, random);
    OK(colander_family_compact(family, NULL));
    write_files(fixture, family, 1, random);
    OK(put_text(fixture, family, "one more", "user", colander_integer(1),
                NULL));
    OK(colander_family_flush(family, NULL));
    assert_all_loaded(family);
}

/* Closes the store and damages the first filter. The last one replaces it; its
 * file has another number of rows. */
static void
close_and_spoil(struct store_fixture *fixture, enum spoiling how)
{
    struct file_numbers filters;

    fixture_close(fixture);
    list_filters(fixture, &filters);
    assert_true(filters.count >= 2);
    spoil(fixture, how, filters.numbers[0], filters.numbers[filters.count - 1]);
}

FIXTURE_TEST(spoiled_filters_are_doubted_and_made_again)
{
    uint64_t random = random_seed("spoiled");

    make_store(fixture, &random);
    for (unsigned how = 0; how < SPOILINGS; how++) {
        struct find_counts counts = {.row_count = 0};
        struct colander_filter_stats stats;
        struct colander_family *family;

        close_and_spoil(fixture, (enum spoiling)how);
        fixture_open(fixture);
        family = kept_family(fixture, "rows");
        compare_some(fixture, family, &random, &counts);
        assert_all_loaded(family);
        stats = filter_stats(family);
        assert_int_equal(stats.rebuilt_count, 1);
        assert_int_equal(stats.damaged_count, how == MISSING ? 0 : 1);
        assert_int_equal(stats.error_count, stats.damaged_count);
        counts.files_unsure = 0;
        compare_some(fixture, family, &random, &counts);
        assert_int_equal(counts.files_unsure, 0);
        assert_filters_of_ssts(fixture, &family, 1);
    }
}

FIXTURE_TEST(reader_of_spoiled_filters_changes_nothing_and_finds_the_same)
{
    uint64_t random = random_seed("spoiled, read");

    make_store(fixture, &random);
    for (unsigned how = 0; how < SPOILINGS; how++) {
        struct find_counts counts = {.row_count = 0};
        struct colander_family *family;
        char *before;
        char *after;

        close_and_spoil(fixture, (enum spoiling)how);
        before = describe_files(fixture->directory);
        fixture->options.mode = COLANDER_OPEN_READ_ONLY;
        fixture_open(fixture);
        family = kept_family(fixture, "rows");
        compare_some(fixture, family, &random, &counts);
        OK(colander_family_await_filters(family, NULL));
        compare_some(fixture, family, &random, &counts);
        assert_true(counts.files_unsure > 0);
        assert_true(counts.row_count > 0);
        FAILS(colander_family_refilter(family, NULL, NULL), COLANDER_READ_ONLY);
        fixture_close(fixture);
        after = describe_files(fixture->directory);
        assert_string_equal(before, after);
        free(before);
        free(after);

        fixture->options.mode = COLANDER_OPEN_OR_CREATE;
        fixture_open(fixture);
        family = kept_family(fixture, "rows");
        assert_all_loaded(family);
    }
}

/* The file was opened before it was removed: its locator may be in memory, but
 * not its keys. */
FIXTURE_TEST(filters_lost_while_the_store_is_open_are_rebuilt)
{
    struct colander_family *family = kept_family(fixture, "rows");
    uint64_t random = random_seed("lost");
    struct find_counts counts = {.row_count = 0};

    for (unsigned round = 0; round < 8; round++) {
        struct file_numbers filters;
        char path[FILE_NAME_SIZE];

        write_files(fixture, family, 2, &random);
        assert_all_loaded(family);
        (void)compare_equal(fixture->store, family, "none", colander_null(),
                            &counts);
        list_filters(fixture, &filters);
        for (size_t i = 0; i < filters.count; i++) {
            if (find_filter(fixture, filters.numbers[i], path))
                (void)unlink(path);
        }
        compare_some(fixture, family, &random, &counts);
        assert_all_loaded(family);
    }
    assert_true(filter_stats(family).rebuilt_count > 0);
}

static void
make_empty(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    close(fd);
}

FIXTURE_TEST(orphans_are_removed_by_the_next_writer)
{
    uint64_t random = random_seed("orphans");
    struct file_numbers filters;
    struct file_numbers all;
    struct colander_family *family;
    char path[FILE_NAME_SIZE];

    make_store(fixture, &random);
    fixture_close(fixture);
    list_filters(fixture, &filters);
    snprintf(path, sizeof(path), "%s/filters/999999.filter",
             fixture->directory);
    make_empty(path);
    snprintf(path, sizeof(path), "%s/filters/%032x.tmp", fixture->directory, 7);
    make_empty(path);

    fixture->options.mode = COLANDER_OPEN_READ_ONLY;
    fixture_open(fixture);
    fixture_close(fixture);
    list_filters(fixture, &all);
    assert_int_equal(all.count, filters.count + 1);
    assert_int_equal(all.other_count, 1);

    fixture->options.mode = COLANDER_OPEN_OR_CREATE;
    fixture_open(fixture);
    family = kept_family(fixture, "rows");
    assert_all_loaded(family);
    assert_filters_of_ssts(fixture, &family, 1);
}

/* ---------------------------------------------------------- recent rows --- */

static void
assert_no_recent_rows(struct colander_family *family)
{
    for (unsigned i = 0; i < 400; i++) {
        if (filter_stats(family).recent_count == 0)
            return;
        pause_shortly();
    }
    assert_int_equal(filter_stats(family).recent_count, 0);
}

FIXTURE_TEST(recent_rows_are_removed_when_all_is_flushed)
{
    struct colander_family *families[3];
    uint64_t random = random_seed("recent");
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    char name[] = "a";
    SCOPED_BATCH batch = NULL;

    OK(colander_batch_create(fixture->store, &batch, NULL));
    for (size_t i = 0; i < 3; i++) {
        families[i] = kept_family(fixture, name);
        name[0]++;
    }
    for (unsigned i = 0; i < 3000; i++) {
        random_key(&random, KEYS, &key);
        OK(colander_batch_put(batch, families[random_below(&random, 3)],
                              colander_buffer_slice(&key),
                              random_row(fixture->builder, &random), NULL));
        if (i % 10 == 9)
            OK(colander_batch_commit(batch, NULL, NULL));
        /* without a key: it fails, and leaves nothing */
        FAILS(colander_batch_put(batch, families[0],
                                 colander_slice_text("\xff"),
                                 random_row(fixture->builder, &random), NULL),
              COLANDER_INVALID);
    }
    for (size_t i = 0; i < 3; i++)
        assert_true(filter_stats(families[i]).recent_count > 0);
    OK(colander_family_flush(families[0], NULL));
    assert_no_recent_rows(families[0]);
    assert_true(filter_stats(families[1]).recent_count > 0);
    OK(colander_family_flush(families[1], NULL));
    OK(colander_family_drop(families[2], NULL));
    assert_no_recent_rows(families[1]);
    assert_int_equal(filter_stats(families[1]).recent_size, 0);
}
