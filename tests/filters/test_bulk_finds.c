/*
 * Finds in families that were filled by a bulk are correct and use the filters
 * built with its files, whatever happens at the same time and to the process.
 *
 * The process that is killed is this program, started again. COLANDER_RUNS sets
 * the number of kills.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/bulk/bulk_inside.h"
#include "support/cases.h"
#include "support/claims.h"

#include "support/children.h"
#include "support/compared_finds.h"
#include "support/file_limit.h"
#include "support/filter_files.h"
#include "support/history.h"
#include "support/scoped.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#define KEYS 2000

/* Limits with which a few rows make many runs and files. */
static struct bulk_limits
random_limits(uint64_t *random)
{
    const struct bulk_limits limits = {
        .sorter = {.run_size = 1 + random_below(random, 50000),
                   .run_rows = 1 + random_below(random, 1000),
                   .fan_in = 2 + random_below(random, 6)},
        .sst_size = 4000 + random_below(random, 50000),
        .thread_count = 1 + random_below(random, 4),
    };

    return limits;
}

static struct colander_bulk *
begin(struct colander_family *family, uint64_t *random)
{
    const struct bulk_limits limits = random_limits(random);
    struct colander_bulk *bulk;

    OK(bulk_create_limited(family, &limits, &bulk, why()));
    return bulk;
}

/* Adds a random row under an integer as its key. */
static enum colander_code
add_at(struct store_fixture *fixture, struct colander_bulk *bulk,
       uint64_t number, uint64_t *random, struct colander_error *err)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    return colander_bulk_add(bulk, integer_key(number, &key),
                             random_row(fixture->builder, random), err);
}

/* Adds `count` random rows. */
static void
add_rows(struct store_fixture *fixture, struct colander_bulk *bulk,
         uint64_t count, uint64_t *random)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    for (uint64_t i = 0; i < count; i++) {
        random_key(random, KEYS, &key);
        OK(colander_bulk_add(bulk, colander_buffer_slice(&key),
                             random_row(fixture->builder, random), NULL));
    }
}

/* Adds rows with ascending keys, some of which are written to files at once,
 * and then `late` rows whose keys are between a few of them. */
static void
add_ordered_rows(struct store_fixture *fixture, struct colander_bulk *bulk,
                 uint64_t late, uint64_t *random)
{
    const uint64_t from = random_below(random, KEYS);

    for (uint64_t i = 0; i < KEYS + late; i++) {
        const uint64_t number =
            i < KEYS ? i : from + random_below(random, KEYS - from);

        OK(add_at(fixture, bulk, number, random, NULL));
    }
}

static void
commit(struct colander_bulk *bulk)
{
    OK(colander_bulk_commit(bulk, NULL, why()));
    colander_bulk_destroy(bulk);
}

/* Compares random finds with scans; no file may be in doubt. */
static void
assert_finds(struct store_fixture *fixture, struct colander_family *family,
             uint64_t *random)
{
    struct find_counts counts = {.row_count = 0};

    compare_random_finds(fixture->store, family, KEYS, 60, random, &counts);
    assert_int_equal(counts.files_unsure, 0);
    assert_true(counts.plans[COLANDER_PLAN_CANDIDATES] > 0);
}

/* Filters were built with all files, and none were built later. */
static void
assert_built(struct store_fixture *fixture, struct colander_family *family)
{
    struct colander_filter_stats stats = filter_stats(family);

    assert_true(stats.file_count > 0);
    assert_int_equal(stats.filter_count, stats.file_count);
    assert_int_equal(stats.built_count, stats.file_count);
    assert_int_equal(stats.rebuilt_count, 0);
    assert_int_equal(stats.damaged_count, 0);
    assert_int_equal(stats.error_count, 0);
    assert_filters_of_ssts(fixture, &family, 1);
}

/* ---------------------------------------------------------------- tests --- */

