/*
 * Topic reader: a consumer of librdkafka that chooses where it begins.
 *
 * Each partition begins one record before its mark. If that record is still
 * there, its hash must be that of the mark; it is not passed on. The library
 * never chooses another offset itself: where it cannot continue, the reader
 * asks brokers what there is, and either goes on there or says what is missing.
 *
 * One queue gets the records of all partitions, one at a time, as batches of
 * librdkafka 2.0 have skipped records.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/topic_reader_inside.h"
#include "core/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define LOOK_MS 60000   /* for new partitions */
#define SERVE_EVERY 128 /* records */
#define STATE_MS 200    /* between two looks at the state */

/* -------------------------------------------------------------- opening --- */

/* `queue_size`: KiB of records that are read ahead of what is taken. */
static enum colander_code
create_client(const struct topic_broker_options *brokers, const char *addresses,
              const char *queue_size, struct kafka_trouble *trouble,
              rd_kafka_t **client, struct colander_error *err)
{
    const struct kafka_setting settings[] = {
        {"client.id", "colander"},
        {"queued.max.messages.kbytes", queue_size}, /* of each queue */
        {"queued.min.messages", "200000"},
        {"fetch.message.max.bytes", "1048576"},
        {"fetch.max.bytes", "8388608"},
        {"fetch.error.backoff.ms", "100"},
        {"reconnect.backoff.max.ms", "2000"},
        {"topic.metadata.refresh.interval.ms", "60000"},
        {NULL, NULL},
    };
    static const struct kafka_setting fixed[] = {
        {"auto.offset.reset", "error"},        {"enable.auto.commit", "false"},
        {"enable.partition.eof", "true"},      {"check.crcs", "true"},
        {"allow.auto.create.topics", "false"}, {NULL, NULL},
    };

    return kafka_client_create(RD_KAFKA_CONSUMER, addresses, brokers, settings,
                               fixed, trouble, NULL, client, err);
}

static enum colander_code
open_client(const struct topic_broker_options *brokers, const char *addresses,
            bool is_shared, struct topic_client **client,
            struct colander_error *err)
{
    struct topic_client *opened = calloc(1, sizeof(*opened));
    enum colander_code code;

    *client = NULL;
    if (opened == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a client");
    pthread_mutex_init(&opened->trouble.lock, NULL);
    pthread_mutex_init(&opened->asked_trouble.lock, NULL);
    code = create_client(brokers, addresses, is_shared ? "16384" : "65536",
                         &opened->trouble, &opened->client, err);
    opened->asked = opened->client;
    if (code == COLANDER_OK && is_shared)
        code = create_client(brokers, addresses, "1024", &opened->asked_trouble,
                             &opened->asked, err);
    if (code == COLANDER_OK)
        *client = opened;
    else
        topic_client_close(opened);
    return code;
}

enum colander_code
topic_client_open(const struct topic_broker_options *options,
                  struct topic_client **client, struct colander_error *err)
{
    struct kafka_address address;
    enum colander_code code =
        kafka_address_read(&address, options->address, err);

