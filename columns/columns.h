/*
 * Columns: stores of rows, and how rows are written, read and found.
 *
 * A store is a directory. It holds families of rows. A row is a map of named
 * columns under a key. Columns are not declared: each row has its own. A find
 * returns the rows that match a predicate, over named columns or over any
 * column, in key order.
 *
 * Life:    store_open -> family_open -> put, get, find -> cursor_close ->
 *          family_close -> store_close
 * Memory:  core.h defines the words owned, borrowed, copied and taken
 * Threads: stores, families, snapshots and predicates may be used by many
 *          threads at once. Builders, batches and cursors are used by one
 *          thread at a time, except colander_cursor_cancel.
 * Parts:   values.h      scalars, and keys that consist of scalars
 *          rows.h        rows, and the paths to their values
 *          predicates.h  conditions on rows
 *          words.h       conditions, keys and times as text
 *          json.h        rows to and from JSON
 *          retention.h   deleting rows that have become old
 *          partitions.h  families for each hour, day or month
 *          bulk.h        filling an empty family fast
 *          upkeep.h      checking, backing up and salvaging a store
 *          limits.h      limits on rows, keys and batches
 *          core.h        options, errors, buffers and slices, snapshots
 * Example: examples/hello.c stores rows and finds some
 * Format:  columns/FORMAT.md has the bytes of keys and rows
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_H
#define COLANDER_COLUMNS_H

#include "columns/bulk.h"
#include "columns/json.h"
#include "columns/limits.h"
#include "columns/partitions.h"
#include "columns/predicates.h"
#include "columns/retention.h"
#include "columns/rows.h"
#include "columns/upkeep.h"
#include "columns/values.h"
#include "columns/words.h"
#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------- stores --- */

struct colander_store;

/* Opens the store at `path` (copied). Creates it if it is missing, unless
 * `options` forbid that. `options` NULL means the defaults. On success *store
 * is the caller's to close; on failure it is NULL. Never waits: fails with
 * BUSY, and names the other process, if one has the store open for writing; to
 * open for writing, also if one has it open for reading. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_open(const char *path, const struct colander_options *options,
                    struct colander_store **store, struct colander_error *err);

/*
 * Writes unflushed rows to SST files and closes the store. Fails with BUSY, and
 * leaves the store open, while a family, batch, bulk, cursor or snapshot of it
 * is open. After any other failure the store is closed. The message then says
 * which writes are only in the write-ahead log; the next open recovers them.
 * NULL is allowed.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_close(struct colander_store *store, struct colander_error *err);

/* Returns the absolute path of the store, borrowed until it is closed. */
COLANDER_API const char *
colander_store_path(const struct colander_store *store);

/* Sets `options` to the options in force. Call colander_store_options instead,
 * which passes `struct_size`. So programs that were compiled with an older
 * header run with a newer library. */
COLANDER_API void
colander_store_options_sized(const struct colander_store *store,
                             struct colander_options *options,
                             size_t struct_size);

static inline void
colander_store_options(const struct colander_store *store,
                       struct colander_options *options)
{
    colander_store_options_sized(store, options, sizeof(*options));
}

/* Reports in `recovery` what was dropped when the store was opened: an
 * incomplete write at the end of the write-ahead log or, if a power failure
 * lost a write in it, all writes after that one. (Any other damage of a log
 * makes colander_store_open fail with CORRUPT.) */
COLANDER_API void colander_store_recovery(const struct colander_store *store,
                                          struct colander_recovery *recovery);

/* Returns the names of all families. Release with colander_names_release. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_families(struct colander_store *store,
                        struct colander_names *names,
                        struct colander_error *err);

/* Takes a snapshot of the whole store. Release with colander_snapshot_release,
 * before the store is closed. COLANDER_COMPACTION_FIFO removes the oldest rows
 * of a family from snapshots, too. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_snapshot(struct colander_store *store,
                        struct colander_snapshot **snapshot,
                        struct colander_error *err);

/* Writes the unflushed rows of all families to SST files, and returns when that
 * is done. Fails with READ_ONLY in a store that is open for reading. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_flush(struct colander_store *store, struct colander_error *err);

/* ------------------------------------------------------------ families --- */

