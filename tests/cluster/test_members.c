/*
 * Members of a cluster, with librdkafka's mock cluster.
 *
 * A member that is not of this program is one that sends records and then is
 * silent, as one that was killed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/members.h"
#include "cluster/members/member_list.h"
#include "mock_topic.h"
#include "support/random.h"

#include <inttypes.h>
#include <limits.h>
#include <time.h>

#define SAY_MS 50
#define LOST_MS 1500
#define PATIENCE 600 /* looks of 50 ms */

static const char *const settings[] = {"fetch.wait.max.ms=20",
                                       "topic.metadata.propagation.max.ms=500"};

static void
speak(struct members *members, const char *text, const char *details)
{
    OK(members_say(members, colander_slice_text(text),
                   colander_slice_text(details), why()));
}

static struct members *
join_for(const struct mock_brokers *it, const char *name, const char *text,
         unsigned say_ms, unsigned lost_ms)
{
    const struct members_options options = {.brokers = {.address = it->address,
                                                        .settings = settings,
                                                        .setting_count = 2},
                                            .cluster = "0123456789abcdef",
                                            .name = name,
                                            .say_ms = say_ms,
                                            .lost_ms = lost_ms};
    struct members *members;

    OK(members_open(&options, &members, why()));
    if (text != NULL)
        speak(members, text, "");
    return members;
}

static struct members *
join(const struct mock_brokers *it, const char *name, const char *text)
{
    return join_for(it, name, text, SAY_MS, LOST_MS);
}

/* One that loses no others in the time of a test. */
static struct members *
join_patient(const struct mock_brokers *it, const char *name, const char *text)
{
    return join_for(it, name, text, 500, 3600000);
}

static void
nap(void)
{
    const struct timespec time = {0, 50000000};

    nanosleep(&time, NULL);
}

/* Returns the list as NAME=TEXT, with * after the name of the one asked. */
static const char *
list_of(struct members *members)
{
    static char text[2000];
    struct member *list;
    size_t size = 0;
    size_t count;

    OK(members_list(members, &list, &count, why()));
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const int shown = list[i].text.size > 20 ? 20 : (int)list[i].text.size;

        size += (size_t)snprintf(
            text + size, sizeof(text) - size, "%s%s%s=%.*s", i > 0 ? " " : "",
            list[i].name, list[i].is_self ? "*" : "", shown,
            shown > 0 ? (const char *)list[i].text.data : "");
        assert_true(size < sizeof(text));
    }
    members_list_release(list, count);
    return text;
}

static void
wait_list(struct members *members, const char *wanted)
{
    for (int i = 0; i < PATIENCE; i++) {
        if (strcmp(list_of(members), wanted) == 0)
            return;
        nap();
    }
    assert_string_equal(list_of(members), wanted);
}

static void
wait_settled(struct members *members, bool wanted)
{
    for (int i = 0; i < PATIENCE && members_has_settled(members) != wanted; i++)
        nap();
    assert_true(members_has_settled(members) == wanted);
}

/* Waits for a problem with this text; "": none. */
static void
wait_problem(struct members *members, const char *wanted)
{
    struct members_state state = {0};

    for (int i = 0; i < PATIENCE; i++) {
        members_state(members, &state);
        if (wanted[0] == '\0' ? state.problem[0] == '\0'
                              : strstr(state.problem, wanted) != NULL)
            return;
        nap();
    }
    fail_msg("the problem is '%s'", state.problem);
}

static void
send_bytes(const struct mock_brokers *it, const void *bytes, size_t size)
{
    assert_int_equal(
        rd_kafka_producev(
            it->client, RD_KAFKA_V_TOPIC("t"), RD_KAFKA_V_PARTITION(0),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
            RD_KAFKA_V_VALUE((void *)(uintptr_t)bytes, size), RD_KAFKA_V_END),
        0);
    assert_int_equal(rd_kafka_flush(it->client, 10000), 0);
}

