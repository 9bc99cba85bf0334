/*
 * The records of one of RocksDB's logs, as far as they can be read: what is
 * damaged is stepped over, and told.
 *
 * After a bad piece the next is where its size says, if one is there, and else
 * at the next block: never at bytes that only look like one, for values may
 * hold any.
 *
 * Life:   open -> next ... -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_LOG_RECORDS_H
#define COLANDER_CORE_LOG_RECORDS_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

struct log_records;

enum log_step { LOG_RECORD, LOG_GAP, LOG_END };

/* Bytes of the log that are no whole record. */
struct log_gap {
    uint64_t offset;
    uint64_t size;
    bool is_last; /* nothing is behind it: perhaps the last write was torn */
};

/* NOT_FOUND, IO (it is no file, or cannot be opened) or NO_MEMORY. */
COLANDER_CHECKED enum colander_code
log_records_open(int directory, const char *name, struct log_records **records,
                 struct colander_error *err);

/* Goes to what comes next: a record, borrowed until the next step, or a gap;
 * what the disk cannot read is in one. NO_MEMORY. */
COLANDER_CHECKED enum colander_code
log_records_next(struct log_records *records, enum log_step *step,
                 struct colander_slice *record, struct log_gap *gap,
                 struct colander_error *err);

/* Where in the log what comes next begins. */
uint64_t log_records_position(const struct log_records *records);

/* Whether the disk failed to read some of what was passed. */
bool log_records_has_failed(const struct log_records *records);

/* NULL is allowed. */
void log_records_close(struct log_records *records);

#ifdef __cplusplus
}
#endif

#endif
