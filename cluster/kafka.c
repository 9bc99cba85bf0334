/* See kafka.h. SPDX-License-Identifier: MIT */
#include "cluster/kafka.h"
#include "cluster/text.h"
#include "core/clock.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define SCHEME "kafka://"
#define TOPIC_SIZE_MAX 249
#define LINE_SIZE_MAX 4096
#define RETRY_MS 100    /* before asking again */
#define MEET_MS 1500    /* for one answer of a leader that is met */
#define TOPICS_MAX 1000 /* of an address */

/* -------------------------------------------------------------- address --- */

bool
topic_is_address(const char *word)
{
    return strncmp(word, SCHEME, strlen(SCHEME)) == 0;
}

/* Takes the next of a list with commas; NULL: there is none. */
static char *
take_item(char **rest)
{
    char *item = *rest;
    char *comma = item == NULL ? NULL : strchr(item, ',');

    if (comma != NULL)
        *comma = '\0';
    *rest = comma == NULL ? NULL : comma + 1;
    return item;
}

static bool
is_topic(const char *name)
{
    const size_t size = strlen(name);

    return size > 0 && size <= TOPIC_SIZE_MAX && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz"
                        "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == size;
}

static enum colander_code
add_topic(struct kafka_address *address, const char *name,
          struct colander_error *err)
{
    char *copy;

    if (!is_topic(name))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%.260s' is not the name of a topic", name);
    for (size_t i = 0; i < address->topic_count; i++) {
        assert(address->topics[i] != NULL);
        if (strcmp(address->topics[i], name) == 0)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "topic '%s' is named twice", name);
    }
    if (address->topic_count == TOPICS_MAX)
        return COLANDER_FAIL(err, COLANDER_INVALID, "more than %d topics",
                             TOPICS_MAX);
    copy = strdup(name);
    if (copy == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for an address");
    address->topics[address->topic_count++] = copy;
    return COLANDER_OK;
}

enum colander_code
kafka_address_read(struct kafka_address *address, const char *text,
                   struct colander_error *err)
{
    const char *brokers = text + strlen(SCHEME);
    const char *slash = topic_is_address(text) ? strchr(brokers, '/') : NULL;
    enum colander_code code = COLANDER_OK;
    char *topics;
    char *rest;
    char *name;

    memset(address, 0, sizeof(*address));
    if (slash == NULL || slash == brokers || slash[1] == '\0')
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%s' is not kafka://BROKER[,BROKER...]/TOPIC"
                             "[,TOPIC...]",
                             text);
    address->brokers = strndup(brokers, (size_t)(slash - brokers));
    address->topics = calloc(TOPICS_MAX, sizeof(*address->topics));
    rest = topics = strdup(slash + 1);
    if (address->brokers == NULL || address->topics == NULL || topics == NULL)
        code =
            COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for an address");
    while (code == COLANDER_OK && (name = take_item(&rest)) != NULL)
        code = add_topic(address, name, err);
    free(topics);
    if (code != COLANDER_OK)
        colander_error_context(err, "%s", text);
    return code;
}

void
kafka_address_release(struct kafka_address *address)
{
    for (size_t i = 0; i < address->topic_count; i++)
        free(address->topics[i]);
    free(address->topics);
    free(address->brokers);
    memset(address, 0, sizeof(*address));
}

/* ------------------------------------------------------------- settings --- */

static enum colander_code
set(rd_kafka_conf_t *conf, const char *name, const char *value,
    struct colander_error *err)
{
    char reason[256];

    if (rd_kafka_conf_set(conf, name, value, reason, sizeof(reason)) !=
        RD_KAFKA_CONF_OK)
        return COLANDER_FAIL(err, COLANDER_INVALID, "%s", reason);
    return COLANDER_OK;
}

static enum colander_code
set_all(rd_kafka_conf_t *conf, const struct kafka_setting *settings,
        struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (; settings->name != NULL && code == COLANDER_OK; settings++)
        code = set(conf, settings->name, settings->value, err);
    return code;
}

/* Sets NAME=VALUE, which the user has given. It is not printed: it may be a
 * password. */
static enum colander_code
set_given(rd_kafka_conf_t *conf, const char *given,
          const struct kafka_setting *fixed, struct colander_error *err)
{
    const char *equals = strchr(given, '=');
    char name[128];

    if (equals == NULL || equals == given ||
        (size_t)(equals - given) >= sizeof(name))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a setting of librdkafka must be NAME=VALUE");
    memcpy(name, given, (size_t)(equals - given));
    name[equals - given] = '\0';
    for (; fixed->name != NULL; fixed++) {
        if (strcmp(fixed->name, name) == 0)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "the setting '%s' is always '%s' here", name,
                                 fixed->value);
    }
    return set(conf, name, equals + 1, err);
}