static struct member_record
record_of(const char *name, const char *text)
{
    const struct member_record record = {
        .process = 7,
        .generation = 1,
        .cluster = colander_slice_text("0123456789abcdef"),
        .name = colander_slice_text(name),
        .text = colander_slice_text(text)};

    return record;
}

static void
send_record(const struct mock_brokers *it, const struct member_record *record)
{
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;

    OK(member_record_encode(record, &bytes, why()));
    send_bytes(it, bytes.data, bytes.size);
    colander_buffer_release(&bytes);
}

/* ------------------------------------------------------------- records --- */

TEST(records_have_the_bytes_of_the_format)
{
    static const uint8_t golden[] = "COLMEMB1"
                                    "\0"
                                    "\x01\x02\x03\x04\x05\x06\x07\x08"
                                    "\x02\0\0\0\0\0\0\0"
                                    "\x02"
                                    "id"
                                    "\x03"
                                    "n.1"
                                    "\x05"
                                    "h:123";
    const size_t size = sizeof(golden) - 1;
    const struct member_record record = {.process =
                                             UINT64_C(0x0807060504030201),
                                         .generation = 2,
                                         .cluster = colander_slice_text("id"),
                                         .name = colander_slice_text("n.1"),
                                         .text = colander_slice_text("h:123")};
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    struct member_record read;

    OK(member_record_encode(&record, &bytes, why()));
    assert_int_equal(bytes.size, size);
    assert_memory_equal(bytes.data, golden, size);
    assert_true(member_record_decode(colander_slice_of(golden, size), &read));
    assert_true(read.process == record.process);
    assert_int_equal(read.generation, 2);
    assert_false(read.is_goodbye);
    assert_true(colander_slice_equal(read.cluster, record.cluster));
    assert_true(colander_slice_equal(read.name, record.name));
    assert_true(colander_slice_equal(read.text, record.text));
    for (size_t i = 0; i < size; i++) {
        uint8_t *piece = malloc(i + 1); /* its end is seen by sanitizers */

        memcpy(piece, golden, i);
        assert_false(member_record_decode(colander_slice_of(piece, i), &read));
        free(piece);
    }
    OK(colander_buffer_append(&bytes, "", 1, why()));
    assert_false(member_record_decode(colander_buffer_slice(&bytes), &read));
    colander_buffer_release(&bytes);
}

TEST(names_are_checked)
{
    char longest[MEMBERS_NAME_MAX + 2];

    memset(longest, 'n', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    FAILS(members_name_check(longest, why()), COLANDER_INVALID);
    OK(members_name_check(longest + 1, why()));
    OK(members_name_check("10.0.0.1_80-B", why()));
    FAILS(members_name_check("", why()), COLANDER_INVALID);
    FAILS(members_name_check(".a", why()), COLANDER_INVALID);
    FAILS(members_name_check("a b", why()), COLANDER_INVALID);
    FAILS(members_name_check("a/b", why()), COLANDER_INVALID);
}

/* ---------------------------------------------------------------- list --- */

static struct colander_slice
number_name(size_t number, char *name, size_t size)
{
    snprintf(name, size, "n%05zu", number);
    return colander_slice_text(name);
}

TEST(a_list_is_bounded)
{
    struct member_record record = record_of("", "text");
    struct member_list list = {0};
    char name[16];

    for (size_t i = 0; i < MEMBERS_MAX; i++) { /* in another order */
        record.name = number_name(i * 7 % MEMBERS_MAX, name, sizeof(name));
        OK(member_list_take(&list, &record, 1, false, why()));
    }
    assert_int_equal(list.count, MEMBERS_MAX);
    for (size_t i = 0; i < MEMBERS_MAX; i++)
        assert_true(
            colander_slice_equal(number_name(i, name, sizeof(name)),
                                 colander_slice_text(list.entries[i].name)));
    record.name = colander_slice_text("more");
    FAILS(member_list_take(&list, &record, 1, false, why()),
          COLANDER_NO_MEMORY);
    record.name = number_name(500, name, sizeof(name));
    OK(member_list_take(&list, &record, 5, false, why()));
    member_list_drop_lost(&list, 11, 10);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.entries[0].name, "n00500");
    member_list_release(&list);
}

