/*
 * Nodes that lose much: stores, the beginning of the log, objects, and time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/cluster.h"
#include "node/place.h"
#include "support/children.h"
#include "support/random.h"

#include <sys/wait.h>

static struct node *
open_anew(const struct place *place)
{
    temporary_remove(place->directory);
    return open_node(place);
}

/* ---------------------------------------------------------------- twins --- */

/* Sends a record to partition 0, with the header `op` unless it is NULL. */
static void
operate(const struct place *place, const char *key, const char *text,
        const char *operation)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(1);
    const size_t size = text == NULL ? 0 : strlen(text);

    if (operation != NULL)
        (void)rd_kafka_header_add(headers, "op", -1, operation, -1);
    assert_int_equal(
        rd_kafka_producev(
            place->brokers.client, RD_KAFKA_V_TOPIC("p"),
            RD_KAFKA_V_PARTITION(0), RD_KAFKA_V_KEY(key, strlen(key)),
            RD_KAFKA_V_VALUE((void *)text, size), RD_KAFKA_V_HEADERS(headers),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
        RD_KAFKA_RESP_ERR_NO_ERROR);
}

/* Sends records that do all that records can do. */
static void
operate_much(const struct place *place, uint64_t *random, int count)
{
    static const char *const operations[] = {NULL,    "put",    "patch",
                                             "patch", "delete", "other"};

    for (int i = 0; i < count; i++) {
        const uint64_t drawn = random_next(random);
        const unsigned id = (unsigned)(drawn % 100);
        const char *operation = operations[drawn / 100 % COUNT(operations)];
        char text[200];
        char key[20];

        (void)snprintf(key, sizeof(key), "%u",
                       drawn / 1000 % 20 == 0 ? id + 1 : id);
        (void)snprintf(text, sizeof(text), "{\"id\":%u,\"%c\":%" PRIu64 "%s",
                       id, (char)('a' + drawn / 20000 % 3), drawn % 1000000,
                       drawn / 60000 % 20 == 0 ? "" : "}");
        operate(place, key, drawn / 1200000 % 20 == 0 ? NULL : text, operation);
    }
    assert_int_equal(rd_kafka_flush(place->brokers.client, 60000),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
}

static struct colander_store *
open_partition(const char *directory)
{
    struct colander_options options;
    struct colander_store *store;
    char path[TEMPORARY_SIZE + 60];

    colander_options_init(&options);
    options.mode = COLANDER_OPEN_READ_ONLY;
    (void)snprintf(path, sizeof(path), "%s/rows/0000", directory);
    OK(colander_store_open(path, &options, &store, why()));
    return store;
}

/* Asserts that a family is the same in two stores. Returns its rows. */
static size_t
assert_same(struct colander_store *one, struct colander_store *other,
            const char *name)
{
    SCOPED_FAMILY family = NULL;
    SCOPED_FAMILY other_family = NULL;
    SCOPED_CURSOR cursor = NULL;
    SCOPED_CURSOR other_cursor = NULL;
    struct colander_result row;
    struct colander_result other_row;

    OK(colander_family_open(one, name, &family, why()));
    OK(colander_family_open(other, name, &other_family, why()));
    OK(colander_family_find(family, NULL, &cursor, why()));
    OK(colander_family_find(other_family, NULL, &other_cursor, why()));
    for (size_t count = 0;; count++) {
        bool is_other_row;
        bool is_row;

        OK(colander_cursor_next(cursor, &is_row, &row, why()));
        OK(colander_cursor_next(other_cursor, &is_other_row, &other_row,
                                why()));
        assert_int_equal(is_row, is_other_row);
        if (!is_row)
            return count;
        ASSERT_SAME(row.key, other_row.key);
        ASSERT_SAME(row.row, other_row.row);
    }
}

/* The second one begins with a checkpoint of the first, is closed and opened
 * again, and loses its store: its rows are those of the first one. */
PLACE_TEST(twins_have_the_same_rows)
{
    struct place other = *place;
    uint64_t random = random_seed("node_recovery");
    struct colander_store *stores[2];
    struct node *one;
    struct node *two;

    place->checkpoint_ms = 100;
    other.checkpoint_ms = 100;
    (void)strcat(other.directory, "-2");
    one = open_node(place);
    operate_much(place, &random, 2000);
    await(one, 2000);
    await_checkpoints(one, 2000);
    two = open_node(&other);
    operate_much(place, &random, 2000);
    await(two, 4000);
    OK(node_close(two, why()));
    operate_much(place, &random, 2000);
    two = open_node(&other);
    operate_much(place, &random, 2000);
    await(two, 7000);
    OK(node_close(two, why()));
    two = open_anew(&other);
    operate_much(place, &random, 2000);
    await(one, 10000);
    await(two, 10000);
    OK(node_close(one, why()));
    OK(node_close(two, why()));
    stores[0] = open_partition(place->directory);
    stores[1] = open_partition(other.directory);
    assert_true(assert_same(stores[0], stores[1], "rows") > 10);
    assert_true(assert_same(stores[0], stores[1], "rows.rejects") > 10);
    OK(colander_store_close(stores[0], why()));
    OK(colander_store_close(stores[1], why()));
}

/* -------------------------------------------------------------- zombies --- */

/* Runs a node until it is killed. */
ROLE(zombie)
{
    struct place place = {.checkpoint_ms = 30};
    struct node *node;

    (void)snprintf(place.objects, sizeof(place.objects), "%s", arguments[2]);
    (void)snprintf(place.directory, sizeof(place.directory), "%s",
                   arguments[3]);
    node = open_node(&place);
    (void)pause();
    return node == NULL;
}

static void
complain(void *context, const char *file, const char *what)
{
    (void)context;
    print_error("%s: %s\n", file, what);
}

/* Asserts that all objects are there and whole that checkpoints need. */
static void
check_objects(const struct place *place)
{
    for (uint32_t i = 0; i < PARTITIONS; i++) {
        struct cluster_check check;
        struct cluster *cluster;
        char *address;

        OK(cluster_open(place->objects, &cluster, why()));
        OK(cluster_partition_address(cluster, "rows", i, &address, why()));
        OK(cluster_check(address, &check, complain, NULL, why()));
        assert_int_equal(check.finding_count, 0);
        assert_true(check.backup_count > 0);
        free(address);
        cluster_close(cluster);
    }
}

/* It is stopped at some moment, maybe within a checkpoint. Another one goes on,
 * and what only older checkpoints need is collected. Then it continues. */
PLACE_TEST(a_zombie_does_no_harm)
{
    struct place other = *place;
    uint64_t random = random_seed("node_recovery");
    int round_count = 4;
    int sent = 0;

    (void)strcat(other.directory, "-2");
    other.checkpoint_ms = 30;
    for (int round = 1; round <= round_count; round++) {
        const char *const arguments[] = {"node", "--zombie", place->objects,
                                         place->directory, NULL};
        const pid_t child = child_start(arguments);
        struct node *node;

        put_rows(place, 0, 300, round);
        sent += 300;
        (void)usleep(300000 + (unsigned)(random_next(&random) % 300000));
        ZERO(kill(child, SIGSTOP));
        node = open_node(&other);
        for (int i = 0; i < 5; i++) {
            put_rows(place, 0, 300, round * 100 + i);
            sent += 300;
            await(node, sent);
            await_checkpoints(node, sent);
            command("find %s/objects/partitions -path '*/files/*' -type f "
                    "-exec touch -d '25 hours ago' {} +",
                    place->folder);
        }
        ZERO(kill(child, SIGCONT));
        put_rows(place, 0, 300, round * 1000);
        sent += 300;
        await(node, sent);
        await_checkpoints(node, sent);
        assert_rows(node, 300, round * 1000);
        (void)usleep((unsigned)(random_next(&random) % 500000));
        ZERO(kill(child, SIGKILL));
        assert_int_equal(waitpid(child, NULL, 0), child);
        OK(node_close(node, why()));
        check_objects(place);
        temporary_remove(other.directory);
        if (round % 2 == 0)
            temporary_remove(place->directory);
        node = open_node(&other);
        await(node, sent);
        assert_rows(node, 300, round * 1000);
        OK(node_close(node, why()));
    }
}

/* ----------------------------------------------------------- lost disks --- */

PLACE_TEST(all_comes_back_after_the_log_has_lost_its_beginning)
{
    struct node *node;

    place->checkpoint_ms = 50;
    node = open_node(place);
    put_much(place, node, 0, 900, 1);
    await(node, 900);
    await_checkpoints(node, 900);
    put_rows(place, 0, 150, 2);
    await(node, 1050);
    put_rows(place, 150, 300, 2);
    OK(node_close(node, why()));
    node = open_anew(place);
    await(node, 1200);
    assert_rows(node, 300, 2);
    OK(node_close(node, why()));
}

/* Waits until all partitions have a problem with this text. */
static void
await_problem(struct node *node, const char *text)
{
    const uint64_t end = clock_us() + WAIT_US;
    unsigned found;

    do {
        struct node_partition *partitions;
        size_t count;

        assert_true(clock_us() < end);
        (void)usleep(5000);
        OK(node_partitions(node, &partitions, &count, why()));
        found = 0;
        for (size_t i = 0; i < count; i++)
            found += (partitions[i].phase == NODE_WAITING ||
                      partitions[i].phase == NODE_STOPPED) &&
                     strstr(partitions[i].problem, text) != NULL;
        node_partitions_release(partitions, count);
    } while (found < PARTITIONS);
}

/* Replaces eight bytes in the middle of an object. */
#define DAMAGE                                                                 \
    "dd if=/dev/zero bs=1 count=8 conv=notrunc status=none "                   \
    "seek=$(($(stat -c %%s {}) / 2)) of={}"

/* With checkpoints of which none can be used, rows would be missing that were
 * there: it must not begin where the log does. */
PLACE_TEST(without_its_beginning_a_log_does_not_replace_checkpoints)
{
    struct node *node = open_node(place);

    put_much(place, node, 0, 900, 1);
    await(node, 900);
    OK(node_close(node, why()));
    command("find %s/objects/partitions -path '*/backups/*' -type f | "
            "xargs -I{} sh -c '" DAMAGE "'",
            place->folder);
    node = open_anew(place);
    await_problem(node, "records at offsets 0 to ");
    OK(node_close(node, why()));
    node = open_node(place); /* nor does it if its store is there by now */
    await_problem(node, "records at offsets 0 to ");
    OK(node_close(node, why()));

    /* they were removed by hand: it is said where it begins */
    command("rm -r %s/objects/partitions", place->folder);
    node = open_anew(place);
    await_checkpoints(node, 0);
    while (strstr(said, "it begins at offset ") == NULL)
        (void)usleep(5000);
    OK(node_close(node, why()));
}

/* The first records are the rows of before: without them, and without a
 * checkpoint, others must not look like all there are. */
PLACE_TEST(a_later_generation_needs_its_whole_log_or_checkpoints)
{
    static char *offsets[PARTITIONS] = {"1", "1", "1"};
    struct cluster_family family = {.name = NULL};
    SCOPED_FAMILY rows = NULL;
    struct cluster *cluster;
    struct node *node;
    uint64_t count;

    OK(cluster_open(place->objects, &cluster, why()));
    OK(cluster_family(cluster, "rows", &family, why()));
    family.generation = 1;
    family.whole = (struct cluster_texts){offsets, PARTITIONS, PARTITIONS};
    OK(cluster_redefine(cluster, &family, why()));
    memset(&family.whole, 0, sizeof(family.whole));
    cluster_family_release(&family);
    cluster_close(cluster);
    node = open_node(place);
    put_much(place, node, 0, 900, 1);
    await(node, 900);
    OK(node_close(node, why()));
    node = open_anew(place);
    await(node, 900);
    OK(node_close(node, why()));
    command("rm -r %s/objects/partitions/rows.1", place->folder);
    node = open_anew(place);
    await_problem(node, "records at offsets 0 to ");
    OK(colander_family_open(node_store(node), "rows", &rows, why()));
    FAILS(colander_family_count(rows, NULL, &count, why()), COLANDER_BUSY);
    colander_family_close(rows);
    rows = NULL;
    OK(node_close(node, why()));
}

/* --------------------------------------------------------------- damage --- */

/* Reads the names of the objects of a partition. */
static size_t
list_objects(const struct place *place, char names[][TEMPORARY_SIZE + 200],
             size_t max)
{
    char line[TEMPORARY_SIZE + 100];
    size_t count = 0;
    FILE *pipe;

    (void)snprintf(line, sizeof(line),
                   "find %s/objects/partitions/rows/0001 -type f | sort",
                   place->folder);
    pipe = popen(line, "r");
    assert_non_null(pipe);
    for (;
         count < max && fgets(names[count], TEMPORARY_SIZE + 200, pipe) != NULL;
         count++)
        names[count][strcspn(names[count], "\n")] = '\0';
    ZERO(pclose(pipe));
    return count;
}

/* There are two checkpoints. Whichever of their objects is damaged, a node that
 * has nothing names it, answers right, and makes a checkpoint that does not
 * need it, without another record. */
PLACE_TEST(damage_of_any_object_is_named_and_survived)
{
    static char names[300][TEMPORARY_SIZE + 200];
    struct node *node = open_node(place);
    size_t count;

    put_rows(place, 0, 600, 1);
    await(node, 600);
    OK(node_close(node, why()));
    node = open_node(place);
    put_rows(place, 0, 600, 2);
    await(node, 1200);
    OK(node_close(node, why()));
    command("cp -a %s/objects %s/copy", place->folder, place->folder);
    count = list_objects(place, names, COUNT(names));
    assert_in_range(count, 6, COUNT(names) - 1);
    place->checkpoint_ms = 20;
    for (size_t i = 0; i < count; i++) {
        const char *name = strrchr(names[i], '/') + 1;
        bool is_named;

        said[0] = '\0';
        command("ls %s | xargs -I{} sh -c '" DAMAGE "'", names[i]);
        node = open_anew(place);
        await(node, 1200);
        assert_rows(node, 600, 2);
        is_named = strstr(said, name) != NULL;
        await_checkpoints(node, 1200);
        OK(node_close(node, why()));
        node = open_anew(place);
        await(node, 1200);
        assert_rows(node, 600, 2);
        OK(node_close(node, why()));
        if (is_named) { /* then a good one has the number of the damaged one */
            const char *restored = strstr(said, "rows/0001: restored the "
                                                "checkpoint at offset 400");

            assert_non_null(restored);
        }
        command("rm -r %s/objects && cp -a %s/copy %s/objects", place->folder,
                place->folder, place->folder);
    }
}

/* Objects were copied from one place to another. */
PLACE_TEST(checkpoints_of_another_partition_are_named_and_not_taken)
{
    struct node *node = open_node(place);

    put_rows(place, 0, 200, 1);
    await(node, 200);
    OK(node_close(node, why()));
    command("cd %s/objects/partitions/rows && mv 0000 x && mv 0001 0000 && "
            "mv x 0001",
            place->folder);
    said[0] = '\0';
    node = open_anew(place);
    await(node, 200);
    assert_rows(node, 200, 1);
    assert_non_null(strstr(said, "rows/0000: checkpoint at offset 67: it has "
                                 "no records of partition 0 of topic 'p'"));
    assert_non_null(strstr(said, "rows/0001: checkpoint at offset 67: it has "
                                 "records of partition 0 of topic 'p'"));
    assert_non_null(strstr(said, "rows/0002: restored the checkpoint"));
    put_rows(place, 0, 200, 2);
    await(node, 400);
    OK(node_close(node, why())); /* the checkpoints that it makes are its own */
    said[0] = '\0';
    node = open_anew(place);
    await(node, 400);
    assert_rows(node, 200, 2);
    assert_non_null(strstr(said, "rows/0000: restored the checkpoint"));
    assert_non_null(strstr(said, "rows/0001: restored the checkpoint"));
    OK(node_close(node, why()));
}

/* ------------------------------------------------------------ leftovers --- */

/* A node that comes back has stores that others own by now. It gives them up
 * when those serve them, as it gives up others. */
PLACE_TEST(stores_that_others_own_by_now_are_given_up)
{
    const uint64_t end = clock_us() + WAIT_US;
    struct place other = *place;
    char line[3 * TEMPORARY_SIZE];
    struct node *one;
    struct node *two;

    place->name = "a";
    other.name = "b";
    (void)strcat(other.directory, "-2");
    one = open_node(place);
    put_rows(place, 0, 300, 1);
    await(one, 300);
    OK(node_close(one, why()));
    two = open_node(&other);
    await(two, 300);
    one = open_node(place);
    (void)snprintf(line, sizeof(line),
                   "test $(ls -d %s/rows/000? %s/rows/000? | wc -l) = %d",
                   place->directory, other.directory, PARTITIONS);
    while (system(line) != 0) {
        assert_true(clock_us() < end);
        (void)usleep(20000);
    }
    OK(node_close(one, why()));
    OK(node_close(two, why()));
}

/* ---------------------------------------------------------- up to date --- */

/* Others drop a partition when a node says that it is up to date. */
PLACE_TEST(what_is_read_and_not_written_yet_is_not_up_to_date)
{
    struct node *node;
    size_t ready;

    for (int i = 0; i < 20; i++)
        put_rows(place, 0, 3000, i);
    node = open_node(place);
    do {
        struct node_partition *partitions;
        size_t count;

        ready = 0;
        OK(node_partitions(node, &partitions, &count, why()));
        for (size_t i = 0; i < count; i++) {
            ready += partitions[i].is_caught_up;
            if (partitions[i].is_caught_up)
                assert_int_equal(partitions[i].applied, 20 * 1000);
        }
        node_partitions_release(partitions, count);
    } while (ready < PARTITIONS);
    assert_rows(node, 3000, 19);
    OK(node_close(node, why()));
}
