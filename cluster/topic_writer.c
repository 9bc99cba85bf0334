/*
 * Topic writer: an idempotent producer of librdkafka.
 *
 * Within a session brokers drop what is sent again after a lost answer, and
 * keep the order. A load that is resumed is another session, and may send
 * records again that were acknowledged: they have the same header,
 * ID/TOPIC/NUMBER, and are in the same partition, in the same order. So a
 * reader (topic_reader.c) knows them. Records without a key are therefore
 * spread by their numbers.
 *
 * A reader takes a number that is not above the last one of its load for one of
 * those. So a partition must have all records of a load up to its last one:
 * after one that is refused none may follow. Brokers see to that by the
 * sequence of a session, which they know from its first record in a partition
 * on. So that one is sent alone: librdkafka may have the next batch ready, and
 * sends it even after the one before is refused. No record is given up alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/kafka.h"
#include "cluster/topic_mark.h"
#include "core/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#define WAIT_MS 100
#define SPREAD_SHIFT 16 /* records without a key: 64 KiB go to one partition */
#define PENDING_MAX 100000
#define WAITS 5 /* for brokers, without an acknowledgement */

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
    int32_t (*partitioner)(const rd_kafka_topic_t *, const void *, size_t,
                           int32_t, void *, void *);
    uint64_t *firsts; /* of each partition: the sequence after that of its first
                       * record; 0: it has none */
    char cluster[TOPIC_CLUSTER_MAX];
    uint64_t load;
    struct pending *pending; /* a ring: by sequence, modulo PENDING_MAX */
    uint64_t begun;          /* sequence of the first record of the load */
    uint64_t sent;           /* sequence of the next record */
    uint64_t passed;         /* of the first that is pending */
    uint64_t acknowledged;   /* number up to which all records are */
    uint64_t moved_us;       /* when one was, or the first was sent */
    rd_kafka_resp_err_t failure;
    int32_t failed_partition;
};

/* Whether it only says that another record has failed for good. */
static bool
is_aftermath(rd_kafka_resp_err_t error)
{
    return error == RD_KAFKA_RESP_ERR__FATAL ||
           error == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
           error == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT;
}

/* Called when the client is polled. */
static void
see_delivery(rd_kafka_t *client, const rd_kafka_message_t *message,
             void *opaque)
{
    struct topic_writer *writer = opaque;
    struct pending *pending = message->_private;

    (void)client;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (writer->failure == RD_KAFKA_RESP_ERR_NO_ERROR ||
            is_aftermath(writer->failure)) {
            writer->failure = message->err;
            writer->failed_partition = message->partition;
        }
        return;
    }
    pending->is_done = true;
    writer->moved_us = clock_us();
    while (writer->passed < writer->sent &&
           writer->pending[writer->passed % PENDING_MAX].is_done) {
        writer->acknowledged =
            writer->pending[writer->passed % PENDING_MAX].number;
        writer->passed++;
    }
}

int32_t
topic_partition_of(struct colander_slice key, int32_t count)
{
    return rd_kafka_msg_partitioner_murmur2(
        NULL, key.size > 0 ? key.data : (const void *)"", key.size, count, NULL,
        NULL);
}

/* Chooses how the partition of a record follows from its key. */
static enum colander_code
choose_partitioner(struct topic_writer *writer, const char *name,
                   struct colander_error *err)
{
    if (strncmp(name, "murmur2", strlen("murmur2")) == 0)
        writer->partitioner = rd_kafka_msg_partitioner_murmur2;
    else if (strncmp(name, "consistent", strlen("consistent")) == 0)
        writer->partitioner = rd_kafka_msg_partitioner_consistent;
    else if (strncmp(name, "fnv1a", strlen("fnv1a")) == 0)
        writer->partitioner = rd_kafka_msg_partitioner_fnv1a;
    else
        return COLANDER_FAIL(
            err, COLANDER_INVALID,
            "with the partitioner '%s' records with the same key are in any "
            "partition: use murmur2, consistent or fnv1a",
            name);
    return COLANDER_OK;
}

