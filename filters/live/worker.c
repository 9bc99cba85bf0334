/*
 * Worker: a thread that opens filters, loads them into the hierarchy, and
 * rebuilds those that are missing or damaged, and then those of older versions.
 *
 * Finds need nothing that it does; without it they cost more. So it may be
 * stopped after any file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/clock.h"
#include "core/thread.h"
#include "filters/live.h"

#include <errno.h>

/* A filter that was rebuilt this often is left alone: the disk or the code that
 * builds it is at fault. A failure weighs more. */
#define REBUILDS_MAX 4
#define GIVEN_UP 8
#define LOADING_AGE 2 /* seconds */

bool
worker_is_stopping(struct filters *filters)
{
    bool is_stopping;

    pthread_mutex_lock(&filters->worker.mutex);
    is_stopping = filters->worker.is_stopping;
    pthread_mutex_unlock(&filters->worker.mutex);
    return is_stopping;
}

void
filters_doubt(struct filters *filters, struct sst_file *file,
              const struct colander_error *err)
{
    bool is_changed;

    /* Not while the filter is being replaced: what was read may already be of
     * the new one. */
    pthread_mutex_lock(&filters->names.mutex);
    is_changed = registry_change(&filters->registry, file, FILE_UNSURE, NULL,
                                 NULL) == COLANDER_OK;
    pthread_mutex_unlock(&filters->names.mutex);
    if (!is_changed)
        return; /* another thread was first, or the file is gone */
    filter_log_error(&filters->log, "damaged filter of SST", file->number, err);
    filter_log_count(&filters->log, FILTER_DAMAGED);
    worker_kick(filters);
}

static void
count_failure(struct filters *filters, const char *what, struct sst_file *file,
              const struct colander_error *err)
{
    if (err->code == COLANDER_CANCELLED || err->code == COLANDER_NOT_FOUND)
        return; /* the SST or the store is about to disappear */
    filter_log_error(&filters->log, what, file->number, err);
    atomic_fetch_add(&file->tries, GIVEN_UP);
}

enum colander_code
worker_rebuild_latest(struct filters *filters, uint64_t number,
                      struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_done = false;

    /* Repeats while the file changes its state without a new filter. */
    while (code == COLANDER_OK && !is_done) {
        struct sst_file *file = registry_find(&filters->registry, number);

        if (file == NULL)
            return COLANDER_OK;
        atomic_store(&file->tries, 0); /* a caller has asked for this filter */
        code = filters_rebuild(filters, file, &is_done, err);
        sst_file_unref(&filters->registry, file);
    }
    if (code == COLANDER_NOT_FOUND)
        code = COLANDER_OK; /* replaced by files with new filters */
    worker_kick(filters);
    return code;
}

/* --------------------------------------------------------------- thread --- */

/* Returns false if the filter is left as it is. */
static bool
try_rebuild(struct filters *filters, struct sst_file *file)
{
    struct settings *settings =
        registry_settings(&filters->registry, file->family);
    bool is_on = settings->options.is_on;
    struct colander_error err;
    bool is_done;

    settings_unref(settings);
    if (!is_on || filters->is_read_only ||
        atomic_load(&file->tries) >= REBUILDS_MAX)
        return false;
    atomic_fetch_add(&file->tries, 1);
    if (filters_rebuild(filters, file, &is_done, &err) != COLANDER_OK)
        count_failure(filters, "cannot rebuild the filter of SST", file, &err);
    if (is_done)
        filter_log_count(&filters->log, FILTER_REBUILT);
    return true;
}

static void
advance(struct filters *filters, struct sst_file *file)
{
    struct colander_error err;
    enum colander_code code = COLANDER_OK;

    if (file->state == FILE_PENDING)
        code = filters_open_pending(filters, file, &err);
    else if (file->state == FILE_OPEN)
        code = filters_load(filters, file, &err);
    else if (file->state == FILE_UNSURE)
        (void)try_rebuild(filters, file);
    if (code == COLANDER_CORRUPT || code == COLANDER_NOT_FOUND)
        filters_doubt(filters, file, &err);
    else if (code != COLANDER_OK)
        count_failure(filters, "cannot load the filter of SST", file, &err);
}

/* Rebuilds one filter of an older version, which answers fewer questions.
 * Returns false if there is none. */
static bool
renew_one(struct filters *filters)
{
    struct sst_file *file;
    uint64_t number = 0;
    bool is_found = false;

    while (!is_found && (file = registry_next(&filters->registry, number,
                                              FILE_LOADED)) != NULL) {
        number = file->number;
        is_found = file->filter->version < FILTER_FILE_VERSION &&
                   try_rebuild(filters, file);
        /* the old one is still good */
        if (is_found && atomic_load(&file->tries) >= GIVEN_UP)
            atomic_store(&file->tries, REBUILDS_MAX);
        sst_file_unref(&filters->registry, file);
    }
    return is_found;
}

