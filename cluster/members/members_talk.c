/*
 * The thread of members: a consumer and a producer of librdkafka.
 *
 * It reads the last records of the topic, which tell at once who is there, and
 * only then begins to speak. What was said before may be by members that are
 * gone: those that do not speak again are dropped when it has settled.
 *
 * A generation is one more than the highest that was heard of the name before:
 * so all know which of two processes is the later one, without a clock.
 *
 * That its own records come back is the only proof that it hears others. So it
 * has settled only as long as they do.
 *
 * A process that another one with its name has replaced still sends a record
 * now and then: else that one, and who asks it, would not know of it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/members/members_inside.h"
#include "core/clock.h"

#include <stdio.h>

#define TAIL 256 /* records that are read of what was said before */
#define WAIT_MS 100
#define START_MS 1000 /* between two attempts to read the topic */
#define GOODBYE_MS 1000
/* Of lost_ms: how often a process speaks that was replaced. */
#define REPLACED_SHARE 4

/* ------------------------------------------------------------- clients --- */

static void
note_failure(struct members *members, const char *what,
             rd_kafka_resp_err_t error)
{
    pthread_mutex_lock(&members->lock);
    (void)snprintf(members->failure, sizeof(members->failure),
                   "%s topic '%s': %s (%s)", what, members->address.topics[0],
                   rd_kafka_err2str(error), rd_kafka_err2name(error));
    pthread_mutex_unlock(&members->lock);
}

/* Called when the producer is polled. */
static void
see_delivery(rd_kafka_t *client, const rd_kafka_message_t *message,
             void *opaque)
{
    struct members *members = opaque;

    (void)client;
    members->is_on_its_way = false;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        note_failure(members, "cannot write to", message->err);
}

enum colander_code
members_talk_begin(struct members *members, struct colander_error *err)
{
    const struct kafka_setting heard[] = {
        {"client.id", "colander"},
        {"queued.max.messages.kbytes", "4096"},
        {"queued.min.messages", "1000"},
        {"fetch.message.max.bytes", "1048576"},
        {"fetch.error.backoff.ms", "100"},
        {"reconnect.backoff.max.ms", "1000"},
        {"fetch.wait.max.ms", members->is_listener ? "50" : "500"},
        {NULL, NULL},
    };
    static const struct kafka_setting heard_fixed[] = {
        {"auto.offset.reset", "smallest"},     {"enable.auto.commit", "false"},
        {"enable.partition.eof", "true"},      {"check.crcs", "true"},
        {"allow.auto.create.topics", "false"}, {NULL, NULL},
    };
    static const struct kafka_setting said[] = {
        {"client.id", "colander"},
        {"linger.ms", "0"},
        {"request.required.acks", "1"},
        {"reconnect.backoff.max.ms", "1000"},
        {NULL, NULL},
    };
    static const struct kafka_setting said_fixed[] = {
        {"max.in.flight", "1"}, /* a goodbye stays the last one */
        {"max.in.flight.requests.per.connection", "1"},
        {"message.timeout.ms", "0"},
        {"delivery.timeout.ms", "0"},
        {"delivery.report.only.error", "false"},
        {NULL, NULL},
    };
    enum colander_code code = kafka_client_create(
        RD_KAFKA_CONSUMER, members->address.brokers, &members->brokers, heard,
        heard_fixed, &members->trouble, NULL, &members->consumer, err);

    if (code == COLANDER_OK && !members->is_listener)
        code = kafka_client_create(RD_KAFKA_PRODUCER, members->address.brokers,
                                   &members->brokers, said, said_fixed,
                                   &members->trouble, see_delivery,
                                   &members->producer, err);
    if (code == COLANDER_OK)
        members->queue = rd_kafka_queue_new(members->consumer);
    return code;
}

static void
stop_listening(struct members *members)
{
    if (members->heard == NULL)
        return;
    (void)rd_kafka_consume_stop(members->heard, 0);
    rd_kafka_topic_destroy(members->heard);
    members->heard = NULL;
}

void
members_talk_end(struct members *members)
{
    stop_listening(members);
    if (members->queue != NULL)
        rd_kafka_queue_destroy(members->queue);
    if (members->consumer != NULL)
        rd_kafka_destroy(members->consumer);
    if (members->producer != NULL)
        (void)rd_kafka_purge(members->producer, RD_KAFKA_PURGE_F_QUEUE |
                                                    RD_KAFKA_PURGE_F_INFLIGHT);
    if (members->said != NULL)
        rd_kafka_topic_destroy(members->said);
    if (members->producer != NULL)
        rd_kafka_destroy(members->producer);
}

