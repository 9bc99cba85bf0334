/*
 * A store with value filters whose calls to the system fail: each call of a
 * step in turn says that there was an error of input or output. The step says
 * IO, and never that a file is damaged, or does without; afterwards the store
 * opens, what was acknowledged is there, and finds give what scans give.
 *
 * The linker sends these calls of our own here: see CMakeLists.txt. Those of
 * RocksDB do not fail.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/filters.h"

#include "support/compared_finds.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define ROW_COUNT 60 /* that are put before each step */
#define FIND_COUNT 3 /* that are compared after each step */

static atomic_long calls_left = -1; /* below 0: none fails */
static atomic_bool has_failed;      /* one */

static bool
call_fails(void)
{
    if (atomic_load(&calls_left) < 0 || atomic_fetch_sub(&calls_left, 1) != 0)
        return false;
    atomic_store(&has_failed, true);
    errno = EIO;
    return true;
}

/* A call that gives `failure` when it fails. */
#define WRAP(type, name, failure, parameters, arguments)                       \
    type __real_##name parameters;                                             \
    type __wrap_##name parameters;                                             \
    type __wrap_##name parameters                                              \
    {                                                                          \
        return call_fails() ? (failure) : __real_##name arguments;             \
    }

/* The compiler passes a mode that is not given like one that is. */
WRAP(int, open, -1, (const char *path, int flags, mode_t mode),
     (path, flags, mode))
WRAP(int, openat, -1, (int fd, const char *path, int flags, mode_t mode),
     (fd, path, flags, mode))
WRAP(ssize_t, read, -1, (int fd, void *data, size_t size), (fd, data, size))
WRAP(ssize_t, pread, -1, (int fd, void *data, size_t size, off_t at),
     (fd, data, size, at))
WRAP(ssize_t, write, -1, (int fd, const void *data, size_t size),
     (fd, data, size))
WRAP(ssize_t, pwrite, -1, (int fd, const void *data, size_t size, off_t at),
     (fd, data, size, at))
WRAP(int, fsync, -1, (int fd), (fd))
WRAP(int, fdatasync, -1, (int fd), (fd))
WRAP(int, ftruncate, -1, (int fd, off_t size), (fd, size))
WRAP(int, posix_fallocate, EIO, (int fd, off_t at, off_t size), (fd, at, size))
WRAP(int, fstat, -1, (int fd, struct stat *status), (fd, status))
WRAP(int, fchmod, -1, (int fd, mode_t mode), (fd, mode))
WRAP(int, flock, -1, (int fd, int how), (fd, how))
WRAP(int, mkdir, -1, (const char *path, mode_t mode), (path, mode))
WRAP(int, rename, -1, (const char *from, const char *to), (from, to))
WRAP(int, renameat, -1,
     (int from_fd, const char *from, int to_fd, const char *to),
     (from_fd, from, to_fd, to))
WRAP(ssize_t, getrandom, -1, (void *data, size_t size, unsigned flags),
     (data, size, flags))
WRAP(DIR *, opendir, NULL, (const char *path), (path))
WRAP(DIR *, fdopendir, NULL, (int fd), (fd))
WRAP(char *, realpath, NULL, (const char *path, char *made), (path, made))

/* ---------------------------------------------------------------- store --- */

struct calls_fixture {
    struct store_fixture *store;
    struct colander_family *family; /* NULL: the store is closed */
    uint64_t random;
    uint64_t row_count; /* acknowledged */
    struct find_counts counts;
};

static int
setup(void **state)
{
    struct calls_fixture *it = calloc(1, sizeof(*it));

    OK(fixture_setup((void **)&it->store));
    it->family = fixture_family(it->store, "f");
    it->random = random_seed("store calls");
    *state = it;
    return 0;
}

static int
teardown(void **state)
{
    struct calls_fixture *it = *state;
    int result;

    colander_family_close(it->family);
    result = fixture_teardown((void **)&it->store);
    free(it);
    return result;
}