FIXTURE_TEST(filters_are_built_with_the_files)
{
    uint64_t random = random_seed(__func__);
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_bulk *bulk = begin(family, &random);

    add_rows(fixture, bulk, 3 * KEYS, &random);
    commit(bulk);
    assert_built(fixture, family);
    assert_finds(fixture, family, &random);
    assert_all_loaded(family);
    assert_finds(fixture, family, &random);
    assert_built(fixture, family);

    fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
    family = kept_family(fixture, "rows");
    assert_finds(fixture, family, &random);
    assert_all_loaded(family);
    assert_int_equal(filter_stats(family).rebuilt_count, 0);
    put_random_rows(fixture, family, KEYS, KEYS / 2, &random);
    assert_finds(fixture, family, &random);
    OK(colander_family_compact(family, NULL));
    assert_finds(fixture, family, &random);
    assert_filters_of_ssts(fixture, &family, 1);
}

/* Files written while rows were in order, which had to be rewritten. */
FIXTURE_TEST(filters_of_withdrawn_files_are_removed)
{
    uint64_t random = random_seed(__func__);

    for (uint64_t run = random_runs(4); run > 0; run--) {
        struct colander_family *family;
        struct colander_bulk *bulk;
        char name[32];

        snprintf(name, sizeof(name), "rows %llu", (unsigned long long)run);
        family = fixture_family(fixture, name);
        bulk = begin(family, &random);
        add_ordered_rows(fixture, bulk, random_below(&random, 100), &random);
        commit(bulk);
        assert_int_equal(count_rows(family), KEYS);
        assert_finds(fixture, family, &random);
        assert_all_loaded(family);
        assert_finds(fixture, family, &random);
        assert_int_equal(filter_stats(family).rebuilt_count, 0);
        assert_int_equal(filter_stats(family).error_count, 0);
        assert_filters_of_ssts(fixture, &family, 1);
        OK(colander_family_drop(family, NULL));
        colander_family_close(family); /* earlier, its files stay */
    }
}

/* With older rows, files above others, or old snapshots: both compaction styles
 * place files where they can. */
FIXTURE_TEST(finds_are_right_with_deleted_rows_and_snapshots)
{
    static const enum colander_compaction styles[] = {
        COLANDER_COMPACTION_LEVELED, COLANDER_COMPACTION_UNIVERSAL,
        COLANDER_COMPACTION_FIFO};
    uint64_t random = random_seed(__func__);

    for (size_t i = 0; i < 3; i++) {
        struct find_counts counts = {.row_count = 0};
        struct colander_snapshot *snapshots[2];
        struct colander_family *family;
        struct colander_bulk *bulk;

        fixture->options.compaction = styles[i];
        fixture_remake(fixture);
        family = kept_family(fixture, "rows");
        put_random_rows(fixture, family, KEYS, KEYS, &random);
        OK(colander_family_flush(family, NULL));
        OK(colander_store_snapshot(fixture->store, &snapshots[0], NULL));
        put_random_rows(fixture, family, KEYS, KEYS / 4, &random);
        OK(colander_family_delete_range(family, NULL, NULL, NULL, NULL));
        bulk = begin(family, &random);
        add_rows(fixture, bulk, KEYS, &random);
        OK(colander_store_snapshot(fixture->store, &snapshots[1], NULL));
        commit(bulk);
        assert_finds(fixture, family, &random);
        put_random_rows(fixture, family, KEYS, KEYS / 4, &random);
        for (unsigned k = 0; k < 60; k++)
            compare_random_find(family, snapshots[k % 2], KEYS, &random,
                                &counts);
        assert_finds(fixture, family, &random);
        OK(colander_family_compact(family, NULL));
        for (unsigned k = 0; k < 60; k++)
            compare_random_find(family, snapshots[k % 2], KEYS, &random,
                                &counts);
        assert_finds(fixture, family, &random);
        assert_int_equal(filter_stats(family).rebuilt_count, 0);
        colander_snapshot_release(snapshots[0]);
        colander_snapshot_release(snapshots[1]);
    }
}

FIXTURE_TEST(bulk_that_is_not_committed_leaves_no_filter)
{
    uint64_t random = random_seed(__func__);
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_bulk *bulk = begin(family, &random);

    add_ordered_rows(fixture, bulk, random_below(&random, 2), &random);
    OK(put_text(fixture, family, "a", "n", colander_integer(1), NULL));
    FAILS(colander_bulk_commit(bulk, NULL, NULL), COLANDER_INVALID);
    colander_bulk_destroy(bulk);
    assert_true(has_filters(fixture, 0));
    OK(colander_family_flush(family, NULL));
    assert_filters_of_ssts(fixture, &family, 1);
    assert_finds(fixture, family, &random);
}

