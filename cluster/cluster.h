/*
 * Backups of stores as objects: in a directory, or in an S3 bucket.
 *
 *     files/HASH-SIZE-ID    a file of a store, named by its content
 *     backups/NUMBER-ID     a backup: the list of its files, and their objects
 *     making/ID             a backup that is being made
 *
 * The list is put last, so a backup is there as a whole or not at all. Files
 * whose content an earlier backup has are not sent again. FORMAT.md has the
 * bytes, and the rules of removal.
 *
 * Addresses are those of objects.h: file:///path and s3://bucket/prefix.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include "columns/upkeep.h"
#include "core/core.h"

#include <stdatomic.h>

/* Whether a word is meant as an address. */
bool cluster_is_address(const char *word);

/* Returns the end of an address that says which of the backups it is, "#" and a
 * number; NULL: it has none. */
const char *cluster_number_in(const char *address);

/* How a backup is made. Zeros are the defaults. */
struct cluster_backup_options {
    uint64_t
        keep_count;  /* then the oldest are removed until that many are left;
                          * 0: keeps all */
    uint64_t number; /* of the backup; 0: that after the highest */
    bool has_twins;  /* other stores may have the same rows and be sent to
                          * the same address */
    const atomic_bool *is_stopped; /* ends it with CANCELLED within some
                                    * seconds; NULL: never */
    bool tries_once; /* does without it if the first attempt of a request
                      * fails */
    bool sends_all;  /* relies on no object that is there, as some may be
                     * damaged, and replaces backups with its number */
};

/* Sends the store to a new backup. Then removes old ones, and files that no
 * backup has. In `made`, `copied` is what was sent. Fails with CORRUPT, and
 * makes no backup, if a file of the store is damaged, and with INVALID if the
 * backups there are of another store that is not a twin. */
COLANDER_CHECKED enum colander_code
cluster_backup(struct colander_store *store, const char *address,
               const struct cluster_backup_options *options,
               struct colander_backup *made, struct colander_error *err);

/* As colander_backup_restore. Checks each object, and names one that is damaged
 * or missing; if it is the list of the backup, also the newest backup whose
 * list can be read. Of several backups with the number, takes one that is
 * whole. `is_stopped` ends it with CANCELLED within some seconds; NULL: never.
 */
COLANDER_CHECKED enum colander_code
cluster_restore(const char *address, uint64_t number, const char *path,
                const atomic_bool *is_stopped, struct colander_backup *restored,
                struct colander_error *err);

struct cluster_backup {
    uint64_t number;
    int64_t made; /* in seconds since 1970 */
    uint64_t file_count;
    uint64_t size;       /* bytes of the files */
    const char *problem; /* why its list cannot be read, and there are no
                          * counts; NULL: it can */
};

/* Calls `visit` for each backup, the oldest first. `is_stopped` as above. */
COLANDER_CHECKED enum colander_code
cluster_list(const char *address, const atomic_bool *is_stopped,
             enum colander_code (*visit)(void *context,
                                         const struct cluster_backup *backup,
                                         struct colander_error *err),
             void *context, struct colander_error *err);

/* A backup that is read where it is. */
struct cluster_reader;

/* Prepares to open the backup at ADDRESS, the newest, or at ADDRESS#NUMBER.
 * Only small files are downloaded. */
COLANDER_CHECKED enum colander_code
cluster_reader_open(const char *address, struct cluster_reader **reader,
                    struct colander_error *err);

/* Close the store that was opened with it first. NULL is allowed. */
void cluster_reader_close(struct cluster_reader *reader);

/* Return what the store is opened with, for reading: its path, and the option
 * `remote`. Borrowed. */
const char *cluster_reader_path(const struct cluster_reader *reader);
const struct colander_remote_files *
cluster_reader_files(const struct cluster_reader *reader);

/* Returns when the backup was made, in seconds since 1970. */
int64_t cluster_reader_made(const struct cluster_reader *reader);

/* What was read so far. */
struct cluster_reads {
    uint64_t request_count; /* reads of objects that were sent */
    uint64_t fetched_size;  /* bytes of their answers */
    uint64_t cached_size;   /* bytes that were on the local disk */
};

struct cluster_reads cluster_reader_reads(struct cluster_reader *reader);

struct cluster_check {
    uint64_t backup_count;
    uint64_t object_count; /* read: those of all backups, each once */
    uint64_t size;         /* their bytes */
    uint64_t finding_count;
};

/* Reads the objects of all backups. Those that are damaged or missing are
 * passed to `report` and do not end the check. Backups that are removed
 * meanwhile are left out. */
COLANDER_CHECKED enum colander_code cluster_check(const char *address,
                                                  struct cluster_check *check,
                                                  colander_finding *report,
                                                  void *context,
                                                  struct colander_error *err);

#endif
