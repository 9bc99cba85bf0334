/*
 * Reading what another process has encoded with a row builder: one map, which
 * passes the row check, and whose first member is its version.
 *
 * Everything fails with INVALID if the bytes are not what is expected; `what`
 * says in the message what that is.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_DECODE_H
#define COLANDER_COLUMNS_DECODE_H

#include "columns/rows.h"

#define DECODE_VERSION "version" /* the name of the first member */

/* Begins to read the members that follow the version. Fails also with LIMIT. */
COLANDER_CHECKED enum colander_code
decode_begin(struct colander_members *members, struct colander_slice bytes,
             int version, struct colander_error *err);

/* Checks the type of a value. */
COLANDER_CHECKED enum colander_code
decode_expect(const struct colander_value *value, enum colander_type type,
              const char *what, struct colander_error *err);

/* Begins to read a value that is an array or a map. */
COLANDER_CHECKED enum colander_code
decode_enter(struct colander_members *members,
             const struct colander_value *value, enum colander_type type,
             const char *what, struct colander_error *err);

/* Reads the next element of an array. */
COLANDER_CHECKED enum colander_code
decode_next(struct colander_members *members, struct colander_value *value,
            struct colander_error *err);

/* The same; it has this type. */
COLANDER_CHECKED enum colander_code
decode_next_of(struct colander_members *members, enum colander_type type,
               const char *what, struct colander_value *value,
               struct colander_error *err);

/* The same; it is a whole number from 0 to before `end`. */
COLANDER_CHECKED enum colander_code
decode_number(struct colander_members *members, const char *what, uint64_t end,
              uint64_t *number, struct colander_error *err);

/* The same; it is one of the names. Sets *index to its number. */
COLANDER_CHECKED enum colander_code
decode_name(struct colander_members *members, const char *const *names,
            size_t count, const char *what, size_t *index,
            struct colander_error *err);

/* Returns the number of the name, or `count` if it is not there. */
size_t decode_find_name(const char *const *names, size_t count,
                        struct colander_slice name);

/* Appends a path, or another text, with a zero byte after it. */
COLANDER_CHECKED enum colander_code
decode_append_text(struct colander_buffer *out,
                   const struct colander_value *value,
                   struct colander_error *err);

#endif
