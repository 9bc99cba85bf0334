/*
 * Columns: rows of named values under keys, in families, in a store.
 *
 * A row is a msgpack map of columns under a key. Nobody declares columns: each
 * row has those it has. A find returns the rows that match a predicate, over
 * named columns or over any column, in key order.
 *
 * Life:    store_open -> family_open -> put, get, find -> cursor_close ->
 *          family_close -> store_close
 * Memory:  the words of core.h: owned, borrowed, copied, taken
 * Threads: stores, families, snapshots and predicates may be used by many
 *          threads at once; builders, batches and cursors by one at a time,
 *          except colander_cursor_cancel, which any thread may call
 * Values:  columns/values.h: scalars, and keys made of them
 * JSON:    columns/json.h: rows as text, and back
 * Bulk:    columns/bulk.h: all rows of a family at once, several times faster
 * Upkeep:  columns/upkeep.h: a store checked and copied as a whole
 * Bytes:   columns/FORMAT.md: keys and rows as they stand on disk
 * Knows:   nothing of how candidates for a find are found fast; complete
 *          without that
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_H
#define COLANDER_COLUMNS_H

#include "columns/bulk.h"
#include "columns/json.h"
#include "columns/limits.h"
#include "columns/upkeep.h"
#include "columns/values.h"
#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- rows --- */

/*
 * Says whether `row` may be stored: one msgpack map with string names, none
 * twice in a map, none at the top called "_key", strings in UTF-8, within
 * limits.h, nothing behind it. INVALID or LIMIT, with the path, when not.
 * Only this looks at all of a row: colander_row_get and
 * colander_predicate_evaluate read no further than they must, and never what
 * is behind its end.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_row_check(struct colander_slice row, struct colander_error *err);

/*
 * Builds a row. A mistake (two columns of one name, an end too many) is kept
 * and told by finish, so that building reads as straight lines.
 */
struct colander_row_builder;

/* NULL when memory is short. */
COLANDER_API struct colander_row_builder *colander_row_builder_create(void);

/* NULL is allowed. */
COLANDER_API void
colander_row_builder_destroy(struct colander_row_builder *builder);

/* Adds a column (inside a map) or, with `name` NULL, an element (in an array).
 * Copies. An ARRAY or MAP value is copied as its encoded bytes. */
COLANDER_API void colander_row_builder_add(struct colander_row_builder *builder,
                                           const char *name,
                                           struct colander_value value);

/* The same, with a name of any bytes. */
COLANDER_API void
colander_row_builder_add_named(struct colander_row_builder *builder,
                               struct colander_slice name,
                               struct colander_value value);

/* Opens a map or an array as a column or, with `name` NULL, an element; end
 * closes the innermost. */
COLANDER_API void
colander_row_builder_begin_map(struct colander_row_builder *builder,
                               const char *name);
COLANDER_API void
colander_row_builder_begin_array(struct colander_row_builder *builder,
                                 const char *name);

/* The same, with a name of any bytes. */
COLANDER_API void
colander_row_builder_begin_map_named(struct colander_row_builder *builder,
                                     struct colander_slice name);
COLANDER_API void
colander_row_builder_begin_array_named(struct colander_row_builder *builder,
                                       struct colander_slice name);
COLANDER_API void
colander_row_builder_end(struct colander_row_builder *builder);

/*
 * Gives the row of what was added since the last one, which may be nothing: a
 * row without columns. Borrowed until the builder is next used. On failure the
 * builder is empty.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_row_builder_finish(struct colander_row_builder *builder,
                            struct colander_slice *row,
                            struct colander_error *err);

/*
 * Appends the row as it is, but for its key as first column "_key": the part,
 * or an array of the parts when there are several. So one map holds all of it,
 * for a file of rows; to be stored again, the key must be taken out. On failure
 * nothing is appended.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_row_append_keyed(struct colander_buffer *out,
                          struct colander_slice key, struct colander_slice row,
                          struct colander_error *err);

/* Goes through the members of one encoded map or array; not into them. */
struct colander_members {
    const uint8_t *at;
    const uint8_t *end;
    uint32_t left; /* members not given yet */
    bool is_map;
};

/* `container` is a row, or the `bytes` of an ARRAY or MAP value; CORRUPT when
 * it is neither. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_members_init(struct colander_members *members,
                      struct colander_slice container,
                      struct colander_error *err);

/*
 * Gives the next member: borrowed from the container. *is_member is false at
 * the end. In an array `name` is empty.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_members_next(struct colander_members *members, bool *is_member,
                      struct colander_slice *name, struct colander_value *value,
                      struct colander_error *err);

/* --------------------------------------------------------------- paths --- */

