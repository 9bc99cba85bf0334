/*
 * Added columns: columns that a load adds to each record, with a constant value
 * or the name of the file.
 *
 * Life:    a zeroed struct -> begin_file -> append* -> release
 * Threads: many may append at once
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_ADDED_COLUMNS_H
#define LOADING_ADDED_COLUMNS_H

#include "loading/csv.h"

struct added_columns {
    struct colander_buffer members; /* encoded names and values */
    uint32_t count;
};

void added_columns_release(struct added_columns *added);

/* Fails with INVALID if an added column is not a plain one, is listed twice, or
 * its value is neither a scalar of JSON nor a timestamp. */
COLANDER_CHECKED enum colander_code
added_columns_check(const struct colander_load_options *options,
                    struct colander_error *err);

/* Returns whether the options add the column at `path`, as a text. */
bool added_columns_have(const struct colander_load_options *options,
                        const char *path);

/* Begins a file. `header` is that of CSV, or NULL. Fails with INVALID if it has
 * an added column, or the name of the file is not UTF-8. */
COLANDER_CHECKED enum colander_code
added_columns_begin_file(struct added_columns *added,
                         const struct colander_load_options *options,
                         const char *file, const struct csv_header *header,
                         struct colander_error *err);

/* Replaces *row by one with the added columns, in `wide`. It is not checked: it
 * may have one of them twice. added_columns_explain then names that one in
 * *err, which has another failure. */
COLANDER_CHECKED enum colander_code
added_columns_append(const struct added_columns *added,
                     struct colander_buffer *wide, struct colander_slice *row,
                     struct colander_error *err);
void added_columns_explain(const struct added_columns *added,
                           struct colander_slice row,
                           struct colander_error *err);

#endif
