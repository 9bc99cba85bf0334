/*
 * Write-ahead logs, looked at before RocksDB replays them.
 *
 * RocksDB 7.8 either refuses a log whose last record is not whole, as a lost
 * machine may leave it, or takes each bad record for such a one and drops what
 * was acknowledged behind it. So all records are looked at first: a bad one
 * with a good one behind it was damaged, and nothing is opened; of a bad one
 * with nothing behind it nobody can tell what it was, and it is dropped, and
 * counted.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_WAL_H
#define COLANDER_CORE_WAL_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

struct wal_findings {
    uint64_t log_count;
    uint64_t record_count;
    uint64_t dropped_size; /* bytes at the end of the last log with records */
    char dropped_file[32]; /* its name */
};

/* Looks at all logs in the directory of a database. CORRUPT, with file and
 * byte, or IO. A directory that is not there has none. */
COLANDER_CHECKED enum colander_code wal_check(const char *directory,
                                              struct wal_findings *findings,
                                              struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