    *client = NULL;
    if (code == COLANDER_OK)
        code = open_client(options, address.brokers, true, client, err);
    kafka_address_release(&address);
    return code;
}

void
topic_client_close(struct topic_client *client)
{
    if (client == NULL)
        return;
    if (client->asked != NULL && client->asked != client->client)
        rd_kafka_destroy(client->asked);
    if (client->client != NULL)
        rd_kafka_destroy(client->client);
    pthread_mutex_destroy(&client->asked_trouble.lock);
    pthread_mutex_destroy(&client->trouble.lock);
    free(client);
}

/* Takes the client of the options, or has its own. */
static enum colander_code
take_client(struct topic_reader *reader, struct colander_error *err)
{
    struct topic_client *client = reader->options.client;
    enum colander_code code = COLANDER_OK;

    if (client == NULL) {
        code = open_client(&reader->options.brokers, reader->address.brokers,
                           false, &reader->own, err);
        client = reader->own;
    }
    if (code != COLANDER_OK)
        return code;
    reader->client = client->client;
    reader->asked = client->asked;
    reader->trouble = &client->trouble;
    return COLANDER_OK;
}

static enum colander_code
open_topics(struct topic_reader *reader, struct colander_error *err)
{
    for (size_t i = 0; i < reader->address.topic_count; i++) {
        struct topic *topic = &reader->topics[i];

        topic->name = reader->address.topics[i];
        topic->handle = rd_kafka_topic_new(reader->client, topic->name, NULL);
        if (topic->handle != NULL)
            topic->asked = rd_kafka_topic_new(reader->asked, topic->name, NULL);
        if (topic->asked == NULL)
            return kafka_fail(rd_kafka_last_error(), "cannot open", topic->name,
                              -1, err);
    }
    return COLANDER_OK;
}

static void
close_client(struct topic_reader *reader)
{
    if (reader->message != NULL)
        rd_kafka_message_destroy(reader->message);
    reader->message = NULL;
    for (size_t i = 0; i < reader->address.topic_count; i++) {
        struct topic *topic = &reader->topics[i];

        for (size_t j = 0; j < topic->part_count; j++) {
            if (topic->parts[j]->is_begun)
                (void)rd_kafka_consume_stop(topic->handle, (int32_t)j);
        }
        if (topic->asked != NULL)
            rd_kafka_topic_destroy(topic->asked);
        if (topic->handle != NULL)
            rd_kafka_topic_destroy(topic->handle);
    }
    if (reader->queue != NULL)
        rd_kafka_queue_destroy(reader->queue);
    reader->queue = NULL;
    topic_client_close(reader->own);
}

/* Finds out how many partitions there are, of topics that can be read. */
static enum colander_code
count_parts(struct topic_reader *reader, int32_t *counts,
            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < reader->address.topic_count && code == COLANDER_OK;
         i++) {
        code = kafka_partition_count(&reader->options.brokers, reader->asked,
                                     reader->topics[i].asked, &counts[i], err);
        for (size_t j = 0; j < reader->options.partition_count; j++) {
            const int32_t wanted = reader->options.partitions[j];

            if (code == COLANDER_OK && (wanted < 0 || wanted >= counts[i]))
                code = COLANDER_FAIL(
                    err, COLANDER_NOT_FOUND,
                    "topic '%s' has no partition %d: it has %d",
                    reader->topics[i].name, (int)wanted, (int)counts[i]);
        }
    }
    return code;
}

/* Writes the marks of partitions that had none: so it is known from now on
 * where they begin. Those that the options name were looked for before. */
static enum colander_code
write_marks(struct topic_reader *reader, struct colander_error *err)
{
    struct colander_batch *batch = NULL;
    struct colander_slice value;
    struct colander_slice name;
    enum colander_code code = colander_batch_create(reader->store, &batch, err);
    bool found = true;

    for (size_t i = 0; reader->options.partition_count == 0 &&
                       i < reader->address.topic_count && code == COLANDER_OK;
         i++)
        code = topic_parts_lose(reader, &reader->topics[i], batch, err);
    while (code == COLANDER_OK && found) {
        code = topic_reader_mark(reader, &name, &value, &found, err);
        if (code == COLANDER_OK && found)
            code = colander_batch_mark(batch, reader->family, name, value, err);
    }
    if (code == COLANDER_OK && colander_batch_count(batch) > 0)
        code = colander_batch_commit(batch, NULL, err);
    colander_batch_destroy(batch);
    return code;
}

