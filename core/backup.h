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
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BACKUP_H
#define COLANDER_CORE_BACKUP_H

#include "core/files.h"
#include "core/ledger.h"

/* Checks an SST by its path. Copies are checked, because a backup of damage
 * would replace a good one. */
typedef enum colander_code backup_check(const char *path,
                                        struct colander_error *err);

enum backup_kind {
    /* Never changes under its name: linked to if the backup before has the
     * same file, and copied otherwise. */
    BACKUP_FILE,
    BACKUP_OPTIONAL_FILE, /* the same; it may be missing */
    BACKUP_WAL,           /* it grows: its first `size` bytes are copied */
    BACKUP_MANIFEST,      /* likewise */
    BACKUP_TEXT,          /* written with the given content */
};

/* A file of a store. All is borrowed. */
struct backup_file {
    const char *name; /* relative to the store: "rocksdb/000012.sst" */
    enum backup_kind kind;
    uint64_t size;               /* bytes of it; FILES_WHOLE: not known */
    uint64_t number;             /* of a log */
    uint64_t whole;              /* of a log: bytes that must be records */
    struct colander_slice bytes; /* of a text */
};

/*
 * Makes a backup of these files of the store whose directory is `store_fd`, in
 * the directory `path`, which is created if needed. Removes what killed
 * processes left there. Then removes the oldest backups until `keep_count` are
 * left (0: keeps all). Fills `made`. Fails with INVALID if the directory has
 * other files or is inside the store, with BUSY if another process makes a
 * backup, and with CORRUPT if a file is missing or damaged: an SST, a file of
 * another size, or a log with a bad record that is not a torn one at its end.
 */
COLANDER_CHECKED enum colander_code
backup_make(const char *path, uint64_t keep_count, int store_fd,
            const struct backup_file *files, size_t count, backup_check *check,
            struct colander_backup *made, struct colander_error *err);

/* Sends these files of the store at `store_path`, whose directory is
 * `store_fd`, to a target. Logs are first copied to a temporary directory.
 * Fills the counts of `made`. Fails with CORRUPT as above. */
COLANDER_CHECKED enum colander_code
backup_send(const struct colander_backup_target *target, const char *store_path,
            int store_fd, const struct backup_file *files, size_t count,
            backup_check *check, struct colander_backup *made,
            struct colander_error *err);

/* As colander_backup_restore. */
COLANDER_CHECKED enum colander_code
backup_restore(const char *directory, uint64_t number, const char *path,
               backup_check *check, struct colander_backup *restored,
               struct colander_error *err);

/* As colander_backup_restore_from. */
COLANDER_CHECKED enum colander_code
backup_restore_from(const struct colander_backup_source *source,
                    const char *path, backup_check *check,
                    struct colander_backup *restored,
                    struct colander_error *err);

#endif
