/*
 * Rows of msgpack: records that are maps, as an export writes them.
 *
 * Life:    create -> row* -> destroy
 * Threads: one at a time
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_MSGPACK_ROWS_H
#define LOADING_MSGPACK_ROWS_H

#include "columns/columns.h"

struct msgpack_rows;

/* NULL when memory is short. */
struct msgpack_rows *msgpack_rows_create(void);

/* NULL is allowed. */
void msgpack_rows_destroy(struct msgpack_rows *rows);

/*
 * Makes a row of a record, one map of msgpack. Its column _key, wherever it
 * stands, becomes the key: a scalar, or an array of them; *has_key says whether
 * there is one. All else stays as it is, byte for byte. Key and row are
 * borrowed until `rows` is next used, or from the record. INVALID or LIMIT for
 * what may not be stored; *at is then the byte of `record` where the column
 * begins in which the fault lies, or 0 where it is of no one column.
 */
COLANDER_CHECKED enum colander_code
msgpack_rows_row(struct msgpack_rows *rows, struct colander_slice record,
                 struct colander_slice *key, bool *has_key,
                 struct colander_slice *row, size_t *at,
                 struct colander_error *err);

#endif
