/*
 * The ledger: what was written to RocksDB's logs, in a separate file.
 *
 * A log that was cut between two records looks complete, and a deleted log
 * leaves no trace. Without the end of a write-ahead log rows are lost, and
 * without that of the MANIFEST whole SST files, which RocksDB then deletes. So
 * the file system that RocksDB sees (engine/store_files.h) notes what it has
 * written to each log and what it has synced, and an open that finds less
 * fails.
 *
 * An older copy of a log, or that of another store, looks whole, too. So each
 * note has a sum (log_tail.h), and each log is noted before it is created and
 * before its first write. An open fails if it finds a log that is not listed,
 * or other records than those of the notes. After a close, and in a backup,
 * the notes are exact: a log has these records and no more.
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
 * Life:    open -> found for each log -> settle -> notes -> seal -> close
 * Threads: any may note and call ledger_noted, ledger_next and
 *          ledger_forget; all other calls are for one thread
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_LEDGER_H
#define COLANDER_CORE_LEDGER_H

#include "core/core.h"
#include "core/log_tail.h"

#define LEDGER_FILE "LEDGER"

enum ledger_kind { LEDGER_WAL, LEDGER_MANIFEST };

/* What a log must begin with, as far as it is that long. */
enum ledger_extent {
    LEDGER_WRITTEN, /* there while the machine runs */
    LEDGER_AHEAD,   /* with a write that may not have been made */
    LEDGER_SYNCED,  /* always there; at most what was written */
    LEDGER_EXTENTS,
};

/* A log, and what is known of it. */
struct ledger_entry {
    enum ledger_kind kind;
    uint64_t number;
    struct log_extent extents[LEDGER_EXTENTS];
    uint64_t noted;  /* size of what was written, in the file */
    bool is_listed;  /* the ledger has this entry */
    bool was_synced; /* at least once, or that is not known */
    bool is_found;   /* see ledger_found */
    bool is_cut;     /* see ledger_cut */
    bool is_leaving; /* being removed: see ledger_forget */
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

/* Whether the ledger lists every log of the store. One of an earlier version
 * does not, nor one that had no room for all. */
bool ledger_lists_all(const struct ledger *ledger);

/* Whether a log that has its extents may have these whole records, and is
 * listed if it has to be. */
bool ledger_allows(const struct ledger *ledger,
                   const struct ledger_entry *entry, struct log_extent whole);

/* Returns what is noted of a log, or zeros. */
struct ledger_entry ledger_noted(struct ledger *ledger, enum ledger_kind kind,
                                 uint64_t number);

/* Notes that a log is there, with these whole records. */
void ledger_found(struct ledger *ledger, enum ledger_kind kind, uint64_t number,
                  struct log_extent whole);

/* Notes that only these records of a write-ahead log count, until settle. */
void ledger_cut(struct ledger *ledger, uint64_t number,
                struct log_extent whole);

/* Returns what is noted of the log with the next number above `number`, or
 * zeros. */
struct ledger_entry ledger_next(struct ledger *ledger, enum ledger_kind kind,
                                uint64_t number);

/* Removes logs that were not found or have no bytes that count, and begins to
 * write notes. Fails with IO. */
COLANDER_CHECKED enum colander_code ledger_settle(struct ledger *ledger,
                                                  struct colander_error *err);

/* The same for a synced copy: all that was found counts as synced, and the
 * notes are exact. */
COLANDER_CHECKED enum colander_code
ledger_settle_synced(struct ledger *ledger, struct colander_error *err);

/* Notes that a write-ahead log will be created, and syncs all notes: if a power
 * failure keeps writes in that log, it is known whether earlier logs are whole.
 * The log may be created if this returns true. */
COLANDER_CHECKED bool ledger_begin(struct ledger *ledger, uint64_t number);

/* Notes the records that a log will have after the next write. The first write
 * may be made if this returns true; other notes may be missing. */
COLANDER_CHECKED bool ledger_note_ahead(struct ledger *ledger,
                                        enum ledger_kind kind, uint64_t number,
                                        struct log_extent whole);

/* Notes the records that a log has. Writes the file only now and then: it may
 * lag by a sixteenth of the log, within one of its blocks of 32 KiB. */
void ledger_note_written(struct ledger *ledger, enum ledger_kind kind,
                         uint64_t number, struct log_extent whole);

/* Notes that they are synced. For a MANIFEST, returns true only after both
 * slots were synced. For a write-ahead log the note may be missing. */
bool ledger_note_synced(struct ledger *ledger, enum ledger_kind kind,
                        uint64_t number, struct log_extent whole);

/* Marks a write-ahead log that has been synced. If `is_relied_on`, returns true
 * only after this mark and all before are in the file, and synced. Otherwise
 * the mark is synced with the next one, or with a note of the MANIFEST. */
bool ledger_mark_synced(struct ledger *ledger, uint64_t number,
                        bool is_relied_on);

/* Forgets a log that will be removed. It may be removed if this returns true,
 * and must not if it returns false, as for a second thread. */
COLANDER_CHECKED bool ledger_forget(struct ledger *ledger,
                                    enum ledger_kind kind, uint64_t number);

/* Notes that the logs have the records of the notes and no more, and syncs
 * that. Requires that the logs are synced, and that no note is missing and none
 * follows. If it fails, the ledger only knows less. */
void ledger_seal(struct ledger *ledger);

void ledger_close(struct ledger *ledger); /* NULL is allowed */

#endif
