/*
 * paper: the results of its experiments, and the report on them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_PAPER_H
#define BENCH_PAPER_H

#include "bench_paper_ways.h"
#include "bench_report.h"

#define PAPER_MEGA 1e6 /* bytes, as tables tell them */

#define PAPER_FILTERS 3
#define PAPER_ORDERS 5
#define PAPER_BITS 3
#define PAPER_PROBES 7
#define PAPER_DOMAINS 6

extern const uint32_t paper_orders[PAPER_ORDERS];
extern const uint64_t paper_bits[PAPER_BITS];
extern const uint8_t paper_probes[PAPER_PROBES];
extern const unsigned paper_domains[PAPER_DOMAINS]; /* percent */

/* Of one number of entries. */
struct paper_size {
    uint64_t entries;
    double entry_size;                    /* bytes of a key and a row */
    double insert_seconds[PAPER_FILTERS]; /* by enum paper_filters */
    double create_seconds[PAPER_FILTERS];
    double create_work[PAPER_FILTERS]; /* seconds of processors */
    uint64_t sst_count;
    uint64_t sst_size;
    uint64_t leaf_size;               /* bytes of all leaf filters */
    uint64_t node_size[PAPER_ORDERS]; /* of what is above them */
    uint64_t filter_size;             /* of Colander's filters on disk */
    uint64_t hierarchy_size;          /* and in memory */
    struct paper_figures ways[PAPER_WAYS];
    struct paper_figures tree_find; /* the store's find with TREE_FILTERS */
};

/* Of one number of bits and one order; means over many values. */
struct paper_shape {
    struct paper_figures counts;
    struct paper_figures times; /* where they are measured: most bits */
    unsigned height;
};

/* Of all leaves with so many bits, or probes. */
struct paper_leaf_kind {
    unsigned probes;
    double fill;
    struct paper_figures counts; /* through the tree of order PAPER_ORDER */
};

struct paper_domain {
    uint64_t leaf_count;
    double ssts_holding; /* the mean over many values */
    struct paper_figures counts;
    struct paper_figures ways[PAPER_WAYS];
};

struct paper_results {
    struct paper_size sizes[BENCH_ENTRIES_MAX];
    size_t size_count;
    struct paper_leaf_kind kinds[PAPER_BITS];
    struct paper_shape shapes[PAPER_BITS][PAPER_ORDERS];
    struct paper_leaf_kind probes[PAPER_PROBES];
    uint64_t domain_entries;
    struct paper_domain domains[PAPER_DOMAINS];
    struct bench_cold cold;
    unsigned lookup_count;
};

/* Tells all but what is about value domains. */
void paper_report(struct bench_report *report,
                  const struct paper_results *results);

/* The part of it about trees and leaves. */
void paper_report_shapes(struct bench_report *report,
                         const struct paper_results *results);

/* What is about value domains. */
void paper_report_domains(struct bench_report *report,
                          const struct paper_results *results);

#endif