/* A handle for a family, which is a set of rows. */
struct colander_family;

/* Returns a handle for the family `name`, which need not exist. It reads as
 * empty until its first write, which creates it. A name has 1 to 255 bytes of
 * UTF-8 without control characters. Close the handle before the store. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_open(struct colander_store *store, const char *name,
                     struct colander_family **family,
                     struct colander_error *err);

/* Closes the handle. NULL is allowed. */
COLANDER_API void colander_family_close(struct colander_family *family);

/* Returns the name, borrowed until the handle is closed. After a rename it is
 * the new name, and that returned before is still valid. */
COLANDER_API const char *
colander_family_name(const struct colander_family *family);

/* Returns whether the handle's family exists. The first call that finds or
 * creates a family with the handle's name binds the handle to that family; this
 * may already be colander_family_open. Once that family is dropped, returns
 * false forever, even if a new family has the name. */
COLANDER_API bool colander_family_exists(struct colander_family *family);

/* Creates the family without writing a row. Also succeeds if it exists. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_create(struct colander_family *family,
                       struct colander_error *err);

/* Deletes the family with its rows. Fails with NOT_FOUND if it does not exist.
 * Calls with this and other handles that are bound to the family then fail with
 * DROPPED, even if a new family gets the same name. Open cursors continue. A
 * snapshot does not preserve the family. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_drop(struct colander_family *family,
                     struct colander_error *err);

/* Renames the family. Handles that are bound to it stay so; snapshots have it
 * under its new name. A killed process or a power failure leaves the old name
 * or the new one. Fails with NOT_FOUND if the family does not exist, and with
 * INVALID if there is a family `name`. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_rename(struct colander_family *family, const char *name,
                       struct colander_error *err);

/* Writes the family's unflushed rows to SST files, and returns when that is
 * done. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_flush(struct colander_family *family,
                      struct colander_error *err);

/* Flushes, then rewrites the family's SST files into as few as possible. A
 * family of a store with the option COLANDER_COMPACTION_FIFO is only flushed.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_compact(struct colander_family *family,
                        struct colander_error *err);

/* Returns the sizes of the family, all zero if it does not exist. key_count is
 * approximately the number of rows. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_sizes(struct colander_family *family,
                      struct colander_family_sizes *sizes,
                      struct colander_error *err);

/*
 * Finds up to `count` keys that split the family into parts of about equal
 * size, for example to read it with several threads or to sample it. Stores the
 * first keys of the second and all later parts, in ascending order, in keys[0],
 * ..., keys[*found - 1]: so there are *found + 1 parts. *found is less than
 * `count` if the family is too small for more parts.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_split_keys(struct colander_family *family,
                           struct colander_buffer *keys, size_t count,
                           size_t *found, struct colander_error *err);

/* -------------------------------------------------------------- writes --- */

/* Writes `row` under `key`. Replaces the row if there is one. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_put(struct colander_family *family, struct colander_slice key,
                    struct colander_slice row,
                    const struct colander_write_options *options,
                    struct colander_error *err);

/* Writes a row from the text of a JSON object (see colander_json_reader_row).
 * Its member "_key" is the key. Without that member the row gets a new key.
 * Sets `key`, unless it is NULL, to the encoded key. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_put_json(struct colander_family *family, const char *json,
                         struct colander_buffer *key,
                         const struct colander_write_options *options,
                         struct colander_error *err);

/* Writes `row` if there is no row under `key`. Sets *is_inserted to true if it
 * wrote the row. If several threads insert the same key, exactly one writes it.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_insert(struct colander_family *family,
                       struct colander_slice key, struct colander_slice row,
                       const struct colander_write_options *options,
                       bool *is_inserted, struct colander_error *err);

/* Changes only the columns named in `patch`, as in RFC 7396. Creates the row if
 * it is missing. Two concurrent patches of one row both take effect. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_patch(struct colander_family *family, struct colander_slice key,
                      struct colander_slice patch,
                      const struct colander_write_options *options,
                      struct colander_error *err);

/* Deletes the row. Succeeds if there is none. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_family_delete(
    struct colander_family *family, struct colander_slice key,
    const struct colander_write_options *options, struct colander_error *err);

/*
 * A range of keys: those that meet all bounds. An empty slice sets no bound.
 *
 * `prefix` consists of whole parts: the key {"sensor-7"} is a prefix of
 * {"sensor-7", 5} and of itself, but not of {"sensor-70"}. The range begins at
 * `from` and ends at `to`, both included; keys that begin with all parts of
 * `to` are also in it. Neither needs to be the key of a row. With `exact`, the
 * range has no other key.
 */
