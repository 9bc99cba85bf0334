/*
 * Groups of the rows of a find. Threads read parts of a large family, from one
 * key to another, and each fills a table; then these are merged.
 *
 * The caller's thread only waits meanwhile, and asks whether the call is
 * cancelled. A small find is read by the caller's thread.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/groups/groups_inside.h"
#include "columns/store.h"
#include "core/sized.h"
#include "core/thread.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#define THREADS_MAX 64
#define ROWS_OF_THREAD 20000 /* fewer rows are not worth a thread */
#define POLL_NANOSECONDS 10000000

/* What threads share. */
struct reading {
    struct colander_family *family;
    struct colander_query query;
    struct colander_groups *groups;
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t ended;  /* a thread has */
    size_t running;
    bool is_stopped; /* after a failure, or cancelled */
};

/* A thread, and the part of the family that it reads. */
struct worker {
    struct reading *reading;
    struct colander_slice from;  /* its first key; empty: that of the find */
    struct colander_slice until; /* the first key after it; empty: none */
    struct group_table table;
    struct colander_cursor *cursor; /* NULL: none; set under the mutex */
    struct colander_explain explain;
    bool is_over; /* the last row that was read is not in the part */
    enum colander_code code;
    struct colander_error err;
    pthread_t thread;
};

/* ----------------------------------------------------------------- rows --- */

static enum colander_code
fail_cancelled(struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_CANCELLED, "the grouping was cancelled");
}

/* Adds a row; a failure names it. */
static enum colander_code
add_row(struct colander_family *family, struct group_table *table,
        const struct colander_result *row, struct colander_error *err)
{
    enum colander_code code = group_table_add(table, row, NULL, err);

    if (code == COLANDER_CORRUPT)
        error_add_row(family, row->key, err);
    return code;
}

/* Groups the rows of a cursor in the caller's thread. */
static enum colander_code
read_alone(struct colander_family *family, struct colander_groups *groups,
           struct colander_cursor *cursor, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_row = true;

    while (code == COLANDER_OK && is_row) {
        struct colander_result row;

        if (groups_is_cancelled(groups))
            return fail_cancelled(err);
        code = colander_cursor_next(cursor, &is_row, &row, err);
        if (code == COLANDER_OK && is_row)
            code = add_row(family, &groups->table, &row, err);
    }
    return code;
}

/* -------------------------------------------------------------- workers --- */

static enum colander_code
read_part(struct worker *worker, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool is_row = true;

    if (worker->from.size > 0)
        code = colander_cursor_seek(worker->cursor, worker->from, err);
    while (code == COLANDER_OK) {
        struct colander_result row;

        code = colander_cursor_next(worker->cursor, &is_row, &row, err);
        if (code != COLANDER_OK || !is_row)
            return code;
        if (worker->until.size > 0 &&
            colander_slice_compare(row.key, worker->until) >= 0) {
            worker->is_over = true;
            return COLANDER_OK;
        }
        code = add_row(worker->reading->family, &worker->table, &row, err);
    }
    return code;
}

/* Sets the cursor that a cancellation ends; the one before is closed. */
static void
set_cursor(struct worker *worker, struct colander_cursor *cursor)
{
    struct colander_cursor *before;

    pthread_mutex_lock(&worker->reading->mutex);
    before = worker->cursor;
    worker->cursor = cursor;
    if (cursor != NULL && worker->reading->is_stopped)
        colander_cursor_cancel(cursor);
    pthread_mutex_unlock(&worker->reading->mutex);
    colander_cursor_close(before);
}

static void *
worker_run(void *context)
{
    struct worker *worker = context;
    struct reading *reading = worker->reading;
    struct colander_cursor *cursor;

    worker->code = colander_family_find(reading->family, &reading->query,
                                        &cursor, &worker->err);
    if (worker->code == COLANDER_OK) {
        set_cursor(worker, cursor);
        worker->code = read_part(worker, &worker->err);
        colander_cursor_explain(cursor, &worker->explain);
        worker->explain.rows_read -= worker->is_over;
        worker->explain.rows_returned -= worker->is_over;
        set_cursor(worker, NULL);
    }
    pthread_mutex_lock(&reading->mutex);
    reading->running--;
    reading->is_stopped |= worker->code != COLANDER_OK;
    pthread_cond_signal(&reading->ended);
    pthread_mutex_unlock(&reading->mutex);
    return NULL;
}

/* Waits for all threads. After a failure or a cancellation they are ended. */
static void
wait_for(struct reading *reading, struct worker *workers, size_t count,
         bool *is_cancelled)
{
    bool is_ended = false;

    pthread_mutex_lock(&reading->mutex);
    while (reading->running > 0) {
        struct timespec until;

        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += POLL_NANOSECONDS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&reading->ended, &reading->mutex, &until);
        *is_cancelled = *is_cancelled || groups_is_cancelled(reading->groups);
        reading->is_stopped |= *is_cancelled;
        for (size_t i = 0; i < count && reading->is_stopped && !is_ended; i++) {
            if (workers[i].cursor != NULL)
                colander_cursor_cancel(workers[i].cursor);
        }
        is_ended = reading->is_stopped;
    }
    pthread_mutex_unlock(&reading->mutex);
}

