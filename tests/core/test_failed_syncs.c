/*
 * A sync of a log that fails is an error of what relies on it, even if RocksDB
 * learns of it only later.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/engine_fixture.h"
#include "support/io_faults.h"
#include "support/other_boot.h"

#include <errno.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

/* The path of the only file of the database with such a name. */
static void
find_file(const struct fixture *fixture, const char *name,
          char path[TEMPORARY_SIZE + 64])
{
    char pattern[TEMPORARY_SIZE + 64];
    glob_t found;

    (void)snprintf(pattern, sizeof(pattern), "%s/rocksdb/%s", fixture->path,
                   name);
    ZERO(glob(pattern, 0, NULL, &found));
    assert_int_equal(found.gl_pathc, 1);
    (void)snprintf(path, TEMPORARY_SIZE + 64, "%s", found.gl_pathv[0]);
    globfree(&found);
}

/* Closes a store that has stopped. The close may report it. */
static void
close_stopped(struct fixture *fixture)
{
    close_families(fixture);
    (void)!engine_close(fixture->engine, NULL);
    fixture->engine = NULL;
}

/* A flush begins a new log. The old one, which has rows of another family, is
 * synced first. */
ENGINE_TEST(failed_sync_of_an_old_log_fails_the_flush)
{
    const struct fault fault = {FAULT_SYNC, 0, EIO, false, true};
    struct engine_family *flushed;
    struct engine_family *other;
    char log[TEMPORARY_SIZE + 64];

    OK(open_with(fixture, NULL, NULL));
    flushed = family_of(fixture, "flushed");
    other = family_of(fixture, "other");
    find_file(fixture, "*.log", log);
    OK(put(fixture->engine, flushed, "k", "v", NULL));
    OK(put(fixture->engine, other, "k", "v", NULL));
    faults_begin(log, &fault);
    FAILS(engine_family_flush(flushed, why()), COLANDER_IO);
    assert_true(faults_were_met());
    faults_repair();
    close_stopped(fixture);
    assert_value(open_with_family(fixture, "other"), "k", "v");
}

static enum colander_code
put_synced(struct engine *engine, struct engine_family *family)
{
    SCOPED_ENGINE_BATCH batch = NULL;

    OK(engine_batch_create(engine, false, &batch, NULL));
    OK(engine_batch_put(batch, family, colander_slice_text("k"),
                        colander_slice_text("v"), NULL));
    return engine_batch_write(batch, COLANDER_SYNC, why());
}

/* Fails one sync of a file during a call. */
#define WITH_FAILED_SYNC(path, call)                                           \
    do {                                                                       \
        const struct fault fault = {FAULT_SYNC, 0, EIO, false, false};         \
                                                                               \
        faults_begin((path), &fault);                                          \
        FAILS(call, COLANDER_IO);                                              \
        assert_true(faults_were_met());                                        \
        faults_repair();                                                       \
    } while (0)

/* The system may forget what it could not write, and report that a later sync
 * has succeeded. Then the ledger must not say what the log has. */
ENGINE_TEST(a_log_that_could_not_be_synced_may_end_after_a_close)
{
    struct engine_family *rows;
    char path[TEMPORARY_SIZE + 64];

    rows = open_with_family(fixture, "rows");
    find_file(fixture, "*.log", path);
    WITH_FAILED_SYNC(path, put_synced(fixture->engine, rows));
    close_stopped(fixture);
    ZERO(truncate(path, 0));
    ledger_of_another_boot(fixture->path);
    assert_value(open_with_family(fixture, "rows"), "k", NULL);
}

ENGINE_TEST(a_manifest_that_could_not_be_synced_may_end_after_a_close)
{
    struct engine_family *rows;
    char path[TEMPORARY_SIZE + 64];
    struct stat status;

    rows = open_with_family(fixture, "rows");
    for (unsigned i = 0; i < 2; i++) {
        OK(put(fixture->engine, rows, "k", "v", NULL));
        OK(engine_family_flush(rows, NULL));
    }
    find_file(fixture, "MANIFEST-*", path);
    ZERO(stat(path, &status));
    WITH_FAILED_SYNC(path, engine_family_compact(rows, why()));
    close_stopped(fixture);
    ZERO(truncate(path, status.st_size));
    ledger_of_another_boot(fixture->path);
    assert_value(open_with_family(fixture, "rows"), "k", "v");
}