TEST(a_later_process_replaces_an_earlier_one)
{
    struct member_record record = record_of("a", "first");
    struct member_list list = {0};

    OK(member_list_take(&list, &record, 10, true, why()));
    record.generation = 2;
    record.process = 5;
    record.text = colander_slice_text("second");
    OK(member_list_take(&list, &record, 20, true, why()));
    assert_int_equal(list.entries[0].process, 5);
    record.generation = 1;
    record.process = 9;
    record.is_goodbye = true; /* of an earlier one */
    OK(member_list_take(&list, &record, 30, true, why()));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.entries[0].heard_us, 20);
    assert_memory_equal(list.entries[0].text.data, "second", 6);
    record.generation = 2; /* began at once */
    record.is_goodbye = false;
    OK(member_list_take(&list, &record, 40, true, why()));
    assert_int_equal(list.entries[0].process, 9);
    /* what may be old does not make it younger */
    OK(member_list_take(&list, &record, 50, true, why()));
    assert_int_equal(list.entries[0].heard_us, 40);
    OK(member_list_take(&list, &record, 60, false, why()));
    assert_int_equal(list.entries[0].heard_us, 60);
    OK(member_list_take(&list, &record, 70, true, why()));
    member_list_drop_past(&list);
    assert_int_equal(list.count, 1);
    record.is_goodbye = true;
    OK(member_list_take(&list, &record, 80, true, why()));
    assert_int_equal(list.count, 0);
    record.is_goodbye = false;
    OK(member_list_take(&list, &record, 90, true, why()));
    member_list_drop_past(&list);
    assert_int_equal(list.count, 0);
    member_list_release(&list);
}

/* ------------------------------------------------------------- members --- */

/* A goodbye is heard long before a member would be lost. */
TEST(members_see_each_other_come_and_go)
{
    struct members *members[4];
    struct mock_brokers it;

    start(&it);
    members[0] = join_patient(&it, "b", "0");
    members[1] = join_patient(&it, "c", "1");
    members[2] = join_patient(&it, "a", "2");
    wait_list(members[0], "a=2 b*=0 c=1");
    wait_list(members[1], "a=2 b=0 c*=1");
    wait_list(members[2], "a*=2 b=0 c=1");
    for (size_t i = 0; i < 3; i++)
        wait_settled(members[i], true);
    speak(members[1], "partitions", "");
    wait_list(members[0], "a=2 b*=0 c=partitions");

    members[3] = join_patient(&it, "d", "3");
    wait_settled(members[3], true);
    assert_string_equal(list_of(members[3]), "a=2 b=0 c=partitions d*=3");
    members_close(members[1]);
    wait_list(members[0], "a=2 b*=0 d=3");
    wait_list(members[2], "a*=2 b=0 d=3");
    members_close(members[0]);
    wait_list(members[3], "a=2 d*=3");
    members_close(members[2]);
    wait_list(members[3], "d*=3");
    wait_problem(members[3], "");
    members_close(members[3]);
    members_close(NULL);
    rd_kafka_destroy(it.client);
}

/* Numbers that change all the time must not make records. */
TEST(details_wait_for_the_next_record)
{
    struct members *members[2];
    struct members_state before;
    struct members_state now;
    struct mock_brokers it;

    start(&it);
    members[0] = join_for(&it, "a", "text ", 3600000, UINT_MAX);
    members[1] = join_patient(&it, "b", "");
    wait_list(members[1], "a=text  b*=");
    members_state(members[1], &before);
    for (int i = 0; i < 20; i++) {
        speak(members[0], "text ", i % 2 == 0 ? "1" : "2");
        nap();
    }
    assert_string_equal(list_of(members[1]), "a=text  b*=");
    members_state(members[1], &now);
    assert_true(now.heard - before.heard <= 5); /* b, twice a second */
    speak(members[0], "text, ", "3");
    wait_list(members[1], "a=text, 3 b*=");
    members_close(members[0]);
    members_close(members[1]);
    rd_kafka_destroy(it.client);
}