static enum colander_code
begin(struct topic_reader *reader, struct colander_error *err)
{
    int32_t *counts = calloc(reader->address.topic_count, sizeof(*counts));
    enum colander_code code = COLANDER_OK;

    reader->topics =
        calloc(reader->address.topic_count, sizeof(*reader->topics));
    if (counts == NULL || reader->topics == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for topics");
    if (code == COLANDER_OK)
        code = take_client(reader, err);
    if (code == COLANDER_OK)
        code = open_topics(reader, err);
    if (code == COLANDER_OK)
        code = count_parts(reader, counts, err);
    if (code == COLANDER_OK) {
        kafka_cluster(reader->asked, reader->cluster, sizeof(reader->cluster));
        reader->queue = rd_kafka_queue_new(reader->client);
        reader->looked_us = clock_us();
    }
    for (size_t i = 0; i < reader->address.topic_count && code == COLANDER_OK;
         i++) {
        struct topic *topic = &reader->topics[i];
        bool is_known;

        code = topic_is_known(reader, topic, counts[i], &is_known, err);
        if (code == COLANDER_OK)
            code = topic_parts_add(reader, topic, counts[i], is_known, err);
    }
    free(counts);
    return code == COLANDER_OK ? write_marks(reader, err) : code;
}

static void
count_state(struct topic_reader *reader)
{
    uint64_t count = 0;
    uint64_t lag = 0;
    int64_t end = 0;

    for (size_t i = 0; i < reader->address.topic_count; i++) {
        const struct topic *topic = &reader->topics[i];

        for (size_t j = 0; j < topic->part_count; j++) {
            const struct part *part = topic->parts[j];
            int64_t high = -1;
            int64_t low = -1;

            if (part->is_left_out)
                continue;
            count++;
            /* known from the first answer with records on */
            (void)rd_kafka_get_watermark_offsets(reader->client, topic->name,
                                                 (int32_t)j, &low, &high);
            if (high < part->high)
                high = part->high;
            end = high;
            if (high > part->reached)
                lag += (uint64_t)(high - part->reached);
        }
    }
    pthread_mutex_lock(&reader->trouble->lock);
    reader->state.partition_count = count;
    reader->state.end = end;
    reader->state.lag = lag;
    reader->state.next = reader->next;
    reader->state.sent_twice = reader->sent_twice;
    pthread_mutex_unlock(&reader->trouble->lock);
}

enum colander_code
topic_reader_open(struct colander_store *store, struct colander_family *family,
                  const struct topic_reader_options *options,
                  struct topic_reader **reader, struct colander_error *err)
{
    struct topic_reader *opened = calloc(1, sizeof(*opened));
    struct kafka_trouble *trouble;
    enum colander_code code;

    *reader = NULL;
    if (opened == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a reader");
    opened->store = store;
    opened->family = family;
    opened->options = *options;
    code = kafka_address_read(&opened->address, options->brokers.address, err);
    if (code == COLANDER_OK) {
        code = begin(opened, err);
        trouble = opened->asked == NULL ? NULL : rd_kafka_opaque(opened->asked);
        if (code == COLANDER_IO && trouble != NULL) {
            pthread_mutex_lock(&trouble->lock);
            if (trouble->text[0] != '\0')
                colander_error_context(err, "%s", trouble->text);
            pthread_mutex_unlock(&trouble->lock);
        }
    }
    opened->is_open = true;
    if (code == COLANDER_OK) {
        count_state(opened); /* many records may wait from the beginning on */
        *reader = opened;
    } else {
        topic_reader_close(opened);
    }
    return code;
}

void
topic_reader_close(struct topic_reader *reader)
{
    if (reader == NULL)
        return;
    if (reader->topics != NULL)
        close_client(reader);
    for (size_t i = 0;
         reader->topics != NULL && i < reader->address.topic_count; i++) {
        struct topic *topic = &reader->topics[i];

        for (size_t j = 0; j < topic->part_count; j++) {
            free(topic->parts[j]->loads);
            free(topic->parts[j]);
        }
        free(topic->parts);
    }
    free(reader->topics);
    kafka_address_release(&reader->address);
    colander_buffer_release(&reader->name);
    colander_buffer_release(&reader->value);
    free(reader);
}

/* ---------------------------------------------------------------- state --- */

/* Looks for new partitions; next time, if no broker answers. */
static enum colander_code
look_for_parts(struct topic_reader *reader, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < reader->address.topic_count && code == COLANDER_OK &&
                       !kafka_is_stopped(&reader->options.brokers);
         i++) {
        struct topic *topic = &reader->topics[i];
        const struct rd_kafka_metadata *metadata = NULL;

        if (rd_kafka_metadata(reader->asked, 0, topic->asked, &metadata,
                              KAFKA_ASK_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
            break;
        if (metadata->topic_cnt == 1 &&
            metadata->topics[0].err == RD_KAFKA_RESP_ERR_NO_ERROR)
            code = topic_parts_add(
                reader, topic, metadata->topics[0].partition_cnt, true, err);
        rd_kafka_metadata_destroy(metadata);
    }
    return code;
}

/* Does what has to be done from time to time. */
static enum colander_code
serve(struct topic_reader *reader, struct colander_error *err)
{
    const unsigned look_ms =
        reader->options.look_ms > 0 ? reader->options.look_ms : LOOK_MS;
    const uint64_t now = clock_us();
    enum colander_code code = COLANDER_OK;

    if (now - reader->counted_us >= STATE_MS * UINT64_C(1000)) {
        reader->counted_us = now;
        (void)rd_kafka_poll(reader->client, 0);
        count_state(reader);
        code = topic_parts_retry(reader, err);
    }
    if (code != COLANDER_OK ||
        now - reader->looked_us < look_ms * UINT64_C(1000) ||
        reader->options.is_once || reader->options.partition_count > 0)
        return code;
    reader->looked_us = now;
    return look_for_parts(reader, err);
}

void
topic_reader_state(struct topic_reader *reader,
                   struct topic_reader_state *state)
{
    pthread_mutex_lock(&reader->trouble->lock);
    *state = reader->state;
    state->is_cut_off = reader->trouble->is_cut_off;
    memcpy(state->trouble, reader->trouble->text, sizeof(state->trouble));
    pthread_mutex_unlock(&reader->trouble->lock);
}

/* ----------------------------------------------------------------- next --- */

/* Whether all partitions were read to their end. */
static bool
is_over(const struct topic_reader *reader)
{
    if (!reader->options.is_once)
        return false;
    for (size_t i = 0; i < reader->address.topic_count; i++) {
        const struct topic *topic = &reader->topics[i];

        for (size_t j = 0; j < topic->part_count; j++) {
            if (topic->parts[j]->reached < topic->parts[j]->end ||
                topic->parts[j]->verifies)
                return false;
        }
    }
    return true;
}

enum colander_code
topic_reader_next(struct topic_reader *reader, unsigned wait_ms,
                  struct topic_record *record, bool *found, bool *is_end,
                  struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool waits = wait_ms > 0;

    *found = false;
    do {
        if (reader->message != NULL)
            rd_kafka_message_destroy(reader->message);
        if (reader->served++ % SERVE_EVERY == 0)
            code = serve(reader, err);
        /* without a look at the clock, if there is one */
        reader->message = rd_kafka_consume_queue(reader->queue, 0);
        if (reader->message == NULL && waits && code == COLANDER_OK) {
            code = serve(reader, err);
            if (!is_over(reader))
                reader->message =
                    rd_kafka_consume_queue(reader->queue, (int)wait_ms);
        }
        if (reader->message == NULL || code != COLANDER_OK)
            break;
        waits = false;
        code = topic_reader_take(reader, reader->message, found, record, err);
    } while (code == COLANDER_OK && !*found);
    *is_end = code == COLANDER_OK && !*found && is_over(reader);
    if (*is_end)
        count_state(reader);
    return code;
}
