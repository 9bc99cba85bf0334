/*
 * Finds that read candidates. The row of each key that the store's hooks return
 * is read at the snapshot, and the whole predicate is evaluated.
 *
 * Keys come in lots that grow: a find of few rows asks for few keys, and a find
 * of many rows asks seldom. The rows of a lot are read in groups, which are
 * held while their rows are returned. Groups are small, because the engine
 * reads only that many keys at once, and rows may be large.
 *
 * Several threads read lots of the largest size ahead (readers.h). The groups
 * that they leave unread are read here, so all errors are found here, in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/finds/cursor_candidates.h"
#include "columns/finds/readers.h"
#include "core/array.h"
#include "core/engine.h"
#include "core/zeroed.h"

#include <stdlib.h>

/* Keys of the first lot, and of the largest. */
#define LOT_FIRST 8
#define LOT_GROWTH 4
#define LOT_LARGEST 512

/* Rows of the largest group, and approximately the most bytes of a group,
 * judged by the previous rows. */
#define GROUP_LARGEST READERS_GROUP_ROWS
#define GROUP_BYTES (4u << 20)

struct cursor_candidates {
    struct find *find;
    struct filter_query *query;
    struct candidate_request request;
    struct candidate_source source; /* its candidates are NULL: not open */
    enum colander_code failure;     /* of the hooks: it is not asked again */
    bool is_reading_ahead;          /* readers have a lot */

    bool is_largest; /* the lot has the largest size */
    bool is_end;     /* it is the last */
    size_t lot_size; /* of the next lot */
    size_t key_count;
    size_t key_next; /* whose row is to be read */
    size_t key_max;
    struct candidate *keys;

    /* The group of rows of the keys before, read here or by `readers`. */
    const struct found_rows *rows;
    const enum row_answer *answers; /* NULL: none is known */
    size_t row_count;
    size_t row_next;    /* to be evaluated */
    size_t row_largest; /* bytes, of the rows read last */

    struct readers *readers; /* NULL: not yet, or never */

    struct found_rows *own_rows; /* those read here; NULL: none yet */
};

/* ---------------------------------------------------------------- plan --- */

/* Makes the find a scan. Keeps only the reason and the estimate of the plan. */
static void
plan_scan(struct colander_explain *explain, const char *reason)
{
    const struct colander_explain plan = *explain;

    memset(explain, 0, sizeof(*explain));
    explain->plan = COLANDER_PLAN_SCAN;
    explain->reason = plan.reason != NULL ? plan.reason : reason;
    explain->rows_expected = plan.rows_expected;
}

/* Returns how many rows will be asked for at most, or probably. */
static uint64_t
rows_wanted(const struct find *find)
{
    const uint64_t returned = find->explain.rows_returned;

    if (find->expected > returned && find->expected - returned < find->limit)
        return find->expected - returned;
    return find->limit;
}

/* Asks the hooks, at one state of the store. */
static enum colander_code
open_candidates(struct cursor_candidates *created, struct find_request *request,
                struct colander_error *err)
{
    struct find *find = created->find;
    const struct store_hooks *hooks = &find->family->store->hooks;
    struct colander_explain *explain = &find->explain;
    enum colander_code code = COLANDER_OK;

    if (request->snapshot == NULL) {
        code = engine_snapshot_create(find->family->store->engine, &find->taken,
                                      err);
        request->snapshot = find->taken;
    }
    if (code != COLANDER_OK)
        return code;
    created->request = (struct candidate_request){
        .family = request->family,
        .snapshot = request->snapshot,
        .query = created->query,
        .where = find->where,
        .from = request->from,
        .until = request->until,
        .is_reverse = request->is_reverse,
        .limit = rows_wanted(find),
        .is_cancelled = &find->is_cancelled,
        .explain = explain,
    };
    created->lot_size = LOT_FIRST;
    created->source.hooks = hooks;
    created->source.request = &created->request;
    code = hooks->candidates_open(hooks->context, &created->request,
                                  &created->source.candidates, err);
    if (code != COLANDER_OK)
        return code;
    if (created->source.candidates == NULL) {
        plan_scan(explain, "value filters would not be faster");
        return COLANDER_OK;
    }
    if (explain->plan == COLANDER_PLAN_SCAN)
        explain->plan = COLANDER_PLAN_CANDIDATES;
    if (explain->reason == NULL)
        explain->reason = "value filters know the rows";
    return COLANDER_OK;
}

static enum colander_code
plan_filter_query(struct cursor_candidates *created,
                  struct find_request *request, struct colander_error *err)
{
    const struct filter_query *query;
    enum colander_code code =
        filter_query_create(created->find->where, &created->query, err);

    if (code != COLANDER_OK)
        return code;
    query = created->query;
    if (query->kind == FILTER_QUERY_OPEN) {
        plan_scan(&created->find->explain,
                  "no condition that value filters know");
        return COLANDER_OK;
    }
    if (query->kind == FILTER_QUERY_ANY_OF && query->operand_count == 0) {
        created->find->explain.plan = COLANDER_PLAN_NOTHING;
        created->find->explain.reason = "no value meets the conditions";
        return COLANDER_OK;
    }
    return open_candidates(created, request, err);
}