/* Puts rows that were not there. */
static void
put_rows(struct calls_fixture *it)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;

    for (int i = 0; i < ROW_COUNT; i++) {
        struct colander_value part = colander_integer((int64_t)it->row_count++);

        OK(colander_key_encode(&part, 1, &key, NULL));
        OK(colander_family_put(it->family, colander_buffer_slice(&key),
                               random_row(it->store->builder, &it->random),
                               COLANDER_AS_STORE, NULL));
    }
    colander_buffer_release(&key);
}

/* Closes the store as it is: what failed may have left something for the log
 * alone, which close then says. */
static void
close_store(struct calls_fixture *it)
{
    colander_family_close(it->family);
    it->family = NULL;
    (void)(colander_store_close(it->store->store, NULL) == COLANDER_OK);
    it->store->store = NULL;
}

/* Opens it, and looks whether all is there. */
static void
assert_store_is_well(struct calls_fixture *it)
{
    fixture_open(it->store);
    it->family = fixture_family(it->store, "f");
    assert_int_equal(count_rows(it->family), it->row_count);
    compare_random_finds(it->store->store, it->family, it->row_count + 1,
                         FIND_COUNT, &it->random, &it->counts);
}

/* ---------------------------------------------------------------- steps --- */

/* What fails, after what does not. */
struct step {
    void (*prepare)(struct calls_fixture *it);
    enum colander_code (*take)(struct calls_fixture *it,
                               struct colander_error *err);
};

/* Takes the step with the first call failing, then with the second, until none
 * is left that could; gives how many there were. */
static long
failures_of(struct calls_fixture *it, const struct step *step)
{
    for (long failed = 0;; failed++) {
        struct colander_error err = {.code = COLANDER_OK};
        enum colander_code code;

        step->prepare(it);
        atomic_store(&has_failed, false);
        atomic_store(&calls_left, failed);
        code = step->take(it, &err);
        atomic_store(&calls_left, -1);
        if (code != COLANDER_OK &&
            (code != COLANDER_IO || !atomic_load(&has_failed)))
            fail_msg("call %ld: %d: %s", failed, (int)code, err.message);
        if (it->family != NULL)
            close_store(it);
        assert_store_is_well(it);
        if (!atomic_load(&has_failed))
            return failed;
    }
}

static void
prepare_open(struct calls_fixture *it)
{
    put_rows(it); /* these are in the log */
    close_store(it);
}

static enum colander_code
open_store(struct calls_fixture *it, struct colander_error *err)
{
    struct store_fixture *store = it->store;
    enum colander_code code = colander_store_open(
        store->directory, &store->options, &store->store, err);

    if (code == COLANDER_OK)
        code = colander_family_open(store->store, "f", &it->family, err);
    return code;
}

static void
prepare_new(struct calls_fixture *it)
{
    close_store(it);
    temporary_remove(it->store->directory);
    it->row_count = 0;
}

static enum colander_code
flush(struct calls_fixture *it, struct colander_error *err)
{
    enum colander_code code = colander_family_flush(it->family, err);

    if (code == COLANDER_OK)
        code = colander_family_await_filters(it->family, err);
    return code;
}

/* ---------------------------------------------------------------- tests --- */

static void
a_store_opens_or_says_which_call_failed(void **state)
{
    const struct step step = {prepare_open, open_store};

    assert_true(failures_of(*state, &step) >= 10);
}

static void
a_store_that_was_half_made_is_made_again(void **state)
{
    const struct step step = {prepare_new, open_store};

    assert_true(failures_of(*state, &step) >= 10);
}

static void
a_flush_loses_no_row_for_want_of_a_filter(void **state)
{
    const struct step step = {put_rows, flush};

    assert_true(failures_of(*state, &step) >= 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_store_opens_or_says_which_call_failed,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_store_that_was_half_made_is_made_again, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_flush_loses_no_row_for_want_of_a_filter, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
