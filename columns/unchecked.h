/*
 * Rows that were checked already, for the layers above only: exported, but not
 * installed. Passing a row that was not checked stores corrupt data.
 *
 * A row is checked if colander_row_check accepted it, or if a JSON reader or a
 * row builder returned it. The key is checked as always.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_UNCHECKED_H
#define COLANDER_COLUMNS_UNCHECKED_H

#include "columns/columns.h"

/* As colander_batch_put, without the row check. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_batch_put_checked(struct colander_batch *batch,
                           struct colander_family *family,
                           struct colander_slice key, struct colander_slice row,
                           struct colander_error *err);

/* As colander_bulk_add, without the row check. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_bulk_add_checked(struct colander_bulk *bulk, struct colander_slice key,
                          struct colander_slice row,
                          struct colander_error *err);

#endif
