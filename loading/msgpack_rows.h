/*
 * Rows of msgpack: records that are maps.
 *
 * Threads: one at a time
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_MSGPACK_ROWS_H
#define LOADING_MSGPACK_ROWS_H

#include "columns/columns.h"

/* Memory for the last row. Starts zeroed. */
struct msgpack_rows {
    struct colander_buffer key;
    struct colander_buffer row; /* without the key */
};

void msgpack_rows_release(struct msgpack_rows *rows);

struct parsed_row; /* rows.h */

/*
 * Parses a record, one msgpack map. Its column _key, if any, becomes the key: a
 * scalar or an array of scalars. Everything else stays the same, byte for byte.
 * The row may be borrowed from the record. Fails with INVALID or LIMIT if it
 * cannot be stored; the fault is then where its column begins, or 0.
 */
COLANDER_CHECKED enum colander_code
msgpack_rows_row(struct msgpack_rows *rows, struct colander_slice record,
                 struct parsed_row *parsed, struct colander_error *err);

#endif
