/*
 * One write, from the inside: checked when it is made, applied when its keys
 * are locked.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_WRITE_H
#define COLANDER_COLUMNS_WRITE_H

#include "columns/columns.h"

enum write_kind { WRITE_PUT, WRITE_PATCH, WRITE_DELETE };

/* All bytes are borrowed. */
struct write {
    enum write_kind kind;
    struct colander_family *family;
    struct colander_slice key;
    struct colander_slice row; /* or patch; empty for a delete */
};

/* INVALID or LIMIT for a key or row that may not be stored. */
COLANDER_CHECKED enum colander_code write_check(const struct write *write,
                                                struct colander_error *err);

/* Adds the write to the engine's batch, a patch as the row that it makes; the
 * batch is indexed if there are patches, and the key's lock is held. */
COLANDER_CHECKED enum colander_code
write_apply(const struct write *write, struct colander_engine_batch *batch,
            struct colander_error *err);

#endif
