/*
 * A cluster with a family of three partitions, of librdkafka's mock cluster and
 * a directory of objects, and nodes in this process.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_NODE_PLACE_H
#define TESTS_NODE_PLACE_H

#include "cluster/definition.h"
#include "cluster/mock_topic.h"
#include "core/clock.h"
#include "node/node.h"

#include <inttypes.h>
#include <pthread.h>

#define PARTITIONS 3
#define WAIT_US 120000000

/* A cluster with a family of three partitions. */
struct place {
    struct mock_brokers brokers;
    char folder[TEMPORARY_SIZE];
    char objects[TEMPORARY_SIZE + 40];   /* the address of the cluster */
    char directory[TEMPORARY_SIZE + 40]; /* of a node */
    const char *name;                    /* of it; NULL: it is alone */
    unsigned checkpoint_ms;              /* 0: they are made at its end */
};

static inline int
place_setup(void **state)
{
    static struct place place;
    struct cluster_definition definition = {.name = (char *)"c",
                                            .log = place.brokers.address,
                                            .members = (char *)"c-members"};
    struct cluster_family family = {.name = (char *)"rows",
                                    .topic = (char *)"p",
                                    .partition_count = PARTITIONS,
                                    .replica_count = 1,
                                    .partition_by = 1,
                                    .format = (char *)"json",
                                    .on_duplicate = (char *)"replace"};
    struct cluster *cluster;
    bool is_new;

    memset(&place, 0, sizeof(place));
    start(&place.brokers);
    *strrchr(place.brokers.address, '/') = '\0';
    rd_kafka_mock_topic_create(place.brokers.mock, "p", PARTITIONS, 1);
    rd_kafka_mock_topic_create(place.brokers.mock, "c-members", 1, 1);
    temporary_make(place.folder);
    (void)snprintf(place.objects, sizeof(place.objects), "file://%s/objects",
                   place.folder);
    (void)snprintf(place.directory, sizeof(place.directory), "%s/node",
                   place.folder);
    OK(cluster_create(place.objects, &definition, why()));
    OK(cluster_open(place.objects, &cluster, why()));
    OK(cluster_texts_add(&family.key, "id", why()));
    OK(cluster_define(cluster, &family, &is_new, why()));
    cluster_texts_release(&family.key);
    cluster_close(cluster);
    *state = &place;
    return 0;
}

static inline int
place_teardown(void **state)
{
    struct place *place = *state;

    rd_kafka_destroy(place->brokers.client);
    temporary_remove(place->folder);
    return 0;
}

#define PLACE_TEST(name)                                                       \
    TEST_WITH(struct place *place, name, place_setup, place_teardown)

