/*
 * Finds that read candidates: each key that the store's extension gives is read
 * as the snapshot has it, and the whole predicate decides.
 *
 * Keys come in lots that grow, so that a find of few rows asks for few and a
 * find of many asks seldom. Of a lot, a group of rows is read at once and held
 * while its rows are given out. Groups are small: the engine reads no more than
 * this many keys at once whatever it is asked for, and rows may be large.
 *
 * Lots of the largest size are read ahead by several threads (readers.h). What
 * they leave undone is read here, so all errors are met here, in their order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/cursor.h"
#include "columns/readers.h"
#include "columns/store.h"

#include <stdlib.h>

/* Keys of the first lot, and of the largest. */
#define LOT_FIRST 8
#define LOT_GROWTH 4
#define LOT_LARGEST 512

/* Rows of the largest group, and what the bytes of a group should stay under
 * as far as the rows before tell. */
#define GROUP_LARGEST READERS_GROUP_ROWS
#define GROUP_BYTES (4u << 20)

struct cursor_candidates {
    struct question *question;
    struct colander_buffer from; /* copies of the bounds */
    struct colander_buffer until;
    struct candidate_request request;
    struct candidates *candidates; /* the extension's; NULL: not open */
    uint64_t count;                /* keys it has given */
    enum colander_code failure;    /* of the extension: it is not asked again */

    size_t lot_size; /* of the next lot */
    bool is_largest; /* the lot is as large as they get */
    bool is_end;     /* it is the last */
    size_t key_count;
    size_t key_next; /* whose row is to be read */
    size_t key_max;
    struct colander_slice *keys; /* few_keys or many_keys */

    /* The group of rows of the keys before, read here or by `readers`. */
    const struct colander_engine_rows *rows;
    const enum row_answer *answers; /* NULL: none is known */
    size_t row_count;
    size_t row_next;    /* to be evaluated */
    size_t row_largest; /* bytes, of the rows read last */

    struct readers *readers; /* NULL: not yet, or never */
    bool is_reading_ahead;   /* they have a lot */

    struct colander_engine_rows *own_rows; /* those read here */
    struct colander_slice *many_keys;      /* NULL: few_keys suffice */
    struct colander_slice few_keys[LOT_FIRST];
};

/* ---------------------------------------------------------------- plan --- */

/* The end of a plan that is a scan. What it took stays told, no more. */
static void
plan_scan(struct colander_explain *explain, const char *reason)
{
    const struct colander_explain told = *explain;

    memset(explain, 0, sizeof(*explain));
    explain->plan = COLANDER_PLAN_SCAN;
    explain->reason = told.reason != NULL ? told.reason : reason;
    explain->rows_expected = told.rows_expected;
}

static enum colander_code
fill_request(struct colander_cursor *cursor, struct cursor_candidates *made,
             const struct cursor_request *request, struct colander_error *err)
{
    const struct byte_range *range = request->range;
    struct candidate_request *asked = &made->request;
    enum colander_code code;

    code = colander_buffer_append(&made->from, range->from.data,
                                  range->from.size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&made->until, range->until.data,
                                      range->until.size, err);
    asked->family = request->family;
    asked->snapshot = request->snapshot;
    asked->question = made->question;
    asked->where = cursor->where;
    asked->from = colander_buffer_slice(&made->from);
    asked->until = colander_buffer_slice(&made->until);
    asked->is_reverse = request->is_reverse;
    asked->limit = cursor->limit;
    asked->is_cancelled = &cursor->is_cancelled;
    asked->explain = &cursor->explain;
    return code;
}

/* Asks the extension, at one state of the store. */
static enum colander_code
open_candidates(struct colander_cursor *cursor, struct cursor_candidates *made,
                struct cursor_request *request, struct colander_error *err)
{
    const struct store_extension *extension = &cursor->family->store->extension;
    struct colander_explain *explain = &cursor->explain;
    enum colander_code code = COLANDER_OK;

