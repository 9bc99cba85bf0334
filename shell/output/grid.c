/* See grid.h. SPDX-License-Identifier: MIT */
#include "shell/output/grid.h"
#include "core/array.h"
#include "shell/text.h"

#include <assert.h>
#include <stdlib.h>

#define WIDTH_LEAST 8 /* of a column that needs more */

/* A line: what is before its first cell, in the cells, between two and after
 * the last one. */
struct rule {
    const char *before;
    const char *fill; /* NULL: the line is left out */
    const char *between;
    const char *after;
};

static const struct style {
    struct rule row; /* without fill */
    struct rule top;
    struct rule heads; /* below the names */
    struct rule bottom;
    size_t gap;  /* cells between columns */
    size_t edge; /* cells on both sides of the line */
} styles[] = {
    [GRID_PLAIN] =
        {
            .row = {"", NULL, "  ", ""},
            .heads = {"", "-", "  ", ""},
            .gap = 2,
        },
    [GRID_BOX] =
        {
            .row = {"\u2502 ", NULL, " \u2502 ", " \u2502"},
            .top = {"\u250c\u2500", "\u2500", "\u2500\u252c\u2500",
                    "\u2500\u2510"},
            .heads = {"\u251c\u2500", "\u2500", "\u2500\u253c\u2500",
                      "\u2500\u2524"},
            .bottom = {"\u2514\u2500", "\u2500", "\u2500\u2534\u2500",
                       "\u2500\u2518"},
            .gap = 3,
            .edge = 4,
        },
    [GRID_MARKDOWN] =
        {
            .row = {"| ", NULL, " | ", " |"},
            .heads = {"|-", "-", "-|-", "-|"},
            .gap = 3,
            .edge = 4,
        },
};

struct column {
    char *name;
    enum grid_place place;
    size_t wanted; /* cells of the widest text */
    size_t width;  /* cells it has; 0: left out */
    bool has_text; /* some cell is not a number */
};

struct row {
    char *cells[GRID_COLUMNS_MAX]; /* NULL: empty */
};

struct grid {
    size_t line_width; /* GRID_UNCUT: no limit */
    const struct style *style;
    struct column columns[GRID_COLUMNS_MAX];
    size_t column_count;
    size_t shown[GRID_COLUMNS_MAX]; /* once fixed: those that fit, in order */
    size_t shown_count;
    struct row *rows;
    size_t row_count;
    size_t row_capacity;
    size_t cut_count; /* texts that were cut */
    bool is_fixed;    /* widths are fixed, heads are printed */
    bool is_overfull; /* there were too many columns */
};

