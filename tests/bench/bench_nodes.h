/*
 * Nodes of a cluster, each a process of the program, with brokers of
 * librdkafka's mock cluster in this process, or those whose addresses are in
 * $COLANDER_BROKERS. The mock keeps 5 MiB of a partition, and its work is not
 * that of nodes.
 *
 * Life: open -> family -> start -> await_partitions -> load, ... -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_NODES_H
#define BENCH_NODES_H

#include "bench.h"
#include "bench_http.h"
#include "bench_relay.h"

#include <librdkafka/rdkafka.h>
#include <sys/types.h>

#define BENCH_NODES_MAX 32
#define BENCH_FAMILY "rows"

struct bench_node {
    pid_t process; /* 0: it does not run */
    clockid_t clock;
    char *directory;
    uint16_t port;
    struct bench_relay *relay; /* where others ask it; NULL: at its port */
};

struct bench_nodes {
    const struct bench_options *options;
    char *directory;
    rd_kafka_t *producer; /* has the brokers */
    char brokers[1000];
    char name[40]; /* of the cluster, and of its topics */
    uint32_t partition_count;
    uint32_t replica_count;
    char cluster[4200]; /* its address */
    char token[4200];   /* a file */
    struct bench_node nodes[BENCH_NODES_MAX];
    size_t count;
};

/* Makes a cluster with the family BENCH_FAMILY. */
void bench_nodes_open(struct bench_nodes *it,
                      const struct bench_options *options,
                      uint32_t partition_count, uint32_t replica_count);
void bench_nodes_close(struct bench_nodes *it);

/* Starts `count` nodes. NULL: how long one is silent until it is lost is the
 * default. With relays they ask each other through these. */
void bench_nodes_start(struct bench_nodes *it, size_t count,
                       const char *lost_after, bool has_relays);

/* Starts node `at` again. */
void bench_nodes_start_one(struct bench_nodes *it, size_t at,
                           const char *lost_after);

/* Sends a signal to a node and waits for its end. */
void bench_nodes_stop(struct bench_nodes *it, size_t at, int signal);

/* Waits until each partition has as many nodes as it has replicas, and all
 * nodes answer for all partitions. */
void bench_nodes_await_partitions(struct bench_nodes *it);

/* Sends the lines of a file to the log. */
void bench_nodes_load(struct bench_nodes *it, const char *path);

/* Returns the processor seconds that nodes have used, from `first` on. */
double bench_nodes_used(const struct bench_nodes *it, size_t first,
                        size_t count);

/* Waits until the nodes use hardly more than `idle` processor seconds a second.
 * Returns the time at which that began, and sets *used to what they had used
 * then. */
double bench_nodes_await_quiet(const struct bench_nodes *it, double idle,
                               double *used);

/* Returns the rows that a node counts in all partitions. */
uint64_t bench_nodes_count(const struct bench_nodes *it, size_t at);

/* Waits until a node counts so many rows. */
void bench_nodes_await_rows(const struct bench_nodes *it, size_t at,
                            uint64_t rows);

/* Runs the program, which must succeed. Returns the seconds. */
double bench_nodes_run(const char *const *words);

#endif
