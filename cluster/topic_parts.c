/*
 * Partitions of a topic reader: where each begins, and whether that is still
 * the place that its mark has.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/topic_reader_inside.h"
#include "core/array.h"
#include "core/clock.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define RESTARTS_MAX 100 /* of a partition, without a record */
#define RESTART_MS 50
#define GONE_MAX 100 /* partitions without a mark, before one with a mark */
#define RETRY_US UINT64_C(2000000) /* between two tries, if none answers */

/* Sets *offset as kafka_find_offset does. If the reader is open and no broker
 * answers, the partition waits. */
static enum colander_code
find_offset(const struct topic_reader *reader, struct part *part,
            int64_t time_ms, int64_t *offset, struct colander_error *err)
{
    const rd_kafka_resp_err_t error = kafka_find_offset(
        &reader->options.brokers, reader->asked, !reader->is_open,
        part->topic->name, part->number, time_ms, offset);

    if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
        return COLANDER_OK;
    if (kafka_is_stopped(&reader->options.brokers))
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    part->waits = reader->is_open && kafka_is_transient(error);
    part->asked_us = clock_us();
    if (part->waits)
        return COLANDER_OK;
    return kafka_fail(error, "cannot find offsets of", part->topic->name,
                      part->number, err);
}

/* Sets *low to the offset of the first record that brokers have, and *high to
 * that after the last, unless the partition waits. */
static enum colander_code
find_offsets(const struct topic_reader *reader, struct part *part, int64_t *low,
             int64_t *high, struct colander_error *err)
{
    enum colander_code code;

    part->waits = false;
    code = find_offset(reader, part, RD_KAFKA_OFFSET_BEGINNING, low, err);
    if (code == COLANDER_OK && !part->waits)
        code = find_offset(reader, part, RD_KAFKA_OFFSET_END, high, err);
    if (code == COLANDER_OK && !part->waits && (*low < 0 || *high < *low))
        code =
            COLANDER_FAIL(err, COLANDER_IO,
                          "topic '%s', partition %d: a broker says that it "
                          "begins at offset %" PRId64 " and ends at %" PRId64,
                          part->topic->name, (int)part->number, *low, *high);
    return code;
}