/* Sends the row with the key `id`, and a number, to a partition. */
static inline void
put_in(const struct place *place, int32_t partition, int id, int number)
{
    char text[100];
    char key[20];

    (void)snprintf(text, sizeof(text), "{\"id\":%d,\"n\":%d}", id, number);
    (void)snprintf(key, sizeof(key), "%d", id);
    assert_int_equal(
        rd_kafka_producev(
            place->brokers.client, RD_KAFKA_V_TOPIC("p"),
            RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_KEY(key, strlen(key)),
            RD_KAFKA_V_VALUE((void *)text, strlen(text)),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
        RD_KAFKA_RESP_ERR_NO_ERROR);
}

static inline void
put(const struct place *place, int id, int number)
{
    put_in(place, id % PARTITIONS, id, number);
}

static inline void
put_rows(const struct place *place, int from, int until, int number)
{
    for (int id = from; id < until; id++)
        put(place, id, number);
    assert_int_equal(rd_kafka_flush(place->brokers.client, 60000),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
}

static char said[200000]; /* by nodes, the last lines */

static inline void
say(void *context, const char *line)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const size_t room = sizeof(said) / 2;
    size_t size;

    (void)context;
    printf("  %s\n", line);
    pthread_mutex_lock(&lock);
    size = strlen(said);
    if (size > room) {
        memmove(said, said + size - room, room + 1);
        size = room;
    }
    (void)snprintf(said + size, sizeof(said) - size, "%s\n", line);
    pthread_mutex_unlock(&lock);
}

static inline struct node *
open_node(const struct place *place)
{
    static const char *const settings[] = {"fetch.error.backoff.ms=1",
                                           "fetch.wait.max.ms=10"};
    const struct node_options options = {.cluster = place->objects,
                                         .directory = place->directory,
                                         .settings = settings,
                                         .setting_count = COUNT(settings),
                                         .name = place->name,
                                         .checkpoint_ms = place->checkpoint_ms,
                                         .say_ms = 50,
                                         .lost_ms = 1000,
                                         .say = say};
    struct node *node;

    OK(node_open(&options, &node, why()));
    OK(node_join(node, place->name == NULL ? NULL : "http://127.0.0.1:1",
                 why()));
    return node;
}

/* Waits until the partitions have applied this many records together, and can
 * be read. */
static inline void
await(struct node *node, int64_t wanted)
{
    const uint64_t end = clock_us() + WAIT_US;

    for (;;) {
        struct node_partition *partitions;
        bool are_open = true;
        int64_t applied = 0;
        size_t count;

        OK(node_partitions(node, &partitions, &count, why()));
        for (size_t i = 0; i < count; i++) {
            applied += partitions[i].applied > 0 ? partitions[i].applied : 0;
            are_open = are_open && partitions[i].phase == NODE_FOLLOWING;
        }
        if (applied < wanted && clock_us() > end)
            for (size_t i = 0; i < count; i++)
                print_error("%u: %" PRId64 " %s\n", partitions[i].number,
                            partitions[i].applied, partitions[i].problem);
        node_partitions_release(partitions, count);
        if (applied >= wanted && are_open)
            return;
        assert_true(clock_us() < end);
        (void)usleep(5000);
    }
}

/* Waits until the newest checkpoints have this many records together. */
static inline void
await_checkpoints(struct node *node, int64_t wanted)
{
    const uint64_t end = clock_us() + WAIT_US;
    int64_t saved;

    do {
        struct node_partition *partitions;
        size_t count;

        assert_true(clock_us() < end);
        (void)usleep(5000);
        saved = 0;
        OK(node_partitions(node, &partitions, &count, why()));
        for (size_t i = 0; i < count; i++)
            saved +=
                partitions[i].checkpoint > 0 ? partitions[i].checkpoint : 0;
        node_partitions_release(partitions, count);
    } while (saved != wanted);
}

/* Runs a command of the shell, made by the format. */
static inline void
command(const char *format, ...)
{
    char line[1000];
    va_list arguments;

    va_start(arguments, format);
    assert_in_range(vsnprintf(line, sizeof(line), format, arguments), 1,
                    sizeof(line) - 1);
    va_end(arguments);
    ZERO(system(line));
}

/* Asserts that the node has the rows with keys from 0 to before `count`, in
 * order, each with `number`. */
static inline void
assert_rows(struct node *node, int count, int number)
{
    SCOPED_FAMILY family = NULL;
    SCOPED_CURSOR cursor = NULL;
    struct colander_result row;
    int id = 0;
    bool is_row;

    OK(colander_family_open(node_store(node), "rows", &family, why()));
    OK(colander_family_find(family, NULL, &cursor, why()));
    for (;; id++) {
        struct colander_value value;
        bool found;

        OK(colander_cursor_next(cursor, &is_row, &row, why()));
        if (!is_row)
            break;
        OK(colander_row_get(row.row, "id", &value, &found, why()));
        assert_true(found);
        assert_int_equal(value.integer, id);
        OK(colander_row_get(row.row, "n", &value, &found, why()));
        assert_int_equal(value.integer, number);
    }
    assert_int_equal(id, count);
}

/* Sends so much that brokers forget what was before. A node, if there is one,
 * has applied `before` records, and reads all. */
static inline void
put_much(const struct place *place, struct node *node, int64_t before,
         int count, int number)
{
    static char text[30000];

    for (int i = 0; i < count; i++) {
        const int id = i % 300;
        const int size = snprintf(text, sizeof(text),
                                  "{\"id\":%d,\"n\":%d,\"pad\":\"", id, number);

        char key[20];

        (void)snprintf(key, sizeof(key), "%d", id);
        memset(text + size, 'x', sizeof(text) - (size_t)size - 2);
        memcpy(text + sizeof(text) - 2, "\"}", 2);
        assert_int_equal(
            rd_kafka_producev(place->brokers.client, RD_KAFKA_V_TOPIC("p"),
                              RD_KAFKA_V_PARTITION(id % PARTITIONS),
                              RD_KAFKA_V_KEY(key, strlen(key)),
                              RD_KAFKA_V_VALUE((void *)text, sizeof(text)),
                              RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                              RD_KAFKA_V_END),
            RD_KAFKA_RESP_ERR_NO_ERROR);
        if (i % 50 != 0)
            continue;
        assert_int_equal(rd_kafka_flush(place->brokers.client, 60000),
                         RD_KAFKA_RESP_ERR_NO_ERROR);
        if (node != NULL)
            await(node, before + i + 1);
    }
    assert_int_equal(rd_kafka_flush(place->brokers.client, 60000),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
}

#endif
