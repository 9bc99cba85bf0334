/*
 * Files of a store that are missing for a while: what an open has noticed stays
 * known, and repairs still work.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/ledger.h"
#include "support/cases.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether MANIFESTs are not deleted. The linker redirects the calls here. */
static bool keeps_manifests;

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. */
bool __real_ledger_forget(struct ledger *ledger, enum ledger_kind kind,
                          uint64_t number);
bool __wrap_ledger_forget(struct ledger *ledger, enum ledger_kind kind,
                          uint64_t number);
/* NOLINTEND(bugprone-reserved-identifier) */

bool
__wrap_ledger_forget(struct ledger *ledger, enum ledger_kind kind,
                     uint64_t number)
{
    return !(keeps_manifests && kind == LEDGER_MANIFEST) &&
           __real_ledger_forget(ledger, kind, number);
}

/* Leaves a store whose log has rows that are on disk. */
static void
kill_writer(struct store_fixture *fixture)
{
    pid_t child;
    int status;

    fixture_close(fixture);
    child = fork();
    if (child == 0) {
        struct colander_write_options options;
        struct colander_family *family;

        colander_write_options_init(&options);
        options.durability = COLANDER_SYNC;
        fixture_open(fixture);
        family = fixture_family(fixture, "rows");
        for (int i = 0; i < 100; i++)
            OK(colander_family_put_json(family, "{\"n\":1}", NULL, &options,
                                        NULL));
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void
run(const struct store_fixture *fixture, const char *command)
{
    char line[400];

    (void)snprintf(line, sizeof(line), "cd %s && %s", fixture->directory,
                   command);
    ZERO(system(line));
}

static enum colander_code
open_code(struct store_fixture *fixture)
{
    const enum colander_code code = colander_store_open(
        fixture->directory, &fixture->options, &fixture->store, NULL);

    if (code == COLANDER_OK)
        fixture_close(fixture);
    return code;
}

/* As if a disk was not mounted: logs that come back are still checked against
 * the ledger. */
FIXTURE_TEST(a_database_that_was_away_is_checked_when_it_is_back)
{
    kill_writer(fixture);
    run(fixture, "mv rocksdb away");
    FAILS(open_code(fixture), COLANDER_CORRUPT);
    FAILS(open_code(fixture), COLANDER_CORRUPT);
    run(fixture, "mv away rocksdb");
    run(fixture, "mkdir kept && cp rocksdb/*.log kept/ && "
                 "for log in rocksdb/*.log; do : >$log; done");
    FAILS(open_code(fixture), COLANDER_CORRUPT);
    run(fixture, "mv kept/*.log rocksdb/ && rmdir kept");
    fixture_open(fixture);
}

/* An empty directory with the ledger of a store is not used for a new one. */
FIXTURE_TEST(a_store_that_lost_all_but_its_ledger_is_not_recreated)
{
    kill_writer(fixture);
    run(fixture, "mkdir kept && mv rocksdb COLANDER kept/");
    assert_int_not_equal(open_code(fixture), COLANDER_OK);
    run(fixture, "rm -rf rocksdb COLANDER; mv kept/* . && rmdir kept");
    fixture_open(fixture);
}

static void
report(void *context, const char *file, const char *what)
{
    (void)context;
    (void)file;
    (void)what;
}

FIXTURE_TEST(a_lost_current_is_repaired_also_after_a_failed_open)
{
    struct colander_check check = {0};
    SCOPED_FAMILY family = NULL;
    uint64_t count;

    kill_writer(fixture);
    run(fixture, "rm rocksdb/CURRENT");
    FAILS(open_code(fixture), COLANDER_CORRUPT);
    FAILS(open_code(fixture), COLANDER_CORRUPT);
    OK(colander_store_repair(fixture->directory, &check, report, NULL, NULL));
    assert_int_equal(check.repaired_count, 1);
    fixture_open(fixture);
    family = fixture_family(fixture, "rows");
    OK(colander_family_count(family, NULL, &count, NULL));
    assert_int_equal(count, 100);
}

/* RocksDB may leave the MANIFEST of an earlier open. Without the later one, the
 * store would lose what was written since. */
FIXTURE_TEST(a_lost_current_is_not_repaired_for_an_earlier_manifest)
{
    struct colander_check check = {0};

    keeps_manifests = true;
    kill_writer(fixture);
    keeps_manifests = false;
    run(fixture,
        "test $(ls rocksdb/MANIFEST-* | wc -l) = 2 && mkdir last && "
        "mv rocksdb/CURRENT $(ls rocksdb/MANIFEST-* | tail -n 1) last");
    OK(colander_store_repair(fixture->directory, &check, report, NULL, NULL));
    assert_int_equal(check.repaired_count, 0);
    FAILS(open_code(fixture), COLANDER_CORRUPT);
    run(fixture, "mv last/* rocksdb/ && rmdir last");
    fixture_open(fixture);
}

/* It has the same number, and its first record twice. */
FIXTURE_TEST(a_lost_current_is_not_repaired_for_another_manifest)
{
    struct colander_check check = {0};

    kill_writer(fixture);
    run(fixture,
        "rm rocksdb/CURRENT && cd rocksdb && m=$(ls MANIFEST-*) && mv $m ../ &&"
        " head -c $((7 + $(od -An -tu2 -j4 -N2 ../$m))) ../$m | cat - ../$m "
        ">$m");
    OK(colander_store_repair(fixture->directory, &check, report, NULL, NULL));
    ZERO(check.repaired_count);
    FAILS(open_code(fixture), COLANDER_CORRUPT);
    run(fixture, "mv MANIFEST-* rocksdb/");
    OK(colander_store_repair(fixture->directory, &check, report, NULL, NULL));
    assert_int_equal(check.repaired_count, 1);
    fixture_open(fixture);
}