    if (request->snapshot == NULL) {
        code = colander_snapshot_create(cursor->family->store->engine,
                                        &cursor->taken, err);
        request->snapshot = cursor->taken;
    }
    if (code == COLANDER_OK)
        code = fill_request(cursor, made, request, err);
    if (code != COLANDER_OK)
        return code;
    made->lot_size = LOT_FIRST;
    made->keys = made->few_keys;
    made->key_max = LOT_FIRST;
    code = extension->candidates_open(extension->context, &made->request,
                                      &made->candidates, err);
    if (code != COLANDER_OK)
        return code;
    if (made->candidates == NULL) {
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
plan_question(struct colander_cursor *cursor, struct cursor_candidates *made,
              struct cursor_request *request, struct colander_error *err)
{
    const struct question *question;
    enum colander_code code =
        question_create(cursor->where, &made->question, err);

    if (code != COLANDER_OK)
        return code;
    question = made->question;
    if (question->kind == QUESTION_OPEN) {
        plan_scan(&cursor->explain, "no condition that value filters know");
        return COLANDER_OK;
    }
    if (question->kind == QUESTION_ANY_OF && question->operand_count == 0) {
        cursor->explain.plan = COLANDER_PLAN_NOTHING;
        cursor->explain.reason = "no value meets the conditions";
        return COLANDER_OK;
    }
    return open_candidates(cursor, made, request, err);
}

enum colander_code
cursor_plan(struct colander_cursor *cursor, struct cursor_request *request,
            struct colander_error *err)
{
    struct cursor_candidates *made;
    enum colander_code code;

    if (cursor->where == NULL || !cursor->family->store->is_extended) {
        plan_scan(&cursor->explain,
                  cursor->where == NULL ? "no condition" : "no value filters");
        return COLANDER_OK;
    }
    made = calloc(1, sizeof(*made));
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot plan a find");
    cursor->candidates = made;
    code = plan_question(cursor, made, request, err);
    if (made->candidates == NULL)
        cursor_close_candidates(cursor);
    return code;
}

void
cursor_close_candidates(struct colander_cursor *cursor)
{
    struct cursor_candidates *candidates = cursor->candidates;

    if (candidates == NULL)
        return;
    readers_destroy(candidates->readers);
    if (candidates->candidates != NULL)
        cursor->family->store->extension.candidates_close(
            candidates->candidates);
    question_destroy(candidates->question);
    colander_buffer_release(&candidates->from);
    colander_buffer_release(&candidates->until);
    colander_engine_rows_destroy(candidates->own_rows);
    free(candidates->many_keys);
    free(candidates);
    cursor->candidates = NULL;
}

/* ---------------------------------------------------------------- lots --- */

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Of `size` rows so many as the limit leaves of use, but not too few: not all
 * of them need match. */
static size_t
within_limit(const struct colander_cursor *cursor, size_t size)
{
    size_t wanted =
        cursor->limit < LOT_LARGEST ? (size_t)cursor->limit : LOT_LARGEST;

    return least(size, wanted > LOT_FIRST ? wanted : LOT_FIRST);
}

static bool
is_in_range(const struct candidate_request *request, struct colander_slice key)
{
    return colander_slice_compare(key, request->from) >= 0 &&
           (request->until.size == 0 ||
            colander_slice_compare(key, request->until) < 0);
}

/* Leaves out keys beyond the range, so that a candidate too many is never a row
 * too many. */
static void
keep_in_range(struct cursor_candidates *candidates, size_t count)
{
    struct colander_slice *keys = candidates->keys;

    candidates->key_next = 0;
    candidates->key_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_in_range(&candidates->request, keys[i]))
            keys[candidates->key_count++] = keys[i];
    }
}

