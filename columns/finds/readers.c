/*
 * Read-ahead: a lot of groups, which threads take one after the other.
 *
 * One mutex protects all that threads share. It is held to take a group and to
 * return it, never while rows are read. A group belongs to the thread that took
 * it, and after it is read to the cursor's thread.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/finds/readers.h"
#include "columns/finds/predicate.h"
#include "core/thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

/* In addition to the cursor's thread. More would have no group to read. */
#define THREADS_MAX (READERS_GROUPS - 1)

struct readers {
    const struct candidate_source *source;
    const struct candidate *found; /* of the lot */
    size_t group_count;            /* of the lot */
    size_t returned_count;         /* groups; of the cursor's thread only */

    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t lot;    /* there are groups to be taken, or it is over */
    pthread_cond_t read;   /* a group was read */
    size_t taken_count;    /* groups, from the first on */
    size_t busy_count;     /* groups that are being read */
    size_t bytes;          /* of the rows of the lot that were read */
    bool is_stopped;       /* no group may be taken */
    bool is_over;
    bool is_read[READERS_GROUPS];

    pthread_t threads[THREADS_MAX];
    size_t thread_count; /* made */
    size_t thread_max;

    struct row_group groups[READERS_GROUPS];
};

/* -------------------------------------------------------------- groups --- */

/* Returns whether another group may be taken. Requires the mutex. */
static bool
can_take(const struct readers *readers)
{
    return !readers->is_stopped &&
           readers->taken_count < readers->group_count &&
           readers->bytes < READERS_BYTES &&
           !atomic_load_explicit(readers->source->request->is_cancelled,
                                 memory_order_relaxed);
}

static enum row_answer
answer_of(const struct candidate_request *request, struct colander_slice row)
{
    bool is_match;
    enum colander_code code = predicate_evaluate(
        request->where, row, request->is_cancelled, &is_match, NULL, NULL);

    if (code != COLANDER_OK)
        return ROW_UNKNOWN;
    return is_match ? ROW_TRUE : ROW_FALSE;
}

/* Reads and evaluates the rows of a group that was taken. */
static bool
read_rows(const struct readers *readers, struct row_group *group, size_t *bytes)
{
    struct colander_slice row;

    *bytes = 0;
    if (found_rows_read(&group->rows, readers->source,
                        readers->found + group->first, group->count,
                        NULL) != COLANDER_OK)
        return false;
    for (size_t i = 0; i < group->count; i++) {
        if (!found_rows_get(&group->rows, i, &row))
            continue;
        group->answers[i] = answer_of(readers->source->request, row);
        *bytes += found_rows_size(&group->rows, i);
    }
    return true;
}

/* Takes the next group and reads it. Requires the mutex, which is unlocked
 * while it reads. */
static void
take_group(struct readers *readers)
{
    const size_t index = readers->taken_count++;
    size_t bytes;
    bool is_read;

    readers->busy_count++;
    pthread_mutex_unlock(&readers->mutex);
    is_read = read_rows(readers, &readers->groups[index], &bytes);
    pthread_mutex_lock(&readers->mutex);
    readers->busy_count--;
    readers->bytes += bytes;
    readers->is_read[index] = is_read;
    if (!is_read)
        readers->is_stopped = true;
    pthread_cond_signal(&readers->read); /* only the cursor's thread waits */
}

/* ------------------------------------------------------------- threads --- */

static void *
reader_run(void *context)
{
    struct readers *readers = context;

    pthread_mutex_lock(&readers->mutex);
    while (!readers->is_over) {
        if (can_take(readers))
            take_group(readers);
        else
            pthread_cond_wait(&readers->lot, &readers->mutex);
    }
    pthread_mutex_unlock(&readers->mutex);
    return NULL;
}

/* Starts another thread. After a failure no other is tried. */
static void
make_thread(struct readers *readers)
{
    pthread_t *thread = &readers->threads[readers->thread_count];

    if (thread_create(thread, reader_run, readers) == 0)
        readers->thread_count++;
    else
        readers->thread_max = readers->thread_count;
}

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Starts one thread for the first lot and more for the next ones, because a
 * thread costs as much as reading a group. */
