/*
 * Commons: what the filters of several stores have together, or those of one
 * store alone: caches, memory, descriptors, threads.
 *
 * Stores with one budget (core.h) have the same commons. The first that is
 * opened creates them, and they end with the budget.
 *
 * Filters in memory: a family may use what is free of `filter_memory`, and in
 * any case its share, all families counted alike. When nothing is left, those
 * that have more than their share give it back, by folding.
 *
 * Threads: any
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_COMMONS_H
#define COLANDER_FILTERS_COMMONS_H

#include "core/engine.h"
#include "filters/block_cache.h"
#include "filters/levels.h"

#include <pthread.h>

struct worker;

struct commons {
    struct colander_budget *budget; /* each store has a reference to it; NULL:
                                     * of one store */

    struct block_cache *cache;        /* blocks of filters */
    struct block_cache *rows;         /* decoded blocks of SST files, by the
                                * registry's id of a file, and span */
    atomic_uint_fast64_t store_count; /* that were opened; numbers them */

    /* Direct reads. What they keep in memory is lent by the engine's cache. */
    struct levels_memory levels_memory;
    atomic_size_t span_bytes; /* of filters that are open, */
    size_t span_bytes_max;    /* and how many there may be */
    pthread_mutex_t lend_mutex;
    atomic_uint_fast64_t lent; /* set under lend_mutex, in steps */
    atomic_uint open_count;    /* descriptors of SST files, */
    unsigned descriptors_max;  /* and how many stay open */

    /* Filters in memory. */
    uint64_t memory_max;         /* UINT64_MAX: each family has its own */
    atomic_uint_fast64_t memory; /* bytes of all hierarchies */
    atomic_uint_fast64_t memory_shares; /* families that have some */

    /* Threads that do the work of stores. */
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* there is work */
    unsigned thread_max;
    unsigned thread_count;
    pthread_t *threads;
    struct worker *workers; /* of open stores: a ring in the order of turns */
    bool is_ending;
};

/* Returns those of a store that is opened with these options. */
COLANDER_CHECKED enum colander_code
commons_open(const struct colander_options *options, struct commons **commons,
             struct colander_error *err);

/* Makes the cache of rows for the options in force, if there is none. */
COLANDER_CHECKED enum colander_code
commons_open_rows(struct commons *commons,
                  const struct colander_options *options,
                  struct colander_error *err);

/* The store closes. NULL is allowed. */
void commons_close(struct commons *commons);

/* Returns how many bytes a hierarchy may have in any case, and how many one
 * that has `bytes` may have now. */
uint64_t commons_memory_share(struct commons *commons);
uint64_t commons_memory_for(struct commons *commons, uint64_t bytes);

/* A hierarchy that had `before` bytes has `after`. */
void commons_memory_change(struct commons *commons, uint64_t before,
                           uint64_t after);

/* Returns whether hierarchies must give memory back. */
bool commons_memory_is_short(struct commons *commons);

#endif
