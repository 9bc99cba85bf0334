/*
 * Private to cluster_status.c and cluster_status_print.c: what a status knows.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CLUSTER_STATUS_INSIDE_H
#define SHELL_CLUSTER_STATUS_INSIDE_H

#include "cluster/cluster.h"
#include "cluster/survey.h"
#include "shell/clusters/cluster_status.h"
#include "shell/report.h"

/* The newest checkpoint of a partition. */
struct newest {
    struct cluster_backup backup; /* without a number: there is none */
    char problem[300];
};

/* What is known of a family. */
struct known {
    struct cluster_family family;
    char *problem;           /* why it cannot be read; NULL: it can */
    const char *name;        /* borrowed */
    struct newest *newest;   /* by partition */
    struct topic_ends *ends; /* the same; NULL: unknown */
    size_t end_count;
    int64_t retention_ms;  /* of the topic; negative: unknown */
    char log_problem[600]; /* why ends are unknown */
};

struct status {
    const struct session *session;
    struct cluster *cluster;
    const struct topic_broker_options *brokers;
    unsigned wait_ms; /* for nodes that may be there */
    struct report report;
    struct colander_row_builder *builder; /* of lines of JSON; NULL: none */
    struct known *families;
    size_t family_count;
    struct member *members;
    size_t member_count;
    bool has_survey;
    struct survey survey;
    char members_problem[600];   /* why there is none */
    struct survey_places places; /* of the partition that is looked at */
    struct cluster_texts lacks;  /* sentences about what is missing */
    bool is_damaged;
    bool is_cut_off; /* no broker answers */
    bool is_short;   /* of memory for lacks */
};

/* Print all of it: for people, and as lines of JSON. */
COLANDER_CHECKED enum colander_code
status_print_lines(struct status *status, struct colander_error *err);
COLANDER_CHECKED enum colander_code
status_print_json(struct status *status, struct colander_error *err);

#endif
