/*
 * RocksDB's own functions for a family of a store, and a look inside the
 * engine: what no store offers its users.
 *
 * Every function ends the program if RocksDB fails.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_ROCKSDB_INSIDE_H
#define TESTS_SUPPORT_ROCKSDB_INSIDE_H

#include "core/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets a mutable option of the database. */
void rocksdb_set_option(struct engine_family *family, const char *name,
                        const char *value);

/* From now on files are compacted only on request. */
void rocksdb_stop_compactions(struct engine_family *family);

/* Waits until no flush or compaction is under way or due. */
void rocksdb_settle(struct engine_family *family);

/* Returns the number of files in a level. */
uint64_t rocksdb_files_at(struct engine_family *family, int level);

/* Compacts without rewriting files that can be moved as they are. */
void rocksdb_move_down(struct engine_family *family);

/* Moves the files of the last level to `level`, which must be empty. */
void rocksdb_move_to(struct engine_family *family, int level);

/* Compacts the files of the first level, without a flush. */
void rocksdb_compact_files(struct engine_family *family);

/* Writes rows in key order to an SST at `path`, as another program would. */
void rocksdb_write_sst(const char *path, const struct colander_slice *keys,
                       const struct colander_slice *rows, size_t count);

/* How RocksDB writes an SST. */
struct rocksdb_table {
    int compression; /* as RocksDB numbers them */
    uint64_t block_size;
    int restart_interval;
    bool has_partitioned_index;
    bool has_merges; /* every tenth row is one, which no store writes */
};

/* The same, but writes a deletion if the data of a row is NULL. */
void rocksdb_write_table(const char *path, const struct rocksdb_table *how,
                         const struct colander_slice *keys,
                         const struct colander_slice *rows, size_t count);

/* Returns the number of marks and records of all families. */
uint64_t rocksdb_count_items(struct engine *engine);

/* Makes an indexed batch that calls `pause` when it is written, after the
 * engine has seen that its families exist. */
void rocksdb_pause_batch(struct engine_batch *batch,
                         void (*pause)(void *context), void *context);

/* Returns which of two jobs, that began before a handle was kept and after,
 * must end before the handle is released: 1, 2 or both added. */
unsigned rocksdb_jobs_awaited(void);

/* Deletes a key that was put once. */
void rocksdb_single_delete(struct engine_family *family,
                           struct colander_slice key);

/* Visits all entries of the family's SST files by key, the newest of a key
 * first, with the types of RocksDB's entries. */
void rocksdb_visit_entries(struct engine_family *family,
                           void (*visit)(void *context,
                                         struct colander_slice key,
                                         struct colander_slice value,
                                         uint64_t sequence, int type),
                           void *context);

/* Visits its SST files. */
void rocksdb_visit_files(struct engine_family *family,
                         void (*visit)(void *context, const char *path,
                                       uint64_t entry_count),
                         void *context);

/* Copies such an SST into the family. */
void rocksdb_ingest(struct engine_family *family, const char *path);

#ifdef __cplusplus
}
#endif

#endif
