/*
 * Topic reader: a consumer of librdkafka that is told where to begin.
 *
 * Each partition begins one record before its mark. If that record is still
 * there, its hash must be that of the mark; it is not passed on. The library
 * never chooses another offset itself: where it cannot continue, the reader
 * asks brokers what there is, and either goes on there or says what is missing.
 *
 * One queue gets the records of all partitions, one at a time, as batches of
 * librdkafka 2.0 have skipped records.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/kafka.h"
#include "cluster/topic_mark.h"
#include "core/array.h"
#include "core/clock.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#define ASK_MS 5000
#define LOOK_MS 60000      /* for new partitions */
#define STATE_MS 200       /* between two looks at the state */
#define QUEUE_KBYTES 32768 /* of all partitions, before they are taken */
#define PART_KBYTES_MIN 64
#define PART_KBYTES_MAX 4096
#define RESTARTS_MAX 100 /* of a partition, without a record */
#define RESTART_MS 50

struct load {
    char id[TOPIC_LOAD_MAX + 1];
    uint64_t number; /* of its last record here */
    bool is_known;   /* there is one */
    bool is_moved;   /* since the last mark */
};

struct part {
    struct topic *topic;
    int32_t number;
    struct topic_mark mark; /* its offset is that of the next record */
    bool is_moved;          /* since the last mark */
    bool verifies;          /* the next may be the record before the mark */
    int64_t reached;        /* no record is below that is not below the mark */
    int64_t end;            /* where reading once ends */
    unsigned restarts;      /* without a record */
    struct load *loads;     /* whose records have numbers */
    size_t load_count;
    size_t load_capacity;
};

struct topic {
    const char *name;
    rd_kafka_topic_t *handle;
    struct part **parts; /* by number */
    size_t part_count;
    size_t part_capacity;
};

struct topic_reader {
    struct colander_store *store;
    struct colander_family *family;
    struct topic_reader_options options;
    struct kafka_address address;
    struct kafka_trouble trouble;
    rd_kafka_t *client;
    rd_kafka_queue_t *queue;
    struct topic *topics; /* as many as the address has */
    char cluster[TOPIC_CLUSTER_MAX];
    rd_kafka_message_t *message; /* that was passed on last */
    uint64_t looked_us;          /* for partitions */
    uint64_t counted_us;         /* the state */
    uint64_t sent_twice;
    struct { /* the next mark to pass on */
        size_t topic;
        size_t part;
        size_t load; /* 0: that of the partition */
    } at;
    struct colander_buffer name;
    struct colander_buffer value;
    struct topic_reader_state state; /* under the lock of `trouble` */
};

/* --------------------------------------------------------------- client --- */

/* `kbytes` is what may wait of each partition. */
static enum colander_code
open_client(struct topic_reader *reader, unsigned kbytes,
            struct colander_error *err)
{
    char queued[16];
    const struct kafka_setting settings[] = {
        {"client.id", "colander"},
        {"queued.max.messages.kbytes", queued},
        {"queued.min.messages", "1000000"}, /* bytes decide */
        {"fetch.message.max.bytes", "1048576"},
        {"fetch.max.bytes", "8388608"},
        {"fetch.error.backoff.ms", "100"},
        {"reconnect.backoff.max.ms", "2000"},
        {"topic.metadata.refresh.interval.ms", "60000"},
        {NULL, NULL},
    };
    static const struct kafka_setting fixed[] = {
        {"auto.offset.reset", "error"},        {"enable.auto.commit", "false"},
        {"enable.partition.eof", "true"},      {"check.crcs", "true"},
        {"allow.auto.create.topics", "false"}, {NULL, NULL},
    };

    (void)snprintf(queued, sizeof(queued), "%u", kbytes);
    return kafka_client_create(RD_KAFKA_CONSUMER, reader->address.brokers,
                               &reader->options.brokers, settings, fixed,
                               &reader->trouble, NULL, &reader->client, err);
}

