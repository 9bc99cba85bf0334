/*
 * Finds during drops of their family return the rows that were there, or fail
 * because it was dropped. Other families are not affected.
 *
 * COLANDER_RUNS sets the number of drops.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/candidates.h"
#include "filters/filters.h"
#include "support/cases.h"
#include "support/plain_finds.h"
#include "support/random.h"
#include "support/rocksdb_inside.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define FINDERS 3
#define ROWS 240 /* each VALUES-th has the same value, so finds return few */
#define VALUES 60

/* The family to drop once a find has taken its snapshot; NULL: none. The linker
 * redirects the calls here. */
static _Atomic(struct colander_family *) dropped_next;

enum colander_code
__real_engine_snapshot_create(struct engine *engine,
                              struct colander_snapshot **snapshot,
                              struct colander_error *err);
enum colander_code
__wrap_engine_snapshot_create(struct engine *engine,
                              struct colander_snapshot **snapshot,
                              struct colander_error *err);

enum colander_code
__wrap_engine_snapshot_create(struct engine *engine,
                              struct colander_snapshot **snapshot,
                              struct colander_error *err)
{
    enum colander_code code =
        __real_engine_snapshot_create(engine, snapshot, err);
    struct colander_family *family = atomic_exchange(&dropped_next, NULL);

    if (family != NULL)
        OK(colander_family_drop(family, NULL));
    return code;
}

struct race {
    struct store_fixture *fixture;
    struct colander_family *family;
    int64_t base; /* of the values that this family has */
    atomic_uint ready;
    atomic_uint wrong;
    atomic_ulong right;
    atomic_ulong refused;
};

/* Finds rows until the family is reported dropped. */
static void *
find_until_dropped(void *context)
{
    struct race *race = context;
    SCOPED_FAMILY family = NULL;
    enum colander_code code = COLANDER_OK;
    uint64_t count;

    if (colander_family_open(race->fixture->store, "rows", &family, NULL) !=
        COLANDER_OK)
        return NULL;
    for (int64_t i = 0; code == COLANDER_OK; i++) {
        code = find_count(family, i % 3 == 0 ? NULL : "n",
                          race->base + i % VALUES, &count);
        if (i == 0)
            atomic_fetch_add(&race->ready, 1); /* it has used the family */
        if (code == COLANDER_OK && count == ROWS / VALUES)
            atomic_fetch_add(&race->right, 1);
        else if (code == COLANDER_DROPPED)
            atomic_fetch_add(&race->refused, 1);
        else
            atomic_fetch_add(&race->wrong, 1);
    }
    return NULL;
}

/* Flushes and compacts, so that files that finds want to read are removed. */
static void *
disturb_until_dropped(void *context)
{
    struct race *race = context;
    enum colander_code code = COLANDER_OK;

    for (unsigned i = 0; code == COLANDER_OK; i++)
        code = i % 2 == 0 ? colander_family_flush(race->family, NULL)
                          : colander_family_compact(race->family, NULL);
    if (code != COLANDER_DROPPED)
        atomic_fetch_add(&race->wrong, 1);
    return NULL;
}

/* Puts rows in files, and as many outside of files. */
static void
fill(struct race *race)
{
    for (int64_t i = 0; i < ROWS; i++) {
        char key[16];

        snprintf(key, sizeof(key), "%d", (int)i);
        OK(put_text(race->fixture, race->family, key, "n",
                    colander_integer(race->base + i % VALUES), NULL));
        if (i == ROWS / 4 || i == ROWS / 2)
            OK(colander_family_flush(race->family, NULL));
    }
}

static void
run_race(struct race *race, bool disturbs, uint64_t *random)
{
    pthread_t threads[FINDERS + 1];
    size_t count = disturbs ? FINDERS + 1 : FINDERS;

    race->family = NULL;
    OK(colander_family_open(race->fixture->store, "rows", &race->family, NULL));
    atomic_store(&race->ready, 0);
    fill(race);
    for (size_t i = 0; i < count; i++)
        ZERO(pthread_create(
            &threads[i], NULL,
            i < FINDERS ? find_until_dropped : disturb_until_dropped, race));
    while (atomic_load(&race->ready) < FINDERS)
        usleep(100);
    usleep((useconds_t)random_below(random, 2000));
    OK(colander_family_drop(race->family, NULL));
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    colander_family_close(race->family);
    race->base += VALUES; /* no row of the next family has these values */
}

