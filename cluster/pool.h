/*
 * A pool: a few threads that do jobs. After a failure the rest are dropped.
 *
 * Life:   create -> add, ... -> finish
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_POOL_H
#define CLUSTER_POOL_H

#include "core/core.h"

struct pool;

/* Does a job and frees it. With `is_dropped` only frees it; `err` is unused
 * then. */
typedef enum colander_code pool_run(void *job, bool is_dropped,
                                    struct colander_error *err);

/* Transfers wait for disks and networks, not for processors. */
#define POOL_THREADS 8

COLANDER_CHECKED enum colander_code
pool_create(pool_run *run, struct pool **pool, struct colander_error *err);

/* Adds a job, which is taken. Waits while all threads are busy. Fails as a job
 * did: this one and all later ones are dropped. */
COLANDER_CHECKED enum colander_code pool_add(struct pool *pool, void *job,
                                             struct colander_error *err);

/* Waits until all jobs are done, and destroys the pool. Returns the first
 * failure. NULL is allowed. */
COLANDER_CHECKED enum colander_code pool_finish(struct pool *pool,
                                                struct colander_error *err);

#endif
