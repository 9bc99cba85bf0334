/* See cells.h. SPDX-License-Identifier: MIT */
#include "shell/output/cells.h"
#include "shell/text.h"

#include <math.h>
#include <stdlib.h>

/* Passes the cell whose name and text are in the buffers. */
static enum colander_code
pass(const struct cells *cells, struct cell cell, struct colander_error *err)
{
    cell.name = colander_buffer_slice(&cells->name);
    cell.text = colander_buffer_slice(&cells->text);
    return cells->take(cells->taker, &cell, err);
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

/* In JSON, binaries and timestamps are in quotes, with nothing to escape. */
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

/* Passes the value with the name in the buffer. */
static enum colander_code
pass_value(struct cells *cells, const struct colander_value *value,
           struct colander_error *err)
{
    const char *null_text = cells->options->style.null_text;
    struct cell cell = {.kind = CELL_COLUMN};
    enum colander_code code;

    cell.is_number = value->type == COLANDER_INTEGER ||
                     value->type == COLANDER_UNSIGNED ||
                     value->type == COLANDER_DOUBLE;
    cell.is_empty = /* as in JSON, which has no infinity */
        value->type == COLANDER_NULL ||
        (value->type == COLANDER_DOUBLE && !isfinite(value->number));
    cell.is_container =
        value->type == COLANDER_ARRAY || value->type == COLANDER_MAP;
    if (cells->is_exact)
        code = append_exact(&cells->text, value, err);
    else if (value->type == COLANDER_NULL && null_text != NULL)
        code = text_append_printable(&cells->text,
                                     colander_slice_text(null_text), err);
    else
        code = text_append_value(&cells->text, value, cells->size_max, err);
    return code == COLANDER_OK ? pass(cells, cell, err) : code;
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
pass_missing(struct cells *cells, enum cell_kind kind,
             struct colander_slice name, struct colander_error *err)
{
    const struct cell cell = {
        .kind = kind, .is_number = true, .is_empty = true};
    enum colander_code code = begin(cells, name, err);

    return code == COLANDER_OK ? pass(cells, cell, err) : code;
}

/* Whether the path without its backslashes is the other without them. */
static bool
reads_alike(const char *path, const char *other)
{
    for (;; path++, other++) {
        if (*path == '\\' && path[1] != '\0')
            path++;
        if (*other == '\\' && other[1] != '\0')
            other++;
        if (*path != *other)
            return false;
        if (*path == '\0')
            return true;
    }
}

/* Removes the backslashes of a path, for people and for files that are loaded
 * again, unless another selected path then reads alike. */
static void
unescape(const struct output_options *options, char *path)
{
    unsigned alike = 0;

    for (size_t i = 0; i < options->path_count; i++)
        alike += reads_alike(options->paths[i], path);
    if (alike < 2)
        colander_path_make_plain(path);
}

static enum colander_code
pass_value_at(struct cells *cells, const struct colander_result *result,
              const char *path, const char *name, struct colander_error *err)
{
    struct colander_value value;
    enum colander_code code;
    bool found = false;
    char *whole;

    if (result == NULL)
        return pass_missing(cells, CELL_COLUMN, colander_slice_text(name), err);
    whole = strndup(path, size_before_elements(path));
    if (whole == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    code = colander_row_get(result->row, whole, &value, &found, err);
    free(whole);
    if (code == COLANDER_OK && !found)
        return pass_missing(cells, CELL_COLUMN, colander_slice_text(name), err);
    if (code == COLANDER_OK)
        code = begin(cells, colander_slice_text(name), err);
    return code == COLANDER_OK ? pass_value(cells, &value, err) : code;
}

static enum colander_code
pass_path(struct cells *cells, const struct colander_result *result,
          const char *path, struct colander_error *err)
{
    enum colander_code code;
    char *name;

    if (strchr(path, '\\') == NULL)
        return pass_value_at(cells, result, path, path, err);
    name = strdup(path);
    if (name == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    unescape(cells->options, name);
    code = pass_value_at(cells, result, path, name, err);
    free(name);
    return code;
}

/* Without `with_values` they are passed as missing. */
static enum colander_code
pass_members(struct cells *cells, struct colander_slice row, bool with_values,
             struct colander_error *err)
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
            code = pass_missing(cells, CELL_COLUMN, name, err);
            continue;
        }
        code = begin(cells, name, err);
        if (code == COLANDER_OK)
            code = pass_value(cells, &value, err);
    }
    return code;
}

enum colander_code
cells_pass_row_names(struct cells *cells, struct colander_slice row,
                     cell_taker take, void *taker, struct colander_error *err)
{
    cells->take = take;
    cells->taker = taker;
    return pass_members(cells, row, false, err);
}

/* Appends the paths: "user, text", or a JSON array of them. */
static enum colander_code
append_paths(struct cells *cells, const struct colander_columns *columns,
             struct colander_error *err)
{
    struct colander_buffer *text = &cells->text;
    const char *before = cells->is_exact ? "[" : "";
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < columns->count && code == COLANDER_OK; i++) {
        const struct colander_value path = colander_text(columns->paths[i]);

        code = colander_buffer_append(text, before, strlen(before), err);
        if (code == COLANDER_OK)
            code = cells->is_exact
                       ? colander_json_append_value(text, &path, err)
                       : text_append_value(text, &path, SIZE_MAX, err);
        before = cells->is_exact ? "," : ", ";
    }
    if (code == COLANDER_OK && cells->is_exact)
        code = colander_buffer_append(text, columns->count == 0 ? "[]" : "]",
                                      columns->count == 0 ? 2 : 1, err);
    return code;
}

