/*
 * Log files: a log and the files that it was rotated to, from the newest to the
 * oldest: FILE, FILE.0, FILE.1, FILE.2, ..., each perhaps compressed, as
 * FILE.2.gz or FILE.2.zst. While a rotation renames them one number may be
 * missing, so two missing numbers end the list.
 *
 * Life: a zeroed struct -> read* -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_LOG_FILES_H
#define LOADING_LOG_FILES_H

#include "core/core.h"

struct log_file {
    char *path;     /* owned */
    uint64_t inode; /* 0: the file is missing */
    uint64_t size;
    bool is_compressed; /* by its name */
};

struct log_files {
    struct log_file *files; /* the first is FILE itself, even if missing */
    size_t count;
    size_t capacity;
};

/* Replaces the list by that of the log at `path`, as it is now. */
COLANDER_CHECKED enum colander_code log_files_read(struct log_files *files,
                                                   const char *path,
                                                   struct colander_error *err);

/* Returns the index of the file with this inode, or `count`. */
size_t log_files_find(const struct log_files *files, uint64_t inode);

/* Returns whether the files are the same, and none is shorter later. */
bool log_files_equal(const struct log_files *files,
                     const struct log_files *later);

void log_files_release(struct log_files *files);

#endif