/*
 * A path says where in a row a value sits, as text: names joined by dots, and
 * [] for every element of an array: `user`, `user.name`,
 * `entities.hashtags[].text`, `matrix[][]`. In a name, a backslash makes the
 * character behind it an ordinary one (`a\.b` is the column named "a.b"), and
 * \xHH is a byte. `tags = 'a'` does not look inside an array; `tags[] = 'a'`
 * does.
 *
 * Gives the value at `path` in `row`, borrowed from the row: the first one
 * where [] makes several. *found is false when there is none.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_row_get(struct colander_slice row, const char *path,
                 struct colander_value *value, bool *found,
                 struct colander_error *err);

/*
 * Replaces the content of `out` by the row cut down to `paths`: what they
 * lead to, nested as it was, in the order of the row. `row` may not be
 * `out`'s own bytes; on failure `out` is empty.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_row_select(struct colander_slice row, const char *const *paths,
                    size_t path_count, struct colander_buffer *out,
                    struct colander_error *err);

/*
 * Appends `name` to `text` as it must stand in a path: with a backslash where
 * one is needed. Joining with dots and [] is the caller's.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_path_append_name(struct colander_buffer *text,
                          struct colander_slice name,
                          struct colander_error *err);

/*
 * Replaces the content of `out` by `row` patched as in RFC 7386: columns of
 * `patch` replace those of the row, maps merge, null removes. An empty `row`
 * slice counts as a row without columns. Neither may be `out`'s own bytes; on
 * failure `out` is empty.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_row_patch(struct colander_slice row, struct colander_slice patch,
                   struct colander_buffer *out, struct colander_error *err);

/* ---------------------------------------------------------- predicates --- */

/*
 * A question about one row; immutable, so many threads may ask it. Made by
 * the functions below, which give NULL and fill `err` on failure and *take*
 * the predicates given to them, also then; a NULL among those makes them fail
 * and leaves `err` as it was. So a whole expression is checked once, at its
 * end. An operand given twice is INVALID, and more than limits.h allows is
 * LIMIT. Paths and values are copied.
 *
 * All but EXISTS and MISSING look at scalars: where the path leads to several
 * ([]), one that matches is enough. A comparison is between values of one
 * type (numbers are one): 'abc' < 5 and 'abc' >= 5 are both false, and NaN is
 * above every number. COLANDER_NE matches where there is a scalar that is not
 * equal, be it null or of another type; a row without a scalar at the path
 * matches neither EQ nor NE: for "not equal or missing" use not(EQ).
 */
struct colander_predicate;

enum colander_comparison {
    COLANDER_EQ,
    COLANDER_NE,
    COLANDER_LT,
    COLANDER_LE,
    COLANDER_GT,
    COLANDER_GE,
};

/* The scalar at `path` compared with `value`, a scalar (null: EQ and NE). */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where(const char *path, enum colander_comparison comparison,
               struct colander_value value, struct colander_error *err);

/* Equal to one of `values`; with none it matches nothing. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_in(const char *path, const struct colander_value *values,
                  size_t count, struct colander_error *err);

/* low <= the scalar <= high; both of one type. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_between(const char *path, struct colander_value low,
                       struct colander_value high, struct colander_error *err);

/* A string (or binary) that begins with the bytes of `prefix`, of its type. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_prefix(const char *path, struct colander_value prefix,
                      struct colander_error *err);

/* A string (or binary) that has the bytes of `part` in it, of its type. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_contains(const char *path, struct colander_value part,
                        struct colander_error *err);

/* Something is at `path`: a scalar, null, a map or an array. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_exists(const char *path, struct colander_error *err);

/* Nothing is at `path`. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_missing(const char *path, struct colander_error *err);

/* A null is at `path`; missing is not null. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_null(const char *path, struct colander_error *err);

/* Some scalar of the row, in whatever column at whatever depth, equals it. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_where_any(struct colander_value value, struct colander_error *err);

/* All of them; with none it matches every row. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_all_of(struct colander_predicate *const *predicates, size_t count,
                struct colander_error *err);

/* At least one; with none it matches nothing. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_any_of(struct colander_predicate *const *predicates, size_t count,
                struct colander_error *err);

/* The opposite. */
COLANDER_API COLANDER_CHECKED struct colander_predicate *
colander_not(struct colander_predicate *predicate, struct colander_error *err);

/* NULL is allowed. */
COLANDER_API void
colander_predicate_destroy(struct colander_predicate *predicate);

