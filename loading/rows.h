/*
 * Rows: records of any format, parsed into keys and rows.
 *
 * The key is parsed from the columns that the schema names. Without those it is
 * the record's _key, if there is one. The row never has a column _key.
 *
 * Life:    create -> parse* -> destroy
 * Threads: one at a time
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_ROWS_H
#define LOADING_ROWS_H

#include "loading/csv.h"
#include "loading/splitter.h"

struct rows;

/* `header` (of CSV, else NULL) and `schema` (or NULL) are borrowed until
 * destroy. */
COLANDER_CHECKED enum colander_code
rows_create(enum record_format format, const struct csv_header *header,
            const struct colander_schema *schema, struct rows **rows,
            struct colander_error *err);

/* NULL is allowed. */
void rows_destroy(struct rows *rows);

/* A parsed record. Borrowed until the next. */
struct parsed_row {
    bool has_key;
    struct colander_slice key;
    struct colander_slice row;
    bool is_checked; /* the row is valid */
    size_t fault;    /* on failure: the byte of the record at fault */
};

/* Parses a record. Fails with INVALID or LIMIT if it cannot be a row. */
COLANDER_CHECKED enum colander_code rows_parse(struct rows *rows,
                                               struct colander_slice record,
                                               struct parsed_row *parsed,
                                               struct colander_error *err);

/* Removes this text from the beginning of the reason, if it is there. */
__attribute__((format(printf, 2, 3))) void
reason_drop(struct colander_error *reason, const char *format, ...);

/* Frees memory that a large record took. Invalidates the parsed row. */
void rows_trim(struct rows *rows);

#endif
