/*
 * Walks: all values of an encoded row, in its order, a container before its
 * members.
 *
 * A walk knows where it is, so the path of a value costs nothing until it is
 * asked for. It allocates nothing and checks what it passes.
 *
 * A trail follows a walk where paths are wanted. It builds only what differs
 * from the path before, and knows one that it has built: what is in an array
 * costs its path once, not once for every element.
 *
 * Its steps are inlined: every row is walked when it is written, flushed and
 * compacted.
 *
 * Life:   begin -> next until *is_value is false; offset and trail in between
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
    struct path_step step; /* to the member it is at */
    uint32_t left;         /* members to come */
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

/* Goes into a container of `count` members; for row_walk_next. */
static inline enum msgpack_result
row_walk_enter(struct row_walk *walk, bool is_map, uint32_t count)
{
    struct row_walk_level *level;

    if (walk->open == COLANDER_ROW_DEPTH_MAX)
        return MSGPACK_TOO_DEEP;
    level = &walk->levels[walk->open++];
    level->left = count;
    level->step.is_element = !is_map;
    level->step.name = colander_slice_of(NULL, 0);
    return MSGPACK_FINE;
}

/* Goes to the next member of the container that the walk is in; the same. */
static inline enum msgpack_result
row_walk_step(struct row_walk *walk, struct colander_value *value)
{
    struct row_walk_level *level = &walk->levels[walk->open - 1];
    enum msgpack_result result;
    uint32_t count;

    level->left--;
    if (!level->step.is_element) {
        result = msgpack_read_name(&walk->reader, &level->step.name);
        if (result != MSGPACK_FINE)
            return result;
    }
    walk->start = walk->reader.at;
    walk->depth = walk->open;
    result = msgpack_read(&walk->reader, value, &count);
    if (result != MSGPACK_FINE || value->type < COLANDER_ARRAY)
        return result;
    return row_walk_enter(walk, value->type == COLANDER_MAP, count);
}

/* Gives the next value; of a container only its type. *is_value is false at
 * the end. CORRUPT when the bytes are no row. */
COLANDER_CHECKED static inline enum colander_code
row_walk_next(struct row_walk *walk, struct colander_value *value,
              bool *is_value, struct colander_error *err)
{
    enum msgpack_result result;

    while (walk->open > 0 && walk->levels[walk->open - 1].left == 0)
        walk->open--;
    *is_value = walk->open > 0;
    if (!*is_value)
        return COLANDER_OK;
    result = row_walk_step(walk, value);
    if (result == MSGPACK_FINE)
        return COLANDER_OK;
    (void)msgpack_fail(result, COLANDER_CORRUPT, "row", err);
    return COLANDER_CORRUPT;
}

/* Where in the row the value given last begins. */
size_t row_walk_offset(const struct row_walk *walk);

struct row_trail_level {
    struct path_step step;
    size_t text_size; /* of the path down to here */
    bool is_told;     /* that path was given */
};

struct row_trail {
    struct colander_buffer text; /* the path of all levels */
    size_t depth;
    struct row_trail_level levels[COLANDER_ROW_DEPTH_MAX];
};

void row_trail_init(struct row_trail *trail);
void row_trail_release(struct row_trail *trail);

/* Gives the path of the value that the walk gave last, borrowed until the next
 * call. *is_new is false for some paths that were given before. */
COLANDER_CHECKED enum colander_code
row_trail_follow(struct row_trail *trail, const struct row_walk *walk,
                 struct colander_slice *path, bool *is_new,
                 struct colander_error *err);

#endif