enum colander_code
topic_part_fail(const struct part *part, struct colander_error *err,
                const char *format, ...)
{
    char what[160];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    return COLANDER_FAIL(
        err, COLANDER_CORRUPT,
        "topic '%s', partition %d: %s: the topic was created "
        "again, or brokers have lost records. Rows that were "
        "read stay. To read it from its beginning, add --restart",
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
        return topic_part_fail(part, err,
                               "offset %" PRId64
                               " comes next, but its end is at "
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
    pthread_mutex_lock(&reader->trouble->lock);
    reader->state.lost += (uint64_t)(low - mark->offset);
    pthread_mutex_unlock(&reader->trouble->lock);
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

    part->is_begun = true;
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
    enum colander_code code = COLANDER_OK;
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
        code = find_offset(reader, part, reader->options.from_ms, &mark->offset,
                           err);
    if (mark->offset < 0) /* all are before the time */
        mark->offset = high;
    return code;
}

/* Reads the marks of loads. */
static enum colander_code
read_loads(struct topic_reader *reader, struct part *part,
           struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    bool found = true;

    while (code == COLANDER_OK && found && part->load_count < TOPIC_SLOTS_MAX) {
        struct topic_mark mark;

        code = topic_mark_name(&reader->name, part->topic->name, part->number,
                               (int)part->load_count, err);
        if (code == COLANDER_OK)
            code = topic_mark_read(&mark, reader->family,
                                   colander_buffer_slice(&reader->name), &found,
                                   err);
        if (code == COLANDER_OK && found)
            code = array_reserve(&part->loads, part->load_count,
                                 &part->load_capacity, 1, err);
        if (code != COLANDER_OK || !found)
            continue;
        if (!mark.has_load || mark.begun != part->mark.begun)
            mark.at = -1;
        part->loads[part->load_count++] =
            (struct load){mark.load, (uint64_t)mark.offset, mark.at, false};
    }
    return code;
}

/* Begins to read a partition; `is_new`: others of the topic were read before it
 * was there. */
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

    part->end = reader->options.is_once ? high : INT64_MAX;
    part->high = high;
    if (part->waits)
        return code;
    if (code == COLANDER_OK)
        code = topic_mark_name(&name, part->topic->name, part->number, -1, err);
    if (code == COLANDER_OK && (is_new || !reader->options.restarts))
        code = topic_mark_read(&part->mark, reader->family,
                               colander_buffer_slice(&name), &found, err);
    if (code == COLANDER_OK && !found) {
        code = begin_mark(reader, part, is_new, low, high, err);
        if (code == COLANDER_OK && reader->options.is_whole) {
            part->mark.offset = 0;
            code = check_mark(reader, part, low, high, err);
        }
    } else if (code == COLANDER_OK && cluster[0] != '\0' &&
               part->mark.cluster[0] != '\0' &&
               strcmp(cluster, part->mark.cluster) != 0)
        code = topic_part_fail(part, err,
                               "it was read from cluster '%s', this is "
                               "cluster '%s'",
                               part->mark.cluster, cluster);
    else if (code == COLANDER_OK)
        code = check_mark(reader, part, low, high, err);
    if (code == COLANDER_OK)
        code = read_loads(reader, part, err);
    if (code == COLANDER_OK)
        code = start(reader, part, low, err);
    colander_buffer_release(&name);
    return code;
}

/* Fails, unless the broker that has counted partitions had not heard of it. */
static enum colander_code
check_gone(const struct topic_reader *reader, struct part *part,
           struct colander_error *err)
{
    int64_t high;
    const enum colander_code code =
        find_offset(reader, part, RD_KAFKA_OFFSET_END, &high, err);

    return code != COLANDER_NOT_FOUND
               ? code
               : topic_part_fail(part, err,
                                 "offset %" PRId64 " comes next, but the topic "
                                 "has no such partition",
                                 part->mark.offset);
}

enum colander_code
topic_parts_lose(struct topic_reader *reader, struct topic *topic,
                 struct colander_batch *batch, struct colander_error *err)
{
    struct part part = {.topic = topic, .number = (int32_t)topic->part_count};
    int32_t last = part.number;
    enum colander_code code = COLANDER_OK;

    for (; part.number - last < GONE_MAX && code == COLANDER_OK;
         part.number++) {
        bool found;

        code =
            topic_mark_name(&reader->name, topic->name, part.number, -1, err);
        if (code == COLANDER_OK)
            code = topic_mark_read(&part.mark, reader->family,
                                   colander_buffer_slice(&reader->name), &found,
                                   err);
        if (code != COLANDER_OK || !found)
            continue;
        last = part.number;
        code = reader->options.restarts
                   ? colander_batch_mark(batch, reader->family,
                                         colander_buffer_slice(&reader->name),
                                         colander_slice_text(""), err)
                   : check_gone(reader, &part, err);
    }
    return code;
}

/* Whether the options leave out a partition. */
static bool
is_left_out(const struct topic_reader_options *options, int32_t number)
{
    size_t i = 0;

    while (i < options->partition_count && options->partitions[i] != number)
        i++;
    return options->partition_count > 0 && i == options->partition_count;
}

enum colander_code
topic_is_known(const struct topic_reader *reader, const struct topic *topic,
               int32_t count, bool *is, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    int64_t offset;

    *is = false;
    for (int32_t i = 0;
         i < count && !reader->options.restarts && !*is && code == COLANDER_OK;
         i++)
        code = topic_place(reader->family, topic->name, i, &offset, is, err);
    return code;
}

enum colander_code
topic_parts_add(struct topic_reader *reader, struct topic *topic, int32_t count,
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
        part->is_left_out = is_left_out(&reader->options, part->number);
        if (!part->is_left_out)
            code = begin_part(reader, part, are_new, err);
    }
    return code;
}

enum colander_code
topic_part_restart(struct topic_reader *reader, struct part *part,
                   const char *reason, struct colander_error *err)
{
    int64_t high = 0;
    int64_t low = 0;
    enum colander_code code = find_offsets(reader, part, &low, &high, err);

    if (code == COLANDER_OK && !part->waits)
        code = check_mark(reader, part, low, high, err);
    if (code != COLANDER_OK || part->waits)
        return code;
    if (part->restarts++ == RESTARTS_MAX)
        return COLANDER_FAIL(err, COLANDER_IO,
                             "topic '%s', partition %d: no record can be read "
                             "at offset %" PRId64 ": %s",
                             part->topic->name, (int)part->number,
                             part->mark.offset, reason);
    (void)rd_kafka_poll(reader->client, RESTART_MS);
    (void)rd_kafka_consume_stop(part->topic->handle, part->number);
    return start(reader, part, low, err);
}

enum colander_code
topic_parts_retry(struct topic_reader *reader, struct colander_error *err)
{
    for (size_t i = 0; i < reader->address.topic_count; i++) {
        const struct topic *topic = &reader->topics[i];

        for (size_t j = 0; j < topic->part_count; j++) {
            struct part *part = topic->parts[j];
            enum colander_code code;

            if (!part->waits || clock_us() - part->asked_us < RETRY_US)
                continue;
            code = part->is_begun
                       ? topic_part_restart(reader, part,
                                            "no broker has answered", err)
                       : begin_part(reader, part, true, err);
            if (code != COLANDER_OK || part->waits) /* others would, too */
                return code;
        }
    }
    return COLANDER_OK;
}
