/*
 * RocksDB's logs, looked at before it reads them: the write-ahead logs, and the
 * MANIFEST, which says what files the database has.
 *
 * RocksDB 7.8 either refuses a log whose last record is not whole, as a lost
 * machine may leave it, or takes a bad record for such a one and forgets what
 * was written behind it, without a word: rows, or whole SST files, which it
 * then deletes. So all records are looked at first: a bad one with a good one
 * behind it was damaged, and nothing is opened; of a bad one with nothing
 * behind it nobody can tell what it was, and it is dropped, and told. So are
 * good ones behind a bad one of the MANIFEST where the ledger knows that it was
 * not synced so far: a loss of power may leave any part of that. Nothing
 * is also a later log whose writes are numbered as if the bad one had not been:
 * an open that dropped it made that, and was killed before the log went.
 *
 * And what the ledger knows to have been written must be there.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_LOGS_H
#define COLANDER_CORE_LOGS_H

#include "core/ledger.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Looks at the logs in the directory of a database, and tells the ledger what
 * it found. CORRUPT, with file and byte, or IO. A directory that is not there
 * has none. */
COLANDER_CHECKED enum colander_code
logs_check(const char *directory, struct ledger *ledger,
           struct colander_recovery *recovery, struct colander_error *err);

/* What CURRENT has: nothing but a name, in a line, of a MANIFEST that is there;
 * else CORRUPT. An empty name when there is no CURRENT: RocksDB says whether it
 * should be there. */
COLANDER_CHECKED enum colander_code
logs_read_current(const char *directory, char *name, size_t size,
                  struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
