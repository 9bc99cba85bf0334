/*
 * Walks: all values of an encoded row, in its order, a container before its
 * members.
 *
 * A walk knows where it is, so the path of a value costs nothing until it is
 * asked for. It allocates nothing and checks what it passes.
 *
 * Life:   begin -> next until *is_value is false; is_at and path in between
 * Memory: values and names are borrowed from the row
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_ROW_WALK_H
#define COLANDER_ROW_WALK_H

#include "columns/msgpack.h"
#include "columns/path.h"

/* A container that the walk is in. */
struct row_walk_level {
    struct colander_slice name; /* of the member it is at, in a map */
    uint32_t left;              /* members to come */
    bool is_map;
};

struct row_walk {
    struct msgpack_reader reader;
    const uint8_t *row;
    const uint8_t *start; /* of the value given last */
    size_t depth;         /* levels around that value */
    size_t open;          /* levels around the next one, and ended ones */
    struct row_walk_level levels[COLANDER_ROW_DEPTH_MAX];
};

/* `row` is borrowed while the walk goes on. */
COLANDER_CHECKED enum colander_code row_walk_begin(struct row_walk *walk,
                                                   struct colander_slice row,
                                                   struct colander_error *err);

/* Gives the next value; of a container only its type. *is_value is false at
 * the end. CORRUPT when the bytes are no row. */
COLANDER_CHECKED enum colander_code row_walk_next(struct row_walk *walk,
                                                  struct colander_value *value,
                                                  bool *is_value,
                                                  struct colander_error *err);

/* Where in the row the value given last begins. */
size_t row_walk_offset(const struct row_walk *walk);

/* Whether the value given last is at `path`. */
bool row_walk_is_at(const struct row_walk *walk, const struct path *path);

/* Appends the path of the value given last. */
COLANDER_CHECKED enum colander_code
row_walk_append_path(const struct row_walk *walk, struct colander_buffer *text,
                     struct colander_error *err);

#endif
