/* See grid.h. SPDX-License-Identifier: MIT */
#include "shell/output/grid.h"
#include "core/array.h"
#include "shell/text.h"

#include <assert.h>
#include <stdlib.h>

#define GAP 2         /* cells between columns */
#define WIDTH_LEAST 8 /* of a column that needs more */

struct column {
    char *name;
    size_t wanted; /* cells of the widest text */
    size_t width;  /* cells it has; 0: left out */
    bool has_text; /* some cell is not a number */
};

struct row {
    char *cells[GRID_COLUMNS_MAX]; /* NULL: empty */
};

struct grid {
    size_t line_width;
    struct column columns[GRID_COLUMNS_MAX];
    size_t column_count;
    struct row *rows;
    size_t row_count;
    size_t row_capacity;
    size_t cut_count; /* texts that were cut */
    bool is_fixed;    /* widths are fixed, heads are printed */
    bool is_overfull; /* there were too many columns */
};

struct grid *
grid_create(size_t width)
{
    struct grid *grid = calloc(1, sizeof(*grid));

    if (grid != NULL)
        grid->line_width = width;
    return grid;
}

static void
forget_rows(struct grid *grid)
{
    for (size_t i = 0; i < grid->row_count; i++) {
        for (size_t j = 0; j < grid->column_count; j++)
            free(grid->rows[i].cells[j]);
    }
    grid->row_count = 0;
}

void
grid_destroy(struct grid *grid)
{
    if (grid == NULL)
        return;
    forget_rows(grid);
    for (size_t i = 0; i < grid->column_count; i++)
        free(grid->columns[i].name);
    free(grid->rows);
    free(grid);
}

enum colander_code
grid_column(struct grid *grid, struct colander_slice name, size_t *column,
            struct colander_error *err)
{
    size_t count = grid->column_count;
    char *copy;

    for (*column = 0; *column < count; ++*column) {
        if (colander_slice_equal(
                name, colander_slice_text(grid->columns[*column].name)))
            return COLANDER_OK;
    }
    if (count == GRID_COLUMNS_MAX) {
        grid->is_overfull = true;
        return COLANDER_OK;
    }
    copy = text_copy(name);
    if (copy == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a table");
    grid->columns[count].name = copy;
    grid->columns[count].wanted = text_width(name);
    grid->column_count++;
    return COLANDER_OK;
}

enum colander_code
grid_row(struct grid *grid, struct colander_error *err)
{
    enum colander_code code = array_reserve(&grid->rows, grid->row_count,
                                            &grid->row_capacity, 1, err);

    if (code == COLANDER_OK)
        memset(&grid->rows[grid->row_count++], 0, sizeof(struct row));
    return code;
}

enum colander_code
grid_put(struct grid *grid, size_t column, struct colander_slice text,
         bool is_number, struct colander_error *err)
{
    struct column *head;
    char **cell;
    size_t width;
    char *copy;

    assert(grid->row_count > 0);
    if (column >= grid->column_count)
        return COLANDER_OK;
    head = &grid->columns[column];
    if (grid->is_fixed && head->width == 0)
        return COLANDER_OK;
    /* longer than a line, even if a character of two cells is cut */
    text.size = text_fit(text, grid->line_width + 2);
    copy = text_copy(text);
    if (copy == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a table");
    cell = &grid->rows[grid->row_count - 1].cells[column];
    free(*cell);
    *cell = copy;
    width = text_width(text);
    if (width > head->wanted)
        head->wanted = width;
    head->has_text |= !is_number;
    return COLANDER_OK;
}

size_t
grid_row_count(const struct grid *grid)
{
    return grid->row_count;
}

/* Gives each column the least it needs, as far as the line reaches; then what
 * is over to the first that want more. */
static void
fix_widths(struct grid *grid)
{
    size_t left = grid->line_width;

    for (size_t i = 0; i < grid->column_count; i++) {
        struct column *column = &grid->columns[i];
        size_t least =
            column->wanted < WIDTH_LEAST ? column->wanted : WIDTH_LEAST;
        size_t gap = i == 0 ? 0 : GAP;

        if (least == 0)
            least = 1; /* a column called "" with nothing in it */
        if (i > 0 && least + gap > left)
            break;
        column->width = least;
        left -= least + gap < left ? least + gap : left;
    }
    for (bool is_given = true; left > 0 && is_given;) {
        is_given = false;
        for (size_t i = 0; i < grid->column_count && left > 0; i++) {
            struct column *column = &grid->columns[i];

            if (column->width == 0 || column->width >= column->wanted)
                continue;
            column->width++;
            left--;
            is_given = true;
        }
    }
    grid->is_fixed = true;
}

static void
print_spaces(FILE *file, size_t count)
{
    while (count-- > 0)
        fputc(' ', file);
}

static bool
is_last(const struct grid *grid, size_t index)
{
    return index + 1 == grid->column_count ||
           grid->columns[index + 1].width == 0;
}

/* Prints one cell, cut or filled up to the width of its column. */
static void
print_cell(struct grid *grid, size_t index, const char *text, FILE *file)
{
    const struct column *column = &grid->columns[index];
    struct colander_slice slice = colander_slice_text(text);
    size_t width = text_width(slice);
    size_t space;

    if (width > column->width) {
        slice.size = text_fit(slice, column->width - 1);
        width = text_width(slice) + 1;
        grid->cut_count++;
        space = column->width - width;
        fprintf(file, "%.*s" TEXT_ELLIPSIS, (int)slice.size, text);
    } else {
        space = column->width - width;
        if (!column->has_text)
            print_spaces(file, space);
        fprintf(file, "%s", text);
        if (!column->has_text)
            space = 0;
    }
    if (!is_last(grid, index))
        print_spaces(file, space + GAP);
}

static void
print_heads(struct grid *grid, FILE *file)
{
    size_t cut_count = grid->cut_count;

    for (size_t i = 0; i < grid->column_count && grid->columns[i].width > 0;
         i++)
        print_cell(grid, i, grid->columns[i].name, file);
    fputc('\n', file);
    for (size_t i = 0; i < grid->column_count && grid->columns[i].width > 0;
         i++) {
        for (size_t j = 0; j < grid->columns[i].width; j++)
            fputc('-', file);
        if (!is_last(grid, i))
            print_spaces(file, GAP);
    }
    fputc('\n', file);
    grid->cut_count = cut_count;
}

void
grid_print(struct grid *grid, FILE *file)
{
    if (!grid->is_fixed) {
        fix_widths(grid);
        print_heads(grid, file);
    }
    for (size_t i = 0; i < grid->row_count; i++) {
        for (size_t j = 0; j < grid->column_count && grid->columns[j].width > 0;
             j++) {
            const char *text = grid->rows[i].cells[j];

            print_cell(grid, j, text == NULL ? "" : text, file);
        }
        fputc('\n', file);
    }
    forget_rows(grid);
}

void
grid_add_left_out(const struct grid *grid, struct report *report)
{
    const size_t start = report->text.size;
    const char *newline = start > 0 ? "\n" : "";
    const char *lead = "columns not shown: ";

    for (size_t i = 0; i < grid->column_count; i++) {
        if (!grid->is_fixed || grid->columns[i].width > 0)
            continue;
        report_add(report, "%s%s%s", newline, lead, grid->columns[i].name);
        newline = "";
        lead = ", ";
    }
    if (grid->is_overfull)
        report_add(report, "%s%sand more", newline, lead);
    if (grid->cut_count > 0)
        report_add(report, "%svalues cut short: %zu",
                   report->text.size > start ? "; " : newline, grid->cut_count);
}
