/*
 * What an observer is notified of about SST files, compared with the store.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine.h"
#include "support/children.h"
#include "support/file_limit.h"
#include "support/scoped.h"
#include "support/sst_fixture.h"

#include <signal.h>
#include <sys/wait.h>

/* ------------------------------------------------------------ workload --- */

#define FAMILIES 3
#define SNAPSHOTS 4

struct work {
    struct sst_fixture *fixture;
    uint64_t random;
    struct engine_family *families[FAMILIES];
    struct colander_snapshot *snapshots[SNAPSHOTS];
};

static void
open_families(struct work *work)
{
    static const char *const names[FAMILIES] = {"a", "b", "c"};

    for (size_t i = 0; i < FAMILIES; i++)
        work->families[i] = family_of(&work->fixture->base, names[i]);
}

static void
release_all(struct work *work)
{
    close_families(&work->fixture->base);
    for (size_t i = 0; i < SNAPSHOTS; i++) {
        colander_snapshot_release(work->snapshots[i]);
        work->snapshots[i] = NULL;
    }
}

static void
reopen(struct work *work)
{
    release_all(work);
    close_engine(&work->fixture->base);
    open_watched(work->fixture);
    open_families(work);
}

static void
drop(struct work *work, size_t which)
{
    struct watch *watch = &work->fixture->watch;
    uint32_t id = engine_family_id(work->families[which]);

    OK(engine_family_drop(work->families[which], NULL));
    /* The compaction's output so far stays until the store is closed. */
    pthread_mutex_lock(&watch->mutex);
    watch->is_dropped[id] = true;
    pthread_mutex_unlock(&watch->mutex);
    close_families(&work->fixture->base);
    open_families(work);
    for (size_t i = 0; i < SNAPSHOTS; i++) { /* of earlier states */
        colander_snapshot_release(work->snapshots[i]);
        work->snapshots[i] = NULL;
    }
}

static void
one_step(struct work *work)
{
    struct engine *engine = work->fixture->base.engine;
    size_t which = random_below(&work->random, FAMILIES);
    size_t slot = random_below(&work->random, SNAPSHOTS);
    struct engine_family *family = work->families[which];
    uint64_t dice = random_below(&work->random, 100);

    if (dice < 60) {
        uint32_t count = 1 + (uint32_t)random_below(&work->random, 400);

        assert_true(write_rows(engine, family, &work->random, count));
    } else if (dice < 76) {
        OK(engine_family_flush(family, NULL));
    } else if (dice < 80) {
        OK(engine_family_compact(family, NULL));
    } else if (dice < 96) {
        colander_snapshot_release(work->snapshots[slot]);
        OK(engine_snapshot_create(engine, &work->snapshots[slot], NULL));
    } else if (dice < 98) {
        drop(work, which);
    } else {
        reopen(work);
    }
    if (dice % 3 == 0)
        check_now(work->fixture, work->families[which]);
    if (work->snapshots[slot] != NULL)
        check_family(work->fixture, work->families[which],
                     work->snapshots[slot]);
}

static void
run_work(struct sst_fixture *fixture, enum colander_compaction compaction)
{
    struct work work = {.fixture = fixture};
    uint64_t steps = random_runs(250);

    work.random = random_seed("reported_rows_are_the_rows_of_the_store");
    fixture->options.compaction = compaction;
    open_watched(fixture);
    open_families(&work);
    for (uint64_t i = 0; i < steps; i++)
        one_step(&work);
    (void)check_files(fixture);
    reopen(&work);
    (void)check_files(fixture);
    for (size_t i = 0; i < FAMILIES; i++)
        check_now(fixture, work.families[i]);
    release_all(&work);
}

SST_TEST(reported_rows_are_the_rows_of_a_leveled_store)
{
    run_work(fixture, COLANDER_COMPACTION_LEVELED);
}

SST_TEST(reported_rows_are_the_rows_of_a_universal_store)
{
    run_work(fixture, COLANDER_COMPACTION_UNIVERSAL);
}

SST_TEST(reported_rows_are_the_rows_of_a_fifo_store)
{
    run_work(fixture, COLANDER_COMPACTION_FIFO);
}

/* Counts the files of the family that were written because memory was full, or
 * for another reason. */
static size_t
count_passing(struct watch *watch, bool is_passing)
{
    size_t count = 0;

    pthread_mutex_lock(&watch->mutex);
    for (struct seen_sst *seen = watch->files; seen != NULL; seen = seen->next)
        count += seen->file.number != 0 && seen->file.is_passing == is_passing;
    pthread_mutex_unlock(&watch->mutex);
    return count;
}

