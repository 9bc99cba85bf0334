/*
 * Files of results get their name once they are complete and on the disk.
 *
 * The linker redirects the calls of fsync and rename to this test.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/result_file.h"
#include "support/cases.h"
#include "support/temporary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static off_t synced_size; /* of the file that was synced last; -1: none */
static off_t named_size;  /* synced when the file got its name */
static bool syncs_fail;

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. */
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
/* NOLINTEND(bugprone-reserved-identifier) */

int
__wrap_fsync(int fd)
{
    struct stat status;

    if (syncs_fail) {
        errno = EIO;
        return -1;
    }
    ZERO(fstat(fd, &status));
    synced_size = status.st_size;
    return __real_fsync(fd);
}

int
__wrap_rename(const char *from, const char *to)
{
    named_size = synced_size;
    return __real_rename(from, to);
}

static int
make_directory(void **state)
{
    char *path = malloc(TEMPORARY_SIZE + 16);

    temporary_make(path);
    synced_size = named_size = -1;
    syncs_fail = false;
    *state = path;
    return 0;
}

static int
remove_directory(void **state)
{
    temporary_remove(*state);
    free(*state);
    return 0;
}

#define FILE_TEST(name)                                                        \
    TEST_WITH(char *directory, name, make_directory, remove_directory)

FILE_TEST(a_result_is_synced_before_it_gets_its_name)
{
    struct result_file result;
    char path[TEMPORARY_SIZE + 16];

    (void)snprintf(path, sizeof(path), "%s/result", directory);
    OK(result_file_open(&result, path, stdout, why()));
    assert_true(fputs("12345", result.file) >= 0);
    OK(result_file_finish(&result, why()));
    result_file_release(&result);
    assert_int_equal(named_size, 5);
    ZERO(access(path, F_OK));
}

FILE_TEST(a_result_that_cannot_be_synced_has_no_name)
{
    struct result_file result;
    char path[TEMPORARY_SIZE + 16];

    (void)snprintf(path, sizeof(path), "%s/result", directory);
    OK(result_file_open(&result, path, stdout, why()));
    assert_true(fputs("12345", result.file) >= 0);
    syncs_fail = true;
    FAILS(result_file_finish(&result, why()), COLANDER_IO);
    result_file_release(&result);
    assert_int_not_equal(access(path, F_OK), 0);
    ZERO(rmdir(directory)); /* it is empty */
}
