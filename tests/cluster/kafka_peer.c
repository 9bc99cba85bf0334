/*
 * For scripts: a client of the brokers that the first argument names, or as
 * many of librdkafka's mock cluster as it says. The id of such a cluster is
 * made of its address in memory: another number as second argument, another
 * id. Prints the brokers' addresses, and then "ok" for each line of standard
 * input that it has carried out:
 *
 *     topic NAME PARTITIONS [POLICY] which brokers compact or delete
 *     begin NAME PARTITIONS         the same of real brokers, of which not all
 *                                   may know it yet
 *     delete TOPIC                  of real brokers
 *     trim TOPIC PARTITION OFFSET   removes what is before, of real brokers
 *     put TOPIC PARTITION FILE      a record for each line
 *     op TOPIC PARTITION FILE OP    the same with a header op
 *     ops TOPIC PARTITION FILE      the same, each line with its own before a
 *                                   space; "null KEY" is as below
 *     null TOPIC PARTITION [KEY]    a record without a value
 *     many TOPIC PARTITION FIRST COUNT SIZE   records with _key, n and a text
 *     error API CODE COUNT          answers the next requests with it
 *     accept API                    does not any more
 *     leader TOPIC PARTITION BROKER
 *     down BROKER
 *     up BROKER
 *
 * The last four are for the mock cluster.
 *
 * SPDX-License-Identifier: MIT
 */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_MAX (1 << 20)
#define FLUSH_MS 150000 /* a broker may be killed meanwhile */

static rd_kafka_t *producer;
static bool has_failed;

static void
see_delivery(rd_kafka_t *client, const rd_kafka_message_t *message,
             void *opaque)
{
    (void)client;
    (void)opaque;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        fprintf(stderr, "kafka_peer: %s\n", rd_kafka_err2str(message->err));
        has_failed = true;
    }
}

static const char *operation = ""; /* of the records that are put; "": none */
static const char *key = "";       /* the same */

static void
put(const char *topic, int partition, const char *value, size_t size)
{
    rd_kafka_resp_err_t error;

    do {
        rd_kafka_headers_t *headers = rd_kafka_headers_new(1);
        const char *sent = key[0] == '\0' ? NULL : key;

        if (operation[0] != '\0')
            rd_kafka_header_add(headers, "op", -1, operation, -1);
        error = rd_kafka_producev(
            producer, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition),
            RD_KAFKA_V_KEY(sent, strlen(key)),
            RD_KAFKA_V_VALUE((void *)value, size), RD_KAFKA_V_HEADERS(headers),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
            rd_kafka_headers_destroy(headers);
        rd_kafka_poll(producer, error == RD_KAFKA_RESP_ERR__QUEUE_FULL);
    } while (error == RD_KAFKA_RESP_ERR__QUEUE_FULL);
    has_failed |= error != RD_KAFKA_RESP_ERR_NO_ERROR;
}

static void
put_null(const char *topic, int partition, const char *its_key)
{
    key = its_key;
    put(topic, partition, NULL, 0);
    key = "";
}

/* Puts what the line says: "OP RECORD" or "null KEY". */
static void
put_operation(const char *topic, int partition, char *line)
{
    char *record = strchr(line, ' ');

    if (record == NULL) {
        has_failed = true;
        return;
    }
    *record++ = '\0';
    if (strcmp(line, "null") == 0) {
        put_null(topic, partition, record);
        return;
    }
    operation = line;
    put(topic, partition, record, strlen(record));
    operation = "";
}

static void
put_file(const char *topic, int partition, const char *path, bool has_ops)
{
    static char line[RECORD_MAX];
    FILE *file = fopen(path, "r");

    has_failed |= file == NULL;
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (has_ops)
            put_operation(topic, partition, line);
        else
            put(topic, partition, line, strlen(line));
    }
    if (file != NULL)
        fclose(file);
}

static void
put_many(const char *topic, int partition, long first, long count, int size)
{
    char *value = malloc((size_t)size + 200);

    for (long i = first; i < first + count; i++) {
        const int used = snprintf(value, 200,
                                  "{\"_key\":%ld,\"n\":%ld,"
                                  "\"text\":\"",
                                  i, i % 1000);
        int at = used;

        for (; at < size - 2; at++)
            value[at] = (char)('a' + (i * 7 + at * at) % 26);
        memcpy(value + at, "\"}", 2);
        put(topic, partition, value, (size_t)at + 2);
    }
    free(value);
}

/* ---------------------------------------------------------------- admin --- */

