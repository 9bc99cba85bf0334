/*
 * Conditions on groups: the text of --having.
 *
 * The text has the conditions of words.h, with blanks between them: "count>10
 * and (avg t<5 or max t=9)". COL is the name of a column of the groups, which
 * may have blanks in it, and blanks may be around an operator. A value ends
 * before the next condition, "and", "or", "not" or parenthesis.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_REQUEST_HAVING_H
#define SHELL_REQUEST_HAVING_H

#include "colander.h"

/* The columns of groups. */
struct having_columns {
    const char *names[COLANDER_GROUP_KEYS_MAX + COLANDER_GROUP_MEASURES_MAX];
    const char *const
        *paths; /* the names, escaped, which also stand for them */
    bool is_number[COLANDER_GROUP_KEYS_MAX + COLANDER_GROUP_MEASURES_MAX];
    size_t count;
    bool (*is_measure)(const char *name, size_t size); /* "sum" */
};

/* Creates the predicate that all conditions in `text` are true. */
COLANDER_CHECKED enum colander_code
having_read(const struct having_columns *columns, const char *text,
            struct colander_predicate **having, struct colander_error *err);

#endif
