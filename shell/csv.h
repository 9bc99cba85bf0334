/*
 * CSV: rows as lines of fields below a line of names, as in RFC 4180, but
 * that a line ends in \n alone.
 *
 * A field that holds a comma, a quote or the end of a line stands in quotes.
 * One that holds nothing is a value that is missing; an empty text is "".
 *
 * Rows have different columns, and the names come first: unless the columns
 * are fixed, rows wait in a temporary file until all are known. In memory are
 * the names and one row.
 *
 * Life:   create -> add_column* -> fix? -> (column, put)*, end_row, ... ->
 *         finish -> destroy
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CSV_H
#define SHELL_CSV_H

#include "colander.h"

#include <stdio.h>

/* Different columns, over all rows: as many as spreadsheets read. A family
 * with more of them uses names as values. */
#define CSV_COLUMNS_MAX 16384

struct csv;

/* `file` is borrowed until destroy; whoever owns it looks for its errors. NULL
 * when memory is short. */
struct csv *csv_create(FILE *file);

/* NULL is allowed. */
void csv_destroy(struct csv *csv);

/* Adds a column that stays apart from those found by name. */
COLANDER_CHECKED enum colander_code csv_add_column(struct csv *csv,
                                                   struct colander_slice name,
                                                   struct colander_error *err);

/* Gives the column called `name`, added if it is new: LIMIT when there are too
 * many. */
COLANDER_CHECKED enum colander_code csv_column(struct csv *csv,
                                               struct colander_slice name,
                                               size_t *column,
                                               struct colander_error *err);

/* Writes the names: no more come, and rows are written at once. */
COLANDER_CHECKED enum colander_code csv_fix(struct csv *csv,
                                            struct colander_error *err);

/* Puts a text into the row under way; copied. */
COLANDER_CHECKED enum colander_code csv_put(struct csv *csv, size_t column,
                                            struct colander_slice text,
                                            struct colander_error *err);

/* Ends the row; without it, the row is none. */
COLANDER_CHECKED enum colander_code csv_end_row(struct csv *csv,
                                                struct colander_error *err);

/* Writes what waits. CANCELLED when Ctrl-C is typed meanwhile. */
COLANDER_CHECKED enum colander_code csv_finish(struct csv *csv,
                                               struct colander_error *err);

#endif
