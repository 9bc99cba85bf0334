/*
 * Copies of families: the rows of a find, written as a bulk.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/store.h"
#include "columns/unchecked.h"

#define ASKED_EVERY 1000 /* rows between two calls of goes_on */

struct copying {
    struct colander_bulk *bulk;
    struct colander_cursor *cursor;
    bool (*goes_on)(void *context, uint64_t row_count);
    void *context;
    uint64_t row_count;
};

static enum colander_code
add_rows(struct copying *copying, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    struct colander_result result;
    bool is_row = true;

    while (code == COLANDER_OK) {
        if (copying->row_count % ASKED_EVERY == 0 && copying->goes_on != NULL &&
            !copying->goes_on(copying->context, copying->row_count))
            return COLANDER_FAIL(err, COLANDER_CANCELLED,
                                 "the copy was cancelled");
        code = colander_cursor_next(copying->cursor, &is_row, &result, err);
        if (code != COLANDER_OK || !is_row)
            break;
        code = colander_bulk_add_checked(copying->bulk, result.key, result.row,
                                         err);
        copying->row_count++;
    }
    return code;
}

static enum colander_code
copy_time_column(struct colander_family *from, struct colander_family *to,
                 struct colander_error *err)
{
    struct colander_buffer path = COLANDER_BUFFER_EMPTY;
    bool found = false;
    enum colander_code code =
        colander_family_time_column(from, &path, &found, err);

    if (code == COLANDER_OK && found)
        code = colander_family_set_time_column(to->store, to,
                                               (const char *)path.data, err);
    colander_buffer_release(&path);
    return code;
}

static enum colander_code
copy_rows(struct copying *copying, struct colander_family *from,
          const struct colander_query *query, struct colander_family *to,
          struct colander_error *err)
{
    enum colander_code code =
        colander_family_find(from, query, &copying->cursor, err);

    if (code == COLANDER_OK)
        code = colander_bulk_create(to, &copying->bulk, err);
    if (code == COLANDER_OK)
        code = add_rows(copying, err);
    if (code == COLANDER_OK)
        code = copy_time_column(from, to, err);
    if (code == COLANDER_OK)
        code = colander_bulk_commit(copying->bulk, NULL, err);
    colander_cursor_close(copying->cursor);
    colander_bulk_destroy(copying->bulk);
    return code;
}

enum colander_code
colander_family_copy(struct colander_family *from,
                     const struct colander_query *query,
                     struct colander_family *to,
                     bool (*goes_on)(void *context, uint64_t row_count),
                     void *context, uint64_t *row_count,
                     struct colander_error *err)
{
    struct copying copying = {.goes_on = goes_on, .context = context};
    const bool existed = colander_family_exists(to);
    enum colander_code code;

    if (row_count != NULL)
        *row_count = 0;
    if (!colander_family_exists(from))
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                             "there is no family '%s' to copy",
                             colander_family_name(from));
    code = copy_rows(&copying, from, query, to, err);
    if (code != COLANDER_OK && !existed && colander_family_exists(to) &&
        colander_family_drop(to, NULL) != COLANDER_OK)
        return code; /* it remains without rows */
    if (code == COLANDER_OK && row_count != NULL)
        *row_count = copying.row_count;
    return code;
}
