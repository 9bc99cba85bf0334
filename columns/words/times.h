/*
 * Times as texts, beyond what words.h has.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_WORDS_TIMES_H
#define COLANDER_COLUMNS_WORDS_TIMES_H

#include "columns/words.h"

/* Reads a time, date or month without an @. */
bool times_read_plain(struct colander_slice text, struct colander_times *times);

/* Reads the beginning of a time, at least a year: sets *times to the instants
 * that are written with this beginning (in UTC, with nine digits after the
 * point). A whole time with a zone is that instant. */
bool times_read_prefix(struct colander_slice text,
                       struct colander_times *times);

#endif
