/*
 * Matches from the inside: how an evaluation fills them.
 *
 * An evaluation notes where paths matched, one path possibly several times and
 * in any order. Finishing puts the paths in the order of the row, each once.
 * They take COLANDER_MATCHES_SIZE_MAX bytes at most, whatever the row is.
 *
 * Life:    clear -> note -> finish
 * Knows:   texts and offsets; nothing of rows or predicates
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_MATCHES_H
#define COLANDER_MATCHES_H

#include "columns/columns.h"

/* Forgets everything, keeps what memory is usual. */
void matches_clear(struct colander_matches *matches);

/*
 * Notes that the value at `offset` of the row matched. Its path (copied) is
 * `path`, text without a zero byte. A path that there is no room for is left
 * out, and the matches are cut.
 */
COLANDER_CHECKED enum colander_code
matches_note(struct colander_matches *matches, struct colander_slice path,
             size_t offset, struct colander_error *err);

/* Whether a path was left out, so that to note more is of no use. */
bool matches_is_cut(const struct colander_matches *matches);

/* Orders the notes and makes them what colander_matches_columns gives. */
COLANDER_CHECKED enum colander_code
matches_finish(struct colander_matches *matches, struct colander_error *err);

#endif
