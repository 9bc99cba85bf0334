/*
 * Row sorters: see row_sorter.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/row_sorter.h"

#include "columns/row_spill.h"
#include "core/quiet_thread.h"

#include <pthread.h>
#include <stdlib.h>

/* How often a run is looked at while it fills. */
#define LOOKS 16

struct row_sorter {
    struct row_outlet outlet;
    const atomic_bool *is_cancelled;
    struct row_run *runs[2];
    unsigned filling;   /* which of the two */
    uint64_t look_size; /* of it, from which on it may be wanted early */
    uint64_t look_step;

    bool has_thread;
    bool is_alone; /* there can be no thread */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;

    /* under the mutex */
    struct row_run *full; /* the thread's; NULL: it has nothing to do */
    bool is_over;         /* none comes any more */
    bool is_closed;       /* the outlet did not take one */

    /* the thread's, while it has something to do */
    struct row_spill spill;
    enum colander_code code; /* how it went so far */
    struct colander_error err;
};

/* ------------------------------------------------------------ spilling --- */

/* Sorts a run, lets it go to the outlet (true) or puts it on disk, and empties
 * it; after a failure nothing but that. */
static bool
pass_run(struct row_sorter *sorter, struct row_run *run, bool has_outlet)
{
    bool is_taken = false;

    if (sorter->code == COLANDER_OK)
        sorter->code = row_run_sort(run, &sorter->err);
    if (sorter->code == COLANDER_OK && has_outlet)
        sorter->code = sorter->outlet.take(sorter->outlet.context, run,
                                           &is_taken, &sorter->err);
    if (sorter->code == COLANDER_OK && !is_taken)
        sorter->code = row_spill_add(&sorter->spill, run, sorter->is_cancelled,
                                     &sorter->err);
    row_run_clear(run);
    return is_taken;
}

/* Lets the outlet end, well or not. */
static void
end_outlet(struct row_sorter *sorter)
{
    const bool is_well = sorter->code == COLANDER_OK;
    enum colander_code code;

    if (sorter->outlet.end == NULL)
        return;
    code = sorter->outlet.end(sorter->outlet.context, is_well,
                              is_well ? &sorter->err : NULL);
    if (is_well)
        sorter->code = code;
}

static void *
run(void *context)
{
    struct row_sorter *sorter = context;
    bool is_taken;

    pthread_mutex_lock(&sorter->mutex);
    while (sorter->full != NULL || !sorter->is_over) {
        struct row_run *full = sorter->full;

        if (full == NULL) {
            pthread_cond_wait(&sorter->changed, &sorter->mutex);
            continue;
        }
        pthread_mutex_unlock(&sorter->mutex);
        is_taken = pass_run(sorter, full, sorter->outlet.take != NULL);
        pthread_mutex_lock(&sorter->mutex);
        sorter->is_closed = sorter->is_closed || !is_taken;
        sorter->full = NULL;
        pthread_cond_signal(&sorter->changed);
    }
    pthread_mutex_unlock(&sorter->mutex);
    end_outlet(sorter);
    return NULL;
}

/* Once: the outlet sees all runs, or none. */
static void
start_thread(struct row_sorter *sorter)
{
    if (sorter->has_thread || sorter->is_alone)
        return;
    sorter->has_thread = quiet_thread_create(&sorter->thread, run, sorter) == 0;
    sorter->is_alone = !sorter->has_thread;
    if (sorter->is_alone)
        sorter->is_closed = true;
}

/* Afterwards all runs but the one that is filled are on disk, or taken. */
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

    start_thread(sorter);
    if (sorter->is_alone) {
        (void)pass_run(sorter, full, false);
        return result_of(sorter, err);
    }
    pthread_mutex_lock(&sorter->mutex);
    while (sorter->full != NULL)
        pthread_cond_wait(&sorter->changed, &sorter->mutex);
    code = result_of(sorter, err);
    if (code == COLANDER_OK) {
        sorter->full = full;
        sorter->filling = 1 - sorter->filling;
        sorter->look_size = sorter->look_step;
        pthread_cond_signal(&sorter->changed);
    }
    pthread_mutex_unlock(&sorter->mutex);
    return code;
}

/* ----------------------------------------------------------------- life --- */

enum colander_code
row_sorter_create(const char *directory, const struct row_sorter_limits *limits,
                  const struct row_outlet *outlet,
                  const atomic_bool *is_cancelled, struct row_sorter **sorter,
                  struct colander_error *err)
{
    struct row_sorter *made = calloc(1, sizeof(*made));
    enum colander_code code = COLANDER_OK;

    *sorter = NULL;
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory to sort rows");
    if (outlet != NULL)
        made->outlet = *outlet;
    made->is_cancelled = is_cancelled;
    made->look_step = limits->run_size / LOOKS;
    made->look_size = made->look_step;
    made->is_closed = outlet == NULL;
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

/* Whether the outlet may take what there is, and the thread only waits: then
 * it need not do so until the run is full. */
static bool
is_wanted_early(struct row_sorter *sorter)
{
    const struct row_run *run = sorter->runs[sorter->filling];
    bool is_wanted;

    if (row_run_bytes(run) < sorter->look_size || !row_run_is_ascending(run))
        return false;
    sorter->look_size += sorter->look_step;
    pthread_mutex_lock(&sorter->mutex);
    is_wanted = sorter->full == NULL && !sorter->is_closed;
    pthread_mutex_unlock(&sorter->mutex);
    return is_wanted;
}

enum colander_code
row_sorter_add(struct row_sorter *sorter, struct colander_slice key,
               struct colander_slice row, struct colander_error *err)
{
    enum colander_code code;
    bool is_full;

    code = row_run_add(sorter->runs[sorter->filling], key, row, &is_full, err);
    if (code != COLANDER_OK)
        return code;
    if (!is_full)
        return is_wanted_early(sorter) ? hand_over(sorter, err) : COLANDER_OK;
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
    *sources = (struct row_sources){.regions = sorter->spill.regions,
                                    .region_count = sorter->spill.count,
                                    .run = last};
    *rows = row_spill_rows(&sorter->spill) + row_run_count(last);
    *bytes = row_spill_bytes(&sorter->spill) + row_run_bytes(last);
    return COLANDER_OK;
}
