/*
 * Conditional writes: those of a batch that depend on whether there is a row,
 * for the layers above only: exported, but not installed.
 *
 * The row is looked for when the batch is committed, while its key is locked:
 * of several writers that insert one key exactly one does.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_CONDITIONAL_H
#define COLANDER_COLUMNS_CONDITIONAL_H

#include "columns/columns.h"

enum colander_change {
    COLANDER_CHANGE_PUT,
    COLANDER_CHANGE_PATCH,
    COLANDER_CHANGE_DELETE,
};

enum colander_row_condition {
    COLANDER_ALWAYS,
    COLANDER_IF_ABSENT,
    COLANDER_IF_PRESENT,
};

/* Adds a write to the batch, as colander_batch_put does. `row` is the row (to
 * be checked, unless `is_checked`: see unchecked.h), the patch, or empty. The
 * commit sets *had_row, borrowed until then, to whether there was a row before
 * this write, also by an earlier one of the batch, and leaves the write out if
 * the condition is not met. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_batch_change(
    struct colander_batch *batch, struct colander_family *family,
    enum colander_change change, enum colander_row_condition condition,
    struct colander_slice key, struct colander_slice row, bool is_checked,
    bool *had_row, struct colander_error *err);

#endif
