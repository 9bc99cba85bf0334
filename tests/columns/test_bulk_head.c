/*
 * Bulks whose rows arrive in key order, at least at first: files are written
 * while rows are added, and are kept unless later rows belong between their
 * keys.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bulks.h"
#include "support/cases.h"
#include "support/file_limit.h"
#include "support/scoped.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#define FILES_MAX 256

/* The inodes of the SST files in a directory. */
struct files {
    ino_t inodes[FILES_MAX];
    size_t count;
};

static bool
has_ending(const char *name, const char *ending)
{
    const size_t size = strlen(name);

    return size > strlen(ending) &&
           strcmp(name + size - strlen(ending), ending) == 0;
}

static void
list_files(const char *directory, struct files *files)
{
    DIR *listing = opendir(directory);
    struct dirent *entry;

    assert_non_null(listing);
    files->count = 0;
    while ((entry = readdir(listing)) != NULL) {
        struct stat status;

        if (!has_ending(entry->d_name, ".sst") ||
            fstatat(dirfd(listing), entry->d_name, &status, 0) != 0)
            continue;
        assert_true(files->count < FILES_MAX);
        files->inodes[files->count++] = status.st_ino;
    }
    closedir(listing);
}

/* Lists the files in the bulk's directory. */
static void
list_bulk_files(const struct store_fixture *fixture, struct files *files)
{
    DIR *listing = opendir(fixture->directory);
    struct dirent *entry;

    assert_non_null(listing);
    files->count = 0;
    while ((entry = readdir(listing)) != NULL) {
        char path[TEMPORARY_SIZE + 300];

        if (strncmp(entry->d_name, "bulk-", 5) != 0)
            continue;
        (void)snprintf(path, sizeof(path), "%s/%s", fixture->directory,
                       entry->d_name);
        list_files(path, files);
    }
    closedir(listing);
}

/* Counts the files of the bulk that were linked into the database. */
static size_t
count_kept(const struct store_fixture *fixture, const struct files *before)
{
    char path[TEMPORARY_SIZE + 16];
    struct files now;
    size_t kept = 0;

    (void)snprintf(path, sizeof(path), "%s/rocksdb", fixture->directory);
    list_files(path, &now);
    for (size_t i = 0; i < before->count; i++) {
        for (size_t k = 0; k < now.count; k++)
            kept += before->inodes[i] == now.inodes[k];
    }
    return kept;
}

/* Waits until there are `count` files, the last of which may be unfinished. */
static void
wait_for_files(const struct store_fixture *fixture, size_t count,
               struct files *files)
{
    const struct timespec pause = {0, 1000000};

    for (unsigned i = 0; i < 20000; i++) {
        list_bulk_files(fixture, files);
        if (files->count >= count)
            return;
        nanosleep(&pause, NULL);
    }
    fail_msg("%zu files", files->count);
}

/* A bulk of even numbers in order, and what it must result in. */
struct ordered {
    struct colander_family *family;
    struct model *model;
    struct colander_bulk *bulk;
    struct files files; /* after all rows were added */
};

/* A row of 300 incompressible bytes: about fifty fill a file. */
static struct colander_slice
noise_row(struct store_fixture *fixture, uint64_t number)
{
    uint8_t noise[300];

    for (size_t i = 0; i < sizeof(noise); i++)
        noise[i] = (uint8_t)(random_next(&number) >> 24);
    return fixture_row(
        fixture, "n", colander_binary(colander_slice_of(noise, sizeof(noise))));
}

static void
begin_ordered(struct store_fixture *fixture, const char *name,
              struct ordered *ordered)
{
    struct bulk_limits limits = small_limits();

    limits.sorter.run_size = 10000;
    ordered->family = fixture_family(fixture, name);
    ordered->model = calloc(1, sizeof(*ordered->model));
    ordered->bulk = begin(ordered->family, &limits);
    for (uint64_t i = 0; i < KEYS_MAX; i += 2)
        add_row(ordered->bulk, i, noise_row(fixture, i * 31), ordered->model);
    wait_for_files(fixture, 10, &ordered->files);
}

static void
add_late(struct store_fixture *fixture, struct ordered *ordered,
         uint64_t number)
{
    add_row(ordered->bulk, number, noise_row(fixture, number * 17),
            ordered->model);
}

