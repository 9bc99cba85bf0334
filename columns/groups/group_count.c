/*
 * Counts of rows. Those of a store whose rows are elsewhere are counted there.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/groups/groups_inside.h"
#include "columns/source.h"
#include "core/sized.h"

/* Counts the rows of a find. */
static enum colander_code
count_found(struct colander_family *family, const struct colander_query *query,
            uint64_t *count, struct colander_error *err)
{
    struct colander_cursor *cursor;
    struct colander_result result;
    bool is_row = true;
    enum colander_code code = colander_family_find(family, query, &cursor, err);

    while (code == COLANDER_OK && is_row) {
        code = colander_cursor_next(cursor, &is_row, &result, err);
        *count += code == COLANDER_OK && is_row;
    }
    colander_cursor_close(cursor);
    return code;
}

/* Counts the rows of a group that has all. */
enum colander_code
colander_family_count_there(struct colander_family *family,
                            const struct colander_query *query,
                            bool (*is_cancelled)(void), uint64_t *count,
                            struct colander_explain *explain,
                            struct colander_error *err)
{
    const struct colander_measure rows = {"rows", COLANDER_COUNT, NULL, 0};
    struct colander_grouping grouping;
    struct colander_groups *groups;
    struct colander_slice row;
    struct colander_value value = colander_unsigned(0);
    bool found;
    enum colander_code code;

    colander_grouping_init(&grouping);
    grouping.measures = &rows;
    grouping.measure_count = 1;
    grouping.is_cancelled = is_cancelled;
    code = colander_groups_create(&grouping, &groups, err);
    if (code == COLANDER_OK)
        code = colander_family_group(family, query, groups, explain, err);
    if (code == COLANDER_OK)
        code = colander_groups_next(groups, &found, &row, err);
    if (code == COLANDER_OK)
        code = colander_row_get(row, rows.name, &value, &found, err);
    *count = code == COLANDER_OK ? value.natural : 0;
    colander_groups_destroy(groups);
    return code;
}

enum colander_code
colander_family_count(struct colander_family *family,
                      const struct colander_query *query, uint64_t *count,
                      struct colander_error *err)
{
    struct colander_query counting;
    enum colander_code code = COLANDER_OK;

    *count = 0;
    colander_query_init(&counting);
    if (query != NULL)
        code = sized_accept(&counting, sizeof(counting), query,
                            "members of the query", err);
    if (code != COLANDER_OK)
        return code;
    counting.keys_only = true;
    counting.reports_columns = false;
    return colander_store_has_source(colander_family_store(family)) &&
                   counting.limit == UINT64_MAX
               ? colander_family_count_there(family, &counting, NULL, count,
                                             NULL, err)
               : count_found(family, &counting, count, err);
}