/* Makes room for `size` keys. */
static enum colander_code
reserve_keys(struct cursor_candidates *candidates, size_t size,
             struct colander_error *err)
{
    if (size <= candidates->key_max)
        return COLANDER_OK;
    candidates->many_keys = calloc(LOT_LARGEST, sizeof(struct colander_slice));
    if (candidates->many_keys == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a find of many rows");
    candidates->keys = candidates->many_keys;
    candidates->key_max = LOT_LARGEST;
    return COLANDER_OK;
}

/* Fetches the next lot of keys. */
static enum colander_code
fetch_keys(struct colander_cursor *cursor, struct cursor_candidates *candidates,
           struct colander_error *err)
{
    const struct store_extension *extension = &cursor->family->store->extension;
    struct colander_explain *explain = &cursor->explain;
    const uint64_t start = cursor_clock(cursor);
    size_t size = within_limit(cursor, candidates->lot_size);
    enum colander_code code;
    size_t count = 0;

    if (candidates->failure != COLANDER_OK)
        return COLANDER_FAIL(err, candidates->failure,
                             "the find has failed before");
    code = reserve_keys(candidates, size, err);
    if (code != COLANDER_OK)
        return code;
    code = extension->candidates_next(candidates->candidates, candidates->keys,
                                      size, &count, err);
    explain->read_time += cursor_clock(cursor) - start;
    if (code == COLANDER_CANCELLED)
        return cursor_check_cancelled(cursor, err);
    if (code != COLANDER_OK) {
        candidates->failure = code;
        return code;
    }
    keep_in_range(candidates, count);
    candidates->count += count;
    explain->candidate_count = candidates->count;
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
count_group(struct colander_cursor *cursor,
            struct cursor_candidates *candidates, size_t count)
{
    struct colander_explain *explain = &cursor->explain;
    size_t largest = candidates->row_largest;

    for (size_t i = 0; i < count; i++) {
        struct colander_slice row = {NULL, 0};
        size_t size = colander_engine_rows_size(candidates->rows, i);

        (void)colander_engine_rows_get(candidates->rows, i, &row);
        explain->bytes_read += row.size;
        largest = size > largest ? size : largest;
    }
    explain->rows_verified += count;
    candidates->row_largest = largest;
    candidates->key_next += count;
    candidates->row_count = count;
}

/* So many rows as `bytes` have room for when they are as those read last; 0:
 * not one. */
static size_t
group_size_within(const struct cursor_candidates *candidates, size_t bytes)
{
    if (candidates->row_largest == 0)
        return GROUP_LARGEST;
    return least(GROUP_LARGEST, bytes / candidates->row_largest);
}

/* Reads the rows of the next keys of the lot. */
static enum colander_code
read_group(struct colander_cursor *cursor, struct cursor_candidates *candidates,
           struct colander_error *err)
{
    const struct candidate_request *request = &candidates->request;
    size_t count = group_size_within(candidates, GROUP_BYTES);
    enum colander_code code = COLANDER_OK;

    count = least(within_limit(cursor, count > 0 ? count : 1),
                  candidates->key_count - candidates->key_next);
    if (candidates->own_rows == NULL)
        code = colander_engine_rows_create(&candidates->own_rows, err);
    if (code == COLANDER_OK)
        code = colander_engine_rows_read(
            candidates->own_rows, request->family, request->snapshot,
            candidates->keys + candidates->key_next, count, err);
    if (code != COLANDER_OK)
        return code;
    candidates->rows = candidates->own_rows;
    candidates->answers = NULL;
    candidates->row_largest = 0;
    count_group(cursor, candidates, count);
    return COLANDER_OK;
}

/* Has the rest of the lot read ahead, when that is worth it: more of the
 * largest lots are likely to follow the first, and threads that are there are
 * used. */
static void
begin_reading_ahead(struct colander_cursor *cursor,
                    struct cursor_candidates *candidates)
{
    const size_t count =
        within_limit(cursor, candidates->key_count - candidates->key_next);
    const size_t group_size =
        group_size_within(candidates, READERS_BYTES / READERS_GROUPS);