/* Sets the lines of a file, except empty ones and those that begin with #. */
static enum colander_code
set_file(rd_kafka_conf_t *conf, const char *path,
         const struct kafka_setting *fixed, struct colander_error *err)
{
    FILE *file = fopen(path, "re");
    enum colander_code code = COLANDER_OK;
    char line[LINE_SIZE_MAX];
    unsigned number = 0;

    if (file == NULL)
        return COLANDER_FAIL(err, COLANDER_IO, "cannot open '%s': %s", path,
                             strerror(errno));
    while (code == COLANDER_OK && fgets(line, sizeof(line), file) != NULL) {
        number++;
        if (strchr(line, '\n') == NULL && feof(file) == 0)
            code = COLANDER_FAIL(err, COLANDER_INVALID,
                                 "the line is longer than %d bytes",
                                 LINE_SIZE_MAX - 2);
        line[strcspn(line, "\r\n")] = '\0';
        if (code == COLANDER_OK && line[0] != '\0' && line[0] != '#')
            code = set_given(conf, line, fixed, err);
        if (code != COLANDER_OK)
            colander_error_context(err, "%s:%u", path, number);
    }
    if (code == COLANDER_OK && ferror(file) != 0)
        code = COLANDER_FAIL(err, COLANDER_IO, "cannot read '%s'", path);
    (void)fclose(file);
    return code;
}

static enum colander_code
set_options(rd_kafka_conf_t *conf, const struct topic_broker_options *options,
            const struct kafka_setting *fixed, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (options->settings_file != NULL)
        code = set_file(conf, options->settings_file, fixed, err);
    for (size_t i = 0; i < options->setting_count && code == COLANDER_OK; i++)
        code = set_given(conf, options->settings[i], fixed, err);
    return code;
}

/* --------------------------------------------------------------- client --- */

static bool
is_refusal(int error)
{
    return error == RD_KAFKA_RESP_ERR__AUTHENTICATION ||
           error == RD_KAFKA_RESP_ERR__SSL;
}

/* Notes an error of the client: called when it is polled. */
static void
note_error(rd_kafka_t *client, int error, const char *reason, void *opaque)
{
    struct kafka_trouble *trouble = opaque;

    (void)client;
    pthread_mutex_lock(&trouble->lock);
    if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
        trouble->is_cut_off = true;
    } else {
        trouble->refusal = is_refusal(error) ? (rd_kafka_resp_err_t)error
                                             : RD_KAFKA_RESP_ERR_NO_ERROR;
        (void)snprintf(trouble->text, sizeof(trouble->text), "%s", reason);
    }
    pthread_mutex_unlock(&trouble->lock);
}

/* Returns the last trouble if it is a refusal. An answer ends it. */
static rd_kafka_resp_err_t
refusal_of(rd_kafka_t *client, bool is_answered)
{
    struct kafka_trouble *trouble = rd_kafka_opaque(client);
    rd_kafka_resp_err_t refusal;

    if (trouble == NULL) /* of a client that was not created here */
        return RD_KAFKA_RESP_ERR_NO_ERROR;
    pthread_mutex_lock(&trouble->lock);
    if (is_answered)
        trouble->refusal = RD_KAFKA_RESP_ERR_NO_ERROR;
    refusal = trouble->refusal;
    pthread_mutex_unlock(&trouble->lock);
    return refusal;
}

enum colander_code
kafka_client_create(rd_kafka_type_t type, const char *brokers,
                    const struct topic_broker_options *options,
                    const struct kafka_setting *settings,
                    const struct kafka_setting *fixed,
                    struct kafka_trouble *trouble,
                    void (*delivered)(rd_kafka_t *, const rd_kafka_message_t *,
                                      void *),
                    rd_kafka_t **client, struct colander_error *err)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    enum colander_code code;
    char reason[256];

    *client = NULL;
    rd_kafka_conf_set_log_cb(conf, NULL);
    rd_kafka_conf_set_error_cb(conf, note_error);
    rd_kafka_conf_set_opaque(conf, trouble);
    if (delivered != NULL)
        rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    code = set_all(conf, settings, err);
    if (code == COLANDER_OK)
        code = set_options(conf, options, fixed, err);
    if (code == COLANDER_OK)
        code = set_all(conf, fixed, err);
    if (code == COLANDER_OK)
        code = set(conf, "bootstrap.servers", brokers, err);
    if (code == COLANDER_OK) {
        *client = rd_kafka_new(type, conf, reason, sizeof(reason));
        if (*client == NULL)
            code = COLANDER_FAIL(err, COLANDER_INVALID,
                                 "cannot make a client of Kafka: %s", reason);
    }
    if (code != COLANDER_OK)
        rd_kafka_conf_destroy(conf);
    return code;
}

