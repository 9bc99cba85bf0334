/*
 * Workers: threads that do jobs, in the order in which they are submitted.
 *
 * A thread is started when a job comes and all others are busy.
 *
 * Life:   create -> submit* -> destroy
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_WORKERS_H
#define SERVE_WORKERS_H

#include "core/core.h"

/* Embedded in what is to be done. The caller's, until `run` is called. */
struct job {
    struct job *next;
    void (*run)(struct job *job);
};

struct workers;

/* Starts the first thread, so that a job never lacks one. */
COLANDER_CHECKED enum colander_code workers_create(size_t thread_max,
                                                   struct workers **workers,
                                                   struct colander_error *err);

void workers_submit(struct workers *workers, struct job *job);

/* Does the jobs that were submitted, and ends the threads. NULL is allowed. */
void workers_destroy(struct workers *workers);

#endif
