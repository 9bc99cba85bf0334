/*
 * Column path: a path taken into its steps.
 *
 * The library says what a path is; this follows.
 *
 * Life:    parse -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_COLUMN_PATH_H
#define LOADING_COLUMN_PATH_H

#include "columns/columns.h"

/* Into the column `name` of a map, or into every element of an array. */
struct column_step {
    struct colander_slice name; /* of a map step */
    bool is_element;
};

struct column_path {
    struct column_step *steps; /* with the names one allocation, owned */
    size_t count;
};

#define COLUMN_PATH_EMPTY                                                      \
    {                                                                          \
        NULL, 0                                                                \
    }

/* INVALID or LIMIT, with the position, for what is no path; then *path is
 * empty. */
COLANDER_CHECKED enum colander_code
column_path_parse(const char *text, struct column_path *path,
                  struct colander_error *err);

/* An empty path is allowed. */
void column_path_release(struct column_path *path);

/* Replaces `text` by the path as a C string: for the same steps the same,
 * however they were written. */
COLANDER_CHECKED enum colander_code
column_path_text(const struct column_path *path, struct colander_buffer *text,
                 struct colander_error *err);

/* Whether `text`, a path, is the one name `name`. */
bool column_path_is_name(const char *text, struct colander_slice name);

#endif
