/*
 * Cells: see cells.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/cells.h"
#include "shell/text.h"

#include <math.h>
#include <stdlib.h>

/* Gives the cell whose name and text stand in the buffers. */
static enum colander_code
give(const struct cells *cells, struct cell cell, cell_taker take, void *taker,
     struct colander_error *err)
{
    cell.name = colander_buffer_slice(&cells->name);
    cell.text = colander_buffer_slice(&cells->text);
    return take(taker, &cell, err);
}

/* Replaces the name, and empties the text. */
static enum colander_code
begin(struct cells *cells, struct colander_slice name,
      struct colander_error *err)
{
    colander_buffer_clear(&cells->name);
    colander_buffer_clear(&cells->text);
    if (cells->is_exact)
        return colander_buffer_append(&cells->name, name.data, name.size, err);
    return text_append_printable(&cells->name, name, err);
}

/* JSON has binaries and timestamps in quotes, with nothing to escape. */
static enum colander_code
append_exact(struct colander_buffer *text, const struct colander_value *value,
             struct colander_error *err)
{
    enum colander_code code;

    if (value->type == COLANDER_NULL)
        return COLANDER_OK;
    if (value->type == COLANDER_STRING)
        return colander_buffer_append(text, value->bytes.data,
                                      value->bytes.size, err);
    code = colander_json_append_value(text, value, err);
    if (code == COLANDER_OK && text->data[0] == '"') {
        text->size -= 2;
        memmove(text->data, text->data + 1, text->size);
    }
    return code;
}

static enum colander_code
append_key(struct cells *cells, struct colander_slice key,
           struct colander_error *err)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    enum colander_code code;
    size_t count = 0;

    if (!cells->is_exact)
        return text_append_key(&cells->text, key, err);
    code = colander_key_decode(key, parts, &count, &scratch, err);
    if (code == COLANDER_OK)
        code = count == 1 ? append_exact(&cells->text, &parts[0], err)
                          : colander_json_append_key(&cells->text, key, err);
    colander_buffer_release(&scratch);
    return code;
}

/* Gives the value under the name that stands in the buffer. */
static enum colander_code
give_value(struct cells *cells, const struct colander_value *value,
           cell_taker take, void *taker, struct colander_error *err)
{
    struct cell cell = {.kind = CELL_COLUMN};
    enum colander_code code;

    cell.is_number = value->type == COLANDER_INTEGER ||
                     value->type == COLANDER_UNSIGNED ||
                     value->type == COLANDER_DOUBLE;
    cell.is_empty = /* as JSON has it, which knows no infinity */
        value->type == COLANDER_NULL ||
        (value->type == COLANDER_DOUBLE && !isfinite(value->number));
    code = cells->is_exact
               ? append_exact(&cells->text, value, err)
               : text_append_value(&cells->text, value, cells->size_max, err);
    return code == COLANDER_OK ? give(cells, cell, take, taker, err) : code;
}

/* The part of `path` before the first [] leads to one value, the whole array:
 * the row is cut down to what the path selects in it. */
static size_t
size_before_elements(const char *path)
{
    size_t size = 0;

    while (path[size] != '\0' && path[size] != '[') {
        if (path[size] == '\\' && path[size + 1] != '\0')
            size++;
        size++;
    }
    return size;
}

static enum colander_code
give_nothing(struct cells *cells, enum cell_kind kind,
             struct colander_slice name, cell_taker take, void *taker,
             struct colander_error *err)
{
    const struct cell cell = {
        .kind = kind, .is_number = true, .is_empty = true};
    enum colander_code code = begin(cells, name, err);

    return code == COLANDER_OK ? give(cells, cell, take, taker, err) : code;
}

static enum colander_code
give_missing(struct cells *cells, enum cell_kind kind, const char *name,
             cell_taker take, void *taker, struct colander_error *err)
{
    return give_nothing(cells, kind, colander_slice_text(name), take, taker,
                        err);
}