FIXTURE_TEST(find_during_a_drop_returns_all_rows_or_an_error)
{
    struct race race = {.fixture = fixture};
    struct colander_family *kept = kept_family(race.fixture, "kept");
    uint64_t random = random_seed("drops");
    const uint64_t runs = random_runs(40);
    uint64_t count;

    for (uint64_t i = 0; i < runs; i++) {
        char key[16];

        run_race(&race, i % 4 == 3, &random);
        snprintf(key, sizeof(key), "%d", (int)i);
        OK(put_text(race.fixture, kept, key, "n", colander_integer(1), NULL));
        OK(find_count(kept, "n", 1, &count));
        assert_int_equal(count, i + 1);
    }
    assert_int_equal(atomic_load(&race.wrong), 0);
    assert_int_equal(atomic_load(&race.refused), runs * FINDERS);
    assert_true(atomic_load(&race.right) > 0);
    OK(colander_family_flush(kept, NULL));
    fixture_reopen(race.fixture, COLANDER_OPEN_OR_CREATE);
    kept = kept_family(race.fixture, "kept");
    OK(find_count(kept, NULL, 1, &count));
    assert_int_equal(count, runs);
}

/* Not only some of the rows, although those in no file are no longer noted. */
FIXTURE_TEST(find_of_a_family_that_is_dropped_meanwhile_reports_it)
{
    struct race race = {.fixture = fixture};
    uint64_t count;

    race.family = kept_family(race.fixture, "rows");
    fill(&race);
    atomic_store(&dropped_next, race.family);
    FAILS(find_count(race.family, "n", 3, &count), COLANDER_DROPPED);
    assert_null(atomic_load(&dropped_next));
}

/* An open cursor continues, over rows in files and in none. */
FIXTURE_TEST(find_that_was_open_continues_after_the_drop)
{
    struct race race = {.fixture = fixture};
    SCOPED_PREDICATE predicate = NULL;
    SCOPED_CURSOR cursor = NULL;
    struct colander_query query = usual_query();
    bool is_row = true;
    unsigned count = 0;

    race.family = kept_family(race.fixture, "rows");
    fill(&race);
    predicate = colander_where("n", COLANDER_EQ, colander_integer(3), NULL);
    query.where = predicate;
    OK(colander_family_find(race.family, &query, &cursor, NULL));
    OK(colander_family_drop(race.family, NULL));
    while (is_row) {
        struct colander_result result;

        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        count += is_row;
    }
    assert_int_equal(count, ROWS / VALUES);
}

/* Rows 0, 10, ... below DENSE have the value, and all rows from there on. The
 * filter has the keys of the former; the latter are read from the file. */
#define DENSE 500
#define DENSE_END 560
#define FLUSHED 4000
#define UNFLUSHED 10

static void
put_row(struct race *race, int64_t row, int64_t n)
{
    put_at(race->family, row,
           fixture_row(race->fixture, "n", colander_integer(n)));
}

static void
fill_for_long_find(struct race *race)
{
    struct colander_filter_options options = usual_filters();

    options.rows_per_segment = 1;
    OK(colander_family_set_filters(race->family, &options, NULL));
    for (int64_t i = 0; i < FLUSHED; i++) {
        bool has_value = i < DENSE ? i % 10 == 0 : i < DENSE_END;

        put_row(race, i, has_value ? -1 : i);
    }
    OK(colander_family_flush(race->family, NULL));
    OK(colander_family_await_filters(race->family, NULL));
    for (int64_t i = 0; i < UNFLUSHED; i++)
        put_row(race, FLUSHED + i, -1);
}

/* It plans again, but rows that are in no file are no longer noted. */
FIXTURE_TEST(find_whose_file_is_replaced_continues_after_the_drop)
{
    struct race race = {.fixture = fixture};
    struct engine_family *inside;
    SCOPED_PREDICATE predicate =
        colander_where("n", COLANDER_EQ, colander_integer(-1), NULL);
    SCOPED_CURSOR cursor = NULL;
    struct colander_query query = usual_query();
    bool is_row = true;
    unsigned count = 0;

    race.family = kept_family(race.fixture, "rows");
    fill_for_long_find(&race);
    OK(family_engine(race.family, &inside, NULL));
    query.where = predicate;
    OK(colander_family_find(race.family, &query, &cursor, NULL));
    while (is_row) {
        struct colander_result result;

        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        if (count++ > 0)
            continue;
        rocksdb_compact_files(inside);
        OK(colander_family_drop(race.family, NULL));
    }
    assert_int_equal(count - 1, DENSE / 10 + (DENSE_END - DENSE) + UNFLUSHED);
}