/* Paths of columns as text, in the order of the row, none twice. `is_cut` says
 * that some are left out: all would be over COLANDER_MATCHES_SIZE_MAX. */
struct colander_columns {
    const char *const *paths; /* borrowed from whoever gave the list */
    size_t count;
    bool is_cut;
};

/* Which columns matched; reused from row to row. */
struct colander_matches;

/* NULL when memory is short. */
COLANDER_API struct colander_matches *colander_matches_create(void);

/* NULL is allowed. */
COLANDER_API void colander_matches_destroy(struct colander_matches *matches);

/* The list of the last evaluation, borrowed until the next. */
COLANDER_API struct colander_columns
colander_matches_columns(const struct colander_matches *matches);

/*
 * Evaluates over the encoded row. `matches` (if any) is filled with the paths
 * of the scalars that made it true: nothing below a `not`, and nothing when
 * the answer is no. CORRUPT when the bytes are no row; it stops when the
 * answer is known, so damage behind that goes unseen, as do bytes behind the
 * row.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_predicate_evaluate(const struct colander_predicate *predicate,
                            struct colander_slice row, bool *is_match,
                            struct colander_matches *matches,
                            struct colander_error *err);

/* ------------------------------------------------- stores and families --- */

struct colander_store;

/* A set of rows; dropped as a whole. */
struct colander_family;

/* As colander_engine_open. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_open(const char *path, const struct colander_options *options,
                    struct colander_store **store, struct colander_error *err);

/* As colander_engine_close: BUSY, and still open, while something made from
 * the store is; other failures say what is only in the write-ahead log. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_close(struct colander_store *store, struct colander_error *err);

/* The options in force. */
COLANDER_API void colander_store_options(const struct colander_store *store,
                                         struct colander_options *options);

/* What opening it had to drop. A store whose log is damaged so that later
 * writes stand behind is not opened: CORRUPT. */
COLANDER_API void colander_store_recovery(const struct colander_store *store,
                                          struct colander_recovery *recovery);

/* The names of all families. Release with colander_names_release. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_families(struct colander_store *store,
                        struct colander_names *names,
                        struct colander_error *err);

/* A state of the whole store. Release with colander_snapshot_release. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_snapshot(struct colander_store *store,
                        struct colander_snapshot **snapshot,
                        struct colander_error *err);

/*
 * A handle for the family `name`, which need not exist: until its first write
 * it reads as empty, and that write creates it. Names: 1 to 255 bytes of
 * UTF-8 without control characters.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_open(struct colander_store *store, const char *name,
                     struct colander_family **family,
                     struct colander_error *err);

/* NULL is allowed. */
COLANDER_API void colander_family_close(struct colander_family *family);

/* Borrowed until the handle is closed. */
COLANDER_API const char *
colander_family_name(const struct colander_family *family);

/* Whether the family exists: that which the handle has met, or else one of its
 * name (now: others may create and drop). */
COLANDER_API bool colander_family_exists(struct colander_family *family);

/* Creates the family without writing a row; fine when it exists. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_create(struct colander_family *family,
                       struct colander_error *err);

/*
 * Deletes the family with its rows; NOT_FOUND when there is none. Every handle
 * that had met it says DROPPED from then on; cursors that are open go on,
 * snapshots do not keep it. A new handle may create a new family of that name.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_drop(struct colander_family *family,
                     struct colander_error *err);

COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_flush(struct colander_family *family,
                      struct colander_error *err);

COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_compact(struct colander_family *family,
                        struct colander_error *err);

/* All zero for a family that does not exist. key_count is the approximate
 * number of rows. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_sizes(struct colander_family *family,
                      struct colander_family_sizes *sizes,
                      struct colander_error *err);

/* Gives up to `count` keys of rows that part the family into runs of about as
 * many bytes, ascending, the first row's not among them: as
 * colander_engine_family_spread. None for a family that does not exist. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_spread(struct colander_family *family,
                       struct colander_buffer *keys, size_t count,
                       size_t *found, struct colander_error *err);

/* -------------------------------------------------------------- writes --- */

/* Puts `row`, replacing what is under `key`. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_put(struct colander_family *family, struct colander_slice key,
                    struct colander_slice row,
                    enum colander_durability durability,
                    struct colander_error *err);

/*
 * Changes only the columns named in `patch`, as in RFC 7386; a missing row is
 * created. Atomic: of two patches of one row at once, neither is lost.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_patch(struct colander_family *family, struct colander_slice key,
                      struct colander_slice patch,
                      enum colander_durability durability,
                      struct colander_error *err);

/* Deletes the row; a missing one is fine. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_family_delete(
    struct colander_family *family, struct colander_slice key,
    enum colander_durability durability, struct colander_error *err);

/*
 * Which keys. Empty slices bound nothing. `prefix` is whole parts: the key
 * {"sensor-7"} is a prefix of {"sensor-7", 5}, and of itself, not of
 * {"sensor-70"}. `from` is the first key, `to` the last: it and all it is a
 * prefix of are in the range.
 */
