/*
 * Topics as a whole: one is created and checked, or asked for its ends.
 *
 * The client is a consumer: librdkafka's producers have brokers create topics
 * that they only ask for, with as many partitions as brokers like.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/kafka.h"
#include "core/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define COPIES 3
#define SEGMENT_SECONDS (7 * 86400) /* as brokers have it */
#define CREATE_MS 30000
#define LOOK_MS 100 /* between two looks at a new topic, */
#define LOOKS 100   /* at most */

struct admin {
    struct kafka_trouble trouble; /* first: the client has its address */
    struct topic_broker_options options;
    struct kafka_address address;
    rd_kafka_t *client;
    rd_kafka_topic_t *topic;
    uint32_t broker_count;
    bool has_controller; /* one of them is */
};

static const char *
name_of(const struct admin *admin)
{
    return admin->address.topics[0];
}

static enum colander_code
open_admin(struct admin *admin, const struct topic_broker_options *options,
           struct colander_error *err)
{
    static const struct kafka_setting settings[] = {
        {"client.id", "colander"},
        {"reconnect.backoff.max.ms", "2000"},
        {NULL, NULL},
    };
    static const struct kafka_setting fixed[] = {
        {"allow.auto.create.topics", "false"},
        {NULL, NULL},
    };
    enum colander_code code;

    memset(admin, 0, sizeof(*admin));
    pthread_mutex_init(&admin->trouble.lock, NULL);
    admin->options = *options;
    code = kafka_address_read(&admin->address, options->address, err);
    if (code == COLANDER_OK && admin->address.topic_count != 1)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "it must be one topic, not %zu",
                             admin->address.topic_count);
    if (code == COLANDER_OK)
        code = kafka_client_create(RD_KAFKA_CONSUMER, admin->address.brokers,
                                   &admin->options, settings, fixed,
                                   &admin->trouble, NULL, &admin->client, err);
    if (code != COLANDER_OK)
        return code;
    admin->topic = rd_kafka_topic_new(admin->client, name_of(admin), NULL);
    return admin->topic != NULL
               ? COLANDER_OK
               : kafka_fail(rd_kafka_last_error(), "cannot open",
                            name_of(admin), -1, err);
}

/* Adds what brokers last complained of, if that is why it failed. */
static void
close_admin(struct admin *admin, enum colander_code code,
            struct colander_error *err)
{
    if (admin->client != NULL)
        (void)rd_kafka_poll(admin->client, 0); /* what they say */
    if (code == COLANDER_IO && admin->trouble.text[0] != '\0')
        colander_error_context(err, "%s", admin->trouble.text);
    if (admin->topic != NULL)
        rd_kafka_topic_destroy(admin->topic);
    if (admin->client != NULL)
        rd_kafka_destroy(admin->client);
    kafka_address_release(&admin->address);
    pthread_mutex_destroy(&admin->trouble.lock);
}

/* --------------------------------------------------------------- create --- */

