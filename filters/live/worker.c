/*
 * Worker: opens filters, loads them into the hierarchy, and rebuilds those that
 * are missing or damaged, and then those of older versions.
 *
 * The commons have the threads: one for a store of its own, a few for all
 * stores of a budget. A thread takes the work of one store at a time, in turn.
 *
 * Finds need nothing that it does; without it they cost more. So it may be
 * stopped after any file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/clock.h"
#include "core/thread.h"
#include "filters/live.h"

#include <stdlib.h>

/* A filter that was rebuilt this often is left alone: the disk or the code that
 * builds it is at fault. A failure weighs more. */
#define REBUILDS_MAX 4
#define GIVEN_UP 8
#define LOADING_AGE 2 /* seconds */
#define WORDS_AT_CLOSE_US 2000000

bool
worker_is_stopping(struct filters *filters)
{
    bool is_stopping;

    pthread_mutex_lock(&filters->commons->mutex);
    is_stopping = filters->worker.is_stopping;
    pthread_mutex_unlock(&filters->commons->mutex);
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

/* Returns whether a filter built now would answer more questions. */
static bool
is_old(const struct filter_file *filter)
{
    return filter->version < FILTER_FILE_VERSION ||
           filter->head.words_version == FILTER_WORDS_LATER;
}

/* Rebuilds one old filter. Unless it hurries, leaves those of families that are
 * filled fast: compactions replace their files. Returns false if none is
 * left. */
static bool
renew_one(struct filters *filters, bool hurries, bool *is_left)
{
    struct sst_file *file;
    uint64_t number = 0;
    bool is_found = false;

    while (!is_found && (file = registry_next(&filters->registry, number,
                                              FILE_LOADED)) != NULL) {
        number = file->number;
        if (is_old(file->filter) && !hurries &&
            clock_us() < atomic_load(&file->family->full_until))
            *is_left = true;
        else
            is_found = is_old(file->filter) && try_rebuild(filters, file);
        /* the old one is still good */
        if (is_found && atomic_load(&file->tries) >= GIVEN_UP)
            atomic_store(&file->tries, REBUILDS_MAX);
        sst_file_unref(&filters->registry, file);
    }
    return is_found || *is_left;
}

void
worker_add_words(struct filters *filters)
{
    const uint64_t end = clock_us() + WORDS_AT_CLOSE_US;
    enum file_state state = FILE_PENDING;

    /* Only filters of this run are opened for it. */
    for (uint64_t number = 0; state <= FILE_LOADED && clock_us() < end;) {
        struct sst_file *file =
            registry_next(&filters->registry, number, state);

        if (file == NULL) {
            number = 0;
            state++;
            continue;
        }
        number = file->number;
        if (file->filter == NULL && file->born != INT64_MIN)
            advance(filters, file);
        else if (file->filter != NULL &&
                 file->filter->head.words_version == FILTER_WORDS_LATER)
            (void)try_rebuild(filters, file);
        sst_file_unref(&filters->registry, file);
    }
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

/* Does what there is to do. Returns whether files are left for later. */
static bool
do_round(struct filters *filters, bool hurries)
{
    bool is_left;

    registry_shrink(&filters->registry);
    do {
        (void)advance_all(filters, FILE_UNSURE, hurries);
        is_left = advance_all(filters, FILE_PENDING, hurries);
        is_left = advance_all(filters, FILE_OPEN, hurries) || is_left;
    } while (!is_left && !worker_is_stopping(filters) &&
             registry_unfold(&filters->registry));
    if (atomic_exchange(&filters->worker.has_old, false) &&
        (is_left || renew_one(filters, hurries, &is_left)))
        atomic_store(&filters->worker.has_old, true);
    filters_lend(filters);
    return is_left;
}

/* Works for one store. Requires the mutex, and releases it meanwhile. */
static void
work(struct commons *commons, struct worker *worker)
{
    const bool hurries = worker->awaiting > 0;
    bool is_left;

    worker->is_kicked = false;
    worker->is_waiting = false;
    worker->is_busy = true;
    pthread_mutex_unlock(&commons->mutex);
    is_left = do_round(worker->filters, hurries);
    pthread_mutex_lock(&commons->mutex);
    worker->is_busy = false;
    worker->is_kicked =
        worker->is_kicked || (atomic_load(&worker->has_old) && !is_left);
    worker->is_waiting = is_left;
    worker->until = clock_after(CLOCK_REALTIME, LOADING_AGE * 1000);
    pthread_cond_broadcast(&commons->changed);
}

static bool
is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec
                                  : a->tv_nsec < b->tv_nsec;
}

/* Returns the next store that has work, or NULL; then *until is when one will
 * have some, or zero. */
static struct worker *
next_worker(struct commons *commons, struct timespec *until)
{
    const struct timespec now = clock_after(CLOCK_REALTIME, 0);
    struct worker *first = commons->workers;
    struct worker *worker = first;

    memset(until, 0, sizeof(*until));
    for (bool is_first = true; worker != NULL && (is_first || worker != first);
         worker = worker->next, is_first = false) {
        if (worker->is_busy || worker->is_stopping)
            continue;
        if (worker->is_kicked ||
            (worker->is_waiting && !is_before(&now, &worker->until))) {
            commons->workers = worker->next;
            return worker;
        }
        if (worker->is_waiting &&
            (until->tv_sec == 0 || is_before(&worker->until, until)))
            *until = worker->until;
    }
    return NULL;
}

static void *
run(void *context)
{
    struct commons *commons = context;

    pthread_mutex_lock(&commons->mutex);
    while (!commons->is_ending) {
        struct timespec until;
        struct worker *worker = next_worker(commons, &until);

        if (worker != NULL)
            work(commons, worker);
        else if (until.tv_sec == 0)
            pthread_cond_wait(&commons->changed, &commons->mutex);
        else
            (void)pthread_cond_timedwait(&commons->changed, &commons->mutex,
                                         &until);
    }
    pthread_mutex_unlock(&commons->mutex);
    return NULL;
}

/* ----------------------------------------------------------------- ring --- */

static void
join_ring(struct commons *commons, struct worker *worker)
{
    struct worker *first = commons->workers;

    worker->next = first == NULL ? worker : first;
    worker->previous = first == NULL ? worker : first->previous;
    worker->previous->next = worker;
    worker->next->previous = worker;
    if (first == NULL)
        commons->workers = worker;
}

static void
leave_ring(struct commons *commons, struct worker *worker)
{
    if (commons->workers == worker)
        commons->workers = worker->next == worker ? NULL : worker->next;
    worker->previous->next = worker->next;
    worker->next->previous = worker->previous;
    worker->next = NULL;
    worker->previous = NULL;
}

enum colander_code
worker_start(struct filters *filters, struct colander_error *err)
{
    struct commons *commons = filters->commons;
    struct worker *worker = &filters->worker;
    int status = 0;

    pthread_mutex_lock(&commons->mutex);
    if (commons->thread_count < commons->thread_max) {
        status = thread_create(&commons->threads[commons->thread_count], run,
                               commons);
        commons->thread_count += status == 0;
    }
    if (commons->thread_count > 0) {
        worker->filters = filters;
        worker->is_stopping = false;
        worker->is_kicked = true;
        worker->is_waiting = false;
        atomic_store(&worker->has_old, !filters->is_read_only);
        join_ring(commons, worker);
        pthread_cond_broadcast(&commons->changed);
        status = 0;
    }
    pthread_mutex_unlock(&commons->mutex);
    if (status == 0)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a thread: %s",
                         strerror(status));
}