/* --------------------------------------------------------------- errors --- */

bool
kafka_is_transient(rd_kafka_resp_err_t error)
{
    switch (error) {
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__WAIT_COORD:
    case RD_KAFKA_RESP_ERR__WAIT_CACHE:
    case RD_KAFKA_RESP_ERR__RETRY:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR_UNKNOWN:
    case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
    case RD_KAFKA_RESP_ERR_NOT_CONTROLLER:
    case RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR:
    case RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_PREFERRED_LEADER_NOT_AVAILABLE:
        return true;
    default:
        return false;
    }
}

bool
kafka_is_unknown(rd_kafka_resp_err_t error)
{
    return error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
           error == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
           error == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION;
}

enum colander_code
kafka_fail(rd_kafka_resp_err_t error, const char *what, const char *topic,
           int32_t partition, struct colander_error *err)
{
    enum colander_code code = COLANDER_IO;
    char place[32] = "";

    if (kafka_is_unknown(error))
        code = COLANDER_NOT_FOUND;
    if (partition >= 0)
        (void)snprintf(place, sizeof(place), ", partition %d", (int)partition);
    return COLANDER_FAIL(err, code, "%s topic '%s'%s: %s (%s)", what, topic,
                         place, rd_kafka_err2str(error),
                         rd_kafka_err2name(error));
}

bool
kafka_is_stopped(const struct topic_broker_options *options)
{
    return options->is_stopped != NULL && atomic_load(options->is_stopped);
}

uint64_t
kafka_wait_ms(const struct topic_broker_options *options)
{
    return options->wait_ms > 0 ? options->wait_ms : KAFKA_WAIT_MS;
}

rd_kafka_resp_err_t
kafka_try(const struct topic_broker_options *options, rd_kafka_t *client,
          bool waits, rd_kafka_resp_err_t (*ask)(void *context), void *context)
{
    const uint64_t wait_us = kafka_wait_ms(options) * 1000;
    const uint64_t begun = clock_us();
    uint64_t refused = 0; /* since then; 0: it is not */

    for (;;) {
        rd_kafka_resp_err_t error = ask(context);
        const rd_kafka_resp_err_t refusal =
            refusal_of(client, error == RD_KAFKA_RESP_ERR_NO_ERROR);
        const uint64_t now = clock_us();

        if (waits && kafka_is_transient(error) &&
            refusal != RD_KAFKA_RESP_ERR_NO_ERROR)
            error = refusal;
        if (!kafka_is_unknown(error) && !is_refusal(error))
            refused = 0;
        else if (refused == 0)
            refused = now;
        if (kafka_is_stopped(options) ||
            (refused == 0 && !(waits && kafka_is_transient(error))) ||
            (refused == 0 && now - begun >= wait_us) ||
            (refused > 0 && now - refused >= wait_us / 6))
            return error;
        (void)rd_kafka_poll(client, RETRY_MS);
    }
}

/* ------------------------------------------------------------- metadata --- */

struct metadata_request {
    rd_kafka_t *client;
    rd_kafka_topic_t *topic;
    int32_t count;
    int32_t broker; /* that has answered */
};

static rd_kafka_resp_err_t
ask_metadata(void *context)
{
    struct metadata_request *request = context;
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t error = rd_kafka_metadata(
        request->client, 0, request->topic, &metadata, KAFKA_ASK_MS);

    request->count = 0;
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR && metadata->topic_cnt != 1)
        error = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
        error = metadata->topics[0].err;
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
        request->count = metadata->topics[0].partition_cnt;
    if (metadata != NULL)
        request->broker = metadata->orig_broker_id;
    if (metadata != NULL)
        rd_kafka_metadata_destroy(metadata);
    return error;
}

/* What brokers say of a topic. */
struct topic_config {
    bool is_compact;
    int64_t retention_ms; /* negative: unknown, or without end */
};

