/*
 * Finds that read candidates: each key that the store's extension gives is read
 * as the snapshot has it, and the whole predicate decides.
 *
 * Keys come in lots that grow, so that a find of few rows asks for few and a
 * find of many asks seldom. Of a lot, a group of rows is read at once and held
 * while its rows are given out. Groups are small: the engine reads no more than
 * this many keys at once whatever it is asked for, and rows may be large.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/cursor.h"
#include "columns/store.h"

#include <stdlib.h>

/* Keys of the first lot, and of the largest. */
#define LOT_FIRST 8
#define LOT_GROWTH 4
#define LOT_LARGEST 512

/* Rows of the largest group, and what the bytes of a group should stay under
 * as far as the rows before tell. */
#define GROUP_LARGEST 32
#define GROUP_BYTES (4u << 20)

/* Memory that is kept from group to group, for each row. */
#define ROW_BYTES_KEPT (GROUP_BYTES / GROUP_LARGEST)

struct cursor_candidates {
    struct question *question;
    struct colander_buffer from; /* copies of the bounds */
    struct colander_buffer until;
    struct candidate_request request;
    struct candidates *candidates; /* the extension's; NULL: not open */
    uint64_t count;                /* keys it has given */
    enum colander_code failure;    /* of the extension: it is not asked again */

    size_t lot_size; /* of the next lot */
    size_t key_count;
    size_t key_next; /* whose row is to be read */
    bool is_end;     /* there is no other lot */

    struct colander_buffer rows[GROUP_LARGEST]; /* of the keys before */
    bool found[GROUP_LARGEST];
    size_t row_count;
    size_t row_next; /* to be evaluated */
    size_t group_size;

    struct colander_slice keys[LOT_LARGEST]; /* last: need not be zeroed */
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
    made->group_size = LOT_FIRST;
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
    made = malloc(sizeof(*made));
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot plan a find");
    memset(made, 0, offsetof(struct cursor_candidates, keys));
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
    if (candidates->candidates != NULL)
        cursor->family->store->extension.candidates_close(
            candidates->candidates);
    question_destroy(candidates->question);
    colander_buffer_release(&candidates->from);
    colander_buffer_release(&candidates->until);
    for (size_t i = 0; i < GROUP_LARGEST; i++)
        colander_buffer_release(&candidates->rows[i]);
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
    candidates->is_end = count == 0;
    candidates->lot_size =
        least(candidates->lot_size * LOT_GROWTH, LOT_LARGEST);
    return COLANDER_OK;
}

/* ---------------------------------------------------------------- rows --- */

/* Counts the group that was read, and plans the next by its largest row. */
static void
count_group(struct colander_cursor *cursor,
            struct cursor_candidates *candidates, size_t count)
{
    struct colander_explain *explain = &cursor->explain;
    size_t largest = 1;

    for (size_t i = 0; i < count; i++) {
        const size_t size = candidates->found[i] ? candidates->rows[i].size : 0;

        explain->bytes_read += size;
        largest = size > largest ? size : largest;
    }
    explain->rows_verified += count;
    candidates->group_size =
        least(GROUP_LARGEST, largest < GROUP_BYTES ? GROUP_BYTES / largest : 1);
    candidates->key_next += count;
    candidates->row_count = count;
}

/* Reads the rows of the next keys of the lot. */
static enum colander_code
read_group(struct colander_cursor *cursor, struct cursor_candidates *candidates,
           struct colander_error *err)
{
    const struct candidate_request *request = &candidates->request;
    const struct colander_slice *keys = candidates->keys + candidates->key_next;
    size_t count = least(within_limit(cursor, candidates->group_size),
                         candidates->key_count - candidates->key_next);
    enum colander_code code;

    for (size_t i = 0; i < GROUP_LARGEST; i++) {
        if (candidates->rows[i].capacity > ROW_BYTES_KEPT)
            colander_buffer_release(&candidates->rows[i]);
    }
    if (count == 1)
        code = colander_engine_get(request->family, request->snapshot, keys[0],
                                   candidates->rows, candidates->found, err);
    else
        code = colander_engine_get_many(request->family, request->snapshot,
                                        keys, count, candidates->rows,
                                        candidates->found, err);
    if (code == COLANDER_OK)
        count_group(cursor, candidates, count);
    return code;
}

/* Holds the next group of rows; none at the end. */
static enum colander_code
hold_rows(struct colander_cursor *cursor, struct cursor_candidates *candidates,
          struct colander_error *err)
{
    enum colander_code code;

    candidates->row_next = 0;
    candidates->row_count = 0;
    while (candidates->key_next == candidates->key_count &&
           !candidates->is_end) {
        code = cursor_check_cancelled(cursor, err);
        if (code == COLANDER_OK)
            code = fetch_keys(cursor, candidates, err);
        if (code != COLANDER_OK)
            return code;
    }
    code = cursor_check_cancelled(cursor, err);
    if (code != COLANDER_OK || candidates->is_end)
        return code;
    return read_group(cursor, candidates, err);
}

/* Puts the row at `index` of the group into `result`. */
static void
fill_result(const struct cursor_candidates *candidates, size_t index,
            struct colander_result *result)
{
    const size_t first = candidates->key_next - candidates->row_count;

    result->key = candidates->keys[first + index];
    result->row = colander_buffer_slice(&candidates->rows[index]);
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
        if (!candidates->found[index]) {
            cursor->explain.rows_gone++;
            continue;
        }
        fill_result(candidates, index, result);
        code = cursor_evaluate(cursor, result, &is_match, err);
        if (code == COLANDER_OK && !is_match)
            cursor->explain.rows_false++;
    } while (code == COLANDER_OK && !is_match);
    return code;
}
