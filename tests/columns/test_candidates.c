/*
 * Stores with hooks: finds by candidates return what a scan returns, and the
 * hooks are notified of each write and of the store's opening and closing.
 *
 * COLANDER_SEED repeats a run, COLANDER_RUNS sets the number of finds.
 *
 * SPDX-License-Identifier: MIT
 */
#include "naive_hooks.h"
#include "support/cases.h"
#include "support/scoped.h"

#define KEYS 60
#define FAMILIES 2

static uint64_t
below(struct world *world, uint64_t limit)
{
    return random_below(&world->seed, limit);
}

/* A row of msgpack from the rest of `bytes`: {"n":N,"t":"tN","l":[..]} */
static struct colander_buffer
row_of(uint64_t n, uint64_t t, uint64_t l)
{
    const uint8_t bytes[] = {0x83, 0xa1, 'n',        (uint8_t)n,         0xa1,
                             't',  0xa2, 't',        (uint8_t)('0' + t), 0xa1,
                             'l',  0x92, (uint8_t)l, (uint8_t)(l + 3)};
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;

    OK(colander_buffer_append(&row, bytes, sizeof(bytes), NULL));
    return row;
}

static void
write_one(struct world *world, struct colander_batch *batch)
{
    struct colander_family *family = world->families[below(world, FAMILIES)];
    SCOPED_BUFFER key = numbered_key(below(world, KEYS));
    SCOPED_BUFFER row =
        row_of(below(world, 8), below(world, 4), below(world, 6));
    const struct colander_slice patch = colander_slice_of("\x81\xa1n\x02", 4);
    const struct colander_slice k = colander_buffer_slice(&key);
    const struct colander_slice r = colander_buffer_slice(&row);
    uint64_t way = below(world, 8);

    if (way < 2 && batch != NULL)
        OK(colander_batch_delete(batch, family, k, NULL));
    else if (way < 2)
        OK(colander_family_delete(family, k, NULL, NULL));
    else if (way < 4 && batch != NULL)
        OK(colander_batch_patch(batch, family, k, patch, NULL));
    else if (way < 4)
        OK(colander_family_patch(family, k, patch, NULL, NULL));
    else if (batch != NULL)
        OK(colander_batch_put(batch, family, k, r, NULL));
    else
        OK(colander_family_put(family, k, r, NULL, NULL));
}

static void
write_some(struct world *world)
{
    struct colander_batch *batch = NULL;
    uint64_t count = below(world, 12);

    if (below(world, 2) == 0)
        OK(colander_batch_create(world->store, &batch, NULL));
    while (count-- > 0)
        write_one(world, batch);
    if (batch != NULL)
        OK(colander_batch_commit(batch, NULL, NULL));
    colander_batch_destroy(batch);
    if (below(world, 10) == 0)
        OK(colander_family_flush(world->families[0], NULL));
    colander_buffer_clear(&world->naive.log);
}

/* ---------------------------------------------------------------- finds --- */

static struct colander_predicate *
draw(struct world *world, int depth)
{
    struct colander_predicate *operands[2];
    struct colander_value n = colander_integer((int64_t)below(world, 8));
    struct colander_value values[2] = {n, colander_integer(9)};

    if (depth > 0 && below(world, 2) == 0) {
        operands[0] = draw(world, depth - 1);
        operands[1] = below(world, 6) == 0
                          ? colander_not(draw(world, depth - 1), NULL)
                          : draw(world, depth - 1);
        return below(world, 2) == 0 ? colander_all_of(operands, 2, NULL)
                                    : colander_any_of(operands, 2, NULL);
    }
    switch (below(world, 8)) {
    case 0:
        return colander_where_any_column(n, NULL);
    case 1:
        return colander_where_in("n", values, 2, NULL);
    case 2:
        return colander_where("n", COLANDER_GT, n, NULL);
    case 3:
        return colander_where_prefix(
            "t", colander_text(below(world, 3) == 0 ? "t" : "t1"), NULL);
    case 4:
        return colander_where_exists("l", NULL);
    case 5:
        return colander_where("l[]", COLANDER_EQ, n, NULL);
    case 6:
        return colander_where("n", COLANDER_NE, n, NULL);
    default:
        return colander_where("n", COLANDER_EQ, n, NULL);
    }
}

