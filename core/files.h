/*
 * Files: copied, compared and removed, by descriptors of their directories.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_FILES_H
#define COLANDER_CORE_FILES_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FILES_WHOLE UINT64_MAX

/* Makes `to`, which is not there yet, of the first `size` bytes of `from`, or
 * of all that it has when the size is FILES_WHOLE: 0600, and on the disk, but
 * for its name. NOT_FOUND when there is no `from`, CORRUPT when it has fewer
 * bytes, or is no regular file. On failure `to` is not there. */
COLANDER_CHECKED enum colander_code
files_copy(int from_directory, const char *from, int to_directory,
           const char *to, uint64_t size, struct colander_error *err);

/* The same of bytes in memory. */
COLANDER_CHECKED enum colander_code files_write(int directory, const char *name,
                                                struct colander_slice bytes,
                                                struct colander_error *err);

/* Whether both are of one size, and end with the same 4 KiB: of files that end
 * with a directory of what is in them, which has a mark that no other has. */
bool files_end_alike(int one_directory, const char *one, int other_directory,
                     const char *other);

/* The size of a file; 0: it is none. */
uint64_t files_size(int directory, const char *name);

/* Calls `visit` for each name in the directory `name`; stops, with its code,
 * when that is not OK. */
enum colander_code files_visit(
    int directory, const char *name,
    enum colander_code (*visit)(void *context, int directory, const char *name,
                                struct colander_error *err),
    void *context, struct colander_error *err);

bool files_is_directory(int directory, const char *name);

/* Whether the directory at `path`, which may have to be made yet, is that one
 * or below it. */
bool files_is_inside(const char *path, int directory);

/* Waits until the names in the directory `name` are on the disk. */
COLANDER_CHECKED enum colander_code
files_sync_names(int directory, const char *name, struct colander_error *err);

/* The same for a directory and those in it. */
COLANDER_CHECKED enum colander_code files_sync_tree(int directory,
                                                    struct colander_error *err);

/* Removes what is called `name`, a directory with all that it holds, as far as
 * that can be done. No link is followed. */
void files_remove(int directory, const char *name);

/* IO, or NO_MEMORY, with what errno says: "cannot WHAT 'NAME': ...". */
enum colander_code files_fail(struct colander_error *err, const char *what,
                              const char *name);

#ifdef __cplusplus
}
#endif

#endif
