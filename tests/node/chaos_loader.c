/*
 * For test_chaos.sh: sends records with numbers to a topic until it is ended,
 * and writes into a journal which were sent and which were acknowledged.
 *
 *     chaos_loader BROKERS TOPIC JOURNAL LOADER SEED RATE
 *
 * LOADER is its number: it has the keys from LOADER * 1000 on. RATE is how
 * many records it sends in a second. A journal that is there is continued. Its
 * lines, with the time in ms since 1970:
 *
 *     s NUMBER MS    before the record is sent
 *     a NUMBER MS    when it is acknowledged
 *
 * Records have the headers `number`, which is LOADER-NUMBER, `kind`, and often
 * `op`. Some are bad.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEYS 300
#define TEXT_MAX 400
#define PARTITIONS_MAX 1000

static volatile sig_atomic_t is_stopped;
static int journal;
static int32_t partition_count;
static bool has_begun[PARTITIONS_MAX];

static void
stop(int number)
{
    (void)number;
    is_stopped = 1;
}

static void
note(char what, uint64_t number)
{
    char line[80];
    struct timespec now;
    int size;

    clock_gettime(CLOCK_REALTIME, &now);
    size = snprintf(line, sizeof(line), "%c %" PRIu64 " %lld\n", what, number,
                    (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000);

    if (write(journal, line, (size_t)size) != size)
        abort();
}

/* The number of a record is its opaque. Its partition has records of this
 * session now. */
static void
see_delivery(rd_kafka_t *client, const rd_kafka_message_t *message,
             void *opaque)
{
    (void)client;
    (void)opaque;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        note('a', (uint64_t)(uintptr_t)message->_private);
        has_begun[message->partition % PARTITIONS_MAX] = true;
    } else {
        fprintf(stderr, "chaos_loader: %s\n", rd_kafka_err2str(message->err));
    }
}

/* Returns the highest number in the journal. */
static uint64_t
read_journal(const char *path)
{
    FILE *file = fopen(path, "r");
    uint64_t highest = 0;
    uint64_t number;
    char what;

    while (file != NULL &&
           fscanf(file, "%c %" SCNu64 " %*d\n", &what, &number) == 2)
        highest = number > highest ? number : highest;
    if (file != NULL)
        fclose(file);
    return highest;
}

struct record {
    const char *kind;
    const char *operation; /* NULL: none */
    char key[20];
    char text[TEXT_MAX]; /* "": null */
};

/* Makes the record with a number. */
static void
make(struct record *record, unsigned loader, uint64_t number)
{
    const int choice = rand() % 100;
    const unsigned id = loader * 1000 + (unsigned)rand() % KEYS;

    *record = (struct record){.kind = "put"};
    (void)snprintf(record->key, sizeof(record->key), "%u", id);
    (void)snprintf(record->text, sizeof(record->text),
                   "{\"id\":%u,\"n\":\"%u-%" PRIu64
                   "\",\"city\":\"city-%u\",\"text\":\"word %u and more\"}",
                   id, loader, number, (unsigned)rand() % 11,
                   (unsigned)rand() % 13);
    if (choice < 20) {
        record->kind = record->operation = "patch";
        (void)snprintf(record->text, sizeof(record->text),
                       "{\"id\":%u,\"n\":\"%u-%" PRIu64
                       "\",\"note\":\"note %u\"}",
                       id, loader, number, (unsigned)rand() % 7);
    } else if (choice < 30) {
        record->kind = record->operation = "delete";
        (void)snprintf(record->text, sizeof(record->text), "{\"id\":%u}", id);
    } else if (choice < 35) {
        record->kind = "delete";
        record->text[0] = '\0';
    } else if (choice < 38) {
        record->kind = "bad";
        (void)snprintf(record->text, sizeof(record->text), "bad %u-%" PRIu64,
                       loader, number);
    } else if (choice < 40) { /* its key is not that of its row */
        record->kind = "bad";
        (void)snprintf(record->key, sizeof(record->key), "%u", id + KEYS);
    } else if (choice < 42) {
        record->kind = "bad";
        record->operation = "remove";
    } else if (choice < 50) {
        record->operation = "put";
    }
}

/* Waits for the acknowledgement if the record is the first of this session in
 * its partition: until a broker has it, it takes any later one as the first,
 * and librdkafka then reports that those before were acknowledged, too. */
static void
await_first(rd_kafka_t *producer, const struct record *record)
{
    const int32_t partition = rd_kafka_msg_partitioner_murmur2(
        NULL, record->key, strlen(record->key), partition_count, NULL, NULL);

    while (!has_begun[partition % PARTITIONS_MAX] && !is_stopped &&
           rd_kafka_outq_len(producer) > 0)
        (void)rd_kafka_flush(producer, 100);
}

