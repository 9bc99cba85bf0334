/*
 * Hints: why a find returned no row, or rows without a wanted column, in one
 * line: "no row has 'usr': did you mean 'user'?".
 *
 * A hint is taken from a sample of a thousand rows, and from what the value
 * filters know of a column that the sample lacks. It explains conditions that
 * no row can meet, not those that no row happens to meet.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_HINT_H
#define SHELL_HINT_H

#include "shell/report.h"

/* What was asked of a family, or of several, and not found. */
struct hint_question {
    struct colander_family *family;
    struct colander_family *const *families; /* NULL: only `family` */
    size_t family_count;
    const struct colander_predicate *where;    /* no row met it; NULL: none */
    const struct colander_predicate *compared; /* what expressions seem to
                                                * compare; NULL: nothing */
    const char *const *paths;                  /* no row had them */
    size_t path_count;
    bool any_type;    /* they may hold maps and arrays */
    bool are_guesses; /* some may be no columns: only the first is explained */
};

/* Adds a line to the report, or one for each of several paths, or nothing.
 * Failures explain nothing either. */
void hint_add(const struct hint_question *question, struct report *report);

/* Adds a line if no row has the column, of times for example. */
void hint_add_column(struct colander_family *family, const char *path,
                     struct report *report);

/* Adds a line for each of the paths that no row has: they were given a type.
 * With `finds_times` also one about columns without a type whose texts all look
 * like times. */
void hint_add_types(struct colander_family *family, const char *const *paths,
                    size_t path_count, bool finds_times, struct report *report);

/* Adds a line if the patch sets a column of times to something else. */
void hint_add_patch(struct colander_family *family, struct colander_slice patch,
                    struct report *report);

/* Columns that no row has had so far, and that were selected, ordered by, or
 * are in a condition that rows without them may meet: one of several joined by
 * `or`, or one below a `not`. */
struct hint_missing {
    const char **paths; /* the paths are borrowed */
    size_t count;
};

/* Begins with all of the paths, with `order` and with those of `where` (both
 * may be NULL), borrowed. If memory is short, with none. */
void hint_missing_init(struct hint_missing *missing, const char *const *paths,
                       size_t count, const char *order,
                       const struct colander_predicate *where);

/* Removes the columns that the row has. */
void hint_missing_see(struct hint_missing *missing, struct colander_slice row);

void hint_missing_release(struct hint_missing *missing);

#endif