static void
see_passing(struct sst_fixture *fixture, enum colander_compaction compaction,
            bool are_some)
{
    struct watch *watch = &fixture->watch;
    struct engine_family *family;
    uint32_t number = 0;

    fixture->options.compaction = compaction;
    open_watched(fixture);
    family = family_of(&fixture->base, "a");
    assert_true(write_batch(fixture->base.engine, family, NULL, 0, 10));
    OK(engine_family_flush(family, NULL));
    assert_int_equal(count_passing(watch, true), 0);
    while (count_passing(watch, are_some) < (are_some ? 1u : 2u))
        assert_true(write_batch(fixture->base.engine, family, NULL,
                                number += 1000, 1000));
    OK(engine_family_compact(family, NULL));
    assert_int_equal(count_passing(watch, true) > 0, are_some);
    assert_true(count_passing(watch, false) > 0);
}

SST_TEST(flushes_of_full_memory_are_told_from_others)
{
    see_passing(fixture, COLANDER_COMPACTION_LEVELED, true);
}

SST_TEST(fifo_files_stay_and_are_not_passing)
{
    see_passing(fixture, COLANDER_COMPACTION_FIFO, false);
}

SST_TEST(what_fifo_drops_leaves_the_view)
{
    struct engine_family *family;

    fixture->options.compaction = COLANDER_COMPACTION_FIFO;
    fixture->options.fifo_size = 1 << 20;
    open_watched(fixture);
    family = family_of(&fixture->base, "f");
    for (int i = 0; i < 20; i++) {
        assert_true(write_rows(fixture->base.engine, family, NULL, 2000));
        OK(engine_family_flush(family, NULL));
    }
    assert_in_range(check_files(fixture), 1, 19);
}

SST_TEST(replaced_file_leaves_the_view_though_a_cursor_keeps_it)
{
    const struct engine_cursor_options all = {.is_reverse = false};
    struct watch *watch = &fixture->watch;
    struct engine_family *family;
    SCOPED_ENGINE_CURSOR cursor = NULL;
    struct seen_sst *seen;
    bool is_in_view = true;

    open_watched(fixture);
    family = family_of(&fixture->base, "f");
    assert_true(write_rows(fixture->base.engine, family, NULL, 100));
    OK(engine_family_flush(family, NULL));
    seen = newest_seen(watch);
    OK(engine_cursor_open(family, &all, &cursor, NULL));
    assert_true(write_rows(fixture->base.engine, family, NULL, 100));
    OK(engine_family_compact(family, NULL));
    for (int i = 0; i < 1000 && is_in_view; i++) {
        pthread_mutex_lock(&watch->mutex);
        is_in_view = seen->is_in_view;
        pthread_mutex_unlock(&watch->mutex);
        usleep(1000);
    }
    assert_false(is_in_view);
    pthread_mutex_lock(&watch->mutex);
    assert_false(seen->is_deleted);
    pthread_mutex_unlock(&watch->mutex);
    check_now(fixture, family);
}

/* Returns whether RocksDB moved a file to another level unchanged. */
static bool
has_moved(struct sst_fixture *fixture)
{
    char command[2 * TEMPORARY_SIZE];

    (void)snprintf(command, sizeof(command),
                   "grep -q '\"trivial_move\"' '%s/rocksdb/LOG'",
                   fixture->base.path);
    return system(command) == 0;
}

SST_TEST(moved_file_stays_in_view_and_its_entries_are_counted)
{
    struct engine_family *family;

    open_watched(fixture);
    family = family_of(&fixture->base, "f");
    for (uint32_t i = 0; i < 60; i++) { /* their ranges do not overlap */
        assert_true(write_batch(fixture->base.engine, family, NULL, i * 1000,
                                1 + i * 10));
        OK(engine_family_flush(family, NULL));
    }
    for (int i = 0; i < 200 && !has_moved(fixture); i++)
        usleep(10000);
    assert_true(has_moved(fixture));
    assert_in_range(check_files(fixture), 30, 60);
    close_engine(&fixture->base);
    open_watched(fixture); /* RocksDB now knows the entries of 20 at first */
    family = family_of(&fixture->base, "f");
    assert_in_range(check_files(fixture), 30, 60);
    check_now(fixture, family);
}

struct writing {
    struct sst_fixture *fixture;
    struct engine_family *family;
    uint64_t random;
    atomic_bool is_done;
};

static void *
write_on(void *context)
{
    struct writing *writing = context;
    struct watch *watch = &writing->fixture->watch;

    for (int i = 0; i < 300; i++) {
        expect(watch,
               write_rows(writing->fixture->base.engine, writing->family,
                          &writing->random, 300),
               "it writes");
        if (i % 64 == 63)
            expect(watch,
                   engine_family_compact(writing->family, NULL) == COLANDER_OK,
                   "it compacts");
    }
    writing->is_done = true;
    return NULL;
}

