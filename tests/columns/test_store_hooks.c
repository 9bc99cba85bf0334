/*
 * What the hooks of a store are notified of: the opening and closing of the
 * store, and each row written.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine.h"
#include "naive_hooks.h"
#include "support/cases.h"
#include "support/scoped.h"

static struct colander_slice
row_of(struct world *world, const char *name, struct colander_value value)
{
    struct colander_slice row;

    colander_row_builder_add(world->builder, name, value);
    OK(colander_row_builder_finish(world->builder, &row, NULL));
    return row;
}

static struct colander_slice
number_row(struct world *world, const char *name, int64_t number)
{
    return row_of(world, name, colander_integer(number));
}

/* ----------------------------------------------------------------- life --- */

HOOKS_TEST(a_store_is_opened_and_closed_once)
{
    assert_logged(&world->naive, "");
    OK(colander_family_flush(world->families[0], NULL));
    FAILS(colander_store_close(world->store, why()), COLANDER_BUSY);
    assert_logged(&world->naive, ""); /* a family is open: nothing has begun */
    colander_family_close(world->families[0]);
    world->families[0] = NULL;
    OK(colander_store_close(world->store, NULL));
    world->store = NULL;
    assert_logged(&world->naive, "closing closed ");
}

CLOSED_HOOKS_TEST(a_store_without_hooks_has_no_context)
{
    struct engine_family *engine_family;

    OK(store_open_hooked(world->directory, NULL, NULL, &world->store, NULL));
    assert_null(store_hooks_context(world->store));
    OK(colander_family_open(world->store, "f", &world->families[0], NULL));
    OK(family_engine(world->families[0], &engine_family, NULL));
    assert_null(engine_family);
    OK(colander_family_create(world->families[0], NULL));
    OK(family_engine(world->families[0], &engine_family, NULL));
    assert_string_equal(engine_family_name(engine_family), "f");
    OK(colander_family_drop(world->families[0], NULL));
    FAILS(family_engine(world->families[0], &engine_family, NULL),
          COLANDER_DROPPED);
}

CLOSED_HOOKS_TEST(a_store_that_cannot_be_opened_is_closed)
{
    struct colander_options options = usual_options();

    options.mode = COLANDER_OPEN_EXISTING;
    FAILS(world_open(world, &options, why()), COLANDER_NOT_FOUND);
    assert_null(world->store);
    assert_logged(&world->naive, "closed ");

    world->naive.fails_at = 1;
    world->naive.failure = COLANDER_CORRUPT;
    FAILS(world_open(world, NULL, why()), COLANDER_CORRUPT);
    assert_string_equal(error_text(), "as it was asked to");
    assert_null(world->store);
    assert_logged(&world->naive, "unopened closed ");

    OK(world_open(world, NULL, NULL)); /* nothing holds the store open */
    assert_logged(&world->naive, "opened ");
}

HOOKS_TEST(a_close_that_is_busy_opens_again)
{
    SCOPED_BUFFER key = text_key("k");
    struct colander_snapshot *snapshot;
    const struct colander_slice k = colander_buffer_slice(&key);

    colander_family_close(world->families[0]);
    OK(colander_store_snapshot(world->store, &snapshot, NULL));
    FAILS(colander_store_close(world->store, NULL), COLANDER_BUSY);
    assert_logged(&world->naive, "closing opened ");
    OK(colander_family_open(world->store, "f", &world->families[0], NULL));
    OK(colander_family_put(world->families[0], k, number_row(world, "n", 1),
                           NULL, NULL));
    assert_logged(&world->naive, "note{\"_key\":\"k\",\"n\":1} written ");
    colander_family_close(world->families[0]);

    /* If it does not open again, the store continues without it. */
    world->naive.fails_at = 1;
    world->naive.failure = COLANDER_NO_MEMORY;
    FAILS(colander_store_close(world->store, NULL), COLANDER_BUSY);
    assert_logged(&world->naive, "closing unopened ");
    OK(colander_family_open(world->store, "f", &world->families[0], NULL));
    OK(colander_family_put(world->families[0], k, number_row(world, "n", 2),
                           NULL, NULL));
    assert_row(world->families[0], "k", "{\"_key\":\"k\",\"n\":2}");
    assert_logged(&world->naive, "");
    colander_snapshot_release(snapshot);
    colander_family_close(world->families[0]);
    world->families[0] = NULL;
    OK(colander_store_close(world->store, NULL));
    world->store = NULL;
    assert_logged(&world->naive, "closed ");
}

