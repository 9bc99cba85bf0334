/* See find_run.h. SPDX-License-Identifier: MIT */
#include "shell/find_run.h"
#include "core/clock.h"
#include "shell/interrupt.h"

/* Passes a row on, or only counts it. */
static enum colander_code
pass_row(struct find_run *run, const struct colander_result *result,
         struct colander_error *err)
{
    run->explanation.row_count++;
    return run->take == NULL ? COLANDER_OK
                             : run->take(run->context, result, err);
}

/* Evaluates the expressions, and counts the rows that they reject. */
static enum colander_code
evaluate(struct find_run *run, const struct colander_result *result,
         bool *accepts, struct colander_error *err)
{
    struct explanation *explanation = &run->explanation;
    bool is_timed = run->request->query.is_timed;
    uint64_t start = is_timed ? clock_us() : 0;
    enum colander_code code;

    code = where_accepts(run->request->expressions, result->key, result->row,
                         accepts, err);
    if (is_timed)
        explanation->where_time += clock_us() - start;
    explanation->rows_rejected += code == COLANDER_OK && !*accepts;
    return code;
}

/* Passes on a row that meets the conditions, if the expressions accept it. They
 * see the whole row; the taker sees the selected columns. */
static enum colander_code
take_row(struct find_run *run, const struct colander_result *result,
         struct colander_error *err)
{
    const struct argument_list *selection = &run->request->selection;
    struct colander_buffer cut = COLANDER_BUFFER_EMPTY;
    struct colander_result shown = *result;
    enum colander_code code;
    bool accepts = false;

    if (run->request->expressions == NULL)
        return pass_row(run, result, err);
    code = evaluate(run, result, &accepts, err);
    if (code == COLANDER_OK && accepts && selection->count > 0) {
        code = colander_row_select(result->row, selection->paths,
                                   selection->count, &cut, err);
        shown.row = colander_buffer_slice(&cut);
    }
    if (code == COLANDER_OK && accepts)
        code = pass_row(run, &shown, err);
    colander_buffer_release(&cut);
    return code;
}

enum colander_code
find_run_read(struct find_run *run, struct colander_error *err)
{
    struct colander_cursor *cursor = NULL;
    enum colander_code code;

    code =
        colander_family_find(run->family, &run->request->query, &cursor, err);
    if (code != COLANDER_OK)
        return code;
    interrupt_watch(cursor);
    while (run->explanation.row_count < run->request->limit) {
        struct colander_result result;
        bool is_row = false;

        code = colander_cursor_next(cursor, &is_row, &result, err);
        if (code == COLANDER_OK && is_row)
            code = take_row(run, &result, err);
        if (code != COLANDER_OK || !is_row)
            break;
    }
    interrupt_watch(NULL);
    explanation_take_cursor(&run->explanation, cursor);
    colander_cursor_close(cursor);
    return code;
}