/* Starts a thread for each worker; without one, the caller's thread works. */
static void
run_workers(struct reading *reading, struct worker *workers, size_t count,
            bool *is_cancelled)
{
    bool is_started[THREADS_MAX] = {false};

    reading->running = count;
    for (size_t i = 0; i < count; i++) {
        workers[i].reading = reading;
        is_started[i] =
            thread_create(&workers[i].thread, worker_run, &workers[i]) == 0;
        if (!is_started[i])
            (void)worker_run(&workers[i]);
    }
    wait_for(reading, workers, count, is_cancelled);
    for (size_t i = 0; i < count; i++) {
        if (is_started[i])
            (void)pthread_join(workers[i].thread, NULL);
    }
}

/* The first failure that is not the end of the others, if there is one. */
static enum colander_code
first_failure(const struct worker *workers, size_t count, bool is_cancelled,
              struct colander_error *err)
{
    for (size_t i = 0; i < count && !is_cancelled; i++) {
        if (workers[i].code == COLANDER_OK ||
            workers[i].code == COLANDER_CANCELLED)
            continue;
        if (err != NULL)
            *err = workers[i].err;
        return workers[i].code;
    }
    return is_cancelled ? fail_cancelled(err) : COLANDER_OK;
}

/* ----------------------------------------------------------- explaining --- */

/* Adds what another thread has read. */
static void
add_counts(struct colander_explain *all, const struct colander_explain *one)
{
    all->rows_read += one->rows_read;
    all->rows_returned += one->rows_returned;
    all->bytes_read += one->bytes_read;
    if (one->read_time > all->read_time)
        all->read_time = one->read_time;
}

/* ---------------------------------------------------------------- parts --- */

static size_t
count_cores(void)
{
    cpu_set_t cores;

    if (sched_getaffinity(0, sizeof(cores), &cores) != 0)
        return 1;
    return (size_t)CPU_COUNT(&cores);
}

/* How many threads read the rows: 0 is the caller's. */
static size_t
count_threads(struct colander_family *family,
              const struct colander_query *query,
              const struct colander_explain *explain)
{
    struct colander_family_sizes sizes = {.key_count = 0};
    size_t count = query->thread_count;

    if (query->limit != UINT64_MAX || query->keys.exact.size > 0 ||
        explain->plan == COLANDER_PLAN_NOTHING)
        return 0;
    if (explain->plan == COLANDER_PLAN_CANDIDATES) /* has threads of its own */
        return explain->rows_expected < ROWS_OF_THREAD ? 0 : 1;
    if (colander_family_sizes(family, &sizes, NULL) != COLANDER_OK)
        return 1;
    if (count == 0)
        count = count_cores();
    if (count > sizes.key_count / ROWS_OF_THREAD)
        count = sizes.key_count / ROWS_OF_THREAD;
    return count < THREADS_MAX ? count : THREADS_MAX;
}

/* Splits the family among the workers. Returns how many of them have a part. */
static enum colander_code
split(struct colander_family *family, struct worker *workers, size_t count,
      struct colander_buffer *keys, size_t *part_count,
      struct colander_error *err)
{
    enum colander_code code =
        colander_family_split_keys(family, keys, count - 1, part_count, err);

    if (code != COLANDER_OK)
        return code;
    for (size_t i = 0; i < *part_count; i++) {
        workers[i].until = colander_buffer_slice(&keys[i]);
        workers[i + 1].from = colander_buffer_slice(&keys[i]);
    }
    ++*part_count;
    return COLANDER_OK;
}

/* Merges the tables of all workers. */
static enum colander_code
merge(struct colander_groups *groups, struct worker *workers, size_t count,
      struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        code = group_table_merge(&groups->table, &workers[i].table, err);
        group_table_release(&workers[i].table);
        if (code == COLANDER_OK && groups_is_cancelled(groups))
            code = fail_cancelled(err);
    }
    return code;
}

/* Groups all rows with `count` threads. */
static enum colander_code
read_together(struct reading *reading, size_t count,
              struct colander_explain *explain, struct colander_error *err)
{
    struct colander_buffer keys[THREADS_MAX];
    struct worker *workers = calloc(count, sizeof(*workers));
    bool is_cancelled = false;
    size_t part_count = 1;
    enum colander_code code = COLANDER_OK;

