/*
 * SST files that are written outside the database and join a family
 * atomically, together with marks of it. Each replaces what the family has
 * under its keys. The observer sees them written. It gets `created` before
 * anyone can read them, or with is_ok false if they do not join.
 *
 * They are in a directory of their own in the store. The caller may put files
 * there, too. All are removed with it; the next open for writing removes what a
 * killed process left.
 *
 * Threads: many may write, each its own file. All other calls are for one
 * thread, while no file is being written.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BULK_FILES_H
#define COLANDER_CORE_BULK_FILES_H

#include "core/engine.h"

struct bulk_files;

/* Calls `visit` for the directory of each bulk that did not finish, by its name
 * in the store. An engine that is open for writing has removed them, and visits
 * none. Stops and returns the code of a visit that fails. */
COLANDER_CHECKED enum colander_code bulk_files_visit_leftovers(
    const struct engine *engine,
    enum colander_code (*visit)(void *context, int directory, const char *name,
                                struct colander_error *err),
    void *context, struct colander_error *err);

/* Fails with READ_ONLY, DROPPED, or, if they must be the first files, with
 * INVALID if the family has a key. Keeps a reference to the family. */
COLANDER_CHECKED enum colander_code
bulk_files_create(struct engine_family *family, bool is_first,
                  struct bulk_files **files, struct colander_error *err);

/* Removes the files that were not installed. NULL is allowed. */
void bulk_files_destroy(struct bulk_files *files);

/* Returns the directory, borrowed. */
const char *bulk_files_path(const struct bulk_files *files);

/* Adds a mark (copied), which is set when the files join. It replaces one of
 * the same name that was added before. An empty value removes the mark. */
COLANDER_CHECKED enum colander_code bulk_files_mark(struct bulk_files *files,
                                                    struct colander_slice name,
                                                    struct colander_slice value,
                                                    struct colander_error *err);

/*
 * Prepares what takes long of joining, while others write: flushes most of the
 * family, and writes the marks. From then on no file or mark is added. Fails
 * with DROPPED, or with INVALID if the files must be the first and the family
 * has a key.
 */
COLANDER_CHECKED enum colander_code
bulk_files_prepare(struct bulk_files *files, struct colander_error *err);

/*
 * Adds all finished files and marks to the family, synced. They must have been
 * prepared. Flushes what was written to the family since, so what was written
 * to it before is synced, too. Writes and new snapshots wait until the files
 * have joined; older snapshots do not see them. On failure no file has joined.
 */
COLANDER_CHECKED enum colander_code
bulk_files_install(struct bulk_files *files, struct colander_error *err);

/* Excludes a file from joining. `place` counts the finished files before it
 * that were not withdrawn. */
COLANDER_CHECKED enum colander_code
bulk_files_withdraw(struct bulk_files *files, size_t place,
                    struct colander_error *err);

/* An SST in progress. */
struct bulk_sst;

COLANDER_CHECKED enum colander_code bulk_sst_begin(struct bulk_files *files,
                                                   struct bulk_sst **sst,
                                                   struct colander_error *err);

/* Adds a key, which is above those before. Ranges of files must not overlap.
 * Sets *size to the approximate size of the file so far. */
COLANDER_CHECKED enum colander_code bulk_sst_add(struct bulk_sst *sst,
                                                 struct colander_slice key,
                                                 struct colander_slice value,
                                                 uint64_t *size,
                                                 struct colander_error *err);

/* Finishes the file, which must have a key, and sets *sst to NULL. The file is
 * synced, or on failure removed. Only for the thread that began it. NULL in
 * *sst is allowed. */
COLANDER_CHECKED enum colander_code bulk_sst_finish(struct bulk_sst **sst,
                                                    struct colander_error *err);

/* Removes an unfinished file. NULL is allowed. */
void bulk_sst_destroy(struct bulk_sst *sst);

/* Iterates over the rows of the withdrawn files, which must have been finished
 * in key order. Must be closed before the files are destroyed. */
struct bulk_reader;

/* Begins with the first key at or above `from` (copied). */
COLANDER_CHECKED enum colander_code
bulk_reader_open(const struct bulk_files *files, struct colander_slice from,
                 struct bulk_reader **reader, struct colander_error *err);

/* As engine_cursor_next. */
COLANDER_CHECKED enum colander_code
bulk_reader_next(struct bulk_reader *reader, bool *is_row,
                 struct colander_slice *key, struct colander_slice *value,
                 struct colander_error *err);

/* NULL is allowed. */
void bulk_reader_close(struct bulk_reader *reader);

#endif
