/*
 * Write-ahead logs and MANIFESTs that are damaged or torn: a store is opened
 * with all that was acknowledged, or not at all, or with something missing of
 * which it says so.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/engine_fixture.h"
#include "support/other_boot.h"
#include "support/random.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define ROWS 400
#define LOGS_MAX 8

/* The value of a row: up to three blocks of the log. */
static void
value_of(int number, char value[100000])
{
    uint64_t random = (uint64_t)number;
    const size_t size = random_below(&random, 20) == 0
                            ? random_below(&random, 99999)
                            : random_below(&random, 300);

    for (size_t i = 0; i < size; i++)
        value[i] = (char)('a' + random_next(&random) % 26);
    value[size] = '\0';
}

/* Writes all rows and is killed. The first quarter is in an SST, the others in
 * logs, of which there are three, as another family was flushed. */
_Noreturn static void
write_rows(const char *path)
{
    struct fixture fixture = {.engine = NULL};
    struct colander_engine_family *rows;
    struct colander_engine_family *other;
    static char value[100000];
    char key[16];

    (void)snprintf(fixture.path, sizeof(fixture.path), "%s", path);
    if (open_with(&fixture, NULL, NULL) != COLANDER_OK)
        _exit(1);
    rows = family_of(&fixture, "rows");
    other = family_of(&fixture, "other");
    for (int i = 0; i < ROWS; i++) {
        (void)snprintf(key, sizeof(key), "%05d", i);
        value_of(i, value);
        if (put(fixture.engine, rows, key, value, NULL) != COLANDER_OK ||
            put(fixture.engine, other, key, "", NULL) != COLANDER_OK ||
            (i == ROWS / 4 - 1 &&
             colander_engine_family_flush(rows, NULL) != COLANDER_OK) ||
            (i % (ROWS / 4) == ROWS / 4 - 1 && i + 1 < ROWS &&
             colander_engine_family_flush(other, NULL) != COLANDER_OK))
            _exit(1);
    }
    (void)kill(getpid(), SIGKILL);
    _exit(1);
}

/* Opens the store, writes a row behind all, and is killed. */
_Noreturn static void
write_behind(const char *path)
{
    struct fixture fixture = {.engine = NULL};
    struct colander_engine_family *rows;

    (void)snprintf(fixture.path, sizeof(fixture.path), "%s", path);
    if (open_with(&fixture, NULL, NULL) != COLANDER_OK)
        _exit(1);
    rows = family_of(&fixture, "rows");
    if (put(fixture.engine, rows, "99999", "behind", NULL) != COLANDER_OK)
        _exit(1);
    (void)kill(getpid(), SIGKILL);
    _exit(1);
}

static void
run_and_wait(const char *const *arguments)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        (void)execvp(arguments[0], (char *const *)arguments);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void
copy_store(const char *from, const char *to)
{
    const char *const arguments[] = {"cp", "-a", from, to, NULL};

    run_and_wait(arguments);
}

/* ------------------------------------------------------------------ logs ---
 */

struct log_file {
    char path[TEMPORARY_SIZE + 300];
    off_t size;
};

static int
compare_logs(const void *left, const void *right)
{
    const struct log_file *a = left;
    const struct log_file *b = right;

    return strcmp(a->path, b->path);
}

/* The logs of a store that have something, in order, with `name` in theirs. */
static size_t
list_logs(const char *store, const char *name, struct log_file logs[LOGS_MAX])
{
    char directory[TEMPORARY_SIZE + 32];
    struct dirent *entry;
    size_t count = 0;
    DIR *listing;

    (void)snprintf(directory, sizeof(directory), "%s/rocksdb", store);
    listing = opendir(directory);
    assert_non_null(listing);
    while ((entry = readdir(listing)) != NULL) {
        struct log_file *log = &logs[count];
        struct stat status;

        if (strstr(entry->d_name, name) == NULL)
            continue;
        assert_true(count < LOGS_MAX);
        (void)snprintf(log->path, sizeof(log->path), "%s/%s", directory,
                       entry->d_name);
        assert_int_equal(stat(log->path, &status), 0);
        log->size = status.st_size;
        count += log->size > 0;
    }
    closedir(listing);
    qsort(logs, count, sizeof(*logs), compare_logs);
    return count;
}

/* ---------------------------------------------------------------- damage ---
 */

enum damage { BIT, BYTE, ZEROS, CUT, CUT_AND_GARBAGE, DAMAGES };

static const char *const damage_names[] = {"a bit", "a byte", "zeros", "cut",
                                           "cut, and garbage"};

static void
write_at(const char *path, const void *bytes, size_t size, off_t at)
{
    int fd = open(path, O_WRONLY);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, at), (ssize_t)size);
    assert_int_equal(close(fd), 0);
}

