/*
 * A sync of a log that fails is an error of what relies on it, even if RocksDB
 * learns of it only later.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/engine_fixture.h"
#include "support/io_faults.h"

#include <errno.h>
#include <glob.h>

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
    close_families(fixture);
    (void)!engine_close(fixture->engine, NULL);
    fixture->engine = NULL;
    assert_value(open_with_family(fixture, "other"), "k", "v");
}
