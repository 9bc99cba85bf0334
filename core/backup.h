/*
 * Backups: a directory of copies of a store. Each copy is a store itself.
 *
 *     DIR/BACKUPS       locked while a backup is made; marks the directory
 *     DIR/000001/       a backup: COLANDER, LEDGER, rocksdb/ and filters/
 *     DIR/000002/       the next one; immutable files that the one before also
 *                       has are hard links
 *     DIR/000003.part   in progress, or left by a killed process
 *     DIR/000001.gone   being removed, or left by a killed process
 *
 * A backup gets its number when all of it is on disk. Any backup can be removed
 * without harm to the others.
 *
 * Life:   begin -> file, log, text -> finish -> destroy
 * Names:  of files are relative to the store: "rocksdb/000012.sst"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BACKUP_H
#define COLANDER_CORE_BACKUP_H

#include "core/files.h"
#include "core/ledger.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks an SST by its path. Copies are checked, because a backup of damage
 * would replace a good one. */
typedef enum colander_code backup_check(const char *path,
                                        struct colander_error *err);

struct backup;

/* Begins a backup of the store whose directory is `store_fd`, which stays open
 * until the end, in the directory `path`, which is created if needed. Removes
 * what killed processes left there. Fails with INVALID if the directory has
 * other files or is inside the store, and with BUSY if another process makes a
 * backup. */
COLANDER_CHECKED enum colander_code backup_begin(const char *path, int store_fd,
                                                 backup_check *check,
                                                 struct backup **backup,
                                                 struct colander_error *err);

/* Adds a file that never changes under its name: links to the backup before if
 * that has the same file, and copies it otherwise. Fails with NOT_FOUND, or
 * with CORRUPT if the file does not have `size` bytes (FILES_WHOLE: any
 * number) or is a damaged SST. */
COLANDER_CHECKED enum colander_code backup_file(struct backup *backup,
                                                const char *name, uint64_t size,
                                                struct colander_error *err);

/* Adds the first `size` bytes of a log. Fails with CORRUPT if its first `whole`
 * bytes are not all records, or a record follows a bad one. A torn record may
 * follow them. */
COLANDER_CHECKED enum colander_code
backup_log(struct backup *backup, const char *name, enum ledger_kind kind,
           uint64_t number, uint64_t size, uint64_t whole,
           struct colander_error *err);

/* Adds a file with these bytes. */
COLANDER_CHECKED enum colander_code backup_text(struct backup *backup,
                                                const char *name,
                                                struct colander_slice bytes,
                                                struct colander_error *err);

/* Gives the backup its number. Then removes the oldest backups until
 * `keep_count` are left (0: keeps all). Fills `made`. */
COLANDER_CHECKED enum colander_code backup_finish(struct backup *backup,
                                                  uint64_t keep_count,
                                                  struct colander_backup *made,
                                                  struct colander_error *err);

/* Frees it, and removes the files of a backup that was not finished. NULL is
 * allowed. */
void backup_destroy(struct backup *backup);

/* As colander_backup_restore. */
COLANDER_CHECKED enum colander_code
backup_restore(const char *directory, uint64_t number, const char *path,
               backup_check *check, struct colander_backup *restored,
               struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
