/*
 * The directory of a store: made private, locked, and marked by its record.
 *
 * A directory becomes a store when its record COLANDER is written, the last
 * step of creation: a directory with at most our own half-made files is as
 * good as empty, any other without a record is left alone.
 *
 * Files:  COLANDER  the record (options.h), replaced as a whole
 *         LOCK      locked for the life of the store; the writer's pid inside
 *         rocksdb/  the engine's own
 * Life:   open -> (engine opens rocksdb/) -> write_record -> close
 * Lock:   flock on LOCK: one writer, or any number of readers. Never the LOCK
 *         inside rocksdb/: opening and closing that frees RocksDB's own lock.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_DIRECTORY_H
#define COLANDER_CORE_DIRECTORY_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DIRECTORY_RECORD "COLANDER"
#define DIRECTORY_LOCK "LOCK"
#define DIRECTORY_ENGINE "rocksdb"
#define DIRECTORY_RESTORING "RESTORING" /* there while a backup is restored */

struct directory {
    int fd;        /* of the directory; -1 when closed */
    int lock_fd;   /* -1: none, in a read-only copy without a lock file */
    bool is_store; /* has a record */
};

#define DIRECTORY_CLOSED                                                       \
    {                                                                          \
        -1, -1, false                                                          \
    }

/*
 * Opens and locks the directory at `path`, made if `mode` allows. NOT_FOUND,
 * EXISTS, BUSY (with the holder), INVALID (something else is there) or IO.
 * On failure nothing is left behind but, perhaps, a directory that is empty or
 * holds a LOCK.
 */
COLANDER_CHECKED enum colander_code directory_open(struct directory *directory,
                                                   const char *path,
                                                   enum colander_open_mode mode,
                                                   struct colander_error *err);

/* The same for a directory that may have lost its record: INVALID where no
 * database is. */
COLANDER_CHECKED enum colander_code
directory_open_damaged(struct directory *directory, const char *path,
                       bool is_writer, struct colander_error *err);

/* Fills `record` with the content of COLANDER. */
COLANDER_CHECKED enum colander_code
directory_read_record(const struct directory *directory,
                      struct colander_buffer *record,
                      struct colander_error *err);

/* Replaces COLANDER, synced, all or nothing. */
COLANDER_CHECKED enum colander_code
directory_write_record(struct directory *directory,
                       struct colander_slice record,
                       struct colander_error *err);

/* Frees the lock. A closed one is allowed. */
void directory_close(struct directory *directory);

#ifdef __cplusplus
}
#endif

#endif
