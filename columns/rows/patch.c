/*
 * Patches: RFC 7386 on encoded rows, without a tree of objects.
 *
 * The row is walked once; what the patch says of a column is looked up in the
 * names that the check of the patch has left. Columns that the row did not
 * have follow in the order of the patch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/row.h"

#include <stdlib.h>

struct patch {
    struct msgpack_reader row;
    struct colander_slice bytes; /* of the patch, checked */
    struct names names;          /* of the patch */
    uint32_t *ends; /* for each name that the row has: behind the value, in the
                     * bytes of the patch; 0 for one that it has not */
    struct colander_buffer *out;
    struct colander_error *err;
};

static enum colander_code
fail(const struct patch *patch, enum msgpack_result result)
{
    return msgpack_fail(result, COLANDER_CORRUPT, "row", patch->err);
}

static enum colander_code
append(const struct patch *patch, const uint8_t *start, const uint8_t *end)
{
    return colander_buffer_append(patch->out, start, (size_t)(end - start),
                                  patch->err);
}

/* Begins to read a map of the patch, which was checked: it cannot fail. */
static uint32_t
enter_map(struct msgpack_reader *reader)
{
    struct colander_value value;
    uint32_t count = 0;

    msgpack_read(reader, &value, &count);
    return count;
}

/* The index of what the map of the patch says of `name`, or UINT32_MAX. */
static uint32_t
find(const struct patch *patch, const uint8_t *map, struct colander_slice name)
{
    return names_find(&patch->names, (uint32_t)(map - patch->bytes.data), name);
}

static enum colander_code add_stripped(struct patch *patch,
                                       struct msgpack_reader *reader);

/* Adds the member of the patch that begins at `start`. The reader is at its
 * value. Null adds nothing, and nulls in maps inside are removed. */
static enum colander_code
add_member(struct patch *patch, const uint8_t *start,
           struct msgpack_reader *reader, uint32_t *count)
{
    const uint8_t *value = reader->at;
    enum colander_code code;

    *count += *value != 0xc0;
    if (msgpack_is_map(*value)) {
        code = append(patch, start, value);
        return code == COLANDER_OK ? add_stripped(patch, reader) : code;
    }
    msgpack_skip(reader);
    return *value == 0xc0 ? COLANDER_OK : append(patch, start, reader->at);
}

/* Adds the members of a map of the patch: all, or those that the row does not
 * have. Like all functions here that add, it leaves the reader after them, so
 * the patch is read once however deep it is. */
static enum colander_code
add_members(struct patch *patch, struct msgpack_reader *reader, bool only_unmet,
            uint32_t *count)
{
    const uint8_t *map = reader->at;
    uint32_t left = enter_map(reader);
    enum colander_code code = COLANDER_OK;

    for (; left > 0 && code == COLANDER_OK; left--) {
        const uint8_t *start = reader->at;
        struct colander_slice name = {NULL, 0};
        uint32_t end = 0;

        msgpack_read_name(reader, &name);
        if (only_unmet)
            end = patch->ends[find(patch, map, name)];
        if (end > 0)
            reader->at = patch->bytes.data + end;
        else
            code = add_member(patch, start, reader, count);
    }
    return code;
}

/* Adds a map of the patch, without nulls, where the row has none. */
static enum colander_code
add_stripped(struct patch *patch, struct msgpack_reader *reader)
{
    uint32_t count = 0;
    size_t start;
    enum colander_code code;

    code = msgpack_container_begin(patch->out, &start, patch->err);
    if (code == COLANDER_OK)
        code = add_members(patch, reader, false, &count);
    if (code != COLANDER_OK)
        return code;
    return msgpack_container_end(patch->out, start, true, count, patch->err);
}

static enum colander_code merge_map(struct patch *patch,
                                    struct msgpack_reader *reader);

/* Adds the new value of the column that begins at `start`. The reader is at its
 * value in the patch, and patch->row at its value in the row. */
static enum colander_code
merge_member(struct patch *patch, const uint8_t *start,
             struct msgpack_reader *reader, uint32_t *count)
{
    const uint8_t *value = reader->at;
    const uint8_t *name_end = patch->row.at;
    enum msgpack_result result;
    enum colander_code code = COLANDER_OK;

    if (*value != 0xc0)
        code = append(patch, start, name_end);
    if (code != COLANDER_OK)
        return code;
    *count += *value != 0xc0;
    if (msgpack_is_map(*value) && msgpack_left(&patch->row) > 0 &&
        msgpack_is_map(*patch->row.at))
        return merge_map(patch, reader);
    result = msgpack_skip(&patch->row);
    if (result != MSGPACK_FINE)
        return fail(patch, result);
    if (msgpack_is_map(*value))
        return add_stripped(patch, reader);
    msgpack_skip(reader);
    return *value == 0xc0 ? COLANDER_OK : append(patch, value, reader->at);
}

