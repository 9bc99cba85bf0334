/*
 * Grid: a table of texts, fitted to a width.
 *
 * Rows are kept until they are printed. The first print fixes the width of each
 * column, and which columns fit, so that later rows match the heading.
 *
 * Life:   create -> column*, row and put*, print, ... -> destroy
 * Memory: texts are copied, as far as a line can show them
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_OUTPUT_GRID_H
#define SHELL_OUTPUT_GRID_H

#include "shell/report.h"

/* More columns are left out and not named: bounds the memory. */
#define GRID_COLUMNS_MAX 256

struct grid;

/* `width` is the cells of a line. Returns NULL if memory is short. */
struct grid *grid_create(size_t width);

/* NULL is allowed. */
void grid_destroy(struct grid *grid);

/* Sets *column to the column called `name`, which is printable and is added if
 * it is new; to GRID_COLUMNS_MAX if there are too many. */
COLANDER_CHECKED enum colander_code grid_column(struct grid *grid,
                                                struct colander_slice name,
                                                size_t *column,
                                                struct colander_error *err);

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

/* Adds what was left out, on a new line, or nothing. */
void grid_add_left_out(const struct grid *grid, struct report *report);

#endif