FIXTURE_TEST(family_without_filters_gets_none)
{
    uint64_t random = random_seed(__func__);
    struct colander_family *family = kept_family(fixture, "rows");
    struct find_counts counts = {.row_count = 0};
    struct colander_filter_options options = usual_filters();
    struct colander_bulk *bulk;

    options.is_on = false;
    OK(colander_family_set_filters(family, &options, NULL));
    bulk = begin(family, &random);
    add_rows(fixture, bulk, KEYS, &random);
    commit(bulk);
    compare_random_finds(fixture->store, family, KEYS, 30, &random, &counts);
    assert_int_equal(filter_stats(family).filter_count, 0);
    assert_int_equal(filter_stats(family).error_count, 0);
    options.is_on = true;
    OK(colander_family_set_filters(family, &options, NULL));
    assert_all_loaded(family);
    assert_finds(fixture, family, &random);
}

/* Adds rows until that fails, or adds all and commits, which fails. */
static enum colander_code
fill(struct store_fixture *fixture, struct colander_bulk *bulk, bool in_order,
     uint64_t *random, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (uint64_t i = 0; i < KEYS && code == COLANDER_OK; i++)
        code = add_at(fixture, bulk, in_order ? i : random_below(random, KEYS),
                      random, err);
    return code == COLANDER_OK ? colander_bulk_commit(bulk, NULL, err) : code;
}

/* A file size limit acts like a full disk. */
static void
fail_on_full_disk(struct store_fixture *fixture, bool in_order,
                  uint64_t *random)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_bulk *bulk;
    enum colander_code code;
    char *files;

    OK(colander_family_create(family, NULL));
    bulk = begin(family, random);
    limit_files(3000);
    code = fill(fixture, bulk, in_order, random, why());
    limit_files(RLIM_INFINITY);
    assert_int_equal(code, COLANDER_IO);
    FAILS(colander_bulk_commit(bulk, NULL, why()), COLANDER_IO);
    files = describe_files(fixture->directory);
    assert_null(strstr(files, "bulk-"));
    free(files);
    assert_true(has_filters(fixture, 0));
    colander_bulk_destroy(bulk);
    bulk = begin(family, random);
    add_rows(fixture, bulk, KEYS, random);
    commit(bulk);
    assert_finds(fixture, family, random);
    OK(colander_family_drop(family, NULL));
}

FIXTURE_TEST(full_disk_fails_the_bulk_and_leaves_nothing)
{
    uint64_t random = random_seed(__func__);

    fail_on_full_disk(fixture, false, &random);
    fixture_remake(fixture);
    fail_on_full_disk(fixture, true, &random);
}

/* -------------------------------------------------------------- threads --- */

struct finder {
    struct store_fixture *fixture;
    struct colander_family *family;
    uint64_t random;
    atomic_bool is_over;
};

static void *
find_all_the_time(void *context)
{
    struct finder *finder = context;
    struct find_counts counts = {.row_count = 0};

    while (!atomic_load(&finder->is_over))
        compare_random_finds(finder->fixture->store, finder->family, KEYS, 1,
                             &finder->random, &counts);
    return NULL;
}

FIXTURE_TEST(finds_are_right_while_bulks_are_committed)
{
    uint64_t random = random_seed(__func__);

    for (uint64_t run = random_runs(4); run > 0; run--) {
        struct colander_family *family;
        struct finder finders[2];
        struct colander_bulk *bulk;
        pthread_t threads[2];
        char name[32];

        snprintf(name, sizeof(name), "rows %llu", (unsigned long long)run);
        family = kept_family(fixture, name);
        bulk = begin(family, &random);
        for (unsigned i = 0; i < 2; i++) {
            finders[i].fixture = fixture;
            finders[i].family = family;
            finders[i].random = random_next(&random);
            atomic_init(&finders[i].is_over, false);
            ZERO(pthread_create(&threads[i], NULL, find_all_the_time,
                                &finders[i]));
        }
        add_rows(fixture, bulk, KEYS, &random);
        commit(bulk);
        put_random_rows(fixture, family, KEYS, KEYS / 10, &random);
        OK(colander_family_flush(family, NULL));
        for (unsigned i = 0; i < 2; i++) {
            atomic_store(&finders[i].is_over, true);
            pthread_join(threads[i], NULL);
        }
        assert_finds(fixture, family, &random);
    }
}

