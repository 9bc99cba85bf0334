/*
 * A thread that takes no signals: those are for the program's own threads,
 * whose handlers may not expect to run in another.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_QUIET_THREAD_H
#define COLANDER_QUIET_THREAD_H

#include <pthread.h>
#include <signal.h>

/* As pthread_create: 0, or why there is none. */
static inline int
quiet_thread_create(pthread_t *thread, void *(*run)(void *), void *context)
{
    sigset_t all;
    sigset_t before;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

#endif