static void
partitioner_name(const struct topic_writer *writer, char *name, size_t size)
{
    rd_kafka_topic_conf_t *conf =
        rd_kafka_default_topic_conf_dup(writer->client);

    name[0] = '\0';
    (void)rd_kafka_topic_conf_get(conf, "partitioner", name, &size);
    rd_kafka_topic_conf_destroy(conf);
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
        {"message.max.bytes", "60000000"}, /* brokers have limits of their own,
                                            * and the queue has room for it */
        {NULL, NULL},
    };
    static const struct kafka_setting fixed[] = {
        {"enable.idempotence", "true"},
        {"acks", "all"},
        {"request.required.acks", "all"},
        {"enable.gapless.guarantee", "true"},
        {"max.in.flight", "1"},
        {"max.in.flight.requests.per.connection", "1"},
        {"message.timeout.ms", "0"},
        {"delivery.timeout.ms", "0"},
        {"delivery.report.only.error", "false"},
        {NULL, NULL},
    };
    enum colander_code code = kafka_client_create(
        RD_KAFKA_PRODUCER, writer->address.brokers, &writer->options, settings,
        fixed, &writer->trouble, see_delivery, &writer->client, err);
    char name[64];

    if (code != COLANDER_OK)
        return code;
    partitioner_name(writer, name, sizeof(name));
    code = choose_partitioner(writer, name, err);
    if (code != COLANDER_OK)
        return code;
    writer->topic =
        rd_kafka_topic_new(writer->client, writer->address.topics[0], NULL);
    if (writer->topic == NULL)
        return kafka_fail(rd_kafka_last_error(), "cannot open",
                          writer->address.topics[0], -1, err);
    code = kafka_partition_count(&writer->options, writer->client,
                                 writer->topic, &writer->partition_count, err);
    if (code == COLANDER_OK)
        kafka_meet_leaders(&writer->options, writer->client, writer->topic);
    if (code == COLANDER_OK && kafka_is_stopped(&writer->options))
        code = COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    if (code == COLANDER_OK) {
        writer->firsts =
            calloc((size_t)writer->partition_count, sizeof(*writer->firsts));
        if (writer->firsts == NULL)
            code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for a writer");
    }
    if (code == COLANDER_IO && writer->trouble.text[0] != '\0')
        colander_error_context(err, "%s", writer->trouble.text);
    if (code == COLANDER_OK)
        kafka_cluster(writer->client, writer->cluster, sizeof(writer->cluster));
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
    free(writer->firsts);
    free(writer->pending);
    free(writer);
}

uint32_t
topic_writer_partition_count(const struct topic_writer *writer)
{
    return (uint32_t)writer->partition_count;
}

const char *
topic_writer_cluster(const struct topic_writer *writer)
{
    return writer->cluster;
}

uint64_t
topic_writer_spread(const struct topic_writer *writer, const char *const *texts,
                    size_t count)
{
    char partitioner[64];
    uint64_t hash = (uint64_t)writer->partition_count;

    partitioner_name(writer, partitioner, sizeof(partitioner));
    hash = XXH3_64bits_withSeed(partitioner, strlen(partitioner), hash);
    for (size_t i = 0; i < count; i++)
        hash = XXH3_64bits_withSeed(texts[i], strlen(texts[i]), hash);
    return hash;
}

void
topic_writer_begin(struct topic_writer *writer, uint64_t id)
{
    writer->load = id;
    writer->begun = writer->sent;
}

/* ---------------------------------------------------------------- sending - */

/* Fails because a record could not be sent. */
static enum colander_code
fail(const struct topic_writer *writer, rd_kafka_resp_err_t error,
     int32_t partition, struct colander_error *err)
{
    const char *topic = writer->address.topics[0];
    char reason[200];

    if (error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
        error == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE)
        return COLANDER_FAIL(
            err, COLANDER_IO,
            "topic '%s' takes no record or batch as large (%s): raise its "
            "max.message.bytes%s, leave large records out with --record-size "
            "SIZE, or make batches smaller with --set batch.size=BYTES",
            topic, rd_kafka_err2name(error),
            error == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE
                ? " or segment.bytes"
                : "");
    if (is_aftermath(error) &&
        rd_kafka_fatal_error(writer->client, reason, sizeof(reason)) !=
            RD_KAFKA_RESP_ERR_NO_ERROR)
        return COLANDER_FAIL(err, COLANDER_IO, "topic '%s': %s", topic, reason);
    return kafka_fail(error, "cannot write to", topic, partition, err);
}

/* Fails if a record could not be sent, or none is acknowledged any more. */
static enum colander_code
check(struct topic_writer *writer, struct colander_error *err)
{
    const uint64_t wait_ms = WAITS * kafka_wait_ms(&writer->options);

    if (is_aftermath(writer->failure)) /* the cause comes at once */
        (void)rd_kafka_poll(writer->client, WAIT_MS);
    if (writer->failure != RD_KAFKA_RESP_ERR_NO_ERROR)
        return fail(writer, writer->failure, writer->failed_partition, err);
    if (writer->passed == writer->sent ||
        clock_us() - writer->moved_us < wait_ms * 1000)
        return COLANDER_OK;
    return COLANDER_FAIL(
        err, COLANDER_IO,
        "topic '%s': no record was acknowledged for %" PRIu64 " seconds%s%s",
        writer->address.topics[0], wait_ms / 1000,
        writer->trouble.text[0] == '\0' ? "" : ": ", writer->trouble.text);
}