/* Waits for the result of a request, whose queue it destroys. */
static void
await(rd_kafka_queue_t *queue)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, 30000);
    const rd_kafka_topic_result_t **results = NULL;
    size_t count = 0;

    has_failed |= event == NULL ||
                  rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR;
    if (event != NULL && rd_kafka_event_CreateTopics_result(event) != NULL)
        results = rd_kafka_CreateTopics_result_topics(
            rd_kafka_event_CreateTopics_result(event), &count);
    else if (event != NULL && rd_kafka_event_DeleteTopics_result(event) != NULL)
        results = rd_kafka_DeleteTopics_result_topics(
            rd_kafka_event_DeleteTopics_result(event), &count);
    for (size_t i = 0; i < count; i++) {
        if (rd_kafka_topic_result_error(results[i]) !=
            RD_KAFKA_RESP_ERR_NO_ERROR) {
            fprintf(stderr, "kafka_peer: %s\n",
                    rd_kafka_topic_result_error_string(results[i]));
            has_failed = true;
        }
    }
    if (event != NULL)
        rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
}

static bool
try_topic(const char *name, int partitions, const char *policy)
{
    rd_kafka_NewTopic_t *topic =
        rd_kafka_NewTopic_new(name, partitions, 3, NULL, 0);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(producer);

    rd_kafka_NewTopic_set_config(topic, "min.insync.replicas", "2");
    rd_kafka_NewTopic_set_config(topic, "cleanup.policy", policy);
    has_failed = false;
    rd_kafka_CreateTopics(producer, &topic, 1, NULL, queue);
    await(queue);
    rd_kafka_NewTopic_destroy(topic);
    return !has_failed;
}

/* Whether the producer knows all partitions, and their leaders do. Asks them:
 * librdkafka fails records when it meets a broker that does not know a topic
 * yet. */
static bool
knows(const char *name, int partitions)
{
    const struct rd_kafka_metadata *found = NULL;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(producer, name, NULL);
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new(partitions);
    bool is_known;

    for (int i = 0; i < partitions; i++)
        rd_kafka_topic_partition_list_add(list, name, i)->offset =
            RD_KAFKA_OFFSET_END;
    is_known = rd_kafka_offsets_for_times(producer, list, 5000) ==
               RD_KAFKA_RESP_ERR_NO_ERROR;
    for (int i = 0; i < partitions; i++)
        is_known = is_known && list->elems[i].err == RD_KAFKA_RESP_ERR_NO_ERROR;
    rd_kafka_topic_partition_list_destroy(list);
    is_known = is_known &&
               rd_kafka_metadata(producer, 0, topic, &found, 5000) ==
                   RD_KAFKA_RESP_ERR_NO_ERROR &&
               found->topic_cnt == 1 &&
               found->topics[0].partition_cnt == partitions;
    if (found != NULL)
        rd_kafka_metadata_destroy(found);
    rd_kafka_topic_destroy(topic);
    return is_known;
}

/* Each record is on all of three brokers, and acknowledged by two. Waits until
 * these have started, or an older topic is deleted. */
static void
create_topic(const char *name, int partitions, const char *policy,
             bool is_awaited)
{
    for (int i = 0; i < 120 && !try_topic(name, partitions, policy); i++)
        usleep(500000);
    for (int i = 0;
         i < 120 && !has_failed && is_awaited && !knows(name, partitions); i++)
        usleep(500000);
}

static void
delete_topic(const char *name)
{
    rd_kafka_DeleteTopic_t *topic = rd_kafka_DeleteTopic_new(name);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(producer);

    rd_kafka_DeleteTopics(producer, &topic, 1, NULL, queue);
    await(queue);
    rd_kafka_DeleteTopic_destroy(topic);
}

static void
trim(const char *topic, int partition, long offset)
{
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new(1);
    rd_kafka_DeleteRecords_t *records;
    rd_kafka_queue_t *queue = rd_kafka_queue_new(producer);

    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = offset;
    records = rd_kafka_DeleteRecords_new(list);
    rd_kafka_DeleteRecords(producer, &records, 1, NULL, queue);
    await(queue);
    rd_kafka_DeleteRecords_destroy(records);
    rd_kafka_topic_partition_list_destroy(list);
}

static int
api_of(const char *name)
{
    static const char *const names[] = {"produce", "fetch", "offsets",
                                        "metadata"};

    for (int i = 0; i < 4; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
    }
    return atoi(name);
}