/* It hears who is there, and no one hears it. */
TEST(a_listener_is_not_a_member)
{
    const struct member_record killed = record_of("k", "long ago");
    struct members *members[2];
    struct members *listener;
    struct members_state now;
    struct mock_brokers it;

    start(&it);
    listener = join_for(&it, NULL, NULL, 3600000, UINT_MAX);
    wait_settled(listener, true); /* no one was there: that is known at once */
    assert_string_equal(list_of(listener), "");
    members_close(listener);

    members[0] = join_patient(&it, "a", "0");
    members[1] = join_patient(&it, "b", "1");
    wait_list(members[0], "a*=0 b=1");
    listener = join_for(&it, NULL, NULL, 3600000, UINT_MAX);
    wait_settled(listener, true); /* once both have spoken again */
    assert_string_equal(list_of(listener), "a=0 b=1");
    members_state(listener, &now);
    assert_string_equal(now.problem, "");
    assert_string_equal(list_of(members[0]), "a*=0 b=1");
    members_close(listener);

    send_record(&it, &killed);
    listener = join_for(&it, NULL, NULL, 1000, UINT_MAX);
    wait_settled(listener, true); /* after two seconds */
    assert_string_equal(list_of(listener), "a=0 b=1");
    members_close(listener);
    members_close(members[0]);
    members_close(members[1]);
    rd_kafka_destroy(it.client);
}

