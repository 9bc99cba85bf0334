/*
 * Readers of some partitions of a topic, and the place that a partition has.
 *
 * SPDX-License-Identifier: MIT
 */
#include "mock_topic.h"

#define PARTITIONS 3
#define RECORDS 10 /* of each */

static void
start_three(struct mock_brokers *it)
{
    start(it);
    snprintf(it->address, sizeof(it->address), "kafka://%s/p",
             rd_kafka_mock_cluster_bootstraps(it->mock));
    ZERO(rd_kafka_mock_topic_create(it->mock, "p", PARTITIONS, 1));
    for (int i = 0; i < PARTITIONS * RECORDS; i++) {
        char text = (char)('0' + i % PARTITIONS);

        ZERO(rd_kafka_producev(
            it->client, RD_KAFKA_V_TOPIC("p"),
            RD_KAFKA_V_PARTITION(i % PARTITIONS), RD_KAFKA_V_VALUE(&text, 1),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END));
    }
    ZERO(rd_kafka_flush(it->client, 60000));
}

/* Reads the partitions to their end, and writes the marks. */
static enum colander_code
read_with(struct store_fixture *fixture, struct colander_family *family,
          const struct topic_reader_options *options, int counts[PARTITIONS],
          struct topic_reader_state *state)
{
    struct colander_batch *batch;
    struct topic_reader *reader;
    struct colander_slice value;
    struct colander_slice name;
    bool is_end = false;
    bool found = true;
    enum colander_code code =
        topic_reader_open(fixture->store, family, options, &reader, why());

    memset(counts, 0, PARTITIONS * sizeof(*counts));
    if (code != COLANDER_OK)
        return code;
    while (!is_end) {
        struct topic_record record;

        OK(topic_reader_next(reader, 100, &record, &found, &is_end, why()));
        if (!found)
            continue;
        assert_int_equal(record.value.data[0], '0' + record.partition);
        counts[record.partition]++;
    }
    OK(colander_batch_create(fixture->store, &batch, NULL));
    for (;;) {
        OK(topic_reader_mark(reader, &name, &value, &found, NULL));
        if (!found)
            break;
        OK(colander_batch_mark(batch, family, name, value, NULL));
    }
    OK(colander_batch_commit(batch, NULL, NULL));
    colander_batch_destroy(batch);
    topic_reader_state(reader, state);
    topic_reader_close(reader);
    return COLANDER_OK;
}

static enum colander_code
read_some(struct store_fixture *fixture, struct colander_family *family,
          const struct mock_brokers *it, const int32_t *partitions,
          size_t count, int counts[PARTITIONS],
          struct topic_reader_state *state)
{
    const struct topic_reader_options options = {
        .brokers = {.address = it->address},
        .is_once = true,
        .partitions = partitions,
        .partition_count = count,
    };

    return read_with(fixture, family, &options, counts, state);
}

static void
assert_place(struct colander_family *family, int32_t partition, bool is_there,
             int64_t wanted)
{
    int64_t offset;
    bool found;

    OK(topic_place(family, "p", partition, &offset, &found, why()));
    assert_int_equal(found, is_there);
    if (found)
        assert_int_equal(offset, wanted);
}

FIXTURE_TEST(only_the_partitions_asked_for_are_read_and_marked)
{
    static const int32_t one[] = {1};
    static const int32_t two[] = {2, 1};
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct topic_reader_state state;
    struct mock_brokers it;
    int counts[PARTITIONS];

    start_three(&it);
    assert_place(family, 1, false, 0);
    OK(read_some(fixture, family, &it, one, 1, counts, &state));
    assert_int_equal(counts[1], RECORDS);
    assert_int_equal(counts[0] + counts[2], 0);
    assert_int_equal(state.partition_count, 1);
    ZERO(state.lag);
    assert_place(family, 1, true, RECORDS);
    assert_place(family, 0, false, 0);
    assert_place(family, 2, false, 0);

    OK(read_some(fixture, family, &it, two, 2, counts, &state));
    assert_int_equal(counts[2], RECORDS);
    assert_int_equal(counts[0] + counts[1], 0);
    assert_int_equal(state.partition_count, 2);

    OK(read_some(fixture, family, &it, NULL, 0, counts, &state));
    assert_int_equal(counts[0], RECORDS);
    assert_int_equal(counts[1] + counts[2], 0);
    assert_int_equal(state.partition_count, PARTITIONS);
    assert_place(family, 0, true, RECORDS);
    rd_kafka_destroy(it.client);
}

FIXTURE_TEST(a_partition_that_was_added_between_runs_begins_at_its_beginning)
{
    static const int32_t one[] = {1};
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct topic_reader_options options = {.is_once = true};
    struct topic_reader_state state;
    struct mock_brokers it;
    int counts[PARTITIONS];

    start_three(&it);
    options.brokers.address = it.address;
    OK(read_some(fixture, family, &it, one, 1, counts, &state));
    options.from = TOPIC_FROM_END;
    OK(read_with(fixture, family, &options, counts, &state));
    assert_int_equal(counts[0], RECORDS);
    assert_int_equal(counts[1], 0);
    assert_int_equal(counts[2], RECORDS);

    options.restarts = true; /* no mark counts */
    OK(read_with(fixture, family, &options, counts, &state));
    assert_int_equal(counts[0] + counts[1] + counts[2], 0);
    rd_kafka_destroy(it.client);
}