static enum colander_code
open_topics(struct topic_reader *reader, struct colander_error *err)
{
    for (size_t i = 0; i < reader->address.topic_count; i++) {
        struct topic *topic = &reader->topics[i];
        rd_kafka_topic_conf_t *conf =
            rd_kafka_default_topic_conf_dup(reader->client);

        rd_kafka_topic_conf_set_opaque(conf, topic);
        topic->name = reader->address.topics[i];
        topic->handle = rd_kafka_topic_new(reader->client, topic->name, conf);
        if (topic->handle == NULL)
            return kafka_fail(rd_kafka_last_error(), "cannot open", topic->name,
                              -1, err);
    }
    return COLANDER_OK;
}

static void
close_client(struct topic_reader *reader)
{
    if (reader->message != NULL)
        rd_kafka_message_destroy(reader->message);
    reader->message = NULL;
    for (size_t i = 0; i < reader->address.topic_count; i++) {
        struct topic *topic = &reader->topics[i];

        for (size_t j = 0; j < topic->part_count; j++)
            (void)rd_kafka_consume_stop(topic->handle, (int32_t)j);
        if (topic->handle != NULL)
            rd_kafka_topic_destroy(topic->handle);
        topic->handle = NULL;
    }
    if (reader->queue != NULL)
        rd_kafka_queue_destroy(reader->queue);
    reader->queue = NULL;
    if (reader->client != NULL)
        rd_kafka_destroy(reader->client);
    reader->client = NULL;
}

/* ---------------------------------------------------------- partitions --- */

struct offsets_request {
    const struct topic_reader *reader;
    const struct part *part;
    int64_t low;
    int64_t high;
};

static rd_kafka_resp_err_t
ask_offsets(void *context)
{
    struct offsets_request *request = context;

    return rd_kafka_query_watermark_offsets(
        request->reader->client, request->part->topic->name,
        request->part->number, &request->low, &request->high, ASK_MS);
}

/* Sets *low to the offset of the first record that brokers have, and *high to
 * that after the last. */
static enum colander_code
find_offsets(const struct topic_reader *reader, const struct part *part,
             int64_t *low, int64_t *high, struct colander_error *err)
{
    struct offsets_request request = {reader, part, 0, 0};
    const rd_kafka_resp_err_t error = kafka_try(
        &reader->options.brokers, reader->client, ask_offsets, &request);

    *low = request.low;
    *high = request.high;
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
        return COLANDER_OK;
    if (kafka_is_stopped(&reader->options.brokers))
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    return kafka_fail(error, "cannot find the offsets of", part->topic->name,
                      part->number, err);
}

struct time_request {
    const struct topic_reader *reader;
    rd_kafka_topic_partition_list_t *list;
};

static rd_kafka_resp_err_t
ask_time(void *context)
{
    struct time_request *request = context;
    rd_kafka_topic_partition_t *asked = &request->list->elems[0];
    rd_kafka_resp_err_t error;

    asked->offset = request->reader->options.from_ms;
    error = rd_kafka_offsets_for_times(request->reader->client, request->list,
                                       ASK_MS);
    return error == RD_KAFKA_RESP_ERR_NO_ERROR ? asked->err : error;
}

/* Sets *offset to that of the first record that is not before the time, or
 * `high`. */
static enum colander_code
find_time(const struct topic_reader *reader, const struct part *part,
          int64_t high, int64_t *offset, struct colander_error *err)
{
    struct time_request request = {reader,
                                   rd_kafka_topic_partition_list_new(1)};
    rd_kafka_resp_err_t error;

    (void)rd_kafka_topic_partition_list_add(request.list, part->topic->name,
                                            part->number);
    error =
        kafka_try(&reader->options.brokers, reader->client, ask_time, &request);
    *offset = request.list->elems[0].offset;
    if (*offset < 0)
        *offset = high;
    rd_kafka_topic_partition_list_destroy(request.list);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
        return COLANDER_OK;
    if (kafka_is_stopped(&reader->options.brokers))
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    return kafka_fail(error, "cannot find the time in", part->topic->name,
                      part->number, err);
}

