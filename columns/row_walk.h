/*
 * Walks: all values of an encoded row in its order, a container before its
 * members.
 *
 * A walk allocates nothing and checks the bytes that it passes. It builds no
 * paths: a trail follows a walk and does that. A trail builds only the part
 * that differs from the previous path, and builds the path of an array once,
 * not once for every element.
 *
 * The steps are inlined, because every row is walked when it is written,
 * flushed and compacted.
 *
 * Life:   begin -> next until *is_value is false; offset and trail in between
 * Memory: values and names are borrowed from the row
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_ROW_WALK_H
#define COLANDER_COLUMNS_ROW_WALK_H

#include "columns/msgpack.h"
#include "columns/path.h"

/* A container that the walk is in. */
struct row_walk_level {
    struct path_step step; /* to its present member */
    uint32_t left;         /* members after that */
};

struct row_walk {
    struct msgpack_reader reader;
    const uint8_t *row;
    const uint8_t *start; /* of the present value */
    size_t depth;         /* levels around that value */
    size_t open;          /* levels around the next one, and ended ones */
    struct row_walk_level levels[COLANDER_ROW_DEPTH_MAX];
};

/* Begins a walk. `row` is borrowed until the end of it. */
COLANDER_CHECKED enum colander_code row_walk_begin(struct row_walk *walk,
                                                   struct colander_slice row,
                                                   struct colander_error *err);

/* Enters a container of `count` members. For row_walk_next only. */
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

/* Steps to the next member of the innermost container. For row_walk_next
 * only. */
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

/* Steps to the next value. Of a container only the type is set. *is_value is
 * false at the end. Fails with CORRUPT if the row is malformed. */
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

/* Returns the offset of the present value in the row. */
size_t row_walk_offset(const struct row_walk *walk);

struct row_trail_level {
    struct path_step step;
    size_t text_size; /* of the path down to here */
    bool is_returned; /* that path was */
};

struct row_trail {
    struct colander_buffer text; /* the path of all levels */
    size_t depth;
    struct row_trail_level levels[COLANDER_ROW_DEPTH_MAX];
};

void row_trail_init(struct row_trail *trail);
void row_trail_release(struct row_trail *trail);

/* Returns the path of the walk's present value. Valid until the next call.
 * *is_new is false for some paths that were returned before. */
COLANDER_CHECKED enum colander_code
row_trail_follow(struct row_trail *trail, const struct row_walk *walk,
                 struct colander_slice *path, bool *is_new,
                 struct colander_error *err);

#endif