/* Returns whether the line was understood. */
static bool
obey(rd_kafka_mock_cluster_t *cluster, const char *line)
{
    char word[300];
    char text[300] = "delete";
    char extra[100] = "";
    long numbers[5];

    has_failed = false;
    if (sscanf(line, "topic %299s %ld %299s", word, &numbers[0], text) >= 2 &&
        cluster == NULL)
        create_topic(word, (int)numbers[0], text, true);
    else if (sscanf(line, "begin %299s %ld", word, &numbers[0]) == 2)
        create_topic(word, (int)numbers[0], "delete", false);
    else if (sscanf(line, "delete %299s", word) == 1)
        delete_topic(word);
    else if (sscanf(line, "trim %299s %ld %ld", word, &numbers[0],
                    &numbers[1]) == 3)
        trim(word, (int)numbers[0], numbers[1]);
    else if (sscanf(line, "topic %299s %ld", word, &numbers[0]) == 2)
        has_failed =
            rd_kafka_mock_topic_create(cluster, word, (int)numbers[0], 1) != 0;
    else if (sscanf(line, "put %299s %ld %299s", word, &numbers[0], text) == 3)
        put_file(word, (int)numbers[0], text, false);
    else if (sscanf(line, "ops %299s %ld %299s", word, &numbers[0], text) == 3)
        put_file(word, (int)numbers[0], text, true);
    else if (sscanf(line, "op %299s %ld %299s %99s", word, &numbers[0], text,
                    extra) == 4) {
        operation = extra;
        put_file(word, (int)numbers[0], text, false);
        operation = "";
    } else if (sscanf(line, "null %299s %ld %99s", word, &numbers[0], extra) >=
               2)
        put_null(word, (int)numbers[0], extra);
    else if (sscanf(line, "many %299s %ld %ld %ld %ld", word, &numbers[0],
                    &numbers[1], &numbers[2], &numbers[3]) == 5)
        put_many(word, (int)numbers[0], numbers[1], numbers[2],
                 (int)numbers[3]);
    else if (sscanf(line, "error %299s %ld %ld", word, &numbers[0],
                    &numbers[1]) == 3) {
        for (long i = 0; i < numbers[1]; i++)
            rd_kafka_mock_push_request_errors(cluster, (int16_t)api_of(word), 1,
                                              (rd_kafka_resp_err_t)numbers[0]);
    } else if (sscanf(line, "accept %299s", word) == 1) {
        rd_kafka_mock_clear_request_errors(cluster, (int16_t)api_of(word));
    } else if (sscanf(line, "leader %299s %ld %ld", word, &numbers[0],
                      &numbers[1]) == 3)
        has_failed =
            rd_kafka_mock_partition_set_leader(
                cluster, word, (int32_t)numbers[0], (int32_t)numbers[1]) != 0;
    else if (sscanf(line, "down %ld", &numbers[0]) == 1)
        has_failed =
            rd_kafka_mock_broker_set_down(cluster, (int32_t)numbers[0]) != 0;
    else if (sscanf(line, "up %ld", &numbers[0]) == 1)
        has_failed =
            rd_kafka_mock_broker_set_up(cluster, (int32_t)numbers[0]) != 0;
    else
        return false;
    if (rd_kafka_flush(producer, FLUSH_MS) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        fprintf(stderr, "kafka_peer: records are not acknowledged in time\n");
        has_failed = true;
    }
    return !has_failed;
}

static rd_kafka_t *
start(const char *brokers, bool are_real)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char why[200];

    rd_kafka_conf_set(conf,
                      are_real ? "bootstrap.servers" : "test.mock.num.brokers",
                      brokers, NULL, 0);
    rd_kafka_conf_set(conf, "enable.idempotence", are_real ? "true" : "false",
                      NULL, 0);
    rd_kafka_conf_set(conf, "linger.ms", "0", NULL, 0);
    rd_kafka_conf_set_dr_msg_cb(conf, see_delivery);
    rd_kafka_conf_set_log_cb(conf, NULL);
    return rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why));
}

int
main(int argc, char **argv)
{
    const char *brokers = argc > 1 ? argv[1] : "1";
    const bool are_real = strchr(brokers, ':') != NULL;
    rd_kafka_mock_cluster_t *cluster;
    rd_kafka_t *spare[8] = {NULL}; /* hold the addresses of others */
    int spares = are_real || argc < 3 ? 0 : atoi(argv[2]) % 8;
    char line[2000];

    for (int i = 0; i < spares; i++)
        spare[i] = start("1", false);
    producer = start(brokers, are_real);
    cluster = producer == NULL ? NULL : rd_kafka_handle_mock_cluster(producer);
    if (producer == NULL || (cluster == NULL && !are_real))
        return 1;
    printf("%s\n",
           are_real ? brokers : rd_kafka_mock_cluster_bootstraps(cluster));
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        puts(obey(cluster, line) ? "ok" : "failed");
        fflush(stdout);
    }
    rd_kafka_destroy(producer);
    while (spares > 0)
        rd_kafka_destroy(spare[--spares]);
    return 0;
}
