/*
 * The first and the last time in a column.
 *
 * Each round finds rows that lie beyond what the last one saw, so a find that
 * returns none is the proof. Value filters know the smallest and largest values
 * of runs of rows, which leaves few to read. Rounds alternate between both ends
 * of the family, since times mostly ascend or descend with the keys.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/time_range.h"

#include "columns/finds/find.h"

#define ROUND_ROWS 1000
#define ROUNDS_MAX 20 /* with so few rows; then a round has no limit */

struct extreme {
    const struct path *path;
    const struct cursor_watch *watch;
    bool is_last; /* looks for the last time, or the first */
    bool found;
    struct colander_value time; /* the best so far */
};

/* Takes a value if it is a time beyond the best so far. */
static bool
take_time(void *context, const struct colander_value *value, size_t offset)
{
    struct extreme *extreme = context;
    int order;

    (void)offset;
    if (value->type != COLANDER_TIMESTAMP)
        return true;
    order = extreme->found ? colander_value_compare(value, &extreme->time) : 0;
    if (!extreme->found || (extreme->is_last ? order > 0 : order < 0))
        extreme->time = *value;
    extreme->found = true;
    return true;
}

/* Creates the condition that a time at the path is beyond the best so far. */
static struct colander_predicate *
beyond(const struct extreme *extreme, const char *path,
       struct colander_error *err)
{
    if (!extreme->found)
        return colander_where(path, COLANDER_GE,
                              colander_timestamp(INT64_MIN, 0), err);
    return colander_where(path, extreme->is_last ? COLANDER_GT : COLANDER_LT,
                          extreme->time, err);
}

static void
tell(const struct cursor_watch *watch, struct colander_cursor *cursor)
{
    if (watch->tell != NULL)
        watch->tell(watch->context, cursor);
}

/* Reads the rows of a query. *is_empty: there is none. */
static enum colander_code
read_round(struct colander_family *family, const struct colander_query *query,
           struct extreme *extreme, bool *is_empty, struct colander_error *err)
{
    struct colander_cursor *cursor = NULL;
    struct colander_result result;
    bool is_row = true;
    enum colander_code code = colander_family_find(family, query, &cursor, err);

    *is_empty = true;
    if (code == COLANDER_OK)
        tell(extreme->watch, cursor);
    while (code == COLANDER_OK && is_row) {
        code = colander_cursor_next(cursor, &is_row, &result, err);
        if (code != COLANDER_OK || !is_row)
            break;
        *is_empty = false;
        code = path_visit(extreme->path, result.row, take_time, extreme, err);
        if (code != COLANDER_OK)
            error_add_row(family, result.key, err);
    }
    if (cursor != NULL)
        tell(extreme->watch, NULL);
    colander_cursor_close(cursor);
    return code;
}

static enum colander_code
find_extreme(struct colander_family *family, const char *path,
             const struct colander_snapshot *snapshot, struct extreme *extreme,
             struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    struct colander_query query;
    bool is_empty = false;

    colander_query_init(&query);
    query.snapshot = snapshot;
    query.paths = &path;
    query.path_count = 1;
    for (unsigned round = 0; code == COLANDER_OK && !is_empty; round++) {
        struct colander_predicate *where = beyond(extreme, path, err);

        if (where == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for a condition");
        query.where = where;
        query.is_reverse = extreme->is_last == (round % 2 == 0);
        query.limit = round < ROUNDS_MAX ? ROUND_ROWS : UINT64_MAX;
        code = read_round(family, &query, extreme, &is_empty, err);
        colander_predicate_destroy(where);
    }
    return code;
}

enum colander_code
time_range_find(struct colander_family *family, const char *path,
                const struct cursor_watch *watch, struct colander_value *first,
                struct colander_value *last, bool *found,
                struct colander_error *err)
{
    struct path parsed = PATH_EMPTY;
    struct extreme oldest = {.path = &parsed, .watch = watch};
    struct extreme newest = {.path = &parsed, .watch = watch, .is_last = true};
    struct colander_snapshot *snapshot = NULL;
    enum colander_code code = colander_path_parse(path, &parsed, err);

    if (code == COLANDER_OK)
        code = colander_store_snapshot(family->store, &snapshot, err);
    if (code == COLANDER_OK)
        code = find_extreme(family, path, snapshot, &newest, err);
    if (code == COLANDER_OK && newest.found && first != NULL)
        code = find_extreme(family, path, snapshot, &oldest, err);
    colander_snapshot_release(snapshot);
    path_release(&parsed);
    *found = code == COLANDER_OK && newest.found;
    if (first != NULL)
        *first = *found ? oldest.time : colander_null();
    *last = *found ? newest.time : colander_null();
    return code;
}

enum colander_code
colander_family_time_range(struct colander_family *family, const char *path,
                           struct colander_value *first,
                           struct colander_value *last, bool *found,
                           struct colander_error *err)
{
    const struct cursor_watch none = {NULL, NULL};

    return time_range_find(family, path, &none, first, last, found, err);
}