static enum colander_code
give_path(struct cells *cells, struct colander_slice row, const char *path,
          cell_taker take, void *taker, struct colander_error *err)
{
    char *whole = strndup(path, size_before_elements(path));
    struct colander_value value;
    enum colander_code code;
    bool found = false;

    if (whole == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    code = colander_row_get(row, whole, &value, &found, err);
    free(whole);
    if (code == COLANDER_OK && !found)
        return give_missing(cells, CELL_COLUMN, path, take, taker, err);
    if (code == COLANDER_OK)
        code = begin(cells, colander_slice_text(path), err);
    return code == COLANDER_OK ? give_value(cells, &value, take, taker, err)
                               : code;
}

/* `with_values`: else they count as missing. */
static enum colander_code
give_members(struct cells *cells, struct colander_slice row, bool with_values,
             cell_taker take, void *taker, struct colander_error *err)
{
    struct colander_members members;
    enum colander_code code = colander_members_init(&members, row, err);

    while (code == COLANDER_OK) {
        struct colander_slice name;
        struct colander_value value;
        bool is_member = false;

        code = colander_members_next(&members, &is_member, &name, &value, err);
        if (code != COLANDER_OK || !is_member)
            break;
        if (!with_values) {
            code = give_nothing(cells, CELL_COLUMN, name, take, taker, err);
            continue;
        }
        code = begin(cells, name, err);
        if (code == COLANDER_OK)
            code = give_value(cells, &value, take, taker, err);
    }
    return code;
}

enum colander_code
cells_give_row_names(struct cells *cells, struct colander_slice row,
                     cell_taker take, void *taker, struct colander_error *err)
{
    return give_members(cells, row, false, take, taker, err);
}

static enum colander_code
give_key(struct cells *cells, struct colander_slice key, cell_taker take,
         void *taker, struct colander_error *err)
{
    const struct cell cell = {.kind = CELL_KEY};
    enum colander_code code;

    code = begin(cells, colander_slice_text(COLANDER_KEY_COLUMN), err);
    if (code == COLANDER_OK)
        code = append_key(cells, key, err);
    return code == COLANDER_OK ? give(cells, cell, take, taker, err) : code;
}

enum colander_code
cells_append_matches(struct colander_buffer *json,
                     const struct colander_columns *columns,
                     struct colander_error *err)
{
    enum colander_code code = colander_buffer_append(json, "[", 1, err);

    for (size_t i = 0; i < columns->count && code == COLANDER_OK; i++) {
        struct colander_value path = colander_text(columns->paths[i]);

        if (i > 0)
            code = colander_buffer_append(json, ",", 1, err);
        if (code == COLANDER_OK)
            code = colander_json_append_value(json, &path, err);
    }
    if (code == COLANDER_OK)
        code = colander_buffer_append(json, "]", 1, err);
    return code;
}

/* "user, text" */
static enum colander_code
append_paths(struct colander_buffer *text,
             const struct colander_columns *columns, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < columns->count && code == COLANDER_OK; i++) {
        if (i > 0)
            code = colander_buffer_append(text, ", ", 2, err);
        if (code == COLANDER_OK)
            code = text_append_printable(
                text, colander_slice_text(columns->paths[i]), err);
    }
    return code;
}

static enum colander_code
give_matches(struct cells *cells, const struct colander_columns *columns,
             cell_taker take, void *taker, struct colander_error *err)
{
    const struct cell cell = {.kind = CELL_MATCHES};
    enum colander_code code;

    code = begin(cells, colander_slice_text(CELLS_MATCHED_COLUMN), err);
    if (code == COLANDER_OK)
        code = cells->is_exact
                   ? cells_append_matches(&cells->text, columns, err)
                   : append_paths(&cells->text, columns, err);
    return code == COLANDER_OK ? give(cells, cell, take, taker, err) : code;
}

/* Whether the row shows this as a column of its own, selected or not. */
static bool
is_shown_anyway(const struct output_options *options, const char *path)
{
    if (strcmp(path, COLANDER_KEY_COLUMN) == 0)
        return !options->has_no_key;
    return options->shows_matches && strcmp(path, CELLS_MATCHED_COLUMN) == 0;
}

enum colander_code
cells_give(struct cells *cells, const struct colander_result *result,
           cell_taker take, void *taker, struct colander_error *err)
{
    const struct output_options *options = cells->options;
    enum colander_code code = COLANDER_OK;

    if (!options->has_no_key)
        code = give_key(cells, result->key, take, taker, err);
    if (code == COLANDER_OK && options->shows_matches)
        code = give_matches(cells, &result->columns, take, taker, err);
    if (code == COLANDER_OK && options->path_count == 0)
        code = give_members(cells, result->row, true, take, taker, err);
    for (size_t i = 0; i < options->path_count && code == COLANDER_OK; i++) {
        if (!is_shown_anyway(options, options->paths[i]))
            code = give_path(cells, result->row, options->paths[i], take, taker,
                             err);
    }
    return code;
}

enum colander_code
cells_give_names(struct cells *cells, cell_taker take, void *taker,
                 struct colander_error *err)
{
    const struct output_options *options = cells->options;
    enum colander_code code = COLANDER_OK;

    if (!options->has_no_key)
        code = give_missing(cells, CELL_KEY, COLANDER_KEY_COLUMN, take, taker,
                            err);
    if (code == COLANDER_OK && options->shows_matches)
        code = give_missing(cells, CELL_MATCHES, CELLS_MATCHED_COLUMN, take,
                            taker, err);
    for (size_t i = 0; i < options->path_count && code == COLANDER_OK; i++) {
        if (!is_shown_anyway(options, options->paths[i]))
            code = give_missing(cells, CELL_COLUMN, options->paths[i], take,
                                taker, err);
    }
    return code;
}

void
cells_release(struct cells *cells)
{
    colander_buffer_release(&cells->name);
    colander_buffer_release(&cells->text);
}