struct colander_key_range {
    struct colander_slice prefix;
    struct colander_slice from;
    struct colander_slice to;
    struct colander_slice exact;
};

/*
 * Deletes the rows in `range`, or all rows if it is NULL. Sets *deleted,
 * unless `deleted` is NULL, to the number of rows deleted, even after a
 * failure. Deletes a few thousand rows at a time, in key order. Each of these
 * steps is atomic, but the call is not: after a failure some rows are deleted,
 * and another call deletes the rest. Rows that other threads write during the
 * call may remain.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_delete_range(struct colander_family *family,
                             const struct colander_key_range *range,
                             const struct colander_write_options *options,
                             uint64_t *deleted, struct colander_error *err);

/* ------------------------------------------------------------- batches --- */

/* A list of writes to families of one store: all are stored, or none. */
struct colander_batch;

/* Creates an empty batch. Destroy it before the store is closed. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_batch_create(struct colander_store *store,
                      struct colander_batch **batch,
                      struct colander_error *err);

/* Frees the batch without committing it. NULL is allowed. */
COLANDER_API void colander_batch_destroy(struct colander_batch *batch);

/* Adds a put, and copies its bytes. Nothing is written before commit, which
 * applies the writes in the order in which they were added. The family handle
 * must stay open until commit. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_batch_put(struct colander_batch *batch, struct colander_family *family,
                   struct colander_slice key, struct colander_slice row,
                   struct colander_error *err);

/* Adds a patch. See colander_batch_put. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_batch_patch(struct colander_batch *batch,
                     struct colander_family *family, struct colander_slice key,
                     struct colander_slice patch, struct colander_error *err);

/* Adds a delete. See colander_batch_put. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_batch_delete(struct colander_batch *batch,
                      struct colander_family *family, struct colander_slice key,
                      struct colander_error *err);

/* Adds a write of the mark `name`, a small value that belongs to the family and
 * not to a row. An empty value removes it. A program can use marks to record
 * its progress, such as its position in a file, atomically with the rows. See
 * colander_family_mark. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_batch_mark(struct colander_batch *batch,
                    struct colander_family *family, struct colander_slice name,
                    struct colander_slice value, struct colander_error *err);

/* Removes all writes from the batch. */
COLANDER_API void colander_batch_clear(struct colander_batch *batch);

/* Returns the number of writes in the batch. */
COLANDER_API size_t colander_batch_count(const struct colander_batch *batch);

/*
 * Stores all writes of the batch, or none. On success the batch is empty
 * afterwards. On failure it is unchanged, and families that it would have
 * created may exist without rows.
 *
 * After a failure with IO, for example on a full disk, it is unknown whether
 * the batch is stored, and the store may refuse writes. Close the store and
 * open it again: it then has all writes of the batch, or none
 * (docs/reliability.md).
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_batch_commit(struct colander_batch *batch,
                      const struct colander_write_options *options,
                      struct colander_error *err);

/* --------------------------------------------------------------- reads --- */

/* What a get reads. NULL instead of this struct means all columns of the
 * row as it is now. */
struct colander_read {
    const struct colander_snapshot *snapshot; /* NULL: now */
    const char *const *paths;                 /* columns; NULL: all */
    size_t path_count;
};