    if (cursor->thread_count == 1 || group_size == 0 || count < 2 * group_size)
        return;
    if (candidates->readers == NULL && candidates->is_largest) {
        candidates->readers =
            readers_create(&candidates->request, cursor->thread_count);
        if (candidates->readers == NULL)
            cursor->thread_count = 1; /* not to be tried again */
    }
    if (candidates->readers == NULL)
        return;
    readers_begin(candidates->readers, candidates->keys + candidates->key_next,
                  count, group_size);
    candidates->is_reading_ahead = true;
    candidates->row_largest = 0;
}

/* Holds the next group that was read ahead. Without one the reading ahead is
 * over. */
static bool
hold_read_ahead(struct colander_cursor *cursor,
                struct cursor_candidates *candidates)
{
    const struct row_group *group;

    if (!readers_next(candidates->readers, &group)) {
        readers_end(candidates->readers);
        candidates->is_reading_ahead = false;
        return false;
    }
    candidates->rows = group->rows;
    candidates->answers = group->answers;
    count_group(cursor, candidates, group->count);
    return true;
}

/* Holds the next group of rows; none at the end. */
static enum colander_code
hold_rows(struct colander_cursor *cursor, struct cursor_candidates *candidates,
          struct colander_error *err)
{
    enum colander_code code;

    candidates->row_next = 0;
    candidates->row_count = 0;
    if (candidates->is_reading_ahead && hold_read_ahead(cursor, candidates))
        return COLANDER_OK;
    while (candidates->key_next == candidates->key_count &&
           !candidates->is_end) {
        code = cursor_check_cancelled(cursor, err);
        if (code == COLANDER_OK)
            code = fetch_keys(cursor, candidates, err);
        if (code != COLANDER_OK)
            return code;
    }
    code = cursor_check_cancelled(cursor, err);
    if (code != COLANDER_OK || candidates->key_next == candidates->key_count)
        return code;
    begin_reading_ahead(cursor, candidates);
    if (candidates->is_reading_ahead && hold_read_ahead(cursor, candidates))
        return COLANDER_OK;
    return read_group(cursor, candidates, err);
}

/* Puts the row at `index` of the group into `result`; false: it is gone. */
static bool
fill_result(const struct cursor_candidates *candidates, size_t index,
            struct colander_result *result)
{
    const size_t first = candidates->key_next - candidates->row_count;

    result->key = candidates->keys[first + index];
    return colander_engine_rows_get(candidates->rows, index, &result->row);
}

/* Whether the row at `index` of the group, put into `result`, matches. */
static enum colander_code
ask_row(struct colander_cursor *cursor, size_t index,
        const struct colander_result *result, bool *is_match,
        struct colander_error *err)
{
    const enum row_answer *answers = cursor->candidates->answers;
    const enum row_answer answer =
        answers != NULL ? answers[index] : ROW_UNKNOWN;

    *is_match = answer == ROW_TRUE;
    /* which columns matched, nobody has found out yet */
    if (answer == ROW_UNKNOWN || (*is_match && cursor->matches != NULL))
        return cursor_evaluate(cursor, result, is_match, err);
    return COLANDER_OK;
}

enum colander_code
cursor_step_candidates(struct colander_cursor *cursor,
                       struct colander_result *result,
                       struct colander_error *err)
{
    struct cursor_candidates *candidates = cursor->candidates;
    enum colander_code code;
    bool is_match = false;

    do {
        size_t index;

        if (candidates->row_next == candidates->row_count) {
            code = hold_rows(cursor, candidates, err);
            if (code != COLANDER_OK || candidates->row_count == 0) {
                memset(result, 0, sizeof(*result));
                return code;
            }
        }
        code = cursor_check_cancelled(cursor, err);
        if (code != COLANDER_OK)
            return code;
        index = candidates->row_next++;
        if (!fill_result(candidates, index, result)) {
            cursor->explain.rows_gone++;
            continue;
        }
        code = ask_row(cursor, index, result, &is_match, err);
        if (code == COLANDER_OK && !is_match)
            cursor->explain.rows_false++;
    } while (code == COLANDER_OK && !is_match);
    return code;
}
