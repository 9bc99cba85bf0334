/*
 * Tally: see tally.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/tally.h"
#include "shell/text.h"

#include <stdlib.h>

static enum colander_code
add_path(struct tally *tally, const char *path, struct colander_error *err)
{
    struct tally_column *column = tally->columns;
    size_t left = tally->column_count;

    for (; left > 0 && strcmp(column->path, path) != 0; left--)
        column++;
    if (left == 0 && tally->column_count == TALLY_COLUMNS_MAX) {
        tally->other_count++;
        return COLANDER_OK;
    }
    if (left == 0) {
        column->path = strdup(path);
        if (column->path == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for a path");
        tally->column_count++;
    }
    column->count++;
    return COLANDER_OK;
}

enum colander_code
tally_add(struct tally *tally, const struct colander_columns *columns,
          struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < columns->count && code == COLANDER_OK; i++)
        code = add_path(tally, columns->paths[i], err);
    return code;
}

static enum colander_code
append_column(struct colander_buffer *text, const char *path, uint64_t count,
              bool is_first, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (!is_first)
        code = colander_buffer_append(text, ", ", 2, err);
    if (code == COLANDER_OK)
        code = text_append_printable(text, colander_slice_text(path), err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(text, " ", 1, err);
    if (code == COLANDER_OK)
        code = text_append_count(text, count, err);
    return code;
}

enum colander_code
tally_append(const struct tally *tally, struct colander_buffer *text,
             struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (tally->column_count == 0)
        return colander_buffer_append(text, "nothing", 7, err);
    for (size_t i = 0; i < tally->column_count && code == COLANDER_OK; i++)
        code = append_column(text, tally->columns[i].path,
                             tally->columns[i].count, i == 0, err);
    if (code == COLANDER_OK && tally->other_count > 0)
        code = append_column(text, "others", tally->other_count, false, err);
    return code;
}

void
tally_release(struct tally *tally)
{
    for (size_t i = 0; i < tally->column_count; i++)
        free(tally->columns[i].path);
    memset(tally, 0, sizeof(*tally));
}
