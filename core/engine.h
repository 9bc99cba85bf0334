/*
 * The engine: byte keys with byte values in families, over RocksDB.
 *
 * Life:    engine_open -> family_open -> batch, get, cursor -> close in any
 *          order, the engine last
 * Memory:  the words of core.h: owned, borrowed, copied, taken
 * Threads: engines, families and snapshots may be used by many threads at
 *          once; a batch or cursor by one thread at a time
 * Knows:   bytes. Rows, columns and values are the business of columns/.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_ENGINE_H
#define COLANDER_CORE_ENGINE_H

#include "core/core.h"

/* -------------------------------------------------------------- engine --- */

/* Sets `options` to those that a program has `given` (NULL: the defaults).
 * Fails as sized_accept does. */
COLANDER_CHECKED enum colander_code
options_accept(struct colander_options *options,
               const struct colander_options *given,
               struct colander_error *err);

/* What a layer above keeps for all stores of a budget. The first call creates
 * it; it is destroyed with the budget, to which each call that does not return
 * NULL (no memory) adds a reference. */
struct budget_part {
    void *(*create)(const struct colander_budget_options *options);
    void (*destroy)(void *part);
    /* Reports what it uses of descriptors and filter memory. */
    void (*use)(void *part, struct colander_budget_use *use);
};

void *budget_get_part(struct colander_budget *budget,
                      const struct budget_part *kind);

/* An open store of families. */
struct engine;
struct sst_observer;

/* A reference-counted family of keys with values. */
struct engine_family;

/*
 * Opens the store at `path` (copied). NULL as `options` means the defaults. The
 * observer (core/sst.h) is copied; NULL: none. Its context must live until the
 * engine is closed, and a read-only open makes no calls. The caller closes
 * *engine; on failure it is NULL. Never waits: fails with BUSY and names the
 * process that has the store open.
 */
COLANDER_CHECKED enum colander_code
engine_open(const char *path, const struct colander_options *options,
            const struct sst_observer *observer, struct engine **engine,
            struct colander_error *err);

/* The layers above are open too: no later open reports what was dropped. */
void engine_opened(struct engine *engine);

/*
 * Flushes every family and closes. Fails with BUSY, and leaves the engine open,
 * while a family reference, batch, cursor or snapshot is open. Any other
 * failure closes the engine and names what is not in SST files yet: such writes
 * are in the write-ahead log, and the next open restores them. NULL is allowed.
 */
COLANDER_CHECKED enum colander_code engine_close(struct engine *engine,
                                                 struct colander_error *err);

void engine_recovery(const struct engine *engine,
                     struct colander_recovery *recovery);

/* Fills the options in force, including those kept in the store. */
void engine_options(const struct engine *engine,
                    struct colander_options *options);

/* Returns who reads the SST files, or NULL. */
const struct colander_remote_files *engine_remote(const struct engine *engine);

/* Returns the absolute path, borrowed until close. */
const char *engine_path(const struct engine *engine);

/* Sets `text` to a random one that is tied to the directory of the store: no
 * backup or restored store has it. Empties it if there is none; with `creates`,
 * in a store that is open for writing, there is one afterwards. */
COLANDER_CHECKED enum colander_code
engine_original(struct engine *engine, bool creates,
                struct colander_buffer *text, struct colander_error *err);

COLANDER_CHECKED enum colander_code
engine_families(struct engine *engine, struct colander_names *names,
                struct colander_error *err);

/*
 * Opens a reference to the family `name`. A missing family is created; without
 * `create`, or in a read-only store, the call fails with NOT_FOUND. A name has
 * 1 to 255 bytes and no control characters.
 */
COLANDER_CHECKED enum colander_code
engine_family_open(struct engine *engine, const char *name, bool create,
                   struct engine_family **family, struct colander_error *err);

/* Releases the reference. NULL is allowed. */
void engine_family_close(struct engine_family *family);

/* Returns the id, which, unlike a name, is never reused in a store. */
uint32_t engine_family_id(const struct engine_family *family);

/* Returns the name, valid as long as the reference. */
const char *engine_family_name(const struct engine_family *family);

