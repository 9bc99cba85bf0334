/*
 * Finds in families that were filled by a bulk: right and by filters that were
 * built with their files, whatever happens beside it and to the process.
 *
 * The process that is killed is this program, begun anew. COLANDER_RUNS sets
 * how often it is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/bulk_inside.h"

#include "support/compared_finds.h"
#include "support/filter_files.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define KEYS 2000

/* Limits at which a few rows make many runs and files. */
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
    struct colander_error err;

    if (bulk_create_limited(family, &limits, &bulk, &err) != COLANDER_OK)
        fail_msg("%s", err.message);
    return bulk;
}

/* Adds `count` random rows. */
static void
add_rows(struct store_fixture *fixture, struct colander_bulk *bulk,
         uint64_t count, uint64_t *random)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;

    for (uint64_t i = 0; i < count; i++) {
        random_key(random, KEYS, &key);
        OK(colander_bulk_add(bulk, colander_buffer_slice(&key),
                             random_row(fixture->builder, random), NULL));
    }
    colander_buffer_release(&key);
}

/* Adds rows whose keys ascend, some of which go to files at once, and then
 * `late` that belong between a few of them. */
static void
add_ordered_rows(struct store_fixture *fixture, struct colander_bulk *bulk,
                 uint64_t late, uint64_t *random)
{
    const uint64_t from = random_below(random, KEYS);
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;

    for (uint64_t i = 0; i < KEYS + late; i++) {
        const uint64_t number =
            i < KEYS ? i : from + random_below(random, KEYS - from);
        const struct colander_value part = colander_integer((int64_t)number);

        OK(colander_key_encode(&part, 1, &key, NULL));
        OK(colander_bulk_add(bulk, colander_buffer_slice(&key),
                             random_row(fixture->builder, random), NULL));
    }
    colander_buffer_release(&key);
}

static void
put_rows(struct store_fixture *fixture, struct colander_family *family,
         uint64_t count, uint64_t *random)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;

    for (uint64_t i = 0; i < count; i++) {
        random_key(random, KEYS, &key);
        OK(colander_family_put(family, colander_buffer_slice(&key),
                               random_row(fixture->builder, random),
                               COLANDER_AS_STORE, NULL));
    }
    colander_buffer_release(&key);
}

static void
commit(struct colander_bulk *bulk)
{
    struct colander_error err;

    if (colander_bulk_commit(bulk, NULL, &err) != COLANDER_OK)
        fail_msg("%s", err.message);
    colander_bulk_destroy(bulk);
}

/* Random finds are right, and none has to doubt a file. */
static void
assert_finds(struct store_fixture *fixture, struct colander_family *family,
             uint64_t *random)
{
    struct find_counts counts = {.row_count = 0};

    compare_random_finds(fixture->store, family, KEYS, 60, random, &counts);
    assert_int_equal(counts.files_unsure, 0);
    assert_true(counts.plans[COLANDER_PLAN_CANDIDATES] > 0);
}

/* Filters were built with all files, and none later. */
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

static void
filters_are_built_with_the_files(void **state)
{
    struct store_fixture *fixture = *state;
    uint64_t random = random_seed(__func__);
    struct colander_family *family = fixture_family(fixture, "rows");
    struct colander_bulk *bulk = begin(family, &random);

    add_rows(fixture, bulk, 3 * KEYS, &random);
    commit(bulk);
    assert_built(fixture, family);
    assert_finds(fixture, family, &random);
    assert_all_loaded(family);
    assert_finds(fixture, family, &random);
    assert_built(fixture, family);
    colander_family_close(family);

    fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
    family = fixture_family(fixture, "rows");
    assert_finds(fixture, family, &random);
    assert_all_loaded(family);
    assert_int_equal(filter_stats(family).rebuilt_count, 0);
    put_rows(fixture, family, KEYS / 2, &random);
    assert_finds(fixture, family, &random);
    OK(colander_family_compact(family, NULL));
    assert_finds(fixture, family, &random);
    assert_filters_of_ssts(fixture, &family, 1);
    colander_family_close(family);
}

/* Files that were made while rows came in order, and had to be made again. */
static void
filters_of_withdrawn_files_go(void **state)
{
    struct store_fixture *fixture = *state;
    uint64_t random = random_seed(__func__);

    for (uint64_t run = random_runs(20); run > 0; run--) {
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
        colander_family_close(family);
    }
}

/* Whatever a find looks at, rows of before, files above others, older
 * snapshots: both styles of compaction put files where they can. */
