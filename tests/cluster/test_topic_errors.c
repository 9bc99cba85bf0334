/*
 * Errors that brokers answer to each kind of request: records are read or
 * sent all the same, each once, or it fails and says why; then the next try is
 * right. And outages.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/kafka.h"
#include "core/clock.h"
#include "mock_topic.h"

#define RECORDS 20
#define CODES (RD_KAFKA_RESP_ERR_END_ALL - 1) /* errors of brokers: from 1 */

enum { PRODUCE = 0, FETCH = 1, LIST_OFFSETS = 2 }; /* requests */

/* Fast retries. */
static const char *const settings[] = {"fetch.error.backoff.ms=1",
                                       "fetch.wait.max.ms=10"};

static void
fail_next(const struct mock_brokers *it, int16_t request, int code)
{
    rd_kafka_mock_push_request_errors(it->mock, request, 1,
                                      (rd_kafka_resp_err_t)code);
}

/* Sends records with these numbers. */
static enum colander_code
send_some(const struct mock_brokers *it, int from, int until,
          struct colander_error *err)
{
    const struct topic_broker_options options = {.address = it->address};
    struct topic_writer *writer;
    enum colander_code code = topic_writer_open(&options, &writer, err);

    if (code == COLANDER_OK)
        topic_writer_begin(writer, 7);
    for (int i = from; i < until && code == COLANDER_OK; i++) {
        char text[20];
        const int size = snprintf(text, sizeof(text), "%d", i);

        code = topic_writer_put(writer, (uint64_t)i, NULL,
                                colander_slice_of("k", 1),
                                colander_slice_of(text, (size_t)size), err);
    }
    if (code == COLANDER_OK)
        code = topic_writer_flush(writer, err);
    topic_writer_close(writer);
    return code;
}

/* Reads the topic from its beginning. *count: records, from 0 on, each once. */
static enum colander_code
read_all(struct store_fixture *fixture, const struct mock_brokers *it,
         int *count, struct colander_error *err)
{
    const struct topic_reader_options options = {
        .brokers = {it->address, settings, 2, NULL, NULL, 0},
        .is_once = true,
        .restarts = true,
    };
    struct topic_reader *reader;
    bool is_end = false;
    enum colander_code code = topic_reader_open(
        fixture->store, kept_family(fixture, "rows"), &options, &reader, err);

    *count = 0;
    while (code == COLANDER_OK && !is_end) {
        struct topic_record record;
        bool found;

        code = topic_reader_next(reader, 100, &record, &found, &is_end, err);
        if (code == COLANDER_OK && found) {
            char text[20] = "";

            assert_true(record.value.size < sizeof(text));
            memcpy(text, record.value.data, record.value.size);
            assert_int_equal(atoi(text), *count);
            ++*count;
        }
    }
    topic_reader_close(reader);
    return code;
}

static void
check_reads(struct store_fixture *fixture, int16_t request)
{
    struct mock_brokers it;
    int failed_count = 0;
    int count;

    start(&it);
    OK(send_some(&it, 0, RECORDS, NULL));
    for (int code = 1; code <= CODES; code++) {
        struct colander_error err = {.message = ""};
        enum colander_code got;

        fail_next(&it, request, code);
        got = read_all(fixture, &it, &count, &err);
        if (got == COLANDER_OK)
            assert_int_equal(count, RECORDS);
        else
            assert_non_null(strstr(err.message, "topic 't'"));
        failed_count += got != COLANDER_OK;
        rd_kafka_mock_clear_request_errors(it.mock, request);
        close_kept_families(fixture);
    }
    OK(read_all(fixture, &it, &count, NULL));
    assert_int_equal(count, RECORDS);
    assert_true(failed_count > 0 && failed_count < CODES);
    rd_kafka_destroy(it.client);
}

FIXTURE_TEST(errors_of_fetches_lose_no_record)
{
    check_reads(fixture, FETCH);
}

FIXTURE_TEST(errors_of_offsets_lose_no_record)
{
    check_reads(fixture, LIST_OFFSETS);
}

