/*
 * One write, from the inside: checked when it is made, applied when its keys
 * are locked.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_WRITE_H
#define COLANDER_COLUMNS_WRITE_H

#include "columns/candidates.h"

enum write_kind { WRITE_PUT, WRITE_PATCH, WRITE_DELETE, WRITE_MARK };

/* All bytes are borrowed. */
struct write {
    enum write_kind kind;
    struct colander_family *family;
    struct colander_slice key; /* or the name of a mark */
    struct colander_slice row; /* or patch, or mark; empty for a delete */
};

/* INVALID or LIMIT for a key or row that may not be stored. */
COLANDER_CHECKED enum colander_code write_check(const struct write *write,
                                                struct colander_error *err);

/* The same of the key alone. */
COLANDER_CHECKED enum colander_code write_check_key(const struct write *write,
                                                    struct colander_error *err);

/* What is going to be written at once. */
struct write_batch {
    struct colander_engine_batch *engine_batch; /* indexed if it has patches */
    struct candidate_write *noted; /* what the store's extension knows of it */
};

/* Adds the write to the batch, a patch as the row that it makes, and notes that
 * row. The key's lock is held. */
COLANDER_CHECKED enum colander_code write_apply(const struct write *write,
                                                struct write_batch *batch,
                                                struct colander_error *err);

/* Tells the store's extension whether the batch was written. */
void write_tell(struct colander_store *store, const struct write_batch *batch,
                bool is_written);

#endif
