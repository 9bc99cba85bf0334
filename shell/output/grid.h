/*
 * Grid: a table of texts, fitted to a width.
 *
 * Rows are kept until they are printed. The first print fixes the order and the
 * width of the columns, and which of them fit, so that later rows match the
 * heading.
 *
 * Life:   create -> column*, place*, row and put*, print, ... -> finish ->
 *         destroy
 * Memory: texts are copied, as far as a line can show them
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_OUTPUT_GRID_H
#define SHELL_OUTPUT_GRID_H

#include "shell/report.h"

/* More columns are left out and not named: bounds the memory. */
#define GRID_COLUMNS_MAX 256

#define GRID_UNCUT SIZE_MAX /* a width: lines are as long as they need */

/* What is printed around the cells. */
enum grid_style {
    GRID_PLAIN,
    GRID_BOX,      /* lines */
    GRID_MARKDOWN, /* never cut */
};

/* Where a column stands. Those of one place keep their order. */
enum grid_place {
    GRID_MIDDLE,
    GRID_KEY, /* first, and never cut */
    GRID_FIRST,
    GRID_LAST,
};

struct grid;

/* `width` is the cells of a line. Returns NULL if memory is short. */
struct grid *grid_create(size_t width, enum grid_style style);

/* NULL is allowed. */
void grid_destroy(struct grid *grid);

/* Sets *column to the column called `name`, which is printable and is added if
 * it is new; to GRID_COLUMNS_MAX if there are too many. */
COLANDER_CHECKED enum colander_code grid_column(struct grid *grid,
                                                struct colander_slice name,
                                                size_t *column,
                                                struct colander_error *err);

/* Sets where the column stands. */
void grid_place(struct grid *grid, size_t column, enum grid_place place);

/* Begins an empty row. */
COLANDER_CHECKED enum colander_code grid_row(struct grid *grid,
                                             struct colander_error *err);

/* Puts a printable text into the last row. Columns of numbers are aligned to
 * the right. */
COLANDER_CHECKED enum colander_code grid_put(struct grid *grid, size_t column,
                                             struct colander_slice text,
                                             bool is_number,
                                             struct colander_error *err);

/* Returns the number of rows that are not printed yet. */
size_t grid_row_count(const struct grid *grid);

/* Prints these rows, the first time after the heading. The owner of `file`
 * checks its errors. */
void grid_print(struct grid *grid, FILE *file);

/* Prints the rows that are left, and the last line. */
void grid_finish(struct grid *grid, FILE *file);

/* Adds what was left out, on a new line, or nothing. */
void grid_add_left_out(const struct grid *grid, struct report *report);

#endif
