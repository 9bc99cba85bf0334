/*
 * Runs of large loads into families with rows: gets, scans and finds are those
 * of a model, also in snapshots, whatever is written, flushed and compacted
 * before, after and meanwhile.
 *
 * COLANDER_RUNS sets the number of steps.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/bulk/bulk_inside.h"
#include "columns/runs.h"
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/filter_files.h"
#include "support/history.h"
#include "support/scoped.h"

#include <pthread.h>
#include <stdatomic.h>

#define KEYS 300
#define NONE (-1)
#define SNAPSHOTS 3
#define GROUPS 7

/* A row has its version, and a group that depends on it. */
struct model {
    int64_t versions[KEYS]; /* NONE: no row */
};

struct moment {
    struct colander_snapshot *snapshot;
    struct model model;
};

struct stepper {
    struct store_fixture *fixture;
    struct colander_family *family;
    struct colander_buffer key;
    struct model now;
    struct moment moments[SNAPSHOTS];
    int64_t version; /* the last one */
    uint64_t random;
};

static struct colander_slice
row_of(struct stepper *it, int64_t version)
{
    struct colander_slice row;

    colander_row_builder_add(it->fixture->builder, "version",
                             colander_integer(version));
    colander_row_builder_add(it->fixture->builder, "group",
                             colander_integer(version % GROUPS));
    OK(colander_row_builder_finish(it->fixture->builder, &row, NULL));
    return row;
}

static void
write_one(struct stepper *it, bool is_patch)
{
    const uint64_t number = random_below(&it->random, KEYS);
    const struct colander_slice key = integer_key(number, &it->key);

    it->now.versions[number] = ++it->version;
    if (is_patch)
        OK(colander_family_patch(it->family, key, row_of(it, it->version), NULL,
                                 NULL));
    else
        OK(colander_family_put(it->family, key, row_of(it, it->version), NULL,
                               NULL));
}

static void
delete_one(struct stepper *it)
{
    const uint64_t number = random_below(&it->random, KEYS);

    it->now.versions[number] = NONE;
    OK(colander_family_delete(it->family, integer_key(number, &it->key), NULL,
                              NULL));
}

/* In order or not, with some keys twice, of one file or several. */
static void
write_run(struct stepper *it)
{
    const struct bulk_limits limits = {
        .is_run = true,
        .sorter = {.run_size = 1 + random_below(&it->random, 9000),
                   .run_rows = 1 + random_below(&it->random, 100),
                   .fan_in = 3},
        .sst_size = 1000 + random_below(&it->random, 9000),
        .thread_count = 1 + random_below(&it->random, 3),
    };
    const bool in_order = random_below(&it->random, 2) == 0;
    const uint64_t from = random_below(&it->random, KEYS);
    const uint64_t count = random_below(&it->random, KEYS);
    struct colander_bulk *run;

    OK(bulk_create_limited(it->family, &limits, &run, NULL));
    for (uint64_t i = 0; i < count && (!in_order || from + i < KEYS); i++) {
        const uint64_t number =
            in_order ? from + i : random_below(&it->random, KEYS);

        it->now.versions[number] = ++it->version;
        OK(colander_bulk_add(run, integer_key(number, &it->key),
                             row_of(it, it->version), NULL));
    }
    OK(colander_bulk_commit(run, NULL, why()));
    colander_bulk_destroy(run);
}

static void
take_snapshot(struct stepper *it)
{
    struct moment *moment = &it->moments[random_below(&it->random, SNAPSHOTS)];

    colander_snapshot_release(moment->snapshot);
    OK(colander_store_snapshot(it->fixture->store, &moment->snapshot, NULL));
    moment->model = it->now;
}

static void
assert_model_row(struct colander_slice key, struct colander_slice row,
                 const struct model *model, int64_t group)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;
    struct colander_value version;
    size_t count;
    bool found;

    OK(colander_key_decode(key, parts, &count, &scratch, NULL));
    OK(colander_row_get(row, "version", &version, &found, NULL));
    assert_true(found);
    assert_int_equal(version.integer, model->versions[parts[0].integer]);
    assert_true(group == NONE || version.integer % GROUPS == group);
}

