/*
 * Files in directories, by descriptors of the directories: copied, written,
 * compared, listed and removed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_FILES_H
#define COLANDER_CORE_FILES_H

#include "core/core.h"

/* Reports errno: "cannot WHAT 'NAME': ...". Returns IO or NO_MEMORY. */
enum colander_code files_fail(struct colander_error *err, const char *what,
                              const char *name);

/* ------------------------------------------------------------- content --- */

/* Opens a regular file, or a link to one, with O_CLOEXEC. Does not wait, as an
 * open of a pipe does. A file that is created has mode 0600. Sets *fd to -1 on
 * failure. Fails with NOT_FOUND, CORRUPT if it is another kind of file, or
 * IO. */
COLANDER_CHECKED enum colander_code files_open(int directory, const char *name,
                                               int flags, int *fd,
                                               struct colander_error *err);

#define FILES_WHOLE UINT64_MAX

/* Copies the first `size` bytes of `from`, or all if `size` is FILES_WHOLE, to
 * `to`, which must not exist. The copy has mode 0600 and is synced, except for
 * its name. Fails with NOT_FOUND if there is no `from`, and with CORRUPT if it
 * has fewer bytes or is not a regular file. A failure leaves no `to`. */
COLANDER_CHECKED enum colander_code
files_copy(int from_directory, const char *from, int to_directory,
           const char *to, uint64_t size, struct colander_error *err);

/* Writes `bytes` to a file that must not exist, in the same way. */
COLANDER_CHECKED enum colander_code files_write(int directory, const char *name,
                                                struct colander_slice bytes,
                                                struct colander_error *err);

/* Replaces a file as a whole, by a rename of `temporary`. All is synced. */
COLANDER_CHECKED enum colander_code
files_replace(int directory, const char *name, const char *temporary,
              struct colander_slice bytes, struct colander_error *err);

/* Returns the size of a regular file, or 0 if there is none. */
uint64_t files_size(int directory, const char *name);

/* Whether both files have the same size and the same last 4 KiB. Enough for
 * files that end with a directory of their content and a random mark. */
bool files_end_alike(int one_directory, const char *one, int other_directory,
                     const char *other);

/* --------------------------------------------------------- directories --- */

/* Calls `visit` for each name in the directory `name`. Stops and returns the
 * code of a visit that fails. */
enum colander_code files_visit(
    int directory, const char *name,
    enum colander_code (*visit)(void *context, int directory, const char *name,
                                struct colander_error *err),
    void *context, struct colander_error *err);

/* Numbers in names of files. Starts zeroed; released with free(list). */
struct files_numbers {
    uint64_t *list; /* ascending */
    size_t count;
    size_t capacity;
};

/* Returns the number in PREFIX NUMBER SUFFIX, for example 12 in "000012.log",
 * or 0 if `name` is not of that form or the number is impossibly high. */
uint64_t files_number(const char *name, const char *prefix, const char *suffix);

struct numbered_name {
    char text[64];
};

/* Returns PREFIX NUMBER SUFFIX: "000012.log". */
struct numbered_name files_name(const char *prefix, uint64_t number,
                                const char *suffix);

/* Adds the numbers of all such files in a directory. */
COLANDER_CHECKED enum colander_code
files_list_numbers(int directory, const char *prefix, const char *suffix,
                   struct files_numbers *numbers, struct colander_error *err);

bool files_is_directory(int directory, const char *name);

/* Fails with INVALID if the path is a link to what does not exist. */
COLANDER_CHECKED enum colander_code
files_check_link(const char *path, struct colander_error *err);

/* Whether the path, which need not exist yet, is that directory or below it. */
bool files_is_inside(const char *path, int directory);

/* Cuts a file to `size` bytes, synced. Fails with IO. */
COLANDER_CHECKED enum colander_code files_cut(int directory, const char *name,
                                              uint64_t size,
                                              struct colander_error *err);

/* Syncs the names in the directory `name`. */
COLANDER_CHECKED enum colander_code
files_sync_names(int directory, const char *name, struct colander_error *err);

/* Syncs the names in a directory and in the directories in it. */
COLANDER_CHECKED enum colander_code files_sync_tree(int directory,
                                                    struct colander_error *err);

/* Syncs the entry of `path` in its parent, if that may be read. */
void files_sync_parent(const char *path);

/* Removes a file, or a directory with all that is in it, as far as possible.
 * Follows no links. */
void files_remove(int directory, const char *name);

#endif
