/*
 * Words that are looked for in any column, and the name of a column at once:
 * a condition of which the operator was forgotten.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/columns.h"
#include "columns/words/conditions.h"

#define SEEN_ROWS 1000 /* in which columns are looked for without filters */

/* Reads rows of the query up to one with something at `path`. */
static enum colander_code
read_rows(struct colander_family *family, const struct colander_query *query,
          const char *path, bool *is_column, struct colander_error *err)
{
    struct colander_cursor *cursor = NULL;
    struct colander_result result;
    struct colander_value value;
    enum colander_code code = colander_family_find(family, query, &cursor, err);
    bool is_row = code == COLANDER_OK;

    while (code == COLANDER_OK && is_row && !*is_column) {
        code = colander_cursor_next(cursor, &is_row, &result, err);
        if (code == COLANDER_OK && is_row)
            code = colander_row_get(result.row, path, &value, is_column, err);
    }
    colander_cursor_close(cursor);
    return code;
}

/* Sets *is_planned to whether filters know the rows that the query finds. */
static enum colander_code
is_planned(struct colander_family *family, const struct colander_query *query,
           bool *is_planned, struct colander_error *err)
{
    struct colander_cursor *cursor = NULL;
    struct colander_explain explain = {.plan = COLANDER_PLAN_SCAN};
    const enum colander_code code =
        colander_family_find(family, query, &cursor, err);

    if (code == COLANDER_OK)
        colander_cursor_explain(cursor, &explain);
    *is_planned = explain.plan != COLANDER_PLAN_SCAN;
    colander_cursor_close(cursor);
    return code;
}

static enum colander_code
check_column(struct colander_family *family, const char *word, bool *is_column,
             struct colander_error *err)
{
    struct colander_predicate *exists = colander_where_exists(word, NULL);
    struct colander_query query;
    enum colander_code code;
    bool knows;

    *is_column = false;
    if (exists == NULL) /* it is not a path */
        return COLANDER_OK;
    colander_query_init(&query);
    query.where = exists;
    query.limit = 1;
    code = is_planned(family, &query, &knows, err);
    if (!knows) {
        query.where = NULL;
        query.limit = SEEN_ROWS;
    }
    if (code == COLANDER_OK)
        code = read_rows(family, &query, word, is_column, err);
    colander_predicate_destroy(exists);
    return code;
}

enum colander_code
colander_family_check_words(struct colander_family *family,
                            const char *const *words, size_t count,
                            struct colander_fault *fault,
                            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_column = false;

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        if (!condition_is_bare(words[i]))
            continue;
        fault->word = i;
        fault->offset = 0;
        code = check_column(family, words[i], &is_column, err);
        if (code == COLANDER_OK && is_column)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "'%.60s' is a column: write '%.60s?' for rows "
                                 "that have it, or '\"%.60s\"' for the words",
                                 words[i], words[i], words[i]);
    }
    return code;
}