/* Passes the key, or the paths that matched. */
static enum colander_code
pass_extra(struct cells *cells, const struct colander_result *result,
           enum cell_kind kind, struct colander_error *err)
{
    const struct cell cell = {.kind = kind};
    const struct colander_slice name = colander_slice_text(
        kind == CELL_KEY ? COLANDER_KEY_COLUMN : CELLS_MATCHED_COLUMN);
    enum colander_code code;

    if (result == NULL)
        return pass_missing(cells, kind, name, err);
    code = begin(cells, name, err);
    if (code == COLANDER_OK)
        code = kind == CELL_KEY ? append_key(cells, result->key, err)
                                : append_paths(cells, &result->columns, err);
    return code == COLANDER_OK ? pass(cells, cell, err) : code;
}

/* Whether the path is a column that is printed anyway. */
static bool
is_shown_anyway(const struct output_options *options, const char *path)
{
    if (strcmp(path, COLANDER_KEY_COLUMN) == 0)
        return !options->has_no_key;
    return options->shows_matches && strcmp(path, CELLS_MATCHED_COLUMN) == 0;
}

enum colander_code
cells_pass(struct cells *cells, const struct colander_result *result,
           cell_taker take, void *taker, struct colander_error *err)
{
    const struct output_options *options = cells->options;
    enum colander_code code = COLANDER_OK;

    cells->take = take;
    cells->taker = taker;
    if (!options->has_no_key)
        code = pass_extra(cells, result, CELL_KEY, err);
    if (code == COLANDER_OK && options->shows_matches)
        code = pass_extra(cells, result, CELL_MATCHES, err);
    if (code == COLANDER_OK && result != NULL && options->path_count == 0)
        code = pass_members(cells, result->row, true, err);
    for (size_t i = 0; i < options->path_count && code == COLANDER_OK; i++) {
        if (!is_shown_anyway(options, options->paths[i]))
            code = pass_path(cells, result, options->paths[i], err);
    }
    return code;
}

void
cells_release(struct cells *cells)
{
    colander_buffer_release(&cells->name);
    colander_buffer_release(&cells->text);
}
