/* See find_run.h. SPDX-License-Identifier: MIT */
#include "shell/find_run.h"
#include "columns/source.h"
#include "core/clock.h"
#include "shell/interrupt.h"

#include <stdlib.h>

/* Bytes of rows that --order holds; others wait in a file. A limit holds
 * fewer. */
#define ORDERED_SIZE_MAX ((size_t)256 << 20)

#define EXPRESSION_COLUMNS_MAX 20 /* that a hint looks at */

/* A run, and what it holds. */
struct reading {
    struct find_run *run;
    struct colander_cursor *cursor;
    struct colander_ordered *ordered; /* NULL: rows come in their order */
    struct colander_matches *matches; /* of ordered rows; may be NULL */
    struct colander_buffer cut;       /* the selected columns of a row */
    bool names_families;
    struct family_namer namer;
};

/* ---------------------------------------------------------------- a row --- */

/* Whether the cursor returns whole rows, of which the taker wants a part. */
static bool
has_whole_rows(const struct request *request)
{
    return request->expressions != NULL || request->order != NULL;
}

/* Passes a row on, or only counts it. */
static enum colander_code
pass_row(struct reading *reading, const struct colander_result *result,
         struct colander_error *err)
{
    struct find_run *run = reading->run;
    const struct argument_list *selection = &run->request->selection;
    struct colander_result shown = *result;
    enum colander_code code;

    hint_missing_see(&run->missing, result->row);
    if (run->skipped < run->request->skip) {
        run->skipped++;
        return COLANDER_OK;
    }
    run->explanation.row_count++;
    if (run->take == NULL)
        return COLANDER_OK;
    if (has_whole_rows(run->request) && selection->count > 0) {
        code = colander_row_select(result->row, selection->paths,
                                   selection->count, &reading->cut, err);
        if (code != COLANDER_OK)
            return code;
        shown.row = colander_buffer_slice(&reading->cut);
    }
    return run->take(run->context, &shown, err);
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

/* Takes a row that meets the conditions, if the expressions accept it. They see
 * the whole row, with its family if there are several; the taker sees the
 * selected columns. */
static enum colander_code
take_row(struct reading *reading, const struct colander_result *result,
         struct colander_error *err)
{
    const struct request *request = reading->run->request;
    struct colander_result named = *result;
    bool accepts = true;
    enum colander_code code = COLANDER_OK;

    if (reading->names_families ||
        (request->expressions != NULL && request->families.is_selection))
        code = family_namer_add(&reading->namer, reading->run->family,
                                &named.row, err);
    if (code == COLANDER_OK && request->expressions != NULL)
        code = evaluate(reading->run, &named, &accepts, err);
    if (code != COLANDER_OK || !accepts)
        return code;
    if (!reading->names_families)
        named.row = result->row;
    return reading->ordered != NULL
               ? colander_ordered_add(reading->ordered, &named, err)
               : pass_row(reading, &named, err);
}

/* ------------------------------------------------------------- all rows --- */

static bool
is_full(const struct find_run *run)
{
    return run->explanation.row_count >= run->request->limit;
}

static bool
is_sated(const struct reading *reading)
{
    return reading->ordered != NULL &&
           colander_ordered_is_sated(reading->ordered);
}

/* Reads the rows of the cursor. */
static enum colander_code
read_cursor(struct reading *reading, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_row = true;

    interrupt_watch(reading->cursor);
    while (code == COLANDER_OK && is_row && !is_full(reading->run) &&
           !is_sated(reading)) {
        struct colander_result result;

        code = colander_cursor_next(reading->cursor, &is_row, &result, err);
        if (code == COLANDER_OK && is_row)
            code = take_row(reading, &result, err);
    }
    interrupt_watch(NULL);
    return code;
}

/* Notes what a cursor has read, and closes it. */
static void
end_cursor(struct reading *reading)
{
    if (reading->cursor != NULL)
        explanation_take_cursor(&reading->run->explanation, reading->cursor);
    colander_cursor_close(reading->cursor);
    reading->cursor = NULL;
}

/* Whether rows are only counted, and not here. */
static bool
counts_elsewhere(const struct find_run *run)
{
    const struct request *request = run->request;

    return run->take == NULL && request->expressions == NULL &&
           request->order == NULL && request->skip == 0 &&
           request->limit == UINT64_MAX && !request->is_any &&
           run->missing.count == 0 &&
           colander_store_has_source(colander_family_store(run->family));
}

static enum colander_code
count_elsewhere(struct find_run *run, struct colander_error *err)
{
    struct colander_explain counts;
    uint64_t count;
    const enum colander_code code =
        colander_family_count_there(run->family, &run->request->query,
                                    interrupt_happened, &count, &counts, err);

    if (code != COLANDER_OK)
        return code;
    explanation_take_counts(&run->explanation, &counts);
    run->explanation.row_count += count;
    return COLANDER_OK;
}

/* Reads all families, one after another. One that was dropped meanwhile has no
 * rows; a cursor that is open goes on to its end. */
static enum colander_code
read_rows(struct reading *reading, struct colander_error *err)
{
    struct find_run *run = reading->run;
    const struct family_set *families = &run->request->families;
    const bool is_reverse = run->request->query.is_reverse;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0;
         i < families->count && code == COLANDER_OK && !is_full(run); i++) {
        end_cursor(reading);
        run->family =
            families->families[is_reverse ? families->count - 1 - i : i];
        if (counts_elsewhere(run))
            code = count_elsewhere(run, err);
        else
            code = colander_family_find(run->family, &run->request->query,
                                        &reading->cursor, err);
        if (code == COLANDER_OK && reading->cursor != NULL)
            code = read_cursor(reading, err);
        else if (code == COLANDER_DROPPED && families->is_selection)
            code = COLANDER_OK;
    }
    return code;
}