/* --------------------------------------------------------------- writes --- */

HOOKS_TEST(rows_are_noted_whole_and_once)
{
    SCOPED_BUFFER key = text_key("k");
    const struct colander_slice k = colander_buffer_slice(&key);

    OK(colander_family_put(world->families[0], k, number_row(world, "a", 1),
                           NULL, NULL));
    assert_logged(&world->naive, "note{\"_key\":\"k\",\"a\":1} written ");
    OK(colander_family_patch(world->families[0], k, number_row(world, "b", 2),
                             NULL, NULL));
    assert_logged(&world->naive,
                  "note{\"_key\":\"k\",\"a\":1,\"b\":2} written ");
    OK(colander_family_patch(world->families[0], k,
                             row_of(world, "a", colander_null()), NULL, NULL));
    assert_logged(&world->naive, "note{\"_key\":\"k\",\"b\":2} written ");
    OK(colander_family_delete(world->families[0], k, NULL, NULL));
    assert_logged(&world->naive, "delete written ");
}

HOOKS_TEST(a_batch_is_one_write)
{
    SCOPED_BUFFER key = text_key("k");
    SCOPED_BUFFER other = text_key("o");
    const struct colander_slice k = colander_buffer_slice(&key);
    const struct colander_slice o = colander_buffer_slice(&other);
    SCOPED_FAMILY family = NULL;
    SCOPED_BATCH batch = NULL;

    OK(colander_family_open(world->store, "g", &family, NULL));
    OK(colander_batch_create(world->store, &batch, NULL));
    OK(colander_batch_put(batch, world->families[0], k,
                          number_row(world, "a", 1), NULL));
    OK(colander_batch_delete(batch, world->families[0], o, NULL));
    OK(colander_batch_patch(batch, world->families[0], k,
                            number_row(world, "b", 2), NULL));
    OK(colander_batch_put(batch, family, o, number_row(world, "c", 3), NULL));
    assert_logged(&world->naive, "");
    OK(colander_batch_commit(batch, NULL, NULL));
    assert_logged(&world->naive, "note{\"_key\":\"k\",\"a\":1} delete "
                                 "note{\"_key\":\"k\",\"a\":1,\"b\":2} "
                                 "note{\"_key\":\"o\",\"c\":3} written ");

    /* An empty batch is not reported as a write. */
    OK(colander_batch_delete(batch, world->families[0], k, NULL));
    OK(colander_batch_commit(batch, NULL, NULL));
    OK(colander_batch_commit(batch, NULL, NULL));
    assert_logged(&world->naive, "delete written ");
}

HOOKS_TEST(what_fails_is_reported_as_unwritten)
{
    SCOPED_BUFFER key = text_key("k");
    const struct colander_slice k = colander_buffer_slice(&key);
    struct colander_family *gone;
    struct colander_batch *batch;

    OK(colander_family_open(world->store, "gone", &gone, NULL));
    OK(colander_family_create(gone, NULL));
    OK(colander_batch_create(world->store, &batch, NULL));
    OK(colander_batch_put(batch, world->families[0], k,
                          number_row(world, "a", 1), NULL));
    OK(colander_batch_put(batch, gone, k, number_row(world, "a", 2), NULL));
    OK(colander_family_drop(gone, NULL));
    FAILS(colander_batch_commit(batch, NULL, NULL), COLANDER_DROPPED);
    assert_logged(&world->naive, "note{\"_key\":\"k\",\"a\":1} unwritten ");
    assert_row(world->families[0], "k", NULL);
    colander_batch_destroy(batch);
    colander_family_close(gone);

    /* An invalid row is rejected earlier. */
    FAILS(colander_family_put(world->families[0], k,
                              colander_slice_of("\x81\xa4_key\x01", 7), NULL,
                              NULL),
          COLANDER_INVALID);
    assert_logged(&world->naive, "");
}