static bool
send_record(rd_kafka_t *producer, const char *topic, unsigned loader,
            const struct record *record, uint64_t number)
{
    void *value = record->text[0] == '\0' ? NULL : (void *)record->text;
    char name[40];
    rd_kafka_resp_err_t error;

    (void)snprintf(name, sizeof(name), "%u-%" PRIu64, loader, number);
    do {
        rd_kafka_headers_t *headers = rd_kafka_headers_new(3);

        rd_kafka_header_add(headers, "number", -1, name, -1);
        rd_kafka_header_add(headers, "kind", -1, record->kind, -1);
        if (record->operation != NULL)
            rd_kafka_header_add(headers, "op", -1, record->operation, -1);
        error = rd_kafka_producev(
            producer, RD_KAFKA_V_TOPIC(topic),
            RD_KAFKA_V_KEY(record->key, strlen(record->key)),
            RD_KAFKA_V_VALUE(value, strlen(record->text)),
            RD_KAFKA_V_HEADERS(headers),
            RD_KAFKA_V_OPAQUE((void *)(uintptr_t)number),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
            rd_kafka_headers_destroy(headers);
        rd_kafka_poll(producer,
                      error == RD_KAFKA_RESP_ERR__QUEUE_FULL ? 100 : 0);
    } while (error == RD_KAFKA_RESP_ERR__QUEUE_FULL && !is_stopped);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
        await_first(producer, record);
    return error == RD_KAFKA_RESP_ERR_NO_ERROR || is_stopped;
}

/* Asks how many partitions the topic has, until that is known or this ends. */
static void
find_partitions(rd_kafka_t *producer, const char *name)
{
    rd_kafka_topic_t *topic = rd_kafka_topic_new(producer, name, NULL);

    while (partition_count == 0 && !is_stopped) {
        const struct rd_kafka_metadata *found;

        if (rd_kafka_metadata(producer, 0, topic, &found, 1000) ==
            RD_KAFKA_RESP_ERR_NO_ERROR) {
            if (found->topic_cnt == 1)
                partition_count = found->topics[0].partition_cnt;
            rd_kafka_metadata_destroy(found);
        }
        usleep(100000);
    }
    rd_kafka_topic_destroy(topic);
}

static rd_kafka_t *
open_producer(const char *brokers)
{
    static const char *const settings[][2] = {
        {"enable.idempotence", "true"},
        {"acks", "all"},
        {"partitioner", "murmur2_random"},
        {"linger.ms", "5"},
        {"message.timeout.ms", "0"},
        {"queue.buffering.max.messages", "5000"},
        {"reconnect.backoff.max.ms", "1000"}};
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char why[300];

    rd_kafka_conf_set(conf, "bootstrap.servers", brokers, NULL, 0);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (rd_kafka_conf_set(conf, settings[i][0], settings[i][1], why,
                              sizeof(why)) != RD_KAFKA_CONF_OK) {
            fprintf(stderr, "chaos_loader: %s\n", why);
            return NULL;
        }
    }
    rd_kafka_conf_set_dr_msg_cb(conf, see_delivery);
    rd_kafka_conf_set_log_cb(conf, NULL);
    return rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why));
}

int
main(int argc, char **argv)
{
    rd_kafka_t *producer;
    uint64_t number;
    unsigned loader;
    unsigned rate;
    bool is_sent = true;

    if (argc != 7 || (producer = open_producer(argv[1])) == NULL)
        return 2;
    loader = (unsigned)atoi(argv[4]);
    rate = (unsigned)atoi(argv[6]);
    number = read_journal(argv[3]);
    journal = open(argv[3], O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (journal < 0)
        return 2;
    srand((unsigned)atoi(argv[5]) + loader + (unsigned)number);
    signal(SIGTERM, stop);
    find_partitions(producer, argv[2]);
    while (!is_stopped && is_sent &&
           rd_kafka_fatal_error(producer, NULL, 0) == 0) {
        struct record record;

        make(&record, loader, ++number);
        note('s', number);
        is_sent = send_record(producer, argv[2], loader, &record, number);
        usleep(1000000 / rate);
    }
    if (rd_kafka_flush(producer, 60000) != RD_KAFKA_RESP_ERR_NO_ERROR)
        is_sent = false;
    return is_sent && rd_kafka_fatal_error(producer, NULL, 0) == 0 ? 0 : 1;
}
