/*
 * Broker options: how a command reaches brokers of Kafka.
 *
 * Life:   a zeroed struct -> read -> release, also after a failure
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_BROKER_OPTIONS_H
#define SHELL_BROKER_OPTIONS_H

#include "cluster/definition.h"
#include "cluster/topic.h"
#include "shell/arguments.h"

#define OPTION_BROKERS                                                         \
    OPTION_LIST("set", "NAME=VALUE",                                           \
                "set an option of librdkafka, such as\n"                       \
                "security.protocol=sasl_ssl; may be repeated"),                \
        OPTION("settings", "FILE",                                             \
               "read such options from FILE, one a line: passwords do\n"       \
               "not belong on a command line")

struct broker_options {
    struct topic_broker_options options; /* borrows from the arguments */
    const char **settings;               /* owned; the texts are not */
};

COLANDER_CHECKED enum colander_code
broker_options_read(struct broker_options *options,
                    const struct arguments *arguments, const char *address,
                    struct colander_error *err);

/* Puts the settings of a cluster before those of the arguments. Their texts are
 * borrowed. */
COLANDER_CHECKED enum colander_code
broker_options_add(struct broker_options *options,
                   const struct cluster_texts *first,
                   struct colander_error *err);

void broker_options_release(struct broker_options *options);

#endif
