/*
 * Write-ahead logs and MANIFESTs that are damaged or torn: a store opens with
 * everything acknowledged, or fails to open, or reports that something is
 * missing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine.h"
#include "core/ledger.h"
#include "core/log_records.h"
#include "core/sst.h"
#include "support/children.h"
#include "support/engine_fixture.h"
#include "support/other_boot.h"
#include "support/random.h"
#include "support/scoped.h"

#include <fcntl.h>
#include <glob.h>
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
 * three logs, because another family was flushed. */
ROLE(write)
{
    struct fixture fixture = {.engine = NULL};
    struct engine_family *rows;
    struct engine_family *other;
    static char value[100000];
    char key[16];

    (void)snprintf(fixture.path, sizeof(fixture.path), "%s", arguments[2]);
    if (open_with(&fixture, NULL, NULL) != COLANDER_OK)
        return 1;
    rows = family_of(&fixture, "rows");
    other = family_of(&fixture, "other");
    for (int i = 0; i < ROWS; i++) {
        (void)snprintf(key, sizeof(key), "%05d", i);
        value_of(i, value);
        if (put(fixture.engine, rows, key, value, NULL) != COLANDER_OK ||
            put(fixture.engine, other, key, "", NULL) != COLANDER_OK ||
            (i == ROWS / 4 - 1 &&
             engine_family_flush(rows, NULL) != COLANDER_OK) ||
            (i % (ROWS / 4) == ROWS / 4 - 1 && i + 1 < ROWS &&
             engine_family_flush(other, NULL) != COLANDER_OK))
            return 1;
    }
    (void)kill(getpid(), SIGKILL);
    return 1;
}

/* Opens the store, writes a row after all others, and is killed. */
ROLE(append)
{
    struct fixture fixture = {.engine = NULL};
    struct engine_family *rows;

    (void)snprintf(fixture.path, sizeof(fixture.path), "%s", arguments[2]);
    if (open_with(&fixture, NULL, NULL) != COLANDER_OK)
        return 1;
    rows = family_of(&fixture, "rows");
    if (put(fixture.engine, rows, "99999", "appended", NULL) != COLANDER_OK)
        return 1;
    (void)kill(getpid(), SIGKILL);
    return 1;
}

static void
copy_store(const char *from, const char *to)
{
    char command[3 * TEMPORARY_SIZE + 400];

    (void)snprintf(command, sizeof(command), "cp -a '%s' '%s'", from, to);
    ZERO(system(command));
}

/* ----------------------------------------------------------------- logs --- */

struct log_file {
    char path[TEMPORARY_SIZE + 300];
    off_t size;
};

/* The non-empty logs of a store with `name` in their names, in order. */
static size_t
list_logs(const char *store, const char *name, struct log_file logs[LOGS_MAX])
{
    char pattern[TEMPORARY_SIZE + 64];
    glob_t found;
    size_t count = 0;

    (void)snprintf(pattern, sizeof(pattern), "%s/rocksdb/*%s*", store, name);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc < LOGS_MAX);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct log_file *log = &logs[count];
        struct stat status;

        (void)snprintf(log->path, sizeof(log->path), "%s", found.gl_pathv[i]);
        ZERO(stat(log->path, &status));
        log->size = status.st_size;
        count += log->size > 0;
    }
    globfree(&found);
    return count;
}

static uint64_t
number_of(const struct log_file *log)
{
    return strtoull(strrchr(log->path, '/') + 1, NULL, 10);
}

/* --------------------------------------------------------------- damage --- */

enum damage { BIT, BYTE, ZEROS, CUT, CUT_AND_GARBAGE, DAMAGES };

static const char *const damage_names[] = {"a bit", "a byte", "zeros", "cut",
                                           "cut, and garbage"};

static void
write_at(const char *path, const void *bytes, size_t size, off_t at)
{
    int fd = open(path, O_WRONLY);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, at), (ssize_t)size);
    ZERO(close(fd));
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
        ZERO(truncate(log->path, at));
        size = damage == CUT ? 0 : 1 + random_below(random, sizeof(bytes));
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)random_next(random);
    }
    write_at(log->path, bytes, size, at);
}