/* A scan, or a find of a group. */
static void
assert_found(struct stepper *it, const struct colander_snapshot *snapshot,
             const struct model *model, int64_t group)
{
    const struct colander_value value = colander_integer(group);
    struct colander_predicate *predicate = NULL;
    struct colander_query query;
    struct colander_cursor *cursor;
    struct colander_result result;
    size_t expected = 0;
    size_t count = 0;
    bool is_row;

    colander_query_init(&query);
    query.snapshot = snapshot;
    if (group != NONE) {
        predicate = colander_where("group", COLANDER_EQ, value, NULL);
        assert_non_null(predicate);
        query.where = predicate;
    }
    for (size_t i = 0; i < KEYS; i++)
        expected += model->versions[i] != NONE &&
                    (group == NONE || model->versions[i] % GROUPS == group);
    OK(colander_family_find(it->family, &query, &cursor, why()));
    for (;;) {
        OK(colander_cursor_next(cursor, &is_row, &result, why()));
        if (!is_row)
            break;
        assert_model_row(result.key, result.row, model, group);
        count++;
    }
    assert_int_equal(count, expected);
    colander_cursor_close(cursor);
    colander_predicate_destroy(predicate);
}

static void
assert_moment(struct stepper *it, const struct colander_snapshot *snapshot,
              const struct model *model)
{
    const struct colander_read read = {.snapshot = snapshot};
    const uint64_t number = random_below(&it->random, KEYS);
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    bool found;

    assert_found(it, snapshot, model, NONE);
    assert_found(it, snapshot, model,
                 (int64_t)random_below(&it->random, GROUPS));
    OK(colander_family_get(it->family, integer_key(number, &it->key), &read,
                           &row, &found, NULL));
    assert_int_equal(found, model->versions[number] != NONE);
}

static void
take_step(struct stepper *it)
{
    switch (random_below(&it->random, 10)) {
    case 0:
        write_run(it);
        break;
    case 1:
        OK(colander_family_flush(it->family, NULL));
        break;
    case 2:
        if (random_below(&it->random, 10) == 0)
            OK(colander_family_compact(it->family, NULL));
        break;
    case 3:
        delete_one(it);
        break;
    case 4:
        if (random_below(&it->random, 4) == 0)
            take_snapshot(it);
        break;
    default:
        write_one(it, random_below(&it->random, 2) == 0);
    }
}

static void
step_through(struct store_fixture *fixture, enum colander_compaction compaction,
             uint64_t *random)
{
    struct stepper it = {.fixture = fixture, .random = random_next(random)};
    const uint64_t steps = random_runs(80);

    fixture->options.compaction = compaction;
    fixture_remake(fixture);
    it.family = kept_family(fixture, "rows");
    for (size_t i = 0; i < KEYS; i++)
        it.now.versions[i] = NONE;
    for (size_t i = 0; i < SNAPSHOTS; i++) {
        it.moments[i].model = it.now;
        OK(colander_store_snapshot(fixture->store, &it.moments[i].snapshot,
                                   NULL));
    }
    for (uint64_t step = 0; step < steps; step++) {
        const struct moment *moment =
            &it.moments[random_below(&it.random, SNAPSHOTS)];

        take_step(&it);
        assert_moment(&it, NULL, &it.now);
        assert_moment(&it, moment->snapshot, &moment->model);
    }
    assert_filters_of_ssts(fixture, &it.family, 1);
    for (size_t i = 0; i < SNAPSHOTS; i++)
        colander_snapshot_release(it.moments[i].snapshot);
    fixture_reopen(fixture, COLANDER_OPEN_OR_CREATE);
    it.family = kept_family(fixture, "rows");
    assert_moment(&it, NULL, &it.now);
    colander_buffer_release(&it.key);
}

FIXTURE_TEST(rows_are_those_of_a_model)
{
    uint64_t random = random_seed(__func__);

    step_through(fixture, COLANDER_COMPACTION_LEVELED, &random);
    step_through(fixture, COLANDER_COMPACTION_UNIVERSAL, &random);
}

/* -------------------------------------------------------------- threads --- */

struct beside {
    struct colander_family *family;
    atomic_bool is_over;
};

static void *
compact_all_the_time(void *context)
{
    struct beside *beside = context;

    while (!atomic_load(&beside->is_over))
        OK(colander_family_compact(beside->family, NULL));
    return NULL;
}

