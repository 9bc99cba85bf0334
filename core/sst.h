/*
 * SST files, for a layer that keeps something for each of them.
 *
 * An observer sees the rows of SST files while RocksDB writes them, and learns
 * when files are created and deleted. It does not know RocksDB: a file is a
 * number, which is not reused while the engine is open, and a family is an id.
 *
 * Calls, and when they come:
 *     writer_*    for each row of an SST that is written, in key order, in the
 *                 thread of a flush or compaction
 *     created     before the file is installed, so a list of files that is kept
 *                 by it never lacks a row. Also for a file that failed
 *     replaced    after a compaction is installed, with its input files. Their
 *                 rows are in files that were created before
 *     deleted     after the file was removed from disk
 *     flushed     after all writes of the family up to a sequence are in files
 *                 that were created before
 *
 * RocksDB's threads call observers, several at once, also while the engine is
 * opened and closed. An observer must not call the engine, except engine_path,
 * must not throw, and must not wait for a thread that does. A lock that it
 * takes is never held while the engine is called.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_SST_H
#define COLANDER_CORE_SST_H

#include "core/engine.h"

/* Bytes that an observer stores in an SST to identify it. */
#define SST_TAG_SIZE 16

/* An entry of an SST that is being written: a put or a delete. Borrowed. */
struct sst_entry {
    struct colander_slice key;
    struct colander_slice value;
    uint64_t block; /* offset of the block of data that will have it */
    bool is_put;
};

/* The block of an entry whose place is not known. */
#define SST_BLOCK_UNKNOWN UINT64_MAX

/* A new file. */
struct sst_created {
    uint32_t family;
    uint64_t number;
    uint64_t size;        /* bytes */
    uint64_t data_size;   /* of these, the first ones: blocks of data */
    uint64_t entry_count; /* puts and deletes, every version of a key */
    uint64_t joined_at;   /* the sequence of all rows of a file that was written
                           * outside the database; else 0 */
    uint64_t began;       /* clock_us() when writing it began; 0: unknown */
    bool has_joined;      /* it was written outside, and is installed */
    bool is_ok;           /* false: writing it failed, and it is not used */
    bool is_tagged;       /* its writer set a tag */
    bool is_passing;      /* as its writer was told */
    uint8_t tag[SST_TAG_SIZE];
};

struct sst_observer {
    void *context;

    /* Begins an SST. Returns what is passed to the next three functions, or
     * NULL if its rows are not wanted. `is_passing`: it is flushed because
     * memory is full; if that happens often, a compaction replaces it soon. */
    void *(*writer_begin)(void *context, uint32_t family, bool is_passing);

    /* Adds the next entry. Versions of one key come newest first. */
    void (*writer_add)(void *writer, const struct sst_entry *entry);

    /* Ends the entries. Fills `tag`, which is stored in the SST, or returns
     * false for no tag. Called once, unless the SST is abandoned. */
    bool (*writer_finish)(void *writer, uint8_t tag[SST_TAG_SIZE]);

    /* Destroys the writer, finished or not. */
    void (*writer_end)(void *writer);

    void (*created)(void *context, const struct sst_created *file);
    void (*replaced)(void *context, const uint64_t *numbers, size_t count);
    void (*deleted)(void *context, uint64_t number);
    void (*flushed)(void *context, uint32_t family, uint64_t sequence);
};

/* A live file. */
struct sst_info {
    uint32_t family;
    uint64_t number;
    uint64_t size;
    uint64_t data_size;        /* 0: not known */
    uint64_t entry_count;      /* 0: not known */
    uint64_t last_sequence;    /* the newest write in it */
    bool is_tag_known;         /* false: its properties cannot be read */
    uint8_t tag[SST_TAG_SIZE]; /* zeros: it has none */
};

/*
 * Calls `visit` for each live SST of every family. Stops and returns the code
 * of a visit that fails. Fails with NO_MEMORY or IO.
 */
