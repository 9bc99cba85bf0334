/*
 * Output: see output.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/output.h"
#include "shell/grid.h"
#include "shell/text.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TABLE_ROWS 200   /* rows that a table is fitted to, and kept back */
#define CELL_SIZE_MAX 16 /* bytes that one cell of a terminal may need */

#define MATCHED_COLUMN "_matched"

struct output {
    FILE *file;
    struct output_options options;
    struct grid *grid;           /* of TABLE */
    size_t size_max;             /* bytes of a value worth showing */
    struct colander_buffer text; /* of one row or cell */
    struct colander_buffer name; /* of one column */
    uint64_t row_count;
};

enum colander_code
output_format_parse(const char *name, enum output_format *format,
                    struct colander_error *err)
{
    static const char *const names[] = {"jsonl", "table", "line"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            *format = (enum output_format)i;
            return COLANDER_OK;
        }
    }
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "no format '%s': there are jsonl, table and line",
                         name);
}

size_t
output_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    long width;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    width = columns == NULL ? 0 : strtol(columns, NULL, 10);
    return width > 0 && width < 100000 ? (size_t)width : 80;
}

enum colander_code
output_create(FILE *file, const struct output_options *options,
              struct output **output, struct colander_error *err)
{
    *output = calloc(1, sizeof(**output));
    if (*output == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for output");
    (*output)->file = file;
    (*output)->options = *options;
    (*output)->size_max = SIZE_MAX;
    if (options->format != OUTPUT_TABLE)
        return COLANDER_OK;
    (*output)->size_max = output_width() * CELL_SIZE_MAX;
    (*output)->grid = grid_create(output_width());
    if ((*output)->grid != NULL)
        return COLANDER_OK;
    free(*output);
    *output = NULL;
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a table");
}

void
output_destroy(struct output *output)
{
    if (output == NULL)
        return;
    grid_destroy(output->grid);
    colander_buffer_release(&output->text);
    colander_buffer_release(&output->name);
    free(output);
}

static enum colander_code
write_failure(FILE *file, struct colander_error *err)
{
    int number = errno;

    clearerr(file);
    if (number == EPIPE)
        return COLANDER_FAIL(err, COLANDER_CANCELLED,
                             "nobody reads the output");
    return COLANDER_FAIL(err, COLANDER_IO, "cannot write output: %s",
                         strerror(number));
}

enum colander_code
output_flush(FILE *file, struct colander_error *err)
{
    if (fflush(file) != 0 || ferror(file))
        return write_failure(file, err);
    return COLANDER_OK;
}

/* Writes the text of the row. */
static enum colander_code
write_text(struct output *output, struct colander_error *err)
{
    const struct colander_buffer *text = &output->text;

    if (fwrite(text->data, 1, text->size, output->file) != text->size)
        return write_failure(output->file, err);
    return COLANDER_OK;
}

/* Appends the paths as a JSON array. */
static enum colander_code
append_matches(struct colander_buffer *json,
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

static enum colander_code
write_jsonl(struct output *output, const struct colander_result *result,
            struct colander_error *err)
{
    struct colander_buffer *text = &output->text;
    enum colander_code code;

    colander_buffer_clear(text);
    code = colander_json_append_row(text, result->key, result->row, err);
    if (code == COLANDER_OK && output->options.shows_matches) {
        text->size--; /* the closing brace comes after one column more */
        code = text_append_format(text, err, ",\"" MATCHED_COLUMN "\":");
        if (code == COLANDER_OK)
            code = append_matches(text, &result->columns, err);
        if (code == COLANDER_OK)
            code = colander_buffer_append(text, "}", 1, err);
    }
    if (code == COLANDER_OK)
        code = colander_buffer_append(text, "\n", 1, err);
    return code == COLANDER_OK ? write_text(output, err) : code;
}

/* ------------------------------------------------- what a row shows --- */

/* Takes one named cell of a row; `name` and `text` are printable. */
typedef enum colander_code (*cell_taker)(struct output *output,
                                         struct colander_slice name,
                                         struct colander_slice text,
                                         bool is_number,
                                         struct colander_error *err);

static bool
is_number(const struct colander_value *value)
{
    return value->type == COLANDER_INTEGER ||
           value->type == COLANDER_UNSIGNED || value->type == COLANDER_DOUBLE;
}

/* Gives the value to `take`, under the name that stands in output->name. */
static enum colander_code
give_value(struct output *output, const struct colander_value *value,
           cell_taker take, struct colander_error *err)
{
    enum colander_code code;

    colander_buffer_clear(&output->text);
    code = text_append_value(&output->text, value, output->size_max, err);
    if (code != COLANDER_OK)
        return code;
    return take(output, colander_buffer_slice(&output->name),
                colander_buffer_slice(&output->text), is_number(value), err);
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
give_path(struct output *output, struct colander_slice row, const char *path,
          cell_taker take, struct colander_error *err)
{
    char *whole = strndup(path, size_before_elements(path));
    struct colander_value value;
    enum colander_code code;
    bool found = false;

    if (whole == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    code = colander_row_get(row, whole, &value, &found, err);
    free(whole);
    if (code != COLANDER_OK)
        return code;
    colander_buffer_clear(&output->name);
    code = text_append_printable(&output->name, colander_slice_text(path), err);
    if (code != COLANDER_OK)
        return code;
    if (!found)
        return take(output, colander_buffer_slice(&output->name),
                    colander_slice_text(""), true, err);
    return give_value(output, &value, take, err);
}

static enum colander_code
give_members(struct output *output, struct colander_slice row, cell_taker take,
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
        colander_buffer_clear(&output->name);
        code = text_append_printable(&output->name, name, err);
        if (code == COLANDER_OK)
            code = give_value(output, &value, take, err);
    }
    return code;
}

static enum colander_code
give_key(struct output *output, struct colander_slice key, cell_taker take,
         struct colander_error *err)
{
    enum colander_code code;

    colander_buffer_clear(&output->text);
    code = text_append_key(&output->text, key, err);
    if (code != COLANDER_OK)
        return code;
    return take(output, colander_slice_text(COLANDER_KEY_COLUMN),
                colander_buffer_slice(&output->text), false, err);
}

static enum colander_code
give_matches(struct output *output, const struct colander_columns *columns,
             cell_taker take, struct colander_error *err)
{
    struct colander_buffer *text = &output->text;
    enum colander_code code = COLANDER_OK;

    colander_buffer_clear(text);
    for (size_t i = 0; i < columns->count && code == COLANDER_OK; i++) {
        if (i > 0)
            code = colander_buffer_append(text, ", ", 2, err);
        if (code == COLANDER_OK)
            code = text_append_printable(
                text, colander_slice_text(columns->paths[i]), err);
    }
    if (code != COLANDER_OK)
        return code;
    return take(output, colander_slice_text(MATCHED_COLUMN),
                colander_buffer_slice(text), false, err);
}

/* Whether the row shows this as a column of its own, selected or not. */
static bool
is_shown_anyway(const struct output_options *options, const char *path)
{
    return strcmp(path, COLANDER_KEY_COLUMN) == 0 ||
           (options->shows_matches && strcmp(path, MATCHED_COLUMN) == 0);
}

/* Gives key, matches and columns to `take`, in this order. */
static enum colander_code
give_row(struct output *output, const struct colander_result *result,
         cell_taker take, struct colander_error *err)
{
    const struct output_options *options = &output->options;
    enum colander_code code = give_key(output, result->key, take, err);

    if (code == COLANDER_OK && options->shows_matches)
        code = give_matches(output, &result->columns, take, err);
    if (code == COLANDER_OK && options->path_count == 0)
        code = give_members(output, result->row, take, err);
    for (size_t i = 0; i < options->path_count && code == COLANDER_OK; i++) {
        if (!is_shown_anyway(options, options->paths[i]))
            code = give_path(output, result->row, options->paths[i], take, err);
    }
    return code;
}

/* ------------------------------------------------------ two takers --- */

static enum colander_code
put_in_grid(struct output *output, struct colander_slice name,
            struct colander_slice text, bool is_right,
            struct colander_error *err)
{
    size_t column;
    enum colander_code code = grid_column(output->grid, name, &column, err);

    if (code != COLANDER_OK)
        return code;
    return grid_put(output->grid, column, text, is_right, err);
}

static enum colander_code
print_line(struct output *output, struct colander_slice name,
           struct colander_slice text, bool is_right,
           struct colander_error *err)
{
    (void)is_right;
    if (fprintf(output->file, "%.*s = %.*s\n", (int)name.size,
                (const char *)name.data, (int)text.size,
                (const char *)text.data) < 0)
        return write_failure(output->file, err);
    return COLANDER_OK;
}

static enum colander_code
print_grid(struct output *output, struct colander_error *err)
{
    grid_print(output->grid, output->file);
    return output_flush(output->file, err);
}

static enum colander_code
write_table(struct output *output, const struct colander_result *result,
            struct colander_error *err)
{
    enum colander_code code = grid_row(output->grid, err);

    if (code == COLANDER_OK)
        code = give_row(output, result, put_in_grid, err);
    if (code == COLANDER_OK && grid_row_count(output->grid) == TABLE_ROWS)
        code = print_grid(output, err);
    return code;
}

static enum colander_code
write_lines(struct output *output, const struct colander_result *result,
            struct colander_error *err)
{
    if (output->row_count > 0)
        fputc('\n', output->file);
    return give_row(output, result, print_line, err);
}

enum colander_code
output_row(struct output *output, const struct colander_result *result,
           struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    switch (output->options.format) {
    case OUTPUT_JSONL:
        code = write_jsonl(output, result, err);
        break;
    case OUTPUT_TABLE:
        code = write_table(output, result, err);
        break;
    case OUTPUT_LINE:
        code = write_lines(output, result, err);
        break;
    }
    output->row_count++;
    return code;
}

enum colander_code
output_finish(struct output *output, struct colander_error *err)
{
    if (output->grid != NULL && grid_row_count(output->grid) > 0)
        grid_print(output->grid, output->file);
    return output_flush(output->file, err);
}

enum colander_code
output_append_left_out(const struct output *output,
                       struct colander_buffer *text, struct colander_error *err)
{
    if (output->grid == NULL)
        return COLANDER_OK;
    return grid_append_left_out(output->grid, text, err);
}
