/*
 * Finds while RocksDB creates, moves and drops files in all of its ways: every
 * compaction style, several threads in one compaction, files that only change
 * their level. Finds return what scans return.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/filter_files.h"
#include "support/rocksdb_inside.h"

#include "columns/candidates.h"
#include "support/scoped.h"

#define KEYS 900
#define LAST_LEVEL 6
#define FILLER 1000

struct writing {
    struct store_fixture *fixture;
    struct colander_family *family;
    struct engine_family *inside;
    uint64_t random;
    struct find_counts counts;
};

static void
open_family(struct writing *writing)
{
    writing->family = kept_family(writing->fixture, "rows");
    OK(colander_family_create(writing->family, NULL));
    OK(family_engine(writing->family, &writing->inside, NULL));
}

/* Opens a new store with the options in the fixture. */
static void
begin(struct writing *writing, struct store_fixture *fixture, const char *name)
{
    memset(writing, 0, sizeof(*writing));
    writing->fixture = fixture;
    writing->random = random_seed(name);
    writing->fixture->options.compression = COLANDER_COMPRESSION_NONE;
    fixture_remake(writing->fixture);
    open_family(writing);
}

static void
reopen(struct writing *writing)
{
    fixture_reopen(writing->fixture, COLANDER_OPEN_OR_CREATE);
    open_family(writing);
}

/* A row of FILLER bytes and a few more. */
static struct colander_slice
large_row(struct writing *writing)
{
    struct colander_row_builder *builder = writing->fixture->builder;
    char filler[FILLER + 1];

    memset(filler, 'a' + (int)random_below(&writing->random, 26), FILLER);
    filler[FILLER] = '\0';
    colander_row_builder_add(builder, "filler", colander_text(filler));
    return random_row(builder, &writing->random);
}

/* Puts, patches and deletes. */
static void
write_some(struct writing *writing, unsigned count)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    while (count-- > 0) {
        uint64_t choice = random_below(&writing->random, 10);
        struct colander_slice at;

        random_key(&writing->random, KEYS, &key);
        at = colander_buffer_slice(&key);
        if (choice < 2)
            OK(colander_family_delete(writing->family, at, NULL, NULL));
        else if (choice < 5)
            OK(colander_family_patch(writing->family, at, large_row(writing),
                                     NULL, NULL));
        else
            OK(colander_family_put(writing->family, at, large_row(writing),
                                   NULL, NULL));
    }
}

static void
compare_some(struct writing *writing, uint64_t count)
{
    compare_random_finds(writing->fixture->store, writing->family, KEYS, count,
                         &writing->random, &writing->counts);
}

/* Every SST has the filter that was built with it. */
static void
end(struct writing *writing)
{
    struct colander_filter_stats stats;

    assert_all_loaded(writing->family);
    assert_filters_of_ssts(writing->fixture, &writing->family, 1);
    stats = filter_stats(writing->family);
    assert_int_equal(stats.rebuilt_count, 0);
    assert_int_equal(stats.damaged_count, 0);
    assert_int_equal(stats.error_count, 0);
    assert_true(writing->counts.row_count > 0);
}

/* --------------------------------------------------------------- styles --- */

/* Waits first if compactions remove files with rows that finds look for. */
static void
write_through(struct writing *writing, unsigned rounds, bool settles)
{
    for (unsigned i = 0; i < rounds; i++) {
        write_some(writing, 150);
        OK(colander_family_flush(writing->family, NULL));
        if (i % 8 == 7)
            OK(colander_family_compact(writing->family, NULL));
        if (i % 10 == 9)
            reopen(writing);
        if (i % 3 != 0)
            write_some(writing, 10);
        if (settles)
            rocksdb_settle(writing->inside);
        compare_some(writing, 20);
    }
    OK(colander_family_flush(writing->family, NULL));
}

FIXTURE_TEST(finds_equal_scans_in_a_leveled_store)
{
    struct writing writing;

    fixture->options.compaction = COLANDER_COMPACTION_LEVELED;
    fixture->options.sst_size = 64 << 10;
    begin(&writing, fixture, "leveled");
    write_through(&writing, 30, false);
    end(&writing);
}

FIXTURE_TEST(finds_equal_scans_in_a_universal_store)
{
    struct writing writing;

    fixture->options.compaction = COLANDER_COMPACTION_UNIVERSAL;
    begin(&writing, fixture, "universal");
    write_through(&writing, 30, false);
    end(&writing);
}

FIXTURE_TEST(finds_equal_scans_in_a_fifo_store_that_dropped_files)
{
    struct writing writing;

    fixture->options.compaction = COLANDER_COMPACTION_FIFO;
    fixture->options.fifo_size = 1 << 20;
    begin(&writing, fixture, "fifo");
    write_through(&writing, 40, true);
    rocksdb_settle(writing.inside);
    assert_true(filter_stats(writing.family).file_count < 20);
    end(&writing);
}

/* ---------------------------------------------- one compaction, threads --- */

/* Whether the engine's log has `text` followed by a number above 1. */
static bool
log_has_many(const struct store_fixture *fixture, const char *text)
{
    char path[TEMPORARY_SIZE + 16];
    bool is_found = false;
    char *line = NULL;
    size_t size = 0;
    FILE *log;

    snprintf(path, sizeof(path), "%s/rocksdb/LOG", fixture->directory);
    log = fopen(path, "r");
    assert_non_null(log);
    while (getline(&line, &size, log) > 0) {
        const char *found = strstr(line, text);

        is_found |= found != NULL && atoi(found + strlen(text)) > 1;
    }
    free(line);
    fclose(log);
    return is_found;
}