struct grid *
grid_create(size_t width, enum grid_style style)
{
    struct grid *grid = calloc(1, sizeof(*grid));

    if (grid == NULL)
        return NULL;
    grid->line_width = style == GRID_MARKDOWN ? GRID_UNCUT : width;
    grid->style = &styles[style];
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

void
grid_place(struct grid *grid, size_t column, enum grid_place place)
{
    if (column < grid->column_count)
        grid->columns[column].place = place;
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
    if (grid->line_width != GRID_UNCUT && head->place != GRID_KEY)
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

/* Lists the columns in the order of their places. */
static void
order_columns(struct grid *grid)
{
    static const enum grid_place places[] = {GRID_KEY, GRID_FIRST, GRID_MIDDLE,
                                             GRID_LAST};

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        for (size_t j = 0; j < grid->column_count; j++) {
            if (grid->columns[j].place == places[i])
                grid->shown[grid->shown_count++] = j;
        }
    }
}

/* Returns the least width of a column. */
static size_t
least_of(const struct grid *grid, const struct column *column)
{
    if (column->wanted == 0)
        return 1; /* a column called "" with nothing in it */
    if (column->wanted < WIDTH_LEAST || column->place == GRID_KEY ||
        grid->line_width == GRID_UNCUT)
        return column->wanted;
    return WIDTH_LEAST;
}

/* Gives a cell after the other, of *left, to the columns that want more; those
 * in the last place only count if `is_last`. */
static void
widen(struct grid *grid, size_t *left, bool is_last)
{
    for (bool is_given = true; *left > 0 && is_given;) {
        is_given = false;
        for (size_t i = 0; i<grid->shown_count && * left> 0; i++) {
            struct column *column = &grid->columns[grid->shown[i]];

            if (column->width >= column->wanted ||
                (column->place == GRID_LAST && !is_last))
                continue;
            column->width++;
            --*left;
            is_given = true;
        }
    }
}

/* Gives each column the least it needs, as far as the line reaches. What is
 * over goes to those that want more: maps and arrays, which are in the last
 * place and mostly cut, get what the others leave. */
static void
fix_widths(struct grid *grid)
{
    const size_t edge = grid->style->edge;
    size_t left = grid->line_width > edge ? grid->line_width - edge : 0;

    order_columns(grid);
    for (size_t i = 0; i < grid->shown_count; i++) {
        struct column *column = &grid->columns[grid->shown[i]];
        const size_t taken =
            least_of(grid, column) + (i == 0 ? 0 : grid->style->gap);

        if (i > 0 && taken > left) {
            grid->shown_count = i;
            break;
        }
        column->width = least_of(grid, column);
        left -= taken < left ? taken : left;
    }
    widen(grid, &left, false);
    widen(grid, &left, true);
    grid->is_fixed = true;
}

static void
print_times(FILE *file, const char *text, size_t count)
{
    while (count-- > 0)
        fputs(text, file);
}

/* Prints the text of a cell. In Markdown a | would end it. */
static void
print_text(const struct grid *grid, struct colander_slice text, FILE *file)
{
    const bool is_markdown = grid->style == &styles[GRID_MARKDOWN];

    for (size_t i = 0; i < text.size; i++) {
        if (is_markdown && text.data[i] == '|')
            fputc('\\', file);
        fputc(text.data[i], file);
    }
}

/* Prints one cell, cut or filled up to the width of its column. Nothing is
 * filled at the end of a line. */
static void
print_cell(struct grid *grid, const struct column *column, const char *text,
           bool is_filled, FILE *file)
{
    struct colander_slice slice = colander_slice_text(text);
    size_t width = text_width(slice);
    size_t space = 0;

    if (width > column->width && grid->line_width != GRID_UNCUT) {
        slice.size = text_fit(slice, column->width - 1);
        print_text(grid, slice, file);
        fputs(TEXT_ELLIPSIS, file);
        grid->cut_count++;
        space = column->width - text_width(slice) - 1;
    } else {
        if (width < column->width)
            space = column->width - width;
        if (!column->has_text) {
            print_times(file, " ", space);
            space = 0;
        }
        print_text(grid, slice, file);
    }
    if (is_filled)
        print_times(file, " ", space);
}

/* Prints the cells of a row (NULL: the names of the columns). */
static void
print_row(struct grid *grid, const struct row *row, FILE *file)
{
    const struct rule *rule = &grid->style->row;

    fputs(rule->before, file);
    for (size_t i = 0; i < grid->shown_count; i++) {
        const size_t index = grid->shown[i];
        const struct column *column = &grid->columns[index];
        const char *text = row == NULL ? column->name : row->cells[index];
        const bool is_last = i + 1 == grid->shown_count;

        print_cell(grid, column, text == NULL ? "" : text,
                   !is_last || rule->after[0] != '\0', file);
        fputs(is_last ? rule->after : rule->between, file);
    }
    fputc('\n', file);
}

static void
print_rule(const struct grid *grid, const struct rule *rule, FILE *file)
{
    if (rule->fill == NULL)
        return;
    fputs(rule->before, file);
    for (size_t i = 0; i < grid->shown_count; i++) {
        print_times(file, rule->fill, grid->columns[grid->shown[i]].width);
        fputs(i + 1 == grid->shown_count ? rule->after : rule->between, file);
    }
    fputc('\n', file);
}

static void
print_heads(struct grid *grid, FILE *file)
{
    const size_t cut_count = grid->cut_count;

    print_rule(grid, &grid->style->top, file);
    print_row(grid, NULL, file);
    print_rule(grid, &grid->style->heads, file);
    grid->cut_count = cut_count;
}

void
grid_print(struct grid *grid, FILE *file)
{
    if (!grid->is_fixed) {
        fix_widths(grid);
        print_heads(grid, file);
    }
    for (size_t i = 0; i < grid->row_count; i++)
        print_row(grid, &grid->rows[i], file);
    forget_rows(grid);
}

void
grid_finish(struct grid *grid, FILE *file)
{
    if (grid->row_count > 0)
        grid_print(grid, file);
    if (grid->is_fixed)
        print_rule(grid, &grid->style->bottom, file);
}

void
grid_add_left_out(const struct grid *grid, struct report *report)
{
    const size_t start = report->text.size;
    const char *newline = start > 0 ? "\n" : "";
    const char *lead = "columns left out: ";

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
        report_add(report, "%s%s cut (" TEXT_ELLIPSIS ")",
                   report->text.size > start ? "; " : newline,
                   NUMBER_OF(grid->cut_count, "value"));
    if (report->text.size > start)
        report_add(report, ": the format line prints all");
}
