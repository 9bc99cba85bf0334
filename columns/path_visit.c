/*
 * Paths: following them through encoded rows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/msgpack.h"
#include "columns/path.h"

struct walk {
    const struct path *path;
    path_visitor *visit;
    void *context;
    bool is_stopped;
};

/* Moves to the value named `name` in the map that the reader is at: *found is
 * false when there is none, or no map. */
static enum msgpack_result
enter_name(struct msgpack_reader *reader, struct colander_slice name,
           bool *found)
{
    struct colander_value value;
    struct colander_slice other;
    enum msgpack_result result;
    uint32_t count;

    *found = false;
    result = msgpack_read(reader, &value, &count);
    if (result != MSGPACK_FINE || value.type != COLANDER_MAP)
        return result;
    for (; count > 0 && result == MSGPACK_FINE; count--) {
        result = msgpack_read_name(reader, &other);
        if (result != MSGPACK_FINE)
            return result;
        if (colander_slice_equal(other, name)) {
            *found = true;
            return MSGPACK_FINE;
        }
        result = msgpack_skip(reader);
    }
    return result;
}

static enum msgpack_result
walk_from(struct walk *walk, struct msgpack_reader *reader, size_t index);

/* Each element is passed twice, by the walk and by the skip: so the walk may
 * stop wherever it has seen enough. */
static enum msgpack_result
walk_elements(struct walk *walk, struct msgpack_reader *reader, size_t index)
{
    struct msgpack_reader element;
    struct colander_value value;
    enum msgpack_result result;
    uint32_t count;

    result = msgpack_read(reader, &value, &count);
    if (result != MSGPACK_FINE || value.type != COLANDER_ARRAY)
        return result;
    for (; count > 0 && result == MSGPACK_FINE; count--) {
        element = *reader;
        result = walk_from(walk, &element, index + 1);
        if (result != MSGPACK_FINE || walk->is_stopped)
            return result;
        result = msgpack_skip(reader);
    }
    return result;
}

/* Follows the steps from `index` on; recursion is as deep as the path. */
static enum msgpack_result
walk_from(struct walk *walk, struct msgpack_reader *reader, size_t index)
{
    const struct path *path = walk->path;
    struct colander_value value;
    enum msgpack_result result;
    bool found = true;

    for (; index < path->count; index++) {
        if (path->steps[index].is_element)
            return walk_elements(walk, reader, index);
        result = enter_name(reader, path->steps[index].name, &found);
        if (result != MSGPACK_FINE || !found)
            return result;
    }
    result = msgpack_read_whole(reader, &value);
    if (result == MSGPACK_FINE)
        walk->is_stopped = !walk->visit(walk->context, &value);
    return result;
}

enum colander_code
path_visit(const struct path *path, struct colander_slice row,
           path_visitor *visit, void *context, struct colander_error *err)
{
    struct walk walk = {path, visit, context, false};
    struct msgpack_reader reader = msgpack_reader_of(row);
    enum msgpack_result result;

    if (row.size > 0 && (*row.data & 0xf0) != 0x80 &&
        (*row.data & 0xfe) != 0xde)
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "row is not a map");
    result = walk_from(&walk, &reader, 0);
    if (result != MSGPACK_FINE)
        return msgpack_fail(result, COLANDER_CORRUPT, "row", err);
    return COLANDER_OK;
}

struct first {
    struct colander_value *value;
    bool *found;
};

static bool
keep_first(void *context, const struct colander_value *value)
{
    struct first *first = context;

    *first->value = *value;
    *first->found = true;
    return false;
}

enum colander_code
colander_row_get(struct colander_slice row, const char *path,
                 struct colander_value *value, bool *found,
                 struct colander_error *err)
{
    struct path parsed = PATH_EMPTY;
    struct first first = {value, found};
    enum colander_code code;

    *found = false;
    *value = colander_null();
    code = path_parse(path, &parsed, err);
    if (code != COLANDER_OK)
        return code;
    code = path_visit(&parsed, row, keep_first, &first, err);
    path_release(&parsed);
    return code;
}
