/*
 * Writes, as they stand in a write-ahead log: a record is one batch.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_SALVAGE_LOG_WRITE_H
#define COLANDER_CORE_SALVAGE_LOG_WRITE_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A put or delete; all borrowed from the record. */
struct log_operation {
    uint64_t sequence;
    uint32_t family; /* RocksDB's id of the column family */
    bool is_delete;
    struct colander_slice key;
    struct colander_slice value;
};

/* Of its first operation; 0: the record is no batch. */
uint64_t log_write_sequence(struct colander_slice record);

/* Calls `visit` for each operation of a record; stops, with its code, when that
 * is not OK. CORRUPT when it is no batch, or has what this store never writes:
 * what was visited before stands. */
COLANDER_CHECKED enum colander_code log_write_visit(
    struct colander_slice record,
    enum colander_code (*visit)(void *context,
                                const struct log_operation *operation,
                                struct colander_error *err),
    void *context, struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