static rd_kafka_resp_err_t
ask_brokers(void *context)
{
    struct admin *admin = context;
    const struct rd_kafka_metadata *metadata = NULL;
    const rd_kafka_resp_err_t error =
        rd_kafka_metadata(admin->client, 0, NULL, &metadata, KAFKA_ASK_MS);

    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        return error;
    admin->broker_count = (uint32_t)metadata->broker_cnt;
    admin->has_controller = false;
    for (int i = 0; i < metadata->broker_cnt; i++)
        admin->has_controller |=
            metadata->brokers[i].id == rd_kafka_controllerid(admin->client, 0);
    rd_kafka_metadata_destroy(metadata);
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* Returns a new topic as it is wanted, or NULL, and says why in `reason`. */
static rd_kafka_NewTopic_t *
new_topic(const struct admin *admin, const struct topic_wanted *wanted,
          uint32_t copy_count, char *reason, size_t reason_size)
{
    rd_kafka_NewTopic_t *topic =
        rd_kafka_NewTopic_new(name_of(admin), (int)wanted->partition_count,
                              (int)copy_count, reason, reason_size);
    char retention[24];

    if (topic == NULL)
        return NULL;
    (void)snprintf(retention, sizeof(retention), "%" PRIu64 "000",
                   wanted->retention_seconds);
    (void)rd_kafka_NewTopic_set_config(topic, "cleanup.policy", "delete");
    (void)rd_kafka_NewTopic_set_config(topic, "retention.ms", retention);
    if (wanted->retention_seconds < SEGMENT_SECONDS) /* else it keeps more */
        (void)rd_kafka_NewTopic_set_config(topic, "segment.ms", retention);
    (void)rd_kafka_NewTopic_set_config(topic, "min.insync.replicas",
                                       copy_count >= COPIES ? "2" : "1");
    return topic;
}

/* Sets *error to what the answer says of the topic; `reason` in words. */
static void
read_answer(rd_kafka_event_t *event, rd_kafka_resp_err_t *error, char *reason,
            size_t reason_size)
{
    const rd_kafka_CreateTopics_result_t *result = NULL;
    const rd_kafka_topic_result_t **topics = NULL;
    const char *text = NULL;
    size_t count = 0;

    *error = rd_kafka_event_error(event);
    if (*error != RD_KAFKA_RESP_ERR_NO_ERROR)
        text = rd_kafka_event_error_string(event);
    else
        result = rd_kafka_event_CreateTopics_result(event);
    if (result != NULL)
        topics = rd_kafka_CreateTopics_result_topics(result, &count);
    if (count > 0) {
        *error = rd_kafka_topic_result_error(topics[0]);
        text = rd_kafka_topic_result_error_string(topics[0]);
    }
    (void)snprintf(reason, reason_size, "%s",
                   text == NULL ? rd_kafka_err2str(*error) : text);
}

/* Has the controller create the topic. */
static rd_kafka_resp_err_t
request(struct admin *admin, rd_kafka_NewTopic_t *topic, char *reason,
        size_t reason_size)
{
    rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(
        admin->client, RD_KAFKA_ADMIN_OP_CREATETOPICS);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(admin->client);
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR__TIMED_OUT;
    rd_kafka_event_t *event;

    (void)rd_kafka_AdminOptions_set_request_timeout(options, CREATE_MS, NULL,
                                                    0);
    (void)rd_kafka_AdminOptions_set_operation_timeout(options, CREATE_MS, NULL,
                                                      0);
    rd_kafka_CreateTopics(admin->client, &topic, 1, options, queue);
    event = rd_kafka_queue_poll(queue, 2 * CREATE_MS);
    (void)snprintf(reason, reason_size, "no answer");
    if (event != NULL)
        read_answer(event, &error, reason, reason_size);
    if (event != NULL)
        rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_AdminOptions_destroy(options);
    return error;
}

/* Creates the topic, unless brokers say that it is there. */
static enum colander_code
create(struct admin *admin, const struct topic_wanted *wanted,
       struct topic_made *made, struct colander_error *err)
{
    rd_kafka_resp_err_t error =
        kafka_try(&admin->options, admin->client, true, ask_brokers, admin);
    rd_kafka_NewTopic_t *topic;
    char reason[300] = "";

    if (kafka_is_stopped(&admin->options))
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        return kafka_fail(error, "cannot create", name_of(admin), -1, err);
    made->copy_count = wanted->copy_count > 0          ? wanted->copy_count
                       : admin->broker_count >= COPIES ? COPIES
                                                       : admin->broker_count;
    if (!admin->has_controller)
        return COLANDER_FAIL(err, COLANDER_IO,
                             "cannot create topic '%s': no broker is the "
                             "controller, which creates topics",
                             name_of(admin));
    topic = new_topic(admin, wanted, made->copy_count, reason, sizeof(reason));
    if (topic == NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "cannot create topic '%s': %s", name_of(admin),
                             reason);
    error = request(admin, topic, reason, sizeof(reason));
    rd_kafka_NewTopic_destroy(topic);
    made->is_new = error == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (made->is_new || error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_IO, "cannot create topic '%s': %s (%s)",
                         name_of(admin), reason, rd_kafka_err2name(error));
}

/* Waits until brokers know all partitions of a new topic, and checks those of
 * another one. */
static enum colander_code
check(struct admin *admin, const struct topic_wanted *wanted,
      struct topic_made *made, struct colander_error *err)
{
    int32_t count = 0;
    enum colander_code code = COLANDER_OK;

    for (int i = 0; i < LOOKS && code == COLANDER_OK; i++) {
        code = kafka_partition_count(&admin->options, admin->client,
                                     admin->topic, &count, err);
        made->partition_count = (uint32_t)count;
        if (!made->is_new || made->partition_count == wanted->partition_count)
            break;
        (void)rd_kafka_poll(admin->client, LOOK_MS);
    }
    if (code == COLANDER_OK && wanted->partition_count != 0 &&
        made->partition_count != wanted->partition_count)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "topic '%s' has %" PRIu32 " partitions, not "
                             "%" PRIu32,
                             name_of(admin), made->partition_count,
                             wanted->partition_count);
    return code;
}

