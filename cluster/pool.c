/* See pool.h. SPDX-License-Identifier: MIT */
#include "cluster/pool.h"

#include "core/thread.h"

#include <stdlib.h>

struct pool {
    pool_run *run;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void *waiting;           /* a job that no thread has taken yet, or NULL */
    bool is_over;            /* no job will be added */
    enum colander_code code; /* the first failure */
    struct colander_error err;
    size_t thread_count;
    pthread_t threads[POOL_THREADS];
};

/* Takes the job that waits, or returns NULL when all are done. */
static void *
take_job(struct pool *pool)
{
    void *job;

    while (pool->waiting == NULL && !pool->is_over)
        pthread_cond_wait(&pool->changed, &pool->lock);
    job = pool->waiting;
    pool->waiting = NULL;
    pthread_cond_broadcast(&pool->changed);
    return job;
}

static void *
work(void *context)
{
    struct pool *pool = context;
    void *job;

    pthread_mutex_lock(&pool->lock);
    while ((job = take_job(pool)) != NULL) {
        const bool is_dropped = pool->code != COLANDER_OK;
        struct colander_error err;
        enum colander_code code;

        pthread_mutex_unlock(&pool->lock);
        code = pool->run(job, is_dropped, &err);
        pthread_mutex_lock(&pool->lock);
        if (!is_dropped && code != COLANDER_OK && pool->code == COLANDER_OK) {
            pool->code = code;
            pool->err = err;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void
pool_free(struct pool *pool)
{
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

enum colander_code
pool_create(pool_run *run, struct pool **pool, struct colander_error *err)
{
    struct pool *created = calloc(1, sizeof(*created));

    *pool = NULL;
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for threads");
    created->run = run;
    pthread_mutex_init(&created->lock, NULL);
    pthread_cond_init(&created->changed, NULL);
    while (created->thread_count < POOL_THREADS &&
           thread_create(&created->threads[created->thread_count], work,
                         created) == 0)
        created->thread_count++;
    if (created->thread_count == 0) {
        pool_free(created);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot start a thread");
    }
    *pool = created;
    return COLANDER_OK;
}

enum colander_code
pool_add(struct pool *pool, void *job, struct colander_error *err)
{
    enum colander_code code;

    pthread_mutex_lock(&pool->lock);
    while (pool->waiting != NULL)
        pthread_cond_wait(&pool->changed, &pool->lock);
    pool->waiting = job;
    pthread_cond_broadcast(&pool->changed);
    code = pool->code;
    if (code != COLANDER_OK && err != NULL)
        *err = pool->err;
    pthread_mutex_unlock(&pool->lock);
    return code;
}

enum colander_code
pool_finish(struct pool *pool, struct colander_error *err)
{
    enum colander_code code;

    if (pool == NULL)
        return COLANDER_OK;
    pthread_mutex_lock(&pool->lock);
    pool->is_over = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->thread_count; i++)
        (void)pthread_join(pool->threads[i], NULL);
    code = pool->code;
    if (code != COLANDER_OK && err != NULL)
        *err = pool->err;
    pool_free(pool);
    return code;
}
