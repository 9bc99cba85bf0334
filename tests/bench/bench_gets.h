/*
 * Servers that return a row by its number, over a Unix socket, each way as it
 * is usually done: for the requests per second that the experiment `serve`
 * compares.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_GETS_H
#define BENCH_GETS_H

#include "bench.h"

/* Rows with a number as key, and their JSON. */
struct bench_documents {
    uint64_t count;
    uint64_t *keys;
    char **texts;
};

struct bench_gets {
    const char *name;

    /* Starts a server of its own below the directory, with the rows. Returns
     * NULL, or the reason why it cannot run here. */
    const char *(*start)(const char *directory,
                         const struct bench_documents *documents);
    void (*stop)(void);

    /* A connection. Several threads have one each. */
    void *(*open)(void);
    void (*close)(void *connection);

    /* Gets the row with a key, and fails unless it has this text. */
    void (*get)(void *connection, uint64_t key, const char *text);
};

extern const struct bench_gets bench_gets_postgres; /* if BENCH_POSTGRES */
extern const struct bench_gets bench_gets_redis;

#endif