static void
finds_are_right_beside_deleted_rows_and_snapshots(void **state)
{
    static const enum colander_compaction styles[] = {
        COLANDER_COMPACTION_LEVELED, COLANDER_COMPACTION_UNIVERSAL,
        COLANDER_COMPACTION_FIFO};
    struct store_fixture *fixture = *state;
    uint64_t random = random_seed(__func__);

    for (size_t i = 0; i < 3; i++) {
        struct find_counts counts = {.row_count = 0};
        struct colander_snapshot *snapshots[2];
        struct colander_family *family;
        struct colander_bulk *bulk;

        fixture->options.compaction = styles[i];
        fixture_remake(fixture);
        family = fixture_family(fixture, "rows");
        put_rows(fixture, family, KEYS, &random);
        OK(colander_family_flush(family, NULL));
        OK(colander_store_snapshot(fixture->store, &snapshots[0], NULL));
        put_rows(fixture, family, KEYS / 4, &random);
        OK(colander_family_delete_range(family, NULL, COLANDER_AS_STORE, NULL,
                                        NULL));
        bulk = begin(family, &random);
        add_rows(fixture, bulk, KEYS, &random);
        OK(colander_store_snapshot(fixture->store, &snapshots[1], NULL));
        commit(bulk);
        assert_finds(fixture, family, &random);
        put_rows(fixture, family, KEYS / 4, &random);
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
        colander_family_close(family);
    }
}

static void
bulk_that_is_not_committed_leaves_no_filter(void **state)
{
    struct store_fixture *fixture = *state;
    uint64_t random = random_seed(__func__);
    struct colander_family *family = fixture_family(fixture, "rows");
    struct colander_bulk *bulk = begin(family, &random);

    add_ordered_rows(fixture, bulk, random_below(&random, 2), &random);
    OK(put_text(fixture, family, "a", "n", colander_integer(1), NULL));
    assert_int_equal(colander_bulk_commit(bulk, NULL, NULL), COLANDER_INVALID);
    colander_bulk_destroy(bulk);
    assert_true(has_filters(fixture, 0));
    OK(colander_family_flush(family, NULL));
    assert_filters_of_ssts(fixture, &family, 1);
    assert_finds(fixture, family, &random);
    colander_family_close(family);
}

static void
family_without_filters_gets_none(void **state)
{
    struct store_fixture *fixture = *state;
    uint64_t random = random_seed(__func__);
    struct colander_family *family = fixture_family(fixture, "rows");
    struct find_counts counts = {.row_count = 0};
    struct colander_filter_options options;
    struct colander_bulk *bulk;

    colander_filter_options_init(&options);
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
    colander_family_close(family);
}

/* Adds rows until that fails, or all are added and the commit does. */
static enum colander_code
fill(struct store_fixture *fixture, struct colander_bulk *bulk, bool in_order,
     uint64_t *random, struct colander_error *err)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;

    for (int64_t i = 0; i < KEYS && code == COLANDER_OK; i++) {
        const struct colander_value part = colander_integer(i);

        if (in_order)
            OK(colander_key_encode(&part, 1, &key, NULL));
        else
            random_key(random, KEYS, &key);
        code = colander_bulk_add(bulk, colander_buffer_slice(&key),
                                 random_row(fixture->builder, random), err);
    }
    if (code == COLANDER_OK)
        code = colander_bulk_commit(bulk, NULL, err);
    colander_buffer_release(&key);
    return code;
}

