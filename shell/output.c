/*
 * Output: see output.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/output.h"
#include "shell/cells.h"
#include "shell/csv.h"
#include "shell/grid.h"
#include "shell/interrupt.h"
#include "shell/whole_row.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TABLE_ROWS 200   /* rows that a table is fitted to, and kept back */
#define CELL_SIZE_MAX 16 /* bytes that one cell of a terminal may need */

struct output {
    FILE *file;
    struct output_options options;
    struct cells cells;
    struct grid *grid;           /* of TABLE */
    struct csv *csv;             /* of CSV */
    struct colander_buffer text; /* of one row: JSON or msgpack */
    uint64_t row_count;
};

static const char *const names[] = {"jsonl",   "json",  "csv",
                                    "msgpack", "table", "line"};

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
        "no format '%s': there are jsonl, json, csv, msgpack, table and line",
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

/* The stream may be a pager's, which ends at the terminal as well. */
static bool
is_terminal(FILE *file)
{
    return isatty(file == stdout ? STDOUT_FILENO : fileno(file));
}

/* Bytes would do strange things to it. */
static enum colander_code
check_reader(const struct output *output, struct colander_error *err)
{
    if (is_terminal(output->file))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "msgpack is not for a terminal: export it with "
                             "--output FILE");
    return COLANDER_OK;
}

/* Makes what the format needs. */
static enum colander_code
begin(struct output *output, struct colander_error *err)
{
    switch (output->options.format) {
    case OUTPUT_TABLE:
        output->cells.size_max = output_width() * CELL_SIZE_MAX;
        output->grid = grid_create(output_width());
        if (output->grid == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for a table");
        return COLANDER_OK;
    case OUTPUT_CSV:
        output->cells.is_exact = !isatty(fileno(output->file));
        output->csv = csv_create(output->file);
        if (output->csv == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for CSV");
        return cells_give_names(&output->cells, add_to_csv, output, err);
    case OUTPUT_MSGPACK:
        return check_reader(output, err);
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
    grid_destroy(output->grid);
    csv_destroy(output->csv);
    cells_release(&output->cells);
    colander_buffer_release(&output->text);
    free(output);
}

static enum colander_code
write_failure(FILE *file, struct colander_error *err)
{
    int number = errno;

    clearerr(file);
    if (number == EPIPE || interrupt_left_unread())
        return COLANDER_FAIL(err, COLANDER_CANCELLED,
                             "nobody reads the output");
    return COLANDER_FAIL(err, COLANDER_IO, "cannot write output%s%s",
                         number == 0 ? "" : ": ",
                         number == 0 ? "" : strerror(number));
}

enum colander_code
output_flush(FILE *file, struct colander_error *err)
{
    errno = 0; /* of a write that failed before, nobody knows it any more */
    if (fflush(file) != 0 || ferror(file))
        return write_failure(file, err);
    return COLANDER_OK;
}

/* ------------------------------------------------------- JSON, msgpack --- */

/* Writes the text of a row. */
static enum colander_code
write_text(const struct output *output, struct colander_error *err)
{
    const struct colander_buffer *text = &output->text;

    if (fwrite(text->data, 1, text->size, output->file) != text->size)
        return write_failure(output->file, err);
    return COLANDER_OK;
}

/* Writes the row between these texts. */
static enum colander_code
write_json(struct output *output, const struct colander_result *result,
           const char *before, const char *behind, struct colander_error *err)
{
    struct colander_buffer *text = &output->text;
    enum colander_code code;

    colander_buffer_clear(text);
    code = colander_buffer_append(text, before, strlen(before), err);
    if (code == COLANDER_OK)
        code = whole_row_append_json(text, &output->options, result, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(text, behind, strlen(behind), err);
    return code == COLANDER_OK ? write_text(output, err) : code;
}

static enum colander_code
write_msgpack(struct output *output, const struct colander_result *result,
              struct colander_error *err)
{
    enum colander_code code;

    colander_buffer_clear(&output->text);
    code =
        whole_row_append_msgpack(&output->text, &output->options, result, err);
    return code == COLANDER_OK ? write_text(output, err) : code;
}

/* -------------------------------------------------------------- takers --- */

static enum colander_code
put_in_grid(void *taker, const struct cell *cell, struct colander_error *err)
{
    struct output *output = taker;
    size_t column;
    enum colander_code code;

    code = grid_column(output->grid, cell->name, &column, err);
    if (code != COLANDER_OK)
        return code;
    return grid_put(output->grid, column, cell->text, cell->is_number, err);
}

static enum colander_code
print_line(void *taker, const struct cell *cell, struct colander_error *err)
{
    struct output *output = taker;

    if (fprintf(output->file, "%.*s = %.*s\n", (int)cell->name.size,
                (const char *)cell->name.data, (int)cell->text.size,
                (const char *)cell->text.data) < 0)
        return write_failure(output->file, err);
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
        code = cells_give(&output->cells, result, put_in_grid, output, err);
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
    return cells_give(&output->cells, result, print_line, output, err);
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
        code = cells_give(&output->cells, result, put_in_csv, output, err);
    if (code == COLANDER_OK)
        code = csv_end_row(output->csv, err);
    if (code == COLANDER_OK && ferror(output->file))
        code = write_failure(output->file, err);
    return code;
}

/* ---------------------------------------------------------------- rows --- */

enum colander_code
output_learn(struct output *output, const struct colander_result *result,
             struct colander_error *err)
{
    if (output->csv == NULL || output->options.path_count > 0)
        return COLANDER_OK;
    return cells_give_row_names(&output->cells, result->row, add_to_csv, output,
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
        code = write_json(output, result, "", "\n", err);
        break;
    case OUTPUT_JSON:
        code = write_json(output, result, is_first ? "[\n" : ",\n", "", err);
        break;
    case OUTPUT_CSV:
        code = write_csv(output, result, err);
        break;
    case OUTPUT_MSGPACK:
        code = write_msgpack(output, result, err);
        break;
    case OUTPUT_TABLE:
        code = write_table(output, result, err);
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
    if (output->grid != NULL && grid_row_count(output->grid) > 0)
        grid_print(output->grid, output->file);
    return code == COLANDER_OK ? output_flush(output->file, err) : code;
}

enum colander_code
output_append_left_out(const struct output *output,
                       struct colander_buffer *text, struct colander_error *err)
{
    if (output->grid == NULL)
        return COLANDER_OK;
    return grid_append_left_out(output->grid, text, err);
}
