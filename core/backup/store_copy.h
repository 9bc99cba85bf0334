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

/* As backup_file. Creates the directory in which the file is. */
COLANDER_CHECKED enum colander_code store_copy_file(struct store_copy *copy,
                                                    const char *name,
                                                    uint64_t size,
                                                    struct colander_error *err);

/* Copies the first `size` bytes of a file that grows. */
COLANDER_CHECKED enum colander_code
store_copy_start(struct store_copy *copy, const char *name, uint64_t size,
                 struct colander_error *err);

/* Writes a file with these bytes. */
COLANDER_CHECKED enum colander_code
store_copy_write(struct store_copy *copy, const char *name,
                 struct colander_slice bytes, struct colander_error *err);

/* Counts a file that is in the copy. */
void store_copy_count(struct store_copy *copy, const char *name, bool is_new);

#endif
