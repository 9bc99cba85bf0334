/*
 * What writers have begun and what was acknowledged to them, and so what may be
 * read: any version from what was acknowledged before the read to what was
 * begun by the end of it.
 *
 * Processes that may end at any moment keep it in shared memory, which outlives
 * them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_HISTORY_H
#define TESTS_SUPPORT_HISTORY_H

#include "columns/columns.h"

#include <stdatomic.h>

/* The versions of one row, or of rows that are written together. Versions
 * between the two belong to a write under way. */
struct history {
    _Atomic(uint64_t) begun;
    _Atomic(uint64_t) acknowledged;
};

/* Maps the file, which is created if it is missing, as shared memory. Returns
 * NULL on failure. munmap() releases it. */
void *history_map(const char *path, size_t size);

/* Nothing is under way: every version is `version`. */
void history_settle(struct history *history, uint64_t version);

/* The value that only this version of this row has. */
struct colander_value version_text(uint64_t index, uint64_t version,
                                   char text[48]);

/* Replaces `key` by an integer's key; borrowed. */
struct colander_slice integer_key(uint64_t index, struct colander_buffer *key);

#endif