/* Returns whether the file is likely to be replaced soon, as most flushed files
 * are under heavy writing. Loading it might be wasted; its locator is used
 * anyway. */
static bool
is_young(const struct sst_file *file)
{
    return file->state != FILE_UNSURE && file->born != INT64_MIN &&
           registry_clock() - file->born < LOADING_AGE;
}

/* Advances every file in `state` by one step, young ones only if `hurries`.
 * Returns whether files were skipped. */
static bool
advance_all(struct filters *filters, enum file_state state, bool hurries)
{
    struct sst_file *file;
    uint64_t number = 0;
    bool is_left = false;

    while (!worker_is_stopping(filters) &&
           (file = registry_next(&filters->registry, number, state)) != NULL) {
        number = file->number;
        if (!hurries && is_young(file))
            is_left = true;
        else if (atomic_load(&file->tries) < GIVEN_UP)
            advance(filters, file);
        sst_file_unref(&filters->registry, file);
    }
    return is_left;
}

static void
wait_for_work(struct worker *worker)
{
    struct timespec until;

    worker->is_idle = true;
    pthread_cond_broadcast(&worker->changed);
    if (!worker->is_waiting) {
        pthread_cond_wait(&worker->changed, &worker->mutex);
        return;
    }
    until = clock_after(CLOCK_REALTIME, LOADING_AGE * 1000);
    if (pthread_cond_timedwait(&worker->changed, &worker->mutex, &until) ==
        ETIMEDOUT)
        worker->is_kicked = true;
}

static void *
run(void *context)
{
    struct filters *filters = context;
    struct worker *worker = &filters->worker;
    bool has_old = !filters->is_read_only; /* filters, as far as is known */
    bool hurries;
    bool is_left;

    pthread_mutex_lock(&worker->mutex);
    while (!worker->is_stopping) {
        if (!worker->is_kicked) {
            wait_for_work(worker);
            continue;
        }
        worker->is_kicked = false;
        worker->is_idle = false;
        hurries = worker->awaiting > 0;
        pthread_mutex_unlock(&worker->mutex);
        do {
            (void)advance_all(filters, FILE_UNSURE, hurries);
            is_left = advance_all(filters, FILE_PENDING, hurries);
            is_left = advance_all(filters, FILE_OPEN, hurries) || is_left;
        } while (!is_left && !worker_is_stopping(filters) &&
                 registry_unfold(&filters->registry));
        has_old = has_old && (is_left || renew_one(filters));
        filters_lend(filters);
        pthread_mutex_lock(&worker->mutex);
        worker->is_waiting = is_left;
        worker->is_kicked = worker->is_kicked || (has_old && !is_left);
    }
    worker->is_idle = true;
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->mutex);
    return NULL;
}

enum colander_code
worker_start(struct filters *filters, struct colander_error *err)
{
    struct worker *worker = &filters->worker;
    int status;

    pthread_mutex_lock(&worker->mutex);
    worker->is_stopping = false;
    worker->is_kicked = true;
    worker->is_idle = false;
    worker->is_running = true;
    pthread_mutex_unlock(&worker->mutex);
    status = thread_create(&worker->thread, run, filters);
    if (status == 0)
        return COLANDER_OK;
    pthread_mutex_lock(&worker->mutex);
    worker->is_running = false;
    pthread_mutex_unlock(&worker->mutex);
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a thread: %s",
                         strerror(status));
}

void
worker_stop(struct filters *filters)
{
    struct worker *worker = &filters->worker;
    bool is_running;

    pthread_mutex_lock(&worker->mutex);
    is_running = worker->is_running;
    worker->is_stopping = true;
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->mutex);
    if (!is_running)
        return;
    pthread_join(worker->thread, NULL);
    pthread_mutex_lock(&worker->mutex);
    worker->is_running = false;
    pthread_mutex_unlock(&worker->mutex);
}

void
worker_kick(struct filters *filters)
{
    struct worker *worker = &filters->worker;

    pthread_mutex_lock(&worker->mutex);
    worker->is_kicked = true;
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->mutex);
}

bool
worker_await(struct filters *filters)
{
    struct worker *worker = &filters->worker;
    bool is_done;

    pthread_mutex_lock(&worker->mutex);
    worker->awaiting++;
    worker->is_kicked = true;
    pthread_cond_broadcast(&worker->changed);
    while (worker->is_running && !worker->is_stopping &&
           (worker->is_kicked || !worker->is_idle))
        pthread_cond_wait(&worker->changed, &worker->mutex);
    worker->awaiting--;
    is_done = worker->is_running && !worker->is_stopping;
    pthread_mutex_unlock(&worker->mutex);
    return is_done;
}