/* Sets rows[i] to the row under keys[i], for `count` keys, all from one state
 * of the store. If there is none, found[i] is false and rows[i] is empty. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_family_get_many(
    struct colander_family *family, const struct colander_slice *keys,
    size_t count, const struct colander_read *read,
    struct colander_buffer *rows, bool *found, struct colander_error *err);

/* Sets `row` to the row under `key`, in the same way. */
COLANDER_CHECKED static inline enum colander_code
colander_family_get(struct colander_family *family, struct colander_slice key,
                    const struct colander_read *read,
                    struct colander_buffer *row, bool *found,
                    struct colander_error *err)
{
    return colander_family_get_many(family, &key, 1, read, row, found, err);
}

/* Sets `value` to the mark `name`. If there is none, *found is false and
 * `value` is empty. A mark is a small value that belongs to a family but to
 * none of its rows: no find returns it, and it is dropped with the family. Its
 * name may be any bytes, as many as limits.h allows. See colander_batch_mark.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_mark(struct colander_family *family, struct colander_slice name,
                     struct colander_buffer *value, bool *found,
                     struct colander_error *err);

/* Sets `path` to the path of the family's time column, a C string. If the
 * family has none, *found is false and `path` is empty. The time column is a
 * note for programs: the command line finds rows by it (--since, --until). It
 * is a mark of the family. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_time_column(struct colander_family *family,
                            struct colander_buffer *path, bool *found,
                            struct colander_error *err);

/* Sets the time column; "" removes it. Fails with INVALID if `path` is not a
 * path. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_set_time_column(struct colander_store *store,
                                struct colander_family *family,
                                const char *path, struct colander_error *err);

/* --------------------------------------------------------------- finds --- */

/* Which rows a find returns, and which columns of them. Start from
 * colander_query_init. */
struct colander_query {
    size_t struct_size; /* set by colander_query_init */

    const struct colander_predicate *where;   /* NULL: every row; borrowed */
    struct colander_key_range keys;           /* borrowed until find returns */
    const struct colander_snapshot *snapshot; /* NULL: now; borrowed */
    const char *const *paths; /* columns to return; NULL: all; borrowed */
    size_t path_count;
    uint64_t limit;        /* maximum number of rows; default UINT64_MAX */
    bool is_reverse;       /* from the last key to the first */
    bool keys_only;        /* returns rows without columns: only keys */
    bool reports_columns;  /* returns which columns matched; slower */
    bool is_timed;         /* measures the times in colander_explain; slower */
    uint32_t thread_count; /* threads that read a large result;
                              default 0: one per core */
    const char *map;    /* NULL: rows are returned; or else the texts of two */
    const char *reduce; /* functions, see colander_result; borrowed until the
                         * cursor is closed. Not with a limit */
};

/* Sets the defaults: every row, all columns, now, in key order. */
COLANDER_API void colander_query_init_sized(struct colander_query *query,
                                            size_t struct_size);

static inline void
colander_query_init(struct colander_query *query)
{
    colander_query_init_sized(query, sizeof(*query));
}

/* Iterates over the rows of a query. */
struct colander_cursor;

/* One row of a find, borrowed until the cursor moves or is closed. If the query
 * has `map` and `reduce`, functions in Lua as docs/lua.md describes them, a
 * store that asks other processes may return in place of some rows what these
 * make of them: a result without a key, whose row has it as "value" unless it
 * is nil. */
struct colander_result {
    struct colander_slice key; /* encoded */
    struct colander_slice row;
    struct colander_columns columns; /* those that matched, if the query has
                                        reports_columns */
};

/* Starts a find. `query` NULL means every row. What the query borrows, except
 * the keys, must live until the cursor is closed. Close the cursor before the
 * family. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_family_find(
    struct colander_family *family, const struct colander_query *query,
    struct colander_cursor **cursor, struct colander_error *err);

/* Returns the next row. *is_row is false at the end. Fails with CANCELLED after
 * colander_cursor_cancel. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_cursor_next(struct colander_cursor *cursor, bool *is_row,
                     struct colander_result *result,
                     struct colander_error *err);

/*
 * Moves the cursor to `key`, forward or back. The next row returned is the
 * first one of the query at or after `key`; in a reverse query, at or before
 * it. An empty slice moves to the first row of the query. Rows that were
 * returned before still count towards `limit`. The cursor still reads the store
 * as it was when the find started. A seek may reset the counts of
 * colander_cursor_explain. Fails with INVALID if `key` is not a valid encoded
 * key, and with CANCELLED after a cancel. A failed seek leaves the cursor
 * without a position: seek again before colander_cursor_next.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_cursor_seek(struct colander_cursor *cursor, struct colander_slice key,
                     struct colander_error *err);

/* Makes a call of colander_cursor_next that is running, and all later ones,
 * fail with CANCELLED. May be called from any thread, and from a signal
 * handler. The cursor must stay open until this call returns. */
