/*
 * The directory of a store: private, locked, and marked by its record.
 *
 * A directory becomes a store when its record COLANDER is written, the last
 * step of creation. A directory with nothing but files of an unfinished
 * creation counts as empty. Any other directory without a record is left alone.
 *
 * Files:  COLANDER  the record (options.h), replaced as a whole
 *         LOCK      locked while the store is open; contains the writer's pid
 *         ORIGINAL  a random text that no copy of the store has
 *         rocksdb/  the database
 * Life:   open -> (the engine opens rocksdb/) -> write_record -> close
 * Lock:   flock on LOCK: one writer, or any number of readers. Not the LOCK in
 *         rocksdb/: opening and closing that would release RocksDB's lock.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_DIRECTORY_H
#define COLANDER_CORE_DIRECTORY_H

#include "core/core.h"

#define DIRECTORY_RECORD "COLANDER"
#define DIRECTORY_LOCK "LOCK"
#define DIRECTORY_ENGINE "rocksdb"
#define DIRECTORY_IDENTITY DIRECTORY_ENGINE "/IDENTITY"
#define DIRECTORY_ORIGINAL "ORIGINAL"
#define DIRECTORY_RESTORING                                                    \
    "RESTORING" /* exists while a backup is restored                           \
                 */

/* Directories of bulks in progress: STORE/bulk-XXXXXX, with files and without
 * directories. Useful only to the process that made them. */
#define DIRECTORY_BULK "bulk-"

struct directory {
    int fd;        /* -1 when closed */
    int lock_fd;   /* -1: none, in a read-only copy without a lock file */
    bool is_store; /* has a record */
};

#define DIRECTORY_CLOSED                                                       \
    {                                                                          \
        -1, -1, false                                                          \
    }

/*
 * Opens and locks the directory at `path`, and creates it if `mode` allows
 * that. Fails with NOT_FOUND, EXISTS, BUSY (naming the process that has the
 * lock), INVALID (the directory is not a store, or a link to nothing) or IO. A
 * failure may leave a new directory that is empty or has a LOCK.
 */
COLANDER_CHECKED enum colander_code directory_open(struct directory *directory,
                                                   const char *path,
                                                   enum colander_open_mode mode,
                                                   struct colander_error *err);

/* Opens and locks a store that may have lost its record. Fails with INVALID if
 * there is no database. */
COLANDER_CHECKED enum colander_code
directory_open_damaged(struct directory *directory, const char *path,
                       bool is_writer, struct colander_error *err);

/* Fills the kept options from COLANDER, and the others with defaults. Fails as
 * options_decode, with CORRUPT if COLANDER is of another store, or with IO; all
 * are defaults then. */
COLANDER_CHECKED enum colander_code
directory_read_options(const struct directory *directory,
                       struct colander_options *options,
                       struct colander_error *err);

/* Writes rocksdb/IDENTITY if it is missing or empty and COLANDER has what was
 * in it. RocksDB would draw another one. */
COLANDER_CHECKED enum colander_code
directory_keep_identity(const struct directory *directory,
                        struct colander_error *err);

/* Replaces COLANDER as a whole, synced, unless it has these options and the
 * identity of the database. */
COLANDER_CHECKED enum colander_code
directory_write_options(struct directory *directory,
                        const struct colander_options *options,
                        struct colander_error *err);

/* Sets `text` to the text in ORIGINAL, 32 digits, or empties it if there is
 * none. With `creates`, which requires the lock of a writer, there is one
 * afterwards, synced. What is kept together with the text is thereby tied to
 * this directory: backups and restored stores do not have the file. */
COLANDER_CHECKED enum colander_code
directory_read_original(const struct directory *directory, bool creates,
                        struct colander_buffer *text,
                        struct colander_error *err);

/* Whether a directory of that name in a store is that of a bulk. */
bool directory_is_bulk(const char *name);

/* Calls `visit` for the name of each directory of a bulk. Stops and returns the
 * code of a visit that fails. */
enum colander_code directory_visit_bulks(
    const struct directory *directory,
    enum colander_code (*visit)(void *context, int directory, const char *name,
                                struct colander_error *err),
    void *context, struct colander_error *err);

/* Removes the directories of bulks. Requires the lock of a writer. */
void directory_remove_bulks(const struct directory *directory);

/* Releases the lock. A closed one is allowed. */
void directory_close(struct directory *directory);

#endif