/* The result of a find as text: what scanning all rows with the predicate
 * returns, or, with `is_asked`, what the find returns. */
static void
rows_as_text(struct colander_family *family, const struct colander_query *query,
             bool is_asked, struct colander_buffer *text, uint64_t *count)
{
    struct colander_query all = *query;
    SCOPED_CURSOR cursor = NULL;
    struct colander_result result;
    bool is_row = true, is_match;

    *count = 0;
    if (!is_asked) {
        all.where = NULL;
        all.limit = UINT64_MAX;
    }
    OK(colander_family_find(family, &all, &cursor, NULL));
    while (is_asked || *count < query->limit) {
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        if (!is_row)
            break;
        OK(colander_predicate_evaluate(query->where, result.row, &is_match,
                                       NULL, NULL));
        assert_true(is_match || !is_asked);
        if (!is_match)
            continue;
        OK(colander_json_append_row(text, result.key, result.row, NULL));
        ++*count;
    }
}

static void
check_explain(const struct colander_cursor *cursor, uint64_t rows,
              bool is_at_end, uint64_t plans[3])
{
    struct colander_explain explain;
    uint64_t verified;

    colander_cursor_explain(cursor, &explain);
    plans[explain.plan]++;
    assert_non_null(explain.reason);
    assert_int_equal(explain.rows_returned, rows);
    verified = explain.rows_returned + explain.rows_gone + explain.rows_false;
    if (explain.plan == COLANDER_PLAN_CANDIDATES && is_at_end)
        assert_int_equal(explain.candidate_count, verified);
    else if (explain.plan == COLANDER_PLAN_CANDIDATES)
        assert_true(explain.candidate_count >= verified);
    if (explain.plan != COLANDER_PLAN_CANDIDATES)
        assert_int_equal(explain.candidate_count + explain.rows_verified, 0);
    else
        assert_int_equal(explain.rows_read, 0);
    assert_int_equal(
        explain.plan_time + explain.read_time + explain.verify_time, 0);
}

/* Begins a find, changes the rows, and only then reads the result. */
static void
find_beside_writes(struct world *world, struct colander_family *family,
                   const struct colander_query *query,
                   const struct colander_buffer *expected, uint64_t count,
                   uint64_t plans[3])
{
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;
    SCOPED_CURSOR cursor = NULL;
    struct colander_result result;
    uint64_t given = 0;
    bool is_row = true;

    OK(colander_family_find(family, query, &cursor, NULL));
    write_some(world);
    for (;; given++) {
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        if (!is_row)
            break;
        OK(colander_json_append_row(&text, result.key, result.row, NULL));
    }
    assert_int_equal(given, count);
    ASSERT_SAME(colander_buffer_slice(&text), colander_buffer_slice(expected));
    check_explain(cursor, count, count < query->limit, plans);
}

static void
find_one(struct world *world, const struct colander_snapshot *snapshot,
         uint64_t plans[3])
{
    struct colander_family *family = world->families[below(world, FAMILIES)];
    SCOPED_BUFFER expected = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER asked = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER from = numbered_key(below(world, KEYS));
    SCOPED_BUFFER to = numbered_key(below(world, KEYS));
    struct colander_query query = usual_query();
    uint64_t count, asked_count;

    query.where = draw(world, 3);
    query.is_reverse = below(world, 2) == 0;
    query.snapshot = below(world, 3) == 0 ? snapshot : NULL;
    if (below(world, 3) == 0)
        query.limit = below(world, 12);
    if (below(world, 3) == 0)
        query.keys.from = colander_buffer_slice(&from);
    if (below(world, 3) == 0)
        query.keys.to = colander_buffer_slice(&to);
    world->naive.scans = below(world, 8) == 0;
    world->naive.is_exact = below(world, 3) == 0;
    rows_as_text(family, &query, false, &expected, &count);
    rows_as_text(family, &query, true, &asked, &asked_count);
    assert_int_equal(asked_count, count);
    ASSERT_SAME(colander_buffer_slice(&asked),
                colander_buffer_slice(&expected));
    OK(colander_family_count(family, &query, &asked_count, NULL));
    assert_int_equal(asked_count, count);
    find_beside_writes(world, family, &query, &expected, count, plans);
    colander_predicate_destroy((struct colander_predicate *)query.where);
}