struct colander_key_range {
    struct colander_slice prefix;
    struct colander_slice from;
    struct colander_slice to;
};

/*
 * Deletes the rows in `range` (NULL: all), and counts them in *deleted (if
 * given, also on failure). In key order, some thousand rows at a time, each
 * lot atomic: if it fails midway the rows so far are gone, and it may be
 * repeated. Rows put meanwhile may stay.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_delete_range(struct colander_family *family,
                             const struct colander_key_range *range,
                             enum colander_durability durability,
                             uint64_t *deleted, struct colander_error *err);

/* Writes to any families of one store that happen together or not at all. */
struct colander_batch;

COLANDER_API COLANDER_CHECKED enum colander_code
colander_batch_create(struct colander_store *store,
                      struct colander_batch **batch,
                      struct colander_error *err);

/* What was not committed is forgotten. NULL is allowed. */
COLANDER_API void colander_batch_destroy(struct colander_batch *batch);

/* These copy; nothing is written before commit. A later one sees what earlier
 * ones of the batch did. The family handle stays open until commit. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_batch_put(struct colander_batch *batch, struct colander_family *family,
                   struct colander_slice key, struct colander_slice row,
                   struct colander_error *err);
COLANDER_API COLANDER_CHECKED enum colander_code
colander_batch_patch(struct colander_batch *batch,
                     struct colander_family *family, struct colander_slice key,
                     struct colander_slice patch, struct colander_error *err);
COLANDER_API COLANDER_CHECKED enum colander_code
colander_batch_delete(struct colander_batch *batch,
                      struct colander_family *family, struct colander_slice key,
                      struct colander_error *err);

/*
 * Sets the mark `name` of the family (see colander_family_mark); an empty value
 * removes it. So what a program knows of its own writes, as how far it is in
 * some file, is written with them or not at all.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_batch_mark(struct colander_batch *batch,
                    struct colander_family *family, struct colander_slice name,
                    struct colander_slice value, struct colander_error *err);

/* As colander_batch_put, for a row that was checked: colander_row_check took
 * it, or a JSON reader or row builder gave it. It is not looked at again; any
 * other row would be stored as it is, and be CORRUPT when it is read. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_batch_put_checked(struct colander_batch *batch,
                           struct colander_family *family,
                           struct colander_slice key, struct colander_slice row,
                           struct colander_error *err);

/* Forgets what was added. */
COLANDER_API void colander_batch_clear(struct colander_batch *batch);

/* How many writes it holds. */
COLANDER_API size_t colander_batch_count(const struct colander_batch *batch);

/* Writes all or nothing. The batch is empty afterwards if it succeeded, and
 * as it was if not; families that it would have created may then exist, empty.
 * After IO, as on a full disk, the store may take no writes until it is opened
 * again (docs/reliability.md), and this one may then be there. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_batch_commit(struct colander_batch *batch,
                      enum colander_durability durability,
                      struct colander_error *err);

/* --------------------------------------------------------------- reads --- */

/* What a get reads. NULL instead of one: all columns, now. */
struct colander_read {
    const struct colander_snapshot *snapshot; /* NULL: now */
    const char *const *paths;                 /* columns wanted; NULL: all */
    size_t path_count;
};

/* Fills `row`, or empties it when there is none: *found tells. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_get(struct colander_family *family, struct colander_slice key,
                    const struct colander_read *read,
                    struct colander_buffer *row, bool *found,
                    struct colander_error *err);

/* The same for `count` keys, all in one state of the store. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_family_get_many(
    struct colander_family *family, const struct colander_slice *keys,
    size_t count, const struct colander_read *read,
    struct colander_buffer *rows, bool *found, struct colander_error *err);

/* A mark is a small value beside the rows of a family, which no find and no
 * scan sees; gone with the family. Fills `value`, or empties it when there is
 * none: *found tells. Names: any bytes, within limits.h. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_mark(struct colander_family *family, struct colander_slice name,
                     struct colander_buffer *value, bool *found,
                     struct colander_error *err);

/* Which rows, and what of them. Start from colander_query_init. */
struct colander_query {
    const struct colander_predicate *where;   /* NULL: every row; borrowed */
    struct colander_key_range keys;           /* borrowed until find returns */
    const struct colander_snapshot *snapshot; /* NULL: now */
    const char *const *paths; /* columns wanted; NULL: all; borrowed */
    size_t path_count;
    uint64_t limit;     /* rows at most; UINT64_MAX: no limit (the default) */
    bool is_reverse;    /* from the last key to the first */
    bool tells_columns; /* which columns matched; costs a little */
    bool is_timed;      /* count microseconds; costs a little */
    uint32_t thread_count; /* that read a large result: 0: the cores (default);
                            * 1: the caller's alone */
};

