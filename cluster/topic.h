/*
 * Topics: logs of records, kept by brokers that speak Kafka's protocol.
 *
 * A topic has partitions, and each record an offset in its partition. A reader
 * keeps the offset after the last record, and a hash of it, as a mark of a
 * family, to be written together with the rows of the records: so each record
 * has its effect once. It is a plain consumer, in no group.
 *
 * An address is kafka://BROKER[:PORT][,...]/TOPIC[,TOPIC...].
 *
 * Life:    topic_client_open -> topic_client_close, for readers that share it;
 *          topic_reader_open -> next, mark -> close; or
 *          topic_writer_open -> begin -> put -> flush -> close; or
 *          topic_create, topic_ends
 * Threads: one at a time for each reader or writer, and any for
 *          topic_reader_state
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_TOPIC_H
#define CLUSTER_TOPIC_H

#include "columns/columns.h"

#include <stdatomic.h>

/* Whether a word is meant as an address of topics. */
bool topic_is_address(const char *word);

/* How brokers are reached. */
struct topic_broker_options {
    const char *address;
    const char *const *settings; /* of librdkafka, each NAME=VALUE */
    size_t setting_count;
    const char *settings_file;     /* lines NAME=VALUE; NULL: none */
    const atomic_bool *is_stopped; /* ends waits with CANCELLED; NULL: never */
    unsigned wait_ms; /* for brokers that do not answer; 0: a minute */
};

/* -------------------------------------------------------------- readers --- */

/* What readers of the same brokers can share, so that not each of them has
 * threads, connections and requests: a client. No two of them may read the same
 * partition at one time. Its own settings are used, and not theirs. */
struct topic_client;

/* Opens one; no broker is asked yet. Fails with INVALID if the address or
 * settings cannot be used. */
COLANDER_CHECKED enum colander_code
topic_client_open(const struct topic_broker_options *options,
                  struct topic_client **client, struct colander_error *err);

/* Requires that all its readers are closed. NULL is allowed. */
void topic_client_close(struct topic_client *client);

/* Where a partition without a mark begins, if no other of its topic has one: if
 * one has, the partition is new, and begins at its beginning. */
enum topic_from { TOPIC_FROM_BEGINNING = 0, TOPIC_FROM_END, TOPIC_FROM_TIME };

struct topic_reader_options {
    struct topic_broker_options brokers;
    enum topic_from from;
    int64_t from_ms;  /* of TOPIC_FROM_TIME, since 1970 */
    bool is_once;     /* ends at what is the end of the topics now */
    bool restarts;    /* begins as if there were no marks */
    bool skips_lost;  /* goes on if records are gone that were not read */
    bool is_whole;    /* records from offset 0 on must be there, where a
                       * partition has no mark */
    unsigned look_ms; /* how often new partitions are looked for; 0: a minute */
    const int32_t *partitions;   /* of each topic that are read; borrowed until
                                * close */
    size_t partition_count;      /* 0: all are read */
    struct topic_client *client; /* borrowed until close; NULL: it has one for
                                  * itself */
};

/* A record. All is borrowed until the next call, but the topic, until close. */
struct topic_record {
    const char *topic;
    int32_t partition;
    int64_t offset;
    int64_t time_ms;           /* since 1970; 0: unknown */
    struct colander_slice key; /* empty: none */
    struct colander_slice value;
    bool is_null; /* it has no value, not even an empty one */
    bool has_operation;
    struct colander_slice operation; /* the header `op` */
};

struct topic_reader;

/*
 * Opens a reader that continues where the marks of the family say, and writes
 * the first mark of each other partition. Both are borrowed until close. Fails
 * with NOT_FOUND if there is no such topic or partition, with INVALID if it is
 * compacted, with IO if no broker answers, and with CORRUPT, and says what to
 * do, if a topic is not the one that was read: records before the marks are not
 * what they were, or are beyond its end, or those after them are gone.
 */
COLANDER_CHECKED enum colander_code
topic_reader_open(struct colander_store *store, struct colander_family *family,
                  const struct topic_reader_options *options,
                  struct topic_reader **reader, struct colander_error *err);

/* NULL is allowed. */
void topic_reader_close(struct topic_reader *reader);

/* Waits up to `wait_ms` for the next record. *found: there is one. *is_end: all
 * partitions were read to their end (is_once). Fails as open does. */
COLANDER_CHECKED enum colander_code
topic_reader_next(struct topic_reader *reader, unsigned wait_ms,
                  struct topic_record *record, bool *found, bool *is_end,
                  struct colander_error *err);

/* Returns a mark to be written together with the records that were read,
 * borrowed until the next call, until there are no more and *found is false. */
COLANDER_CHECKED enum colander_code
topic_reader_mark(struct topic_reader *reader, struct colander_slice *name,
                  struct colander_slice *value, bool *found,
                  struct colander_error *err);

/* Sets *offset to that of the next record of a partition, by the mark that is
 * written with the rows of those before it. *found: there is one. */
COLANDER_CHECKED enum colander_code topic_place(struct colander_family *family,
                                                const char *topic,
                                                int32_t partition,
                                                int64_t *offset, bool *found,
                                                struct colander_error *err);