HOOKS_TEST(finds_by_candidates_are_those_of_a_scan)
{
    struct colander_snapshot *snapshot = NULL;
    uint64_t runs = random_runs(500);
    uint64_t plans[3] = {0, 0, 0};

    OK(colander_family_open(world->store, "g", &world->families[1], NULL));
    world->seed = random_seed("finds");
    world->naive.seed = world->seed;
    for (uint64_t run = 0; run < runs; run++) {
        write_some(world);
        if (run % 20 == 0) {
            colander_snapshot_release(snapshot);
            OK(colander_store_snapshot(world->store, &snapshot, NULL));
        }
        find_one(world, snapshot, plans);
    }
    colander_snapshot_release(snapshot);
    print_message("scans: %" PRIu64 ", candidates: %" PRIu64
                  ", nothing: %" PRIu64 "\n",
                  plans[0], plans[1], plans[2]);
    if (runs >= 500)
        assert_true(plans[0] > 50 && plans[1] > 150 && plans[2] > 10);
}

/* ----------------------------------------------------------- one by one --- */

static void
put_numbered(struct world *world, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        SCOPED_BUFFER key = numbered_key(i);
        SCOPED_BUFFER row = row_of(i % 2, 1, 1);

        OK(colander_family_put(world->families[0], colander_buffer_slice(&key),
                               colander_buffer_slice(&row), NULL, NULL));
    }
    colander_buffer_clear(&world->naive.log);
}

/* A find of `n` = 1, which every other row has. */
static struct colander_cursor *
find_ones(struct world *world, struct colander_query *query)
{
    struct colander_cursor *cursor;

    query->where = colander_where("n", COLANDER_EQ, colander_integer(1), NULL);
    OK(colander_family_find(world->families[0], query, &cursor, NULL));
    return cursor;
}

static void
end_find(struct colander_cursor *cursor, const struct colander_query *query)
{
    colander_cursor_close(cursor);
    colander_predicate_destroy((struct colander_predicate *)query->where);
}

HOOKS_TEST(explain_counts_what_was_done)
{
    struct colander_cursor *cursor;
    struct colander_explain explain;
    struct colander_result result;
    struct colander_query query = usual_query();
    const char *path;
    uint64_t rows;
    bool is_row = true;

    put_numbered(world, 100);
    for (uint64_t i = 0; i < 20; i++) {
        SCOPED_BUFFER key = numbered_key(i);
        SCOPED_BUFFER row = row_of(5, 1, 1);

        if (i % 2 == 0 || i < 10)
            OK(colander_family_put(world->families[0],
                                   colander_buffer_slice(&key),
                                   colander_buffer_slice(&row), NULL, NULL));
        else
            OK(colander_family_delete(world->families[0],
                                      colander_buffer_slice(&key), NULL, NULL));
    }
    world->naive.is_exact = true;
    query.is_timed = true;
    query.reports_columns = true;
    cursor = find_ones(world, &query);
    assert_false(colander_cursor_matched(cursor, 0, &path, &rows));
    while (is_row)
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
    colander_cursor_explain(cursor, &explain);
    assert_int_equal(explain.plan, COLANDER_PLAN_CANDIDATES);
    assert_string_equal(colander_plan_name(explain.plan), "candidates");
    assert_int_equal(explain.rows_expected, 50);
    assert_int_equal(explain.candidate_count, 50);
    assert_int_equal(explain.rows_verified, 50);
    assert_int_equal(explain.rows_returned, 40);
    assert_int_equal(explain.rows_gone, 5);
    assert_int_equal(explain.rows_false, 5);
    assert_int_equal(explain.bytes_read, 45 * 14);
    assert_true(colander_cursor_matched(cursor, 0, &path, &rows));
    assert_string_equal(path, "n");
    assert_int_equal(rows, 40);
    assert_false(colander_cursor_matched(cursor, 1, &path, &rows));
    end_find(cursor, &query);
}