/* What a refused load has sent is unknown; it is sent again and read once. */
FIXTURE_TEST(errors_of_produces_lose_no_record)
{
    struct mock_brokers it;
    int failed_count = 0;
    int sent = 0;
    int count;

    start(&it);
    for (int code = 1; code <= CODES; code++) {
        struct colander_error err = {.message = ""};

        if (code == RD_KAFKA_RESP_ERR_DUPLICATE_SEQUENCE_NUMBER)
            continue; /* it says that the broker has the records */
        fail_next(&it, PRODUCE, code);
        if (send_some(&it, sent, sent + 3, &err) != COLANDER_OK) {
            assert_non_null(strstr(err.message, "topic 't'"));
            failed_count++;
            rd_kafka_mock_clear_request_errors(it.mock, PRODUCE);
            OK(send_some(&it, sent, sent + 3, NULL));
        }
        rd_kafka_mock_clear_request_errors(it.mock, PRODUCE);
        sent += 3;
    }
    OK(read_all(fixture, &it, &count, NULL));
    assert_int_equal(count, sent);
    assert_true(failed_count > 0 && failed_count < CODES);
    rd_kafka_destroy(it.client);
}

/* --------------------------------------------------------------- outages - */

/* A broker that does not answer for longer than a topic may be unknown, and
 * then knows it only the second time. */
static rd_kafka_resp_err_t
answer_late(void *context)
{
    const uint64_t begun = clock_us();
    int *asked = context;

    if (++*asked > 2)
        return RD_KAFKA_RESP_ERR_NO_ERROR;
    if (*asked == 2)
        return RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    while (clock_us() - begun < 1100000)
        continue;
    return RD_KAFKA_RESP_ERR__TRANSPORT;
}

FIXTURE_TEST(a_topic_is_unknown_only_some_time_after_brokers_answer)
{
    const struct topic_broker_options options = {.wait_ms = 6000};
    struct mock_brokers it;
    int asked = 0;

    (void)fixture;
    start(&it);
    assert_int_equal(kafka_try(&options, it.client, true, answer_late, &asked),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
    assert_int_equal(asked, 3);
    rd_kafka_destroy(it.client);
}

FIXTURE_TEST(a_writer_gives_up_if_nothing_is_acknowledged)
{
    struct topic_broker_options options = {.wait_ms = 200};
    struct topic_writer *writer;
    struct mock_brokers it;

    (void)fixture;
    start(&it);
    options.address = it.address;
    OK(topic_writer_open(&options, &writer, why()));
    topic_writer_begin(writer, 7);
    rd_kafka_mock_broker_set_down(it.mock, 1);
    OK(topic_writer_put(writer, 0, NULL, colander_slice_of("", 0),
                        colander_slice_of("0", 1), why()));
    FAILS(topic_writer_flush(writer, why()), COLANDER_IO);
    assert_non_null(strstr(error_text(), "no record was acknowledged for 1 "));
    topic_writer_close(writer);
    rd_kafka_destroy(it.client);
}

/* Calls next until it has found that number of records, or for some time. */
static int
read_for(struct topic_reader *reader, int count, uint64_t ms)
{
    const uint64_t begun = clock_us();
    int found_count = 0;

    while (found_count < count && clock_us() - begun < ms * 1000) {
        struct topic_record record;
        bool is_end;
        bool found;

        OK(topic_reader_next(reader, 10, &record, &found, &is_end, why()));
        found_count += found;
    }
    return found_count;
}

/* It asks where the partition begins, after an offset was refused. */
FIXTURE_TEST(an_outage_does_not_end_an_open_reader)
{
    struct topic_reader_options options = {
        .brokers = {NULL, settings, 2, NULL, NULL, 500},
    };
    struct topic_reader *reader;
    struct mock_brokers it;

    start(&it);
    options.brokers.address = it.address;
    OK(send_some(&it, 0, RECORDS, why()));
    OK(topic_reader_open(fixture->store, kept_family(fixture, "rows"), &options,
                         &reader, why()));
    assert_int_equal(read_for(reader, RECORDS, 60000), RECORDS);
    for (int i = 0; i < 1000; i++)
        fail_next(&it, LIST_OFFSETS, RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE);
    fail_next(&it, FETCH, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE);
    assert_int_equal(read_for(reader, 1, 1000), 0);
    rd_kafka_mock_clear_request_errors(it.mock, LIST_OFFSETS);
    OK(send_some(&it, RECORDS, RECORDS + 3, why()));
    assert_int_equal(read_for(reader, 3, 60000), 3);
    topic_reader_close(reader);
    rd_kafka_destroy(it.client);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
