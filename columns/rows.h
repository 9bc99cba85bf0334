/*
 * Rows: maps of named columns, and the paths that lead to their values.
 *
 * A row is one msgpack map. Its names are strings, and no name occurs twice in
 * a map. Values are scalars, arrays and maps. Each row has its own columns.
 *
 * Memory:  the words of core.h: owned, borrowed, copied, taken
 * Threads: a builder is used by one thread at a time
 * Bytes:   columns/FORMAT.md
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_ROWS_H
#define COLANDER_ROWS_H

#include "columns/values.h"
#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Checks whether `row` may be stored: one msgpack map with string names, none
 * twice in a map, none at the top called "_key", strings in UTF-8, within
 * limits.h, and no bytes after it. Fails with INVALID or LIMIT, and names the
 * path. This is the only function that reads a row as a whole. The others stop
 * as soon as they know their answer, and ignore bytes after the row.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_row_check(struct colander_slice row, struct colander_error *err);

/* ------------------------------------------------------------- builder --- */

/* Builds rows. A mistake, such as two columns with one name, is remembered and
 * reported by finish, so that building needs no checks in between. */
struct colander_row_builder;

/* Returns NULL if memory is short. */
COLANDER_API struct colander_row_builder *colander_row_builder_create(void);

/* Frees the builder. NULL is allowed. */
COLANDER_API void
colander_row_builder_destroy(struct colander_row_builder *builder);

/* Adds a column, or, inside an array, an element. `name` is any bytes; its data
 * is NULL for an element. Copies both. An ARRAY or MAP value is added by its
 * encoded bytes. */
COLANDER_API void
colander_row_builder_add_named(struct colander_row_builder *builder,
                               struct colander_slice name,
                               struct colander_value value);

/* Opens a map as a column or, if the data of `name` is NULL, as an element. */
COLANDER_API void
colander_row_builder_begin_map_named(struct colander_row_builder *builder,
                                     struct colander_slice name);

/* Opens an array in the same way. */
COLANDER_API void
colander_row_builder_begin_array_named(struct colander_row_builder *builder,
                                       struct colander_slice name);

/* Closes the innermost map or array. */
COLANDER_API void
colander_row_builder_end(struct colander_row_builder *builder);

/* Returns whether finish will fail, so that nothing more need be added. */
COLANDER_API bool
colander_row_builder_has_failed(const struct colander_row_builder *builder);

/* Returns in *row what was added since the last finish. Without additions it is
 * a row without columns. The row is borrowed until the builder is used again.
 * After a failure the builder is empty. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_row_builder_finish(struct colander_row_builder *builder,
                            struct colander_slice *row,
                            struct colander_error *err);

/* The three below take a C string as name, or NULL for an element. */

static inline struct colander_slice
colander_row_name(const char *name)
{
    return colander_slice_of(name, name == NULL ? 0 : strlen(name));
}

static inline void
colander_row_builder_add(struct colander_row_builder *builder, const char *name,
                         struct colander_value value)
{
    colander_row_builder_add_named(builder, colander_row_name(name), value);
}

static inline void
colander_row_builder_begin_map(struct colander_row_builder *builder,
                               const char *name)
{
    colander_row_builder_begin_map_named(builder, colander_row_name(name));
}

static inline void
colander_row_builder_begin_array(struct colander_row_builder *builder,
                                 const char *name)
{
    colander_row_builder_begin_array_named(builder, colander_row_name(name));
}

/* ------------------------------------------------------------- members --- */

/* Iterates over the members of one encoded map or array, without descending
 * into them. */
struct colander_members {
    const uint8_t *at;
    const uint8_t *end;
    uint32_t left; /* members not returned yet */
    bool is_map;
};

/* Starts an iteration over `container`: a row, or the `bytes` of an ARRAY or
 * MAP value. Fails with CORRUPT if it is neither. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_members_init(struct colander_members *members,
                      struct colander_slice container,
                      struct colander_error *err);

/* Returns the next member, borrowed from the container. *is_member is false at
 * the end. In an array `name` is empty. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_members_next(struct colander_members *members, bool *is_member,
                      struct colander_slice *name, struct colander_value *value,
                      struct colander_error *err);

/* --------------------------------------------------------------- paths --- */

/*
 * A path says where a value is in a row. It is a text: names joined by dots,
 * and [] for every element of an array. Examples: `user`, `user.name`,
 * `entities.hashtags[].text`, `matrix[][]`.
 *
 * In a name, a backslash makes the next character an ordinary one (`a\.b` is
 * the column named "a.b"), and \xHH is a byte. Arrays are entered only by []:
 * `tags[] = 'a'` looks inside the array `tags`, `tags = 'a'` does not.
 */

/* Returns the value at `path`, borrowed from the row. If the path leads to
 * several values, returns the first. *found is false if there is none. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_row_get(struct colander_slice row, const char *path,
                 struct colander_value *value, bool *found,
                 struct colander_error *err);

/* Sets `out` to the part of the row that `paths` lead to, nested and ordered as
 * in the row. `row` may not be in `out`. After a failure `out` is empty. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_row_select(struct colander_slice row, const char *const *paths,
                    size_t path_count, struct colander_buffer *out,
                    struct colander_error *err);

/* Appends `name`, escaped as in a path. The caller adds dots and []. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_path_append_name(struct colander_buffer *text,
                          struct colander_slice name,
                          struct colander_error *err);

/* Removes the backslashes of a path, for people to read. Bytes such as \x0a
 * stay as they are. The result is not a path. */
COLANDER_API void colander_path_make_plain(char *path);

/* Sets `out` to `row` patched as in RFC 7386: columns of `patch` replace those
 * of the row, maps are merged, null removes a column. An empty `row` slice
 * counts as a row without columns. Neither may be in `out`. After a failure
 * `out` is empty. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_row_patch(struct colander_slice row, struct colander_slice patch,
                   struct colander_buffer *out, struct colander_error *err);

/* Appends the row with its key as the first column "_key": the part, or an
 * array of the parts if there are several. The result is one map that holds
 * everything, for a file of rows. It is not a row that may be stored. After a
 * failure nothing is appended. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_row_append_keyed(struct colander_buffer *out,
                          struct colander_slice key, struct colander_slice row,
                          struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
