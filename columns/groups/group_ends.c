/*
 * The least and greatest values of whole columns: where nothing else is asked,
 * only the first and the last rows in the order of each column are grouped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/groups/groups_inside.h"
#include "columns/store.h"

#include <math.h>

#define PATHS_MAX 8

/* More rows with an equal number are left to several threads. */
#define EQUALS_MAX 1000

/* The first or the last row in the order of a column. */
struct end {
    struct colander_buffer path;      /* a C string */
    struct colander_ordered *ordered; /* holds the row */
    struct colander_result row;
    struct colander_value value;
    struct colander_cursor *equals; /* holds the next row */
    struct colander_result integer; /* which represents an equal value */
    bool is_last;
    bool is_row;
    bool has_value;
    bool has_integer;
};

static bool
is_asked(const struct group_plan *plan, const struct colander_query *query)
{
    if (plan->key_count > 0 || plan->slot_count == 0 ||
        plan->source_count > PATHS_MAX || query->where != NULL ||
        query->keys.exact.size > 0 || query->keys.from.size > 0 ||
        query->keys.to.size > 0 || query->keys.prefix.size > 0 ||
        query->limit != UINT64_MAX)
        return false;
    for (size_t i = 0; i < plan->slot_count; i++) {
        if (plan->slots[i].kind != SLOT_LEAST &&
            plan->slots[i].kind != SLOT_GREATEST)
            return false;
    }
    for (size_t i = 0; i < plan->source_count; i++) {
        if (plan->sources[i].path.count == 0)
            return false;
    }
    return true;
}

/* Whether a measure needs this end of the source. */
static bool
is_needed(const struct group_plan *plan, size_t source, bool is_last)
{
    const enum slot_kind kind = is_last ? SLOT_GREATEST : SLOT_LEAST;

    for (size_t i = 0; i < plan->slot_count; i++) {
        if (plan->slots[i].source == source && plan->slots[i].kind == kind)
            return true;
    }
    return false;
}

static void
add_explain(struct colander_explain *all, const struct colander_explain *one)
{
    const uint64_t rows_read = all->rows_read + one->rows_read;
    const uint64_t rows_verified = all->rows_verified + one->rows_verified;
    const uint64_t bytes_read = all->bytes_read + one->bytes_read;

    *all = *one;
    all->rows_read = rows_read;
    all->rows_verified = rows_verified;
    all->bytes_read = bytes_read;
    all->reason = "columns have their least and greatest values in order";
}

/* Finds the row, unless that takes a scan. */
static enum colander_code
find_end(struct colander_family *family, const struct colander_query *query,
         struct end *end, bool *is_found, struct colander_explain *explain,
         struct colander_error *err)
{
    struct colander_cursor *cursor = NULL;
    struct colander_explain read = {.plan = COLANDER_PLAN_NOTHING};
    struct colander_order order;
    enum colander_code code;
    bool is_done = false;

    colander_order_init(&order);
    order.path = (const char *)end->path.data;
    order.is_descending = end->is_last;
    order.limit = 1;
    *is_found = false;
    code = colander_ordered_create(&order, &end->ordered, err);
    while (code == COLANDER_OK) {
        bool is_row = true;

        code = colander_ordered_find(end->ordered, family, query, &cursor,
                                     &is_done, err);
        if (code != COLANDER_OK || is_done)
            break;
        colander_cursor_explain(cursor, &read);
        if (read.plan == COLANDER_PLAN_SCAN)
            break;
        while (code == COLANDER_OK && is_row &&
               !colander_ordered_is_sated(end->ordered)) {
            struct colander_result row;

            code = colander_cursor_next(cursor, &is_row, &row, err);
            if (code == COLANDER_OK && is_row)
                code = colander_ordered_add(end->ordered, &row, err);
        }
        colander_cursor_explain(cursor, &read);
    }
    colander_cursor_close(cursor);
    add_explain(explain, &read);
    *is_found = code == COLANDER_OK && is_done;
    if (*is_found)
        code =
            colander_ordered_next(end->ordered, &end->is_row, &end->row, err);
    if (code == COLANDER_OK && end->is_row)
        code = colander_row_get(end->row.row, order.path, &end->value,
                                &end->has_value, err);
    /* null comes before all values, and what has none of them after */
    if (end->has_value &&
        (end->value.type == COLANDER_NULL || end->value.type >= COLANDER_ARRAY))
        *is_found = false;
    return code;
}