static void
read_entry(const rd_kafka_ConfigEntry_t *entry, struct topic_config *config)
{
    const char *name = rd_kafka_ConfigEntry_name(entry);
    const char *value = rd_kafka_ConfigEntry_value(entry);

    if (value == NULL)
        return;
    if (strcmp(name, "cleanup.policy") == 0 && strstr(value, "compact") != NULL)
        config->is_compact = true;
    if (strcmp(name, "retention.ms") == 0)
        config->retention_ms = strtoll(value, NULL, 10);
}

static void
read_config(const rd_kafka_DescribeConfigs_result_t *answer,
            struct topic_config *config)
{
    const rd_kafka_ConfigResource_t **resources;
    size_t resource_count = 0;

    resources =
        rd_kafka_DescribeConfigs_result_resources(answer, &resource_count);
    for (size_t i = 0; i < resource_count; i++) {
        size_t count = 0;
        const rd_kafka_ConfigEntry_t **entries =
            rd_kafka_ConfigResource_configs(resources[i], &count);

        for (size_t j = 0; j < count; j++)
            read_entry(entries[j], config);
    }
}

/* Asks a broker how it keeps the topic. What it does not say stays unknown.
 * (Without a broker, librdkafka asks the controller, which a mock cluster does
 * not have.) */
static void
ask_config(rd_kafka_t *client, int32_t broker, const char *topic,
           struct topic_config *config)
{
    rd_kafka_ConfigResource_t *resource =
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);
    rd_kafka_AdminOptions_t *options =
        rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_event_t *event;

    config->is_compact = false;
    config->retention_ms = -1;
    (void)rd_kafka_AdminOptions_set_broker(options, broker, NULL, 0);
    (void)rd_kafka_AdminOptions_set_request_timeout(options, KAFKA_ASK_MS, NULL,
                                                    0);
    rd_kafka_DescribeConfigs(client, &resource, 1, options, queue);
    event = rd_kafka_queue_poll(queue, KAFKA_ASK_MS);
    if (event != NULL &&
        rd_kafka_event_type(event) == RD_KAFKA_EVENT_DESCRIBECONFIGS_RESULT &&
        rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR_NO_ERROR)
        read_config(rd_kafka_event_DescribeConfigs_result(event), config);
    if (event != NULL)
        rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_ConfigResource_destroy(resource);
}

static enum colander_code
check_policy(const struct topic_config *config, const char *topic,
             struct colander_error *err)
{
    if (!config->is_compact)
        return COLANDER_OK;
    return COLANDER_FAIL(
        err, COLANDER_INVALID,
        "topic '%s' is compacted: its brokers remove records when others with "
        "the same key follow, so no reader could say what is missing. Set its "
        "cleanup.policy to delete, or use another topic",
        topic);
}

enum colander_code
kafka_partition_count(const struct topic_broker_options *options,
                      rd_kafka_t *client, rd_kafka_topic_t *topic,
                      int32_t *count, struct colander_error *err)
{
    struct metadata_request request = {client, topic, 0, -1};
    const rd_kafka_resp_err_t error =
        kafka_try(options, client, true, ask_metadata, &request);

    *count = request.count;
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR && *count > 0) {
        struct topic_config config;

        ask_config(client, request.broker, rd_kafka_topic_name(topic), &config);
        return check_policy(&config, rd_kafka_topic_name(topic), err);
    }
    if (kafka_is_stopped(options))
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    return kafka_fail(error == RD_KAFKA_RESP_ERR_NO_ERROR
                          ? RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART
                          : error,
                      "cannot find", rd_kafka_topic_name(topic), -1, err);
}

/* ------------------------------------------------------------- offsets --- */

/* Times of partitions, of which the offsets are asked for. */
struct offset_request {
    rd_kafka_t *client;
    rd_kafka_topic_partition_list_t *list;
    int64_t time; /* of all */
    int wait_ms;  /* for an answer */
};

/* (rd_kafka_query_watermark_offsets of librdkafka 2.0 drops an error, and waits
 * for a lost broker without end.) */
