/*
 * One write: checked when it is made, applied when its key is locked.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_WRITE_H
#define COLANDER_COLUMNS_WRITE_H

#include "columns/candidates.h"

enum write_kind { WRITE_PUT, WRITE_PATCH, WRITE_DELETE, WRITE_MARK };

/* Sets *durability to what `options` (NULL: the defaults) ask for. Fails with
 * INVALID if they were not initialized or ask for what does not exist. */
COLANDER_CHECKED enum colander_code
write_options_accept(const struct colander_write_options *options,
                     enum colander_durability *durability,
                     struct colander_error *err);

/* All bytes are borrowed. */
struct row_write {
    enum write_kind kind;
    struct colander_family *family;
    struct colander_slice key; /* or the name of a mark */
    struct colander_slice row; /* or patch, or mark; empty for a delete */
};

/* Fails with INVALID or LIMIT if the key or the row may not be stored. */
COLANDER_CHECKED enum colander_code write_check(const struct row_write *write,
                                                struct colander_error *err);

/* Checks the key only. */
COLANDER_CHECKED enum colander_code
write_check_key(const struct row_write *write, struct colander_error *err);

/* Writes that happen at once. */
struct write_batch {
    struct engine_batch *engine_batch; /* indexed if it has writes that read */
    struct candidate_write *noted;     /* of the store's hooks; NULL: none */
};

/* Adds the write to the batch, a patch as the row that results, and passes that
 * row to the store's hooks. Requires the lock of the key. */
COLANDER_CHECKED enum colander_code write_apply(const struct row_write *write,
                                                struct write_batch *batch,
                                                struct colander_error *err);

/* Sets *found to whether there is a row, in the batch or before it. Requires
 * the lock of the key. */
COLANDER_CHECKED enum colander_code
write_finds_row(const struct row_write *write, struct write_batch *batch,
                bool *found, struct colander_error *err);

/* Rows that colander_changes_add collects before it changes them. Few enough
 * that other writers do not wait long for their locks. */
#define CHANGES_LOT 1000

struct colander_changes;

/* Makes the changes lock few rows at a time, and pause, so that other writers
 * hardly wait for them. Batches have fewer rows then, and not in the order of
 * adding. */
void changes_yield(struct colander_changes *changes);

/* Notifies the store's hooks whether the batch was written. */
void notify_written(struct colander_store *store,
                    const struct write_batch *batch, bool is_written);

#endif
