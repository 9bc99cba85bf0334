/*
 * The pool: each job is done or dropped, and the first failure is returned.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/pool.h"
#include "support/cases.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_int run_count;
static atomic_int drop_count;
static atomic_int at_once;
static atomic_int most_at_once;

struct job {
    int number;
    bool fails;
};

static enum colander_code
run(void *context, bool is_dropped, struct colander_error *err)
{
    const struct job job = *(struct job *)context;
    int most = atomic_load(&most_at_once);
    const int now = atomic_fetch_add(&at_once, 1) + 1;

    free(context);
    while (now > most &&
           !atomic_compare_exchange_weak(&most_at_once, &most, now))
        continue;
    atomic_fetch_add(is_dropped ? &drop_count : &run_count, 1);
    atomic_fetch_sub(&at_once, 1);
    if (job.fails && !is_dropped)
        return COLANDER_FAIL(err, COLANDER_BUSY, "job %d", job.number);
    return COLANDER_OK;
}

/* Adds a job to the pool. */
static enum colander_code
add(struct pool *pool, int number, bool fails, struct colander_error *err)
{
    struct job *job = malloc(sizeof(*job));

    assert_non_null(job);
    job->number = number;
    job->fails = fails;
    return pool_add(pool, job, err);
}

/* Runs `count` jobs, of which one fails (-1: none). */
static enum colander_code
run_jobs(int count, int failing, struct colander_error *err)
{
    struct pool *pool;

    atomic_store(&run_count, 0);
    atomic_store(&drop_count, 0);
    OK(pool_create(run, &pool, why()));
    for (int i = 0; i < count; i++) {
        const enum colander_code added = add(pool, i, i == failing, NULL);

        assert_true(added == COLANDER_OK || failing >= 0);
    }
    return pool_finish(pool, err);
}

TEST(every_job_is_done_once_by_a_few_threads)
{
    OK(run_jobs(5000, -1, why()));
    assert_int_equal(run_count, 5000);
    assert_int_equal(drop_count, 0);
    assert_true(most_at_once <= POOL_THREADS);
    OK(run_jobs(0, -1, why()));
    OK(pool_finish(NULL, why()));
}

TEST(after_a_failure_jobs_are_dropped)
{
    struct colander_error err;

    FAILS(run_jobs(5000, 100, &err), COLANDER_BUSY);
    assert_string_equal(err.message, "job 100");
    assert_int_equal(run_count + drop_count, 5000);
    assert_true(run_count <= 100 + 2 * POOL_THREADS);
    FAILS(run_jobs(1, 0, NULL), COLANDER_BUSY);
}

TEST(who_adds_jobs_learns_that_one_has_failed)
{
    enum colander_code code = COLANDER_OK;
    struct colander_error err;
    struct pool *pool;

    OK(pool_create(run, &pool, why()));
    OK(add(pool, 7, true, why()));
    for (int i = 0; i < 1000000 && code == COLANDER_OK; i++)
        code = add(pool, 8 + i, false, &err);
    assert_int_equal(code, COLANDER_BUSY);
    assert_string_equal(err.message, "job 7");
    FAILS(pool_finish(pool, NULL), COLANDER_BUSY);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