/* Reads the rows that may be the first ones; of several families, all. */
static enum colander_code
read_ordered(struct reading *reading, struct colander_error *err)
{
    struct find_run *run = reading->run;
    enum colander_code code = COLANDER_OK;
    bool is_done = false;

    if (run->request->families.is_selection)
        return read_rows(reading, err);
    run->family = run->request->families.families[0];
    while (code == COLANDER_OK && !is_done) {
        code = colander_ordered_find(reading->ordered, run->family,
                                     &run->request->query, &reading->cursor,
                                     &is_done, err);
        if (code == COLANDER_OK && !is_done)
            code = read_cursor(reading, err);
    }
    return code;
}

/* Finds out again which columns of an ordered row matched. */
static enum colander_code
match_again(struct reading *reading, struct colander_result *result,
            struct colander_error *err)
{
    const struct request *request = reading->run->request;
    enum colander_code code;
    bool is_match;

    if (!request->is_any)
        return COLANDER_OK;
    if (reading->matches == NULL)
        reading->matches = colander_matches_create();
    if (reading->matches == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for the columns that matched");
    code = colander_predicate_evaluate(request->where, result->row, &is_match,
                                       reading->matches, err);
    result->columns = colander_matches_columns(reading->matches);
    return code;
}

static enum colander_code
pass_ordered(struct reading *reading, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_row = true;

    while (code == COLANDER_OK && is_row && !is_full(reading->run)) {
        struct colander_result result;

        code = colander_ordered_next(reading->ordered, &is_row, &result, err);
        if (code == COLANDER_OK && is_row)
            code = match_again(reading, &result, err);
        if (code == COLANDER_OK && is_row)
            code = pass_row(reading, &result, err);
    }
    return code;
}

static enum colander_code
begin_order(struct reading *reading, struct colander_error *err)
{
    const struct request *request = reading->run->request;
    const char *directory = getenv("TMPDIR");
    struct colander_order order;
    enum colander_code code;

    if (request->order == NULL)
        return COLANDER_OK;
    if (*argument_path_end(request->order) == ',')
        return COLANDER_FAIL(
            err, COLANDER_INVALID,
            "--order takes one column, not '%.100s' (write \\, "
            "for a comma in its name)",
            request->order);
    colander_order_init(&order);
    order.path = request->order;
    order.is_descending = request->is_descending;
    if (request->limit < UINT64_MAX - request->skip)
        order.limit = request->limit + request->skip;
    order.size_max = ORDERED_SIZE_MAX;
    order.is_cancelled = interrupt_happened;
    order.directory =
        directory != NULL && directory[0] != '\0' ? directory : "/var/tmp";
    code = colander_ordered_create(&order, &reading->ordered, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "--order");
    return code;
}

static bool
names_families(const struct find_run *run)
{
    const struct argument_list *selection = &run->request->selection;
    bool is_selected = selection->count == 0;

    for (size_t i = 0; i < selection->count; i++)
        is_selected |= strcmp(selection->paths[i], FAMILY_COLUMN) == 0;
    return run->names_families && is_selected &&
           run->request->families.is_selection;
}

enum colander_code
find_run_read(struct find_run *run, struct colander_error *err)
{
    struct reading reading = {.run = run,
                              .names_families = names_families(run)};
    enum colander_code code = begin_order(&reading, err);

    if (code == COLANDER_OK)
        code = reading.ordered != NULL ? read_ordered(&reading, err)
                                       : read_rows(&reading, err);
    if (reading.cursor != NULL)
        explanation_take_cursor(&run->explanation, reading.cursor);
    if (code == COLANDER_OK && reading.ordered != NULL)
        code = pass_ordered(&reading, err);
    colander_cursor_close(reading.cursor);
    colander_ordered_destroy(reading.ordered);
    colander_matches_destroy(reading.matches);
    colander_buffer_release(&reading.cut);
    family_namer_release(&reading.namer);
    return code;
}

void
find_run_add_hint(const struct find_run *run, struct report *report)
{
    const struct request *request = run->request;
    struct hint_question question = {
        .family = request->families.model,
        .families = request->families.families,
        .family_count = request->families.count,
        .paths = run->missing.paths,
        .any_type = true,
    };
    const char *paths[EXPRESSION_COLUMNS_MAX];
    struct colander_predicate *compared = NULL;

    for (size_t i = 0; i < run->missing.count; i++) { /* rows get this one */
        if (!request->families.is_selection ||
            strcmp(run->missing.paths[i], FAMILY_COLUMN) != 0)
            run->missing.paths[question.path_count++] = run->missing.paths[i];
    }
    if (run->explanation.row_count == 0 && run->skipped == 0 &&
        request->limit > 0) {
        question.where = request->where;
        if (request->expressions != NULL) {
            question.are_guesses = true;
            question.paths = paths;
            question.path_count = where_columns(request->expressions, paths,
                                                EXPRESSION_COLUMNS_MAX);
            question.compared = compared =
                where_comparisons(request->expressions);
        }
    }
    if (question.where != NULL || question.path_count > 0)
        hint_add(&question, report);
    colander_predicate_destroy(compared);
}