static uint8_t
byte_at(const char *path, off_t at)
{
    int fd = open(path, O_RDONLY);
    uint8_t byte;

    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    close(fd);
    return byte;
}

static void
damage_log(const struct log_file *log, enum damage damage, off_t at,
           uint64_t *random)
{
    uint8_t bytes[4096] = {0};
    size_t size = 1;

    switch (damage) {
    case BIT:
        bytes[0] =
            (uint8_t)(byte_at(log->path, at) ^ 1 << random_below(random, 8));
        break;
    case BYTE:
        bytes[0] =
            (uint8_t)(byte_at(log->path, at) + 1 + random_below(random, 255));
        break;
    case ZEROS:
        size = (size_t)(log->size - at) < sizeof(bytes)
                   ? (size_t)(log->size - at)
                   : sizeof(bytes);
        break;
    default:
        assert_int_equal(truncate(log->path, at), 0);
        size = damage == CUT ? 0 : 1 + random_below(random, sizeof(bytes));
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)random_next(random);
    }
    write_at(log->path, bytes, size, at);
}

/* --------------------------------------------------------------- looking ---
 */

/* All rows are right; gives how many there are. *last: the last of them. */
static int
count_rows(struct fixture *fixture, int *last)
{
    const struct colander_engine_cursor_options all = {0};
    struct colander_engine_family *family;
    struct colander_engine_cursor *cursor;
    struct colander_slice key;
    struct colander_slice value;
    static char expected[100000];
    char number[16];
    int count = 0;

    *last = -1;
    if (colander_engine_family_open(fixture->engine, "rows", false, &family,
                                    NULL) == COLANDER_NOT_FOUND)
        return 0;

    assert_int_equal(colander_engine_cursor_open(family, &all, &cursor, NULL),
                     COLANDER_OK);
    for (;; count++) {
        assert_int_equal(
            colander_engine_cursor_next(cursor, &key, &value, NULL),
            COLANDER_OK);
        if (key.data == NULL)
            break;
        assert_int_equal(key.size, 5);
        (void)snprintf(number, sizeof(number), "%.5s", (const char *)key.data);
        *last = (int)strtol(number, NULL, 10);
        value_of(*last, expected);
        assert_true(colander_slice_equal(value, colander_slice_text(expected)));
    }
    colander_engine_cursor_close(cursor);
    colander_engine_family_close(family);
    return count;
}

/* What an open made of it: rows; -1: it did not open, and names the file. Only
 * a log that was cut may lack something that nobody can tell of: when that was
 * just between two records. */
static int
open_and_count(struct fixture *fixture, enum colander_open_mode mode,
               const char *file, bool is_cut)
{
    const bool is_manifest = strstr(file, "MANIFEST") != NULL;
    struct colander_recovery recovery;
    struct colander_error err;
    int count;
    int last;

    if (open_as(fixture, mode, &err) != COLANDER_OK) {
        assert_int_equal(err.code, COLANDER_CORRUPT);
        if (strstr(err.message, strrchr(file, '/') + 1) == NULL)
            fail_msg("%s", err.message);
        return -1;
    }
    colander_engine_recovery(fixture->engine, &recovery);
    count = count_rows(fixture, &last);
    assert_true(is_manifest || is_cut || last == count - 1);
    assert_true(count == ROWS || is_cut || recovery.dropped_size > 0);
    assert_true(recovery.dropped_size == 0 ||
                strcmp(recovery.dropped_file, strrchr(file, '/') + 1) == 0);
    close_engine(fixture);
    return count;
}