/* ----------------------------------------------------------- listening --- */

/* Waits until brokers have said which of them has the topic: without that the
 * client asks for offsets only half a second later. */
static void
meet_leader(struct members *members)
{
    const struct rd_kafka_metadata *found = NULL;

    if (rd_kafka_metadata(members->consumer, 0, members->heard, &found,
                          START_MS) == RD_KAFKA_RESP_ERR_NO_ERROR)
        rd_kafka_metadata_destroy(found);
}

/* Begins to read the last records of the topic. */
static void
start_listening(struct members *members)
{
    const uint64_t now = clock_us();

    if (members->heard != NULL ||
        (members->started_us > 0 &&
         now - members->started_us < START_MS * UINT64_C(1000)))
        return;
    members->started_us = now;
    pthread_mutex_lock(&members->lock);
    members->is_past = true;
    members->is_settled = false;
    members->settles_us = 0;
    pthread_mutex_unlock(&members->lock);
    members->heard =
        rd_kafka_topic_new(members->consumer, members->address.topics[0], NULL);
    if (members->heard != NULL && members->is_listener)
        meet_leader(members);
    if (members->heard == NULL ||
        rd_kafka_consume_start_queue(members->heard, 0,
                                     RD_KAFKA_OFFSET_TAIL(TAIL),
                                     members->queue) != 0) {
        note_failure(members, "cannot read", rd_kafka_last_error());
        if (members->heard != NULL)
            rd_kafka_topic_destroy(members->heard);
        members->heard = NULL;
    }
}

/* The past was read: this process is a generation after those of its name. */
static void
end_past(struct members *members)
{
    if (!members->is_past)
        return;
    members->is_past = false;
    if (members->is_listener)
        members->heard_us = clock_us();
    if (members->said != NULL || members->is_listener)
        return;
    if (members->generation < UINT64_MAX)
        members->generation++;
    member_list_drop(&members->list, colander_slice_text(members->name));
}

/* This process has heard itself. */
static void
hear_self(struct members *members, uint64_t now)
{
    if (members->settles_us == 0 ||
        now - members->heard_us >= members->lost_us / 2) {
        members->settles_us =
            now +
            (members->heard_us == 0 ? 2 * members->say_us : members->lost_us);
        members->is_settled = false;
    }
    members->heard_us = now;
    members->failure[0] = '\0';
}

/* Takes a record. Requires the lock. */
static void
take(struct members *members, struct colander_slice bytes)
{
    const uint64_t now = clock_us();
    struct member_record record;
    bool has_name;

    if (!member_record_decode(bytes, &record) ||
        !colander_slice_equal(record.cluster,
                              colander_slice_text(members->cluster))) {
        members->ignored_count++;
        return;
    }
    members->heard_count++;
    if (record.process == members->process) {
        if (!members->is_past && !members_is_replaced(members))
            hear_self(members, now);
        return;
    }
    has_name =
        colander_slice_equal(record.name, colander_slice_text(members->name));
    if (has_name && members->said == NULL &&
        record.generation > members->generation)
        members->generation = record.generation;
    if (member_list_take(&members->list, &record, now, members->is_past,
                         NULL) != COLANDER_OK) {
        members->heard_count--;
        members->ignored_count++;
    }
}

/* Whether there were no more records when brokers sent this one. They send that
 * a partition has ended only if it has for fetch.wait.max.ms, which may never
 * be while others speak. */
static bool
is_last(const struct members *members, const rd_kafka_message_t *message)
{
    int64_t low;
    int64_t high;

    return rd_kafka_get_watermark_offsets(
               members->consumer, members->address.topics[0],
               message->partition, &low, &high) == RD_KAFKA_RESP_ERR_NO_ERROR &&
           high >= 0 && message->offset + 1 >= high;
}

/* Takes what librdkafka has, if it has something within the time. */
static void
listen_once(struct members *members, uint64_t wait_us)
{
    rd_kafka_message_t *message =
        rd_kafka_consume_queue(members->queue, (int)(wait_us / 1000));
    rd_kafka_resp_err_t error;

    if (message == NULL)
        return;
    error = message->err;
    pthread_mutex_lock(&members->lock);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
        take(members, colander_slice_of(message->payload, message->len));
    if (error == RD_KAFKA_RESP_ERR__PARTITION_EOF ||
        (error == RD_KAFKA_RESP_ERR_NO_ERROR && members->is_past &&
         is_last(members, message)))
        end_past(members);
    pthread_mutex_unlock(&members->lock);
    rd_kafka_message_destroy(message);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR ||
        error == RD_KAFKA_RESP_ERR__PARTITION_EOF)
        return;
    note_failure(members, "cannot read", error);
    if (!kafka_is_transient(error))
        stop_listening(members); /* and start again */
}

