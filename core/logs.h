/*
 * The check of RocksDB's logs before RocksDB reads them: the write-ahead logs,
 * and the MANIFEST, which lists the files of the database.
 *
 * RocksDB 7.8 cannot be trusted with a bad record. One recovery mode refuses a
 * log whose last record is torn, as a power failure may leave it. The others
 * silently drop everything after a bad record: rows, or whole SST files, which
 * RocksDB then deletes. So the check reads all records first:
 *
 *   - A bad record with a good one after it is damage. The store is not opened.
 *   - A bad record with nothing after it may be a torn write or damage. It is
 *     dropped and reported.
 *   - Good records after a bad one are dropped, too, if the ledger knows that
 *     they were not synced, and were lost with the power: in a MANIFEST all
 *     after its synced size, and in a write-ahead log that was never synced
 *     all after the bad record, with all later logs. If a later log was synced,
 *     that is damage.
 *   - A later log does not count as "after" if its sequences continue where the
 *     bad record is. An open that dropped the record made that log, and was
 *     killed before it removed the old one.
 *
 * Everything that the ledger knows to have been written must be there, and
 * nothing that it knows to be of another store or of another moment. No log may
 * repeat a write, which would end the process, or leave one out, unless the
 * MANIFEST knows of it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_LOGS_H
#define COLANDER_CORE_LOGS_H

#include "core/ledger.h"

/* Checks the logs in the directory `name`, and adds what it finds to the
 * ledger. If the directory is missing, so are all logs that the ledger knows.
 * If `drops`, removes what does not count: the bytes after the last whole
 * record and, after a hole that the power left, later logs. Otherwise they only
 * do not count in the ledger. `recovery` includes what earlier opens dropped
 * and did not report. If `drops`, it is on the disk before any write is
 * dropped: see drop_report.h. Fails with CORRUPT, naming file and byte, or IO.
 */
COLANDER_CHECKED enum colander_code
logs_check(int directory, const char *name, struct ledger *ledger, bool drops,
           struct colander_recovery *recovery, struct colander_error *err);

/* Whether a log is the one that the ledger lists, as far as it can be read. */
bool logs_is_own(int directory, const char *name, struct ledger *ledger,
                 enum ledger_kind kind, uint64_t number);

/* The name of a MANIFEST before its number. */
#define LOGS_MANIFEST "MANIFEST-"

/* Reads the number of the MANIFEST from CURRENT. Sets 0 if there is no CURRENT,
 * and on failure. Fails with CORRUPT if it does not contain exactly one line
 * with the name of a MANIFEST that exists. */
COLANDER_CHECKED enum colander_code
logs_read_current(int directory, uint64_t *number, struct colander_error *err);

#endif