SST_TEST(no_row_is_missing_at_any_moment)
{
    struct writing writing = {.fixture = fixture};
    pthread_t thread;

    writing.random = random_seed("no_row_is_missing_at_any_moment");
    open_watched(fixture);
    writing.family = family_of(&fixture->base, "f");
    ZERO(pthread_create(&thread, NULL, write_on, &writing));
    while (!writing.is_done) { /* writes continue during the flush */
        OK(engine_family_flush(writing.family, NULL));
        check_now(fixture, writing.family);
    }
    ZERO(pthread_join(thread, NULL));
    (void)check_files(fixture);
}

/* -------------------------------------------------- crashes and failure --- */

/* Role: writes 1,000 rows and is killed. The parent reads them when it opens
 * the store, so their values depend only on the sequence. */
ROLE(write)
{
    struct engine_family *family;
    struct engine *engine;

    if (engine_open(arguments[2], NULL, NULL, &engine, NULL) != COLANDER_OK ||
        engine_family_open(engine, "f", true, &family, NULL) != COLANDER_OK ||
        !write_rows(engine, family, NULL, 1000))
        return 1;
    (void)raise(SIGKILL);
    return 2;
}

SST_TEST(rows_of_a_killed_process_are_reported_before_open_returns)
{
    struct engine_family *family;
    struct seen_sst *seen;
    struct rows rows;
    const char *const arguments[] = {"test", "--write", fixture->base.path,
                                     NULL};

    assert_true(WIFSIGNALED(child_run(arguments)));

    fixture->options.mode = COLANDER_OPEN_READ_ONLY;
    open_watched(fixture);
    family = family_of(&fixture->base, "f");
    rows = rows_at(family, NULL, engine_unflushed_cursor_open);
    assert_int_equal(rows.count, 1000);
    free(rows.rows);
    close_engine(&fixture->base);
    assert_int_equal(fixture->watch.event_count,
                     0); /* a reader reports nothing */

    fixture->options.mode = COLANDER_OPEN_EXISTING;
    open_watched(fixture);
    seen = newest_seen(&fixture->watch);
    assert_non_null(seen);
    assert_true(seen->is_in_view);
    assert_int_equal(seen->rows.count, 1000);
    family = family_of(&fixture->base, "f");
    rows = rows_at(family, NULL, engine_unflushed_cursor_open);
    assert_int_equal(rows.count, 0);
    check_now(fixture, family);
}

static void
forget_view(struct watch *watch)
{
    for (struct seen_sst *seen = watch->files; seen != NULL; seen = seen->next)
        seen->is_in_view = false;
}

/* A file that fits in RocksDB's buffer (1 MiB) fails when it is synced, after
 * its writer has finished. A larger one fails earlier, and then RocksDB does
 * not report which file it was. */
SST_TEST(failed_file_is_reported_with_what_is_known_of_it)
{
    static const uint32_t counts[] = {2000, 15000};
    struct watch *watch = &fixture->watch;
    struct engine_family *family;

    fixture->options.write_buffer_size = 8 << 20;
    for (size_t i = 0; i < 2; i++) {
        open_watched(fixture);
        family = family_of(&fixture->base, "f");
        watch->failure_count = 0;
        assert_true(write_rows(fixture->base.engine, family, NULL, counts[i]));
        limit_files(100000);
        FAILS(engine_family_flush(family, NULL), COLANDER_IO);
        limit_files(RLIM_INFINITY);
        check_now(fixture, family);
        pthread_mutex_lock(&watch->mutex);
        assert_true(watch->failure_count > 0);
        assert_int_equal(watch->failure.family, engine_family_id(family));
        assert_int_equal(watch->failure.is_tagged, i == 0);
        pthread_mutex_unlock(&watch->mutex);
        close_families(&fixture->base);
        if (engine_close(fixture->base.engine, NULL) != COLANDER_OK)
            print_message("its close fails, too\n");
        fixture->base.engine = NULL;
        forget_view(watch); /* what the close failed to write */
        open_watched(fixture);
        family = family_of(&fixture->base, "f");
        check_now(fixture, family);
        close_engine(&fixture->base);
    }
}

SST_TEST(flushed_is_reported_up_to_the_newest_write)
{
    struct engine_family *f;
    struct engine_family *g;
    struct list list = {.count = 0};
    uint64_t first;

    open_watched(fixture);
    f = family_of(&fixture->base, "f");
    g = family_of(&fixture->base, "g");
    assert_true(write_rows(fixture->base.engine, f, NULL, 10));
    first = engine_sequence(fixture->base.engine);
    assert_true(write_rows(fixture->base.engine, g, NULL, 10));
    assert_int_equal(engine_sequence(fixture->base.engine), first + 10);
    OK(engine_family_flush(f, NULL));
    wait_until_flushed(&fixture->watch, engine_family_id(f), first + 10);
    OK(engine_ssts(fixture->base.engine, list_add, &list, NULL));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.files[0].last_sequence, first);
}