/* Fails because the topic is not the one that was read. */
COLANDER_FORMAT(3, 4)
static enum colander_code
fail_changed(const struct part *part, struct colander_error *err,
             const char *format, ...)
{
    char what[160];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "topic '%s', partition %d: %s: the topic was made "
                         "anew, or brokers have lost records. Rows that were "
                         "read stay. To read it from its beginning, add --anew",
                         part->topic->name, (int)part->number, what);
}

/* Compares the mark with what brokers have, and moves it only over records that
 * are lost, if the options say so. */
static enum colander_code
check_mark(struct topic_reader *reader, struct part *part, int64_t low,
           int64_t high, struct colander_error *err)
{
    struct topic_mark *mark = &part->mark;

    if (mark->offset > high)
        return fail_changed(part, err,
                            "offset %" PRId64 " comes next, but its end is at "
                            "%" PRId64,
                            mark->offset, high);
    if (mark->offset >= low)
        return COLANDER_OK;
    if (!reader->options.skips_lost)
        return COLANDER_FAIL(
            err, COLANDER_CORRUPT,
            "topic '%s', partition %d: the records at offsets %" PRId64
            " to %" PRId64 " were removed before they were read, as the "
            "retention of the topic is too short. To go on without "
            "them, add --skip-lost",
            part->topic->name, (int)part->number, mark->offset, low - 1);
    pthread_mutex_lock(&reader->trouble.lock);
    reader->state.lost += (uint64_t)(low - mark->offset);
    pthread_mutex_unlock(&reader->trouble.lock);
    mark->offset = low;
    mark->has_hash = false;
    part->is_moved = true;
    return COLANDER_OK;
}

/* Starts at the mark, or one record before, to compare it. */
static enum colander_code
start(const struct topic_reader *reader, struct part *part, int64_t low,
      struct colander_error *err)
{
    const struct topic_mark *mark = &part->mark;

    part->verifies = mark->has_hash && mark->offset > low;
    if (part->reached < mark->offset)
        part->reached = mark->offset;
    if (rd_kafka_consume_start_queue(part->topic->handle, part->number,
                                     mark->offset - part->verifies,
                                     reader->queue) != 0)
        return kafka_fail(rd_kafka_last_error(), "cannot read",
                          part->topic->name, part->number, err);
    return COLANDER_OK;
}

/* Sets where a partition without a mark begins. */
static enum colander_code
begin_mark(const struct topic_reader *reader, struct part *part, bool is_new,
           int64_t low, int64_t high, struct colander_error *err)
{
    struct topic_mark *mark = &part->mark;
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    memset(mark, 0, sizeof(*mark));
    mark->begun = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    (void)snprintf(mark->cluster, sizeof(mark->cluster), "%s", reader->cluster);
    part->is_moved = true;
    mark->offset = low;
    if (!is_new && reader->options.from == TOPIC_FROM_END)
        mark->offset = high;
    if (!is_new && reader->options.from == TOPIC_FROM_TIME)
        return find_time(reader, part, high, &mark->offset, err);
    return COLANDER_OK;
}

/* Begins to read a partition; `is_new`: it was not there when the reader was
 * opened. */
static enum colander_code
begin_part(struct topic_reader *reader, struct part *part, bool is_new,
           struct colander_error *err)
{
    struct colander_buffer name = COLANDER_BUFFER_EMPTY;
    const char *cluster = reader->cluster;
    bool found = false;
    int64_t high = 0;
    int64_t low = 0;
    enum colander_code code = find_offsets(reader, part, &low, &high, err);

    if (code == COLANDER_OK)
        code =
            topic_mark_name(&name, part->topic->name, part->number, NULL, err);
    if (code == COLANDER_OK && (is_new || !reader->options.is_anew))
        code = topic_mark_read(&part->mark, reader->family,
                               colander_buffer_slice(&name), &found, err);
    if (code == COLANDER_OK && !found)
        code = begin_mark(reader, part, is_new, low, high, err);
    else if (code == COLANDER_OK && cluster[0] != '\0' &&
             part->mark.cluster[0] != '\0' &&
             strcmp(cluster, part->mark.cluster) != 0)
        code = fail_changed(part, err,
                            "it was read from cluster '%s', this is "
                            "cluster '%s'",
                            part->mark.cluster, cluster);
    else if (code == COLANDER_OK)
        code = check_mark(reader, part, low, high, err);
    part->end = reader->options.is_once ? high : INT64_MAX;
    if (code == COLANDER_OK)
        code = start(reader, part, low, err);
    colander_buffer_release(&name);
    return code;
}

