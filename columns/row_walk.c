/*
 * Walks: all values of an encoded row, in its order.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/row_walk.h"

static enum msgpack_result
enter(struct row_walk *walk, bool is_map, uint32_t count)
{
    struct row_walk_level *level;

    if (walk->open == COLANDER_ROW_DEPTH_MAX)
        return MSGPACK_TOO_DEEP;
    level = &walk->levels[walk->open++];
    level->left = count;
    level->is_map = is_map;
    return MSGPACK_FINE;
}

static enum msgpack_result
step(struct row_walk *walk, struct colander_value *value)
{
    struct row_walk_level *level = &walk->levels[walk->open - 1];
    enum msgpack_result result;
    uint32_t count;

    level->left--;
    if (level->is_map) {
        result = msgpack_read_name(&walk->reader, &level->name);
        if (result != MSGPACK_FINE)
            return result;
    }
    walk->start = walk->reader.at;
    walk->depth = walk->open;
    result = msgpack_read(&walk->reader, value, &count);
    if (result != MSGPACK_FINE || value->type < COLANDER_ARRAY)
        return result;
    return enter(walk, value->type == COLANDER_MAP, count);
}

enum colander_code
row_walk_begin(struct row_walk *walk, struct colander_slice row,
               struct colander_error *err)
{
    struct colander_value head;
    enum msgpack_result result;
    uint32_t count;

    walk->reader = msgpack_reader_of(row);
    walk->row = row.data;
    walk->start = row.data;
    walk->depth = 0;
    walk->open = 0;
    result = msgpack_read(&walk->reader, &head, &count);
    if (result != MSGPACK_FINE)
        return msgpack_fail(result, COLANDER_CORRUPT, "row", err);
    if (head.type != COLANDER_MAP)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "row is no map but of type %s",
                             colander_type_name(head.type));
    (void)enter(walk, true, count);
    return COLANDER_OK;
}

enum colander_code
row_walk_next(struct row_walk *walk, struct colander_value *value,
              bool *is_value, struct colander_error *err)
{
    enum msgpack_result result;

    while (walk->open > 0 && walk->levels[walk->open - 1].left == 0)
        walk->open--;
    *is_value = walk->open > 0;
    if (!*is_value)
        return COLANDER_OK;
    result = step(walk, value);
    if (result == MSGPACK_FINE)
        return COLANDER_OK;
    return msgpack_fail(result, COLANDER_CORRUPT, "row", err);
}

size_t
row_walk_offset(const struct row_walk *walk)
{
    return (size_t)(walk->start - walk->row);
}

bool
row_walk_is_at(const struct row_walk *walk, const struct path *path)
{
    if (walk->depth != path->count)
        return false;
    for (size_t i = 0; i < path->count; i++) {
        const struct row_walk_level *level = &walk->levels[i];
        const struct path_step *wanted = &path->steps[i];

        if (level->is_map == wanted->is_element)
            return false;
        if (level->is_map && !colander_slice_equal(level->name, wanted->name))
            return false;
    }
    return true;
}

enum colander_code
row_walk_append_path(const struct row_walk *walk, struct colander_buffer *text,
                     struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < walk->depth && code == COLANDER_OK; i++) {
        const struct row_walk_level *level = &walk->levels[i];

        if (!level->is_map) {
            code = colander_buffer_append(text, "[]", 2, err);
            continue;
        }
        if (i > 0)
            code = colander_buffer_append(text, ".", 1, err);
        if (code == COLANDER_OK)
            code = colander_path_append_name(text, level->name, err);
    }
    return code;
}
