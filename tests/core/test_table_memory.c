/*
 * SST files read while memory is short, which is reported as such and never as
 * damage, or from a failing disk, where whatever cannot be read is damaged.
 *
 * The linker redirects every read of this program here: see CMakeLists.txt.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/failing_memory.h"
#include "support/golden_table.h"
#include "support/table_entries.h"
#include "support/temporary.h"

#include <errno.h>
#include <sys/stat.h>

#define SECTOR 4096

static off_t bad_sector = -1; /* below 0: none */

ssize_t __real_pread(int fd, void *bytes, size_t size, off_t at);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t at);

ssize_t
__wrap_pread(int fd, void *bytes, size_t size, off_t at)
{
    if (bad_sector >= 0 && at < bad_sector + SECTOR &&
        at + (off_t)size > bad_sector) {
        errno = EIO;
        return -1;
    }
    return __real_pread(fd, bytes, size, at);
}

/* ---------------------------------------------------------------- tests --- */

/* Reads all; sets the numbers of entries and gaps. */
static enum colander_code
read_steps(const char *path, unsigned *steps, unsigned *gaps,
           struct colander_error *err)
{
    enum table_step step = TABLE_ENTRY;
    struct table_file *table;
    struct table_entry entry;
    struct table_gap gap;
    enum colander_code code = table_file_open(AT_FDCWD, path, &table, err);

    *steps = 0;
    *gaps = 0;
    if (code != COLANDER_OK)
        assert_null(table);
    while (code == COLANDER_OK && step != TABLE_END) {
        code = table_file_next(table, &step, &entry, &gap, err);
        *steps += code == COLANDER_OK && step != TABLE_END;
        *gaps += code == COLANDER_OK && step == TABLE_GAP;
    }
    table_file_close(table);
    return code;
}

/* Reads with each sector failing in turn. */
static void
fail_each_sector(const char *path)
{
    struct stat status;
    unsigned whole_steps;
    unsigned whole_gaps;
    unsigned steps;
    unsigned gaps;

    assert_int_equal(stat(path, &status), 0);
    OK(read_steps(path, &whole_steps, &whole_gaps, NULL));
    for (off_t at = 0; at < status.st_size; at += SECTOR) {
        bad_sector = at;
        OK(read_steps(path, &steps, &gaps, NULL));
        bad_sector = -1;
        assert_true(gaps > 0 || steps == whole_steps);
    }
}

/* Reads with the first allocation failing, then the second, until none fails.
 * Returns how many runs had a failure. */
static long
failures_of(const char *path)
{
    struct colander_error err;
    enum colander_code code;
    unsigned whole_steps;
    unsigned steps;
    unsigned gaps;
    long failed = 0;

    OK(read_steps(path, &whole_steps, &gaps, NULL));
    for (;; failed++) {
        err.code = COLANDER_OK;
        allocations_left = failed;
        code = read_steps(path, &steps, &gaps, &err);
        allocations_left = -1;
        if (code == COLANDER_OK)
            break;
        assert_int_equal(code, COLANDER_NO_MEMORY);
        assert_int_equal(err.code, COLANDER_NO_MEMORY);
        assert_true(steps <= whole_steps);
    }
    assert_int_equal(steps, whole_steps);
    return failed;
}

static void
fail_everywhere(size_t size)
{
    char directory[TEMPORARY_SIZE];
    char path[TEMPORARY_SIZE + 16];

    temporary_make(directory);
    (void)snprintf(path, sizeof(path), "%s/file.sst", directory);
    golden_write(path, size);
    assert_in_range(failures_of(path), 8, 100);
    fail_each_sector(path);
    temporary_remove(directory);
}

static uint64_t
hash_key(struct colander_slice key)
{
    return key.size;
}

TEST(a_check_reports_too_little_memory_and_not_damage)
{
    char directory[TEMPORARY_SIZE];
    char path[TEMPORARY_SIZE + 16];
    struct colander_error err;
    enum colander_code code;
    long failed = 0;

    temporary_make(directory);
    (void)snprintf(path, sizeof(path), "%s/file.sst", directory);
    golden_write(path, GOLDEN_SIZE);
    do {
        allocations_left = failed++;
        code = table_check(AT_FDCWD, path, hash_key, &err);
        allocations_left = -1;
    } while (code == COLANDER_NO_MEMORY);
    assert_int_equal(code, COLANDER_CORRUPT); /* that is not RocksDB's hash */
    assert_non_null(strstr(err.message, "denies a key"));
    assert_in_range(failed, 10, 100);
    temporary_remove(directory);
}

TEST(failures_are_reported_if_there_is_an_index)
{
    fail_everywhere(GOLDEN_SIZE);
}

TEST(failures_are_reported_if_there_is_no_index)
{
    fail_everywhere(GOLDEN_SIZE - 100);
}