enum colander_code
cursor_candidates_open(struct find *find, struct find_request *request,
                       struct cursor_candidates **candidates,
                       struct colander_error *err)
{
    struct cursor_candidates *created;
    enum colander_code code;

    *candidates = NULL;
    if (find->where == NULL || !find->family->store->are_hooks_open) {
        plan_scan(&find->explain,
                  find->where == NULL ? "no condition" : "no value filters");
        return COLANDER_OK;
    }
    created = zeroed(sizeof(*created));
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot plan a find");
    created->find = find;
    code = plan_filter_query(created, request, err);
    if (code == COLANDER_OK && created->source.candidates != NULL)
        *candidates = created;
    else
        cursor_candidates_close(created);
    return code;
}

void
cursor_candidates_close(struct cursor_candidates *candidates)
{
    if (candidates == NULL)
        return;
    readers_destroy(candidates->readers);
    if (candidates->own_rows != NULL)
        found_rows_release(candidates->own_rows);
    free(candidates->own_rows);
    if (candidates->source.candidates != NULL)
        candidates->source.hooks->candidates_close(
            candidates->source.candidates);
    filter_query_destroy(candidates->query);
    free(candidates->keys);
    free(candidates);
}

/* ---------------------------------------------------------------- lots --- */

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns `size`, or fewer rows if fewer are wanted, but not too few: not all
 * of them need match. */
static size_t
within_limit(const struct cursor_candidates *candidates, size_t size)
{
    const uint64_t rows = rows_wanted(candidates->find);
    const size_t wanted = rows < LOT_LARGEST ? (size_t)rows : LOT_LARGEST;

    return least(size, wanted > LOT_FIRST ? wanted : LOT_FIRST);
}

static bool
is_in_range(const struct candidate_request *request, struct colander_slice key)
{
    return colander_slice_compare(key, request->from) >= 0 &&
           (request->until.size == 0 ||
            colander_slice_compare(key, request->until) < 0);
}

/* Removes keys outside the range, so that an extra candidate is never an extra
 * row. */
static void
keep_in_range(struct cursor_candidates *candidates, size_t count)
{
    struct candidate *keys = candidates->keys;

    candidates->key_next = 0;
    candidates->key_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_in_range(&candidates->request, keys[i].key))
            keys[candidates->key_count++] = keys[i];
    }
}

/* Fetches the next lot of keys. */
static enum colander_code
fetch_keys(struct cursor_candidates *candidates, struct colander_error *err)
{
    struct colander_explain *explain = &candidates->find->explain;
    const uint64_t start = find_clock(candidates->find);
    size_t size = within_limit(candidates, candidates->lot_size);
    enum colander_code code;
    size_t count = 0;

    if (candidates->failure != COLANDER_OK)
        return COLANDER_FAIL(err, candidates->failure,
                             "the find has failed before");
    code = array_reserve(&candidates->keys, 0, &candidates->key_max, size, err);
    if (code != COLANDER_OK)
        return code;
    if (candidates->own_rows != NULL)
        found_rows_clear(candidates->own_rows); /* they know the last lot */
    code = candidates->source.hooks->candidates_next(
        candidates->source.candidates, candidates->keys, size, &count, err);
    explain->read_time += find_clock(candidates->find) - start;
    if (code == COLANDER_CANCELLED)
        return find_check_cancelled(candidates->find, err);
    if (code != COLANDER_OK) {
        candidates->failure = code;
        return code;
    }
    keep_in_range(candidates, count);
    explain->candidate_count += count;
    explain->rows_false += count - candidates->key_count;
    candidates->is_end = count < size;
    candidates->is_largest = count == LOT_LARGEST;
    candidates->lot_size =
        least(candidates->lot_size * LOT_GROWTH, LOT_LARGEST);
    return COLANDER_OK;
}

/* ---------------------------------------------------------------- rows --- */

/* Counts the group of rows that is held now. */
static void
count_group(struct cursor_candidates *candidates, size_t count)
{
    struct colander_explain *explain = &candidates->find->explain;
    size_t largest = candidates->row_largest;

    for (size_t i = 0; i < count; i++) {
        struct colander_slice row = {NULL, 0};
        size_t size = found_rows_size(candidates->rows, i);

        (void)found_rows_get(candidates->rows, i, &row);
        explain->bytes_read += row.size;
        largest = size > largest ? size : largest;
    }
    explain->rows_verified += count;
    explain->rows_direct += candidates->rows->direct_count;
    candidates->row_largest = largest;
    candidates->key_next += count;
    candidates->row_count = count;
}

/* Returns how many rows fit in `bytes` if they are as large as those read
 * last. */
static size_t
group_size_within(const struct cursor_candidates *candidates, size_t bytes)
{
    if (candidates->row_largest == 0)
        return GROUP_LARGEST;
    return least(GROUP_LARGEST, bytes / candidates->row_largest);
}