/* Begins partitions that the topic has more than the reader knows. */
static enum colander_code
add_parts(struct topic_reader *reader, struct topic *topic, int32_t count,
          bool are_new, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && topic->part_count < (size_t)count) {
        struct part *part = calloc(1, sizeof(*part));

        code = part == NULL ? COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                            "no memory for a partition")
                            : array_reserve(&topic->parts, topic->part_count,
                                            &topic->part_capacity, 1, err);
        if (code != COLANDER_OK) {
            free(part);
            return code;
        }
        part->topic = topic;
        part->number = (int32_t)topic->part_count;
        topic->parts[topic->part_count++] = part;
        code = begin_part(reader, part, are_new, err);
    }
    return code;
}

/* --------------------------------------------------------------- opening --- */

static void
read_cluster(struct topic_reader *reader)
{
    char *id = rd_kafka_clusterid(reader->client, ASK_MS);

    if (id != NULL)
        (void)snprintf(reader->cluster, sizeof(reader->cluster), "%s", id);
    rd_kafka_mem_free(reader->client, id);
}

/* Finds out how many partitions there are. */
static enum colander_code
count_parts(struct topic_reader *reader, int32_t *counts, int32_t *all,
            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    *all = 0;
    for (size_t i = 0; i < reader->address.topic_count && code == COLANDER_OK;
         i++) {
        code = kafka_partition_count(&reader->options.brokers, reader->client,
                                     reader->topics[i].handle, &counts[i], err);
        *all += counts[i];
    }
    return code;
}

/* Opens a client whose queues together are bounded: so the number of partitions
 * must be known before. */
static enum colander_code
open_bounded(struct topic_reader *reader, int32_t *counts,
             struct colander_error *err)
{
    enum colander_code code = open_client(reader, PART_KBYTES_MAX, err);
    unsigned kbytes;
    int32_t all = 0;

    if (code == COLANDER_OK)
        code = open_topics(reader, err);
    if (code == COLANDER_OK)
        code = count_parts(reader, counts, &all, err);
    if (code != COLANDER_OK || all <= QUEUE_KBYTES / PART_KBYTES_MAX)
        return code;
    kbytes = QUEUE_KBYTES / (unsigned)all;
    close_client(reader);
    code = open_client(
        reader, kbytes < PART_KBYTES_MIN ? PART_KBYTES_MIN : kbytes, err);
    return code == COLANDER_OK ? open_topics(reader, err) : code;
}

/* Writes the marks of partitions that had none: so it is known from now on
 * where they begin. */
static enum colander_code
write_marks(struct topic_reader *reader, struct colander_error *err)
{
    struct colander_batch *batch = NULL;
    struct colander_slice value;
    struct colander_slice name;
    enum colander_code code = colander_batch_create(reader->store, &batch, err);
    bool found = true;

    while (code == COLANDER_OK && found) {
        code = topic_reader_mark(reader, &name, &value, &found, err);
        if (code == COLANDER_OK && found)
            code = colander_batch_mark(batch, reader->family, name, value, err);
    }
    if (code == COLANDER_OK && colander_batch_count(batch) > 0)
        code = colander_batch_commit(batch, NULL, err);
    colander_batch_destroy(batch);
    return code;
}