COLANDER_API void colander_cursor_cancel(struct colander_cursor *cursor);

/* Pauses the cursor after that time: next fails with BUSY where it would read
 * one more row, and continues there when it is called again. 0 ends the pause,
 * or what would become one. So a thread that must not wait reads as far as it
 * gets, and another one the rest. */
COLANDER_API void colander_cursor_pause(struct colander_cursor *cursor,
                                        uint64_t time_us);

/* Closes the cursor. NULL is allowed. */
COLANDER_API void colander_cursor_close(struct colander_cursor *cursor);

/* Counts the rows that the query would return, at most its `limit`. `query`
 * NULL counts all rows of the family. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_count(struct colander_family *family,
                      const struct colander_query *query, uint64_t *count,
                      struct colander_error *err);

/* Sets *first and *last to the least and the greatest TIMESTAMP at `path`.
 * Values of other types do not count. *found is false if there is none. With
 * value filters few rows are read; without them all are. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_time_range(struct colander_family *family, const char *path,
                           struct colander_value *first,
                           struct colander_value *last, bool *found,
                           struct colander_error *err);

/* Describes one of the columns that have matched so far: `index` counts them
 * from 0. Sets *path to the column's path, and *row_count to the number of
 * returned rows in which it matched. Returns false if there are fewer columns;
 * without reports_columns there are none. *path is borrowed until the cursor
 * moves or is closed. */
COLANDER_API bool colander_cursor_matched(const struct colander_cursor *cursor,
                                          size_t index, const char **path,
                                          uint64_t *row_count);

/* --------------------------------------------------------------- order --- */

/* How rows are ordered. Start from colander_order_init. */
struct colander_order {
    size_t struct_size; /* set by colander_order_init */

    const char *path;   /* of the column */
    bool is_descending; /* from the greatest value to the least */
    uint64_t limit;     /* only this many rows, the first; UINT64_MAX: all */
    size_t size_max;    /* bytes that the rows may take; SIZE_MAX: any */
    bool (*is_cancelled)(void); /* called often; NULL: never cancelled */
    const char *directory; /* borrowed; for a file of the rows that take more
                            * than size_max; NULL: they are an error */
};

/* Sets the defaults: all rows, ascending, of any size. */
COLANDER_API void colander_order_init_sized(struct colander_order *order,
                                            size_t struct_size);

static inline void
colander_order_init(struct colander_order *order)
{
    colander_order_init_sized(order, sizeof(*order));
}

/*
 * Rows of finds, in the order of the values of a column (colander_value_compare
 * in values.h; of several values at the path the first counts). Rows without
 * the column come last. Rows with equal values keep the order in which they
 * were added. Holds all rows in memory, or, with a limit, only those that are
 * the first so far. Those that take more than `size_max` are sorted and written
 * to a file without a name, if there is a directory for it, and merged at the
 * end.
 */
struct colander_ordered;

/* Creates an empty list. `order` is copied. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_ordered_create(const struct colander_order *order,
                        struct colander_ordered **ordered,
                        struct colander_error *err);

/*
 * Starts the next find of rows that may be the first ones. Begin with a new
 * list and *cursor NULL; add the rows that the cursor returns, or those of them
 * that are wanted, while the list is not sated; then call this again with the
 * same arguments. It closes the cursor and opens another one, until *is_done:
 * then the list has the first rows, and *cursor, still open, is that of the
 * last find. Close it before the list is destroyed. After a failure it is NULL.
 *
 * With a limit and value filters, the first find has rows within a value near
 * the beginning of the order; the next ones go further if these were not
 * enough. All read one state of the store.
 */
