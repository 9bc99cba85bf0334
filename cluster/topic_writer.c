/*
 * Topic writer: an idempotent producer of librdkafka.
 *
 * Within a session brokers drop what is sent again after a lost answer, and
 * keep the order. A load that is resumed is another session, and may send
 * records again that were acknowledged: they have the same header, ID/NUMBER,
 * and are in the same partition, in the same order. So a reader
 * (topic_reader.c) knows them. Records without a key are therefore spread by
 * their numbers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/kafka.h"
#include "cluster/topic_mark.h"
#include "core/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define WAIT_MS 100
#define SPREAD_SHIFT 16 /* records without a key: 64 KiB go to one partition */
#define PENDING_MAX 100000

/* A record that is not known to be acknowledged, or is after one. */
struct pending {
    uint64_t number;
    bool is_done;
};

struct topic_writer {
    struct kafka_trouble trouble; /* first: the client has its address */
    struct topic_broker_options options;
    struct kafka_address address;
    rd_kafka_t *client;
    rd_kafka_topic_t *topic;
    int32_t partition_count;
    char load[TOPIC_LOAD_MAX + 1];
    struct pending *pending; /* a ring: by sequence, modulo PENDING_MAX */
    uint64_t begun;          /* sequence of the first record of the load */
    uint64_t sent;           /* sequence of the next record */
    uint64_t passed;         /* of the first that is pending */
    uint64_t acknowledged;   /* number up to which all records are */
    rd_kafka_resp_err_t failure;
    int32_t failed_partition;
};

/* Called when the client is polled. */
static void
see_delivery(rd_kafka_t *client, const rd_kafka_message_t *message,
             void *opaque)
{
    struct topic_writer *writer = opaque;
    struct pending *pending = message->_private;

    (void)client;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (writer->failure == RD_KAFKA_RESP_ERR_NO_ERROR) {
            writer->failure = message->err;
            writer->failed_partition = message->partition;
        }
        return;
    }
    pending->is_done = true;
    while (writer->passed < writer->sent &&
           writer->pending[writer->passed % PENDING_MAX].is_done) {
        writer->acknowledged =
            writer->pending[writer->passed % PENDING_MAX].number;
        writer->passed++;
    }
}

static enum colander_code
begin(struct topic_writer *writer, struct colander_error *err)
{
    static const struct kafka_setting settings[] = {
        {"client.id", "colander"},
        {"linger.ms", "20"},
        {"queue.buffering.max.messages", "100000"}, /* PENDING_MAX */
        {"queue.buffering.max.kbytes", "65536"},
        {"partitioner", "murmur2_random"}, /* as programs in Java */
        {"reconnect.backoff.max.ms", "2000"},
        {NULL, NULL},
    };
    static const struct kafka_setting fixed[] = {
        {"enable.idempotence", "true"},
        {"acks", "all"},
        {NULL, NULL},
    };
    enum colander_code code = kafka_client_create(
        RD_KAFKA_PRODUCER, writer->address.brokers, &writer->options, settings,
        fixed, &writer->trouble, see_delivery, &writer->client, err);

    if (code != COLANDER_OK)
        return code;
    writer->topic =
        rd_kafka_topic_new(writer->client, writer->address.topics[0], NULL);
    if (writer->topic == NULL)
        return kafka_fail(rd_kafka_last_error(), "cannot open",
                          writer->address.topics[0], -1, err);
    code = kafka_partition_count(&writer->options, writer->client,
                                 writer->topic, &writer->partition_count, err);
    if (code == COLANDER_IO && writer->trouble.text[0] != '\0')
        colander_error_context(err, "%s", writer->trouble.text);
    return code;
}

enum colander_code
topic_writer_open(const struct topic_broker_options *options,
                  struct topic_writer **writer, struct colander_error *err)
{
    struct topic_writer *opened = calloc(1, sizeof(*opened));
    enum colander_code code;