static enum colander_code
begin(struct topic_reader *reader, struct colander_error *err)
{
    int32_t *counts = calloc(reader->address.topic_count, sizeof(*counts));
    enum colander_code code = COLANDER_OK;

    reader->topics =
        calloc(reader->address.topic_count, sizeof(*reader->topics));
    if (counts == NULL || reader->topics == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for topics");
    if (code == COLANDER_OK)
        code = open_bounded(reader, counts, err);
    if (code == COLANDER_OK) {
        read_cluster(reader);
        reader->queue = rd_kafka_queue_new(reader->client);
        reader->looked_us = clock_us();
    }
    for (size_t i = 0; i < reader->address.topic_count && code == COLANDER_OK;
         i++)
        code = add_parts(reader, &reader->topics[i], counts[i], false, err);
    free(counts);
    return code == COLANDER_OK ? write_marks(reader, err) : code;
}

enum colander_code
topic_reader_open(struct colander_store *store, struct colander_family *family,
                  const struct topic_reader_options *options,
                  struct topic_reader **reader, struct colander_error *err)
{
    struct topic_reader *opened = calloc(1, sizeof(*opened));
    enum colander_code code;

    *reader = NULL;
    if (opened == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a reader");
    pthread_mutex_init(&opened->trouble.lock, NULL);
    opened->store = store;
    opened->family = family;
    opened->options = *options;
    code = kafka_address_read(&opened->address, options->brokers.address, err);
    if (code == COLANDER_OK) {
        code = begin(opened, err);
        if (code == COLANDER_IO && opened->trouble.text[0] != '\0')
            colander_error_context(err, "%s", opened->trouble.text);
    }
    if (code == COLANDER_OK)
        *reader = opened;
    else
        topic_reader_close(opened);
    return code;
}

void
topic_reader_close(struct topic_reader *reader)
{
    if (reader == NULL)
        return;
    if (reader->topics != NULL)
        close_client(reader);
    for (size_t i = 0;
         reader->topics != NULL && i < reader->address.topic_count; i++) {
        struct topic *topic = &reader->topics[i];

        for (size_t j = 0; j < topic->part_count; j++) {
            free(topic->parts[j]->loads);
            free(topic->parts[j]);
        }
        free(topic->parts);
    }
    free(reader->topics);
    kafka_address_release(&reader->address);
    pthread_mutex_destroy(&reader->trouble.lock);
    colander_buffer_release(&reader->name);
    colander_buffer_release(&reader->value);
    free(reader);
}

/* --------------------------------------------------------------- records --- */

static uint64_t
hash_of(const rd_kafka_message_t *message)
{
    return XXH3_64bits_withSeed(
        message->payload, message->len,
        XXH3_64bits(message->key, message->key_len) ^
            (uint64_t)rd_kafka_message_timestamp(message, NULL));
}

/* Finds a load of the partition, and what the mark says of it. */
static enum colander_code
find_load(struct topic_reader *reader, struct part *part, const char *id,
          struct load **load, struct colander_error *err)
{
    struct topic_mark mark;
    struct load *added;
    enum colander_code code;
    bool found = false;

    for (size_t i = part->load_count; i > 0; i--) {
        *load = &part->loads[i - 1];
        if (strcmp((*load)->id, id) == 0)
            return COLANDER_OK;
    }
    code = array_reserve(&part->loads, part->load_count, &part->load_capacity,
                         1, err);
    if (code == COLANDER_OK)
        code = topic_mark_name(&reader->name, part->topic->name, part->number,
                               id, err);
    if (code == COLANDER_OK)
        code =
            topic_mark_read(&mark, reader->family,
                            colander_buffer_slice(&reader->name), &found, err);
    if (code != COLANDER_OK)
        return code;
    added = &part->loads[part->load_count++];
    memset(added, 0, sizeof(*added));
    memcpy(added->id, id, strlen(id) + 1);
    added->is_known = found && mark.begun == part->mark.begun;
    added->number = (uint64_t)mark.offset;
    *load = added;
    return COLANDER_OK;
}

/* Reads the header of a record that a load has sent: ID/NUMBER. Others have
 * none. */
static bool
read_header(const rd_kafka_message_t *message, char *id, uint64_t *number)
{
    rd_kafka_headers_t *headers;
    const void *data;
    const char *slash;
    char text[TOPIC_LOAD_MAX + 32];
    char *end;
    size_t size;

    if (rd_kafka_message_headers(message, &headers) != 0 ||
        rd_kafka_header_get_last(headers, KAFKA_RECORD_HEADER, &data, &size) !=
            0 ||
        data == NULL || size >= sizeof(text))
        return false;
    memcpy(text, data, size);
    text[size] = '\0';
    slash = strchr(text, '/');
    if (slash == NULL || slash == text || slash - text > TOPIC_LOAD_MAX ||
        slash[1] < '0' || slash[1] > '9' || strlen(text) != size ||
        strspn(text, "0123456789abcdef") != (size_t)(slash - text))
        return false;
    *number = strtoull(slash + 1, &end, 10);
    memcpy(id, text, (size_t)(slash - text));
    id[slash - text] = '\0';
    return *end == '\0' && *number <= INT64_MAX;
}

/* Whether a load has sent a record once more, after it was resumed. */
static enum colander_code
see_load(struct topic_reader *reader, struct part *part,
         const rd_kafka_message_t *message, bool *is_again,
         struct colander_error *err)
{
    char id[TOPIC_LOAD_MAX + 1];
    struct load *load;
    uint64_t number;
    enum colander_code code;

    *is_again = false;
    if (!read_header(message, id, &number))
        return COLANDER_OK;
    code = find_load(reader, part, id, &load, err);
    if (code != COLANDER_OK)
        return code;
    *is_again = load->is_known && number <= load->number;
    reader->sent_twice += *is_again;
    if (*is_again)
        return COLANDER_OK;
    load->number = number;
    load->is_known = true;
    load->is_moved = true;
    return COLANDER_OK;
}

/* Takes a record. *found: it is to be passed on. */
static enum colander_code
take_record(struct topic_reader *reader, struct part *part,
            const rd_kafka_message_t *message, bool *found,
            struct colander_error *err)
{
    struct topic_mark *mark = &part->mark;
    enum colander_code code;
    bool is_again;

    if (part->verifies && message->offset == mark->offset - 1 &&
        hash_of(message) != mark->hash)
        return fail_changed(part, err,
                            "the record at offset %" PRId64 " is not the one "
                            "that was read there",
                            message->offset);
    part->verifies = part->verifies && message->offset < mark->offset - 1;
    part->restarts = 0;
    if (message->offset < mark->offset)
        return COLANDER_OK;
    code = see_load(reader, part, message, &is_again, err);
    if (code != COLANDER_OK)
        return code;
    mark->offset = message->offset + 1;
    mark->hash = hash_of(message);
    mark->has_hash = true;
    part->is_moved = true;
    if (part->reached < mark->offset)
        part->reached = mark->offset;
    *found = !is_again;
    return COLANDER_OK;
}

/* Goes on where librdkafka has stopped, as the broker said that there is no such
 * offset: which may have been wrong. */
static enum colander_code
restart(struct topic_reader *reader, struct part *part,
        const rd_kafka_message_t *message, struct colander_error *err)
{
    int64_t high = 0;
    int64_t low = 0;
    enum colander_code code = find_offsets(reader, part, &low, &high, err);

    if (code == COLANDER_OK)
        code = check_mark(reader, part, low, high, err);
    if (code != COLANDER_OK)
        return code;
    if (part->restarts++ == RESTARTS_MAX)
        return COLANDER_FAIL(err, COLANDER_IO,
                             "topic '%s', partition %d: no record can be read "
                             "at offset %" PRId64 ": %s",
                             part->topic->name, (int)part->number,
                             part->mark.offset,
                             rd_kafka_message_errstr(message));
    (void)rd_kafka_poll(reader->client, RESTART_MS);
    (void)rd_kafka_consume_stop(part->topic->handle, part->number);
    return start(reader, part, low, err);
}

static void
note_trouble(struct topic_reader *reader, const char *text)
{
    pthread_mutex_lock(&reader->trouble.lock);
    (void)snprintf(reader->trouble.text, sizeof(reader->trouble.text), "%s",
                   text);
    pthread_mutex_unlock(&reader->trouble.lock);
}

/* Takes what librdkafka says instead of a record. */
static enum colander_code
take_event(struct topic_reader *reader, struct part *part,
           const rd_kafka_message_t *message, struct colander_error *err)
{
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        if (part != NULL && part->reached < message->offset)
            part->reached = message->offset;
        if (part != NULL) /* it has no record that could be compared */
            part->verifies =
                part->verifies && message->offset < part->mark.offset;
        return COLANDER_OK;
    }
    if (message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET && part != NULL)
        return restart(reader, part, message, err);
    if (kafka_is_transient(message->err)) { /* it is fetched again */
        note_trouble(reader, rd_kafka_message_errstr(message));
        return COLANDER_OK;
    }
    return kafka_fail(message->err, "cannot read",
                      part == NULL ? "?" : part->topic->name,
                      part == NULL ? -1 : part->number, err);
}

static struct part *
part_of(const rd_kafka_message_t *message)
{
    const struct topic *topic =
        message->rkt == NULL ? NULL : rd_kafka_topic_opaque(message->rkt);

    if (topic == NULL || message->partition < 0 ||
        (size_t)message->partition >= topic->part_count)
        return NULL;
    return topic->parts[message->partition];
}

/* ----------------------------------------------------------------- state --- */

static void
count_state(struct topic_reader *reader)
{
    uint64_t count = 0;
    uint64_t lag = 0;

    for (size_t i = 0; i < reader->address.topic_count; i++) {
        const struct topic *topic = &reader->topics[i];

        count += topic->part_count;
        for (size_t j = 0; j < topic->part_count; j++) {
            int64_t high = -1;
            int64_t low = -1;

            if (rd_kafka_get_watermark_offsets(reader->client, topic->name,
                                               (int32_t)j, &low, &high) == 0 &&
                high > topic->parts[j]->reached)
                lag += (uint64_t)(high - topic->parts[j]->reached);
        }
    }
    pthread_mutex_lock(&reader->trouble.lock);
    reader->state.partition_count = count;
    reader->state.lag = lag;
    reader->state.sent_twice = reader->sent_twice;
    pthread_mutex_unlock(&reader->trouble.lock);
}

/* Looks for new partitions. That no broker answers does not matter now. */
static enum colander_code
look_for_parts(struct topic_reader *reader, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < reader->address.topic_count && code == COLANDER_OK;
         i++) {
        struct topic *topic = &reader->topics[i];
        const struct rd_kafka_metadata *metadata = NULL;

        if (rd_kafka_metadata(reader->client, 0, topic->handle, &metadata,
                              ASK_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
            continue;
        if (metadata->topic_cnt == 1 &&
            metadata->topics[0].err == RD_KAFKA_RESP_ERR_NO_ERROR)
            code = add_parts(reader, topic, metadata->topics[0].partition_cnt,
                             true, err);
        rd_kafka_metadata_destroy(metadata);
    }
    return code;
}

/* Does what has to be done from time to time. */
static enum colander_code
serve(struct topic_reader *reader, struct colander_error *err)
{
    const unsigned look_ms =
        reader->options.look_ms > 0 ? reader->options.look_ms : LOOK_MS;
    const uint64_t now = clock_us();

    if (now - reader->counted_us >= STATE_MS * UINT64_C(1000)) {
        reader->counted_us = now;
        (void)rd_kafka_poll(reader->client, 0);
        count_state(reader);
    }
    if (now - reader->looked_us < look_ms * UINT64_C(1000) ||
        reader->options.is_once)
        return COLANDER_OK;
    reader->looked_us = now;
    return look_for_parts(reader, err);
}

void
topic_reader_state(struct topic_reader *reader,
                   struct topic_reader_state *state)
{
    pthread_mutex_lock(&reader->trouble.lock);
    *state = reader->state;
    state->is_cut_off = reader->trouble.is_cut_off;
    memcpy(state->trouble, reader->trouble.text, sizeof(state->trouble));
    pthread_mutex_unlock(&reader->trouble.lock);
}

/* ------------------------------------------------------------------ next --- */

/* Whether all partitions were read to their end. */
static bool
is_over(const struct topic_reader *reader)
{
    if (!reader->options.is_once)
        return false;
    for (size_t i = 0; i < reader->address.topic_count; i++) {
        const struct topic *topic = &reader->topics[i];

        for (size_t j = 0; j < topic->part_count; j++) {
            if (topic->parts[j]->reached < topic->parts[j]->end ||
                topic->parts[j]->verifies)
                return false;
        }
    }
    return true;
}

static void
pass_on(const struct part *part, const rd_kafka_message_t *message,
        struct topic_record *record)
{
    const int64_t time_ms = rd_kafka_message_timestamp(message, NULL);

    record->topic = part->topic->name;
    record->partition = part->number;
    record->offset = message->offset;
    record->time_ms = time_ms < 0 ? 0 : time_ms;
    record->value = colander_slice_of(message->payload, message->len);
    record->is_null = message->payload == NULL;
}

/* A broker has answered. */
static void
note_answer(struct topic_reader *reader)
{
    if (!reader->trouble.is_cut_off) /* read alone, it may be a moment old */
        return;
    pthread_mutex_lock(&reader->trouble.lock);
    reader->trouble.is_cut_off = false;
    pthread_mutex_unlock(&reader->trouble.lock);
}

enum colander_code
topic_reader_next(struct topic_reader *reader, unsigned wait_ms,
                  struct topic_record *record, bool *found, bool *is_end,
                  struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    rd_kafka_message_t *message;

    *found = false;
    do {
        struct part *part;

        if (reader->message != NULL)
            rd_kafka_message_destroy(reader->message);
        code = serve(reader, err);
        message = rd_kafka_consume_queue(reader->queue,
                                         is_over(reader) ? 0 : (int)wait_ms);
        reader->message = message;
        if (message == NULL || code != COLANDER_OK)
            break;
        wait_ms = 0;
        part = part_of(message);
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR ||
            message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
            note_answer(reader);
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR || part == NULL)
            code = take_event(reader, part, message, err);
        else
            code = take_record(reader, part, message, found, err);
        if (*found)
            pass_on(part, message, record);
    } while (code == COLANDER_OK && !*found);
    *is_end = code == COLANDER_OK && !*found && is_over(reader);
    if (*is_end)
        count_state(reader);
    return code;
}

/* ----------------------------------------------------------------- marks --- */

/* Makes the mark of the partition, or of one of its loads. */
static enum colander_code
make_mark(struct topic_reader *reader, const struct part *part,
          const struct load *load, struct colander_error *err)
{
    struct topic_mark mark = part->mark;
    enum colander_code code =
        topic_mark_name(&reader->name, part->topic->name, part->number,
                        load == NULL ? NULL : load->id, err);

    if (load != NULL)
        mark = (struct topic_mark){.begun = part->mark.begun,
                                   .offset = (int64_t)load->number};
    return code == COLANDER_OK ? topic_mark_encode(&mark, &reader->value, err)
                               : code;
}

/* Finds what has moved in a partition, from *at on. *load is NULL if it is the
 * partition itself. */
static bool
find_moved(struct part *part, size_t *at, struct load **load)
{
    for (; *at <= part->load_count; (*at)++) {
        bool *is_moved =
            *at == 0 ? &part->is_moved : &part->loads[*at - 1].is_moved;

        if (!*is_moved)
            continue;
        *is_moved = false;
        *load = *at == 0 ? NULL : &part->loads[*at - 1];
        return true;
    }
    *at = 0;
    return false;
}

enum colander_code
topic_reader_mark(struct topic_reader *reader, struct colander_slice *name,
                  struct colander_slice *value, bool *found,
                  struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    *found = false;
    for (; reader->at.topic < reader->address.topic_count;
         reader->at.topic++, reader->at.part = 0) {
        const struct topic *topic = &reader->topics[reader->at.topic];

        for (; reader->at.part < topic->part_count; reader->at.part++) {
            struct part *part = topic->parts[reader->at.part];
            struct load *load = NULL;

            if (!find_moved(part, &reader->at.load, &load))
                continue;
            code = make_mark(reader, part, load, err);
            *found = code == COLANDER_OK;
            *name = colander_buffer_slice(&reader->name);
            *value = colander_buffer_slice(&reader->value);
            return code;
        }
    }
    reader->at.topic = 0;
    return code;
}
