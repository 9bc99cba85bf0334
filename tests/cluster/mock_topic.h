/*
 * A topic "t" of one partition, of librdkafka's mock cluster.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_CLUSTER_MOCK_TOPIC_H
#define TESTS_CLUSTER_MOCK_TOPIC_H

#include "cluster/topic.h"
#include "support/store_fixture.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

struct mock_brokers {
    rd_kafka_t *client;
    rd_kafka_mock_cluster_t *mock;
    char address[300];
};

static inline void
start(struct mock_brokers *it)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char reason[200];

    rd_kafka_conf_set(conf, "test.mock.num.brokers", "1", NULL, 0);
    rd_kafka_conf_set_log_cb(conf, NULL);
    it->client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof(reason));
    assert_non_null(it->client);
    it->mock = rd_kafka_handle_mock_cluster(it->client);
    snprintf(it->address, sizeof(it->address), "kafka://%s/t",
             rd_kafka_mock_cluster_bootstraps(it->mock));
    rd_kafka_mock_topic_create(it->mock, "t", 1, 1);
}

#endif
