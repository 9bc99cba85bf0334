/* SPDX-License-Identifier: MIT */
#include "columns/bulk/row_sorter.h"

#include "columns/bulk/row_spill.h"
#include "core/thread.h"

#include <pthread.h>
#include <stdlib.h>

/* How often a run may be handed over before it is full. */
#define LOOKS 16

struct row_sorter {
    struct bulk_head *head; /* NULL: none */
    const atomic_bool *is_cancelled;
    struct row_run *runs[2];
    unsigned filling;   /* which of the two */
    uint64_t look_size; /* the size at which it may be handed over */
    uint64_t look_step;

    bool has_thread;
    bool is_alone; /* there can be no thread */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;

    /* under the mutex */
    struct row_run *full; /* the thread's; NULL: it is idle */
    bool is_over;         /* no run follows */
    bool is_closed;       /* the head did not take one */

    /* the thread's, unless it is idle */
    struct row_spill spill;
    enum colander_code code; /* of the first failure */
    struct colander_error err;
};

/* ------------------------------------------------------------ spilling --- */

/* Sorts a run, passes it to the head (then returns true) or to the disk, and
 * clears it. After a failure it only clears it. */
static bool
pass_run(struct row_sorter *sorter, struct row_run *run, struct bulk_head *head)
{
    bool is_taken = false;

    if (sorter->code == COLANDER_OK)
        sorter->code = row_run_sort(run, &sorter->err);
    if (sorter->code == COLANDER_OK && head != NULL)
        sorter->code = bulk_head_take(head, run, &is_taken, &sorter->err);
    if (sorter->code == COLANDER_OK && !is_taken)
        sorter->code = row_spill_add(&sorter->spill, run, sorter->is_cancelled,
                                     &sorter->err);
    row_run_clear(run);
    return is_taken;
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
        is_taken = pass_run(sorter, full, sorter->head);
        pthread_mutex_lock(&sorter->mutex);
        sorter->is_closed = sorter->is_closed || !is_taken;
        sorter->full = NULL;
        pthread_cond_signal(&sorter->changed);
    }
    pthread_mutex_unlock(&sorter->mutex);
    return NULL;
}

/* Starts the thread once, so that the head gets all runs or none. */
static void
start_thread(struct row_sorter *sorter)
{
    if (sorter->has_thread || sorter->is_alone)
        return;
    sorter->has_thread = thread_create(&sorter->thread, run, sorter) == 0;
    sorter->is_alone = !sorter->has_thread;
    if (sorter->is_alone)
        sorter->is_closed = true;
}

/* Afterwards all runs except the one that is filled are on disk or taken. */
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

/* Returns the first failure of the thread. Requires that it is idle. */
static enum colander_code
result_of(const struct row_sorter *sorter, struct colander_error *err)
{
    if (sorter->code != COLANDER_OK && err != NULL)
        *err = sorter->err;
    return sorter->code;
}

/* Waits until the thread is idle, hands the full run to it, and continues with
 * the other run. */
static enum colander_code
hand_over(struct row_sorter *sorter, struct colander_error *err)
{
    struct row_run *full = sorter->runs[sorter->filling];
    enum colander_code code;

    start_thread(sorter);
    if (sorter->is_alone) {
        (void)pass_run(sorter, full, NULL);
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
                  struct bulk_head *head, const atomic_bool *is_cancelled,
                  struct row_sorter **sorter, struct colander_error *err)
{
    struct row_sorter *created = calloc(1, sizeof(*created));
    enum colander_code code = COLANDER_OK;

    *sorter = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory to sort rows");
    created->head = head;
    created->is_cancelled = is_cancelled;
    created->look_step = limits->run_size / LOOKS;
    created->look_size = created->look_step;
    created->is_closed = head == NULL;
    pthread_mutex_init(&created->mutex, NULL);
    pthread_cond_init(&created->changed, NULL);
    row_spill_init(&created->spill, directory, limits->fan_in);
    for (unsigned i = 0; i < 2 && code == COLANDER_OK; i++)
        code = row_run_create(limits->run_size, limits->run_rows,
                              &created->runs[i], err);
    if (code != COLANDER_OK) {
        row_sorter_destroy(created);
        return code;
    }
    *sorter = created;
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

/* Returns whether the thread is idle and the head may take the rows of the
 * run: then the thread need not wait until it is full. */
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

/* Has the head finished, after it has taken the last run if that continues its
 * file: one file more would be another one to ask. */
static enum colander_code
finish_head(struct row_sorter *sorter, struct row_run *last,
            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_taken = false;

    if (sorter->head == NULL)
        return COLANDER_OK;
    if (sorter->head->sst != NULL && row_run_count(last) > 0)
        code = bulk_head_take(sorter->head, last, &is_taken, err);
    if (is_taken)
        row_run_clear(last);
    return code == COLANDER_OK ? bulk_head_finish(sorter->head, err) : code;
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
    if (code == COLANDER_OK)
        code = finish_head(sorter, last, err);
    if (code != COLANDER_OK)
        return code;
    *sources = (struct row_sources){.regions = sorter->spill.regions,
                                    .region_count = sorter->spill.count,
                                    .run = last};
    *bytes = row_spill_bytes(&sorter->spill, 0, rows) + row_run_bytes(last);
    *rows += row_run_count(last);
    return COLANDER_OK;
}
