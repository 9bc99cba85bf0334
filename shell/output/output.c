/* See output.h. SPDX-License-Identifier: MIT */
#include "shell/output.h"
#include "shell/interrupt.h"
#include "shell/output/arrangement.h"
#include "shell/output/cells.h"
#include "shell/output/csv.h"
#include "shell/output/grid.h"
#include "shell/text.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define FIRST_COLUMNS_MAX 16 /* of conditions, that a table begins with */
#define TABLE_ROWS 200   /* rows that a table keeps back, to fit its columns */
#define CELL_SIZE_MAX 16 /* bytes that one cell of a terminal may need */

struct output {
    FILE *file;
    struct output_options options;
    struct cells cells;
    struct grid *grid;              /* of TABLE */
    struct csv *csv;                /* of CSV */
    struct colander_buffer text;    /* of one row: JSON or msgpack */
    struct colander_buffer row;     /* with the columns that matched */
    struct arrangement arrangement; /* of JSON and msgpack */
    uint64_t row_count;
    char *first[FIRST_COLUMNS_MAX]; /* columns of conditions */
    size_t first_count;
};

static const char *const names[] = {
    "jsonl", "json", "csv",      "tsv",  "msgpack",
    "table", "box",  "markdown", "line", "pretty",
};

const char *
output_format_name(enum output_format format)
{
    return names[format];
}