HOOKS_TEST(a_limit_keeps_the_reading_small)
{
    struct colander_cursor *cursor;
    struct colander_explain explain;
    struct colander_result result;
    struct colander_query query = usual_query();
    bool is_row;

    put_numbered(world, 1000);
    world->naive.is_exact = true;
    for (query.limit = 2; query.limit <= 50; query.limit *= 5) {
        cursor = find_ones(world, &query);
        for (is_row = true; is_row;)
            OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        colander_cursor_explain(cursor, &explain);
        assert_int_equal(explain.rows_returned, query.limit);
        assert_in_range(explain.candidate_count, query.limit, query.limit + 8);
        assert_int_equal(explain.rows_verified, explain.candidate_count);
        end_find(cursor, &query);
    }
}

/* A cursor holds the rows it reads ahead: few at once if they are large. */
HOOKS_TEST(large_rows_are_held_few_at_once)
{
    SCOPED_BUFFER row = row_of(1, 1, 1);
    struct colander_cursor *cursor;
    struct colander_explain explain;
    struct colander_result result;
    struct colander_query query = usual_query();
    static uint8_t large[1 << 20];
    bool is_row = true;

    row.data[0] = 0x84;
    OK(colander_buffer_append(&row, "\xa1x\xc6\x00\x10\x00\x00", 7, NULL));
    OK(colander_buffer_append(&row, large, sizeof(large), NULL));
    for (uint64_t i = 0; i < 30; i++) {
        SCOPED_BUFFER key = numbered_key(i);

        OK(colander_family_put(world->families[0], colander_buffer_slice(&key),
                               colander_buffer_slice(&row), NULL, NULL));
    }
    colander_buffer_clear(&world->naive.log);
    cursor = find_ones(world, &query);
    while (is_row) {
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        colander_cursor_explain(cursor, &explain);
        assert_true(explain.rows_returned == 0 || explain.rows_returned > 7 ||
                    explain.rows_verified <= 8);
        assert_true(explain.rows_returned <= 8 ||
                    explain.rows_verified - explain.rows_gone <=
                        explain.rows_returned + 4);
    }
    assert_int_equal(explain.rows_returned, 30);
    end_find(cursor, &query);
}

HOOKS_TEST(cancel_ends_a_find_by_candidates)
{
    struct colander_cursor *cursor;
    struct colander_explain explain;
    struct colander_result result;
    struct colander_query query = usual_query();
    bool is_row;

    put_numbered(world, 100);
    cursor = find_ones(world, &query);
    OK(colander_cursor_next(cursor, &is_row, &result, NULL));
    assert_true(is_row);
    colander_cursor_cancel(cursor);
    for (int i = 0; i < 2; i++) {
        FAILS(colander_cursor_next(cursor, &is_row, &result, why()),
              COLANDER_CANCELLED);
        assert_false(is_row);
        assert_string_equal(error_text(), "the find was cancelled");
    }
    colander_cursor_explain(cursor, &explain);
    assert_int_equal(explain.rows_returned, 1);
    end_find(cursor, &query);
}

HOOKS_TEST(failures_of_the_hooks_end_the_find)
{
    struct colander_cursor *cursor;
    struct colander_result result;
    struct colander_query query = usual_query();
    bool is_row = true;

    put_numbered(world, 100);
    world->naive.failure = COLANDER_IO;
    world->naive.fails_at = 2; /* the second call: the first batch of keys */
    cursor = find_ones(world, &query);
    FAILS(colander_cursor_next(cursor, &is_row, &result, why()), COLANDER_IO);
    assert_string_equal(error_text(), "as it was asked to");
    assert_false(is_row);
    FAILS(colander_cursor_next(cursor, &is_row, &result, why()), COLANDER_IO);
    assert_string_equal(error_text(), "the find has failed before");
    world->naive.fails_at = 1;
    colander_cursor_close(cursor);
    FAILS(colander_family_find(world->families[0], &query, &cursor, why()),
          COLANDER_IO);
    assert_null(cursor);
    end_find(cursor, &query);
}

HOOKS_TEST(a_find_continues_when_its_family_is_dropped)
{
    struct colander_cursor *cursor;
    struct colander_result result;
    struct colander_query query = usual_query();
    uint64_t count = 0;
    bool is_row = true;

    put_numbered(world, 200);
    cursor = find_ones(world, &query);
    for (; is_row; count += is_row) {
        if (count == 1)
            OK(colander_family_drop(world->families[0], NULL));
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
    }
    assert_int_equal(count, 100);
    end_find(cursor, &query);
}
