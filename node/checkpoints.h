/*
 * Checkpoints of a partition: which there are, and which of them are damaged.
 *
 * A checkpoint is a backup. Its number is one more than the records that are
 * certainly in it, so the newest has the highest.
 *
 * One that cannot be restored as it is damaged, or is of another partition, is
 * not tried again. The next one
 * that is made does not rely on objects that are there: it may have the number
 * of the damaged one, and is then the one that is restored.
 *
 * Threads: any number of them
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef NODE_CHECKPOINTS_H
#define NODE_CHECKPOINTS_H

#include "cluster/definition.h"
#include "columns/columns.h"

#include <pthread.h>
#include <stdatomic.h>

struct checkpoint {
    uint64_t number;
    int64_t made; /* in seconds since 1970 */
};

struct checkpoints {
    char *address;                       /* of the backups; owned */
    const struct cluster_family *family; /* borrowed; NULL: of any store */
    uint32_t partition;                  /* of it */
    pthread_mutex_t lock;                /* of what follows */
    struct checkpoint *items;            /* those there are */
    size_t count;
    size_t capacity;
    bool is_listed;
    bool sends_all; /* with the next one */
    uint64_t *bad;  /* numbers of those that are damaged */
    size_t bad_count;
    size_t bad_capacity;
};

/* The caller sets the address, and of which partition they are. */
void checkpoints_init(struct checkpoints *checkpoints);

void checkpoints_release(struct checkpoints *checkpoints);

/* Lists those there are, unless that was done. The flag ends it with
 * CANCELLED. */
COLANDER_CHECKED enum colander_code
checkpoints_list(struct checkpoints *checkpoints, const atomic_bool *is_stopped,
                 struct colander_error *err);

/* Returns how many there are, by the last list. */
size_t checkpoints_count(struct checkpoints *checkpoints);

/* Returns the one with the highest number of those that are not known to be
 * damaged; zeros: there is none, or they were not listed. */
struct checkpoint checkpoints_newest(struct checkpoints *checkpoints);

/* Gets lines about what was restored, and what is damaged. */
typedef void checkpoints_say(void *context, const char *line);

/*
 * Restores to the folder `path`, which is replaced, the newest that has a
 * number above `above`, is not damaged, and is of the partition. *found: there
 * is one. The flag ends it with CANCELLED.
 */
COLANDER_CHECKED enum colander_code
checkpoints_restore(struct checkpoints *checkpoints, uint64_t above,
                    const char *path, const atomic_bool *is_stopped,
                    checkpoints_say *say, void *context, bool *found,
                    struct colander_error *err);

/* Makes one of the store with this number, of which `keep_count` are kept;
 * `tries_once`: unless a request fails at once. May fail after it was made. */
COLANDER_CHECKED enum colander_code
checkpoints_make(struct checkpoints *checkpoints, struct colander_store *store,
                 uint64_t number, uint64_t keep_count, bool tries_once,
                 const atomic_bool *is_stopped, struct colander_error *err);

#endif
