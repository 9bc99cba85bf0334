/*
 * Finds: a scan in key order, and a predicate over each row.
 *
 * Life:   find -> next until there is no row -> close
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/predicate.h"
#include "columns/range.h"
#include "columns/selection.h"
#include "columns/store.h"

#include <stdlib.h>
#include <time.h>

struct colander_cursor {
    struct colander_family *family;
    struct colander_engine_cursor *scan; /* NULL: no row can be there */
    const struct colander_predicate *where;
    struct selection selection;
    bool is_selecting;                /* not all columns */
    struct colander_buffer selected;  /* the row cut down */
    struct colander_matches *matches; /* NULL: not asked for */
    uint64_t limit;                   /* rows that may still come */
    bool is_timed;
    atomic_bool is_cancelled;
    struct colander_find_counts counts;
};

void
colander_query_init(struct colander_query *query)
{
    memset(query, 0, sizeof(*query));
    query->limit = UINT64_MAX;
}

/* ---------------------------------------------------------------- find --- */

static enum colander_code
open_scan(struct colander_cursor *cursor, const struct colander_query *query,
          struct colander_error *err)
{
    struct colander_engine_family *engine_family;
    struct byte_range bytes;
    enum colander_code code;

    code = byte_range_init(&bytes, &query->keys, err);
    if (code != COLANDER_OK)
        return code;
    code = family_find(cursor->family, &engine_family, err);
    if (code == COLANDER_OK && engine_family != NULL && !bytes.is_empty) {
        const struct colander_engine_cursor_options options = {
            .snapshot = query->snapshot,
            .from = bytes.from,
            .until = colander_buffer_slice(&bytes.until),
            .is_reverse = query->is_reverse,
            .skips_cache = query->limit == UINT64_MAX,
        };

        code = colander_engine_cursor_open(engine_family, &options,
                                           &cursor->scan, err);
    }
    byte_range_release(&bytes);
    return code;
}

enum colander_code
colander_family_find(struct colander_family *family,
                     const struct colander_query *query,
                     struct colander_cursor **cursor,
                     struct colander_error *err)
{
    struct colander_cursor *made = calloc(1, sizeof(*made));
    struct colander_query all;
    enum colander_code code = COLANDER_OK;

    *cursor = NULL;
    colander_query_init(&all);
    if (query == NULL)
        query = &all;
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a find");
    made->family = family;
    made->where = query->where;
    made->limit = query->limit;
    made->is_timed = query->is_timed;
    if (query->tells_columns && query->where != NULL) {
        made->matches = colander_matches_create();
        if (made->matches == NULL)
            code =
                COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a find");
    }
    if (code == COLANDER_OK && query->paths != NULL)
        code = selection_init(&made->selection, query->paths, query->path_count,
                              err);
    made->is_selecting = query->paths != NULL;
    if (code == COLANDER_OK)
        code = open_scan(made, query, err);
    if (code != COLANDER_OK) {
        colander_cursor_close(made);
        return code;
    }
    *cursor = made;
    return COLANDER_OK;
}

void
colander_cursor_close(struct colander_cursor *cursor)
{
    if (cursor == NULL)
        return;
    colander_engine_cursor_close(cursor->scan);
    selection_release(&cursor->selection);
    colander_buffer_release(&cursor->selected);
    colander_matches_destroy(cursor->matches);
    free(cursor);
}

void
colander_cursor_cancel(struct colander_cursor *cursor)
{
    atomic_store_explicit(&cursor->is_cancelled, true, memory_order_relaxed);
}

struct colander_find_counts
colander_cursor_counts(const struct colander_cursor *cursor)
{
    return cursor->counts;
}

/* ---------------------------------------------------------------- next --- */

static enum colander_code
check_cancelled(const struct colander_cursor *cursor,
                struct colander_error *err)
{
    if (!atomic_load_explicit(&cursor->is_cancelled, memory_order_relaxed))
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_CANCELLED, "the find was cancelled");
}

/* Steps to the next row that matches; `result->key` is empty at the end. */
static enum colander_code
step_to_match(struct colander_cursor *cursor, struct colander_result *result,
              struct colander_error *err)
{
    struct colander_find_counts *counts = &cursor->counts;
    bool is_match = true;
    enum colander_code code;

    do {
        code = check_cancelled(cursor, err);
        if (code != COLANDER_OK)
            return code;
        code = colander_engine_cursor_next(cursor->scan, &result->key,
                                           &result->row, err);
        if (code == COLANDER_OK && result->key.data == NULL)
            return check_cancelled(cursor, err); /* it may have been long */
        if (code != COLANDER_OK)
            return code;
        counts->rows_read++;
        counts->bytes_read += result->row.size;
        if (cursor->where == NULL)
            return COLANDER_OK;
        code = predicate_evaluate(cursor->where, result->row,
                                  &cursor->is_cancelled, &is_match,
                                  cursor->matches, err);
        if (code == COLANDER_CANCELLED)
            return check_cancelled(cursor, err);
        if (code != COLANDER_OK)
            tell_row(cursor->family, result->key, err);
    } while (code == COLANDER_OK && !is_match);
    return code;
}

static enum colander_code
step(struct colander_cursor *cursor, bool *is_row,
     struct colander_result *result, struct colander_error *err)
{
    enum colander_code code;

    memset(result, 0, sizeof(*result));
    *is_row = false;
    if (cursor->scan == NULL || cursor->limit == 0)
        return COLANDER_OK;
    code = step_to_match(cursor, result, err);
    if (code != COLANDER_OK || result->key.data == NULL)
        return code;
    if (cursor->matches != NULL)
        result->columns = colander_matches_columns(cursor->matches);
    if (cursor->is_selecting) {
        code = selection_apply(&cursor->selection, result->row,
                               &cursor->selected, err);
        if (code != COLANDER_OK) {
            tell_row(cursor->family, result->key, err);
            return code;
        }
        result->row = colander_buffer_slice(&cursor->selected);
    }
    cursor->limit--;
    cursor->counts.rows_returned++;
    *is_row = true;
    return COLANDER_OK;
}

static uint64_t
microseconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

enum colander_code
colander_cursor_next(struct colander_cursor *cursor, bool *is_row,
                     struct colander_result *result, struct colander_error *err)
{
    enum colander_code code;
    uint64_t start;

    if (!cursor->is_timed)
        return step(cursor, is_row, result, err);
    start = microseconds_now();
    code = step(cursor, is_row, result, err);
    cursor->counts.microseconds += microseconds_now() - start;
    return code;
}

enum colander_code
colander_family_count(struct colander_family *family,
                      const struct colander_query *query, uint64_t *count,
                      struct colander_error *err)
{
    struct colander_query counting;
    struct colander_cursor *cursor;
    struct colander_result result;
    enum colander_code code;
    bool is_row = true;

    colander_query_init(&counting);
    if (query != NULL)
        counting = *query;
    counting.paths = NULL;
    counting.tells_columns = false;
    *count = 0;
    code = colander_family_find(family, &counting, &cursor, err);
    while (code == COLANDER_OK && is_row) {
        code = colander_cursor_next(cursor, &is_row, &result, err);
        *count += code == COLANDER_OK && is_row;
    }
    colander_cursor_close(cursor);
    return code;
}
