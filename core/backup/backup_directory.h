/*
 * A directory of backups: its lock and its list.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BACKUP_BACKUP_DIRECTORY_H
#define COLANDER_CORE_BACKUP_BACKUP_DIRECTORY_H

#include "core/files.h"

#define BACKUP_MARK "BACKUPS"

struct backup_directory {
    int fd;
    int mark_fd; /* holds the lock */
    struct files_numbers numbers;
};

#define BACKUP_DIRECTORY_CLOSED                                                \
    {                                                                          \
        -1, -1,                                                                \
        {                                                                      \
            NULL, 0, 0                                                         \
        }                                                                      \
    }

/* Opens the directory at `path`. With `is_writer`, locks it exclusively,
 * creates it if needed, and removes what killed processes left. Fails with
 * INVALID if it is not a directory of backups, NOT_FOUND, BUSY or IO. */
COLANDER_CHECKED enum colander_code
backup_directory_open(struct backup_directory *directory, const char *path,
                      bool is_writer, struct colander_error *err);

/* A closed one is allowed. */
void backup_directory_close(struct backup_directory *directory);

/* The end of a name: "000012", "000012.part" while the backup is made,
 * "000012.gone" while it is removed. */
#define BACKUP_WHOLE ""
#define BACKUP_PART ".part"
#define BACKUP_GONE ".gone"

/* Removes the oldest backups until `keep_count` are left. Returns the number of
 * those removed. The list is no longer valid. */
uint64_t backup_directory_prune(const struct backup_directory *directory,
                                uint64_t keep_count);

#endif
