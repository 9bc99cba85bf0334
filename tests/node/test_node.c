/*
 * Nodes: what is in the log is in their stores, once, whatever is killed or
 * lost.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/definition.h"
#include "cluster/mock_topic.h"
#include "cluster/topic.h"
#include "core/clock.h"
#include "node/node.h"
#include "support/children.h"

#include <inttypes.h>
#include <sys/wait.h>

#define PARTITIONS 3
#define WAIT_US 60000000

/* A cluster with a family of three partitions. */
struct place {
    struct mock_brokers brokers;
    char folder[TEMPORARY_SIZE];
    char objects[TEMPORARY_SIZE + 40];   /* the address of the cluster */
    char directory[TEMPORARY_SIZE + 40]; /* of a node */
};

static int
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

static int
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
static void
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

static void
put(const struct place *place, int id, int number)
{
    put_in(place, id % PARTITIONS, id, number);
}

static void
put_rows(const struct place *place, int from, int until, int number)
{
    for (int id = from; id < until; id++)
        put(place, id, number);
    assert_int_equal(rd_kafka_flush(place->brokers.client, 60000),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
}

static void
say(void *context, const char *line)
{
    (void)context;
    printf("  %s\n", line);
}

static struct node *
open_node(const struct place *place)
{
    static const char *const settings[] = {"fetch.error.backoff.ms=1",
                                           "fetch.wait.max.ms=10"};
    const struct node_options options = {.cluster = place->objects,
                                         .directory = place->directory,
                                         .settings = settings,
                                         .setting_count = COUNT(settings),
                                         .say = say};
    struct node *node;

    OK(node_open(&options, &node, why()));
    OK(node_join(node, NULL, why()));
    return node;
}

/* Waits until the partitions have applied this many records together. */
static void
await(struct node *node, int64_t wanted)
{
    const uint64_t end = clock_us() + WAIT_US;

    for (;;) {
        struct node_partition *partitions;
        int64_t applied = 0;
        size_t count;

        OK(node_partitions(node, &partitions, &count, why()));
        for (size_t i = 0; i < count; i++)
            applied += partitions[i].applied > 0 ? partitions[i].applied : 0;
        if (applied < wanted && clock_us() > end)
            for (size_t i = 0; i < count; i++)
                print_error("%u: %" PRId64 " %s\n", partitions[i].number,
                            partitions[i].applied, partitions[i].problem);
        node_partitions_release(partitions, count);
        if (applied >= wanted)
            return;
        assert_true(clock_us() < end);
        (void)usleep(5000);
    }
}

/* Asserts that the node has the rows with keys from 0 to before `count`, in
 * order, each with `number`. */
static void
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

PLACE_TEST(a_node_has_what_the_log_has)
{
    struct node *node = open_node(place);
    struct node_partition *partitions;
    size_t count;

    put_rows(place, 0, 3000, 1);
    await(node, 3000);
    assert_rows(node, 3000, 1);
    put_rows(place, 0, 3000, 2);
    await(node, 6000);
    assert_rows(node, 3000, 2);
    OK(node_partitions(node, &partitions, &count, why()));
    assert_int_equal(count, PARTITIONS);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(partitions[i].family, "rows");
        assert_int_equal(partitions[i].number, i);
        assert_int_equal(partitions[i].phase, NODE_FOLLOWING);
        assert_int_equal(partitions[i].applied, 2000);
        assert_int_equal(partitions[i].checkpoint, -1);
    }
    node_partitions_release(partitions, count);
    OK(node_close(node, why()));

    node = open_node(place);
    put_rows(place, 3000, 3100, 2);
    await(node, 6100);
    assert_rows(node, 3100, 2);
    OK(node_partitions(node, &partitions, &count, why()));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(partitions[i].checkpoint, 2000);
    node_partitions_release(partitions, count);
    OK(node_close(node, why()));
}

