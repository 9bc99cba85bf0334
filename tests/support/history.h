/*
 * What writers have begun and what was acknowledged to them, and so what may be
 * read: a version from what was acknowledged before the reader looked to what
 * was begun when it had.
 *
 * Of processes that end at any moment it is in shared memory, which outlives
 * them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_HISTORY_H
#define TESTS_SUPPORT_HISTORY_H

#include "columns/columns.h"

#include <stdatomic.h>

/* The versions of one row, or of rows that are written together. Between the
 * two a write is under way. */
struct history {
    _Atomic(uint64_t) begun;
    _Atomic(uint64_t) acknowledged;
};

/* The file, made if there is none, as memory that processes share; NULL: it
 * cannot be. munmap() ends it. */
void *history_map(const char *path, size_t size);

/* Nothing is under way: each version is `version`. */
void history_settle(struct history *history, uint64_t version);

/* The value that this version of this row has, and no other. */
struct colander_value version_text(uint64_t index, uint64_t version,
                                   char text[48]);

/* Replaces `key` by that of an integer; borrowed. */
struct colander_slice integer_key(uint64_t index, struct colander_buffer *key);

#endif
