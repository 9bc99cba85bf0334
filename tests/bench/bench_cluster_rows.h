/*
 * Rows that the experiment `cluster` loads, and finds of which it knows the
 * answers; and those of its figures that are times.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_CLUSTER_ROWS_H
#define BENCH_CLUSTER_ROWS_H

#include "bench_figures.h"
#include "bench_http.h"

#define BENCH_CLUSTER_USER_MAX 40 /* bytes, with the zero byte */
#define BENCH_CLUSTER_FOUND 5     /* rows of a user that is asked for */

struct bench_cluster_rows {
    char path[4200]; /* JSON lines */
    uint64_t count;
    uint64_t size;                         /* bytes of the file */
    char (*users)[BENCH_CLUSTER_USER_MAX]; /* each has so many rows */
    size_t user_count;
};

/* Writes tweets to a file in the directory. */
void bench_cluster_rows_make(struct bench_cluster_rows *rows,
                             const char *directory, uint64_t count);
void bench_cluster_rows_release(struct bench_cluster_rows *rows);

/* Returns the user of question `number`. */
const char *bench_cluster_user(const struct bench_cluster_rows *rows,
                               uint64_t number);

/* Asks for the rows of a user, of which there are `count`. Returns whether it
 * was answered; the answer must be right. */
bool bench_cluster_ask(struct bench_http *http, const char *user,
                       unsigned count);

/* How large the experiments are. */
struct bench_cluster_sizes {
    size_t nodes;        /* at most */
    uint32_t partitions; /* of these */
    uint32_t parts;      /* partitions of one node, at most */
    uint64_t small_rows; /* where one partition has them all */
    unsigned finds;
    unsigned idle_ms;       /* that nodes are left alone, and measured */
    uint32_t replicas;      /* at least, of those of which one is killed */
    const char *lost_after; /* NULL: the default */
};

/* Measures finds over links that take a while, what happens when a node is
 * killed, and checkpoints. */
void bench_cluster_times(const struct bench_options *options,
                         const struct bench_cluster_sizes *sizes,
                         const struct bench_cluster_rows *rows,
                         const struct bench_cluster_rows *all,
                         struct bench_figures *figures, double *restore_mb_s);

#endif