HOOKS_TEST(a_row_that_cannot_be_noted_is_not_written)
{
    SCOPED_BUFFER key = text_key("k");
    const struct colander_slice k = colander_buffer_slice(&key);
    SCOPED_BATCH batch = NULL;

    world->naive.failure = COLANDER_NO_MEMORY;
    world->naive.fails_at = 1;
    FAILS(colander_family_patch(world->families[0], k,
                                number_row(world, "a", 1), NULL, NULL),
          COLANDER_NO_MEMORY);
    assert_logged(&world->naive, "note{\"_key\":\"k\",\"a\":1} unwritten ");

    OK(colander_batch_create(world->store, &batch, NULL));
    for (int i = 0; i < 3; i++)
        OK(colander_batch_put(batch, world->families[0], k,
                              number_row(world, "a", i), NULL));
    world->naive.fails_at = 2;
    FAILS(colander_batch_commit(batch, NULL, NULL), COLANDER_NO_MEMORY);
    assert_logged(&world->naive, "note{\"_key\":\"k\",\"a\":0} "
                                 "note{\"_key\":\"k\",\"a\":1} unwritten ");
    assert_row(world->families[0], "k", NULL);
    assert_int_equal(colander_batch_count(batch), 3); /* can be tried again */
    OK(colander_batch_commit(batch, NULL, NULL));
    assert_row(world->families[0], "k", "{\"_key\":\"k\",\"a\":2}");
}

/* ---------------------------------------------------------------- plans --- */

static void
assert_plan(struct world *world, struct colander_predicate *where,
            uint64_t limit, enum colander_plan plan, const char *reason)
{
    struct colander_query query = usual_query();
    SCOPED_CURSOR cursor = NULL;
    struct colander_explain explain;

    query.where = where;
    query.limit = limit;
    OK(colander_family_find(world->families[0], &query, &cursor, NULL));
    colander_cursor_explain(cursor, &explain);
    assert_string_equal(colander_plan_name(explain.plan),
                        colander_plan_name(plan));
    assert_string_equal(explain.reason, reason);
    colander_predicate_destroy(where);
}

static struct colander_predicate *
n_is(enum colander_comparison comparison, int64_t number)
{
    return colander_where("n", comparison, colander_integer(number), NULL);
}

HOOKS_TEST(a_plan_has_a_reason)
{
    const uint64_t all = UINT64_MAX;

    assert_plan(world, n_is(COLANDER_EQ, 1), all, COLANDER_PLAN_NOTHING,
                "the family has no rows yet");
    OK(colander_family_create(world->families[0], NULL));
    assert_plan(world, n_is(COLANDER_EQ, 1), 0, COLANDER_PLAN_NOTHING,
                "no row is wanted");
    assert_plan(world, colander_where_in("n", NULL, 0, NULL), all,
                COLANDER_PLAN_NOTHING, "no value meets the conditions");
    assert_plan(world, NULL, all, COLANDER_PLAN_SCAN, "no condition");
    assert_plan(world, n_is(COLANDER_NE, 1), all, COLANDER_PLAN_SCAN,
                "no condition that value filters know");
    assert_plan(world, n_is(COLANDER_EQ, 1), all, COLANDER_PLAN_CANDIDATES,
                "value filters know the rows");
    world->naive.scans = true;
    assert_plan(world, n_is(COLANDER_EQ, 1), all, COLANDER_PLAN_SCAN,
                "the test says so");
}

CLOSED_HOOKS_TEST(scans_of_a_store_without_value_filters_report_it)
{
    OK(store_open_hooked(world->directory, NULL, NULL, &world->store, NULL));
    OK(colander_family_open(world->store, "f", &world->families[0], NULL));
    OK(colander_family_create(world->families[0], NULL));
    assert_plan(world, n_is(COLANDER_EQ, 1), UINT64_MAX, COLANDER_PLAN_SCAN,
                "no value filters");
}