COLANDER_API COLANDER_CHECKED enum colander_code colander_ordered_find(
    struct colander_ordered *ordered, struct colander_family *family,
    const struct colander_query *query, struct colander_cursor **cursor,
    bool *is_done, struct colander_error *err);

/* Returns whether no more rows of the cursor of colander_ordered_find need be
 * added. Adding them does no harm. */
COLANDER_API bool
colander_ordered_is_sated(const struct colander_ordered *ordered);

/* Adds a row (copied), before any is returned. Fails with LIMIT if the rows
 * that are held take more than `size_max` and there is no directory. After a
 * failure the list can only be destroyed. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_ordered_add(struct colander_ordered *ordered,
                     const struct colander_result *row,
                     struct colander_error *err);

/* Returns how many bytes of memory the rows take that are held. */
COLANDER_API size_t
colander_ordered_size(const struct colander_ordered *ordered);

/* Returns the next row, borrowed until the next call. *is_row is false at the
 * end. Fails with CANCELLED once `is_cancelled` returns true. After a failure
 * the list can only be destroyed. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_ordered_next(struct colander_ordered *ordered, bool *is_row,
                      struct colander_result *row, struct colander_error *err);

/* Frees the rows. NULL is allowed. */
COLANDER_API void colander_ordered_destroy(struct colander_ordered *ordered);

/* ------------------------------------------------------------- changes --- */

/*
 * Deletes all rows that `query` returns. Sets *count, unless `count` is NULL,
 * to the number of rows deleted, even after a failure.
 *
 * Rows are deleted in batches of up to 1,000, in the order of the query. A
 * batch is stored completely or not at all; after a failure or a crash, those
 * before it remain deleted. The query reads the store as it was at the start of
 * the call. If another thread has changed a row since, it is deleted only if it
 * still matches `where` of the query: rows are locked, read again and evaluated
 * just before their batch is written.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_delete_found(struct colander_family *family,
                             const struct colander_query *query,
                             const struct colander_write_options *options,
                             uint64_t *count, struct colander_error *err);

/* Changes the columns named in `patch` in all rows that `query` returns. See
 * colander_family_delete_found for the rest, and colander_family_patch. No row
 * is created: a row that was deleted since is left out. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_family_patch_found(
    struct colander_family *family, const struct colander_query *query,
    struct colander_slice patch, const struct colander_write_options *options,
    uint64_t *count, struct colander_error *err);

/* The same step by step, for a caller that shows progress, or that selects rows
 * itself: changes of rows that a find has returned. */
struct colander_changes;

/* Starts changes of rows in `family`: patches, or deletes if `patch` (copied)
 * is empty. Rows that do not match `where` (borrowed; NULL: every row) when
 * they are written are left out. Destroy the changes before the family is
 * closed. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_changes_create(
    struct colander_family *family, const struct colander_predicate *where,
    struct colander_slice patch, const struct colander_write_options *options,
    struct colander_changes **changes, struct colander_error *err);

/* Adds the row under `key` (copied). Writes a batch when enough are added. A
 * failure leaves the rows of the batch as they were, or, if it is IO, as after
 * colander_batch_commit; then only destroy may be called. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_changes_add(struct colander_changes *changes,
                     struct colander_slice key, struct colander_error *err);

/* Writes the rows that are added and not written yet. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_changes_commit(struct colander_changes *changes,
                        struct colander_error *err);

/* Returns the number of rows that are written. */
COLANDER_API uint64_t
colander_changes_count(const struct colander_changes *changes);

/* Frees the changes; rows that are not written are left as they are. NULL is
 * allowed. */
COLANDER_API void colander_changes_destroy(struct colander_changes *changes);

