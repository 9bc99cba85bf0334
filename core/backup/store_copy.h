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
    const char *path; /* of `to`, borrowed */
    backup_check *check;
    struct colander_backup counts;
};

/* Copies, links or writes a file, as its kind says. Creates the directory in
 * which it is. Fails with NOT_FOUND, or with CORRUPT if it has another size or
 * is a damaged SST. */
COLANDER_CHECKED enum colander_code
store_copy_file(struct store_copy *copy, const struct backup_file *file,
                struct colander_error *err);

/* Counts a file that is in the copy. */
void store_copy_count(struct store_copy *copy, const char *name, bool is_new);

#endif