static rd_kafka_resp_err_t
ask_offsets(void *context)
{
    const struct offset_request *request = context;
    rd_kafka_topic_partition_list_t *list = request->list;
    rd_kafka_resp_err_t error;

    for (int i = 0; i < list->cnt; i++) {
        list->elems[i].offset = request->time;
        list->elems[i].err = RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    error = rd_kafka_offsets_for_times(request->client, list, request->wait_ms);
    /* one without a leader is unknown to the call, but not to its element */
    for (int i = 0;
         i < list->cnt && (error == RD_KAFKA_RESP_ERR_NO_ERROR ||
                           error == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION);
         i++)
        error = list->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR
                    ? list->elems[i].err
                    : error;
    return error;
}

rd_kafka_resp_err_t
kafka_find_offsets(const struct topic_broker_options *options,
                   rd_kafka_t *client, bool waits,
                   rd_kafka_topic_partition_list_t *list, int64_t time)
{
    const uint64_t wait_ms = kafka_wait_ms(options);
    struct offset_request request = {client, list, time,
                                     wait_ms < KAFKA_ASK_MS ? (int)wait_ms
                                                            : KAFKA_ASK_MS};

    return kafka_try(options, client, waits, ask_offsets, &request);
}

rd_kafka_resp_err_t
kafka_find_offset(const struct topic_broker_options *options,
                  rd_kafka_t *client, bool waits, const char *topic,
                  int32_t partition, int64_t time, int64_t *offset)
{
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new(1);
    rd_kafka_resp_err_t error;

    (void)rd_kafka_topic_partition_list_add(list, topic, partition);
    error = kafka_find_offsets(options, client, waits, list, time);
    *offset = list->elems[0].offset;
    rd_kafka_topic_partition_list_destroy(list);
    return error;
}

static bool
is_first_of_leader(const struct rd_kafka_metadata_topic *topic, int at)
{
    const int32_t leader = topic->partitions[at].leader;

    for (int i = 0; i < at; i++) {
        if (topic->partitions[i].leader == leader)
            return false;
    }
    return leader >= 0;
}

/* Sets the list to a partition of each leader. Returns whether all partitions
 * have one. */
static bool
list_leaders(const struct rd_kafka_metadata_topic *topic,
             rd_kafka_topic_partition_list_t *list)
{
    bool have_all = topic->partition_cnt > 0;

    for (int i = 0; i < topic->partition_cnt; i++) {
        have_all &= topic->partitions[i].leader >= 0;
        if (is_first_of_leader(topic, i))
            (void)rd_kafka_topic_partition_list_add(list, topic->topic,
                                                    topic->partitions[i].id);
    }
    return have_all;
}

/* Asks all leaders. Returns false if one of them, or another broker, does not
 * know the topic, or who leads a partition. librdkafka goes by the last answer
 * about a topic, so that must be one that knows it. */
static bool
meet_leaders(rd_kafka_t *client, rd_kafka_topic_t *topic)
{
    struct metadata_request again = {client, topic, 0, -1};
    struct offset_request request = {client, NULL, RD_KAFKA_OFFSET_END,
                                     MEET_MS};
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t error =
        rd_kafka_metadata(client, 0, topic, &metadata, MEET_MS);
    bool is_known = false;

    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        return false;
    request.list = rd_kafka_topic_partition_list_new(1);
    is_known = metadata->topic_cnt == 1 &&
               list_leaders(metadata->topics, request.list);
    if (request.list->cnt > 0)
        error = ask_offsets(&request);
    for (int i = 0; i < request.list->cnt; i++)
        is_known = is_known && !kafka_is_unknown(request.list->elems[i].err);
    rd_kafka_topic_partition_list_destroy(request.list);
    rd_kafka_metadata_destroy(metadata);
    return is_known && !kafka_is_unknown(error) &&
           ask_metadata(&again) == RD_KAFKA_RESP_ERR_NO_ERROR;
}

void
kafka_meet_leaders(const struct topic_broker_options *options,
                   rd_kafka_t *client, rd_kafka_topic_t *topic)
{
    const uint64_t until = clock_us() + KAFKA_ASK_MS * UINT64_C(1000);

    while (!meet_leaders(client, topic) && clock_us() < until &&
           !kafka_is_stopped(options))
        (void)rd_kafka_poll(client, RETRY_MS);
}

int64_t
kafka_retention(rd_kafka_t *client, rd_kafka_topic_t *topic)
{
    struct metadata_request request = {client, topic, 0, -1};
    struct topic_config config = {false, -1};

    if (ask_metadata(&request) == RD_KAFKA_RESP_ERR_NO_ERROR)
        ask_config(client, request.broker, rd_kafka_topic_name(topic), &config);
    return config.retention_ms;
}

void
kafka_cluster(rd_kafka_t *client, char *id, size_t size)
{
    char *found = rd_kafka_clusterid(client, KAFKA_ASK_MS);

    (void)snprintf(id, size, "%s", found == NULL ? "" : found);
    rd_kafka_mem_free(client, found);
}
