/*
 * Context: everything that belongs to the filters of one open store. The
 * sources of live/, find/ and this folder share it.
 *
 * Locks, in this order: change_mutex; names.mutex; then one of the others,
 * which are those of the registry, the recent rows, the log and the worker. The
 * engine may be called under change_mutex only, and its cache under lend_mutex,
 * which is taken alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_CONTEXT_H
#define COLANDER_FILTERS_CONTEXT_H

#include "columns/candidates.h"
#include "filters/filter_log.h"
#include "filters/filter_names.h"
#include "filters/registry.h"

struct worker {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_running;
    bool is_stopping;
    bool is_kicked;  /* there may be something to do */
    bool is_idle;    /* everything is done, */
    bool is_waiting; /* except files that are too young */
    size_t awaiting; /* threads that wait until everything is done */
};

struct filters {
    struct engine *engine; /* NULL until it is opened for the first time */
    bool is_read_only;
    struct filter_names names;
    struct filter_log log;
    struct registry registry;
    struct worker worker;

    /* Direct reads. What they keep in memory is lent by the engine's cache. */
    struct block_cache *rows; /* decoded blocks, by number of SST and span */
    struct levels_memory levels_memory;
    atomic_size_t span_bytes; /* of filters that are open, */
    size_t span_bytes_max;    /* and how many there may be */
    pthread_mutex_t lend_mutex;
    atomic_uint_fast64_t lent; /* set under lend_mutex, in steps */
    unsigned descriptors_max;  /* that stay open for direct reads */

    /* Writes under way, counted by the settings that they began with: a change
     * of settings flips the epoch and waits for those of the last one. */
    pthread_mutex_t change_mutex; /* one change at a time */
    atomic_uint epoch;
    atomic_size_t writes[2];
};

/* Finds the filters of the store of `family`, and those of the family itself:
 * NULL if the family does not exist. */
COLANDER_CHECKED enum colander_code
filters_look_up(struct colander_family *family, struct filters **filters,
                struct engine_family **engine_family,
                struct family_filters **found, struct colander_error *err);

/* Takes the memory of direct reads from the cache of the engine, and gives back
 * what is free again. Calls the engine. */
void filters_lend(struct filters *filters);

#define RECORD_NAME_MAX 64

/* Writes the name of the record that keeps a family's settings. */
void settings_record_name(uint32_t family, char name[RECORD_NAME_MAX]);

#endif