/* Finds a row with an integer that represents the value, which is a double.
 * *is_found is false if there are too many rows to look at. */
static enum colander_code
find_integer(struct colander_family *family, const struct colander_query *query,
             struct end *end, bool *is_found, struct colander_explain *explain,
             struct colander_error *err)
{
    const char *path = (const char *)end->path.data;
    struct colander_query equal = *query;
    struct colander_explain read;
    struct colander_predicate *where;
    enum colander_code code = COLANDER_OK;
    bool is_row = true;
    uint64_t count = 0;

    where = colander_where(path, COLANDER_EQ, end->value, err);
    if (where == NULL)
        return err == NULL ? COLANDER_NO_MEMORY : err->code;
    equal.where = where;
    equal.limit = EQUALS_MAX;
    code = colander_family_find(family, &equal, &end->equals, err);
    while (code == COLANDER_OK && is_row && !end->has_integer) {
        struct colander_value value;
        bool has_value = false;

        code = colander_cursor_next(end->equals, &is_row, &end->integer, err);
        if (code == COLANDER_OK && is_row)
            code = colander_row_get(end->integer.row, path, &value, &has_value,
                                    err);
        count += is_row;
        end->has_integer = has_value && value.type == COLANDER_INTEGER;
    }
    *is_found = end->has_integer || count < EQUALS_MAX;
    if (code == COLANDER_OK) {
        colander_cursor_explain(end->equals, &read);
        add_explain(explain, &read);
    }
    colander_predicate_destroy(where);
    return code;
}

/* Finds what decides an end of the column, unless that takes a scan. */
static enum colander_code
decide_end(struct colander_family *family, const struct colander_query *query,
           const struct path *path, struct end *end, bool *is_found,
           struct colander_explain *explain, struct colander_error *err)
{
    enum colander_code code = path_append(&end->path, path, err);

    if (code == COLANDER_OK)
        code = colander_buffer_append(&end->path, "", 1, err);
    if (code == COLANDER_OK)
        code = find_end(family, query, end, is_found, explain, err);
    if (code == COLANDER_OK && *is_found && end->has_value &&
        end->value.type == COLANDER_DOUBLE &&
        end->value.number == floor(end->value.number))
        code = find_integer(family, query, end, is_found, explain, err);
    return code;
}

static enum colander_code
group_end(struct colander_groups *groups, const struct end *end,
          struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (end->has_value)
        code = group_table_add(&groups->table, &end->row, NULL, err);
    if (code == COLANDER_OK && end->has_integer)
        code = group_table_add(&groups->table, &end->integer, NULL, err);
    return code;
}

enum colander_code
group_ends(struct colander_family *family, const struct colander_query *given,
           struct colander_groups *groups, struct colander_explain *explain,
           bool *is_done, struct colander_error *err)
{
    const struct group_plan *plan = &groups->plan;
    struct colander_snapshot *taken = NULL;
    struct colander_query query = *given;
    struct end ends[2 * PATHS_MAX];
    const size_t count = 2 * plan->source_count;
    enum colander_code code = COLANDER_OK;

    *is_done = is_asked(plan, given) && family_may_bound(family);
    if (!*is_done)
        return COLANDER_OK;
    memset(ends, 0, sizeof(ends));
    if (query.snapshot == NULL) {
        code = colander_store_snapshot(family->store, &taken, err);
        query.snapshot = taken;
    }
    for (size_t i = 0; i < count && *is_done && code == COLANDER_OK; i++) {
        ends[i].is_last = i % 2 == 0;
        if (groups_is_cancelled(groups))
            code = COLANDER_FAIL(err, COLANDER_CANCELLED,
                                 "the grouping was cancelled");
        else if (is_needed(plan, i / 2, ends[i].is_last))
            code = decide_end(family, &query, &plan->sources[i / 2].path,
                              &ends[i], is_done, explain, err);
    }
    for (size_t i = 0; i < count && *is_done && code == COLANDER_OK; i++)
        code = group_end(groups, &ends[i], err);
    for (size_t i = 0; i < count; i++) {
        colander_cursor_close(ends[i].equals);
        colander_ordered_destroy(ends[i].ordered);
        colander_buffer_release(&ends[i].path);
    }
    colander_snapshot_release(taken);
    return code;
}
