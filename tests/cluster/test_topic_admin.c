/*
 * Topics as a whole, with librdkafka's mock cluster: it has no controller, so
 * creating one is for cluster_clusters_script with real brokers.
 *
 * SPDX-License-Identifier: MIT
 */
#include "mock_topic.h"

static struct topic_broker_options
options_of(const struct mock_brokers *it)
{
    return (struct topic_broker_options){.address = it->address,
                                         .wait_ms = 3000};
}

TEST(a_topic_that_is_there_is_checked)
{
    struct topic_wanted wanted = {.partition_count = 1, .is_there = true};
    struct topic_broker_options options;
    struct topic_made made;
    struct mock_brokers it;

    start(&it);
    options = options_of(&it);
    OK(topic_create(&options, &wanted, &made, why()));
    assert_false(made.is_new);
    assert_int_equal(made.partition_count, 1);
    wanted.partition_count = 0;
    OK(topic_create(&options, &wanted, &made, why()));
    assert_int_equal(made.partition_count, 1);
    wanted.partition_count = 2;
    FAILS(topic_create(&options, &wanted, &made, why()), COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "has 1 partitions, not 2"));
    rd_kafka_destroy(it.client);
}

/* Nothing creates it by asking for it. */
TEST(a_topic_that_is_missing_is_not_found)
{
    const struct topic_wanted wanted = {.partition_count = 1, .is_there = true};
    struct topic_broker_options options;
    struct topic_ends *ends;
    struct topic_made made;
    struct mock_brokers it;
    int64_t retention;
    size_t count;

    start(&it);
    *strrchr(it.address, '/') = '\0';
    strcat(it.address, "/other");
    rd_kafka_mock_topic_set_error(it.mock, "other",
                                  RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    options = options_of(&it);
    FAILS(topic_create(&options, &wanted, &made, why()), COLANDER_NOT_FOUND);
    FAILS(topic_ends(&options, &ends, &count, &retention, why()),
          COLANDER_NOT_FOUND);
    assert_null(ends);
    rd_kafka_destroy(it.client);
}

TEST(a_topic_is_not_created_without_a_controller)
{
    const struct topic_wanted wanted = {.partition_count = 1,
                                        .retention_seconds = 1};
    struct topic_broker_options options;
    struct topic_made made;
    struct mock_brokers it;

    start(&it);
    options = options_of(&it);
    FAILS(topic_create(&options, &wanted, &made, why()), COLANDER_IO);
    assert_non_null(strstr(error_text(), "cannot create topic 't': no broker"));
    rd_kafka_destroy(it.client);
}

TEST(a_topic_is_one_topic)
{
    const struct topic_wanted wanted = {.partition_count = 1};
    const struct topic_broker_options options = {.address =
                                                     "kafka://b:1/one,two"};
    struct topic_made made;

    FAILS(topic_create(&options, &wanted, &made, why()), COLANDER_INVALID);
}

TEST(brokers_that_do_not_answer_are_an_error)
{
    const struct topic_wanted wanted = {.partition_count = 1};
    const struct topic_broker_options options = {
        .address = "kafka://127.0.0.1:1/t", .wait_ms = 300};
    struct topic_ends *ends;
    struct topic_made made;
    int64_t retention;
    size_t count;

    FAILS(topic_create(&options, &wanted, &made, why()), COLANDER_IO);
    FAILS(topic_ends(&options, &ends, &count, &retention, why()), COLANDER_IO);
    assert_non_null(strstr(error_text(), "127.0.0.1:1"));
}

TEST(the_ends_are_those_of_what_was_sent)
{
    struct topic_broker_options options;
    struct topic_writer *writer;
    struct topic_ends *ends;
    struct mock_brokers it;
    int64_t retention;
    size_t count;

    start(&it);
    options = options_of(&it);
    OK(topic_writer_open(&options, &writer, why()));
    for (uint64_t i = 1; i <= 7; i++)
        OK(topic_writer_put(writer, i, NULL, colander_slice_text("k"),
                            colander_slice_text("v"), why()));
    OK(topic_writer_flush(writer, why()));
    topic_writer_close(writer);
    OK(topic_ends(&options, &ends, &count, &retention, why()));
    assert_int_equal(count, 1);
    assert_int_equal(ends[0].low, 0);
    assert_int_equal(ends[0].high, 7);
    free(ends);
    rd_kafka_destroy(it.client);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
