/*
 * Filter log: counts what happened to filters since the store was opened, keeps
 * the text of the last error, and passes errors to the program's log.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_FILTER_LOG_H
#define COLANDER_FILTERS_FILTER_LOG_H

#include "core/core.h"

#include <pthread.h>

enum filter_event {
    FILTER_BUILT,
    FILTER_REBUILT,
    FILTER_DAMAGED,
    FILTER_ERROR
};

#define FILTER_EVENTS (FILTER_ERROR + 1)

struct filter_log {
    pthread_mutex_t mutex;
    uint64_t counts[FILTER_EVENTS];
    char last_error[700];
    colander_log *report; /* of the program; NULL: none */
    void *report_context;
};

/* Counts an event. */
void filter_log_count(struct filter_log *log, enum filter_event event);

/* Counts an error, keeps "`what` `number`: ..." as the last one, and reports it
 * to the program. */
void filter_log_error(struct filter_log *log, const char *what, uint64_t number,
                      const struct colander_error *err);

#endif
