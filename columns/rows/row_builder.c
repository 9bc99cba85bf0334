/*
 * Row builder: rows made column by column, and rows with their keys in them.
 *
 * It keeps what it cannot learn from the bytes later: which containers are
 * open. Everything else (names, text, limits) is the row check's business.
 *
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <msgpack.h>
#include <stdlib.h>

#include "columns/msgpack.h"
#include "columns/row.h"
#include "columns/value.h"

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

/* Returns false and sets the mistake if `size` more bytes are too many. */
static bool
has_room(struct colander_row_builder *builder, size_t size)
{
    if (builder->row.size + size <= COLANDER_ROW_SIZE_MAX)
        return true;
    builder->code =
        COLANDER_FAIL(&builder->err, COLANDER_LIMIT,
                      "row has more than %u bytes", COLANDER_ROW_SIZE_MAX);
    return false;
}

/* msgpack_packer_write */
static int
append(void *context, const char *data, size_t size)
{
    struct colander_row_builder *builder = context;

    if (has_room(builder, size))
        builder->code =
            colander_buffer_append(&builder->row, data, size, &builder->err);
    return builder->code == COLANDER_OK ? 0 : -1;
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
    if (!has_room(builder, 1))
        return;
    level = &builder->levels[builder->depth];
    level->count = 0;
    level->is_map = is_map;
    builder->code =
        msgpack_container_begin(&builder->row, &level->start, &builder->err);
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

static void
pack_bytes(struct colander_row_builder *builder, msgpack_packer *packer,
           const struct colander_value *value)
{
    struct colander_slice bytes = value->bytes;
    int failed;

    if (bytes.size > COLANDER_ROW_SIZE_MAX) {
        builder->code = COLANDER_FAIL(
            &builder->err, COLANDER_LIMIT, "%s of %zu bytes, %u at most",
            colander_type_name(value->type), bytes.size, COLANDER_ROW_SIZE_MAX);
        return;
    }
    if (value->type == COLANDER_STRING)
        failed = msgpack_pack_str(packer, bytes.size);
    else if (value->type == COLANDER_BINARY)
        failed = msgpack_pack_bin(packer, bytes.size);
    else
        failed = msgpack_pack_ext(packer, bytes.size, value->extension_type);
    if (!failed)
        append(builder, (const char *)bytes.data, bytes.size);
}

static void
pack_timestamp(msgpack_packer *packer, const struct colander_value *value)
{
    msgpack_timestamp timestamp = {value->second, value->nanosecond};

    msgpack_pack_timestamp(packer, &timestamp);
}

/* Appends an encoded array or map unchanged. */
static void
pack_encoded(struct colander_row_builder *builder,
             const struct colander_value *value)
{
    struct msgpack_reader reader = msgpack_reader_of(value->bytes);
    struct colander_value read;
    enum msgpack_result result = msgpack_read_whole(&reader, &read);

    if (result != MSGPACK_FINE)
        builder->code = msgpack_fail(result, COLANDER_INVALID, "encoded value",
                                     &builder->err);
    else if (read.type != value->type || msgpack_left(&reader) > 0)
        builder->code = COLANDER_FAIL(&builder->err, COLANDER_INVALID,
                                      "encoded value is not one %s",
                                      colander_type_name(value->type));
    else
        append(builder, (const char *)value->bytes.data, value->bytes.size);
}

static void
pack(struct colander_row_builder *builder, const struct colander_value *value)
{
    msgpack_packer packer;

    msgpack_packer_init(&packer, builder, append);
    switch (value->type) {
    case COLANDER_NULL:
        msgpack_pack_nil(&packer);
        return;
    case COLANDER_BOOLEAN:
        if (value->boolean)
            msgpack_pack_true(&packer);
        else
            msgpack_pack_false(&packer);
        return;
    case COLANDER_INTEGER:
        msgpack_pack_int64(&packer, value->integer);
        return;
    case COLANDER_UNSIGNED:
        msgpack_pack_uint64(&packer, value->natural);
        return;
    case COLANDER_DOUBLE:
        msgpack_pack_double(&packer, value->number);
        return;
    case COLANDER_STRING:
    case COLANDER_BINARY:
        pack_bytes(builder, &packer, value);
        return;
    case COLANDER_EXTENSION:
        builder->code = value_check(value, &builder->err);
        if (builder->code == COLANDER_OK)
            pack_bytes(builder, &packer, value);
        return;
    case COLANDER_TIMESTAMP:
        builder->code = value_check(value, &builder->err);
        if (builder->code == COLANDER_OK)
            pack_timestamp(&packer, value);
        return;
    case COLANDER_ARRAY:
    case COLANDER_MAP:
        pack_encoded(builder, value);
        return;
    }
    builder->code = COLANDER_FAIL(&builder->err, COLANDER_INVALID,
                                  "unknown type of value %d", (int)value->type);
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
    pack(builder, &text);
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
    pack(builder, &value);
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

bool
colander_row_builder_has_failed(const struct colander_row_builder *builder)
{
    return builder->code != COLANDER_OK;
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

/* Packs the key: its part, or an array of them. */
static enum colander_code
pack_key(struct colander_row_builder *builder, struct colander_slice key,
         struct colander_error *err)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    enum colander_code code;
    size_t count = 0;

    code = colander_key_decode(key, parts, &count, &scratch, err);
    if (code == COLANDER_OK && count > 1)
        enter(builder, false);
    for (size_t i = 0; i < count && builder->code == COLANDER_OK; i++)
        pack(builder, &parts[i]);
    if (builder->depth > 0 && builder->code == COLANDER_OK) {
        builder->levels[0].count = (uint32_t)count;
        leave(builder);
    }
    colander_buffer_release(&scratch);
    if (code == COLANDER_OK && builder->code != COLANDER_OK && err != NULL)
        *err = builder->err;
    return code == COLANDER_OK ? builder->code : code;
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

static enum colander_code
append_keyed(struct colander_buffer *out, struct colander_slice key,
             struct colander_slice row, struct colander_error *err)
{
    static const char name[] = "\xa4" COLANDER_KEY_COLUMN;
    struct msgpack_reader members;
    uint32_t count = 0;
    size_t start;
    enum colander_code code = enter_row(row, &members, &count, err);

    static_assert(sizeof(name) == 1 + 4 + 1, "the head is of four bytes");
    if (code == COLANDER_OK)
        code = msgpack_container_begin(out, &start, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(out, name, sizeof(name) - 1, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(out, key.data, key.size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(out, members.at, msgpack_left(&members),
                                      err);
    return code == COLANDER_OK
               ? msgpack_container_end(out, start, true, count + 1, err)
               : code;
}

enum colander_code
colander_row_append_keyed(struct colander_buffer *out,
                          struct colander_slice key, struct colander_slice row,
                          struct colander_error *err)
{
    const size_t size = out->size;
    struct colander_row_builder builder;
    enum colander_code code;

    memset(&builder, 0, sizeof(builder));
    code = pack_key(&builder, key, err);
    if (code == COLANDER_OK)
        code = append_keyed(out, colander_buffer_slice(&builder.row), row, err);
    if (code != COLANDER_OK)
        out->size = size;
    colander_buffer_release(&builder.row);
    return code;
}