void
worker_stop(struct filters *filters)
{
    struct commons *commons = filters->commons;
    struct worker *worker = &filters->worker;

    if (commons == NULL) /* it could not be opened */
        return;
    pthread_mutex_lock(&commons->mutex);
    worker->is_stopping = true;
    pthread_cond_broadcast(&commons->changed);
    while (worker->is_busy)
        pthread_cond_wait(&commons->changed, &commons->mutex);
    if (worker->next != NULL)
        leave_ring(commons, worker);
    pthread_mutex_unlock(&commons->mutex);
}

void
worker_end_threads(struct commons *commons)
{
    pthread_mutex_lock(&commons->mutex);
    commons->is_ending = true;
    pthread_cond_broadcast(&commons->changed);
    pthread_mutex_unlock(&commons->mutex);
    for (unsigned i = 0; i < commons->thread_count; i++)
        pthread_join(commons->threads[i], NULL);
    free(commons->threads);
}

void
worker_kick(struct filters *filters)
{
    struct commons *commons = filters->commons;

    pthread_mutex_lock(&commons->mutex);
    filters->worker.is_kicked = true;
    pthread_cond_broadcast(&commons->changed);
    pthread_mutex_unlock(&commons->mutex);
}

void
worker_kick_all(struct commons *commons)
{
    struct worker *worker;

    pthread_mutex_lock(&commons->mutex);
    worker = commons->workers;
    do {
        if (worker == NULL)
            break;
        worker->is_kicked = true;
        worker = worker->next;
    } while (worker != commons->workers);
    pthread_cond_broadcast(&commons->changed);
    pthread_mutex_unlock(&commons->mutex);
}

bool
worker_await(struct filters *filters)
{
    struct commons *commons = filters->commons;
    struct worker *worker = &filters->worker;
    bool is_done;

    pthread_mutex_lock(&commons->mutex);
    worker->awaiting++;
    worker->is_kicked = true;
    pthread_cond_broadcast(&commons->changed);
    while (worker->next != NULL && !worker->is_stopping &&
           (worker->is_kicked || worker->is_busy))
        pthread_cond_wait(&commons->changed, &commons->mutex);
    worker->awaiting--;
    is_done = worker->next != NULL && !worker->is_stopping;
    pthread_mutex_unlock(&commons->mutex);
    return is_done;
}
