/* See row_count.h. SPDX-License-Identifier: MIT */
#include "shell/row_count.h"
#include "shell/interrupt.h"

enum colander_code
row_count(struct colander_family *family,
          const struct colander_predicate *where, uint64_t limit,
          uint64_t *count, struct colander_error *err)
{
    struct colander_cursor *cursor = NULL;
    struct colander_query query;
    struct colander_result result;
    bool is_row = true;
    enum colander_code code;

    *count = 0;
    colander_query_init(&query);
    query.where = where;
    query.limit = limit;
    query.keys_only = true;
    code = colander_family_find(family, &query, &cursor, err);
    if (code == COLANDER_OK)
        interrupt_watch(cursor);
    while (code == COLANDER_OK && is_row) {
        code = colander_cursor_next(cursor, &is_row, &result, err);
        *count += code == COLANDER_OK && is_row;
    }
    interrupt_watch(NULL);
    colander_cursor_close(cursor);
    return code;
}
