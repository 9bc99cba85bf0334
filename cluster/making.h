/*
 * A backup in the making: an object that says so, as long as it is made.
 *
 * While there is one, nothing is collected. One that was not put again for a
 * day is of a process that was killed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_MAKING_H
#define CLUSTER_MAKING_H

#include "cluster/content.h"

struct making {
    struct objects *objects; /* borrowed */
    struct content_name name;
    uint64_t id;      /* drawn at random */
    uint64_t put_at;  /* seconds of this machine, also while it sleeps */
    int64_t began_at; /* by the clock of the objects */
};

COLANDER_CHECKED enum colander_code making_begin(struct making *making,
                                                 struct objects *objects,
                                                 struct colander_error *err);

/* Puts the object again if that was an hour ago. Fails with IO if it was so
 * long ago that others may have taken this process for killed. */
COLANDER_CHECKED enum colander_code making_continue(struct making *making,
                                                    struct colander_error *err);

/* Removes it, as far as possible. One that has not begun is allowed. */
void making_end(struct making *making);

/* Sets whether any backup is being made. Removes objects of killed processes.
 * `now` is not later than the clock of the objects. */
COLANDER_CHECKED enum colander_code making_any(struct objects *objects,
                                               int64_t now, bool *is_any,
                                               struct colander_error *err);

#endif