static int32_t
partition_of(const struct topic_writer *writer, uint64_t number,
             struct colander_slice key)
{
    if (key.size == 0)
        return (int32_t)((number >> SPREAD_SHIFT) %
                         (uint64_t)writer->partition_count);
    return writer->partitioner(writer->topic, key.data, key.size,
                               writer->partition_count, NULL, NULL);
}

/* Whether the first record of a partition is on its way. */
static bool
awaits_first(const struct topic_writer *writer, int32_t partition)
{
    const uint64_t first = writer->firsts[partition];

    return first > writer->passed &&
           !writer->pending[(first - 1) % PENDING_MAX].is_done;
}

/* A record to be sent. */
struct outgoing {
    int32_t partition;
    uint64_t number;
    const char *operation; /* NULL: it has no header op */
    struct colander_slice key;
    struct colander_slice value;
};

static rd_kafka_resp_err_t
produce(struct topic_writer *writer, const struct outgoing *record)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(2);
    const struct colander_slice key = record->key;
    const void *key_data = key.size > 0 ? key.data : NULL;
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
    char text[KAFKA_HEADER_MAX];
    const int size =
        snprintf(text, sizeof(text), "%016" PRIx64 "/%s/%" PRIu64, writer->load,
                 writer->address.topics[0], record->number);

    error = rd_kafka_header_add(headers, KAFKA_RECORD_HEADER, -1, text, size);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR && record->operation != NULL)
        error = rd_kafka_header_add(headers, "op", -1, record->operation, -1);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
        error = rd_kafka_producev(
            writer->client, RD_KAFKA_V_RKT(writer->topic),
            RD_KAFKA_V_PARTITION(record->partition),
            RD_KAFKA_V_KEY(key_data, key.size),
            RD_KAFKA_V_VALUE((void *)record->value.data, record->value.size),
            RD_KAFKA_V_HEADERS(headers),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
            RD_KAFKA_V_OPAQUE(&writer->pending[writer->sent % PENDING_MAX]),
            RD_KAFKA_V_END);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) /* else they are the record's */
        rd_kafka_headers_destroy(headers);
    return error;
}

static enum colander_code
send_record(struct topic_writer *writer, const struct outgoing *record,
            struct colander_error *err)
{
    const int32_t partition = record->partition;
    const uint64_t number = record->number;
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR__QUEUE_FULL;

    for (;;) {
        const bool has_room = writer->sent - writer->passed < PENDING_MAX;
        const bool is_first = writer->sent == writer->passed;
        const bool awaits = awaits_first(writer, partition);
        enum colander_code code;

        if (is_first)
            writer->moved_us = clock_us();
        if (awaits) {
            (void)rd_kafka_flush(writer->client, WAIT_MS); /* does not linger */
        } else if (has_room) {
            writer->pending[writer->sent % PENDING_MAX] =
                (struct pending){number, false};
            error = produce(writer, record);
        }
        if (is_first && error == RD_KAFKA_RESP_ERR__QUEUE_FULL)
            error = RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE; /* of the queue */
        writer->sent += error == RD_KAFKA_RESP_ERR_NO_ERROR;
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR &&
            writer->firsts[partition] == 0)
            writer->firsts[partition] = writer->sent;
        (void)rd_kafka_poll(
            writer->client,
            error == RD_KAFKA_RESP_ERR_NO_ERROR || awaits ? 0 : WAIT_MS);
        code = check(writer, err);
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR || code != COLANDER_OK)
            return code;
        if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL)
            return fail(writer, error, -1, err);
        if (kafka_is_stopped(&writer->options))
            return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    }
}

enum colander_code
topic_writer_put(struct topic_writer *writer, uint64_t number,
                 const char *operation, struct colander_slice key,
                 struct colander_slice value, struct colander_error *err)
{
    const struct outgoing record = {partition_of(writer, number, key), number,
                                    operation, key, value};

    return send_record(writer, &record, err);
}

enum colander_code
topic_writer_tell_all(struct topic_writer *writer, uint64_t number,
                      const char *operation, struct colander_slice value,
                      struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (int32_t i = 0; i < writer->partition_count && code == COLANDER_OK;
         i++) {
        const struct outgoing record = {i, number, operation, {NULL, 0}, value};

        code = send_record(writer, &record, err);
    }
    return code;
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
