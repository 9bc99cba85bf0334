/*
 * Records of a topic reader: which are passed on, and their marks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/topic_reader_inside.h"
#include "core/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#define ID_SIZE 16 /* of a load, in a header */

static uint64_t
hash_of(const rd_kafka_message_t *message)
{
    return XXH3_64bits_withSeed(
        message->payload, message->len,
        XXH3_64bits(message->key, message->key_len) ^
            (uint64_t)rd_kafka_message_timestamp(message, NULL));
}

/* Finds a load of the partition, or puts it in the place of the one whose last
 * record is the oldest. */
static enum colander_code
find_load(struct part *part, uint64_t id, struct load **load,
          struct colander_error *err)
{
    struct load *oldest = NULL;
    enum colander_code code;

    for (size_t i = 0; i < part->load_count; i++) {
        *load = &part->loads[i];
        if ((*load)->id == id && (*load)->at >= 0)
            return COLANDER_OK;
        if (oldest == NULL || (*load)->at < oldest->at)
            oldest = *load;
    }
    if (part->load_count < TOPIC_SLOTS_MAX &&
        (oldest == NULL || oldest->at >= 0)) {
        code = array_reserve(&part->loads, part->load_count,
                             &part->load_capacity, 1, err);
        if (code != COLANDER_OK)
            return code;
        oldest = &part->loads[part->load_count++];
    }
    *oldest = (struct load){.id = id, .at = -1};
    *load = oldest;
    return COLANDER_OK;
}

/* Reads the header of a record that a load has sent to this topic:
 * ID/TOPIC/NUMBER. Others have none, or that of the record that they are a copy
 * of. */
static bool
read_header(const rd_kafka_message_t *message, const char *topic, uint64_t *id,
            uint64_t *number)
{
    const size_t topic_size = strlen(topic);
    rd_kafka_headers_t *headers;
    const void *data;
    const char *digits;
    char text[KAFKA_HEADER_MAX];
    char *end;
    size_t size;

    if (rd_kafka_message_headers(message, &headers) != 0 ||
        rd_kafka_header_get_last(headers, KAFKA_RECORD_HEADER, &data, &size) !=
            0 ||
        data == NULL || size >= sizeof(text))
        return false;
    memcpy(text, data, size);
    text[size] = '\0';
    if (strspn(text, "0123456789abcdef") != ID_SIZE || text[ID_SIZE] != '/' ||
        strncmp(text + ID_SIZE + 1, topic, topic_size) != 0 ||
        text[ID_SIZE + 1 + topic_size] != '/')
        return false;
    digits = text + ID_SIZE + 1 + topic_size + 1;
    *id = strtoull(text, NULL, 16);
    *number = strtoull(digits, &end, 10);
    return digits[0] >= '0' && digits[0] <= '9' && end == text + size &&
           *number <= INT64_MAX;
}

/* Whether a load has sent a record once more, after it was resumed. */
static enum colander_code
see_load(struct topic_reader *reader, struct part *part,
         const rd_kafka_message_t *message, bool *is_again,
         struct colander_error *err)
{
    struct load *load;
    uint64_t number;
    uint64_t id;
    enum colander_code code;