enum colander_code
topic_create(const struct topic_broker_options *options,
             const struct topic_wanted *wanted, struct topic_made *made,
             struct colander_error *err)
{
    struct admin admin;
    enum colander_code code = open_admin(&admin, options, err);

    memset(made, 0, sizeof(*made));
    if (code == COLANDER_OK && !wanted->is_there)
        code = create(&admin, wanted, made, err);
    if (code == COLANDER_OK)
        code = check(&admin, wanted, made, err);
    close_admin(&admin, code, err);
    return code;
}

/* ----------------------------------------------------------------- ends --- */

/* Leaves to what follows the time that is left, at least a millisecond. */
static void
shorten_wait(struct admin *admin, uint64_t until_us)
{
    const uint64_t now = clock_us();

    admin->options.wait_ms =
        now < until_us ? (unsigned)((until_us - now) / 1000) + 1 : 1;
}

/* Sets the offsets of the list to one end of its partitions. */
static enum colander_code
find_ends(struct admin *admin, rd_kafka_topic_partition_list_t *list,
          int64_t which, struct colander_error *err)
{
    const rd_kafka_resp_err_t error =
        kafka_find_offsets(&admin->options, admin->client, true, list, which);
    int32_t partition = -1;

    if (kafka_is_stopped(&admin->options))
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
        return COLANDER_OK;
    for (int i = 0; i < list->cnt && partition < 0; i++) {
        if (list->elems[i].err == error)
            partition = list->elems[i].partition;
    }
    return kafka_fail(error, "cannot find the ends of", name_of(admin),
                      partition, err);
}

static enum colander_code
ask_all(struct admin *admin, struct topic_ends *ends, int32_t count,
        uint64_t until_us, struct colander_error *err)
{
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new(count);
    enum colander_code code;

    for (int32_t i = 0; i < count; i++)
        (void)rd_kafka_topic_partition_list_add(list, name_of(admin), i);
    shorten_wait(admin, until_us);
    code = find_ends(admin, list, RD_KAFKA_OFFSET_BEGINNING, err);
    for (int32_t i = 0; i < count; i++)
        ends[i].low = list->elems[i].offset;
    shorten_wait(admin, until_us);
    if (code == COLANDER_OK)
        code = find_ends(admin, list, RD_KAFKA_OFFSET_END, err);
    for (int32_t i = 0; i < count; i++)
        ends[i].high = list->elems[i].offset;
    rd_kafka_topic_partition_list_destroy(list);
    return code;
}

enum colander_code
topic_ends(const struct topic_broker_options *options, struct topic_ends **ends,
           size_t *count, int64_t *retention_ms, struct colander_error *err)
{
    const uint64_t until_us =
        clock_us() + kafka_wait_ms(options) * UINT64_C(1000);
    struct admin admin;
    int32_t found = 0;
    enum colander_code code = open_admin(&admin, options, err);

    *ends = NULL;
    *count = 0;
    *retention_ms = -1;
    if (code == COLANDER_OK)
        code = kafka_partition_count(options, admin.client, admin.topic, &found,
                                     err);
    if (code == COLANDER_OK)
        *retention_ms = kafka_retention(admin.client, admin.topic);
    if (code == COLANDER_OK) {
        *ends = calloc((size_t)found, sizeof(**ends));
        code = *ends != NULL ? ask_all(&admin, *ends, found, until_us, err)
                             : COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                             "no memory for partitions");
    }
    if (code == COLANDER_OK) {
        *count = (size_t)found;
    } else {
        free(*ends);
        *ends = NULL;
    }
    close_admin(&admin, code, err);
    return code;
}
