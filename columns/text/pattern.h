/*
 * Patterns: regular expressions, by RE2. The time of a match is in proportion
 * to the text, whatever the pattern, so patterns may come from strangers.
 *
 * A library that was built without RE2 creates none.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_TEXT_PATTERN_H
#define COLANDER_COLUMNS_TEXT_PATTERN_H

#include "core/core.h"

struct pattern;

/* Creates the pattern of `text` (copied). Fails with INVALID at the byte
 * *offset of it, with LIMIT if the pattern takes too much memory. */
COLANDER_CHECKED enum colander_code pattern_create(struct colander_slice text,
                                                   bool is_folded,
                                                   struct pattern **pattern,
                                                   size_t *offset,
                                                   struct colander_error *err);

/* NULL is allowed. */
void pattern_destroy(struct pattern *pattern);

/* Sets *is_found to whether the pattern matches some part of the text. Any
 * number of threads can match at once. Fails with NO_MEMORY. */
COLANDER_CHECKED enum colander_code
pattern_matches(const struct pattern *pattern, struct colander_slice text,
                bool *is_found, struct colander_error *err);

/* --------------------------------------------------------------- pieces --- */

#define PATTERN_PIECES_MAX 64

/* Pieces, of which a folded text has some that the pattern matches. */
struct pattern_pieces;

/* Sets *pieces to NULL if nothing is known. Fails with NO_MEMORY. */
COLANDER_CHECKED enum colander_code
pattern_pieces_create(const struct pattern *pattern,
                      struct pattern_pieces **pieces,
                      struct colander_error *err);

/* NULL is allowed. */
void pattern_pieces_destroy(struct pattern_pieces *pieces);

size_t pattern_pieces_count(const struct pattern_pieces *pieces);

/* Returns a piece, borrowed, of ASCII. */
struct colander_slice pattern_piece(const struct pattern_pieces *pieces,
                                    size_t index);

/* Sets *may_match to whether the pattern may match a text that lacks some of
 * the pieces. Fails with NO_MEMORY. */
COLANDER_CHECKED enum colander_code
pattern_pieces_ask(const struct pattern_pieces *pieces, const bool *are_absent,
                   bool *may_match, struct colander_error *err);

#endif