/* A file that may not grow is as a disk that is full. */
static void
fail_on_full_disk(struct store_fixture *fixture, bool in_order,
                  uint64_t *random)
{
    struct colander_family *family = fixture_family(fixture, "rows");
    struct colander_bulk *bulk;
    struct colander_error err;
    struct rlimit before;
    struct rlimit limit;
    enum colander_code code;
    char *files;

    OK(colander_family_create(family, NULL));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 3000;
    (void)signal(SIGXFSZ, SIG_IGN);
    bulk = begin(family, random);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    code = fill(fixture, bulk, in_order, random, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(code, COLANDER_IO);
    assert_int_equal(colander_bulk_commit(bulk, NULL, &err), COLANDER_IO);
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
    colander_family_close(family);
}

static void
full_disk_fails_the_bulk_and_leaves_nothing(void **state)
{
    uint64_t random = random_seed(__func__);

    fail_on_full_disk(*state, false, &random);
    fixture_remake(*state);
    fail_on_full_disk(*state, true, &random);
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

static void
finds_are_right_while_bulks_are_committed(void **state)
{
    struct store_fixture *fixture = *state;
    uint64_t random = random_seed(__func__);

    for (uint64_t run = random_runs(8); run > 0; run--) {
        struct colander_family *family;
        struct finder finders[2];
        struct colander_bulk *bulk;
        pthread_t threads[2];
        char name[32];

        snprintf(name, sizeof(name), "rows %llu", (unsigned long long)run);
        family = fixture_family(fixture, name);
        bulk = begin(family, &random);
        for (unsigned i = 0; i < 2; i++) {
            finders[i].fixture = fixture;
            finders[i].family = family;
            finders[i].random = random_next(&random);
            atomic_init(&finders[i].is_over, false);
            assert_int_equal(pthread_create(&threads[i], NULL,
                                            find_all_the_time, &finders[i]),
                             0);
        }
        add_rows(fixture, bulk, KEYS, &random);
        commit(bulk);
        put_rows(fixture, family, KEYS / 10, &random);
        OK(colander_family_flush(family, NULL));
        for (unsigned i = 0; i < 2; i++) {
            atomic_store(&finders[i].is_over, true);
            pthread_join(threads[i], NULL);
        }
        assert_finds(fixture, family, &random);
        colander_family_close(family);
    }
}

/* --------------------------------------------------------------- killed --- */

#define KILLED_KEYS 3000

static void
must(enum colander_code code, const struct colander_error *err)
{
    if (code == COLANDER_OK)
        return;
    fprintf(stderr, "a bulk failed: %s\n", err->message);
    _exit(3);
}

/* Fills one family after the other by bulks, each with all keys. */
_Noreturn static void
bulk_until_killed(char **arguments)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_store *store;
    struct colander_error err;
    uint64_t random = strtoull(arguments[3], NULL, 10);
    uint64_t names = random;

    must(colander_store_open(arguments[2], NULL, &store, &err), &err);
    for (;;) {
        const struct bulk_limits limits = random_limits(&random);
        const uint64_t step = random_below(&random, 2) == 0 ? 1 : 7;
        struct colander_family *family;
        struct colander_bulk *bulk;
        char name[24];

        snprintf(name, sizeof(name), "%llu", (unsigned long long)names++);
        must(colander_family_open(store, name, &family, &err), &err);
        must(bulk_create_limited(family, &limits, &bulk, &err), &err);
        for (uint64_t i = 0; i < KILLED_KEYS; i++) {
            const struct colander_value part =
                colander_integer((int64_t)(i * step % KILLED_KEYS));
            struct colander_slice row;

            random_columns(builder, &random);
            must(colander_row_builder_finish(builder, &row, &err), &err);
            must(colander_key_encode(&part, 1, &key, &err), &err);
            must(
                colander_bulk_add(bulk, colander_buffer_slice(&key), row, &err),
                &err);
        }
        must(colander_bulk_commit(bulk, NULL, &err), &err);
        colander_bulk_destroy(bulk);
        colander_family_close(family);
    }
}

static void
bulk_and_kill(struct store_fixture *fixture, uint64_t *random)
{
    const long milliseconds = 20 + (long)random_below(random, 300);
    const struct timespec pause = {0, milliseconds * 1000000};
    char seed[24];
    pid_t child;
    int status;

    snprintf(seed, sizeof(seed), "%llu",
             (unsigned long long)random_next(random));
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", "test", "--bulk", fixture->directory, seed,
              (char *)NULL);
        _exit(127);
    }
    nanosleep(&pause, NULL);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

/* Each family has all rows or none; then it is dropped. Returns how many have
 * rows. */
static size_t
check_families(struct store_fixture *fixture, uint64_t *random)
{
    struct colander_family *families[256];
    struct colander_names names;
    size_t filled = 0;

    OK(colander_store_families(fixture->store, &names, NULL));
    assert_true(names.count <= 256);
    for (size_t i = 0; i < names.count; i++) {
        struct find_counts counts = {.row_count = 0};
        uint64_t count;

        families[i] = fixture_family(fixture, names.names[i]);
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
        colander_family_close(families[i]);
    }
    colander_names_release(&names);
    return filled;
}

static void
killed_bulk_is_there_as_a_whole_or_not_at_all(void **state)
{
    struct store_fixture *fixture = *state;
    uint64_t random = random_seed(__func__);
    size_t filled = 0;
    size_t left = 0;

    fixture_close(fixture);
    for (uint64_t run = random_runs(12); run > 0; run--) {
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

int
main(int argc, char **argv)
{
#define TEST(test)                                                             \
    cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(filters_are_built_with_the_files),
        TEST(filters_of_withdrawn_files_go),
        TEST(finds_are_right_beside_deleted_rows_and_snapshots),
        TEST(bulk_that_is_not_committed_leaves_no_filter),
        TEST(family_without_filters_gets_none),
        TEST(full_disk_fails_the_bulk_and_leaves_nothing),
        TEST(finds_are_right_while_bulks_are_committed),
        TEST(killed_bulk_is_there_as_a_whole_or_not_at_all),
    };

    if (argc == 4 && strcmp(argv[1], "--bulk") == 0)
        bulk_until_killed(argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
