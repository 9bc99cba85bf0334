/*
 * For tests: when a load writes runs (columns/runs.h), and how many threads it
 * has.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_LOAD_INSIDE_H
#define LOADING_LOAD_INSIDE_H

#include "loading/load.h"

struct load_limits {
    uint64_t large_size; /* bytes of files, or of text that a pipe gives in the
                          * time of a run, from which on rows go in runs */
    uint64_t run_size;   /* bytes of rows, with their keys, that end a run; or
                          * four times as many bytes of text */
    uint64_t pipe_ms;    /* the time of a run of a pipe, whose rows wait */
};

/* Sets other limits than the usual ones before the load is run. */
void load_set_limits(struct colander_load *load,
                     const struct load_limits *limits);

/* Sets how many threads parse records, 1 to 8, before the load is run. */
void load_set_parsers(struct colander_load *load, size_t count);

/* Returns how many runs the load has written. */
uint64_t load_run_count(const struct colander_load *load);

#endif
