/*
 * Write-ahead logs that are cut where nothing in them shows it: between two
 * records, or between two pieces of one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/log_records.h"
#include "support/children.h"
#include "support/engine_fixture.h"
#include "support/other_boot.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define BLOCK 32768 /* of a log */
#define RECORDS_MAX 64

/* Writes rows, each of which waits for the disk, and is killed: --sync <store>
 * <rows> <size of their values> */
ROLE(sync)
{
    const long size = strtol(arguments[4], NULL, 10);
    char *value = calloc(1, (size_t)size + 1);
    struct colander_options options = usual_options();
    struct fixture fixture = {.engine = NULL};
    struct engine_family *rows;
    char key[2] = "a";

    (void)snprintf(fixture.path, sizeof(fixture.path), "%s", arguments[2]);
    options.sync = true;
    if (value == NULL || open_with(&fixture, &options, NULL) != COLANDER_OK)
        return 1;
    memset(value, 'v', (size_t)size);
    rows = family_of(&fixture, "rows");
    for (long left = strtol(arguments[3], NULL, 10); left > 0; left--) {
        if (put(fixture.engine, rows, key, value, NULL) != COLANDER_OK)
            return 1;
        key[0]++;
    }
    (void)kill(getpid(), SIGKILL);
    return 1;
}

static void
write_synced(const struct fixture *fixture, unsigned count, unsigned size)
{
    char numbers[2][16];
    const char *const arguments[] = {"test",     "--sync",   fixture->path,
                                     numbers[0], numbers[1], NULL};

    (void)snprintf(numbers[0], sizeof(numbers[0]), "%u", count);
    (void)snprintf(numbers[1], sizeof(numbers[1]), "%u", size);
    assert_true(WIFSIGNALED(child_run(arguments)));
}

/* Finds the last log of the store, which has records. */
static void
find_log(const struct fixture *fixture, char path[TEMPORARY_SIZE + 64])
{
    glob_t found;

    (void)snprintf(path, TEMPORARY_SIZE + 64, "%s/rocksdb/*.log",
                   fixture->path);
    ZERO(glob(path, 0, NULL, &found));
    (void)snprintf(path, TEMPORARY_SIZE + 64, "%s",
                   found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
}

/* Fills `ends` with the places where records end. Returns their number. */
static size_t
find_ends(const char *path, uint64_t ends[RECORDS_MAX])
{
    struct log_records *records;
    enum log_step step = LOG_RECORD;
    size_t count = 0;

    OK(log_records_open(AT_FDCWD, path, &records, why()));
    while (step == LOG_RECORD) {
        struct colander_slice record;
        struct log_gap gap;

        assert_true(count < RECORDS_MAX);
        OK(log_records_next(records, &step, &record, &gap, why()));
        if (step == LOG_RECORD)
            ends[count++] = log_records_position(records);
    }
    log_records_close(records);
    return count;
}

/* A write that waited is on the disk from the second one on: only after the
 * first sync of a log does RocksDB sync the directory that has its name. */
ENGINE_TEST(log_cut_before_a_write_that_waited_is_refused)
{
    for (unsigned writes = 2; writes <= 5; writes++) {
        char path[TEMPORARY_SIZE + 64];
        uint64_t ends[RECORDS_MAX];
        size_t count;

        write_synced(fixture, writes, 10);
        ledger_of_another_boot(fixture->path);
        find_log(fixture, path);
        count = find_ends(path, ends);
        assert_true(count >= 2);
        ZERO(truncate(path, (off_t)ends[count - 2]));
        FAILS(open_as(fixture, COLANDER_OPEN_EXISTING, why()),
              COLANDER_CORRUPT);
        temporary_remove(fixture->path);
    }
}

ENGINE_TEST(log_cut_between_blocks_ends_with_its_last_whole_record)
{
    char path[TEMPORARY_SIZE + 64];
    uint64_t ends[RECORDS_MAX];
    struct stat status;
    size_t count;

    write_synced(fixture, 5, 3 * BLOCK);
    find_log(fixture, path);
    count = find_ends(path, ends);
    ZERO(stat(path, &status));
    assert_true(status.st_size > 15 * BLOCK);
    for (off_t at = status.st_size / BLOCK * BLOCK; at > 0; at -= BLOCK) {
        struct log_state state;

        ZERO(truncate(path, at));
        while (count > 0 && ends[count - 1] > (uint64_t)at)
            count--;
        OK(log_check(AT_FDCWD, path, NULL, 0, &state, why()));
        assert_int_equal(state.whole.size, count > 0 ? ends[count - 1] : 0);
    }
}