/* Every row, all columns, now, in key order. */
COLANDER_API void colander_query_init(struct colander_query *query);

/* The rows of a query, one by one. */
struct colander_cursor;

/* One row of a find; all borrowed until the next step. */
struct colander_result {
    struct colander_slice key; /* encoded */
    struct colander_slice row;
    struct colander_columns columns; /* that matched, if asked for */
};

/*
 * Starts a find; `query` NULL asks for every row. `query->where`, `snapshot`
 * and `paths` stay the caller's and must live until the cursor is closed.
 * *cursor is closed before the family.
 */
COLANDER_API COLANDER_CHECKED enum colander_code colander_family_find(
    struct colander_family *family, const struct colander_query *query,
    struct colander_cursor **cursor, struct colander_error *err);

/* Gives the next row; *is_row is false at the end. CANCELLED if cancelled. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_cursor_next(struct colander_cursor *cursor, bool *is_row,
                     struct colander_result *result,
                     struct colander_error *err);

/* Makes the step under way, or the next one, say CANCELLED. Any thread, also
 * a signal handler; mind that a handler may run in one of the engine's threads
 * while yours closes the cursor. */
COLANDER_API void colander_cursor_cancel(struct colander_cursor *cursor);

/* How a find goes about it. */
enum colander_plan {
    COLANDER_PLAN_SCAN,       /* reads every row of the key range */
    COLANDER_PLAN_CANDIDATES, /* reads rows that value filters point to */
    COLANDER_PLAN_NOTHING,    /* no row can match: reads none */
};

/* The plan of a find as a word: "scan", "candidates", "nothing". */
COLANDER_API const char *colander_plan_name(enum colander_plan plan);

/*
 * The plan of a find, and what it has done so far. The counts add up:
 *     file_count      = files_pruned + files_located + files_read
 *     candidate_count = rows_returned + rows_gone + rows_false (plus up to
 *                       one lot that is not verified yet)
 */
struct colander_explain {
    enum colander_plan plan;
    const char *reason;     /* for the plan, a clause; static storage */
    uint64_t rows_expected; /* candidates, as the plan estimates them */

    uint64_t file_count;      /* SST files of the family */
    uint64_t files_pruned;    /* the hierarchy says: no such value */
    uint64_t files_located;   /* locator or zones say: no such row */
    uint64_t files_read;      /* may hold rows that match */
    uint64_t files_unsure;    /* of those read: without a usable filter */
    uint64_t segments_read;   /* runs of rows read from SST files */
    uint64_t recent_found;    /* candidates among rows in no SST yet */
    uint64_t candidate_count; /* different keys to verify */

    uint64_t rows_read;     /* rows looked at, in SST files or a scan */
    uint64_t rows_verified; /* candidates read as the snapshot has them */
    uint64_t rows_returned; /* rows that matched */
    uint64_t rows_gone;     /* candidates that the snapshot does not have */
    uint64_t rows_false;    /* candidates that do not match in it */
    uint64_t bytes_read;    /* of rows read and verified */

    /* microseconds, when the query is timed */
    uint64_t plan_time;   /* planning, hierarchy and locators */
    uint64_t read_time;   /* reading segments, or scanning */
    uint64_t verify_time; /* reading candidates and evaluating them */
};

/* Of the find so far. The plan is made when the find starts. */
COLANDER_API void colander_cursor_explain(const struct colander_cursor *cursor,
                                          struct colander_explain *explain);

/* A column that matched, and in how many of the rows returned. Only when the
 * query tells columns; false behind the last. Borrowed until the next step. */
COLANDER_API bool colander_cursor_matched(const struct colander_cursor *cursor,
                                          size_t index, const char **path,
                                          uint64_t *row_count);

/* NULL is allowed. */
COLANDER_API void colander_cursor_close(struct colander_cursor *cursor);

/* Counts the rows of a query exactly (paths and reverse do not matter); NULL:
 * of the family. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_count(struct colander_family *family,
                      const struct colander_query *query, uint64_t *count,
                      struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