/* Renames the family, which keeps its id. All references stay valid, and names
 * that were returned before too. Is stored at once, with a sync. Fails with
 * INVALID if there is a family `name`. */
COLANDER_CHECKED enum colander_code
engine_family_rename(struct engine_family *family, const char *name,
                     struct colander_error *err);

/* Whether the family was dropped after the reference was opened. */
bool engine_family_is_dropped(const struct engine_family *family);

/* Whether all rows and deletes of the family are in SST files. */
bool engine_family_is_flushed(struct engine_family *family);

/* Whether the database slows writes down or stops them, and a compaction of the
 * family goes on, which may change that. */
bool engine_family_is_stalled(struct engine_family *family);

/*
 * Deletes the family and its rows. Waits for writes and flushes in progress and
 * stops compactions. Later calls through any reference fail with DROPPED. Open
 * cursors continue to read; the files stay on disk until these and all
 * references are closed. Snapshots do not keep a family.
 */
COLANDER_CHECKED enum colander_code
engine_family_drop(struct engine_family *family, struct colander_error *err);

COLANDER_CHECKED enum colander_code
engine_family_sizes(struct engine_family *family,
                    struct colander_family_sizes *sizes,
                    struct colander_error *err);

/* Returns how many bytes the keys and values of the family have at most, before
 * compression: more than they have while files have overwritten and deleted
 * ones. UINT64_MAX: it is not known. Reads no values. */
uint64_t engine_family_size_bound(struct engine_family *family);

/*
 * Finds split keys: existing keys, ascending, that divide the family into
 * `count` + 1 ranges of approximately equal size. The first key is none of
 * them. Finds fewer if blocks or the memtable are too coarse. Replaces the
 * content of keys[0] to keys[*found - 1].
 */
COLANDER_CHECKED enum colander_code
engine_family_split_keys(struct engine_family *family,
                         struct colander_buffer *keys, size_t count,
                         size_t *found, struct colander_error *err);

/* Writes unflushed keys to SST files, and waits until that is done. */
COLANDER_CHECKED enum colander_code
engine_family_flush(struct engine_family *family, struct colander_error *err);

/* Flushes, then rewrites all SST files into the fewest. */
COLANDER_CHECKED enum colander_code
engine_family_compact(struct engine_family *family, struct colander_error *err);

/* ----------------------------------------------------------- snapshots --- */

/* The caller releases *snapshot before the engine is closed. */
COLANDER_CHECKED enum colander_code
engine_snapshot_create(struct engine *engine,
                       struct colander_snapshot **snapshot,
                       struct colander_error *err);

/* Creates a snapshot that consists of those of several engines (taken, also if
 * this fails), and is released with them. */
COLANDER_CHECKED enum colander_code
engine_snapshot_join(struct colander_snapshot *const *parts, size_t count,
                     struct colander_snapshot **snapshot,
                     struct colander_error *err);

/* Returns that of the engine, or NULL if there is none. */
const struct colander_snapshot *
engine_snapshot_part(const struct colander_snapshot *snapshot,
                     const struct engine *engine);

/* --------------------------------------------------------------- reads --- */

/*
 * Fills `value` with the value of `key` in `snapshot` (NULL: now). For a
 * missing key, empties it and clears *found.
 */
COLANDER_CHECKED enum colander_code
engine_get(struct engine_family *family,
           const struct colander_snapshot *snapshot, struct colander_slice key,
           struct colander_buffer *value, bool *found,
           struct colander_error *err);

/* Reads `count` keys at once, all of one state of the family. On failure the
 * content of `values` and `found` is undefined. */
COLANDER_CHECKED enum colander_code engine_get_many(
    struct engine_family *family, const struct colander_snapshot *snapshot,
    const struct colander_slice *keys, size_t count,
    struct colander_buffer *values, bool *found, struct colander_error *err);

/* Values that are read at once and kept without a copy. Their blocks stay in
 * memory until then, even above the size of the cache. Must not outlive the
 * engine. */
struct engine_rows;