/* In this program anew: RocksDB's threads do not come along in a fork. */
static void
run_until_killed(const char *option, const char *store)
{
    pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", "test", option, store, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

/* A store that was written, and killed; its copy is `store`. */
static void
make_killed(struct fixture *fixture, char killed[TEMPORARY_SIZE + 16])
{
    (void)snprintf(killed, TEMPORARY_SIZE + 16, "%s/killed",
                   fixture->directory);
    run_until_killed("--write", killed);
}

static void
killed_store_has_all_rows(void **state)
{
    struct fixture *fixture = *state;
    char killed[TEMPORARY_SIZE + 16];
    struct log_file logs[LOGS_MAX];

    make_killed(fixture, killed);
    assert_int_equal(list_logs(killed, ".log", logs), 3);
    copy_store(killed, fixture->path);
    assert_int_equal(
        open_and_count(fixture, COLANDER_OPEN_READ_ONLY, "/", false), ROWS);
    assert_int_equal(
        open_and_count(fixture, COLANDER_OPEN_EXISTING, "/", false), ROWS);
}

/* It was opened with so many rows, and what was dropped is told once. */
static void
assert_opens_quietly(struct fixture *fixture, int rows)
{
    struct colander_recovery recovery;
    int last;

    assert_int_equal(open_as(fixture, COLANDER_OPEN_EXISTING, NULL),
                     COLANDER_OK);
    colander_engine_recovery(fixture->engine, &recovery);
    assert_int_equal(recovery.dropped_size, 0);
    assert_int_equal(count_rows(fixture, &last), rows);
    close_engine(fixture);
}

/* With the ledger all is told but, in the last log, what was written since it
 * was last noted. */
static void
assert_noted(const struct log_file *log, off_t at, bool is_last, int rows)
{
    if (rows >= 0 && rows < ROWS)
        assert_true(is_last && strstr(log->path, "MANIFEST") == NULL &&
                    at > log->size / 16 * 14);
}

/* Damages one log of those with `name` in theirs, in a copy of the store. Gives
 * how many rows are there then, or -1. */
static int
damage_one(struct fixture *fixture, const char *killed, const char *name,
           uint64_t *random)
{
    const enum damage damage = (enum damage)random_below(random, DAMAGES);
    const bool has_ledger = random_below(random, 2);
    struct log_file logs[LOGS_MAX];
    const struct log_file *log;
    size_t count;
    off_t at;
    int rows;

    copy_store(killed, fixture->path);
    if (!has_ledger)
        ledger_remove(fixture->path);
    count = list_logs(fixture->path, name, logs);
    log = &logs[random_below(random, count)];
    at = (off_t)random_below(random, (uint64_t)log->size);
    damage_log(log, damage, at, random);
    printf("%s at %lld of %s, %s ledger: ", damage_names[damage], (long long)at,
           strrchr(log->path, '/') + 1, has_ledger ? "with" : "no");
    (void)fflush(stdout);
    rows = open_and_count(fixture, COLANDER_OPEN_READ_ONLY, log->path,
                          damage == CUT);
    printf("%d rows\n", rows);
    if (has_ledger)
        assert_noted(log, at, log == &logs[count - 1], rows);
    assert_int_equal(open_and_count(fixture, COLANDER_OPEN_EXISTING, log->path,
                                    damage == CUT),
                     rows);
    if (rows >= 0)
        assert_opens_quietly(fixture, rows);
    temporary_remove(fixture->path);
    return rows;
}

static void
damage_many(struct fixture *fixture, const char *name, uint64_t runs,
            uint64_t *random)
{
    char killed[TEMPORARY_SIZE + 16];
    unsigned refused = 0;
    unsigned fewer = 0;

    make_killed(fixture, killed);
    for (; runs > 0; runs--) {
        int rows = damage_one(fixture, killed, name, random);

        refused += rows < 0;
        fewer += rows >= 0 && rows < ROWS;
    }
    printf("%u were refused, %u have fewer rows\n", refused, fewer);
}

static void
damaged_wals_are_told_or_their_end_is_dropped(void **state)
{
    uint64_t random = random_seed(__func__);

    damage_many(*state, ".log", random_runs(60), &random);
}

static void
damaged_manifests_are_told_or_their_end_is_dropped(void **state)
{
    uint64_t random = random_seed(__func__);

    damage_many(*state, "MANIFEST", random_runs(60), &random);
}

/* At each byte near the end of the last log, of which records are small. Only
 * a cut between two records, of which each row has two, cannot be told. */
static void
logs_cut_anywhere_are_opened(void **state)
{
    struct fixture *fixture = *state;
    char killed[TEMPORARY_SIZE + 16];
    struct log_file logs[LOGS_MAX];
    int untold = 0;
    int rows = ROWS;

    make_killed(fixture, killed);
    for (off_t left = 1; left < 100; left++) {
        struct colander_recovery recovery;
        struct log_file *last;
        int last_row;

        copy_store(killed, fixture->path);
        ledger_remove(fixture->path);
        last = &logs[list_logs(fixture->path, ".log", logs) - 1];
        assert_int_equal(truncate(last->path, last->size - left), 0);
        assert_int_equal(open_as(fixture, COLANDER_OPEN_EXISTING, NULL),
                         COLANDER_OK);
        rows = count_rows(fixture, &last_row);
        colander_engine_recovery(fixture->engine, &recovery);
        untold += recovery.dropped_size == 0;
        assert_in_range(untold, 0, 2 * (ROWS - rows) + 1);
        close_engine(fixture);
        temporary_remove(fixture->path);
    }
    assert_true(untold > 0);
}

/* An open that dropped the end of a log may be killed before that log goes.
 * What was written then goes on with the numbers of what was dropped; it does
 * not in a log that was damaged only later. */
static void
torn_log_before_that_of_a_killed_open_is_fine(void **state)
{
    struct fixture *fixture = *state;
    char killed[TEMPORARY_SIZE + 16];
    char kept[TEMPORARY_SIZE + 16];
    struct log_file logs[LOGS_MAX];
    struct log_file *last;
    struct colander_error err;

    make_killed(fixture, killed);
    (void)snprintf(kept, sizeof(kept), "%s/kept", fixture->directory);
    for (unsigned is_later = 0; is_later < 2; is_later++) {
        copy_store(killed, fixture->path);
        ledger_remove(fixture->path);
        last = &logs[list_logs(fixture->path, ".log", logs) - 1];
        if (!is_later)
            assert_int_equal(truncate(last->path, last->size - 3), 0);
        copy_store(last->path, kept);
        run_until_killed("--behind", fixture->path);
        copy_store(kept, last->path);
        if (is_later)
            assert_int_equal(truncate(last->path, last->size - 3), 0);
        ledger_remove(fixture->path);
        assert_int_equal(open_with(fixture, NULL, &err),
                         is_later ? COLANDER_CORRUPT : COLANDER_OK);
        if (!is_later) {
            struct colander_engine_family *rows = family_of(fixture, "rows");

            assert_value(rows, "99999", "behind");
            colander_engine_family_close(rows);
            close_engine(fixture);
        }
        temporary_remove(fixture->path);
    }
}

/* A log that is gone, or empty, or in the place of another. */
static void
logs_that_are_not_there_are_told(void **state)
{
    struct fixture *fixture = *state;
    char killed[TEMPORARY_SIZE + 16];
    char aside[TEMPORARY_SIZE + 16];

    make_killed(fixture, killed);
    (void)snprintf(aside, sizeof(aside), "%s/aside", fixture->directory);
    for (unsigned i = 0; i < 9; i++) {
        struct log_file logs[LOGS_MAX];
        const struct log_file *log = &logs[i % 3];
        const struct log_file *other = &logs[(i + 1) % 3];
        struct colander_error err;

        copy_store(killed, fixture->path);
        if (i >= 6) /* of swapped ones the order tells, too */
            ledger_remove(fixture->path);
        assert_int_equal(list_logs(fixture->path, ".log", logs), 3);
        if (i < 3) {
            assert_int_equal(unlink(log->path), 0);
        } else if (i < 6) {
            assert_int_equal(truncate(log->path, 0), 0);
        } else {
            assert_int_equal(rename(log->path, aside), 0);
            assert_int_equal(rename(other->path, log->path), 0);
            assert_int_equal(rename(aside, other->path), 0);
        }
        for (unsigned mode = 0; mode < 2; mode++) {
            err.message[0] = '\0';
            assert_int_equal(
                open_as(fixture,
                        mode ? COLANDER_OPEN_EXISTING : COLANDER_OPEN_READ_ONLY,
                        &err),
                COLANDER_CORRUPT);
            if (i < 6)
                assert_non_null(
                    strstr(err.message, strrchr(log->path, '/') + 1));
            else
                assert_non_null(strstr(err.message, "log are older"));
        }
        temporary_remove(fixture->path);
    }
}

/* A machine that is lost may lose a log that was not synced, or its end; never
 * is a store opened with what was written behind it. */
static void
stores_with_a_hole_are_refused(void **state)
{
    static const off_t sizes[] = {-1, 0, 5, 18};
    struct fixture *fixture = *state;
    char killed[TEMPORARY_SIZE + 16];

    make_killed(fixture, killed);
    for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
        const off_t size = sizes[i / 2];
        struct log_file logs[LOGS_MAX];
        struct colander_error err;

        copy_store(killed, fixture->path);
        ledger_of_another_boot(fixture->path);
        assert_int_equal(list_logs(fixture->path, ".log", logs), 3);
        if (size < 0)
            assert_int_equal(unlink(logs[i % 2].path), 0);
        else
            assert_int_equal(truncate(logs[i % 2].path, size), 0);
        assert_int_equal(open_as(fixture, COLANDER_OPEN_EXISTING, &err),
                         COLANDER_CORRUPT);
        assert_non_null(
            strstr(err.message, strrchr(logs[i % 2].path, '/') + 1));
        temporary_remove(fixture->path);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(killed_store_has_all_rows),
        TEST(logs_cut_anywhere_are_opened),
        TEST(torn_log_before_that_of_a_killed_open_is_fine),
        TEST(logs_that_are_not_there_are_told),
        TEST(stores_with_a_hole_are_refused),
        TEST(damaged_wals_are_told_or_their_end_is_dropped),
        TEST(damaged_manifests_are_told_or_their_end_is_dropped),
    };

    if (argc == 3 && strcmp(argv[1], "--write") == 0)
        write_rows(argv[2]);
    if (argc == 3 && strcmp(argv[1], "--behind") == 0)
        write_behind(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