/* -------------------------------------------------------------- looking --- */

/* All rows are right. Returns their number; *last is the last of them. */
static int
count_rows(struct fixture *fixture, int *last)
{
    const struct engine_cursor_options all = {0};
    struct engine_family *family;
    struct engine_cursor *cursor;
    struct colander_slice key;
    struct colander_slice value;
    bool is_row;
    static char expected[100000];
    char number[16];
    int count = 0;

    *last = -1;
    if (engine_family_open(fixture->engine, "rows", false, &family, NULL) ==
        COLANDER_NOT_FOUND)
        return 0;

    OK(engine_cursor_open(family, &all, &cursor, NULL));
    for (;; count++) {
        OK(engine_cursor_next(cursor, &is_row, &key, &value, NULL));
        if (!is_row)
            break;
        assert_int_equal(key.size, 5);
        (void)snprintf(number, sizeof(number), "%.5s", (const char *)key.data);
        *last = (int)strtol(number, NULL, 10);
        value_of(*last, expected);
        assert_true(colander_slice_equal(value, colander_slice_text(expected)));
    }
    engine_cursor_close(cursor);
    engine_family_close(family);
    return count;
}

/* The number of rows after an open; -1 if it fails and names the file. Only a
 * cut log may lack rows without a report, if the cut was exactly between two
 * records. */
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
    engine_recovery(fixture->engine, &recovery);
    count = count_rows(fixture, &last);
    assert_true(is_manifest || is_cut || last == count - 1);
    assert_true(count == ROWS || is_cut || recovery.dropped_size > 0);
    assert_true(recovery.dropped_size == 0 ||
                strcmp(recovery.dropped_file, strrchr(file, '/') + 1) == 0);
    close_engine(fixture);
    return count;
}

static void
run_until_killed(const char *option, const char *store)
{
    const char *const arguments[] = {"test", option, store, NULL};

    assert_true(WIFSIGNALED(child_run(arguments)));
}

/* A store that was written by a killed process; its copy is `store`. */
static void
make_killed(struct fixture *fixture, char killed[TEMPORARY_SIZE + 16])
{
    (void)snprintf(killed, TEMPORARY_SIZE + 16, "%s/killed",
                   fixture->directory);
    run_until_killed("--write", killed);
}

