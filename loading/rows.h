/*
 * Rows: records of any format, parsed into keys and rows.
 *
 * The key is parsed from the columns that the schema names. Without those it is
 * the record's _key, if there is one. The row never has a column _key.
 *
 * Life:    init -> parse* -> release
 * Threads: one at a time
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_ROWS_H
#define LOADING_ROWS_H

#include "loading/added_columns.h"
#include "loading/conversion.h"
#include "loading/csv.h"
#include "loading/influx_rows.h"
#include "loading/item_rows.h"
#include "loading/msgpack_rows.h"
#include "loading/splitter.h"

struct rows {
    enum record_format format;
    const struct colander_schema *schema; /* NULL: none */
    bool converts;                        /* rows, by the schema */
    bool is_delete; /* the next record only says which row: if it lacks columns
                     * of the key, by _key */
    struct conversion conversion;
    struct colander_json_reader *json; /* NULL: to be made */
    struct csv_reader csv;
    struct msgpack_rows msgpack;
    struct influx_rows influx;
    struct item_rows items;
    struct misfits misfits; /* of all records so far */
    struct colander_buffer key;
    struct colander_buffer partition_key;     /* its text */
    const struct added_columns *added;        /* borrowed; NULL: none */
    struct colander_buffer wide;              /* the row with those */
    bool key_is_name[COLANDER_KEY_PARTS_MAX]; /* each part is a plain column, so
                                               * it is found without a path */
};

/* `header` (of CSV, else NULL) and `schema` (or NULL) are borrowed until
 * release. */
void rows_init(struct rows *rows, enum record_format format,
               const struct csv_header *header,
               const struct colander_schema *schema);

void rows_release(struct rows *rows);

/* A parsed record. Borrowed until the next. */
struct parsed_row {
    bool has_key;
    struct colander_slice key;
    struct colander_slice row;
    bool is_checked;              /* the row is valid */
    enum item_action action;      /* of an item, which may name */
    struct colander_slice family; /* its family, */
    bool is_upsert;               /* and may create a row by an update */
    size_t fault;   /* on failure: the byte of the record at fault, */
    bool lacks_key; /* and whether a key column is missing */
};

/* Parses a record. Fails with INVALID or LIMIT if it cannot be a row. */
COLANDER_CHECKED enum colander_code rows_parse(struct rows *rows,
                                               struct colander_slice record,
                                               struct parsed_row *parsed,
                                               struct colander_error *err);

/* The same of a row as it is stored, with its key. */
COLANDER_CHECKED enum colander_code
rows_parse_stored(struct rows *rows, struct colander_slice record,
                  struct parsed_row *parsed, struct colander_error *err);

/* Removes this text from the beginning of the reason, if it is there. */
__attribute__((format(printf, 2, 3))) void
reason_drop(struct colander_error *reason, const char *format, ...);

/* Frees memory that a large record took. Invalidates the parsed row. */
void rows_trim(struct rows *rows);

#endif