FIXTURE_TEST(finds_equal_scans_when_threads_share_a_compaction)
{
    struct writing writing;

    fixture->options.sst_size = 64 << 10;
    fixture->options.thread_count = 4;
    begin(&writing, fixture, "sub-compactions");
    rocksdb_set_option(writing.inside, "max_subcompactions", "4");
    for (unsigned i = 0; i < 6; i++) {
        write_some(&writing, 1500);
        OK(colander_family_compact(writing.family, NULL));
        compare_some(&writing, 60);
    }
    assert_true(log_has_many(fixture, "\"num_subcompactions\": "));
    assert_true(filter_stats(writing.family).file_count > 4);
    end(&writing);
}

/* ---------------------------------------------------------------- moves --- */

/* Puts rows whose keys are in no other file, so the file need not be merged. */
static void
write_apart(struct writing *writing, int64_t first)
{
    for (int64_t i = first; i < first + 100; i++)
        put_at(writing->family, i,
               random_row(writing->fixture->builder, &writing->random));
    OK(colander_family_flush(writing->family, NULL));
}

static void
assert_same_filters(struct writing *writing, const struct file_numbers *before)
{
    struct file_numbers now;

    assert_all_loaded(writing->family);
    list_filters(writing->fixture, &now);
    assert_int_equal(now.count, before->count);
    assert_memory_equal(now.numbers, before->numbers,
                        now.count * sizeof(now.numbers[0]));
    compare_some(writing, 100);
}

FIXTURE_TEST(file_that_changes_its_level_keeps_its_filter)
{
    struct colander_snapshot *first; /* prevents files from being rewritten */
    struct file_numbers before;
    struct writing writing;

    begin(&writing, fixture, "moves");
    OK(colander_store_snapshot(writing.fixture->store, &first, NULL));
    for (int64_t i = 0; i < 3; i++) {
        write_apart(&writing, i * 300);
        list_filters(writing.fixture, &before);
        assert_int_equal(rocksdb_files_at(writing.inside, 0), 1);
        rocksdb_move_down(writing.inside);
        assert_int_equal(rocksdb_files_at(writing.inside, LAST_LEVEL), i + 1);
        assert_same_filters(&writing, &before);
    }
    assert_int_equal(before.count, 3);
    rocksdb_move_to(writing.inside, LAST_LEVEL - 2);
    assert_int_equal(rocksdb_files_at(writing.inside, LAST_LEVEL - 2), 3);
    assert_same_filters(&writing, &before);
    assert_int_equal(filter_stats(writing.family).built_count, 3);
    colander_snapshot_release(first);
    reopen(&writing);
    compare_some(&writing, 100);
    end(&writing);
}

static void
write_numbers(struct writing *writing, int64_t first, int64_t count)
{
    struct store_fixture *fixture = writing->fixture;

    for (int64_t i = first; i < first + count; i++) {
        char text[16];

        (void)snprintf(text, sizeof(text), "%08d", (int)i);
        OK(put_text(fixture, writing->family, text, "n", colander_integer(i),
                    NULL));
    }
    OK(colander_family_flush(writing->family, NULL));
}

/* Sixteen files must be folded, ten less often, four not at all. */
FIXTURE_TEST(files_that_stay_are_unfolded_when_others_are_removed)
{
    enum { ROWS = 4000, FILES = 16 };
    static const struct {
        int64_t kept;
        const char *key; /* of the first one removed */
    } cuts[] = {{10, "00040000"}, {4, "00016000"}};
    struct colander_filter_options options = usual_filters();
    struct writing writing;
    int64_t kept = FILES;

    begin(&writing, fixture, "unfolding");
    rocksdb_stop_compactions(writing.inside);
    options.memory_budget = 1 << 16;
    OK(colander_family_set_filters(writing.family, &options, NULL));
    for (int64_t i = 0; i < FILES; i++) {
        write_numbers(&writing, i * ROWS, ROWS);
        rocksdb_move_down(writing.inside);
        assert_all_loaded(writing.family);
    }
    assert_int_equal(rocksdb_files_at(writing.inside, LAST_LEVEL), FILES);
    assert_true(filter_stats(writing.family).fold_count > FILES / 2);
    for (size_t i = 0; i < 2; i++) {
        struct colander_key_range range = {0};
        SCOPED_BUFFER key = text_key(cuts[i].key);
        uint64_t deleted;

        range.from = colander_buffer_slice(&key);
        OK(colander_family_delete_range(writing.family, &range, NULL, &deleted,
                                        NULL));
        assert_int_equal(deleted, (kept - cuts[i].kept) * ROWS);
        kept = cuts[i].kept;
        OK(colander_family_flush(writing.family, NULL));
        rocksdb_move_down(writing.inside);
        assert_all_loaded(writing.family);
        assert_int_equal(rocksdb_files_at(writing.inside, LAST_LEVEL), kept);
        assert_int_equal(filter_stats(writing.family).part_count, kept);
    }
    assert_int_equal(filter_stats(writing.family).fold_count, 0);
    for (int64_t i = 0; i < FILES * ROWS; i += 499)
        assert_int_equal(count_equal(writing.fixture, writing.family, "n", i),
                         i < kept * ROWS);
}
