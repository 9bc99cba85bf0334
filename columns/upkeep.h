/*
 * Upkeep: checks, repairs, backs up and salvages a whole store.
 *
 * Threads: other threads may use the store meanwhile, but not close it.
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

/* What checks have examined and found. Start with zeros; each check adds. */
struct colander_check {
    uint64_t file_count; /* SST files */
    uint64_t byte_count;
    uint64_t row_count;      /* rows in them, also replaced ones */
    uint64_t filter_count;   /* value filters (filters.h) */
    uint64_t value_count;    /* values that these were asked for */
    uint64_t finding_count;  /* reports of something damaged or wrong */
    uint64_t repaired_count; /* of these, what was repaired at once */
    uint64_t leftover_count; /* also reported: filters that are missing or
                              * superfluous, and files of bulks, which a killed
                              * or failed write left; the next open for writing
                              * builds or removes them */

    /* Asked now and then; true ends the check with CANCELLED. NULL: nothing. */
    bool (*is_cancelled)(void *context); /* that of findings */
};

/* Receives a finding: a file, by its path in the store, and what is wrong. */
typedef void colander_finding(void *context, const char *file,
                              const char *what);

/* Reads all SST files and checks every byte against its checksum, the place of
 * every block, and every row. (Opening the store has checked the logs in this
 * way.) Findings are passed to `report` and do not end the check; NO_MEMORY
 * does. Rows may be written during the check; files that this replaces stay
 * until it is done. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_check(struct colander_store *store, struct colander_check *check,
                     colander_finding *report, void *context,
                     struct colander_error *err);

/* Recreates files that the store at `path` cannot be opened without, if that
 * loses no data: the record of options (with the defaults, also if it is that
 * of another store) and CURRENT (if there is only one MANIFEST). Reports each.
 * No process may have the store open. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_repair(const char *path, struct colander_check *check,
                      colander_finding *report, void *context,
                      struct colander_error *err);

/* ------------------------------------------------------------- backups --- */

/*
 * Copies the whole store with its value filters, as it is at one moment, into a
 * new backup in `directory`, which is created if it is missing. Backups are
 * numbered directories. Each is a store itself: it can be opened for reading,
 * checked, and copied back with colander_backup_restore. Files that the
 * previous backup has are shared with it by hard links, so a backup costs the
 * space of what is new. If there are more than `keep_count` backups, the oldest
 * are removed; 0 keeps all.
 *
 * Rows may be written during the backup; writes wait for some milliseconds.
 * Files that are copied are read back: if one is damaged, fails with CORRUPT,
 * names it and makes no backup. Shared files are not read: see
 * colander_store_check. Fails with INVALID if `directory` contains other things
 * or is inside the store, and with BUSY while another backup is being made
 * there. Fills `made`, unless it is NULL.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_backup(struct colander_store *store, const char *directory,
                      uint64_t keep_count, struct colander_backup *made,
                      struct colander_error *err);

/* Does the same to a target (core.h). Fills the counts of `made`; its `number`
 * and `removed_count` are 0. Before, puts summaries of filters beside these, by
 * which the copy can be read without all filters: also if the store is open for
 * reading, and if that is not possible, does without. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_store_backup_to(
    struct colander_store *store, const struct colander_backup_target *target,
    struct colander_backup *made, struct colander_error *err);

/* ------------------------------------------------------------- salvage --- */

/* The result of a salvage. */
struct colander_salvage {
    uint64_t family_count;
    uint64_t row_count;  /* rows copied */
    uint64_t byte_count; /* of their keys and rows */
    uint64_t loss_count; /* losses reported */
};

/* Sets `options` to those saved in the store at `path`, or to the defaults if
 * they cannot be read: for opening the new store at `to` that receives its
 * rows. Fails with INVALID if one of the two directories is inside the other,
 * and otherwise as colander_store_salvage. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_salvage_options_sized(const char *path, const char *to,
                               struct colander_options *options,
                               size_t struct_size, struct colander_error *err);

static inline enum colander_code
colander_salvage_options(const char *path, const char *to,
                         struct colander_options *options,
                         struct colander_error *err)
{
    return colander_salvage_options_sized(path, to, options, sizeof(*options),
                                          err);
}

/*
 * Copies all rows that can be read from the store at `path` into `to`. The
 * store at `path` may be damaged in any way, so that it does not even open;
 * nothing in it is changed. The families that `to` receives may not have rows
 * there.
 *
 * Each file that cannot be read completely is reported, with the rows
 * concerned: those of a family between two keys, for example. Such rows may be
 * missing, or older than they were. All other rows are as in the store. Filter
 * options and marks are copied as far as they can be read; policies of
 * retention are paused (retention.h).
 *
 * Fails with NOT_FOUND or INVALID if there is no store at `path`, and with BUSY
 * while a process has it open for writing. After a failure `to` has some of the
 * families. Fills `salvage`, also then.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_salvage(struct colander_store *to, const char *path,
                       struct colander_salvage *salvage,
                       colander_finding *report, void *context,
                       struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