static void
make_threads(struct readers *readers)
{
    const size_t groups = readers->group_count - 1;
    size_t wanted = least(readers->thread_max, 2 * readers->thread_count + 1);

    wanted = least(wanted, groups);
    while (readers->thread_count < least(wanted, readers->thread_max))
        make_thread(readers);
}

/* The cores that this process may use. */
static uint32_t
count_cores(void)
{
    cpu_set_t cores;

    if (sched_getaffinity(0, sizeof(cores), &cores) != 0)
        return 1;
    return (uint32_t)CPU_COUNT(&cores);
}

/* ---------------------------------------------------------------- life --- */

struct readers *
readers_create(const struct candidate_source *source, uint32_t thread_count)
{
    struct readers *created;

    if (thread_count == 0)
        thread_count = count_cores();
    if (thread_count <= 1)
        return NULL;
    created = calloc(1, sizeof(*created));
    if (created == NULL)
        return NULL;
    created->source = source;
    created->is_stopped = true;
    created->thread_max = least(thread_count - 1, THREADS_MAX);
    /* without attributes none of these can fail */
    pthread_mutex_init(&created->mutex, NULL);
    pthread_cond_init(&created->lot, NULL);
    pthread_cond_init(&created->read, NULL);
    return created;
}

void
readers_destroy(struct readers *readers)
{
    if (readers == NULL)
        return;
    pthread_mutex_lock(&readers->mutex);
    readers->is_stopped = true;
    readers->is_over = true;
    pthread_cond_broadcast(&readers->lot);
    pthread_mutex_unlock(&readers->mutex);
    for (size_t i = 0; i < readers->thread_count; i++)
        pthread_join(readers->threads[i], NULL);
    pthread_mutex_destroy(&readers->mutex);
    pthread_cond_destroy(&readers->lot);
    pthread_cond_destroy(&readers->read);
    for (size_t i = 0; i < READERS_GROUPS; i++)
        found_rows_release(&readers->groups[i].rows);
    free(readers);
}

/* ---------------------------------------------------------------- lots --- */

/* Sets the groups of a lot. Requires that no thread reads. */
static void
set_groups(struct readers *readers, size_t count, size_t group_size)
{
    size_t first = 0;

    readers->group_count = 0;
    for (size_t i = 0; i < READERS_GROUPS; i++) {
        struct row_group *group = &readers->groups[i];

        group->first = first;
        group->count = least(group_size, count - first);
        first += group->count;
        readers->group_count += group->count > 0;
        readers->is_read[i] = false;
    }
}

void
readers_begin(struct readers *readers, const struct candidate *found,
              size_t count, size_t group_size)
{
    pthread_mutex_lock(&readers->mutex);
    set_groups(readers, count, group_size);
    readers->found = found;
    readers->returned_count = 0;
    readers->taken_count = 0;
    readers->bytes = 0;
    readers->is_stopped = false;
    pthread_cond_broadcast(&readers->lot);
    pthread_mutex_unlock(&readers->mutex);
    make_threads(readers);
}

bool
readers_next(struct readers *readers, const struct row_group **group)
{
    const size_t index = readers->returned_count;
    bool is_read = false;

    if (index == readers->group_count)
        return false;
    pthread_mutex_lock(&readers->mutex);
    while (!readers->is_read[index]) {
        if (can_take(readers))
            take_group(readers);
        else if (index < readers->taken_count && readers->busy_count > 0)
            pthread_cond_wait(&readers->read, &readers->mutex);
        else
            break;
    }
    is_read = readers->is_read[index];
    pthread_mutex_unlock(&readers->mutex);
    if (!is_read)
        return false;
    readers->returned_count++;
    *group = &readers->groups[index];
    return true;
}

void
readers_end(struct readers *readers)
{
    pthread_mutex_lock(&readers->mutex);
    readers->is_stopped = true;
    while (readers->busy_count > 0)
        pthread_cond_wait(&readers->read, &readers->mutex);
    pthread_mutex_unlock(&readers->mutex);
    for (size_t i = 0; i < readers->group_count; i++)
        found_rows_clear(&readers->groups[i].rows);
}
