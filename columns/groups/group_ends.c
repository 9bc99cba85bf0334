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

/* The first or the last row in the order of a column. */
struct end {
    struct colander_buffer path; /* a C string */
    bool is_last;
    struct colander_ordered *ordered; /* holds the row */
    bool is_row;
    struct colander_result row;
    struct colander_value value;
    bool has_value;
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

/* Groups the row, and those with an equal number that may represent it. */
static enum colander_code
group_end(struct colander_family *family, const struct colander_query *query,
          struct colander_groups *groups, const struct end *end,
          struct colander_explain *explain, struct colander_error *err)
{
    struct colander_query equal = *query;
    struct colander_explain read;
    struct colander_predicate *where;
    struct colander_cursor *cursor;
    enum colander_code code =
        group_table_add(&groups->table, &end->row, NULL, err);
    bool is_row = true;

    if (code != COLANDER_OK || end->value.type != COLANDER_DOUBLE ||
        end->value.number != floor(end->value.number))
        return code;
    where = colander_where((const char *)end->path.data, COLANDER_EQ,
                           end->value, err);
    if (where == NULL)
        return err == NULL ? COLANDER_NO_MEMORY : err->code;
    equal.where = where;
    code = colander_family_find(family, &equal, &cursor, err);
    while (code == COLANDER_OK && is_row) {
        struct colander_result row;

        code = colander_cursor_next(cursor, &is_row, &row, err);
        if (code == COLANDER_OK && is_row)
            code = group_table_add(&groups->table, &row, NULL, err);
    }
    if (code == COLANDER_OK) {
        colander_cursor_explain(cursor, &read);
        add_explain(explain, &read);
    }
    colander_cursor_close(cursor);
    colander_predicate_destroy(where);
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

    *is_done = is_asked(plan, given) && family->store->are_hooks_open;
    if (!*is_done)
        return COLANDER_OK;
    memset(ends, 0, sizeof(ends));
    if (query.snapshot == NULL) {
        code = colander_store_snapshot(family->store, &taken, err);
        query.snapshot = taken;
    }
    for (size_t i = 0; i < count && *is_done && code == COLANDER_OK; i++) {
        ends[i].is_last = i % 2 == 0;
        code = path_append(&ends[i].path, &plan->sources[i / 2].path, err);
        if (code == COLANDER_OK)
            code = colander_buffer_append(&ends[i].path, "", 1, err);
        if (code == COLANDER_OK)
            code = find_end(family, &query, &ends[i], is_done, explain, err);
    }
    for (size_t i = 0; i < count && *is_done && code == COLANDER_OK; i++) {
        if (ends[i].has_value)
            code = group_end(family, &query, groups, &ends[i], explain, err);
    }
    for (size_t i = 0; i < count; i++) {
        colander_ordered_destroy(ends[i].ordered);
        colander_buffer_release(&ends[i].path);
    }
    colander_snapshot_release(taken);
    return code;
}
