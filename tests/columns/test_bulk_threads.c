/*
 * Bulks while other threads cancel them, take snapshots and write.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bulks.h"
#include "support/cases.h"
#include "support/scoped.h"

#include <pthread.h>
#include <time.h>

static void *
cancel_later(void *context)
{
    const struct timespec pause = {0, 20000000};

    nanosleep(&pause, NULL);
    colander_bulk_cancel(context);
    return NULL;
}

FIXTURE_TEST(cancelled_bulk_ends_and_leaves_nothing)
{
    struct bulk_limits limits = small_limits();
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;
    struct colander_bulk *bulk;
    pthread_t thread;

    limits.sorter.run_size = 100000;
    limits.sorter.run_rows = 10000;
    bulk = begin(family, &limits);
    ZERO(pthread_create(&thread, NULL, cancel_later, bulk));
    for (uint64_t i = 0; code == COLANDER_OK; i++) {
        key_of(i * 7919 % 1000003, &key);
        code = colander_bulk_add(bulk, colander_buffer_slice(&key),
                                 number_row(fixture, i), NULL);
    }
    pthread_join(thread, NULL);
    assert_int_equal(code, COLANDER_CANCELLED);
    FAILS(colander_bulk_commit(bulk, NULL, NULL), COLANDER_CANCELLED);
    colander_bulk_destroy(bulk);
    assert_int_equal(count_rows(family), 0);
    assert_int_equal(count_directories(fixture), 0);
}

FIXTURE_TEST(commit_is_cancelled_while_it_builds)
{
    struct bulk_limits limits = small_limits();
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_bulk *bulk;
    pthread_t thread;

    limits.sorter.run_size = 100000;
    limits.sst_size = 1000; /* slow: about a dozen rows a file */
    bulk = begin(family, &limits);
    for (uint64_t i = 0; i < 100000; i++) {
        key_of(i * 7919 % 1000003, &key);
        OK(colander_bulk_add(bulk, colander_buffer_slice(&key),
                             number_row(fixture, i), NULL));
    }
    ZERO(pthread_create(&thread, NULL, cancel_later, bulk));
    FAILS(colander_bulk_commit(bulk, NULL, NULL), COLANDER_CANCELLED);
    pthread_join(thread, NULL);
    colander_bulk_destroy(bulk);
    assert_int_equal(count_rows(family), 0);
    assert_int_equal(count_directories(fixture), 0);
}

/* Takes a snapshot, counts its rows, and again a moment later, until there are
 * some: a snapshot always has all rows or none. In between it holds no
 * snapshot, as that is when the engine may make rows visible to all. */
struct watcher {
    struct colander_store *store;
    struct colander_family *family;
    uint64_t expected;
    bool is_good;
};

static uint64_t
count_at(struct colander_family *family,
         const struct colander_snapshot *snapshot)
{
    struct colander_query query = usual_query();
    uint64_t count = UINT64_MAX;

    query.snapshot = snapshot;
    if (colander_family_count(family, &query, &count, NULL) != COLANDER_OK)
        return UINT64_MAX;
    return count;
}

static void
wait_a_moment(void)
{
    const struct timespec moment = {0, 200000};

    nanosleep(&moment, NULL);
}

static void *
watch(void *context)
{
    struct watcher *watcher = context;
    uint64_t first = 0;

    while (first == 0) {
        struct colander_snapshot *snapshot;
        uint64_t second;

        wait_a_moment();
        if (colander_store_snapshot(watcher->store, &snapshot, NULL) !=
            COLANDER_OK)
            return NULL;
        first = count_at(watcher->family, snapshot);
        wait_a_moment();
        second = count_at(watcher->family, snapshot);
        colander_snapshot_release(snapshot);
        if (first != second || (first != 0 && first != watcher->expected))
            return NULL;
    }
    watcher->is_good = true;
    return NULL;
}

FIXTURE_TEST(snapshots_see_all_rows_or_none)
{
    const struct bulk_limits small = small_limits();

    for (unsigned run = 0; run < 40; run++) {
        struct watcher watcher = {fixture->store, NULL, 300, false};
        struct colander_bulk *bulk;
        pthread_t thread;
        char name[24];

        snprintf(name, sizeof(name), "rows %u", run);
        watcher.family = fixture_family(fixture, name);
        bulk = begin(watcher.family, &small);
        for (uint64_t i = 0; i < watcher.expected; i++)
            add_row(bulk, i * 7 % KEYS_MAX, number_row(fixture, i), NULL);
        ZERO(pthread_create(&thread, NULL, watch, &watcher));
        assert_int_equal(commit(bulk), watcher.expected);
        pthread_join(thread, NULL);
        assert_true(watcher.is_good);
        colander_family_close(watcher.family);
    }
}

/* Patches a row of the bulk, after a while. */
struct patcher {
    struct colander_family *family;
    struct timespec pause;
    enum colander_code code;
};

static void *
patch_later(void *context)
{
    struct patcher *patcher = context;
    SCOPED_BUILDER builder = colander_row_builder_create();
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    const struct colander_value part = colander_integer(3);
    struct colander_slice row;

    nanosleep(&patcher->pause, NULL);
    colander_row_builder_add(builder, "patched", colander_boolean(true));
    patcher->code = colander_row_builder_finish(builder, &row, NULL);
    if (patcher->code == COLANDER_OK)
        patcher->code = colander_key_encode(&part, 1, &key, NULL);
    if (patcher->code == COLANDER_OK)
        patcher->code = colander_family_patch(
            patcher->family, colander_buffer_slice(&key), row, NULL, NULL);
    return NULL;
}

/* If the bulk was committed, the patched row has its column. */
static void
assert_patched(struct colander_family *family, bool is_committed)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    struct colander_value value;
    bool found;

    key_of(3, &key);
    OK(colander_family_get(family, colander_buffer_slice(&key), NULL, &row,
                           &found, NULL));
    assert_true(found);
    OK(colander_row_get(colander_buffer_slice(&row), "patched", &value, &found,
                        NULL));
    assert_true(found);
    OK(colander_row_get(colander_buffer_slice(&row), "n", &value, &found,
                        NULL));
    assert_int_equal(found, is_committed);
    assert_int_equal(count_rows(family), is_committed ? 10 : 1);
}

FIXTURE_TEST(patch_during_a_commit_loses_nothing)
{
    uint64_t random = random_seed(__func__);

    for (uint64_t run = random_runs(60); run > 0; run--) {
        struct patcher patcher = {.code = COLANDER_OK};
        struct colander_bulk *bulk;
        enum colander_code code;
        pthread_t thread;
        char name[32];

        snprintf(name, sizeof(name), "rows %llu", (unsigned long long)run);
        patcher.family = fixture_family(fixture, name);
        patcher.pause.tv_nsec = (long)random_below(&random, 3000000);
        OK(colander_bulk_create(patcher.family, &bulk, NULL));
        for (uint64_t i = 0; i < 10; i++)
            add_row(bulk, i, number_row(fixture, i), NULL);
        ZERO(pthread_create(&thread, NULL, patch_later, &patcher));
        code = colander_bulk_commit(bulk, NULL, NULL);
        pthread_join(thread, NULL);
        colander_bulk_destroy(bulk);
        assert_true(code == COLANDER_OK || code == COLANDER_INVALID);
        OK(patcher.code);
        assert_patched(patcher.family, code == COLANDER_OK);
        colander_family_close(patcher.family);
    }
}
