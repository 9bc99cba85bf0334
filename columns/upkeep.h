/*
 * Upkeep: a store checked, copied and salvaged as a whole.
 *
 * Threads: while the store is used by others, but must not be closed
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_UPKEEP_H
#define COLANDER_UPKEEP_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

struct colander_store;

/* -------------------------------------------------------------- checks --- */

/* What checks have looked at, and how much they found wrong. Zeros at first;
 * each adds to it. */
struct colander_check {
    uint64_t file_count; /* SST files */
    uint64_t byte_count;
    uint64_t row_count;      /* in them, also rows that newer ones replace */
    uint64_t filter_count;   /* value filters (filters.h) */
    uint64_t value_count;    /* values that these were asked about */
    uint64_t finding_count;  /* what is damaged or wrong; each was told */
    uint64_t mended_count;   /* of these: at once */
    uint64_t leftover_count; /* told, too: filters that are missing or too many,
                              * as after a crash; made or removed by the next
                              * open for writing */
};

/* Is told of a finding: a file of the store, by its path in it, and what is
 * wrong with it. */
typedef void colander_finding(void *context, const char *file,
                              const char *what);

/*
 * Reads all SST files: every byte against its checksum, every row as a row.
 * (The logs were read in this way when the store was opened.) Findings are told
 * and do not end it; NO_MEMORY does. Rows may be written meanwhile; files
 * that they replace stay until it is done.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_check(struct colander_store *store, struct colander_check *check,
                     colander_finding *tell, void *context,
                     struct colander_error *err);

/*
 * Makes anew what the store at `path` cannot be opened without, where nothing
 * is lost by that, and tells it: its record of options, which are the defaults
 * then, and CURRENT, when there is one MANIFEST only. Nobody may have it open.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_mend(const char *path, struct colander_check *check,
                    colander_finding *tell, void *context,
                    struct colander_error *err);

/* ------------------------------------------------------------- backups --- */

/*
 * Copies the whole store, as it is at one moment, with its value filters, into
 * a new backup in `directory`, which is made where it is missing. Backups are
 * directories with numbers, and each is itself a store, to be opened for
 * reading, checked, or copied back with colander_backup_restore. SST files and
 * filters that the backup before has are shared with it, by links: so a backup
 * costs what is new since then. Of more than `keep_count` backups (0: all stay)
 * the oldest go.
 *
 * Rows may be written meanwhile: writes wait for some milliseconds. What is
 * copied is read again: CORRUPT names a file that is damaged, and there is no
 * new backup; what is shared is not: see colander_store_check. INVALID when
 * `directory` has other things, or is in the store. BUSY while another is being
 * made there. `made` is filled; NULL is allowed.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_backup(struct colander_store *store, const char *directory,
                      uint64_t keep_count, struct colander_backup *made,
                      struct colander_error *err);

/* ------------------------------------------------------------- salvage --- */

/* What a salvage came to. */
struct colander_salvage {
    uint64_t family_count;
    uint64_t row_count;  /* copied */
    uint64_t byte_count; /* of their keys and rows */
    uint64_t loss_count; /* what was told */
};

/* Fills `options` with those that the store at `path` keeps, or the defaults
 * where that cannot be told: for the store at `to`, yet to be opened, that
 * takes its rows. INVALID when that is in the other. Else as
 * colander_store_salvage. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_salvage_options(const char *path, const char *to,
                         struct colander_options *options,
                         struct colander_error *err);

/*
 * Copies into `to` all rows that can be read of the store at `path`, which may
 * be damaged in any way, and so that it is not even opened. Nothing is written
 * there. `to` has no rows in the families that it gets.
 *
 * Every file that cannot be read whole is told, with what rows that concerns:
 * those of a family between two keys, say. They may be missing, or be as they
 * were before. All other rows are as they are in the store. Filter options are
 * the defaults, and marks are left out: what was loaded need not be there.
 *
 * NOT_FOUND or INVALID where no store is, BUSY while somebody writes to it.
 * After a failure `to` has some of the families. `salvage` is filled, also
 * then.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_salvage(struct colander_store *to, const char *path,
                       struct colander_salvage *salvage, colander_finding *tell,
                       void *context, struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
