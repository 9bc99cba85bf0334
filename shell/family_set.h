/*
 * Family sets: the families that a name of a command means: the one that has
 * it, or those that a pattern such as 'logs/{day}' or a name with * selects.
 *
 * Several families are read as they were at one moment. Families by time whose
 * times are not asked for are left out, if the times are those of the column by
 * which they are families.
 *
 * Life:   a zeroed struct -> open -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_FAMILY_SET_H
#define SHELL_FAMILY_SET_H

#include "shell/session.h"

struct family_set {
    const char *name;  /* as it was written; borrowed */
    bool is_selection; /* it selects families, perhaps one; false: is their
                        * name */
    struct colander_family **families; /* in the order of their names */
    size_t count;
    size_t known_count;            /* with those that are left out */
    struct colander_family *model; /* one of them, or of those left out: by its
                                    * rows words of a request are read */
    struct colander_snapshot *snapshot; /* of a selection; else NULL */
};

/* Times that rows may have; NULL: any. */
struct family_times {
    const struct colander_value *since; /* TIMESTAMP; this one or later */
    const struct colander_value *until; /* earlier than this one */
};

/* Opens the families. `times` (NULL: any) are those that are asked for. Fails
 * with NOT_FOUND if no family has the name, or none is selected. Release the
 * set also on failure. */
COLANDER_CHECKED enum colander_code
family_set_open(struct family_set *set, const struct session *session,
                const char *name, const struct family_times *times,
                struct colander_error *err);

void family_set_release(struct family_set *set);

/* Returns about how many rows the families have; 0: that is unknown. */
uint64_t family_set_key_count(const struct family_set *set);

#define FAMILY_COLUMN "_family" /* the name of its family, in a printed row */

/* Adds that column to rows. Starts zeroed. */
struct family_namer {
    const struct colander_family *family; /* of `patch`; NULL: none */
    struct colander_buffer patch;         /* a row with that column */
    struct colander_buffer row;
};

/* Replaces *row by one with the name of its family, borrowed until the next
 * call. */
COLANDER_CHECKED enum colander_code
family_namer_add(struct family_namer *namer,
                 const struct colander_family *family,
                 struct colander_slice *row, struct colander_error *err);

void family_namer_release(struct family_namer *namer);

#endif