/* --------------------------------------------------------------- killed --- */

#define KILLED_KEYS 3000

/* Fills one family after the other with bulks that each have all keys. */
ROLE(bulk)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_store *store;
    uint64_t random = strtoull(arguments[3], NULL, 10);
    uint64_t names = random;

    DID(colander_store_open(arguments[2], NULL, &store, why()));
    for (;;) {
        const struct bulk_limits limits = random_limits(&random);
        const uint64_t step = random_below(&random, 2) == 0 ? 1 : 7;
        SCOPED_FAMILY family = NULL;
        SCOPED_BULK bulk = NULL;
        char name[24];

        snprintf(name, sizeof(name), "%llu", (unsigned long long)names++);
        DID(colander_family_open(store, name, &family, why()));
        DID(bulk_create_limited(family, &limits, &bulk, why()));
        for (uint64_t i = 0; i < KILLED_KEYS; i++) {
            struct colander_slice row;

            random_columns(builder, &random);
            DID(colander_row_builder_finish(builder, &row, why()));
            DID(colander_bulk_add(
                bulk, integer_key(i * step % KILLED_KEYS, &key), row, why()));
        }
        DID(colander_bulk_commit(bulk, NULL, why()));
    }
    return 1;
}

static void
bulk_and_kill(struct store_fixture *fixture, uint64_t *random)
{
    const useconds_t pause =
        (useconds_t)(20 + random_below(random, 300)) * 1000;
    char seed[24];
    const char *const arguments[] = {"test", "--bulk", fixture->directory, seed,
                                     NULL};
    pid_t child;
    int status;

    snprintf(seed, sizeof(seed), "%llu",
             (unsigned long long)random_next(random));
    child = child_start(arguments);
    usleep(pause);
    ZERO(kill(child, SIGKILL));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

/* Checks that each family has all rows or none, and drops it. Returns how many
 * have rows. */
static size_t
check_families(struct store_fixture *fixture, uint64_t *random)
{
    struct colander_family *families[256];
    SCOPED(colander_names_release) struct colander_names names;
    size_t filled = 0;

    OK(colander_store_families(fixture->store, &names, NULL));
    assert_true(names.count <= 256);
    for (size_t i = 0; i < names.count; i++) {
        struct find_counts counts = {.row_count = 0};
        uint64_t count;

        families[i] = kept_family(fixture, names.names[i]);
        count = count_rows(families[i]);
        assert_true(count == 0 || count == KILLED_KEYS);
        filled += count != 0;
        compare_random_finds(fixture->store, families[i], KILLED_KEYS, 5,
                             random, &counts);
        assert_all_loaded(families[i]);
        compare_random_finds(fixture->store, families[i], KILLED_KEYS, 5,
                             random, &counts);
    }
    assert_filters_of_ssts(fixture, families, names.count);
    for (size_t i = 0; i < names.count; i++) {
        OK(colander_family_drop(families[i], NULL));
    }
    return filled;
}

FIXTURE_TEST(killed_bulk_is_there_as_a_whole_or_not_at_all)
{
    uint64_t random = random_seed(__func__);
    size_t filled = 0;
    size_t left = 0;

    fixture_close(fixture);
    for (uint64_t run = random_runs(6); run > 0; run--) {
        char *files;

        bulk_and_kill(fixture, &random);
        files = describe_files(fixture->directory);
        left += strstr(files, "bulk-") != NULL;
        free(files);
        fixture_open(fixture);
        files = describe_files(fixture->directory);
        assert_null(strstr(files, "bulk-"));
        free(files);
        filled += check_families(fixture, &random);
        fixture_close(fixture);
    }
    printf("%zu bulks were committed; %zu times something was left\n", filled,
           left);
    fixture_open(fixture);
}
