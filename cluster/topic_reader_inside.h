/*
 * Private to topic_reader.c, topic_parts.c and topic_records.c: the reader.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_TOPIC_READER_INSIDE_H
#define CLUSTER_TOPIC_READER_INSIDE_H

#include "cluster/kafka.h"
#include "cluster/topic_mark.h"

struct load {
    uint64_t id;
    uint64_t number; /* of its last record here, */
    int64_t at;      /* which has this offset; negative: there is none */
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
    int64_t high;           /* the end of the log when it was begun */
    unsigned restarts;      /* without a record */
    bool is_left_out;       /* it is not read: all of the others stay 0 */
    bool is_begun;          /* librdkafka reads it, or has read it */
    bool waits;             /* it is to be begun or restarted: no broker has */
    uint64_t asked_us;      /* answered then */
    struct load *loads;     /* whose records have numbers: by slot */
    size_t load_count;
    size_t load_capacity;
};

struct topic {
    const char *name;
    rd_kafka_topic_t *handle;
    rd_kafka_topic_t *asked; /* of that client */
    struct part **parts;     /* by number */
    size_t part_count;
    size_t part_capacity;
};

/* Brokers answer one request of a connection after another, and a fetch of
 * records that are not there yet for half a second. So those that share a
 * client ask all else by another one. */
struct topic_client {
    rd_kafka_t *client;
    rd_kafka_t *asked; /* may be the same */
    struct kafka_trouble trouble;
    struct kafka_trouble asked_trouble;
};

struct topic_reader {
    struct colander_store *store;
    struct colander_family *family;
    struct topic_reader_options options;
    struct kafka_address address;
    struct topic_client *own;      /* NULL: others use the client, too */
    struct kafka_trouble *trouble; /* of the client */
    rd_kafka_t *client;            /* fetches records */
    rd_kafka_t *asked;             /* answers all else */
    rd_kafka_queue_t *queue;
    struct topic *topics; /* as many as the address has */
    size_t topic_at;      /* of the last message */
    char cluster[TOPIC_CLUSTER_MAX];
    rd_kafka_message_t *message; /* that was passed on last */
    bool is_open;                /* outages do not matter any more */
    unsigned served;             /* records since the state was looked at */
    uint64_t looked_us;          /* for partitions */
    uint64_t counted_us;         /* the state */
    uint64_t sent_twice;
    int64_t next; /* the offset after the record that was passed on last */
    struct {      /* the next mark to pass on */
        size_t topic;
        size_t part;
        size_t load; /* 0: that of the partition */
    } at;
    struct colander_buffer name;
    struct colander_buffer value;
    struct topic_reader_state state; /* under the lock of `trouble` */
};

/* ----------------------------------------------------------- partitions --- */

/* Sets whether one of the first `count` partitions has a mark that counts. */
COLANDER_CHECKED enum colander_code
topic_is_known(const struct topic_reader *reader, const struct topic *topic,
               int32_t count, bool *is, struct colander_error *err);

/* Begins to read partitions that the topic has more than the reader knows;
 * `are_new`: those without a mark were not there when others were first read.
 * Once the reader is open, those wait for which no broker answers. */
COLANDER_CHECKED enum colander_code topic_parts_add(struct topic_reader *reader,
                                                    struct topic *topic,
                                                    int32_t count, bool are_new,
                                                    struct colander_error *err);

/* Looks for marks of partitions that the topic does not have any more: so it is
 * another one. Fails with CORRUPT, or if the reader restarts, adds to the batch
 * that they are removed. */
COLANDER_CHECKED enum colander_code
topic_parts_lose(struct topic_reader *reader, struct topic *topic,
                 struct colander_batch *batch, struct colander_error *err);

/* Goes on where librdkafka has stopped, as a broker said that there is no such
 * offset or topic: which may have been wrong. `reason` is what it said. Waits
 * if no broker answers. */
COLANDER_CHECKED enum colander_code
topic_part_restart(struct topic_reader *reader, struct part *part,
                   const char *reason, struct colander_error *err);

/* Tries again to begin or restart partitions that wait. */
COLANDER_CHECKED enum colander_code
topic_parts_retry(struct topic_reader *reader, struct colander_error *err);

/* Fails because the topic is not the one that was read. */
COLANDER_CHECKED enum colander_code topic_part_fail(const struct part *part,
                                                    struct colander_error *err,
                                                    const char *format, ...)
    COLANDER_FORMAT(3, 4);

/* -------------------------------------------------------------- records --- */

/* Takes a record, or what librdkafka says instead of one. *found: it is a
 * record to be passed on. */
COLANDER_CHECKED enum colander_code
topic_reader_take(struct topic_reader *reader,
                  const rd_kafka_message_t *message, bool *found,
                  struct topic_record *record, struct colander_error *err);

#endif
