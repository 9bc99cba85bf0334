/* SPDX-License-Identifier: MIT */
#include "filters/filter_log.h"

#include <stdio.h>

void
filter_log_count(struct filter_log *log, enum filter_event event)
{
    pthread_mutex_lock(&log->mutex);
    log->counts[event]++;
    pthread_mutex_unlock(&log->mutex);
}

void
filter_log_error(struct filter_log *log, const char *what, uint64_t number,
                 const struct colander_error *err)
{
    char text[sizeof(log->last_error)];

    (void)snprintf(text, sizeof(text), "%s %llu: %s", what,
                   (unsigned long long)number, err->message);
    for (char *at = text; *at != '\0'; at++) {
        if (*at == '\n')
            *at = ' ';
    }
    pthread_mutex_lock(&log->mutex);
    log->counts[FILTER_ERROR]++;
    memcpy(log->last_error, text, sizeof(text));
    pthread_mutex_unlock(&log->mutex);
    if (log->report != NULL)
        log->report(log->report_context, COLANDER_LOG_WARNING, text);
}
