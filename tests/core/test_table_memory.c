/*
 * SST files read while memory is short, or from a disk that fails: both are
 * told as what they are, and never as damage.
 *
 * The linker sends every allocation and every read of this program here: see
 * CMakeLists.txt.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/golden_table.h"
#include "support/table_entries.h"
#include "support/temporary.h"

#include <errno.h>

static long allocations_left = -1; /* below 0: none fails */
static long reads_left = -1;       /* likewise */

static bool
has_run_out(long *left)
{
    return *left >= 0 && (*left)-- == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
ssize_t __real_pread(int fd, void *bytes, size_t size, off_t at);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
ssize_t __wrap_pread(int fd, void *bytes, size_t size, off_t at);

void *
__wrap_malloc(size_t size)
{
    return has_run_out(&allocations_left) ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
    return has_run_out(&allocations_left) ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *memory, size_t size)
{
    return has_run_out(&allocations_left) ? NULL : __real_realloc(memory, size);
}

ssize_t
__wrap_pread(int fd, void *bytes, size_t size, off_t at)
{
    if (has_run_out(&reads_left)) {
        errno = EIO;
        return -1;
    }
    return __real_pread(fd, bytes, size, at);
}

/* ----------------------------------------------------------------- tests ---
 */

/* Reads all; gives how many steps there were. */
static enum colander_code
read_steps(const char *path, unsigned *steps, struct colander_error *err)
{
    enum table_step step = TABLE_ENTRY;
    struct table_file *table;
    struct table_entry entry;
    struct table_gap gap;
    enum colander_code code = table_file_open(AT_FDCWD, path, &table, err);

    *steps = 0;
    if (code != COLANDER_OK)
        assert_null(table);
    while (code == COLANDER_OK && step != TABLE_END) {
        code = table_file_next(table, &step, &entry, &gap, err);
        *steps += code == COLANDER_OK && step != TABLE_END;
    }
    table_file_close(table);
    return code;
}

/* Reads with the first of them failing, then with the second, until nothing
 * fails; gives how often something did. */
static long
failures_of(const char *path, long *left, enum colander_code expected)
{
    struct colander_error err;
    enum colander_code code;
    unsigned whole_steps;
    unsigned steps;
    long failed = 0;

    OK(read_steps(path, &whole_steps, NULL));
    for (;; failed++) {
        err.code = COLANDER_OK;
        *left = failed;
        code = read_steps(path, &steps, &err);
        *left = -1;
        if (code == COLANDER_OK)
            break;
        assert_int_equal(code, expected);
        assert_int_equal(err.code, expected);
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
    assert_in_range(failures_of(path, &allocations_left, COLANDER_NO_MEMORY), 8,
                    100);
    assert_in_range(failures_of(path, &reads_left, COLANDER_IO), 3, 100);
    temporary_remove(directory);
}

static void
failures_are_told_where_there_is_an_index(void **state)
{
    (void)state;
    fail_everywhere(GOLDEN_SIZE);
}

static void
failures_are_told_where_there_is_none(void **state)
{
    (void)state;
    fail_everywhere(GOLDEN_SIZE - 100);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_are_told_where_there_is_an_index),
        cmocka_unit_test(failures_are_told_where_there_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
