/*
 * Private to replicas.c and replica_find.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef NODE_REPLICAS_INSIDE_H
#define NODE_REPLICAS_INSIDE_H

#include "columns/source.h"

#include <stdatomic.h>

#define REPLICAS 2

struct replicas {
    struct colander_store *stores[REPLICAS];
    atomic_uint_fast64_t suspect_us; /* of the clock, until when the first is */

    /* When a find is asked twice. */
    atomic_uint_fast64_t usual_us; /* of 20 first rows of the first, 19 have
                                    * come before that time; about */
    atomic_int credit;             /* of finds; see HEDGE_COST */
    atomic_uint lost;              /* how often the first was too late, since
                                    * it was not */
};

/* Whether another node may answer what has failed so. */
static inline bool
replicas_is_failure(enum colander_code code)
{
    return code == COLANDER_BUSY || code == COLANDER_IO ||
           code == COLANDER_CORRUPT;
}

/* Returns which of the stores is asked before the other. */
size_t replicas_first(struct replicas *replicas);

/* Notes that a store has failed, or answered. */
void replicas_failed(struct replicas *replicas, size_t which);
void replicas_answered(struct replicas *replicas, size_t which);

/* Fails as both stores have. */
COLANDER_CHECKED enum colander_code
replicas_fail(enum colander_code code, const struct colander_error *first,
              const struct colander_error *second, struct colander_error *err);

/* Functions of the source. */

enum colander_code replica_find_open(void *replicas, const char *family,
                                     const struct colander_query *query,
                                     void **find, struct colander_error *err);

enum colander_code replica_find_next(void *find, bool *is_row,
                                     struct colander_result *result,
                                     struct colander_error *err);

enum colander_code replica_find_seek(void *find, struct colander_slice key,
                                     struct colander_error *err);

void replica_find_cancel(void *find);

void replica_find_pause(void *find, uint64_t time_us);

void replica_find_explain(const void *find, struct colander_explain *explain);

void replica_find_close(void *find);

#endif
