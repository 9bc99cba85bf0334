/*
 * Durability (I6): when a write waits for the disk, and what close says when
 * the disk refuses.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/engine_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* ------------------------------------------------------------ the disk --- */

/* Syncs of log files, counted: this definition stands before the C library's
 * for everything in this program, RocksDB included. */
static atomic_int log_syncs;

COLANDER_API int
fdatasync(int fd)
{
    char link[64];
    char path[512] = "";

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof(path) - 1) > 4 &&
        strcmp(path + strlen(path) - 4, ".log") == 0)
        log_syncs++;
    return (int)syscall(SYS_fdatasync, fd);
}

static int
syncs_of_a_put(struct fixture *fixture, struct colander_engine_family *family,
               enum colander_durability durability)
{
    struct colander_engine_batch *batch;
    int before;

    assert_int_equal(
        colander_engine_batch_create(fixture->engine, false, &batch, NULL),
        COLANDER_OK);
    assert_int_equal(colander_engine_batch_put(batch, family,
                                               colander_slice_text("k"),
                                               colander_slice_text("v"), NULL),
                     COLANDER_OK);
    before = log_syncs;
    assert_int_equal(colander_engine_batch_write(batch, durability, NULL),
                     COLANDER_OK);
    colander_engine_batch_destroy(batch);
    return log_syncs - before;
}

static void
write_is_synced_as_it_or_the_store_says(void **state)
{
    struct fixture *fixture = *state;
    struct colander_engine_family *family;
    struct colander_options options;

    for (int sync = 0; sync < 2; sync++) {
        colander_options_init(&options);
        options.sync = sync == 1;
        assert_int_equal(open_with(fixture, &options, NULL), COLANDER_OK);
        family = family_of(fixture, "f");
        assert_int_equal(syncs_of_a_put(fixture, family, COLANDER_AS_STORE),
                         sync);
        assert_int_equal(syncs_of_a_put(fixture, family, COLANDER_SYNC), 1);
        assert_int_equal(syncs_of_a_put(fixture, family, COLANDER_NO_SYNC), 0);
        colander_engine_family_close(family);
        close_engine(fixture);
    }
}

/* ------------------------------------------------------ a failing close --- */

/* Files may not grow beyond `size` bytes; 0: as they like. */
static void
limit_files(rlim_t size)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size == 0 ? limit.rlim_max : size;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void
close_tells_what_it_could_not_flush_and_nothing_is_lost(void **state)
{
    struct fixture *fixture = *state;
    struct colander_engine_family *family;
    struct colander_error err;
    uint64_t noise = 1;
    char key[16];
    char value[1024];

    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    family = family_of(fixture, "f");
    for (int i = 0; i < 1000; i++) {
        for (size_t j = 0; j < sizeof(value) - 1; j++) {
            noise = noise * UINT64_C(6364136223846793005) + 1;
            value[j] = (char)('0' + (noise >> 56) % 64);
        }
        value[sizeof(value) - 1] = '\0';
        (void)snprintf(key, sizeof(key), "%03d", i);
        assert_int_equal(put(fixture->engine, family, key, value, NULL),
                         COLANDER_OK);
    }
    colander_engine_family_close(family);
    limit_files(100000);
    assert_int_equal(colander_engine_close(fixture->engine, &err), COLANDER_IO);
    limit_files(0);
    fixture->engine = NULL;
    assert_non_null(strstr(err.message, "without flushing family 'f'"));
    assert_non_null(strstr(err.message, "come back at the next open"));

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    family = family_of(fixture, "f");
    assert_value(family, "999", value);
    for (int i = 0; i < 1000; i++) {
        char *text;

        (void)snprintf(key, sizeof(key), "%03d", i);
        text = get(family, NULL, key);
        assert_non_null(text);
        free(text);
    }
    colander_engine_family_close(family);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(write_is_synced_as_it_or_the_store_says),
        TEST(close_tells_what_it_could_not_flush_and_nothing_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