    *writer = NULL;
    if (opened == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a writer");
    pthread_mutex_init(&opened->trouble.lock, NULL);
    opened->options = *options;
    opened->pending = calloc(PENDING_MAX, sizeof(*opened->pending));
    code = kafka_address_read(&opened->address, options->address, err);
    if (code == COLANDER_OK && opened->pending == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a writer");
    if (code == COLANDER_OK && opened->address.topic_count != 1)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "records are sent to one topic, not to %zu",
                             opened->address.topic_count);
    if (code == COLANDER_OK)
        code = begin(opened, err);
    if (code == COLANDER_OK)
        *writer = opened;
    else
        topic_writer_close(opened);
    return code;
}

void
topic_writer_close(struct topic_writer *writer)
{
    if (writer == NULL)
        return;
    if (writer->client != NULL)
        (void)rd_kafka_purge(writer->client, RD_KAFKA_PURGE_F_QUEUE |
                                                 RD_KAFKA_PURGE_F_INFLIGHT);
    if (writer->topic != NULL)
        rd_kafka_topic_destroy(writer->topic);
    if (writer->client != NULL)
        rd_kafka_destroy(writer->client);
    kafka_address_release(&writer->address);
    pthread_mutex_destroy(&writer->trouble.lock);
    free(writer->pending);
    free(writer);
}

void
topic_writer_begin(struct topic_writer *writer, uint64_t id)
{
    (void)snprintf(writer->load, sizeof(writer->load), "%016" PRIx64, id);
    writer->begun = writer->sent;
}

/* ---------------------------------------------------------------- sending - */

/* Fails if a record could not be sent. */
static enum colander_code
check(struct topic_writer *writer, struct colander_error *err)
{
    char reason[200];

    if (writer->failure == RD_KAFKA_RESP_ERR_NO_ERROR)
        return COLANDER_OK;
    if (rd_kafka_fatal_error(writer->client, reason, sizeof(reason)) !=
        RD_KAFKA_RESP_ERR_NO_ERROR)
        return COLANDER_FAIL(err, COLANDER_IO, "topic '%s': %s",
                             writer->address.topics[0], reason);
    return kafka_fail(writer->failure, "cannot write to",
                      writer->address.topics[0], writer->failed_partition, err);
}

static rd_kafka_resp_err_t
produce(struct topic_writer *writer, uint64_t number, struct colander_slice key,
        struct colander_slice value)
{
    const int32_t partition =
        key.size > 0 ? RD_KAFKA_PARTITION_UA
                     : (int32_t)((number >> SPREAD_SHIFT) %
                                 (uint64_t)writer->partition_count);
    const void *key_data = key.size > 0 ? key.data : NULL;
    char text[TOPIC_LOAD_MAX + 32];
    const int size =
        snprintf(text, sizeof(text), "%s/%" PRIu64, writer->load, number);

    return rd_kafka_producev(
        writer->client, RD_KAFKA_V_RKT(writer->topic),
        RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_KEY(key_data, key.size),
        RD_KAFKA_V_VALUE((void *)value.data, value.size),
        RD_KAFKA_V_HEADER(KAFKA_RECORD_HEADER, text, size),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_OPAQUE(&writer->pending[writer->sent % PENDING_MAX]),
        RD_KAFKA_V_END);
}

enum colander_code
topic_writer_put(struct topic_writer *writer, uint64_t number,
                 struct colander_slice key, struct colander_slice value,
                 struct colander_error *err)
{
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR__QUEUE_FULL;

    for (;;) {
        const bool has_room = writer->sent - writer->passed < PENDING_MAX;
        enum colander_code code;

        if (has_room) {
            writer->pending[writer->sent % PENDING_MAX] =
                (struct pending){number, false};
            error = produce(writer, number, key, value);
        }
        writer->sent += error == RD_KAFKA_RESP_ERR_NO_ERROR;
        (void)rd_kafka_poll(writer->client,
                            error == RD_KAFKA_RESP_ERR_NO_ERROR ? 0 : WAIT_MS);
        code = check(writer, err);
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR || code != COLANDER_OK)
            return code;
        if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL)
            return kafka_fail(error, "cannot write to",
                              writer->address.topics[0], -1, err);
        if (kafka_is_stopped(&writer->options))
            return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    }
}

enum colander_code
topic_writer_acknowledged(struct topic_writer *writer, bool *is_any,
                          uint64_t *number, struct colander_error *err)
{
    (void)rd_kafka_poll(writer->client, 0);
    *is_any = writer->passed > writer->begun;
    *number = writer->acknowledged;
    return check(writer, err);
}

enum colander_code
topic_writer_flush(struct topic_writer *writer, struct colander_error *err)
{
    enum colander_code code = check(writer, err);

    while (code == COLANDER_OK && writer->passed < writer->sent) {
        if (kafka_is_stopped(&writer->options))
            return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
        (void)rd_kafka_flush(writer->client, WAIT_MS);
        code = check(writer, err);
    }
    return code;
}
