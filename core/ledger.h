/*
 * The ledger: how far RocksDB's logs have been written, in a file of its own.
 *
 * A log that was cut between two records looks like one that never had more,
 * and of one that is gone nothing tells that it was there. Who loses the end of
 * a write-ahead log so loses rows, and of the MANIFEST whole SST files, which
 * RocksDB then deletes. So the file system that RocksDB sees (bridge_files.h)
 * notes here what it has written to each log and what it has synced, and an
 * open that finds less stops.
 *
 * What was synced is there for ever. What was only written is there while the
 * machine runs; the ledger keeps the boot it was written in. A note is made
 * after the bytes it tells of, and taken back, out of both slots and synced,
 * before they go: so a ledger that is old, torn or gone says less than is true,
 * never more. Only of the MANIFEST what was synced is known for certain: what
 * stands behind that may be dropped.
 *
 * Owner:  who opened it. Notes may come from any thread; open, settle and
 *         close are alone.
 * Order:  open -> found for each log, missing -> settle -> notes -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_LEDGER_H
#define COLANDER_CORE_LEDGER_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LEDGER_FILE "LEDGER"

enum ledger_kind { LEDGER_WAL, LEDGER_MANIFEST };

/* A log, and how many bytes of it are known to be there. */
struct ledger_entry {
    enum ledger_kind kind;
    uint64_t number;
    uint64_t written; /* while the machine runs */
    uint64_t synced;  /* for ever; at most `written` */
    uint64_t noted;   /* of `written`, in the file, or meant to be */
    bool is_found;    /* by an open: see ledger_found */
    bool is_leaving;  /* no longer in the file: see ledger_forget */
};

struct ledger;

/* Reads the ledger of the store with that directory, if it has one. A damaged
 * one is as good as none. */
COLANDER_CHECKED enum colander_code ledger_open(int directory_fd,
                                                struct ledger **ledger,
                                                struct colander_error *err);

/* How many bytes must be there: of less, some were lost to damage. */
uint64_t ledger_least(const struct ledger *ledger,
                      const struct ledger_entry *entry);

/* Whether what stands behind the bytes that are known to be synced counts for
 * nothing, and may lack something before what is there: it went with the power,
 * now or before an open that was killed. So it is with a MANIFEST, of which
 * that is known. */
bool ledger_may_have_holes(const struct ledger_entry *entry);

/* The log is there, with so many bytes of whole records. Returns what was noted
 * of it before; zeros, if nothing. */
struct ledger_entry ledger_found(struct ledger *ledger, enum ledger_kind kind,
                                 uint64_t number, uint64_t size);

/* How many bytes of whole records the log has by now; 0: nobody knows. */
uint64_t ledger_written(struct ledger *ledger, enum ledger_kind kind,
                        uint64_t number);

/* The write-ahead log with the least number above `number` of which bytes were
 * written; 0: none. */
uint64_t ledger_next_wal(struct ledger *ledger, uint64_t number);

/* The next write-ahead log that was noted and not found, of which some bytes
 * were written; NULL: none. *at begins with 0. */
const struct ledger_entry *ledger_missing(const struct ledger *ledger,
                                          size_t *at);

/* The highest number of a MANIFEST that was noted; 0: none was. */
uint64_t ledger_last_manifest(const struct ledger *ledger);

/* From now on the logs are those that were found, and notes are kept. IO. */
COLANDER_CHECKED enum colander_code ledger_settle(struct ledger *ledger,
                                                  struct colander_error *err);

/* The same for a copy that is on the disk: what was found is there for ever. */
COLANDER_CHECKED enum colander_code
ledger_settle_synced(struct ledger *ledger, struct colander_error *err);

/* The log has `size` bytes of whole records now. That costs a write now and
 * then: the file may be a sixteenth behind, or 64 KiB. */
void ledger_note_written(struct ledger *ledger, enum ledger_kind kind,
                         uint64_t number, uint64_t size);

/* And they are synced. Of a MANIFEST this has to be known: both slots have it,
 * on the disk, when it returns true. Of a log of writes it may be missing. */
bool ledger_note_synced(struct ledger *ledger, enum ledger_kind kind,
                        uint64_t number, uint64_t size);

/* The log is about to go, and may once this has returned true. For one thread
 * at a time: another is told false. */
COLANDER_CHECKED bool ledger_forget(struct ledger *ledger,
                                    enum ledger_kind kind, uint64_t number);

void ledger_close(struct ledger *ledger); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
