/*
 * A directory of backups: which there are, and whose turn it is.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BACKUP_DIRECTORY_H
#define COLANDER_CORE_BACKUP_DIRECTORY_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BACKUP_MARK "BACKUPS"
#define BACKUP_NAME_SIZE 32

struct backup_directory {
    int fd;
    int mark_fd;       /* holds the lock */
    uint64_t *numbers; /* of the backups, ascending */
    size_t count;
};

#define BACKUP_DIRECTORY_CLOSED                                                \
    {                                                                          \
        -1, -1, NULL, 0                                                        \
    }

/* Opens the directory at `path`, for making a backup or for reading one: to
 * make one is for one process at a time, and there the directory is made where
 * it is missing, and what killed processes have left is removed. INVALID when
 * it is no directory of backups, NOT_FOUND, BUSY or IO. */
COLANDER_CHECKED enum colander_code
backup_directory_open(struct backup_directory *directory, const char *path,
                      bool is_for_making, struct colander_error *err);

/* A closed one is allowed. */
void backup_directory_close(struct backup_directory *directory);

/* "000012", "000012.part" while it is made, "000012.gone" while it goes. */
#define BACKUP_WHOLE ""
#define BACKUP_PART ".part"
#define BACKUP_GONE ".gone"

void backup_name(uint64_t number, const char *state,
                 char name[BACKUP_NAME_SIZE]);

/* Removes the oldest of them until there are `keep_count`. Returns how many
 * went. */
uint64_t backup_directory_prune(struct backup_directory *directory,
                                uint64_t keep_count);

#ifdef __cplusplus
}
#endif

#endif