enum colander_code
output_format_parse(const char *name, enum output_format *format,
                    struct colander_error *err)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            *format = (enum output_format)i;
            return COLANDER_OK;
        }
    }
    return COLANDER_FAIL(
        err, COLANDER_INVALID,
        "no format '%s': use jsonl, json, csv, tsv, msgpack, table, box, "
        "markdown, line or pretty",
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

/* Takes a column that is known before the first row. */
static enum colander_code
add_to_csv(void *taker, const struct cell *cell, struct colander_error *err)
{
    struct output *output = taker;
    size_t column;

    if (cell->kind == CELL_COLUMN)
        return csv_column(output->csv, cell->name, &column, err);
    return csv_add_column(output->csv, cell->name, err);
}

/* Keeps the names of the columns that the conditions are about. One that is
 * written with a backslash is not moved. */
static void
keep_first(struct output *output, const struct colander_predicate *where)
{
    struct colander_condition condition;

    for (size_t i = 0;
         where != NULL && output->first_count < FIRST_COLUMNS_MAX &&
         colander_predicate_condition(where, i, &condition);
         i++) {
        char *name =
            condition.is_negated
                ? NULL
                : strndup(condition.path, strcspn(condition.path, ".[\\"));

        if (name != NULL)
            output->first[output->first_count++] = name;
    }
}

static enum colander_code
begin_table(struct output *output, enum grid_style style,
            struct colander_error *err)
{
    size_t width = output->options.style.width;

    if (width == 0)
        width = output_width();
    if (width < SIZE_MAX / CELL_SIZE_MAX && style != GRID_MARKDOWN)
        output->cells.size_max = width * CELL_SIZE_MAX;
    output->grid = grid_create(width, style);
    if (output->grid == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a table");
    keep_first(output, output->options.where);
    return COLANDER_OK;
}

/* Whether the output ends at a terminal. That of standard output may go through
 * a pager, which ends there as well. */
static bool
is_terminal(const struct output *output)
{
    FILE *file = output->file;

    return output->options.is_terminal ||
           isatty(file == stdout ? STDOUT_FILENO : fileno(file));
}

/* Makes what the format needs. */
static enum colander_code
begin(struct output *output, struct colander_error *err)
{
    switch (output->options.format) {
    case OUTPUT_TABLE:
        return begin_table(output, GRID_PLAIN, err);
    case OUTPUT_BOX:
        return begin_table(output, GRID_BOX, err);
    case OUTPUT_MARKDOWN:
        return begin_table(output, GRID_MARKDOWN, err);
    case OUTPUT_CSV:
    case OUTPUT_TSV:
        output->cells.is_exact = !is_terminal(output);
        output->csv =
            csv_create(output->file, output->options.format == OUTPUT_TSV);
        if (output->csv == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for CSV");
        return cells_pass(&output->cells, NULL, add_to_csv, output, err);
    case OUTPUT_MSGPACK:
        if (is_terminal(output))
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "msgpack is not for a terminal: export it "
                                 "with --output FILE");
        return COLANDER_OK;
    default:
        return COLANDER_OK;
    }
}

enum colander_code
output_create(FILE *file, const struct output_options *options,
              struct output **output, struct colander_error *err)
{
    enum colander_code code;

    *output = calloc(1, sizeof(**output));
    if (*output == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for output");
    (*output)->file = file;
    (*output)->options = *options;
    (*output)->cells.options = &(*output)->options;
    (*output)->cells.size_max = SIZE_MAX;
    code = begin(*output, err);
    if (code == COLANDER_OK && options->format != OUTPUT_MSGPACK)
        code = arrangement_init(&(*output)->arrangement, options->paths,
                                options->path_count, err);
    if (code != COLANDER_OK) {
        output_destroy(*output);
        *output = NULL;
    }
    return code;
}

void
output_destroy(struct output *output)
{
    if (output == NULL)
        return;
    for (size_t i = 0; i < output->first_count; i++)
        free(output->first[i]);
    grid_destroy(output->grid);
    csv_destroy(output->csv);
    cells_release(&output->cells);
    arrangement_release(&output->arrangement);
    colander_buffer_release(&output->text);
    colander_buffer_release(&output->row);
    free(output);
}

enum colander_code
output_fail(FILE *file, struct colander_error *err)
{
    int number = errno;

    clearerr(file);
    if (number == EPIPE || interrupt_left_unread())
        return COLANDER_FAIL(err, COLANDER_CANCELLED,
                             "no one reads the output");
    return COLANDER_FAIL(err, COLANDER_IO, "cannot write output%s%s",
                         number == 0 ? "" : ": ",
                         number == 0 ? "" : strerror(number));
}

enum colander_code
output_flush(FILE *file, struct colander_error *err)
{
    errno = 0; /* that of an earlier failed write is lost */
    if (fflush(file) != 0 || ferror(file))
        return output_fail(file, err);
    return COLANDER_OK;
}

/* ------------------------------------------------------- JSON, msgpack --- */

/* Replaces output->row by `row` with the columns that matched in it. */
static enum colander_code
add_matches(struct output *output, const struct colander_result *result,
            struct colander_slice row, struct colander_error *err)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_slice patch;
    enum colander_code code;

    if (builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a row");
    colander_row_builder_begin_array(builder, CELLS_MATCHED_COLUMN);
    for (size_t i = 0; i < result->columns.count; i++)
        colander_row_builder_add(builder, NULL,
                                 colander_text(result->columns.paths[i]));
    colander_row_builder_end(builder);
    code = colander_row_builder_finish(builder, &patch, err);
    if (code == COLANDER_OK)
        code = colander_row_patch(row, patch, &output->row, err);
    colander_row_builder_destroy(builder);
    return code;
}

/* Appends a row as JSON on one line, or as msgpack with the columns that are
 * stored. A row without its key is one value. */
static enum colander_code
append_whole(struct output *output, struct colander_slice key,
             struct colander_slice row, struct colander_error *err)
{
    struct colander_buffer *text = &output->text;
    const bool has_no_key = output->options.has_no_key;
    struct colander_value columns = colander_null();

    if (output->options.format == OUTPUT_MSGPACK)
        return has_no_key
                   ? colander_buffer_append(text, row.data, row.size, err)
                   : colander_row_append_keyed(text, key, row, err);
    if (!has_no_key)
        return colander_json_append_row(text, key, row, err);
    columns.type = COLANDER_MAP;
    columns.bytes = row;
    return colander_json_append_value(text, &columns, err);
}

/* Writes the row as JSON or msgpack, between two texts. */
static enum colander_code
write_whole(struct output *output, const struct colander_result *result,
            const char *before, const char *after, struct colander_error *err)
{
    struct colander_buffer *text = &output->text;
    struct colander_slice row = result->row;
    enum colander_code code;

    code = arrangement_apply(&output->arrangement, &row, err);
    if (code == COLANDER_OK && output->options.shows_matches) {
        code = add_matches(output, result, row, err);
        row = colander_buffer_slice(&output->row);
    }
    colander_buffer_clear(text);
    if (code == COLANDER_OK)
        code = colander_buffer_append(text, before, strlen(before), err);
    if (code == COLANDER_OK)
        code = append_whole(output, result->key, row, err);
    if (code == COLANDER_OK && output->options.format == OUTPUT_PRETTY)
        code = text_indent_json(text, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(text, after, strlen(after), err);
    if (code == COLANDER_OK &&
        fwrite(text->data, 1, text->size, output->file) != text->size)
        code = output_fail(output->file, err);
    return code;
}

/* -------------------------------------------------------------- takers --- */

/* Returns where a table has the column. Selected ones are in their order. */
static enum grid_place
place_of(const struct output *output, const struct cell *cell)
{
    if (cell->kind == CELL_KEY)
        return GRID_KEY;
    if (cell->kind == CELL_MATCHES)
        return GRID_FIRST;
    if (output->options.path_count > 0)
        return GRID_MIDDLE;
    for (size_t i = 0; i < output->first_count; i++) {
        if (colander_slice_equal(colander_slice_text(output->first[i]),
                                 cell->name))
            return GRID_FIRST;
    }
    return cell->is_container ? GRID_LAST : GRID_MIDDLE;
}

static enum colander_code
put_in_grid(void *taker, const struct cell *cell, struct colander_error *err)
{
    struct output *output = taker;
    enum grid_place place = place_of(output, cell);
    size_t column;
    enum colander_code code;

    code = grid_column(output->grid, cell->name, &column, err);
    if (code != COLANDER_OK)
        return code;
    if (place != GRID_MIDDLE)
        grid_place(output->grid, column, place);
    return grid_put(output->grid, column, cell->text, cell->is_number, err);
}

static enum colander_code
print_line(void *taker, const struct cell *cell, struct colander_error *err)
{
    struct output *output = taker;

    if (fprintf(output->file, "%.*s = %.*s\n", (int)cell->name.size,
                (const char *)cell->name.data, (int)cell->text.size,
                (const char *)cell->text.data) < 0)
        return output_fail(output->file, err);
    return COLANDER_OK;
}

static enum colander_code
put_in_csv(void *taker, const struct cell *cell, struct colander_error *err)
{
    struct output *output = taker;
    size_t column = 0;
    enum colander_code code = COLANDER_OK;

    if (cell->kind == CELL_MATCHES)
        column = output->options.has_no_key ? 0 : 1;
    if (cell->kind == CELL_COLUMN)
        code = csv_column(output->csv, cell->name, &column, err);
    if (code != COLANDER_OK || cell->is_empty)
        return code;
    return csv_put(output->csv, column, cell->text, err);
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
        code = cells_pass(&output->cells, result, put_in_grid, output, err);
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
    return cells_pass(&output->cells, result, print_line, output, err);
}

static enum colander_code
write_csv(struct output *output, const struct colander_result *result,
          struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if ((output->options.path_count > 0 || output->options.learns_columns) &&
        output->row_count == 0)
        code = csv_fix(output->csv, err);
    if (code == COLANDER_OK)
        code = cells_pass(&output->cells, result, put_in_csv, output, err);
    if (code == COLANDER_OK)
        code = csv_end_row(output->csv, err);
    if (code == COLANDER_OK && ferror(output->file))
        code = output_fail(output->file, err);
    return code;
}

/* ---------------------------------------------------------------- rows --- */

enum colander_code
output_learn(struct output *output, const struct colander_result *result,
             struct colander_error *err)
{
    if (output->csv == NULL || output->options.path_count > 0)
        return COLANDER_OK;
    return cells_pass_row_names(&output->cells, result->row, add_to_csv, output,
                                err);
}

enum colander_code
output_row(struct output *output, const struct colander_result *result,
           struct colander_error *err)
{
    bool is_first = output->row_count == 0;
    enum colander_code code = COLANDER_OK;

    switch (output->options.format) {
    case OUTPUT_JSONL:
        code = write_whole(output, result, "", "\n", err);
        break;
    case OUTPUT_JSON:
        code = write_whole(output, result, is_first ? "[\n" : ",\n", "", err);
        break;
    case OUTPUT_CSV:
    case OUTPUT_TSV:
        code = write_csv(output, result, err);
        break;
    case OUTPUT_MSGPACK:
        code = write_whole(output, result, "", "", err);
        break;
    case OUTPUT_TABLE:
    case OUTPUT_BOX:
    case OUTPUT_MARKDOWN:
        code = write_table(output, result, err);
        break;
    case OUTPUT_PRETTY:
        code = write_whole(output, result, "", "\n", err);
        break;
    case OUTPUT_LINE:
        code = write_lines(output, result, err);
        break;
    }
    if (code == COLANDER_OK)
        output->row_count++;
    return code;
}

enum colander_code
output_finish(struct output *output, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (output->options.format == OUTPUT_JSON)
        fputs(output->row_count == 0 ? "[]\n" : "\n]\n", output->file);
    if (output->csv != NULL)
        code = csv_finish(output->csv, err);
    if (output->grid != NULL)
        grid_finish(output->grid, output->file);
    return code == COLANDER_OK ? output_flush(output->file, err) : code;
}

void
output_add_left_out(const struct output *output, struct report *report)
{
    if (output->grid != NULL)
        grid_add_left_out(output->grid, report);
}
