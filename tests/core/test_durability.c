/*
 * Durability (I6): when a write waits for the disk, and what close reports if
 * the disk fails.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine.h"
#include "core/sst.h"
#include "support/engine_fixture.h"
#include "support/file_limit.h"
#include "support/scoped.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>

/* ------------------------------------------------------------ the disk --- */

/* Counts syncs of log files, and notes which file was synced first. This
 * definition replaces the C library's for the whole program, including
 * RocksDB. */
static atomic_int log_syncs;
static atomic_int syncs;
static char first_synced[512];

COLANDER_API int
fdatasync(int fd)
{
    char link[64];
    char path[512] = "";

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof(path) - 1) > 4 &&
        strcmp(path + strlen(path) - 4, ".log") == 0)
        log_syncs++;
    if (syncs++ == 0)
        (void)snprintf(first_synced, sizeof(first_synced), "%s", path);
    return (int)syscall(SYS_fdatasync, fd);
}

static int
syncs_of_a_put(struct fixture *fixture, struct engine_family *family,
               enum colander_durability durability)
{
    SCOPED_ENGINE_BATCH batch = NULL;
    int before;

    OK(engine_batch_create(fixture->engine, false, &batch, NULL));
    OK(engine_batch_put(batch, family, colander_slice_text("k"),
                        colander_slice_text("v"), NULL));
    before = log_syncs;
    OK(engine_batch_write(batch, durability, NULL));
    return log_syncs - before;
}

static int
syncs_of_a_record(struct fixture *fixture)
{
    const int before = log_syncs;

    assert_int_equal(
        engine_record_put(fixture->engine, "a", colander_slice_text("r"), NULL),
        COLANDER_OK);
    return log_syncs - before;
}

ENGINE_TEST(write_is_synced_as_it_or_the_store_says)
{
    struct engine_family *family;
    struct colander_options options;

    for (int sync = 0; sync < 2; sync++) {
        colander_options_init(&options);
        options.sync = sync == 1;
        OK(open_with(fixture, &options, NULL));
        family = family_of(fixture, "f");
        assert_int_equal(syncs_of_a_put(fixture, family, COLANDER_AS_STORE),
                         sync);
        assert_int_equal(syncs_of_a_record(fixture), sync);
        assert_int_equal(syncs_of_a_put(fixture, family, COLANDER_SYNC), 1);
        assert_int_equal(syncs_of_a_put(fixture, family, COLANDER_NO_SYNC), 0);
        close_engine(fixture);
    }
}

/* The ledger records on disk that a log is complete before another log has
 * writes. A flush begins a new log, and syncs its SST and older logs later. */
ENGINE_TEST(ledger_is_synced_before_a_log_is_created)
{
    struct engine_family *family;

    assert_int_equal(open_with(fixture, NULL, NULL), COLANDER_OK);
    family = family_of(fixture, "f");
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(put(fixture->engine, family, "k", "v", NULL),
                         COLANDER_OK);
        syncs = 0;
        assert_int_equal(engine_family_flush(family, NULL), COLANDER_OK);
        assert_string_equal(strrchr(first_synced, '/'), "/LEDGER");
    }
}

/* ------------------------------------------------------ a failing close --- */

ENGINE_TEST(close_reports_a_failed_flush_and_nothing_is_lost)
{
    struct engine_family *family;
    uint64_t noise = 1;
    char key[16];
    char value[1024];

    family = open_with_family(fixture, "f");
    for (int i = 0; i < 1000; i++) {
        for (size_t j = 0; j < sizeof(value) - 1; j++) {
            noise = noise * UINT64_C(6364136223846793005) + 1;
            value[j] = (char)('0' + (noise >> 56) % 64);
        }
        value[sizeof(value) - 1] = '\0';
        (void)snprintf(key, sizeof(key), "%03d", i);
        OK(put(fixture->engine, family, key, value, NULL));
    }
    close_families(fixture);
    limit_files(100000);
    FAILS(engine_close(fixture->engine, why()), COLANDER_IO);
    limit_files(RLIM_INFINITY);
    fixture->engine = NULL;
    assert_non_null(strstr(error_text(), "without flushing family 'f'"));
    assert_non_null(strstr(error_text(), "come back at the next open"));

    family = open_with_family(fixture, "f");
    assert_value(family, "999", value);
    for (int i = 0; i < 1000; i++) {
        SCOPED_MEMORY char *text = NULL;

        (void)snprintf(key, sizeof(key), "%03d", i);
        text = get(family, NULL, key);
        assert_non_null(text);
    }
}
