/*
 * Row sorters: see row_sorter.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/row_sorter.h"

#include "columns/row_spill.h"
#include "core/quiet_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct row_sorter {
    const atomic_bool *is_cancelled;
    struct row_run *runs[2];
    unsigned filling; /* which of the two */

    bool has_thread;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;

    /* under the mutex */
    struct row_run *full; /* the thread's; NULL: it has nothing to do */
    bool is_over;         /* none comes any more */

    /* the thread's, while it has something to do */
    struct row_spill spill;
    enum colander_code code; /* how it went so far */
    struct colander_error err;
};

/* ------------------------------------------------------------ spilling --- */

/* Sorts a run, puts it on disk and empties it; after a failure nothing. */
static void
spill_run(struct row_sorter *sorter, struct row_run *run)
{
    if (sorter->code == COLANDER_OK)
        sorter->code = row_run_sort(run, &sorter->err);
    if (sorter->code == COLANDER_OK)
        sorter->code = row_spill_add(&sorter->spill, run, sorter->is_cancelled,
                                     &sorter->err);
    row_run_clear(run);
}

static void *
run(void *context)
{
    struct row_sorter *sorter = context;

    pthread_mutex_lock(&sorter->mutex);
    while (sorter->full != NULL || !sorter->is_over) {
        struct row_run *full = sorter->full;

        if (full == NULL) {
            pthread_cond_wait(&sorter->changed, &sorter->mutex);
            continue;
        }
        pthread_mutex_unlock(&sorter->mutex);
        spill_run(sorter, full);
        pthread_mutex_lock(&sorter->mutex);
        sorter->full = NULL;
        pthread_cond_signal(&sorter->changed);
    }
    pthread_mutex_unlock(&sorter->mutex);
    return NULL;
}

static void
start_thread(struct row_sorter *sorter)
{
    sorter->has_thread = quiet_thread_create(&sorter->thread, run, sorter) == 0;
}

/* Afterwards all runs but the one that is filled are on disk. */
static void
end_thread(struct row_sorter *sorter)
{
    if (!sorter->has_thread)
        return;
    pthread_mutex_lock(&sorter->mutex);
    sorter->is_over = true;
    pthread_cond_signal(&sorter->changed);
    pthread_mutex_unlock(&sorter->mutex);
    pthread_join(sorter->thread, NULL);
    sorter->has_thread = false;
}

/* Tells how it went in the thread, which has nothing to do. */
static enum colander_code
result_of(const struct row_sorter *sorter, struct colander_error *err)
{
    if (sorter->code != COLANDER_OK && err != NULL)
        *err = sorter->err;
    return sorter->code;
}

/* Hands the full run to the thread, once that is done with the one before, and
 * turns to the other. */
static enum colander_code
hand_over(struct row_sorter *sorter, struct colander_error *err)
{
    struct row_run *full = sorter->runs[sorter->filling];
    enum colander_code code;

    if (!sorter->has_thread)
        start_thread(sorter);
    if (!sorter->has_thread) {
        spill_run(sorter, full);
        return result_of(sorter, err);
    }
    pthread_mutex_lock(&sorter->mutex);
    while (sorter->full != NULL)
        pthread_cond_wait(&sorter->changed, &sorter->mutex);
    code = result_of(sorter, err);
    if (code == COLANDER_OK) {
        sorter->full = full;
        sorter->filling = 1 - sorter->filling;
        pthread_cond_signal(&sorter->changed);
    }
    pthread_mutex_unlock(&sorter->mutex);
    return code;
}

/* ----------------------------------------------------------------- life --- */

enum colander_code
row_sorter_create(const char *directory, const struct row_sorter_limits *limits,
                  const atomic_bool *is_cancelled, struct row_sorter **sorter,
                  struct colander_error *err)
{
    struct row_sorter *made = calloc(1, sizeof(*made));
    enum colander_code code = COLANDER_OK;

    *sorter = NULL;
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory to sort rows");
    made->is_cancelled = is_cancelled;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->changed, NULL);
    row_spill_init(&made->spill, directory, limits->fan_in);
    for (unsigned i = 0; i < 2 && code == COLANDER_OK; i++)
        code = row_run_create(limits->run_size, limits->run_rows,
                              &made->runs[i], err);
    if (code != COLANDER_OK) {
        row_sorter_destroy(made);
        return code;
    }
    *sorter = made;
    return COLANDER_OK;
}

void
row_sorter_destroy(struct row_sorter *sorter)
{
    if (sorter == NULL)
        return;
    end_thread(sorter);
    row_spill_release(&sorter->spill);
    row_run_destroy(sorter->runs[0]);
    row_run_destroy(sorter->runs[1]);
    pthread_mutex_destroy(&sorter->mutex);
    pthread_cond_destroy(&sorter->changed);
    free(sorter);
}

enum colander_code
row_sorter_add(struct row_sorter *sorter, struct colander_slice key,
               struct colander_slice row, struct colander_error *err)
{
    enum colander_code code;
    bool is_full;

    code = row_run_add(sorter->runs[sorter->filling], key, row, &is_full, err);
    if (code != COLANDER_OK || !is_full)
        return code;
    code = hand_over(sorter, err);
    if (code != COLANDER_OK)
        return code;
    return row_run_add(sorter->runs[sorter->filling], key, row, &is_full, err);
}

enum colander_code
row_sorter_finish(struct row_sorter *sorter, struct row_sources *sources,
                  uint64_t *rows, uint64_t *bytes, struct colander_error *err)
{
    struct row_run *last = sorter->runs[sorter->filling];
    enum colander_code code;

    end_thread(sorter);
    row_run_destroy(sorter->runs[1 - sorter->filling]);
    sorter->runs[1 - sorter->filling] = NULL;
    code = result_of(sorter, err);
    if (code == COLANDER_OK)
        code = row_run_sort(last, err);
    if (code != COLANDER_OK)
        return code;
    sources->regions = sorter->spill.regions;
    sources->region_count = sorter->spill.count;
    sources->run = last;
    *rows = row_spill_rows(&sorter->spill) + row_run_count(last);
    *bytes = row_spill_bytes(&sorter->spill) + row_run_bytes(last);
    return COLANDER_OK;
}