COLANDER_CHECKED enum colander_code engine_ssts(
    struct engine *engine,
    enum colander_code (*visit)(void *context, const struct sst_info *file,
                                struct colander_error *err),
    void *context, struct colander_error *err);

/* The path of a live file. */
struct sst_place {
    uint64_t number;
    const char *path; /* relative to the store */
    bool has_rows;    /* false: it has the store's own records */
};

/* The same for the path of each file, including those without rows. No file is
 * deleted until the call returns. */
COLANDER_CHECKED enum colander_code engine_sst_places(
    struct engine *engine,
    enum colander_code (*visit)(void *context, const struct sst_place *file,
                                struct colander_error *err),
    void *context, struct colander_error *err);

/* -------------------------------------------------------------- backup --- */

#define SIDECAR_PATH_MAX 64

/* Files that another layer keeps for each SST. */
struct engine_sidecars {
    void *context;

    /* Fills `name` with the file that belongs to the SST of that number and
     * size, relative to the store. Returns false if there is none. */
    bool (*find)(void *context, uint64_t number, uint64_t size,
                 char name[SIDECAR_PATH_MAX]);

    /* Fills `name` with file `index` of those that belong to several SSTs.
     * Returns false if there is none. NULL: there are none. */
    bool (*more)(void *context, size_t index, char name[SIDECAR_PATH_MAX]);
};

/*
 * Copies the store, as it is at one moment, with the sidecars of its SSTs
 * (NULL: none), to a new backup in `directory` (backup.h), which is created if
 * needed. Then removes the oldest backups until `keep_count` are left (0: keeps
 * all). Writes wait only for the list of files. Fails with CORRUPT, and makes
 * no backup, if a copied file is damaged.
 */
COLANDER_CHECKED enum colander_code
engine_backup(struct engine *engine, const char *directory, uint64_t keep_count,
              const struct engine_sidecars *sidecars,
              struct colander_backup *made, struct colander_error *err);

/* The same to a target. */
COLANDER_CHECKED enum colander_code
engine_backup_to(struct engine *engine,
                 const struct colander_backup_target *target,
                 const struct engine_sidecars *sidecars,
                 struct colander_backup *made, struct colander_error *err);

/* ----------------------------------------------------------- sequences --- */

/* Returns the sequence of the newest acknowledged write of the store. */
uint64_t engine_sequence(const struct engine *engine);

/* Returns the sequence of the newest write that the snapshot sees. */
uint64_t snapshot_sequence(const struct colander_snapshot *snapshot);

/* ------------------------------------------------------------- reading --- */

/*
 * One open SST. Its blocks share the engine's cache, and it can be read after
 * the engine has deleted the file. Any number of threads may use it.
 */
struct sst;

/* Fails with NOT_FOUND if the file was deleted. Must be closed before the
 * engine. */
COLANDER_CHECKED enum colander_code sst_open(struct engine *engine,
                                             uint64_t number, struct sst **sst,
                                             struct colander_error *err);

/* NULL is allowed. */
void sst_close(struct sst *sst);

/* Fills the tag. Returns false if there is none. */
bool sst_tag(const struct sst *sst, uint8_t tag[SST_TAG_SIZE]);

/* Returns the number of puts and deletes, counting every version of a key. */
uint64_t sst_entry_count(const struct sst *sst);

/* Reads the file, and checks every byte and the place of every block. Fails
 * with NOT_FOUND if it was deleted, and otherwise with the first error. */
COLANDER_CHECKED enum colander_code sst_check(struct sst *sst,
                                              struct colander_error *err);

/* The same for a file that is not in an open store. */
COLANDER_CHECKED enum colander_code sst_check_file(const char *path,
                                                   struct colander_error *err);

/*
 * Visits all entries of a file of a store as an observer has seen them when it
 * was written: every version of each key, the newest first, and deletes. Stops
 * and returns the code of a visit that fails. Fails with CORRUPT if an entry
 * may be missing, with IO if it cannot be read, and with NOT_FOUND if the file
 * was deleted.
 */