COLANDER_CHECKED enum colander_code
engine_rows_create(struct engine_rows **rows, struct colander_error *err);

/* NULL is allowed. */
void engine_rows_destroy(struct engine_rows *rows);

/* Replaces the values by those of `count` keys, all of one state of the family.
 * On failure there are none. */
COLANDER_CHECKED enum colander_code
engine_rows_read(struct engine_rows *rows, struct engine_family *family,
                 const struct colander_snapshot *snapshot,
                 const struct colander_slice *keys, size_t count,
                 struct colander_error *err);

/* Sets the value of key `index`, borrowed until the next read. Returns false if
 * there is none. */
bool engine_rows_get(const struct engine_rows *rows, size_t index,
                     struct colander_slice *value);

/* Returns the memory that a kept value may take: its block's or its own. */
size_t engine_rows_size(const struct engine_rows *rows, size_t index);

/* Releases all values. */
void engine_rows_clear(struct engine_rows *rows);

/* Iterates over the keys of one state of a family, in byte order. */
struct engine_cursor;

struct engine_cursor_options {
    const struct colander_snapshot *snapshot; /* NULL: now */
    struct colander_slice from;  /* inclusive lower bound; empty: none */
    struct colander_slice until; /* exclusive upper bound; empty: none */
    bool is_reverse;
    bool skips_cache; /* for long scans: does not replace cached blocks */
};

/* `options` are copied. */
COLANDER_CHECKED enum colander_code
engine_cursor_open(struct engine_family *family,
                   const struct engine_cursor_options *options,
                   struct engine_cursor **cursor, struct colander_error *err);

/*
 * Steps to the next key, or at first to the first. Clears *is_row, and empties
 * *key and *value, at the end. Both are borrowed until the next call. A damaged
 * file is an error, never an early end.
 */
COLANDER_CHECKED enum colander_code
engine_cursor_next(struct engine_cursor *cursor, bool *is_row,
                   struct colander_slice *key, struct colander_slice *value,
                   struct colander_error *err);

/* Moves to the first key from `key` on, or, in reverse, the last one up to it;
 * with `skips_key`, not to `key` itself. An empty key means the beginning. The
 * next step returns that key. */
COLANDER_CHECKED enum colander_code
engine_cursor_seek(struct engine_cursor *cursor, struct colander_slice key,
                   bool skips_key, struct colander_error *err);

/* NULL is allowed. */
void engine_cursor_close(struct engine_cursor *cursor);

/* -------------------------------------------------------------- writes --- */

/* Puts and deletes that are written atomically. */
struct engine_batch;

/* With `is_indexed`, engine_batch_get sees the content of the batch. */
COLANDER_CHECKED enum colander_code
engine_batch_create(struct engine *engine, bool is_indexed,
                    struct engine_batch **batch, struct colander_error *err);

/* NULL is allowed. */
void engine_batch_destroy(struct engine_batch *batch);

/* Copies key and value. */
COLANDER_CHECKED enum colander_code
engine_batch_put(struct engine_batch *batch, struct engine_family *family,
                 struct colander_slice key, struct colander_slice value,
                 struct colander_error *err);

COLANDER_CHECKED enum colander_code
engine_batch_delete(struct engine_batch *batch, struct engine_family *family,
                    struct colander_slice key, struct colander_error *err);

/* As engine_get, as if the batch, which must be indexed, were written now. */
COLANDER_CHECKED enum colander_code
engine_batch_get(struct engine_batch *batch, struct engine_family *family,
                 struct colander_slice key, struct colander_buffer *value,
                 bool *found, struct colander_error *err);

/*
 * Writes the batch, and empties it. Fails with DROPPED, and writes nothing, if
 * one of its families was dropped.
 */
COLANDER_CHECKED enum colander_code
engine_batch_write(struct engine_batch *batch,
                   enum colander_durability durability,
                   struct colander_error *err);

/* Returns the bytes of the encoded batch, without its index. */
size_t engine_batch_size(const struct engine_batch *batch);

/* Empties the batch. */
void engine_batch_clear(struct engine_batch *batch);

#endif
