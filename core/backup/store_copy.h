/*
 * A store that is copied, file by file, to a new directory.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BACKUP_STORE_COPY_H
#define COLANDER_CORE_BACKUP_STORE_COPY_H

#include "core/backup.h"

/* Directories are borrowed. */
struct store_copy {
    int from;
    int to;
    int shared;       /* a copy that may share its files; -1: none */
    const char *path; /* where SSTs are checked: that of `to`, or of `from` if
                       * they are sent; borrowed */
    const struct colander_backup_target *target; /* `to` is temporary, and its
                                                  * files are sent; or NULL */
    backup_check *check;
    struct colander_backup counts;
};

/* Copies, links or writes a file, as its kind says. With a target, sends it
 * instead, unless it is a log or a text. Creates the directory in which it is.
 * Fails with NOT_FOUND, or with CORRUPT if it has another size or is a damaged
 * SST. */
COLANDER_CHECKED enum colander_code
store_copy_file(struct store_copy *copy, const struct backup_file *file,
                struct colander_error *err);

/* Sends a file in `directory` to the target, unless that has it, and counts it.
 * An SST is checked first. Fails with NOT_FOUND, CORRUPT, or as the target. */
COLANDER_CHECKED enum colander_code store_copy_send(struct store_copy *copy,
                                                    int directory,
                                                    const char *name,
                                                    struct colander_error *err);

/* Creates a file of the copy for writing, and the directory in which it is. */
COLANDER_CHECKED enum colander_code
store_copy_create(const struct store_copy *copy, const char *name, int *fd,
                  struct colander_error *err);

/* Syncs, checks and counts a file that was written. */
COLANDER_CHECKED enum colander_code
store_copy_finish(struct store_copy *copy, const char *name,
                  struct colander_error *err);

/* Counts a file that is in the copy. */
void store_copy_count(struct store_copy *copy, const char *name, bool is_new);

#endif