COLANDER_CHECKED enum colander_code sst_entries_visit(
    const char *path,
    enum colander_code (*visit)(void *context, const struct sst_entry *entry,
                                struct colander_error *err),
    void *context, struct colander_error *err);

/*
 * Opens a cursor on the rows of one SST as a snapshot sees this file alone.
 * Newer versions and deletes in other files are not seen, so a row may be
 * stale. NULL as `snapshot` means the newest versions. SST and snapshot must
 * stay open until the cursor is closed.
 */
COLANDER_CHECKED enum colander_code
sst_cursor_open(struct sst *sst, const struct colander_snapshot *snapshot,
                bool is_reverse, struct engine_cursor **cursor,
                struct colander_error *err);

/* As engine_cursor_open, for the rows that are not in an SST yet. */
COLANDER_CHECKED enum colander_code engine_unflushed_cursor_open(
    struct engine_family *family, const struct engine_cursor_options *options,
    struct engine_cursor **cursor, struct colander_error *err);

/* ---------------------------------------------------------------- runs --- */

/*
 * A row can be read where it is known to be (core/sst_places.h), without a
 * search through the database. The runs say which other files may have a newer
 * version of it.
 */

/* A live file. Its keys, of puts and deletes, are from `first` to `last`. */
struct sst_in_run {
    uint64_t number;
    bool begins_run; /* false: it continues the run of the file before. Its keys
                      * are not below those of that file */
    struct colander_slice first;
    struct colander_slice last;
};

/* Visits the files of a family as they are at one moment, run by run. Of two
 * versions of a key, the newer one is visited first. Stops and returns the code
 * of a visit that fails. */
COLANDER_CHECKED enum colander_code engine_runs(
    struct engine_family *family,
    enum colander_code (*visit)(void *context, const struct sst_in_run *file,
                                struct colander_error *err),
    void *context, struct colander_error *err);

#define SST_PATH_MAX 4096

/* Fills the path of a file of the store. Returns false if it is too long. */
bool engine_sst_path(const struct engine *engine, uint64_t number,
                     char path[SST_PATH_MAX]);

/* Returns the hash of a key that sst_keys_may_have takes. */
uint64_t engine_key_hash(struct colander_slice key);

/* Takes `bytes` from the capacity of the engine's cache, for blocks that the
 * layer above keeps. Replaces what it has taken before. */
void engine_cache_lend(struct engine *engine, uint64_t bytes);

/* ------------------------------------------------------------- records --- */

/*
 * Small records of the layers above, in a column family of the store's own. A
 * name has 1 to 255 bytes. That of a record of one family ends in " of family
 * ID", so that a salvage can take it along.
 */

/* Fills `record`, or empties it and clears *found if there is none. */
COLANDER_CHECKED enum colander_code
engine_record_get(struct engine *engine, const char *name,
                  struct colander_buffer *record, bool *found,
                  struct colander_error *err);

/* Stores a copy, synced if the store syncs its writes. An empty record is
 * removed. */
COLANDER_CHECKED enum colander_code
engine_record_put(struct engine *engine, const char *name,
                  struct colander_slice record, struct colander_error *err);

/* --------------------------------------------------------------- marks --- */

/*
 * Small named values of a family, outside its rows. A drop of the family
 * removes them.
 */

/* Fills `value`, or empties it and clears *found if there is none. */
COLANDER_CHECKED enum colander_code
engine_mark_get(struct engine_family *family, struct colander_slice name,
                struct colander_buffer *value, bool *found,
                struct colander_error *err);

/* Adds the value to the batch. An empty value removes the mark. */
COLANDER_CHECKED enum colander_code
engine_batch_mark(struct engine_batch *batch, struct engine_family *family,
                  struct colander_slice name, struct colander_slice value,
                  struct colander_error *err);

#endif