/* Fails with CORRUPT unless the family has such a mark of this partition of
 * `count`, and none of another one: it may be in a store that was copied from
 * elsewhere. */
COLANDER_CHECKED enum colander_code
topic_check_place(struct colander_family *family, const char *topic,
                  int32_t partition, int32_t count, struct colander_error *err);

/* How far a reader is. */
struct topic_reader_state {
    uint64_t partition_count;
    uint64_t lag;    /* records that brokers have after the last one read */
    int64_t next;    /* the offset after the one that was returned last, if
                      * one partition is read; 0: none was */
    int64_t end;     /* likewise, the one after the last that brokers have */
    bool is_cut_off; /* no broker answers */
    uint64_t sent_twice; /* records of a resumed load that were there already */
    uint64_t lost;       /* records that were skipped (skips_lost), at most */
    char trouble[300];   /* what librdkafka said last, if it is */
};

/* Any thread. */
void topic_reader_state(struct topic_reader *reader,
                        struct topic_reader_state *state);

/* -------------------------------------------------------------- writers --- */

struct topic_writer;

/* Returns in which of `count` partitions records with this key are, if their
 * producer chooses as those in Java do (murmur2). */
int32_t topic_partition_of(struct colander_slice key, int32_t count);

/* Opens a writer to the one topic of the address. Fails as a reader does. */
COLANDER_CHECKED enum colander_code
topic_writer_open(const struct topic_broker_options *options,
                  struct topic_writer **writer, struct colander_error *err);

/* Returns how many partitions the topic has. */
uint32_t topic_writer_partition_count(const struct topic_writer *writer);

/* Returns the id of the cluster; "": it has none. */
const char *topic_writer_cluster(const struct topic_writer *writer);

/* Returns a hash of what decides about the partitions of records: how many
 * there are, the partitioner, and `texts`, which say what their keys are. */
uint64_t topic_writer_spread(const struct topic_writer *writer,
                             const char *const *texts, size_t count);

/* Begins or continues a load with this id, which its records get: so one that
 * is sent twice is read once. Requires that all records before are
 * acknowledged, and of one that is continued, that the records, their numbers
 * and partitions are those of before. */
void topic_writer_begin(struct topic_writer *writer, uint64_t id);

/* NULL is allowed. What was not acknowledged may be sent or not. */
void topic_writer_close(struct topic_writer *writer);

/* Sends a record, copied, with the header `op` unless `operation` is NULL;
 * waits while too many are not acknowledged. `number` grows from record to
 * record. Records with the same key (empty: none) are in one partition. Fails
 * if this or an earlier record could not be sent, or none is acknowledged for
 * five times as long as brokers are waited for. */
COLANDER_CHECKED enum colander_code
topic_writer_put(struct topic_writer *writer, uint64_t number,
                 const char *operation, struct colander_slice key,
                 struct colander_slice value, struct colander_error *err);

/* Sends a record with the header `op` and no key to each partition. */
COLANDER_CHECKED enum colander_code
topic_writer_tell_all(struct topic_writer *writer, uint64_t number,
                      const char *operation, struct colander_slice value,
                      struct colander_error *err);

/* Sets *number to that up to which all records of the load are acknowledged, if
 * there are any. */
COLANDER_CHECKED enum colander_code
topic_writer_acknowledged(struct topic_writer *writer, bool *is_any,
                          uint64_t *number, struct colander_error *err);

/* Waits until all records are acknowledged. */
COLANDER_CHECKED enum colander_code
topic_writer_flush(struct topic_writer *writer, struct colander_error *err);

/* --------------------------------------------------------------- topics --- */

/* What a topic is to be. Of one that is there, only the number of partitions
 * counts. */
struct topic_wanted {
    uint32_t partition_count;   /* 0: any, of one that is there */
    uint32_t copy_count;        /* brokers that have each record; 0: three, or
                                 * all if there are fewer */
    uint64_t retention_seconds; /* how long brokers keep records at least */
    bool is_there;              /* it is not created, only checked */
};

struct topic_made {
    bool is_new;
    uint32_t partition_count;
    uint32_t copy_count; /* of a new one, also if it could not be created; 0: no
                          * broker has answered */
};

/*
 * Creates the one topic of the address, unless it is there: then checks that it
 * has as many partitions, and is not compacted. Returns once brokers know it.
 * Fails with INVALID if it is another one, with NOT_FOUND if it is missing and
 * not to be created, and with IO if no broker answers, or none can or may
 * create it.
 */
COLANDER_CHECKED enum colander_code
topic_create(const struct topic_broker_options *options,
             const struct topic_wanted *wanted, struct topic_made *made,
             struct colander_error *err);

/* What brokers have of a partition: records from one offset on, up to another
 * one. */
struct topic_ends {
    int64_t low;
    int64_t high;
};

/* Asks for the ends of all partitions of the one topic of the address, and how
 * long brokers keep its records at least; negative: that is unknown, or without
 * end. The caller frees *ends. Fails as topic_create does. What brokers do not
 * answer is asked again, for wait_ms of the options in total. */
COLANDER_CHECKED enum colander_code
topic_ends(const struct topic_broker_options *options, struct topic_ends **ends,
           size_t *count, int64_t *retention_ms, struct colander_error *err);

#endif