    *is_again = false;
    if (!read_header(message, part->topic->name, &id, &number))
        return COLANDER_OK;
    code = find_load(part, id, &load, err);
    if (code != COLANDER_OK)
        return code;
    *is_again = load->at >= 0 && number <= load->number;
    reader->sent_twice += *is_again;
    if (*is_again)
        return COLANDER_OK;
    load->number = number;
    load->at = message->offset;
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
        return topic_part_fail(part, err,
                               "the record at offset %" PRId64
                               " is not the one "
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

static void
note_trouble(struct topic_reader *reader, const char *text)
{
    pthread_mutex_lock(&reader->trouble->lock);
    (void)snprintf(reader->trouble->text, sizeof(reader->trouble->text), "%s",
                   text);
    pthread_mutex_unlock(&reader->trouble->lock);
}

/* Takes what librdkafka says instead of a record. */
static enum colander_code
take_event(struct topic_reader *reader, struct part *part,
           const rd_kafka_message_t *message, struct colander_error *err)
{
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        if (part == NULL)
            return COLANDER_OK;
        if (part->reached < message->offset)
            part->reached = message->offset;
        /* it has no record that could be compared */
        part->verifies = part->verifies && message->offset < part->mark.offset;
        part->restarts = 0;
        return COLANDER_OK;
    }
    if (part != NULL && part->waits) /* it is restarted anyway */
        return COLANDER_OK;
    if ((message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
         kafka_is_unknown(message->err)) &&
        part != NULL)
        return topic_part_restart(reader, part,
                                  rd_kafka_message_errstr(message), err);
    if (kafka_is_transient(message->err)) { /* it is fetched again */
        note_trouble(reader, rd_kafka_message_errstr(message));
        return COLANDER_OK;
    }
    return kafka_fail(message->err, "cannot read",
                      part == NULL ? "?" : part->topic->name,
                      part == NULL ? -1 : part->number, err);
}

/* Returns NULL if it is about none. Readers that share a client have the same
 * handle for a topic. */
static struct part *
part_of(struct topic_reader *reader, const rd_kafka_message_t *message)
{
    const size_t count = reader->address.topic_count;
    const struct topic *topic;
    size_t tries = 0;

    while (reader->topics[reader->topic_at].handle != message->rkt) {
        if (++tries > count)
            return NULL;
        reader->topic_at = (reader->topic_at + 1) % count;
    }
    topic = &reader->topics[reader->topic_at];
    if (message->partition < 0 ||
        (size_t)message->partition >= topic->part_count)
        return NULL;
    return topic->parts[message->partition];
}

static void
pass_on(struct topic_reader *reader, const struct part *part,
        const rd_kafka_message_t *message, struct topic_record *record)
{
    const int64_t time_ms = rd_kafka_message_timestamp(message, NULL);
    rd_kafka_headers_t *headers;
    const void *data = NULL;
    size_t size;

    record->topic = part->topic->name;
    record->partition = part->number;
    record->offset = message->offset;
    reader->next = message->offset + 1;
    record->time_ms = time_ms < 0 ? 0 : time_ms;
    record->key = colander_slice_of(message->key, message->key_len);
    record->value = colander_slice_of(message->payload, message->len);
    record->is_null = message->payload == NULL;
    record->has_operation =
        rd_kafka_message_headers(message, &headers) == 0 &&
        rd_kafka_header_get_last(headers, "op", &data, &size) == 0;
    record->operation =
        colander_slice_of(data, record->has_operation ? size : 0);
}

/* A broker has answered. */
static void
note_answer(struct topic_reader *reader)
{
    if (!reader->trouble->is_cut_off) /* without the lock */
        return;
    pthread_mutex_lock(&reader->trouble->lock);
    reader->trouble->is_cut_off = false;
    pthread_mutex_unlock(&reader->trouble->lock);
}

enum colander_code
topic_reader_take(struct topic_reader *reader,
                  const rd_kafka_message_t *message, bool *found,
                  struct topic_record *record, struct colander_error *err)
{
    struct part *part = part_of(reader, message);
    enum colander_code code;

    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR ||
        message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
        note_answer(reader);
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR || part == NULL)
        return take_event(reader, part, message, err);
    code = take_record(reader, part, message, found, err);
    if (*found)
        pass_on(reader, part, message, record);
    return code;
}

/* ---------------------------------------------------------------- marks --- */

/* Makes the mark of the partition, or of one of its loads. */
static enum colander_code
make_mark(struct topic_reader *reader, const struct part *part,
          const struct load *load, struct colander_error *err)
{
    struct topic_mark mark = part->mark;
    enum colander_code code =
        topic_mark_name(&reader->name, part->topic->name, part->number,
                        load == NULL ? -1 : (int)(load - part->loads), err);

    if (load != NULL)
        mark = (struct topic_mark){.begun = part->mark.begun,
                                   .offset = (int64_t)load->number,
                                   .has_load = true,
                                   .load = load->id,
                                   .at = load->at};
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