/* Reads the rows of the next keys of the lot. */
static enum colander_code
read_group(struct cursor_candidates *candidates, struct colander_error *err)
{
    size_t count = group_size_within(candidates, GROUP_BYTES);
    enum colander_code code;

    count = least(within_limit(candidates, count > 0 ? count : 1),
                  candidates->key_count - candidates->key_next);
    if (candidates->own_rows == NULL)
        candidates->own_rows = zeroed(sizeof(*candidates->own_rows));
    if (candidates->own_rows == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    code = found_rows_read(candidates->own_rows, &candidates->source,
                           candidates->keys + candidates->key_next, count, err);
    if (code != COLANDER_OK)
        return code;
    candidates->rows = candidates->own_rows;
    candidates->answers = NULL;
    candidates->row_largest = 0;
    count_group(candidates, count);
    return COLANDER_OK;
}

/* Begins to read the rest of the lot ahead if that pays. Threads are created
 * after the first lot of the largest size, as more are likely to follow. */
static void
begin_reading_ahead(struct cursor_candidates *candidates)
{
    const size_t count =
        within_limit(candidates, candidates->key_count - candidates->key_next);
    const size_t group_size =
        group_size_within(candidates, READERS_BYTES / READERS_GROUPS);

    if (candidates->find->thread_count == 1 || group_size == 0 ||
        count < 2 * group_size)
        return;
    if (candidates->readers == NULL && candidates->is_largest) {
        candidates->readers =
            readers_create(&candidates->source, candidates->find->thread_count);
        if (candidates->readers == NULL)
            candidates->find->thread_count = 1; /* not to be tried again */
    }
    if (candidates->readers == NULL)
        return;
    readers_begin(candidates->readers, candidates->keys + candidates->key_next,
                  count, group_size);
    candidates->is_reading_ahead = true;
    candidates->row_largest = 0;
}

/* Holds the next group that was read ahead. If there is none, the read-ahead
 * ends. */
static bool
hold_read_ahead(struct cursor_candidates *candidates)
{
    const struct row_group *group;

    if (!readers_next(candidates->readers, &group)) {
        readers_end(candidates->readers);
        candidates->is_reading_ahead = false;
        return false;
    }
    candidates->rows = &group->rows;
    candidates->answers = group->answers;
    count_group(candidates, group->count);
    return true;
}

/* Holds the next group of rows; none at the end. */
static enum colander_code
hold_rows(struct cursor_candidates *candidates, struct colander_error *err)
{
    enum colander_code code;

    candidates->row_next = 0;
    candidates->row_count = 0;
    if (candidates->is_reading_ahead && hold_read_ahead(candidates))
        return COLANDER_OK;
    while (candidates->key_next == candidates->key_count &&
           !candidates->is_end) {
        code = find_check_pause(candidates->find, err);
        if (code == COLANDER_OK)
            code = fetch_keys(candidates, err);
        if (code != COLANDER_OK)
            return code;
    }
    code = find_check_pause(candidates->find, err);
    if (code != COLANDER_OK || candidates->key_next == candidates->key_count)
        return code;
    begin_reading_ahead(candidates);
    if (candidates->is_reading_ahead && hold_read_ahead(candidates))
        return COLANDER_OK;
    return read_group(candidates, err);
}

/* Puts the row at `index` of the group into `result`. Returns false if the row
 * no longer exists. */
static bool
fill_result(const struct cursor_candidates *candidates, size_t index,
            struct colander_result *result)
{
    const size_t first = candidates->key_next - candidates->row_count;

    result->key = candidates->keys[first + index].key;
    return found_rows_get(candidates->rows, index, &result->row);
}

/* Evaluates the row at `index` of the group, which is in `result`. */
static enum colander_code
evaluate_row(struct cursor_candidates *candidates, size_t index,
             const struct colander_result *result, bool *is_match,
             struct colander_error *err)
{
    const enum row_answer *answers = candidates->answers;
    const enum row_answer answer =
        answers != NULL ? answers[index] : ROW_UNKNOWN;

    *is_match = answer == ROW_TRUE;
    /* A reader thread does not find out which columns matched. */
    if (answer == ROW_UNKNOWN || (*is_match && candidates->find->matches))
        return find_evaluate(candidates->find, result, is_match, err);
    return COLANDER_OK;
}

enum colander_code
cursor_candidates_next(struct cursor_candidates *candidates,
                       struct colander_result *result,
                       struct colander_error *err)
{
    struct find *find = candidates->find;
    enum colander_code code;
    bool is_match = false;

    do {
        size_t index;

        if (candidates->row_next == candidates->row_count) {
            code = hold_rows(candidates, err);
            if (code != COLANDER_OK || candidates->row_count == 0) {
                memset(result, 0, sizeof(*result));
                return code;
            }
        }
        code = find_check_pause(find, err);
        if (code != COLANDER_OK)
            return code;
        index = candidates->row_next++;
        if (!fill_result(candidates, index, result)) {
            find->explain.rows_gone++;
            continue;
        }
        code = evaluate_row(candidates, index, result, &is_match, err);
        if (code == COLANDER_OK && !is_match)
            find->explain.rows_false++;
    } while (code == COLANDER_OK && !is_match);
    return code;
}