/* ------------------------------------------------------------ speaking --- */

const struct member_entry *
members_rival(const struct members *members)
{
    return member_list_find(&members->list, colander_slice_text(members->name));
}

bool
members_is_replaced(const struct members *members)
{
    const struct member_entry *rival = members_rival(members);

    return !members->is_past && rival != NULL &&
           member_is_later(rival->generation, rival->process,
                           members->generation, members->process);
}

static void
send_record(struct members *members)
{
    if (members->said == NULL)
        members->said = rd_kafka_topic_new(members->producer,
                                           members->address.topics[0], NULL);
    if (members->said != NULL &&
        rd_kafka_produce(members->said, 0, RD_KAFKA_MSG_F_COPY,
                         members->record.data, members->record.size, NULL, 0,
                         NULL) == 0)
        members->is_on_its_way = true;
    else
        note_failure(members, "cannot write to", rd_kafka_last_error());
}

/* Puts the record together. Requires the lock. */
static bool
make_record(struct members *members, bool is_goodbye)
{
    const struct member_record record = {
        .is_goodbye = is_goodbye,
        .process = members->process,
        .generation = members->generation,
        .cluster = colander_slice_text(members->cluster),
        .name = colander_slice_text(members->name),
        .text = is_goodbye ? colander_slice_of(NULL, 0)
                           : colander_buffer_slice(&members->text)};

    return member_record_encode(&record, &members->record, NULL) == COLANDER_OK;
}

/* Whether it is time to say something. Requires the lock. */
static bool
is_time(const struct members *members, uint64_t now)
{
    const uint64_t silent_us = now - members->said_us;

    if (members->said_us == 0)
        return true;
    if (members_is_replaced(members))
        return silent_us >= members->lost_us / REPLACED_SHARE;
    return members->is_news || silent_us >= members->say_us;
}

/* Says that it is there, if it is time. One record is on its way at a time: so
 * none wait for brokers that do not answer. */
static void
say(struct members *members)
{
    const uint64_t now = clock_us();
    bool is_due;

    if (members->is_listener)
        return;
    pthread_mutex_lock(&members->lock);
    is_due =
        !members->is_on_its_way && !members->is_past && is_time(members, now);
    is_due = is_due && make_record(members, false);
    if (is_due)
        members->is_news = false;
    pthread_mutex_unlock(&members->lock);
    if (!is_due)
        return;
    members->said_us = now;
    send_record(members);
}

static void
say_goodbye(struct members *members)
{
    bool is_due;

    if (members->has_left)
        return;
    members->has_left = true;
    pthread_mutex_lock(&members->lock);
    is_due = members->said != NULL && make_record(members, true);
    pthread_mutex_unlock(&members->lock);
    if (!is_due)
        return;
    send_record(members);
    (void)rd_kafka_flush(members->producer, GOODBYE_MS);
}

/* -------------------------------------------------------------- thread --- */

/* Whether a listener has heard all that are there. Requires the lock. */
static bool
has_heard_all(const struct members *members, uint64_t now)
{
    if (members->is_past)
        return false;
    return now - members->heard_us >= 2 * members->say_us ||
           !member_list_has_past(&members->list);
}

static void
settle(struct members *members)
{
    const uint64_t now = clock_us();

    pthread_mutex_lock(&members->lock);
    member_list_drop_lost(&members->list, now, members->lost_us);
    if (members->is_listener && !members->is_settled &&
        has_heard_all(members, now)) {
        member_list_drop_past(&members->list);
        members->is_settled = true;
    }
    if (!members->is_listener && !members->is_settled &&
        members->settles_us > 0 && now >= members->settles_us &&
        now - members->heard_us < members->lost_us / 2) {
        member_list_drop_past(&members->list);
        members->is_settled = true;
    }
    pthread_mutex_unlock(&members->lock);
}

void *
members_talk(void *context)
{
    struct members *members = context;
    uint64_t wait_us = members->say_us / 4;

    if (wait_us > WAIT_MS * UINT64_C(1000))
        wait_us = WAIT_MS * UINT64_C(1000);
    while (!atomic_load(&members->is_stopped)) {
        start_listening(members);
        if (atomic_load(&members->is_leaving))
            say_goodbye(members);
        else
            say(members);
        listen_once(members, wait_us);
        settle(members);
        (void)rd_kafka_poll(members->consumer, 0);
        if (members->producer != NULL)
            (void)rd_kafka_poll(members->producer, 0);
    }
    say_goodbye(members);
    return NULL;
}