    memset(keys, 0, sizeof(keys));
    if (workers == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to group rows");
    if (count > 1)
        code = split(reading->family, workers, count, keys, &part_count, err);
    for (size_t i = 0; i < part_count && code == COLANDER_OK; i++)
        code = group_table_init(&workers[i].table, &reading->groups->plan,
                                &reading->groups->budget, err);
    if (code == COLANDER_OK) {
        run_workers(reading, workers, part_count, &is_cancelled);
        code = first_failure(workers, part_count, is_cancelled, err);
    }
    *explain = workers[0].explain;
    for (size_t i = 1; i < part_count; i++)
        add_counts(explain, &workers[i].explain);
    if (code == COLANDER_OK)
        code = merge(reading->groups, workers, part_count, err);
    for (size_t i = 0; i < count; i++) {
        group_table_release(&workers[i].table);
        colander_buffer_release(&keys[i]);
    }
    free(workers);
    return code;
}

/* Groups the rows of one snapshot, which is taken if the query has none. */
static enum colander_code
read_snapshot(struct reading *reading, size_t count,
              struct colander_explain *explain, struct colander_error *err)
{
    struct colander_snapshot *taken = NULL;
    enum colander_code code = COLANDER_OK;

    if (reading->query.snapshot == NULL)
        code = colander_store_snapshot(reading->family->store, &taken, err);
    if (code != COLANDER_OK)
        return code;
    if (taken != NULL)
        reading->query.snapshot = taken;
    if (count > 1)
        reading->query.thread_count = 1;
    reading->query.is_reverse = false;
    /* without attributes neither can fail */
    (void)pthread_mutex_init(&reading->mutex, NULL);
    (void)pthread_cond_init(&reading->ended, NULL);
    code = read_together(reading, count, explain, err);
    (void)pthread_mutex_destroy(&reading->mutex);
    (void)pthread_cond_destroy(&reading->ended);
    colander_snapshot_release(taken);
    return code;
}

/* Groups the rows of a find of the family. */
static enum colander_code
group_here(struct reading *reading, struct colander_explain *read,
           struct colander_error *err)
{
    struct colander_family *family = reading->family;
    struct colander_groups *groups = reading->groups;
    struct colander_cursor *cursor = NULL;
    size_t thread_count = 0;
    bool is_done = false;
    enum colander_code code =
        group_ends(family, &reading->query, groups, read, &is_done, err);

    if (code == COLANDER_OK && !is_done)
        code = colander_family_find(family, &reading->query, &cursor, err);
    if (code == COLANDER_OK && !is_done) {
        colander_cursor_explain(cursor, read);
        thread_count = count_threads(family, &reading->query, read);
    }
    if (code == COLANDER_OK && !is_done && thread_count == 0) {
        code = read_alone(family, groups, cursor, err);
        colander_cursor_explain(cursor, read);
    }
    colander_cursor_close(cursor);
    if (code == COLANDER_OK && thread_count > 0)
        code = read_snapshot(reading, thread_count, read, err);
    return code;
}

/* ----------------------------------------------------------------- runs --- */

struct colander_group_run {
    struct reading reading;
    void *elsewhere; /* what the source of the store does; NULL: nothing */
};

enum colander_code
colander_group_run_begin(struct colander_family *family,
                         const struct colander_query *query,
                         struct colander_groups *groups,
                         struct colander_group_run **run,
                         struct colander_error *err)
{
    const struct colander_source *source = &family->store->source;
    struct colander_group_run *created = calloc(1, sizeof(*created));
    struct colander_query *asked;
    enum colander_code code = COLANDER_OK;

    *run = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to group rows");
    created->reading.family = family;
    created->reading.groups = groups;
    asked = &created->reading.query;
    colander_query_init(asked);
    if (groups->is_finished)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "no rows can be added to groups that were "
                             "returned");
    if (code == COLANDER_OK && query != NULL)
        code = sized_accept(asked, sizeof(*asked), query,
                            "members of the query", err);
    asked->paths = NULL;
    asked->keys_only = false;
    asked->reports_columns = false;
    if (code == COLANDER_OK && source->group != NULL &&
        asked->limit == UINT64_MAX && colander_groups_may_move(groups))
        code = source->group(source->context, family->name, asked, groups,
                             &created->elsewhere, err);
    if (code == COLANDER_OK)
        *run = created;
    else
        free(created);
    return code;
}

enum colander_code
colander_group_run_finish(struct colander_group_run *run,
                          struct colander_explain *explain,
                          struct colander_error *err)
{
    const struct colander_store *store = run->reading.family->store;

    memset(explain, 0, sizeof(*explain));
    return run->elsewhere == NULL
               ? group_here(&run->reading, explain, err)
               : store->source.group_finish(run->elsewhere, explain, err);
}

void
colander_group_run_close(struct colander_group_run *run)
{
    if (run != NULL && run->elsewhere != NULL)
        run->reading.family->store->source.group_close(run->elsewhere);
    free(run);
}

enum colander_code
colander_family_group_sized(struct colander_family *family,
                            const struct colander_query *query,
                            struct colander_groups *groups,
                            struct colander_explain *explain,
                            size_t explain_size, struct colander_error *err)
{
    struct colander_group_run *run;
    struct colander_explain read;
    enum colander_code code =
        colander_group_run_begin(family, query, groups, &run, err);

    memset(&read, 0, sizeof(read));
    if (code == COLANDER_OK)
        code = colander_group_run_finish(run, &read, err);
    colander_group_run_close(run);
    if (explain != NULL)
        sized_return(explain, explain_size, &read, sizeof(read));
    return code;
}
