/*
 * Sources: stores whose rows are elsewhere. For the layers above only:
 * exported, but not installed.
 *
 * A store is a directory, or asks a source for rows. Such a store is read as
 * any other: by finds, orders, groups, scripts, exports. Writes to it fail with
 * READ_ONLY, and what looks at files fails with INVALID.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_SOURCE_H
#define COLANDER_COLUMNS_SOURCE_H

#include "columns/groups.h"

/*
 * What a store asks. A family is known by its name, and is empty if it does not
 * exist. Functions do what those of columns.h do that have the same names. Many
 * threads call them at once; a find is used by one, but for find_cancel. All
 * finds are closed before the store.
 */
struct colander_source {
    void *context;
    const char *name; /* in the place of a path */

    /* The store is closed. Frees the context. */
    void (*closed)(void *context);

    enum colander_code (*families)(void *context, struct colander_names *names,
                                   struct colander_error *err);
    enum colander_code (*snapshot)(void *context,
                                   struct colander_snapshot **snapshot,
                                   struct colander_error *err);

    enum colander_code (*exists)(void *context, const char *family,
                                 bool *exists, struct colander_error *err);
    enum colander_code (*sizes)(void *context, const char *family,
                                struct colander_family_sizes *sizes,
                                struct colander_error *err);
    enum colander_code (*split_keys)(void *context, const char *family,
                                     struct colander_buffer *keys, size_t count,
                                     size_t *found, struct colander_error *err);
    enum colander_code (*mark)(void *context, const char *family,
                               struct colander_slice name,
                               struct colander_buffer *value, bool *found,
                               struct colander_error *err);
    enum colander_code (*get_many)(void *context, const char *family,
                                   const struct colander_slice *keys,
                                   size_t count,
                                   const struct colander_read *read,
                                   struct colander_buffer *rows, bool *found,
                                   struct colander_error *err);

    /* Sets *bound to a value of the column such that about that many rows, if
     * there are as many, have values at or before it, in that order; its bytes
     * are those of `bytes`, which is empty. *found is false if that is not
     * known. NULL: it never is. */
    enum colander_code (*order_bound)(void *context, const char *family,
                                      const char *path, bool is_descending,
                                      uint64_t rows,
                                      struct colander_buffer *bytes,
                                      struct colander_value *bound, bool *found,
                                      struct colander_error *err);

    /* `query` is borrowed until find returns, but for what a query borrows.
     * Rows over its limit may be returned. */
    enum colander_code (*find)(void *context, const char *family,
                               const struct colander_query *query, void **find,
                               struct colander_error *err);
    enum colander_code (*find_next)(void *find, bool *is_row,
                                    struct colander_result *result,
                                    struct colander_error *err);
    enum colander_code (*find_seek)(void *find, struct colander_slice key,
                                    struct colander_error *err);
    void (*find_cancel)(void *find);
    void (*find_pause)(void *find, uint64_t time_us);
    void (*find_explain)(const void *find, struct colander_explain *explain);
    void (*find_close)(void *find);

    /* Groups rows where they are, of groups that may move (group_bytes.h).
     * group begins it, and does not wait; group_finish waits, and adds all rows
     * to the groups, which may change in between; group_close may come before.
     * `query`, which has no limit, and `groups` are borrowed until then. NULL:
     * rows are grouped here. */
    enum colander_code (*group)(void *context, const char *family,
                                const struct colander_query *query,
                                struct colander_groups *groups, void **grouping,
                                struct colander_error *err);
    enum colander_code (*group_finish)(void *grouping,
                                       struct colander_explain *explain,
                                       struct colander_error *err);
    void (*group_close)(void *grouping);
};

/* Opens a store with a source (copied), whose context the store owns, also if
 * this fails. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_store_open_source(const struct colander_source *source,
                           struct colander_store **store,
                           struct colander_error *err);

/* Returns whether the store has one: reads may then wait for other
 * processes. */
COLANDER_API bool colander_store_has_source(const struct colander_store *store);

/* Returns the store of the family. */
COLANDER_API struct colander_store *
colander_family_store(const struct colander_family *family);

/* Does what colander_family_exists does, but fails if it is not known. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_family_exists_there(struct colander_family *family, bool *exists,
                             struct colander_error *err);

/* Does what order_bound does, for any family. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_family_order_bound(
    struct colander_family *family, const char *path, bool is_descending,
    uint64_t rows, struct colander_buffer *bytes, struct colander_value *bound,
    bool *found, struct colander_error *err);

/* Rows that are being grouped: what colander_family_group does, in two steps,
 * so that several stores work at once. */
struct colander_group_run;

/* Begins it. Does not wait for a source. What is given is borrowed until
 * close. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_group_run_begin(
    struct colander_family *family, const struct colander_query *query,
    struct colander_groups *groups, struct colander_group_run **run,
    struct colander_error *err);

/* Adds the rows to the groups. Once. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_group_run_finish(struct colander_group_run *run,
                          struct colander_explain *explain,
                          struct colander_error *err);

/* Ends it, finished or not. NULL is allowed. */
COLANDER_API void colander_group_run_close(struct colander_group_run *run);

/* Counts the rows of a query without a limit, of a store with a source, where
 * they are. `is_cancelled` is called often; NULL: never cancelled. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_family_count_there(
    struct colander_family *family, const struct colander_query *query,
    bool (*is_cancelled)(void), uint64_t *count,
    struct colander_explain *explain, struct colander_error *err);

/* Adds the counts of another find to `sum`. Of the plans it keeps the one that
 * reads more. */
COLANDER_API void colander_explain_add(struct colander_explain *sum,
                                       const struct colander_explain *more);

#endif
