/*
 * Row builder: rows made column by column, and rows with their keys in them.
 *
 * It keeps what it cannot learn from the bytes later: which containers are
 * open. Everything else (names, text, limits) is the row check's business.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/encode.h"
#include "columns/msgpack.h"
#include "columns/row.h"
#include "columns/value.h"

#include <stdlib.h>

/* A container that is not ended yet. */
struct level {
    size_t start; /* where it begins in the row */
    size_t name;  /* where that of its last member begins, in a map */
    uint32_t count;
    bool is_map;
};

struct colander_row_builder {
    struct colander_buffer row;
    struct level levels[COLANDER_ROW_DEPTH_MAX];
    size_t depth;     /* 0: no row is begun */
    bool is_finished; /* the next add starts another row */
    enum colander_code code;
    struct colander_error err; /* of the first mistake */
};

struct colander_row_builder *
colander_row_builder_create(void)
{
    return calloc(1, sizeof(struct colander_row_builder));
}

void
colander_row_builder_destroy(struct colander_row_builder *builder)
{
    if (builder == NULL)
        return;
    colander_buffer_release(&builder->row);
    free(builder);
}

/* A row may be too large for a moment, before this remembers the mistake. */
static void
check_size(struct colander_row_builder *builder)
{
    if (builder->code == COLANDER_OK &&
        builder->row.size > COLANDER_ROW_SIZE_MAX)
        builder->code =
            COLANDER_FAIL(&builder->err, COLANDER_LIMIT,
                          "row has more than %u bytes", COLANDER_ROW_SIZE_MAX);
}

static void
enter(struct colander_row_builder *builder, bool is_map)
{
    struct level *level;

    if (builder->depth == COLANDER_ROW_DEPTH_MAX) {
        builder->code = COLANDER_FAIL(&builder->err, COLANDER_LIMIT,
                                      "row has more than %d levels",
                                      COLANDER_ROW_DEPTH_MAX);
        return;
    }
    level = &builder->levels[builder->depth];
    level->count = 0;
    level->is_map = is_map;
    builder->code =
        msgpack_container_begin(&builder->row, &level->start, &builder->err);
    check_size(builder);
    if (builder->code == COLANDER_OK)
        builder->depth++;
}

static void
leave(struct colander_row_builder *builder)
{
    const struct level *level = &builder->levels[--builder->depth];

    builder->code =
        msgpack_container_end(&builder->row, level->start, level->is_map,
                              level->count, &builder->err);
}

static void
forget(struct colander_row_builder *builder)
{
    colander_buffer_clear(&builder->row);
    builder->depth = 0;
    builder->is_finished = false;
    builder->code = COLANDER_OK;
}

/* Begins a row if none is. Returns false after a mistake. */
static bool
begin(struct colander_row_builder *builder)
{
    if (builder->is_finished)
        forget(builder);
    if (builder->depth == 0 && builder->code == COLANDER_OK)
        enter(builder, true);
    return builder->code == COLANDER_OK;
}

/* The row check looks at texts. */
static enum colander_code
check_scalar(const struct colander_value *value, struct colander_error *err)
{
    if (value->type < COLANDER_NULL || value->type > COLANDER_EXTENSION)
        return COLANDER_FAIL(err, COLANDER_INVALID, "unknown type of value %d",
                             (int)value->type);
    if (colander_type_has_bytes(value->type) &&
        value->bytes.size > COLANDER_ROW_SIZE_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT, "%s of %zu bytes, %u at most",
                             colander_type_name(value->type), value->bytes.size,
                             COLANDER_ROW_SIZE_MAX);
    return value->type == COLANDER_STRING ? COLANDER_OK
                                          : value_check(value, err);
}

/* Appends an encoded array or map unchanged. */
static enum colander_code
append_encoded(struct colander_buffer *row, const struct colander_value *value,
               struct colander_error *err)
{
    struct msgpack_reader reader = msgpack_reader_of(value->bytes);
    struct colander_value read;
    enum msgpack_result result = msgpack_read_whole(&reader, &read);

    if (result != MSGPACK_FINE)
        return msgpack_fail(result, COLANDER_INVALID, "encoded value", err);
    if (read.type != value->type || msgpack_left(&reader) > 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "encoded value is not one %s",
                             colander_type_name(value->type));
    return colander_buffer_append(row, value->bytes.data, value->bytes.size,
                                  err);
}

static void
put_value(struct colander_row_builder *builder,
          const struct colander_value *value)
{
    struct colander_error *err = &builder->err;

    if (value->type == COLANDER_ARRAY || value->type == COLANDER_MAP) {
        builder->code = append_encoded(&builder->row, value, err);
    } else {
        builder->code = check_scalar(value, err);
        if (builder->code == COLANDER_OK)
            builder->code = encode_append(&builder->row, value, err);
    }
    check_size(builder);
}

/* Counts a member of the innermost container and puts its name. Returns false
 * if a member of a map has no name, or an element of an array has one. A name
 * without data is none. */
static bool
add_name(struct colander_row_builder *builder, struct colander_slice name)
{
    struct level *level = &builder->levels[builder->depth - 1];
    struct colander_value text;

    if (level->is_map != (name.data != NULL)) {
        builder->code =
            COLANDER_FAIL(&builder->err, COLANDER_INVALID, "%s",
                          level->is_map ? "no name for a member of a map"
                                        : "a name for an element of an array");
        return false;
    }
    level->count++;
    if (!level->is_map)
        return true;
    level->name = builder->row.size;
    text = colander_string(name);
    put_value(builder, &text);
    return builder->code == COLANDER_OK;
}