/*
 * Copies the rows that `query` (NULL: every row) returns into the family `to`
 * of this or another store, and the time column. `to` must have no rows, and is
 * created if it does not exist. All rows become visible at once (bulk.h). Sets
 * *row_count, unless `row_count` is NULL, to their number. Other marks are not
 * copied.
 *
 * `goes_on`, unless it is NULL, is called every 1,000 rows with the number of
 * rows read. If it returns false, the call fails with CANCELLED. After a
 * failure `to` has no rows, and does not exist if it did not before; a killed
 * process may leave it without rows.
 */
COLANDER_API COLANDER_CHECKED enum colander_code colander_family_copy(
    struct colander_family *from, const struct colander_query *query,
    struct colander_family *to,
    bool (*goes_on)(void *context, uint64_t row_count), void *context,
    uint64_t *row_count, struct colander_error *err);

/* ------------------------------------------------------------- explain --- */

/* How a find gets its rows. */
enum colander_plan {
    COLANDER_PLAN_SCAN,       /* reads every row of the key range */
    COLANDER_PLAN_CANDIDATES, /* reads the rows that value filters point to */
    COLANDER_PLAN_NOTHING,    /* no row can match: reads none */
};

/* Returns the plan as a word: "scan", "candidates", "nothing". */
COLANDER_API const char *colander_plan_name(enum colander_plan plan);

/* Bytes for the words that are named, with the zero byte. */
#define COLANDER_EXPLAIN_WORDS 104

/*
 * The plan of a find and its work so far. The counts add up:
 *     file_count      = files_pruned + files_located + files_read
 * and, with COLANDER_PLAN_CANDIDATES, when all candidates are verified:
 *     candidate_count = rows_returned + rows_gone + rows_false
 */
struct colander_explain {
    size_t struct_size; /* bytes that the library filled */

    enum colander_plan plan;
    const char *reason;     /* why this plan, in a few words; static storage */
    uint64_t rows_expected; /* candidates, as the plan estimates them */

    uint64_t file_count;      /* SST files of the family */
    uint64_t files_pruned;    /* ruled out by the hierarchy in memory */
    uint64_t files_located;   /* others: filters on disk located no match */
    uint64_t files_read;      /* the rest: may contain matching rows */
    uint64_t files_unsure;    /* of those read: without a usable filter */
    uint64_t segments_read;   /* runs of rows read to find candidates */
    uint64_t recent_found;    /* candidates among rows in no SST file yet */
    uint64_t candidate_count; /* different keys to verify */

    uint64_t rows_read;     /* in segments, or by a scan */
    uint64_t rows_verified; /* candidates that were read */
    uint64_t rows_returned; /* rows that matched */
    uint64_t rows_gone;     /* candidates whose row does not exist */
    uint64_t rows_false;    /* candidates whose rows do not match */
    uint64_t bytes_read;    /* of rows read and verified */

    /* microseconds, if the query is timed */
    uint64_t plan_time;   /* planning: reading filters */
    uint64_t read_time;   /* reading segments, or scanning */
    uint64_t verify_time; /* reading candidates and evaluating them */

    uint64_t rows_direct; /* of rows_verified: read where a filter has found
                           * them, without a search through the database */

    /* Words that have in them what was looked for, of all dictionaries of
     * filters, and the first ones, joined by ", ". */
    uint64_t words_found;
    char some_words[COLANDER_EXPLAIN_WORDS];

    /* of a cluster; all 0 for a store alone */
    uint64_t store_count;       /* partitions that are read as one */
    uint64_t stores_unasked;    /* of these: no key that is wanted can be in */
    uint64_t stores_pruned;     /* others that have nothing to read */
    uint64_t nodes_asked;       /* other nodes */
    uint64_t nodes_asked_again; /* times that a second one was asked, as the
                                 * first had failed or was late */
};

/* Sets `explain` to the plan, which is made when the find starts, and to the
 * counts so far. See colander_store_options about `struct_size`. */
COLANDER_API void
colander_cursor_explain_sized(const struct colander_cursor *cursor,
                              struct colander_explain *explain,
                              size_t struct_size);

static inline void
colander_cursor_explain(const struct colander_cursor *cursor,
                        struct colander_explain *explain)
{
    colander_cursor_explain_sized(cursor, explain, sizeof(*explain));
}

#ifdef __cplusplus
}
#endif

#endif
