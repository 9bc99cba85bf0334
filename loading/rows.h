/*
 * Rows: records of any format made keys and rows.
 *
 * The key comes from the columns that the schema names, or else from the
 * record's _key, or else there is none. With a schema that names columns a _key
 * is left out.
 *
 * Life:    create -> make* -> destroy
 * Threads: one at a time
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_ROWS_H
#define LOADING_ROWS_H

#include "loading/csv.h"
#include "loading/splitter.h"

struct rows;

/* All are borrowed until destroy: `header` (of CSV, else NULL), `schema` (or
 * NULL). */
COLANDER_CHECKED enum colander_code rows_create(enum record_format format,
                                                const struct csv_header *header,
                                                const struct schema *schema,
                                                struct rows **rows,
                                                struct colander_error *err);

/* NULL is allowed. */
void rows_destroy(struct rows *rows);

/* What a record became; borrowed until the next. */
struct made_row {
    bool has_key;
    struct colander_slice key;
    struct colander_slice row;
    bool is_checked; /* the row: it may be stored */
    size_t fault;    /* of a record that is none: the byte where it is wrong */
};

/* INVALID or LIMIT for a record that cannot be a row, with why. */
COLANDER_CHECKED enum colander_code rows_make(struct rows *rows,
                                              struct colander_slice record,
                                              struct made_row *made,
                                              struct colander_error *err);

/* Takes `lead` away where the reason begins with it. */
void reason_drop(struct colander_error *reason, const char *lead);

/* Gives back the memory that a large record took; what was made is gone. */
void rows_forget(struct rows *rows);

#endif
