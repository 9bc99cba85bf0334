/* See path.h. SPDX-License-Identifier: MIT */
#include "columns/row.h"

struct walk {
    const struct path *path;
    const uint8_t *row;
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

/* Calls `visit` for the next value of the reader. */
static enum msgpack_result
visit_value(struct walk *walk, struct msgpack_reader *reader)
{
    const size_t offset = (size_t)(reader->at - walk->row);
    struct colander_value value;
    enum msgpack_result result = msgpack_read_whole(reader, &value);

    if (result == MSGPACK_FINE)
        walk->is_stopped = !walk->visit(walk->context, &value, offset);
    return result;
}

static enum msgpack_result
pass_from(struct walk *walk, struct msgpack_reader *reader, size_t index);

static enum msgpack_result
pass_elements(struct walk *walk, struct msgpack_reader *reader, size_t index,
              uint32_t count)
{
    enum msgpack_result result = MSGPACK_FINE;

    for (; count > 0 && result == MSGPACK_FINE && !walk->is_stopped; count--)
        result = pass_from(walk, reader, index + 1);
    return result;
}

static enum msgpack_result
pass_members(struct walk *walk, struct msgpack_reader *reader, size_t index,
             uint32_t count)
{
    struct colander_slice wanted = walk->path->steps[index].name;
    bool is_found = false;

    for (; count > 0 && !walk->is_stopped; count--) {
        struct colander_slice name;
        enum msgpack_result result = msgpack_read_name(reader, &name);

        if (result == MSGPACK_FINE && !is_found &&
            colander_slice_equal(name, wanted)) {
            is_found = true;
            result = pass_from(walk, reader, index + 1);
        } else if (result == MSGPACK_FINE) {
            result = msgpack_skip(reader);
        }
        if (result != MSGPACK_FINE)
            return result;
    }
    return MSGPACK_FINE;
}

/* Follows the steps from `index` on. Leaves the reader after the value unless
 * the walk was stopped, so each byte is read once however many arrays are
 * inside each other. Recursion is as deep as the path. */
static enum msgpack_result
pass_from(struct walk *walk, struct msgpack_reader *reader, size_t index)
{
    const uint8_t *start = reader->at;
    struct colander_value value;
    enum msgpack_result result;
    bool is_element;
    uint32_t count;

    if (index == walk->path->count)
        return visit_value(walk, reader);
    result = msgpack_read(reader, &value, &count);
    if (result != MSGPACK_FINE || value.type < COLANDER_ARRAY)
        return result;
    is_element = walk->path->steps[index].is_element;
    if (is_element && value.type == COLANDER_ARRAY)
        return pass_elements(walk, reader, index, count);
    if (!is_element && value.type == COLANDER_MAP)
        return pass_members(walk, reader, index, count);
    reader->at = start;
    return msgpack_skip(reader);
}

/* The names before the first [] lead to one place. What follows it is not
 * read. */
static enum msgpack_result
walk_row(struct walk *walk, struct msgpack_reader *reader)
{
    const struct path *path = walk->path;
    bool found;

    for (size_t index = 0; index < path->count; index++) {
        enum msgpack_result result;

        if (path->steps[index].is_element)
            return pass_from(walk, reader, index);
        result = enter_name(reader, path->steps[index].name, &found);
        if (result != MSGPACK_FINE || !found)
            return result;
    }
    return visit_value(walk, reader);
}

enum colander_code
path_visit(const struct path *path, struct colander_slice row,
           path_visitor *visit, void *context, struct colander_error *err)
{
    struct walk walk = {path, row.data, visit, context, false};
    struct msgpack_reader reader = msgpack_reader_of(row);
    enum msgpack_result result;
    uint32_t count;

    if (row.size > 0 && !msgpack_is_map(*row.data))
        return row_begin(&reader, COLANDER_CORRUPT, &count, err); /* fails */
    result = walk_row(&walk, &reader);
    if (result != MSGPACK_FINE)
        return msgpack_fail(result, COLANDER_CORRUPT, "row", err);
    return COLANDER_OK;
}

struct first {
    struct colander_value *value;
    bool *found;
};

static bool
keep_first(void *context, const struct colander_value *value, size_t offset)
{
    struct first *first = context;

    (void)offset;
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
    code = colander_path_parse(path, &parsed, err);
    if (code != COLANDER_OK)
        return code;
    code = path_visit(&parsed, row, keep_first, &first, err);
    path_release(&parsed);
    return code;
}