/* Commits. Returns how many of the files were kept. */
static size_t
end_ordered(struct store_fixture *fixture, struct ordered *ordered)
{
    size_t kept;

    assert_int_equal(commit(ordered->bulk), model_count(ordered->model));
    kept = count_kept(fixture, &ordered->files);
    assert_model(ordered->family, ordered->model);
    OK(colander_family_drop(ordered->family, NULL));
    colander_family_close(ordered->family);
    model_release(ordered->model);
    return kept;
}

FIXTURE_TEST(rows_in_order_are_in_files_before_the_commit)
{
    struct ordered ordered;

    begin_ordered(fixture, "rows", &ordered);
    assert_int_equal(end_ordered(fixture, &ordered), ordered.files.count);
}

/* A file is withdrawn only if late rows belong between its keys. */
FIXTURE_TEST(late_rows_keep_files_that_they_do_not_touch)
{
    struct ordered ordered;

    begin_ordered(fixture, "one between", &ordered);
    add_late(fixture, &ordered, 3);
    assert_int_equal(end_ordered(fixture, &ordered), ordered.files.count - 1);

    begin_ordered(fixture, "one again", &ordered);
    add_late(fixture, &ordered, 0);
    assert_int_equal(end_ordered(fixture, &ordered), ordered.files.count - 1);

    begin_ordered(fixture, "far apart", &ordered);
    add_late(fixture, &ordered, 1);
    add_late(fixture, &ordered, 701);
    add_late(fixture, &ordered, 3);
    assert_in_range(end_ordered(fixture, &ordered), ordered.files.count - 2,
                    ordered.files.count - 1);

    begin_ordered(fixture, "after", &ordered);
    add_late(fixture, &ordered, KEYS_MAX - 1);
    assert_int_equal(end_ordered(fixture, &ordered), ordered.files.count);

    begin_ordered(fixture, "everywhere", &ordered);
    for (uint64_t i = 1; i < KEYS_MAX; i += 2)
        add_late(fixture, &ordered, i);
    assert_int_equal(end_ordered(fixture, &ordered), 0);
}

/* Level 0 would have files whose keys overlap. */
static void
assert_first_level_is_empty(struct colander_family *family)
{
    struct colander_family_sizes sizes;

    OK(colander_family_sizes(family, &sizes, NULL));
    assert_int_equal(sizes.levels[0].sst_count, 0);
}

/* Commits, and checks that all rows that were added have been built. */
static uint64_t
commit_all(struct colander_bulk *bulk)
{
    struct colander_bulk_progress progress;
    uint64_t count;

    OK(colander_bulk_commit(bulk, &count, NULL));
    colander_bulk_progress(bulk, &progress);
    assert_int_equal(progress.built_count, progress.added_count);
    colander_bulk_destroy(bulk);
    return count;
}

/* Adds rows in order, then parts of the keys again in random order. */
static void
random_head(struct store_fixture *fixture, uint64_t *random, const char *name)
{
    struct bulk_limits limits = small_limits();
    SCOPED_FAMILY family = fixture_family(fixture, name);
    struct model *model = calloc(1, sizeof(*model));
    struct colander_bulk *bulk;
    uint64_t from = random_below(random, KEYS_MAX / 2);

    limits.sorter.run_size = 1 + random_below(random, 20000);
    limits.sorter.run_rows = 1 + random_below(random, 300);
    limits.sorter.fan_in = 2 + random_below(random, 6);
    limits.sst_size = 1 + random_below(random, 30000);
    limits.thread_count = 1 + random_below(random, 4);
    bulk = begin(family, &limits);
    for (uint64_t i = from; i < KEYS_MAX; i += 1 + random_below(random, 3))
        add_row(bulk, i, random_row(fixture->builder, random), model);
    for (unsigned part = 0; part < 3; part++) {
        const uint64_t first = random_below(random, KEYS_MAX);
        const uint64_t range = 1 + random_below(random, KEYS_MAX - first);
        const uint64_t count = random_below(random, 400);
        const bool in_order = random_below(random, 2) == 0;

        for (uint64_t i = 0; i < count; i++)
            add_row(bulk,
                    first + (in_order ? i * range / count
                                      : random_below(random, range)),
                    random_row(fixture->builder, random), model);
    }
    assert_int_equal(commit_all(bulk), model_count(model));
    assert_model(family, model);
    assert_first_level_is_empty(family);
    OK(colander_family_drop(family, NULL));
    model_release(model);
}