/* Puts rows where their keys decide. */
static void
put_placed(const struct place *place, int from, int until)
{
    for (int id = from; id < until; id++) {
        char key[20];

        (void)snprintf(key, sizeof(key), "%d", id);
        put_in(place, topic_partition_of(colander_slice_text(key), PARTITIONS),
               id, 1);
    }
    assert_int_equal(rd_kafka_flush(place->brokers.client, 60000),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
}

/* Finds the row with the key `id`. Returns whether it is there; sets how many
 * partitions were not asked. */
static bool
find_one(struct node *node, int id, uint64_t *unasked)
{
    SCOPED_FAMILY family = NULL;
    SCOPED_CURSOR cursor = NULL;
    SCOPED_BUFFER got = COLANDER_BUFFER_EMPTY;
    struct colander_explain explain;
    struct colander_query query;
    struct colander_result row;
    struct colander_key key;
    const struct colander_value part = colander_integer(id);
    bool is_row, found;

    colander_query_init(&query);
    query.keys.prefix = colander_key_of(&key, &part, 1);
    OK(colander_family_open(node_store(node), "rows", &family, why()));
    OK(colander_family_find(family, &query, &cursor, why()));
    OK(colander_cursor_next(cursor, &is_row, &row, why()));
    colander_cursor_explain(cursor, &explain);
    assert_int_equal(explain.store_count, PARTITIONS);
    *unasked = explain.stores_unasked;
    OK(colander_family_get(family, query.keys.prefix, NULL, &got, &found,
                           why()));
    assert_int_equal(found, is_row);
    return found;
}

/* Waits until finds of a key leave out so many partitions. */
static void
await_unasked(struct node *node, uint64_t wanted)
{
    const uint64_t end = clock_us() + WAIT_US;
    uint64_t unasked;

    for (;;) {
        (void)find_one(node, 1, &unasked);
        if (unasked == wanted)
            return;
        assert_true(clock_us() < end);
        (void)usleep(20000);
    }
}

PLACE_TEST(a_key_is_looked_for_where_it_can_be_and_no_row_is_missed)
{
    struct node *node = open_node(place);
    uint64_t unasked;

    put_placed(place, 0, 300);
    await(node, 300);
    await_unasked(node, PARTITIONS - 1);
    for (int id = 0; id < 310; id++) {
        assert_int_equal(find_one(node, id, &unasked), id < 300);
        assert_int_equal(unasked, PARTITIONS - 1);
    }
    OK(node_close(node, why()));
    node = open_node(place); /* a mark says so */
    await(node, 300);
    await_unasked(node, PARTITIONS - 1);

    put_rows(place, 300, 400, 1); /* anywhere */
    await(node, 400);
    await_unasked(node, 0);
    for (int id = 0; id < 410; id++) {
        assert_int_equal(find_one(node, id, &unasked), id < 400);
        assert_int_equal(unasked, 0);
    }
    OK(node_close(node, why()));
    node = open_node(place); /* also later */
    await(node, 400);
    put_placed(place, 400, 410);
    await(node, 410);
    (void)usleep(1500000); /* routes would be others by now */
    for (int id = 0; id < 420; id++) {
        assert_int_equal(find_one(node, id, &unasked), id < 410);
        assert_int_equal(unasked, 0);
    }
    OK(node_close(node, why()));
}

PLACE_TEST(a_lost_directory_comes_back_from_the_checkpoint_and_the_log)
{
    struct node *node = open_node(place);

    put_rows(place, 0, 600, 1);
    await(node, 600);
    OK(node_close(node, why()));
    put_rows(place, 0, 300, 2);
    put_rows(place, 300, 600, 2);
    temporary_remove(place->directory);
    node = open_node(place);
    await(node, 1200);
    assert_rows(node, 600, 2);
    OK(node_close(node, why()));
}

PLACE_TEST(a_damaged_checkpoint_is_named_and_the_one_before_is_taken)
{
    static const char lists[] = "find %s/objects/partitions -path '*backups*' "
                                "-type f | sort | tail -1 | "
                                "xargs -I{} dd if=/dev/zero of={} bs=1 "
                                "seek=9 count=8 conv=notrunc status=none";
    char command[sizeof(lists) + TEMPORARY_SIZE];
    struct node *node = open_node(place);

    put_rows(place, 0, 300, 1);
    await(node, 300);
    OK(node_close(node, why()));
    node = open_node(place);
    put_rows(place, 0, 300, 2);
    await(node, 600);
    OK(node_close(node, why()));
    temporary_remove(place->directory);
    (void)snprintf(command, sizeof(command), lists, place->folder);
    ZERO(system(command));
    node = open_node(place);
    await(node, 600);
    assert_rows(node, 300, 2);
    OK(node_close(node, why()));
}

/* Sends so much that brokers forget what was before. */
static void
put_much(const struct place *place, int count, int number)
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
        if (i % 50 == 0)
            assert_int_equal(rd_kafka_flush(place->brokers.client, 60000),
                             RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    assert_int_equal(rd_kafka_flush(place->brokers.client, 60000),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
}

PLACE_TEST(a_damaged_store_is_kept_aside_and_made_again)
{
    static const char damages[] =
        "dd if=/dev/zero of=$(ls %s/rows/0001/rocksdb/"
        "MANIFEST-* | tail -1) bs=1 seek=3 count=8 "
        "conv=notrunc status=none";
    char command[sizeof(damages) + 2 * TEMPORARY_SIZE];
    struct node *node = open_node(place);

    put_rows(place, 0, 300, 1);
    await(node, 300);
    OK(node_close(node, why()));
    (void)snprintf(command, sizeof(command), damages, place->directory);
    ZERO(system(command));
    node = open_node(place);
    put_rows(place, 0, 300, 2);
    await(node, 600);
    assert_rows(node, 300, 2);
    OK(node_close(node, why()));
    (void)snprintf(command, sizeof(command), "test -d %s/rows/0001.damaged",
                   place->directory);
    ZERO(system(command));
}

PLACE_TEST(a_node_that_the_log_has_left_behind_takes_a_newer_checkpoint)
{
    char *end = place->directory + strlen(place->directory);
    struct node *node = open_node(place);

    put_rows(place, 0, 300, 1);
    await(node, 300);
    OK(node_close(node, why()));
    (void)strcat(place->directory, "-2");
    node = open_node(place);
    put_much(place, 900, 2);
    await(node, 1200);
    OK(node_close(node, why()));
    *end = '\0';
    node = open_node(place);
    await(node, 1200);
    assert_rows(node, 300, 2);
    OK(node_close(node, why()));
}

PLACE_TEST(without_a_newer_checkpoint_it_says_what_is_missing)
{
    const uint64_t end = clock_us() + WAIT_US;
    struct node *node = open_node(place);
    unsigned behind = 0;

    put_rows(place, 0, 300, 1);
    await(node, 300);
    OK(node_close(node, why()));
    put_much(place, 900, 2);
    node = open_node(place);
    while (behind < PARTITIONS) {
        struct node_partition *partitions;
        size_t count;

        OK(node_partitions(node, &partitions, &count, why()));
        behind = 0;
        for (size_t i = 0; i < count; i++)
            behind += partitions[i].phase == NODE_WAITING &&
                      strstr(partitions[i].problem,
                             "were removed before they were read") != NULL;
        node_partitions_release(partitions, count);
        assert_true(clock_us() < end);
        (void)usleep(5000);
    }
    assert_rows(node, 300, 1); /* what it has can be read */
    OK(node_close(node, why()));
}

PLACE_TEST(two_nodes_may_have_the_same_partitions)
{
    struct node *one = open_node(place);
    struct node *other;

    put_rows(place, 0, 300, 1);
    (void)strcat(place->directory, "-2");
    other = open_node(place);
    await(one, 300);
    await(other, 300);
    assert_rows(other, 300, 1);
    OK(node_close(one, why()));
    put_rows(place, 0, 300, 2);
    await(other, 600);
    OK(node_close(other, why())); /* its checkpoints go where the others are */
    temporary_remove(place->directory);
    other = open_node(place);
    await(other, 600);
    assert_rows(other, 300, 2);
    OK(node_close(other, why()));
}

PLACE_TEST(a_directory_has_one_node_of_one_cluster)
{
    const struct node_options options = {.cluster = place->objects,
                                         .directory = place->directory};
    struct node_options wrong = options;
    struct node *node = open_node(place);
    struct node *second;
    char path[TEMPORARY_SIZE + 60];
    FILE *file;

    FAILS(node_open(&options, &second, why()), COLANDER_BUSY);
    OK(node_close(node, why()));
    (void)snprintf(path, sizeof(path), "%s/CLUSTER", place->directory);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("0123456789abcdef\n", file) >= 0);
    ZERO(fclose(file));
    FAILS(node_open(&options, &second, why()), COLANDER_INVALID);
    wrong.cluster = "file:///nowhere/at/all";
    FAILS(node_open(&wrong, &second, why()), COLANDER_NOT_FOUND);
}

PLACE_TEST(a_family_that_is_defined_later_is_found)
{
    const struct node_options options = {.cluster = place->objects,
                                         .directory = place->directory,
                                         .look_ms = 20,
                                         .say = say};
    struct cluster_family family = {.name = (char *)"later",
                                    .topic = (char *)"t",
                                    .partition_count = 1,
                                    .replica_count = 1,
                                    .format = (char *)"json",
                                    .on_duplicate = (char *)"replace"};
    struct cluster *cluster;
    struct node *node;
    SCOPED_FAMILY later = NULL;
    uint64_t count = 0;
    bool is_new;

    OK(node_open(&options, &node, why()));
    OK(node_join(node, NULL, why()));
    put_rows(place, 0, 300, 1);
    await(node, 300);
    OK(cluster_open(place->objects, &cluster, why()));
    OK(cluster_define(cluster, &family, &is_new, why()));
    cluster_close(cluster);
    assert_int_equal(
        rd_kafka_producev(
            place->brokers.client, RD_KAFKA_V_TOPIC("t"),
            RD_KAFKA_V_PARTITION(0), RD_KAFKA_V_VALUE((void *)"{\"a\":1}", 7),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
        RD_KAFKA_RESP_ERR_NO_ERROR);
    await(node, 301);
    OK(colander_family_open(node_store(node), "later", &later, why()));
    OK(colander_family_count(later, NULL, &count, why()));
    assert_int_equal(count, 1);
    colander_family_close(later);
    later = NULL;
    OK(node_close(node, why()));
}

/* Runs a node until it is killed. */
ROLE(run)
{
    struct place place;
    struct node *node;

    (void)snprintf(place.objects, sizeof(place.objects), "%s", arguments[2]);
    (void)snprintf(place.directory, sizeof(place.directory), "%s",
                   arguments[3]);
    node = open_node(&place);
    (void)pause();
    return node == NULL;
}

PLACE_TEST(a_killed_node_goes_on)
{
    struct node *node;
    int sent = 0;

    for (int round = 0; round < 8; round++) {
        const char *const arguments[] = {"node", "--run", place->objects,
                                         place->directory, NULL};
        const pid_t child = child_start(arguments);

        put_rows(place, sent, sent + 500, 1);
        sent += 500;
        (void)usleep(100000 + 50000 * (unsigned)(round % 4));
        ZERO(kill(child, SIGKILL));
        assert_int_equal(waitpid(child, NULL, 0), child);
        if (round == 5)
            temporary_remove(place->directory);
    }
    node = open_node(place);
    await(node, sent);
    assert_rows(node, sent, 1);
    OK(node_close(node, why()));
}
