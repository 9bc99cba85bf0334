/*
 * CSV: rows as lines of fields after a header, as in RFC 4180, except
 * that lines end in \n.
 *
 * A field with a comma, a quote or a line end is written in quotes. An empty
 * field is a missing value; an empty text is "".
 *
 * Or as TSV: tabs separate the fields, and \t, \n, \r and \\ in them are
 * written so. An empty text is an empty field, too.
 *
 * Names come first, and rows have different columns. So rows are kept in a
 * temporary file until all columns are known, unless the columns are fixed.
 * Only the names and one row are in memory.
 *
 * Life:   create -> add_column* -> fix? -> (column, put)*, end_row, ... ->
 *         finish -> destroy
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_OUTPUT_CSV_H
#define SHELL_OUTPUT_CSV_H

#include "colander.h"

#include <stdio.h>

/* Different columns of all rows: as many as spreadsheets read. A family with
 * more uses names as values. */
#define CSV_COLUMNS_MAX 16384

struct csv;

/* `file` is borrowed until destroy; its owner checks its errors. Returns NULL
 * if memory is short. */
struct csv *csv_create(FILE *file, bool is_tsv);

/* NULL is allowed. */
void csv_destroy(struct csv *csv);

/* Adds a column that csv_column does not find. */
COLANDER_CHECKED enum colander_code csv_add_column(struct csv *csv,
                                                   struct colander_slice name,
                                                   struct colander_error *err);

/* Sets *column to the column called `name`, which is added if it is new. Fails
 * with LIMIT if there are too many. */
COLANDER_CHECKED enum colander_code csv_column(struct csv *csv,
                                               struct colander_slice name,
                                               size_t *column,
                                               struct colander_error *err);

/* Writes the names. No more may be added, and rows are written directly. */
COLANDER_CHECKED enum colander_code csv_fix(struct csv *csv,
                                            struct colander_error *err);

/* Adds a field to the current row. The text is copied. */
COLANDER_CHECKED enum colander_code csv_put(struct csv *csv, size_t column,
                                            struct colander_slice text,
                                            struct colander_error *err);

/* Ends the row. */
COLANDER_CHECKED enum colander_code csv_end_row(struct csv *csv,
                                                struct colander_error *err);

/* Writes the rows that were kept. Fails with CANCELLED on Ctrl-C. */
COLANDER_CHECKED enum colander_code csv_finish(struct csv *csv,
                                               struct colander_error *err);

#endif
