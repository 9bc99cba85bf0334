/*
 * Backups: a directory of copies of a store, each a store by itself.
 *
 *     DIR/BACKUPS       locked while one is made; marks the directory as ours
 *     DIR/000001/       a backup: COLANDER, LEDGER, rocksdb/ and filters/
 *     DIR/000002/       the next one. Files that the one before has, too, and
 *                       that nobody changes once they are written, are links
 *     DIR/000003.part   under way, or what a killed process has left
 *     DIR/000001.gone   being removed, likewise
 *
 * A backup gets its number when all of it is on the disk. Each can be removed
 * by itself; what others link to stays theirs.
 *
 * Life:   begin -> file, log, text -> finish -> destroy
 * Names:  of files, are relative to the store: "rocksdb/000012.sst"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BACKUP_H
#define COLANDER_CORE_BACKUP_H

#include "core/files.h"
#include "core/ledger.h"
#include "core/sst.h"

#ifdef __cplusplus
extern "C" {
#endif

struct backup;

/* Makes the directory at `path` where there is none, and begins a backup of the
 * store with the directory `store_fd`, which stays open until its end. INVALID
 * when other things are in there, or it is in the store; BUSY when another is
 * being made. What killed processes have left is removed. */
COLANDER_CHECKED enum colander_code backup_begin(const char *path, int store_fd,
                                                 struct backup **backup,
                                                 struct colander_error *err);

/* Takes a file that nobody changes while it has its name. *is_new: it was
 * copied; false: the backup before has it, and both share it now. CORRUPT when
 * it has not `size` bytes (FILES_WHOLE: however many). */
COLANDER_CHECKED enum colander_code backup_file(struct backup *backup,
                                                const char *name, uint64_t size,
                                                bool *is_new,
                                                struct colander_error *err);

/* Takes the first `size` bytes of a log, whose records are looked at: CORRUPT
 * where one is damaged, or the first `whole` bytes are not all records. Behind
 * them there may be a torn one. */
COLANDER_CHECKED enum colander_code
backup_log(struct backup *backup, const char *name, enum ledger_kind kind,
           uint64_t number, uint64_t size, uint64_t whole,
           struct colander_error *err);

/* Takes these bytes as a file. */
COLANDER_CHECKED enum colander_code backup_text(struct backup *backup,
                                                const char *name,
                                                struct colander_slice bytes,
                                                struct colander_error *err);

/* Where a file of the backup is, as a path; the caller's to free. NULL: no
 * memory. */
char *backup_path_of(const struct backup *backup, const char *name);

/* All is there: it gets its number. Then the oldest are removed, until there
 * are `keep_count` (0: all stay). Fills `made`. */
COLANDER_CHECKED enum colander_code backup_finish(struct backup *backup,
                                                  uint64_t keep_count,
                                                  struct colander_backup *made,
                                                  struct colander_error *err);

/* Frees it; removes what was not finished. NULL is allowed. */
void backup_destroy(struct backup *backup);

#ifdef __cplusplus
}
#endif

#endif
