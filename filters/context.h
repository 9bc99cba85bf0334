/*
 * Context: everything that belongs to the filters of one open store. The
 * sources of live/, find/ and this folder share it.
 *
 * Locks, in this order: change_mutex; names.mutex; then one of the others,
 * which are those of the registry, the recent rows, the log and the commons,
 * whose mutex may be taken under the registry's. The
 * engine may be called under change_mutex only, and its cache under lend_mutex,
 * which is taken alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_CONTEXT_H
#define COLANDER_FILTERS_CONTEXT_H

#include "columns/candidates.h"
#include "filters/commons.h"
#include "filters/filter_log.h"
#include "filters/filter_names.h"
#include "filters/registry.h"
#include "filters/summaries.h"

#include <time.h>

/* The work of one store, under the mutex of the commons, whose threads do
 * it. */
struct worker {
    struct filters *filters;
    struct worker *next; /* in the ring; NULL: it does not run */
    struct worker *previous;
    bool is_stopping;
    bool is_kicked;        /* there may be something to do */
    bool is_busy;          /* a thread does it */
    bool is_waiting;       /* for files that are too young, */
    struct timespec until; /* until this moment */
    atomic_bool has_old;   /* filters, as far as is known; set by any thread */
    size_t awaiting;       /* threads that wait until everything is done */
};

struct filters {
    struct engine *engine; /* NULL until it is opened for the first time */
    bool is_read_only;
    const struct colander_remote_files *remote; /* NULL: the files are here */
    struct filter_names names;
    struct filter_log log;
    struct registry registry;
    struct worker worker;
    struct summaries summaries;
    struct commons *commons;

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
