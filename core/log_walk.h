/*
 * One of RocksDB's logs, record by record: a write-ahead log or a MANIFEST.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_LOG_WALK_H
#define COLANDER_CORE_LOG_WALK_H

#include "core/log_block.h"

#ifdef __cplusplus
extern "C" {
#endif

/* At the beginning of each write in a write-ahead log. */
#define LOG_WRITE_HEAD_SIZE 12

/* What a write of the database begins with: how many were before it, and how
 * many it is itself. */
struct write_head {
    uint64_t sequence; /* 0: not known */
    uint32_t count;
};

/* What is known of a log when all of it was looked at. */
struct log_state {
    uint64_t size;
    uint64_t bad_at;         /* where the first record begins that is not whole;
                              * SIZE: all are */
    bool has_behind;         /* and a record begins behind that one */
    bool has_begun;          /* there is the first piece of a record: */
    struct write_head begun; /* what it begins with */
    struct write_head first; /* of the first record that is whole */
    uint64_t next_sequence;  /* behind the last one; 0: not known */
    struct write_head bad; /* of the record at `bad_at`, as far as it is there;
                            * its checksum is not right */
};

/* Looks at all records. IO or NO_MEMORY. */
COLANDER_CHECKED enum colander_code log_walk(const char *directory,
                                             const char *name,
                                             struct log_state *state,
                                             struct colander_error *err);

/*
 * How far a log that is being written has whole records: bytes are added as
 * they come, and may be cut anywhere. Begins as zeros.
 */
struct log_tail {
    uint64_t size;
    uint64_t whole;    /* behind the last whole record */
    size_t head_size;  /* of the next piece, as far as it has come */
    size_t piece_left; /* of the content of the piece */
    uint8_t head[LOG_HEAD_SIZE];
};

void log_tail_add(struct log_tail *tail, const uint8_t *bytes, size_t size);

/* CORRUPT: something stands behind the bad record at `byte`. */
enum colander_code log_fail_damaged(const char *name, uint64_t byte,
                                    struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
