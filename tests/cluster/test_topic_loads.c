/*
 * Headers of the records of loads: which records a reader leaves out, and how
 * many loads it knows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/topic_mark.h"
#include "mock_topic.h"

#include <inttypes.h>

#define LOADS 300

/* Puts a record with a header, which is its text, too. */
static void
put(const struct mock_brokers *it, const char *header)
{
    assert_int_equal(
        rd_kafka_producev(
            it->client, RD_KAFKA_V_TOPIC("t"), RD_KAFKA_V_PARTITION(0),
            RD_KAFKA_V_VALUE((void *)header, strlen(header)),
            RD_KAFKA_V_HEADER("colander", header, (ssize_t)strlen(header)),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
        RD_KAFKA_RESP_ERR_NO_ERROR);
    assert_int_equal(rd_kafka_flush(it->client, 60000),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
}

static void
put_load(const struct mock_brokers *it, uint64_t id, uint64_t number)
{
    char header[64];

    (void)snprintf(header, sizeof(header), "%016" PRIx64 "/t/%" PRIu64, id,
                   number);
    put(it, header);
}

static void
write_marks(struct store_fixture *fixture, struct colander_family *family,
            struct topic_reader *reader)
{
    struct colander_batch *batch;
    struct colander_slice value;
    struct colander_slice name;
    bool found = true;

    OK(colander_batch_create(fixture->store, &batch, why()));
    for (;;) {
        OK(topic_reader_mark(reader, &name, &value, &found, why()));
        if (!found)
            break;
        OK(colander_batch_mark(batch, family, name, value, why()));
    }
    OK(colander_batch_commit(batch, NULL, why()));
    colander_batch_destroy(batch);
}

/* Reads on to the end of the topic, writes the marks, and returns how many
 * records it was given. `texts` gets theirs, one a line. */
static int
read_on(struct store_fixture *fixture, const struct mock_brokers *it,
        char *texts)
{
    const struct topic_reader_options options = {
        .brokers = {.address = it->address}, .is_once = true};
    struct colander_family *family = kept_family(fixture, "rows");
    struct topic_reader *reader;
    bool is_end = false;
    int count = 0;

    OK(topic_reader_open(fixture->store, family, &options, &reader, why()));
    while (!is_end) {
        struct topic_record record;
        bool found;

        OK(topic_reader_next(reader, 100, &record, &found, &is_end, why()));
        count += found;
        if (found && texts != NULL)
            texts += sprintf(texts, "%.*s\n", (int)record.value.size,
                             (const char *)record.value.data);
    }
    write_marks(fixture, family, reader);
    topic_reader_close(reader);
    return count;
}

FIXTURE_TEST(only_headers_of_the_topic_itself_count)
{
    static const char *const headers[] = {
        "0000000000000007/t/5",  "0000000000000007/t/3", /* this is again */
        "0000000000000007/u/6",  "0000000000000007/u/2",
        "0000000000000007/tt/9", "0000000000000007/tt/8",
        "0000000000000007/9",    "0000000000000007/8",
        "0000000000000007/t/",   "0000000000000007/t/5x",
        "0000000000000007/t",    "000000000000007/t/4"};
    struct mock_brokers it;
    char wanted[1000] = "";
    char texts[1000] = "";

    start(&it);
    for (size_t i = 0; i < COUNT(headers); i++) {
        put(&it, headers[i]);
        if (i != 1)
            (void)sprintf(wanted + strlen(wanted), "%s\n", headers[i]);
    }
    assert_int_equal(read_on(fixture, &it, texts), COUNT(headers) - 1);
    assert_string_equal(texts, wanted);
    rd_kafka_destroy(it.client);
}

static bool
has_mark(struct store_fixture *fixture, int slot)
{
    struct colander_buffer name = COLANDER_BUFFER_EMPTY;
    struct topic_mark mark;
    bool found;

    OK(topic_mark_name(&name, "t", 0, slot, why()));
    OK(topic_mark_read(&mark, kept_family(fixture, "rows"),
                       colander_buffer_slice(&name), &found, why()));
    colander_buffer_release(&name);
    return found;
}

/* A reader that was opened again knows what the one before has known. */
FIXTURE_TEST(the_last_loads_of_a_partition_are_known)
{
    struct mock_brokers it;

    start(&it);
    for (uint64_t id = 1; id <= LOADS; id++) {
        put_load(&it, id, 5);
        if (id == LOADS / 2)
            assert_int_equal(read_on(fixture, &it, NULL), LOADS / 2);
    }
    assert_int_equal(read_on(fixture, &it, NULL), LOADS - LOADS / 2);
    assert_true(has_mark(fixture, TOPIC_SLOTS_MAX - 1));
    assert_false(has_mark(fixture, TOPIC_SLOTS_MAX));
    for (uint64_t id = LOADS - TOPIC_SLOTS_MAX + 1; id <= LOADS; id++)
        put_load(&it, id, 5);
    assert_int_equal(read_on(fixture, &it, NULL), 0);
    put_load(&it, 1, 5); /* is not known any more, and takes a place */
    put_load(&it, 1, 5);
    put_load(&it, LOADS - TOPIC_SLOTS_MAX + 1, 5);
    put_load(&it, LOADS - TOPIC_SLOTS_MAX + 3, 5);
    assert_int_equal(read_on(fixture, &it, NULL), 2);
    assert_false(has_mark(fixture, TOPIC_SLOTS_MAX));
    rd_kafka_destroy(it.client);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