TEST(a_listener_says_why_it_hears_nothing)
{
    struct members *listener;
    struct mock_brokers it;

    start(&it);
    rd_kafka_mock_topic_set_error(it.mock, "t",
                                  RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    listener = join_for(&it, NULL, NULL, SAY_MS, LOST_MS);
    wait_problem(listener, "topic does not exist");
    assert_false(members_has_settled(listener));
    members_close(listener);
    rd_kafka_destroy(it.client);
}

TEST(a_member_that_falls_silent_is_lost)
{
    const struct member_record killed = record_of("k", "was here");
    struct members *member;
    struct mock_brokers it;

    start(&it);
    member = join(&it, "a", "");
    wait_settled(member, true);
    send_record(&it, &killed);
    wait_list(member, "a*= k=was here");
    wait_list(member, "a*=");
    wait_settled(member, true);
    members_close(member);
    rd_kafka_destroy(it.client);
}

/* The past tells who may be there, until it has settled. */
TEST(a_member_of_the_past_counts_until_it_has_settled)
{
    const struct member_record killed = record_of("k", "long ago");
    struct member_record left = record_of("l", "long ago");
    struct members *member;
    struct members *late;
    struct mock_brokers it;

    start(&it);
    for (int i = 0; i < 300; i++)
        send_record(&it, &left); /* more than are read */
    left.is_goodbye = true;
    send_record(&it, &left);
    member = join_patient(&it, "a", "");
    wait_settled(member, true);
    send_record(&it, &killed);
    wait_list(member, "a*= k=long ago");
    late = join_patient(&it, "b", "");
    wait_settled(late, true);
    assert_string_equal(list_of(late), "a= b*=");
    assert_string_equal(list_of(member), "a*= b= k=long ago");
    members_close(late);
    members_close(member);
    rd_kafka_destroy(it.client);
}

TEST(a_large_text_is_said)
{
    uint8_t *text = malloc(MEMBERS_TEXT_MAX + 1);
    struct members *members[2];
    struct mock_brokers it;
    struct member *list;
    size_t size = 0;
    size_t count;

    start(&it);
    members[0] = join(&it, "a", "");
    members[1] = join(&it, "b", "");
    for (size_t i = 0; i <= MEMBERS_TEXT_MAX; i++)
        text[i] = (uint8_t)random_next(random_state());
    FAILS(members_say(members[0], colander_slice_of(text, MEMBERS_TEXT_MAX),
                      colander_slice_of(text, 1), why()),
          COLANDER_INVALID);
    OK(members_say(members[0], colander_slice_of(text, 1000),
                   colander_slice_of(text + 1000, MEMBERS_TEXT_MAX - 1000),
                   why()));
    for (int i = 0; i < PATIENCE && size != MEMBERS_TEXT_MAX; i++) {
        nap();
        OK(members_list(members[1], &list, &count, why()));
        size = count == 2 ? list[0].text.size : 0;
        if (size == MEMBERS_TEXT_MAX)
            assert_memory_equal(list[0].text.data, text, size);
        members_list_release(list, count);
    }
    assert_int_equal(size, MEMBERS_TEXT_MAX);
    members_close(members[0]);
    members_close(members[1]);
    free(text);
    rd_kafka_destroy(it.client);
}

/* ------------------------------------------------------------- trouble --- */

TEST(brokers_may_be_down_and_come_back)
{
    struct members *members[2];
    struct mock_brokers it;

    start(&it);
    rd_kafka_mock_broker_set_down(it.mock, 1);
    members[0] = join(&it, "a", "0");
    members[1] = join(&it, "b", "1");
    wait_problem(members[0], "other members were not heard for");
    assert_string_equal(list_of(members[0]), "a*=0");
    assert_false(members_has_settled(members[0]));
    rd_kafka_mock_broker_set_up(it.mock, 1);
    wait_list(members[0], "a*=0 b=1");
    wait_settled(members[0], true);
    wait_settled(members[1], true);
    wait_problem(members[0], "");

    rd_kafka_mock_broker_set_down(it.mock, 1);
    for (int i = 0; i < PATIENCE; i++) { /* never alone and sure of it */
        const bool has_settled = members_has_settled(members[0]);
        const bool is_alone = strcmp(list_of(members[0]), "a*=0") == 0;

        assert_false(is_alone && has_settled &&
                     members_has_settled(members[0]));
        if (is_alone)
            break;
        nap();
    }
    assert_string_equal(list_of(members[0]), "a*=0");
    speak(members[1], "new", "");
    rd_kafka_mock_broker_set_up(it.mock, 1);
    wait_settled(members[0], true);
    wait_list(members[0], "a*=0 b=new");
    rd_kafka_mock_broker_set_down(it.mock, 1);
    members_close(members[0]);
    members_close(members[1]);
    rd_kafka_destroy(it.client);
}

TEST(a_topic_may_be_missing_at_first)
{
    struct members *member;
    struct mock_brokers it;

    start(&it);
    rd_kafka_mock_topic_set_error(it.mock, "t",
                                  RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    member = join(&it, "a", "");
    wait_problem(member, "topic does not exist");
    assert_false(members_has_settled(member));
    rd_kafka_mock_topic_set_error(it.mock, "t", RD_KAFKA_RESP_ERR_NO_ERROR);
    wait_settled(member, true);
    wait_problem(member, "");
    members_close(member);
    rd_kafka_destroy(it.client);
}

TEST(hostile_records_are_ignored)
{
    const uint64_t seed = random_seed("hostile records");
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    struct member_record record = record_of("good", "text");
    struct members_state now;
    struct members *member;
    struct mock_brokers it;
    uint64_t random = seed;
    uint8_t noise[100];
    char name[300];

    start(&it);
    member = join(&it, "a", "");
    wait_settled(member, true);
    send_bytes(&it, NULL, 0);
    send_bytes(&it, "x", 1);
    OK(member_record_encode(&record, &bytes, why()));
    bytes.data[7] = '2'; /* a newer version */
    send_bytes(&it, bytes.data, bytes.size);
    bytes.data[7] = '1';
    bytes.data[8] = 2; /* neither here nor a goodbye */
    send_bytes(&it, bytes.data, bytes.size);
    memset(bytes.data + 25, 0xff, 10); /* a size beyond all */
    bytes.data[8] = 0;
    send_bytes(&it, bytes.data, bytes.size);
    memset(name, 'n', sizeof(name));
    record.name = colander_slice_of(name, sizeof(name));
    send_record(&it, &record);
    record.name = colander_slice_of("a\0b", 3);
    send_record(&it, &record);
    record.name = colander_slice_text("");
    send_record(&it, &record);
    record = record_of("good", "text");
    record.cluster = colander_slice_text("another cluster");
    send_record(&it, &record);
    for (int i = 0; i < 20; i++) {
        for (size_t j = 0; j < sizeof(noise); j++)
            noise[j] = (uint8_t)random_next(&random);
        if (i % 2 == 0)
            memcpy(noise, "COLMEMB1\0", 9);
        noise[25] |= 0x78; /* more than there is, as the id of a cluster */
        send_bytes(&it, noise, sizeof(noise));
    }
    record = record_of("end", "");
    send_record(&it, &record);
    wait_list(member, "a*= end=");
    members_state(member, &now);
    assert_int_equal(now.ignored, 9 + 20);
    assert_string_equal(now.problem, "");
    colander_buffer_release(&bytes);
    members_close(member);
    rd_kafka_destroy(it.client);
}

TEST(of_two_with_one_name_the_later_one_is_the_member)
{
    struct members_state now;
    struct members *members[3];
    struct mock_brokers it;

    start(&it);
    members[2] = join(&it, "other", "");
    members[0] = join(&it, "a", "early");
    wait_list(members[2], "a=early other*=");
    members[1] = join(&it, "a", "late");
    wait_list(members[2], "a=late other*=");
    wait_list(members[0], "a=late other=");
    wait_problem(members[0], "has the name 'a' and began later");
    members_state(members[0], &now);
    assert_true(now.is_replaced);
    wait_settled(members[0], false);
    wait_list(members[1], "a*=late other=");
    wait_settled(members[1], true);
    wait_problem(members[1], "began earlier, has the name 'a'");
    wait_problem(members[2], "");
    wait_list(members[2], "a=late other*=");

    members_close(members[1]); /* the first one is there again */
    wait_list(members[2], "a=early other*=");
    wait_settled(members[0], true);
    wait_problem(members[0], "");
    members_close(members[0]);
    wait_list(members[2], "other*=");
    members_close(members[2]);
    rd_kafka_destroy(it.client);
}

/* An earlier process that still speaks is a problem for both. */
TEST(an_earlier_process_with_the_name_is_a_problem)
{
    const struct member_record record = record_of("a", "early");
    struct members *member;
    struct mock_brokers it;

    start(&it);
    send_record(&it, &record);
    member = join(&it, "a", "late");
    wait_settled(member, true);
    wait_problem(member, "");
    send_record(&it, &record);
    wait_problem(member, "began earlier, has the name 'a'");
    assert_string_equal(list_of(member), "a*=late");
    wait_settled(member, true);
    wait_problem(member, "");
    members_close(member);
    rd_kafka_destroy(it.client);
}

TEST(options_that_cannot_be_used_are_refused)
{
    struct members_options options = {
        .brokers = {.address = "kafka://b:1/one,two"},
        .cluster = "id",
        .name = "a"};
    struct members *members;

    FAILS(members_open(&options, &members, why()), COLANDER_INVALID);
    assert_null(members);
    options.brokers.address = "kafka://b:1/one";
    options.name = "a b";
    FAILS(members_open(&options, &members, why()), COLANDER_INVALID);
    options.name = "a";
    options.say_ms = 1000;
    options.lost_ms = 3999;
    FAILS(members_open(&options, &members, why()), COLANDER_INVALID);
}
