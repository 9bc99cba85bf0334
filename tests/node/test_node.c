/*
 * Nodes: what is in the log is in their stores, once, whatever is killed or
 * lost.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/topic.h"
#include "node/place.h"
#include "support/children.h"

#include <sys/wait.h>

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
    await_checkpoints(node, 6000);
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
    struct node *node = open_node(place);

    put_rows(place, 0, 300, 1);
    await(node, 300);
    OK(node_close(node, why()));
    node = open_node(place);
    put_rows(place, 0, 300, 2);
    await(node, 600);
    OK(node_close(node, why()));
    temporary_remove(place->directory);
    command("find %s/objects/partitions -path '*backups*' -type f | sort | "
            "tail -1 | xargs -I{} dd if=/dev/zero of={} bs=1 seek=9 count=8 "
            "conv=notrunc status=none",
            place->folder);
    node = open_node(place);
    await(node, 600);
    assert_rows(node, 300, 2);
    OK(node_close(node, why()));
}

PLACE_TEST(a_damaged_store_is_kept_aside_and_made_again)
{
    struct node *node = open_node(place);

    put_rows(place, 0, 300, 1);
    await(node, 300);
    OK(node_close(node, why()));
    command("dd if=/dev/zero of=$(ls %s/rows/0001/rocksdb/MANIFEST-* | tail "
            "-1) bs=1 seek=3 count=8 conv=notrunc status=none",
            place->directory);
    node = open_node(place);
    put_rows(place, 0, 300, 2);
    await(node, 600);
    assert_rows(node, 300, 2);
    OK(node_close(node, why()));
    command("test -d %s/rows/0001.damaged", place->directory);
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
    put_much(place, node, 300, 900, 2);
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
    struct colander_family *rows = NULL;
    uint64_t row_count;
    unsigned behind = 0;

    put_rows(place, 0, 300, 1);
    await(node, 300);
    OK(node_close(node, why()));
    put_much(place, NULL, 0, 900, 2);
    node = open_node(place);
    while (behind < PARTITIONS) {
        struct node_partition *partitions;
        size_t count;

        OK(node_partitions(node, &partitions, &count, why()));
        behind = 0;
        for (size_t i = 0; i < count; i++)
            behind += partitions[i].phase == NODE_STOPPED &&
                      strstr(partitions[i].problem,
                             "were removed before they were read") != NULL &&
                      strstr(partitions[i].problem, "--skip-lost") == NULL;
        node_partitions_release(partitions, count);
        assert_true(clock_us() < end);
        (void)usleep(5000);
    }
    OK(colander_family_open(node_store(node), "rows", &rows, why()));
    FAILS(colander_family_count(rows, NULL, &row_count, why()), COLANDER_BUSY);
    assert_non_null(strstr(error_text(), "now: it has stopped: "));
    colander_family_close(rows);
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

static atomic_bool has_more; /* there are always records to be read */

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. */
void __real_topic_reader_state(struct topic_reader *reader,
                               struct topic_reader_state *state);
void __wrap_topic_reader_state(struct topic_reader *reader,
                               struct topic_reader_state *state);
/* NOLINTEND(bugprone-reserved-identifier) */

void
__wrap_topic_reader_state(struct topic_reader *reader,
                          struct topic_reader_state *state)
{
    __real_topic_reader_state(reader, state);
    state->lag += atomic_load(&has_more);
}

/* A writer that never pauses. */
struct writer {
    const struct place *place;
};

static void *
write_on(void *context)
{
    struct writer *writer = context;
    rd_kafka_t *client = writer->place->brokers.client;

    for (int id = 0; atomic_load(&has_more); id++) {
        put(writer->place, id % 3000, id);
        (void)rd_kafka_poll(client, 0);
        (void)usleep(100);
    }
    return NULL;
}

static bool
have_all_caught_up(struct node *node)
{
    struct node_partition *partitions;
    size_t caught_up = 0;
    size_t count;

    OK(node_partitions(node, &partitions, &count, why()));
    for (size_t i = 0; i < count; i++)
        caught_up += partitions[i].is_caught_up;
    node_partitions_release(partitions, count);
    return caught_up == PARTITIONS;
}

PLACE_TEST(a_node_is_up_to_date_while_others_write)
{
    struct writer writer = {.place = place};
    const uint64_t end = clock_us() + WAIT_US;
    struct node *node;
    pthread_t thread;

    put_rows(place, 0, 3000, 0);
    atomic_store(&has_more, true);
    ZERO(pthread_create(&thread, NULL, write_on, &writer));
    node = open_node(place);
    while (!have_all_caught_up(node)) {
        assert_true(clock_us() < end);
        (void)usleep(5000);
    }
    atomic_store(&has_more, false);
    ZERO(pthread_join(thread, NULL));
    OK(node_close(node, why()));
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
    struct place place = {.checkpoint_ms = 0};
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