/* Puts the path before a mistake with the value that follows its names. */
static void
error_add_column(struct colander_row_builder *builder)
{
    struct path_step steps[COLANDER_ROW_DEPTH_MAX];

    for (size_t i = 0; i < builder->depth; i++) {
        const struct level *level = &builder->levels[i];
        struct msgpack_reader reader =
            msgpack_reader_of(colander_buffer_slice(&builder->row));

        steps[i].is_element = !level->is_map;
        steps[i].name = colander_slice_of(NULL, 0);
        if (!level->is_map)
            continue;
        reader.at += level->name;
        (void)msgpack_read_name(&reader, &steps[i].name);
    }
    row_error_context(&builder->err, steps, builder->depth);
}

void
colander_row_builder_add_named(struct colander_row_builder *builder,
                               struct colander_slice name,
                               struct colander_value value)
{
    if (!begin(builder) || !add_name(builder, name))
        return;
    put_value(builder, &value);
    if (builder->code != COLANDER_OK)
        error_add_column(builder);
}

static void
begin_container(struct colander_row_builder *builder,
                struct colander_slice name, bool is_map)
{
    if (!begin(builder) || !add_name(builder, name))
        return;
    enter(builder, is_map);
    if (builder->code != COLANDER_OK)
        error_add_column(builder);
}

void
colander_row_builder_begin_map_named(struct colander_row_builder *builder,
                                     struct colander_slice name)
{
    begin_container(builder, name, true);
}

void
colander_row_builder_begin_array_named(struct colander_row_builder *builder,
                                       struct colander_slice name)
{
    begin_container(builder, name, false);
}

void
colander_row_builder_end(struct colander_row_builder *builder)
{
    if (!begin(builder))
        return;
    if (builder->depth > 1)
        leave(builder);
    else
        builder->code = COLANDER_FAIL(&builder->err, COLANDER_INVALID,
                                      "an end without a begin");
}

static enum colander_code
finish(struct colander_row_builder *builder, struct colander_error *err)
{
    if (begin(builder) && builder->depth > 1)
        builder->code =
            COLANDER_FAIL(&builder->err, COLANDER_INVALID,
                          "%zu begins without an end", builder->depth - 1);
    if (builder->code == COLANDER_OK)
        leave(builder);
    if (builder->code == COLANDER_OK)
        return colander_row_check(colander_buffer_slice(&builder->row), err);
    if (err != NULL)
        *err = builder->err;
    return builder->code;
}

enum colander_code
colander_row_builder_finish(struct colander_row_builder *builder,
                            struct colander_slice *row,
                            struct colander_error *err)
{
    enum colander_code code = finish(builder, err);

    *row = colander_slice_of(NULL, 0);
    if (code == COLANDER_OK) {
        *row = colander_buffer_slice(&builder->row);
        builder->is_finished = true;
    } else {
        forget(builder);
    }
    return code;
}

/* ---------------------------------------------------------- keyed rows --- */

/* Appends the key: its part, or an array of them. */
static enum colander_code
append_key(struct colander_buffer *out, struct colander_slice key,
           struct colander_error *err)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    enum colander_code code;
    size_t count = 0;
    size_t start = 0;

    code = colander_key_decode(key, parts, &count, &scratch, err);
    if (code == COLANDER_OK && count > 1)
        code = msgpack_container_begin(out, &start, err);
    for (size_t i = 0; i < count && code == COLANDER_OK; i++)
        code = encode_append(out, &parts[i], err);
    if (code == COLANDER_OK && count > 1)
        code = msgpack_container_end(out, start, false, (uint32_t)count, err);
    colander_buffer_release(&scratch);
    return code;
}

/* Says where the members of the row begin, and how many there are. */
static enum colander_code
enter_row(struct colander_slice row, struct msgpack_reader *members,
          uint32_t *count, struct colander_error *err)
{
    struct msgpack_reader all = msgpack_reader_of(row);
    struct colander_value head;
    enum msgpack_result result = msgpack_skip(&all);

    *members = msgpack_reader_of(row);
    if (result == MSGPACK_FINE)
        result = msgpack_read(members, &head, count);
    if (result != MSGPACK_FINE)
        return msgpack_fail(result, COLANDER_CORRUPT, "row", err);
    if (head.type != COLANDER_MAP || msgpack_left(&all) > 0)
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "row is not one map");
    return COLANDER_OK;
}

enum colander_code
colander_row_append_keyed(struct colander_buffer *out,
                          struct colander_slice key, struct colander_slice row,
                          struct colander_error *err)
{
    const struct colander_value name = colander_text(COLANDER_KEY_COLUMN);
    const size_t size = out->size;
    struct msgpack_reader members;
    uint32_t count = 0;
    size_t start;
    enum colander_code code = msgpack_container_begin(out, &start, err);

    if (code == COLANDER_OK)
        code = encode_append(out, &name, err);
    if (code == COLANDER_OK)
        code = append_key(out, key, err);
    if (code == COLANDER_OK)
        code = enter_row(row, &members, &count, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(out, members.at, msgpack_left(&members),
                                      err);
    if (code == COLANDER_OK)
        code = msgpack_container_end(out, start, true, count + 1, err);
    if (code != COLANDER_OK)
        out->size = size;
    return code;
}
