/* See workers.h. SPDX-License-Identifier: MIT */
#include "serve/workers.h"
#include "core/thread.h"

#include <stdlib.h>

struct workers {
    pthread_mutex_t lock;
    pthread_cond_t has_job;
    struct job *first; /* of the queue */
    struct job *last;
    size_t thread_max;
    size_t thread_count;
    size_t idle_count;
    size_t job_count; /* in the queue */
    bool is_ending;
    pthread_t threads[];
};

static void *
work(void *context)
{
    struct workers *workers = context;

    pthread_mutex_lock(&workers->lock);
    for (;;) {
        struct job *job = workers->first;

        if (job != NULL) {
            workers->first = job->next;
            workers->job_count--;
            pthread_mutex_unlock(&workers->lock);
            job->run(job);
            pthread_mutex_lock(&workers->lock);
        } else if (workers->is_ending) {
            break;
        } else {
            workers->idle_count++;
            pthread_cond_wait(&workers->has_job, &workers->lock);
            workers->idle_count--;
        }
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

/* Starts one thread more, if it may. Requires the lock. */
static int
add_thread(struct workers *workers)
{
    int error =
        thread_create(&workers->threads[workers->thread_count], work, workers);

    workers->thread_count += error == 0;
    return error;
}

enum colander_code
workers_create(size_t thread_max, struct workers **out,
               struct colander_error *err)
{
    struct workers *workers =
        calloc(1, sizeof(*workers) + thread_max * sizeof(workers->threads[0]));
    int error;

    *out = NULL;
    if (workers == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for workers");
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->has_job, NULL);
    workers->thread_max = thread_max;
    pthread_mutex_lock(&workers->lock);
    error = add_thread(workers);
    pthread_mutex_unlock(&workers->lock);
    if (error != 0) {
        workers_destroy(workers);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot start a thread: %s", strerror(error));
    }
    *out = workers;
    return COLANDER_OK;
}

void
workers_submit(struct workers *workers, struct job *job)
{
    job->next = NULL;
    pthread_mutex_lock(&workers->lock);
    if (workers->first == NULL)
        workers->first = job;
    else
        workers->last->next = job;
    workers->last = job;
    workers->job_count++;
    if (workers->job_count > workers->idle_count &&
        workers->thread_count < workers->thread_max)
        (void)add_thread(workers); /* if not, those that are there do it */
    pthread_cond_signal(&workers->has_job);
    pthread_mutex_unlock(&workers->lock);
}

void
workers_destroy(struct workers *workers)
{
    if (workers == NULL)
        return;
    pthread_mutex_lock(&workers->lock);
    workers->is_ending = true;
    pthread_cond_broadcast(&workers->has_job);
    pthread_mutex_unlock(&workers->lock);
    for (size_t i = 0; i < workers->thread_count; i++)
        pthread_join(workers->threads[i], NULL);
    pthread_cond_destroy(&workers->has_job);
    pthread_mutex_destroy(&workers->lock);
    free(workers);
}
