/*
 * Search: see search.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/search.h"
#include "shell/clock.h"
#include "shell/interrupt.h"

void
search_init(struct search *search, const struct request *request)
{
    memset(search, 0, sizeof(*search));
    search->request = request;
    search->explanation.request = request;
}

/* Gives a row, or only counts it. */
static enum colander_code
give_row(struct search *search, const struct colander_result *result,
         struct colander_error *err)
{
    search->row_count++;
    return search->take == NULL ? COLANDER_OK
                                : search->take(search->taker, result, err);
}

/* Asks the expressions, and counts what they say. */
static enum colander_code
ask_expressions(struct search *search, const struct colander_result *result,
                bool *accepts, struct colander_error *err)
{
    struct explanation *explanation = &search->explanation;
    bool is_timed = search->request->query.is_timed;
    uint64_t start = is_timed ? clock_us() : 0;
    enum colander_code code;

    code = where_accepts(search->request->expressions, result->key, result->row,
                         accepts, err);
    if (is_timed)
        explanation->where_time += clock_us() - start;
    if (code == COLANDER_OK && *accepts)
        explanation->rows_accepted++;
    else if (code == COLANDER_OK)
        explanation->rows_rejected++;
    return code;
}

/* Gives a row that meets the conditions, cut down to the selection, if the
 * expressions let it through: they see all of it. */
static enum colander_code
take_row(struct search *search, const struct colander_result *result,
         struct colander_error *err)
{
    const struct selection *selection = &search->request->selection;
    struct colander_buffer cut = COLANDER_BUFFER_EMPTY;
    struct colander_result shown = *result;
    enum colander_code code;
    bool accepts = false;

    if (search->request->expressions == NULL)
        return give_row(search, result, err);
    code = ask_expressions(search, result, &accepts, err);
    if (code == COLANDER_OK && accepts && selection->count > 0) {
        code = colander_row_select(result->row, selection->paths,
                                   selection->count, &cut, err);
        shown.row = colander_buffer_slice(&cut);
    }
    if (code == COLANDER_OK && accepts)
        code = give_row(search, &shown, err);
    colander_buffer_release(&cut);
    return code;
}

static enum colander_code
scan(struct search *search, struct colander_error *err)
{
    struct colander_cursor *cursor = NULL;
    enum colander_code code;

    code = colander_family_find(search->family, &search->request->query,
                                &cursor, err);
    if (code != COLANDER_OK)
        return code;
    interrupt_watch(cursor);
    while (search->row_count < search->request->limit) {
        struct colander_result result;
        bool is_row = false;

        code = colander_cursor_next(cursor, &is_row, &result, err);
        if (code == COLANDER_OK && is_row)
            code = take_row(search, &result, err);
        if (code != COLANDER_OK || !is_row)
            break;
    }
    interrupt_watch(NULL);
    explanation_take_cursor(&search->explanation, cursor);
    colander_cursor_close(cursor);
    return code;
}

/* Takes the row if it matches. */
static enum colander_code
take_if_match(struct search *search, struct colander_slice row,
              struct colander_matches *matches, struct colander_error *err)
{
    const struct colander_query *query = &search->request->query;
    struct colander_buffer cut = COLANDER_BUFFER_EMPTY;
    struct colander_result result;
    enum colander_code code = COLANDER_OK;
    bool is_match = true;

    memset(&result, 0, sizeof(result));
    result.key = colander_buffer_slice(&search->request->key);
    result.row = row;
    if (query->where != NULL) {
        code = colander_predicate_evaluate(query->where, row, &is_match,
                                           matches, err);
        result.columns = colander_matches_columns(matches);
    }
    if (code == COLANDER_OK && query->path_count > 0) {
        code = colander_row_select(row, query->paths, query->path_count, &cut,
                                   err);
        result.row = colander_buffer_slice(&cut);
    }
    if (code == COLANDER_OK && is_match && search->request->limit > 0) {
        search->explanation.counts.rows_returned = 1;
        explanation_take_row(&search->explanation, &result.columns);
        code = take_row(search, &result, err);
    }
    colander_buffer_release(&cut);
    return code;
}

/* A find with --key: no scan, one get. */
static enum colander_code
look_up(struct search *search, struct colander_error *err)
{
    const struct colander_read read = {.snapshot =
                                           search->request->query.snapshot};
    struct colander_matches *matches = colander_matches_create();
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    struct colander_explain *counts = &search->explanation.counts;
    uint64_t start = clock_us();
    enum colander_code code;
    bool found = false;

    if (matches == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for matches");
    code = colander_family_get(search->family,
                               colander_buffer_slice(&search->request->key),
                               &read, &row, &found, err);
    counts->read_time = clock_us() - start;
    if (code == COLANDER_OK && found) {
        counts->rows_read = 1;
        counts->bytes_read = row.size;
        code = take_if_match(search, colander_buffer_slice(&row), matches, err);
    }
    colander_buffer_release(&row);
    colander_matches_destroy(matches);
    return code;
}

enum colander_code
search_run(struct search *search, struct colander_error *err)
{
    return search->request->key.size > 0 ? look_up(search, err)
                                         : scan(search, err);
}

void
search_release(struct search *search)
{
    explanation_release(&search->explanation);
}
