/*
 * Threads that receive no signals. Signals are for the program's own threads:
 * their handlers may not expect to run in another one.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_THREAD_H
#define COLANDER_CORE_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Starts a thread with all signals blocked. Returns 0, or an errno value as
 * pthread_create does. */
static inline int
thread_create(pthread_t *thread, void *(*run)(void *), void *context)
{
    sigset_t all;
    sigset_t before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

#endif
