/*
 * Column kind: how the fields of a CSV column without a type are read. It is
 * decided from the column's fields in the first records of a file:
 *
 *     text       one of them is neither a number nor a boolean, or both occur
 *     number     all are numbers, as typed_value_guess reads them
 *     boolean    all are true or false
 *     whole      a column of the key: all are integers as they are printed. Two
 *                texts are then never one value
 *     guessed    there are none
 *
 * A later field that does not fit is a string. So is one that often means a
 * missing value, such as NA; it decides nothing, except in a key.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_COLUMN_KIND_H
#define LOADING_COLUMN_KIND_H

#include "loading/typed_value.h"

enum column_kind {
    COLUMN_GUESSED = 0,
    COLUMN_TEXT,
    COLUMN_NUMBER,
    COLUMN_BOOLEAN,
    COLUMN_WHOLE,
};

/* What the fields of a column have been: a set of these. */
enum column_seen {
    COLUMN_SEEN_INTEGER = 1,
    COLUMN_SEEN_DOUBLE = 2,
    COLUMN_SEEN_BOOLEAN = 4,
    COLUMN_SEEN_TEXT = 8,
    COLUMN_SEEN_MISSING = 16, /* NA, or "" */
};

/* Returns what the text is. */
enum column_seen column_kind_see(struct colander_slice text);

/* Returns the kind of a column with these fields. */
enum column_kind column_kind_decide(unsigned seen, bool is_key);

/* Returns the value of a text. A string is the text itself, borrowed. */
struct colander_value column_kind_read(enum column_kind kind,
                                       struct colander_slice text);

/* Returns whether the text often means a missing value: NA, null, - and so on,
 * in any case. */
bool column_kind_is_missing(struct colander_slice text);

#endif
