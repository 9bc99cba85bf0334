/*
 * Grid: a table of texts, fitted to a width.
 *
 * Rows are kept until a print; the first print fixes how wide each column is
 * and which fit at all, so that later rows stand under the same heads.
 *
 * Life:   create -> column*, row and put*, print, ... -> destroy
 * Memory: texts are copied, each as far as a line could show it
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_GRID_H
#define SHELL_GRID_H

#include "colander.h"

#include <stdio.h>

/* Columns beyond are left out unnamed, so that memory stays bounded. */
#define GRID_COLUMNS_MAX 256

struct grid;

/* `width`: the cells of a line. NULL when memory is short. */
struct grid *grid_create(size_t width);

/* NULL is allowed. */
void grid_destroy(struct grid *grid);

/* Gives the column called `name` (printable), added if it is new:
 * GRID_COLUMNS_MAX when there are too many. */
COLANDER_CHECKED enum colander_code grid_column(struct grid *grid,
                                                struct colander_slice name,
                                                size_t *column,
                                                struct colander_error *err);

/* Starts a row, all of it empty. */
COLANDER_CHECKED enum colander_code grid_row(struct grid *grid,
                                             struct colander_error *err);

/* Puts a printable text into the last row. Numbers stand to the right. */
COLANDER_CHECKED enum colander_code grid_put(struct grid *grid, size_t column,
                                             struct colander_slice text,
                                             bool is_number,
                                             struct colander_error *err);

/* Rows not printed yet. */
size_t grid_row_count(const struct grid *grid);

/* Prints them, the first time under the heads, and forgets them. Whoever owns
 * `file` looks for its errors. */
void grid_print(struct grid *grid, FILE *file);

/* Appends what the prints did not show: "" when they showed everything. */
COLANDER_CHECKED enum colander_code
grid_append_left_out(const struct grid *grid, struct colander_buffer *text,
                     struct colander_error *err);

#endif