FIXTURE_TEST(a_partition_that_is_not_there_is_not_found)
{
    static const int32_t three[] = {0, PARTITIONS};
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct topic_reader_state state;
    struct mock_brokers it;
    int counts[PARTITIONS];

    start_three(&it);
    assert_int_equal(read_some(fixture, family, &it, three, 2, counts, &state),
                     COLANDER_NOT_FOUND);
    assert_non_null(strstr(error_text(), "topic 'p' has no partition 3"));
    assert_place(family, 0, false, 0);
    rd_kafka_destroy(it.client);
}

/* The topic seems to have had more partitions. */
FIXTURE_TEST(a_topic_with_fewer_partitions_is_another_one)
{
    static const char *const gone[] = {"follow:p/3", "follow:p/90"};
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct colander_buffer mark = COLANDER_BUFFER_EMPTY;
    struct topic_reader_options options = {.is_once = true};
    struct topic_reader_state state;
    struct colander_batch *batch;
    struct mock_brokers it;
    int counts[PARTITIONS];
    bool found;

    start_three(&it);
    options.brokers =
        (struct topic_broker_options){.address = it.address, .wait_ms = 600};
    OK(read_with(fixture, family, &options, counts, &state));
    OK(colander_family_mark(family, colander_slice_text("follow:p/0"), &mark,
                            &found, why()));
    OK(colander_batch_create(fixture->store, &batch, NULL));
    for (size_t i = 0; i < 2; i++)
        OK(colander_batch_mark(batch, family, colander_slice_text(gone[i]),
                               colander_buffer_slice(&mark), why()));
    OK(colander_batch_commit(batch, NULL, why()));
    colander_batch_destroy(batch);
    colander_buffer_release(&mark);

    FAILS(read_with(fixture, family, &options, counts, &state),
          COLANDER_CORRUPT);
    assert_non_null(strstr(error_text(), "topic 'p', partition 3: offset 10 "
                                         "comes next, but the topic has no "
                                         "such partition: the topic was "
                                         "created again"));
    options.restarts = true;
    OK(read_with(fixture, family, &options, counts, &state));
    assert_int_equal(counts[0] + counts[1] + counts[2], PARTITIONS * RECORDS);
    assert_place(family, 3, false, 0);
    assert_place(family, 90, false, 0);
    options.restarts = false;
    OK(read_with(fixture, family, &options, counts, &state));
    rd_kafka_destroy(it.client);
}

static struct topic_reader *
open_shared(struct store_fixture *fixture, struct colander_family *family,
            const struct mock_brokers *it, struct topic_client *client,
            const int32_t *partition)
{
    const struct topic_reader_options options = {
        .brokers = {.address = it->address},
        .partitions = partition,
        .partition_count = 1,
        .client = client,
    };
    struct topic_reader *reader;

    OK(topic_reader_open(fixture->store, family, &options, &reader, why()));
    return reader;
}

/* Reads so many records, all of which must be of the partition. */
static void
expect(struct topic_reader *reader, int32_t partition, int count)
{
    struct topic_record record;
    bool is_end;
    bool found;

    for (int tries = 0; count > 0; tries++) {
        assert_true(tries < 300);
        OK(topic_reader_next(reader, 100, &record, &found, &is_end, why()));
        if (!found)
            continue;
        assert_int_equal(record.partition, partition);
        assert_int_equal(record.value.data[0], '0' + partition);
        count--;
    }
}

FIXTURE_TEST(readers_share_a_client_and_each_ends_alone)
{
    static const int32_t numbers[] = {0, 1, 2};
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct topic_reader *readers[PARTITIONS];
    struct topic_client *client;
    struct mock_brokers it;

    start_three(&it);
    OK(topic_client_open(&(struct topic_broker_options){.address = it.address},
                         &client, why()));
    for (int i = 0; i < PARTITIONS; i++)
        readers[i] = open_shared(fixture, family, &it, client, &numbers[i]);
    for (int i = PARTITIONS; i-- > 0;)
        expect(readers[i], i, RECORDS);
    topic_reader_close(readers[1]);
    for (int i = 0; i < PARTITIONS; i++)
        ZERO(rd_kafka_producev(
            it.client, RD_KAFKA_V_TOPIC("p"), RD_KAFKA_V_PARTITION(i),
            RD_KAFKA_V_VALUE((char[]){(char)('0' + i)}, 1),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END));
    ZERO(rd_kafka_flush(it.client, 60000));
    expect(readers[0], 0, 1);
    expect(readers[2], 2, 1);
    readers[1] = open_shared(fixture, family, &it, client, &numbers[1]);
    expect(readers[1], 1, RECORDS + 1); /* its mark was not moved */
    for (int i = 0; i < PARTITIONS; i++)
        topic_reader_close(readers[i]);
    topic_client_close(client);
    rd_kafka_destroy(it.client);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