/* A reader after a name of the patch. */
static struct msgpack_reader
reader_at(const struct patch *patch, const struct colander_slice *name)
{
    struct msgpack_reader reader = msgpack_reader_of(patch->bytes);

    reader.at = name->data + name->size;
    return reader;
}

/* The members of the map that the row is in, patched by `map`. */
static enum colander_code
merge_members(struct patch *patch, const uint8_t *map, uint32_t left,
              uint32_t *count)
{
    enum colander_code code = COLANDER_OK;

    for (; left > 0 && code == COLANDER_OK; left--) {
        const uint8_t *start = patch->row.at;
        struct colander_slice name;
        enum msgpack_result result = msgpack_read_name(&patch->row, &name);
        uint32_t index;

        if (result != MSGPACK_FINE)
            return fail(patch, result);
        index = find(patch, map, name);
        if (index != UINT32_MAX) {
            struct msgpack_reader reader =
                reader_at(patch, &patch->names.entries[index].name);

            code = merge_member(patch, start, &reader, count);
            patch->ends[index] = (uint32_t)(reader.at - patch->bytes.data);
            continue;
        }
        result = msgpack_skip(&patch->row);
        if (result != MSGPACK_FINE)
            return fail(patch, result);
        code = append(patch, start, patch->row.at);
        ++*count;
    }
    return code;
}

/* Adds the next map of the row, patched by the map of the reader. */
static enum colander_code
merge_map(struct patch *patch, struct msgpack_reader *reader)
{
    uint32_t left, count = 0;
    size_t start;
    enum colander_code code =
        row_begin(&patch->row, COLANDER_CORRUPT, &left, patch->err);

    if (code == COLANDER_OK)
        code = msgpack_container_begin(patch->out, &start, patch->err);
    if (code == COLANDER_OK)
        code = merge_members(patch, reader->at, left, &count);
    if (code == COLANDER_OK)
        code = add_members(patch, reader, true, &count);
    if (code != COLANDER_OK)
        return code;
    return msgpack_container_end(patch->out, start, true, count, patch->err);
}

/* Whether the result may be stored. The patch may be, so a rule that the
 * result breaks, other than a limit, the row broke before. */
static enum colander_code
check_result(const struct patch *patch)
{
    enum colander_code code =
        row_end(&patch->row, COLANDER_CORRUPT, patch->err);

    if (code == COLANDER_OK)
        code =
            colander_row_check(colander_buffer_slice(patch->out), patch->err);
    if (code != COLANDER_INVALID)
        return code;
    if (patch->err != NULL)
        patch->err->code = COLANDER_CORRUPT;
    colander_error_context(patch->err, "row as stored");
    return COLANDER_CORRUPT;
}

static enum colander_code
apply(struct patch *patch)
{
    struct msgpack_reader reader = msgpack_reader_of(patch->bytes);
    enum colander_code code;

    code = row_check_names(patch->bytes, &patch->names, patch->err);
    if (code != COLANDER_OK) {
        colander_error_context(patch->err, "patch");
        return code;
    }
    patch->ends = calloc((size_t)patch->names.count + 1, sizeof(*patch->ends));
    if (patch->ends == NULL)
        return COLANDER_FAIL(patch->err, COLANDER_NO_MEMORY,
                             "cannot apply a patch of %u names",
                             patch->names.count);
    code = colander_buffer_reserve(
        patch->out, msgpack_left(&patch->row) + patch->bytes.size, patch->err);
    if (code == COLANDER_OK)
        code = merge_map(patch, &reader);
    return code == COLANDER_OK ? check_result(patch) : code;
}

enum colander_code
colander_row_patch(struct colander_slice row, struct colander_slice patch,
                   struct colander_buffer *out, struct colander_error *err)
{
    static const uint8_t empty = 0x80;
    struct patch state;
    enum colander_code code;

    if (row.size == 0)
        row = colander_slice_of(&empty, 1);
    colander_buffer_clear(out);
    state.row = msgpack_reader_of(row);
    state.bytes = patch;
    state.ends = NULL;
    state.out = out;
    state.err = err;
    names_init(&state.names);
    code = apply(&state);
    if (code != COLANDER_OK)
        colander_buffer_clear(out);
    free(state.ends);
    names_release(&state.names);
    return code;
}