ENGINE_TEST(killed_store_has_all_rows)
{
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

/* The store opened with `rows` rows, and reports once what was dropped. */
static void
assert_opens_quietly(struct fixture *fixture, int rows)
{
    struct colander_recovery recovery;
    int last;

    OK(open_as(fixture, COLANDER_OPEN_EXISTING, NULL));
    engine_recovery(fixture->engine, &recovery);
    assert_int_equal(recovery.dropped_size, 0);
    assert_int_equal(count_rows(fixture, &last), rows);
    close_engine(fixture);
}

/* With the ledger everything is reported except, in the last log, what was
 * written since it was last noted. */
static void
assert_noted(const struct log_file *log, off_t at, bool is_last, int rows)
{
    if (rows >= 0 && rows < ROWS)
        assert_true(is_last && strstr(log->path, "MANIFEST") == NULL &&
                    at > log->size / 16 * 14);
}

/* Damages one log with `name` in its name, in a copy of the store. Returns the
 * number of rows then, or -1. After a restart of the machine, a log that was
 * never synced, the last one, ends where it is damaged. */
static int
damage_one(struct fixture *fixture, const char *killed, const char *name,
           uint64_t *random)
{
    enum { NO_LEDGER, SAME_BOOT, OTHER_BOOT, LEDGERS };
    static const char *const ledgers[] = {"no", "with", "earlier"};
    const enum damage damage = (enum damage)random_below(random, DAMAGES);
    const unsigned ledger = (unsigned)random_below(random, LEDGERS);
    struct log_file logs[LOGS_MAX];
    const struct log_file *log;
    size_t count;
    off_t at;
    int rows;

    copy_store(killed, fixture->path);
    if (ledger == NO_LEDGER)
        ledger_remove(fixture->path);
    if (ledger == OTHER_BOOT)
        ledger_of_another_boot(fixture->path);
    count = list_logs(fixture->path, name, logs);
    log = &logs[random_below(random, count)];
    at = (off_t)random_below(random, (uint64_t)log->size);
    damage_log(log, damage, at, random);
    printf("%s at %lld of %s, %s ledger: ", damage_names[damage], (long long)at,
           strrchr(log->path, '/') + 1, ledgers[ledger]);
    (void)fflush(stdout);
    rows = open_and_count(fixture, COLANDER_OPEN_READ_ONLY, log->path,
                          damage == CUT);
    printf("%d rows\n", rows);
    if (ledger == SAME_BOOT)
        assert_noted(log, at, log == &logs[count - 1], rows);
    if (ledger == OTHER_BOOT && strcmp(name, ".log") == 0)
        assert_true(rows >= 0 || log != &logs[count - 1]);
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

ENGINE_TEST(damaged_wals_are_reported_or_their_end_is_dropped)
{
    uint64_t random = random_seed(__func__);

    damage_many(fixture, ".log", random_runs(25), &random);
}

ENGINE_TEST(damaged_manifests_are_reported_or_their_end_is_dropped)
{
    uint64_t random = random_seed(__func__);

    damage_many(fixture, "MANIFEST", random_runs(25), &random);
}

/* Cuts each byte near the end of the last log, which has small records. Each
 * row has two records; only a cut between two records cannot be detected. */
ENGINE_TEST(logs_cut_anywhere_are_opened)
{
    char killed[TEMPORARY_SIZE + 16];
    struct log_file logs[LOGS_MAX];
    int unreported = 0;
    int rows = ROWS;

    make_killed(fixture, killed);
    for (off_t left = 1; left < 100; left++) {
        struct colander_recovery recovery;
        struct log_file *last;
        int last_row;

        copy_store(killed, fixture->path);
        ledger_remove(fixture->path);
        last = &logs[list_logs(fixture->path, ".log", logs) - 1];
        ZERO(truncate(last->path, last->size - left));
        OK(open_as(fixture, COLANDER_OPEN_EXISTING, NULL));
        rows = count_rows(fixture, &last_row);
        engine_recovery(fixture->engine, &recovery);
        unreported += recovery.dropped_size == 0;
        assert_in_range(unreported, 0, 2 * (ROWS - rows) + 1);
        close_engine(fixture);
        temporary_remove(fixture->path);
    }
    assert_true(unreported > 0);
}

/* None of the writes in the last log waited for a sync. RocksDB synced it while
 * it was empty, which does not count. */
static void
assert_never_synced(const struct fixture *fixture)
{
    struct log_file logs[LOGS_MAX];
    const size_t count = list_logs(fixture->path, ".log", logs);
    const int fd = open(fixture->path, O_RDONLY | O_DIRECTORY);
    struct ledger_entry noted;
    struct ledger *ledger;

    OK(ledger_open(fd, &ledger, NULL));
    noted = ledger_noted(ledger, LEDGER_WAL, number_of(&logs[count - 1]));
    assert_false(noted.was_synced); /* its size may not have been noted yet */
    ledger_close(ledger);
    close(fd);
}

/* An open that dropped the end of a log may be killed before that log is
 * deleted. Later writes continue with the numbers of those dropped. They do not
 * if the log was damaged only later. */
ENGINE_TEST(torn_log_before_that_of_a_killed_open_is_fine)
{
    char killed[TEMPORARY_SIZE + 16];
    char kept[TEMPORARY_SIZE + 16];
    struct log_file logs[LOGS_MAX];
    struct log_file *last;

    make_killed(fixture, killed);
    (void)snprintf(kept, sizeof(kept), "%s/kept", fixture->directory);
    for (unsigned is_later = 0; is_later < 2; is_later++) {
        copy_store(killed, fixture->path);
        ledger_remove(fixture->path);
        last = &logs[list_logs(fixture->path, ".log", logs) - 1];
        if (!is_later)
            ZERO(truncate(last->path, last->size - 3));
        copy_store(last->path, kept);
        run_until_killed("--append", fixture->path);
        assert_never_synced(fixture);
        copy_store(kept, last->path);
        if (is_later)
            ZERO(truncate(last->path, last->size - 3));
        ledger_remove(fixture->path);
        assert_int_equal(open_with(fixture, NULL, why()),
                         is_later ? COLANDER_CORRUPT : COLANDER_OK);
        if (!is_later) {
            assert_value(family_of(fixture, "rows"), "99999", "appended");
            close_engine(fixture);
        }
        temporary_remove(fixture->path);
    }
}

/* A log that is missing, empty, or swapped with another. */
ENGINE_TEST(missing_logs_are_reported)
{
    char killed[TEMPORARY_SIZE + 16];
    char aside[TEMPORARY_SIZE + 16];

    make_killed(fixture, killed);
    (void)snprintf(aside, sizeof(aside), "%s/aside", fixture->directory);
    for (unsigned i = 0; i < 9; i++) {
        struct log_file logs[LOGS_MAX];
        const struct log_file *log = &logs[i % 3];
        const struct log_file *other = &logs[(i + 1) % 3];

        copy_store(killed, fixture->path);
        if (i >= 6) /* the order of swapped ones also shows it */
            ledger_remove(fixture->path);
        assert_int_equal(list_logs(fixture->path, ".log", logs), 3);
        if (i < 3) {
            ZERO(unlink(log->path));
        } else if (i < 6) {
            ZERO(truncate(log->path, 0));
        } else {
            ZERO(rename(log->path, aside));
            ZERO(rename(other->path, log->path));
            ZERO(rename(aside, other->path));
        }
        for (unsigned mode = 0; mode < 2; mode++) {
            FAILS(
                open_as(fixture,
                        mode ? COLANDER_OPEN_EXISTING : COLANDER_OPEN_READ_ONLY,
                        why()),
                COLANDER_CORRUPT);
            if (i < 6)
                assert_non_null(
                    strstr(error_text(), strrchr(log->path, '/') + 1));
            else
                assert_non_null(strstr(error_text(), "log are older"));
        }
        temporary_remove(fixture->path);
    }
}

/* Removes the log (-1), cuts it, or damages one byte of it. */
static void
lose_of_log(const struct log_file *log, off_t size)
{
    if (size < 0)
        ZERO(unlink(log->path));
    else if (size < 20)
        ZERO(truncate(log->path, size));
    else
        write_at(log->path, "", 1, size);
}

static const off_t lost_sizes[] = {-1, 0, 5, 18, 5000};

#define LOSSES COUNT(lost_sizes)

/* What was synced is damaged if it is incomplete. So is everything before it:
 * logs before one that was flushed, or before the log of a synced write. */
ENGINE_TEST(stores_with_a_hole_before_synced_writes_are_refused)
{
    char killed[TEMPORARY_SIZE + 16];

    make_killed(fixture, killed);
    for (size_t i = 0; i < 6 * LOSSES; i++) {
        const struct log_file *log;
        struct log_file logs[LOGS_MAX];

        copy_store(killed, fixture->path);
        ledger_of_another_boot(fixture->path);
        assert_int_equal(list_logs(fixture->path, ".log", logs), 3);
        log = &logs[i % 2];
        if (i % 3 == 1)
            ledger_mark_only(fixture->path, number_of(&logs[2]));
        if (i % 3 == 2) { /* inside the synced part only that is marked */
            ledger_mark_only(fixture->path, number_of(log));
        }
        lose_of_log(log, lost_sizes[i / 6]);
        FAILS(open_as(fixture, COLANDER_OPEN_EXISTING, why()),
              COLANDER_CORRUPT);
        assert_non_null(strstr(error_text(), strrchr(log->path, '/') + 1));
        temporary_remove(fixture->path);
    }
}

/* Of logs that were never synced, a power failure may keep later writes and
 * lose earlier ones. The store keeps the rows before the gap. Without a
 * restart, a gap is damage. */
ENGINE_TEST(writes_after_one_that_was_lost_are_dropped)
{
    char killed[TEMPORARY_SIZE + 16];

    make_killed(fixture, killed);
    for (size_t i = 0; i < 3 * LOSSES; i++) {
        const size_t lost = i % 3;
        struct log_file logs[LOGS_MAX];
        struct colander_recovery recovery;
        int rows;
        int last;

        for (unsigned is_lost = 0; is_lost < 2; is_lost++) {
            copy_store(killed, fixture->path);
            ledger_mark_only(fixture->path, 0);
            assert_int_equal(list_logs(fixture->path, ".log", logs), 3);
            lose_of_log(&logs[lost], lost_sizes[i / 3]);
            if (is_lost)
                ledger_of_another_boot(fixture->path);
            rows = open_and_count(fixture, COLANDER_OPEN_READ_ONLY,
                                  logs[lost].path, false);
            if (!is_lost) {
                assert_int_equal(rows, -1);
                temporary_remove(fixture->path);
            }
        }
        assert_in_range(rows, (lost + 1) * ROWS / 4, (lost + 2) * ROWS / 4 - 1);
        OK(open_as(fixture, COLANDER_OPEN_EXISTING, NULL));
        engine_recovery(fixture->engine, &recovery);
        assert_int_equal(recovery.has_gap,
                         lost < 2 || lost_sizes[i / 3] == 5000);
        assert_int_equal(count_rows(fixture, &last), rows);
        close_engine(fixture);
        assert_opens_quietly(fixture, rows);
        temporary_remove(fixture->path);
    }
}

/* A failed open reports what it dropped, and the next one does too. */
ENGINE_TEST(failed_open_reports_what_it_dropped)
{
    char killed[TEMPORARY_SIZE + 16];
    char aside[TEMPORARY_SIZE + 16];
    struct log_file logs[LOGS_MAX];
    struct log_file tables[LOGS_MAX];
    struct log_file *last;
    struct colander_recovery recovery;

    make_killed(fixture, killed);
    copy_store(killed, fixture->path);
    ledger_mark_only(fixture->path, 0);
    ledger_of_another_boot(fixture->path);
    last = &logs[list_logs(fixture->path, ".log", logs) - 1];
    ZERO(truncate(last->path, last->size - 3));
    assert_true(list_logs(fixture->path, ".sst", tables) > 0);
    (void)snprintf(aside, sizeof(aside), "%s/aside", fixture->directory);
    ZERO(rename(tables[0].path, aside));
    for (unsigned i = 0; i < 2; i++) {
        assert_int_not_equal(open_with(fixture, NULL, why()), COLANDER_OK);
        assert_non_null(strstr(error_text(), "dropped "));
        assert_non_null(strstr(error_text(), "its last write is incomplete"));
        assert_non_null(strstr(error_text(), ".sst"));
    }
    ZERO(rename(aside, tables[0].path));
    OK(open_as(fixture, COLANDER_OPEN_EXISTING, NULL));
    engine_recovery(fixture->engine, &recovery);
    assert_string_equal(recovery.dropped_file, strrchr(last->path, '/') + 1);
    close_engine(fixture);
    assert_opens_quietly(fixture, ROWS);
}

/* A reader hides the writes after those that were lost, and so does its
 * backup. */
ENGINE_TEST(backup_of_a_reader_has_what_it_sees)
{
    char killed[TEMPORARY_SIZE + 16];
    char backups[TEMPORARY_SIZE + 16];
    char backup[TEMPORARY_SIZE + 32];

    make_killed(fixture, killed);
    (void)snprintf(backups, sizeof(backups), "%s/backups", fixture->directory);
    (void)snprintf(backup, sizeof(backup), "%s/000001", backups);
    for (size_t i = 0; i < 3; i++) {
        struct log_file logs[LOGS_MAX];
        struct colander_backup made;
        int rows;
        int last;

        copy_store(killed, fixture->path);
        ledger_mark_only(fixture->path, 0);
        ledger_of_another_boot(fixture->path);
        assert_int_equal(list_logs(fixture->path, ".log", logs), 3);
        lose_of_log(&logs[i], 5000);
        assert_int_equal(open_as(fixture, COLANDER_OPEN_READ_ONLY, NULL),
                         COLANDER_OK);
        rows = count_rows(fixture, &last);
        OK(engine_backup(fixture->engine, backups, 0, NULL, &made, why()));
        close_engine(fixture);
        temporary_remove(fixture->path);
        copy_store(backup, fixture->path);
        assert_opens_quietly(fixture, rows);
        temporary_remove(fixture->path);
        temporary_remove(backups);
    }
}

/* Cuts the log before its last record, so that it looks complete. */
static void
lose_last_record(const struct log_file *log)
{
    struct log_state state;

    ZERO(truncate(log->path, log->size - 3));
    assert_int_equal(log_check(AT_FDCWD, log->path, NULL, 0, &state, NULL),
                     COLANDER_OK);
    ZERO(truncate(log->path, (off_t)state.whole.size));
}

/* Two logs lose data: an earlier one its end, and a later one its first writes,
 * where RocksDB would skip the zeros. The rows are those before the first loss,
 * or none if the earlier log was ever synced. */
ENGINE_TEST(writes_after_two_that_were_lost_are_dropped)
{
    char killed[TEMPORARY_SIZE + 16];
    static const char zeros[32768];

    make_killed(fixture, killed);
    for (unsigned i = 0; i < 3; i++) {
        const size_t earlier = i > 0;
        struct log_file logs[LOGS_MAX];
        int rows;

        copy_store(killed, fixture->path);
        assert_int_equal(list_logs(fixture->path, ".log", logs), 3);
        ledger_mark_only(fixture->path, i == 2 ? number_of(&logs[1]) : 0);
        ledger_of_another_boot(fixture->path);
        lose_last_record(&logs[earlier]);
        write_at(logs[earlier + 1].path, zeros, sizeof(zeros), 0);
        rows = open_and_count(fixture, COLANDER_OPEN_READ_ONLY,
                              logs[earlier].path, false);
        if (i == 2)
            assert_int_equal(rows, -1);
        else
            assert_int_equal(rows, (earlier + 2) * ROWS / 4);
        assert_int_equal(open_and_count(fixture, COLANDER_OPEN_EXISTING,
                                        logs[earlier].path, false),
                         rows);
        if (rows >= 0)
            assert_opens_quietly(fixture, rows);
        temporary_remove(fixture->path);
    }
}

/* A power failure may restore part of a log that was removed. Its rows are in
 * SST files, and later ones in the log of the last process. */
ENGINE_TEST(a_log_that_came_back_is_not_needed)
{
    char killed[TEMPORARY_SIZE + 16];
    char to[TEMPORARY_SIZE + 32];
    struct log_file logs[LOGS_MAX];
    struct engine_family *rows;
    static char value[100000];

    make_killed(fixture, killed);
    copy_store(killed, fixture->path);
    assert_int_equal(list_logs(killed, ".log", logs), 3);
    run_until_killed("--append", fixture->path);
    write_at(logs[2].path, "", 1, 5000);
    (void)snprintf(to, sizeof(to), "%s/rocksdb", fixture->path);
    copy_store(logs[2].path, to);
    ledger_mark_only(fixture->path, 0);
    ledger_of_another_boot(fixture->path);
    OK(open_as(fixture, COLANDER_OPEN_EXISTING, NULL));
    rows = family_of(fixture, "rows");
    value_of(399, value);
    assert_value(rows, "00399", value);
    assert_value(rows, "99999", "appended");
    close_engine(fixture);
}

/* A log whose families were all dropped is not read, and its sequences are
 * given to the next writes. */
ENGINE_TEST(logs_of_dropped_families_are_not_needed)
{
    for (unsigned i = 0; i < 5; i++) {
        struct engine_family *rows = open_with_family(fixture, "rows");

        assert_value(rows, "a", NULL);
        OK(put(fixture->engine, rows, "a", "1", NULL));
        OK(engine_family_drop(rows, NULL));
        close_engine(fixture);
        for (unsigned opens = 0; opens < 2; opens++) {
            OK(open_with(fixture, NULL, NULL));
            close_engine(fixture);
        }
    }
}