FIXTURE_TEST(rows_that_come_late_are_the_latest_of_their_keys)
{
    uint64_t random = random_seed(__func__);
    char name[32];

    for (uint64_t i = random_runs(30); i > 0; i--) {
        snprintf(name, sizeof(name), "family %llu", (unsigned long long)i);
        random_head(fixture, &random, name);
    }
    assert_int_equal(count_directories(fixture), 0);
}

/* The key at the border of two runs that are in order, and the last key of the
 * only file. */
FIXTURE_TEST(last_key_of_a_run_or_file_may_come_again)
{
    struct bulk_limits limits = small_limits();
    SCOPED_FAMILY family = fixture_family(fixture, "rows");

    limits.sorter.run_size = 32 << 20;
    limits.sst_size = 64 << 20;
    for (uint64_t is_late = 0; is_late < 2; is_late++) {
        struct model *model = calloc(1, sizeof(*model));
        struct colander_bulk *bulk = begin(family, &limits);

        assert_int_equal(limits.sorter.run_rows, 100);
        for (uint64_t i = 0; i < 200; i++)
            add_row(bulk, i, number_row(fixture, i), model);
        /* The first row of the next run, or one of a run out of order. */
        add_row(bulk, 199, number_row(fixture, 1000), model);
        for (uint64_t i = 0; i < 150; i++)
            add_row(bulk, is_late ? 500 - i : 200 + i, number_row(fixture, i),
                    model);
        assert_int_equal(commit(bulk), model_count(model));
        assert_model(family, model);
        OK(colander_family_drop(family, NULL));
        colander_family_close(family);
        family = fixture_family(fixture, "rows");
        model_release(model);
    }
}

FIXTURE_TEST(cancelled_and_forgotten_heads_leave_nothing)
{
    struct ordered ordered;

    for (unsigned i = 0; i < 2; i++) {
        begin_ordered(fixture, "rows", &ordered);
        if (i == 1) {
            colander_bulk_cancel(ordered.bulk);
            FAILS(colander_bulk_commit(ordered.bulk, NULL, NULL),
                  COLANDER_CANCELLED);
        }
        colander_bulk_destroy(ordered.bulk);
        assert_int_equal(count_directories(fixture), 0);
        assert_int_equal(count_rows(ordered.family), 0);
        colander_family_close(ordered.family);
        model_release(ordered.model);
    }
}

/* A key is written without the prefix it shares with the one before, so a file
 * grows by much less than its keys. */
FIXTURE_TEST(long_keys_with_much_in_common_are_written)
{
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct bulk_limits limits = small_limits();
    SCOPED_BUFFER encoded = COLANDER_BUFFER_EMPTY;
    struct colander_bulk *bulk;
    char key[1000];

    limits.sorter.run_size = 100000;
    limits.sst_size = 64 << 20;
    bulk = begin(family, &limits);
    memset(key, 'k', sizeof(key));
    for (unsigned i = 0; i < 5000; i++) {
        const struct colander_value part =
            colander_string(colander_slice_of(key, sizeof(key) - 1));

        (void)snprintf(key + 990, 10, "%09u", i);
        OK(colander_key_encode(&part, 1, &encoded, NULL));
        OK(colander_bulk_add(bulk, colander_buffer_slice(&encoded),
                             number_row(fixture, i), NULL));
    }
    assert_int_equal(commit(bulk), 5000);
    assert_int_equal(count_rows(family), 5000);
}

/* A file size limit acts like a full disk: a long load must fail early. The
 * limit leaves space for RocksDB's own log. */
FIXTURE_TEST(full_disk_is_reported_while_rows_are_added)
{
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct bulk_limits limits = small_limits();
    enum colander_code code = COLANDER_OK;
    struct colander_bulk *bulk;

    limits.sorter.run_size = 10000;
    limits.sst_size = 64 << 20;
    bulk = begin(family, &limits);
    limit_files(1 << 20);
    for (uint64_t i = 0; i < 20000 && code == COLANDER_OK; i++) {
        key_of(i, &key);
        code = colander_bulk_add(bulk, colander_buffer_slice(&key),
                                 noise_row(fixture, i), why());
    }
    colander_bulk_destroy(bulk);
    limit_files(RLIM_INFINITY);
    assert_int_equal(code, COLANDER_IO);
    assert_non_null(strstr(error_text(), "family 'rows': cannot write an SST"));
    assert_int_equal(count_directories(fixture), 0);
}
