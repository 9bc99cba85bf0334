/*
 * The records of one of RocksDB's logs: a write-ahead log or a MANIFEST.
 *
 * Reading skips damage and reports it. After a bad piece the next piece is
 * where the size of the bad one says, if a good one is there, and otherwise in
 * the next block. Bytes inside a block are never searched: values may contain
 * bytes that look like records.
 *
 * Life:   open -> next ... -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_LOG_RECORDS_H
#define COLANDER_CORE_LOG_RECORDS_H

#include "core/core.h"
#include "core/log_tail.h"

struct log_records;

enum log_step { LOG_RECORD, LOG_GAP, LOG_END };

/* Bytes of the log that are not part of a whole record. */
struct log_gap {
    uint64_t offset;
    uint64_t size;
    uint64_t bad_at; /* the piece at which reading stopped; not below offset */
    bool is_last;    /* no record follows: perhaps the last write was torn */
};

/* `name` is borrowed until close. Fails with NOT_FOUND, IO (not a regular file,
 * or it cannot be opened) or NO_MEMORY. */
COLANDER_CHECKED enum colander_code
log_records_open(int directory, const char *name, struct log_records **records,
                 struct colander_error *err);

/* Steps to the next record, borrowed until the next step, or to the next gap.
 * Bytes that the disk cannot read are a gap. Fails with NO_MEMORY. */
COLANDER_CHECKED enum colander_code
log_records_next(struct log_records *records, enum log_step *step,
                 struct colander_slice *record, struct log_gap *gap,
                 struct colander_error *err);

/* Returns the offset at which the next record or gap begins. */
uint64_t log_records_position(const struct log_records *records);

/* Whether the disk failed to read some of the bytes so far. */
bool log_records_has_failed(const struct log_records *records);

/* NULL is allowed. */
void log_records_close(struct log_records *records);

/* ---------------------------------------------------------------- check --- */

/* The bytes of a write-ahead log's record before its operations. */
#define LOG_WRITE_HEAD_SIZE 12

/* The bytes of a log with one write without operations. RocksDB begins a log
 * with one, and syncs it, after it has dropped the end of another. */
#define LOG_EMPTY_WRITE_SIZE (7 + LOG_WRITE_HEAD_SIZE)

/* What the head of a write says: the sequence of its first operation, and the
 * number of operations. */
struct write_head {
    uint64_t sequence; /* 0: not known */
    uint32_t count;
};

/* Returns the head of a record of a write-ahead log. Zeros: it has none. */
struct write_head log_write_head(struct colander_slice record);

/* What a check of all records finds. */
struct log_state {
    uint64_t size;
    struct log_extent whole; /* records before the first that is not whole; of
                              * `size` bytes if all are */
    bool has_more;           /* a record begins after that one */
    uint64_t differs_before; /* size of the smallest extent that the log should
                              * have had, and has not; 0: none */
    uint64_t repeats_at; /* of writes: end of the first record that is as old
                              * as others before it; 0: none */
    uint64_t jump;       /* of writes: the last sequence before which others
                              * are missing; 0: none */
    struct write_head first; /* of the first whole record */
    uint64_t next_sequence;  /* after the last whole record; 0: not known */
    struct write_head bad;   /* of the record after the whole ones, as far as it
                              * is there; not covered by a valid checksum */
};

/* Checks all records. `extents` are what the log should begin with, as far as
 * it is that long. Fails with IO or NO_MEMORY. */
COLANDER_CHECKED enum colander_code log_check(int directory, const char *name,
                                              const struct log_extent *extents,
                                              size_t extent_count,
                                              struct log_state *state,
                                              struct colander_error *err);

/* Reports that records follow the bad one at `byte`. Returns CORRUPT. */
enum colander_code log_fail_damaged(const char *name, uint64_t byte,
                                    struct colander_error *err);

#endif
