/*
 * Clients of librdkafka: addresses, settings, and what its errors mean.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_KAFKA_H
#define CLUSTER_KAFKA_H

#include "cluster/topic.h"

#include <librdkafka/rdkafka.h>
#include <pthread.h>

/* The header of the records of a load: ID/TOPIC/NUMBER, where ID has 16 hex
 * digits. */
#define KAFKA_RECORD_HEADER "colander"
#define KAFKA_HEADER_MAX 320 /* bytes */
#define KAFKA_WAIT_MS 60000  /* for brokers, if the options do not say */
#define KAFKA_ASK_MS 5000    /* for one answer */

/* An address, taken apart. */
struct kafka_address {
    char *brokers; /* owned, as librdkafka has them */
    char **topics; /* owned */
    size_t topic_count;
};

COLANDER_CHECKED enum colander_code
kafka_address_read(struct kafka_address *address, const char *text,
                   struct colander_error *err);

void kafka_address_release(struct kafka_address *address);

/* What was the last trouble with brokers. */
struct kafka_trouble {
    pthread_mutex_t lock;
    atomic_bool is_cut_off;      /* no broker can be reached */
    rd_kafka_resp_err_t refusal; /* it is about a password or certificate */
    char text[300];
};

/* A pair of a setting and its value. */
struct kafka_setting {
    const char *name;
    const char *value;
};

/*
 * Creates a client of `type` with `settings`, up to a NULL name, which those of
 * the options replace, and `fixed`, which they must not name. `trouble` is
 * borrowed until the client is destroyed; `delivered` (NULL: none) is called
 * for each record of a producer, with `opaque`.
 */
COLANDER_CHECKED enum colander_code kafka_client_create(
    rd_kafka_type_t type, const char *brokers,
    const struct topic_broker_options *options,
    const struct kafka_setting *settings, const struct kafka_setting *fixed,
    struct kafka_trouble *trouble,
    void (*delivered)(rd_kafka_t *, const rd_kafka_message_t *, void *),
    rd_kafka_t **client, struct colander_error *err);

/* Fails because of an error of librdkafka. */
COLANDER_CHECKED enum colander_code
kafka_fail(rd_kafka_resp_err_t error, const char *what, const char *topic,
           int32_t partition, struct colander_error *err);

/* Whether brokers may recover from the error, so that what failed is tried
 * again. */
bool kafka_is_transient(rd_kafka_resp_err_t error);

/* Whether it says that there is no such topic or partition. */
bool kafka_is_unknown(rd_kafka_resp_err_t error);

/* How long brokers are waited for. */
uint64_t kafka_wait_ms(const struct topic_broker_options *options);

/*
 * Asks until the error is not a transient one, or kafka_wait_ms have passed;
 * once only, if it does not wait. That a topic is unknown counts after a sixth
 * of this time, as a broker that has just started knows none, and so does that
 * brokers refuse a password, or have a certificate that is. Returns the last
 * error, also if the options stop it.
 */
rd_kafka_resp_err_t kafka_try(const struct topic_broker_options *options,
                              rd_kafka_t *client, bool waits,
                              rd_kafka_resp_err_t (*ask)(void *context),
                              void *context);

/* Sets *count to how many partitions a topic has. Fails with NOT_FOUND if there
 * is none, and with INVALID if brokers remove its records for others with the
 * same key (cleanup.policy=compact). Those that do not say so, as the user may
 * not ask or they do not know the request, keep them. */
COLANDER_CHECKED enum colander_code
kafka_partition_count(const struct topic_broker_options *options,
                      rd_kafka_t *client, rd_kafka_topic_t *topic,
                      int32_t *count, struct colander_error *err);

/* Sets *offset to that of the first record of a partition that is not before a
 * time; of RD_KAFKA_OFFSET_BEGINNING and END, which brokers take for times, to
 * that of the first record and after the last one; negative: there is none.
 * Asks as kafka_try does. */
rd_kafka_resp_err_t
kafka_find_offset(const struct topic_broker_options *options,
                  rd_kafka_t *client, bool waits, const char *topic,
                  int32_t partition, int64_t time, int64_t *offset);

/* The same for all partitions of the list, at once. */
rd_kafka_resp_err_t
kafka_find_offsets(const struct topic_broker_options *options,
                   rd_kafka_t *client, bool waits,
                   rd_kafka_topic_partition_list_t *list, int64_t time);

/* Asks each leader of the topic's partitions, before a producer sends: the
 * first answer of a broker that does not know a new topic yet makes librdkafka
 * fail records, those for other brokers too. Takes some five seconds at most,
 * if brokers are lost or do not know the topic. */
void kafka_meet_leaders(const struct topic_broker_options *options,
                        rd_kafka_t *client, rd_kafka_topic_t *topic);

/* Returns how long brokers keep the records of a topic at least; negative: that
 * is unknown, or without end. */
int64_t kafka_retention(rd_kafka_t *client, rd_kafka_topic_t *topic);

/* Sets `id` to that of the cluster, or its beginning; "": it has none. */
void kafka_cluster(rd_kafka_t *client, char *id, size_t size);

/* Whether an error is that of options that were stopped. */
bool kafka_is_stopped(const struct topic_broker_options *options);

#endif