/* A compaction may replace a file before it is reported to have joined. */
FIXTURE_TEST(files_that_compactions_replace_at_once_are_not_listed)
{
    struct beside beside = {.family = kept_family(fixture, "rows")};
    uint64_t random = random_seed(__func__);
    pthread_t thread;

    put_random_rows(fixture, beside.family, 50, 50, &random);
    ZERO(pthread_create(&thread, NULL, compact_all_the_time, &beside));
    for (uint64_t run = random_runs(20); run > 0; run--) {
        struct find_counts counts = {.row_count = 0};
        struct colander_bulk *bulk;
        SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

        OK(colander_run_create(beside.family, &bulk, NULL));
        for (unsigned i = 0; i < 20; i++) {
            random_key(&random, 50, &key);
            OK(colander_bulk_add(bulk, colander_buffer_slice(&key),
                                 random_row(fixture->builder, &random), NULL));
        }
        OK(colander_bulk_commit(bulk, NULL, why()));
        colander_bulk_destroy(bulk);
        compare_random_finds(fixture->store, beside.family, 50, 2, &random,
                             &counts);
    }
    atomic_store(&beside.is_over, true);
    pthread_join(thread, NULL);
    assert_filters_of_ssts(fixture, &beside.family, 1);
}

#define COUNTERS 10

struct counter {
    struct store_fixture *fixture;
    struct colander_family *family;
    atomic_bool is_over;
    uint64_t count; /* patches */
};

/* Each patch adds a column, which no other row has. */
static void *
patch_all_the_time(void *context)
{
    struct counter *counter = context;
    SCOPED_BUILDER builder = colander_row_builder_create();
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    while (!atomic_load(&counter->is_over)) {
        struct colander_slice patch;
        char name[32];

        snprintf(name, sizeof(name), "n%llu",
                 (unsigned long long)counter->count);
        colander_row_builder_add(builder, name, colander_boolean(true));
        OK(colander_row_builder_finish(builder, &patch, NULL));
        OK(colander_family_patch(counter->family,
                                 integer_key(counter->count % COUNTERS, &key),
                                 patch, NULL, NULL));
        counter->count++;
    }
    return NULL;
}

/* A run replaces a row as a whole, before or after a patch of it. So a row has
 * the version of the last run, and all patches of it since then. */
FIXTURE_TEST(patches_come_before_or_after_a_run)
{
    struct counter counter = {.fixture = fixture,
                              .family = kept_family(fixture, "rows")};
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    const uint64_t runs = random_runs(15);
    pthread_t thread;

    ZERO(pthread_create(&thread, NULL, patch_all_the_time, &counter));
    for (uint64_t version = 1; version <= runs; version++) {
        struct colander_bulk *run;

        OK(colander_run_create(counter.family, &run, NULL));
        for (uint64_t i = 0; i < COUNTERS; i++) {
            struct colander_slice row;

            colander_row_builder_add(fixture->builder, "version",
                                     colander_integer((int64_t)version));
            OK(colander_row_builder_finish(fixture->builder, &row, NULL));
            OK(colander_bulk_add(run, integer_key(i, &key), row, NULL));
        }
        OK(colander_bulk_commit(run, NULL, why()));
        colander_bulk_destroy(run);
    }
    atomic_store(&counter.is_over, true);
    pthread_join(thread, NULL);
    for (uint64_t i = 0; i < COUNTERS; i++) {
        SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
        struct colander_value value;
        bool has_patches = false;
        bool found;

        OK(colander_family_get(counter.family, integer_key(i, &key), NULL, &row,
                               &found, NULL));
        assert_true(found);
        OK(colander_row_get(colander_buffer_slice(&row), "version", &value,
                            &found, NULL));
        assert_true(found);
        assert_int_equal(value.integer, runs);
        for (uint64_t n = i; n < counter.count; n += COUNTERS) {
            char name[32];

            snprintf(name, sizeof(name), "n%llu", (unsigned long long)n);
            OK(colander_row_get(colander_buffer_slice(&row), name, &value,
                                &found, NULL));
            assert_true(found || !has_patches); /* none is lost after one */
            has_patches = found;
        }
    }
}
