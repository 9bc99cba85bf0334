/*
 * The ledger: how far RocksDB's logs were written, in a separate file.
 *
 * A log that was cut between two records looks complete, and a deleted log
 * leaves no trace. Without the end of a write-ahead log rows are lost, and
 * without that of the MANIFEST whole SST files, which RocksDB then deletes. So
 * the file system that RocksDB sees (engine/store_files.h) notes what it has
 * written to each log and what it has synced, and an open that finds less
 * fails.
 *
 * Synced bytes must always be there. Bytes that were only written must be there
 * while the machine runs, so the ledger has the id of the boot. A note is made
 * after the bytes are written. Before they are deleted, a slot without the note
 * is synced, and the other slot overwritten. So a ledger that is torn or
 * missing only knows less. The synced size of a MANIFEST is exact: bytes after
 * it may be dropped.
 *
 * The synced size of a write-ahead log may be too low, since its notes are not
 * synced. But each log is marked, and the mark synced, before its first sync
 * returns. So if the machine was restarted, a log without a mark is known to
 * hold nothing that had to be on the disk. An old slot may lack a mark: it must
 * not count after a newer one.
 *
 * Life:    open -> found for each log -> settle -> notes -> close
 * Threads: any may note and call ledger_noted, ledger_next and
 *          ledger_forget; all other calls are for one thread
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_LEDGER_H
#define COLANDER_CORE_LEDGER_H

#include "core/core.h"

#define LEDGER_FILE "LEDGER"

enum ledger_kind { LEDGER_WAL, LEDGER_MANIFEST };

/* A log, and the bytes of it that are known to be there. */
struct ledger_entry {
    enum ledger_kind kind;
    uint64_t number;
    uint64_t written; /* whole records; there while the machine runs */
    uint64_t synced;  /* always there; at most `written` */
    uint64_t noted;   /* `written` in the file */
    bool was_synced;  /* at least once, or that is not known */
    bool is_found;    /* see ledger_found */
    bool is_cut;      /* see ledger_cut */
    bool is_leaving;  /* being removed: see ledger_forget */
};

struct ledger;

/* Reads the ledger of a store, if there is one. Damage counts as no ledger. */
COLANDER_CHECKED enum colander_code ledger_open(int directory_fd,
                                                struct ledger **ledger,
                                                struct colander_error *err);

/* Returns the bytes that must be there: fewer mean damage. */
uint64_t ledger_least(const struct ledger *ledger,
                      const struct ledger_entry *entry);

/* Whether a log may end after `whole` bytes although good records follow. Only
 * a power failure may leave that: it may keep any part of what was not synced.
 * True for a MANIFEST after its synced size, if that is known, and for a
 * write-ahead log that was never synced if the machine was restarted. */
bool ledger_may_end(const struct ledger *ledger,
                    const struct ledger_entry *entry, uint64_t whole);

/* Returns what is noted of a log, or zeros. */
struct ledger_entry ledger_noted(struct ledger *ledger, enum ledger_kind kind,
                                 uint64_t number);

/* Notes that a log is there, with `size` bytes of whole records. Returns the
 * entry before, or zeros. */
struct ledger_entry ledger_found(struct ledger *ledger, enum ledger_kind kind,
                                 uint64_t number, uint64_t size);

/* Notes that only `size` bytes of a write-ahead log count, until settle. */
void ledger_cut(struct ledger *ledger, uint64_t number, uint64_t size);

/* Returns what is noted of the log with the next number above `number`, or
 * zeros. */
struct ledger_entry ledger_next(struct ledger *ledger, enum ledger_kind kind,
                                uint64_t number);

/* Removes logs that were not found or have no bytes that count, and begins to
 * write notes. Fails with IO. */
COLANDER_CHECKED enum colander_code ledger_settle(struct ledger *ledger,
                                                  struct colander_error *err);

/* The same for a synced copy: all that was found counts as synced. */
COLANDER_CHECKED enum colander_code
ledger_settle_synced(struct ledger *ledger, struct colander_error *err);

/* Notes that the log has `size` bytes of whole records. Writes the file only
 * now and then: it may lag by a sixteenth, or by 64 KiB. */
void ledger_note_written(struct ledger *ledger, enum ledger_kind kind,
                         uint64_t number, uint64_t size);

/* Notes that they are synced. For a MANIFEST, returns true only after both
 * slots were synced. For a write-ahead log the note may be missing. */
bool ledger_note_synced(struct ledger *ledger, enum ledger_kind kind,
                        uint64_t number, uint64_t size);

/* Marks a write-ahead log that has been synced. If `is_relied_on`, returns true
 * only after this mark and all before are in the file, and synced. Otherwise
 * the mark is synced with the next one, or with a note of the MANIFEST. */
bool ledger_mark_synced(struct ledger *ledger, uint64_t number,
                        bool is_relied_on);

/* Syncs all notes. Called before a log is created: if a power failure keeps
 * writes in that log, it is known whether earlier logs are whole. */
COLANDER_CHECKED bool ledger_sync(struct ledger *ledger);

/* Forgets a log that will be removed. It may be removed if this returns true,
 * and must not if it returns false, as for a second thread. */
COLANDER_CHECKED bool ledger_forget(struct ledger *ledger,
                                    enum ledger_kind kind, uint64_t number);

void ledger_close(struct ledger *ledger); /* NULL is allowed */

#endif
