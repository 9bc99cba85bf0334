/*
 * Rows: the check that every row passes before it is stored.
 *
 * One pass with a small stack of open containers. The stack has the place of a
 * mistake, which becomes text only if there is one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/row.h"

#include "columns/utf8.h"

/* Bytes of a path in a message; a longer one loses its end. */
#define PATH_TEXT_MAX 300

/* Bytes of a name in such a path: of a longer one enough to cut the path. */
#define NAME_TEXT_MAX (PATH_TEXT_MAX + 4)

/* A map or an array that the walk is in. */
struct level {
    uint32_t left; /* members not begun yet */
    uint32_t map;  /* where it begins */
    bool is_map;
    struct colander_slice name; /* of the member the walk is at, in a map */
};

struct check {
    struct msgpack_reader reader;
    const uint8_t *start;
    struct names *names;
    bool has_utf8; /* its texts are known to be UTF-8 */
    size_t depth;
    struct colander_error *err;
    struct level levels[COLANDER_ROW_DEPTH_MAX];
};

/* A name is cut before it is appended: it may have as many bytes as a row. */
static enum colander_code
append_path(struct colander_buffer *text, const struct path_step *steps,
            size_t count)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        struct path_step step = steps[i];

        if (text->size > PATH_TEXT_MAX)
            break;
        step.name.size =
            utf8_cut(step.name.data, step.name.size, NAME_TEXT_MAX);
        code = path_append_step(text, &step, i == 0, NULL);
    }
    return code;
}

void
row_error_context(struct colander_error *err, const struct path_step *steps,
                  size_t count)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    size_t size;

    if (err == NULL || count == 0)
        return;
    if (append_path(&text, steps, count) == COLANDER_OK) {
        size = utf8_cut(text.data, text.size, PATH_TEXT_MAX);
        colander_error_context(err, "column '%.*s%s'", (int)size,
                               size > 0 ? (const char *)text.data : "",
                               size < text.size ? "..." : "");
    }
    colander_buffer_release(&text);
}

/* Puts the column before the message: the present member of the innermost of
 * `depth` containers. */
static enum colander_code
in_column_at(const struct check *check, size_t depth, enum colander_code code)
{
    const struct colander_slice no_name = {NULL, 0};
    struct path_step steps[COLANDER_ROW_DEPTH_MAX];

    for (size_t i = 0; i < depth; i++) {
        const struct level *level = &check->levels[i];

        steps[i].is_element = !level->is_map;
        steps[i].name = level->is_map ? level->name : no_name;
    }
    row_error_context(check->err, steps, depth);
    return code;
}

static enum colander_code
in_column(const struct check *check, enum colander_code code)
{
    return in_column_at(check, check->depth, code);
}

static enum colander_code
fail_in_column(const struct check *check, enum colander_code code,
               const char *message)
{
    return in_column(check, COLANDER_FAIL(check->err, code, "%s", message));
}

static bool
is_reserved(const struct check *check, struct colander_slice name)
{
    return check->depth == 1 &&
           colander_slice_equal(name, colander_slice_text(COLANDER_KEY_COLUMN));
}

static enum colander_code
check_name(struct check *check, struct level *level)
{
    struct colander_slice name;
    enum msgpack_result result;
    enum colander_code code;
    bool is_new;

    result = msgpack_read_name(&check->reader, &name);
    if (result != MSGPACK_FINE) {
        code = msgpack_fail(result, COLANDER_INVALID, "row", check->err);
        return in_column_at(check, check->depth - 1, code);
    }
    level->name = name;
    if (name.size > COLANDER_NAME_SIZE_MAX)
        return in_column(check,
                         COLANDER_FAIL(check->err, COLANDER_LIMIT,
                                       "name has %zu bytes, %d at most",
                                       name.size, COLANDER_NAME_SIZE_MAX));
    if (!check->has_utf8 && !utf8_is_valid(name.data, name.size))
        return fail_in_column(check, COLANDER_INVALID, "name is not UTF-8");
    if (is_reserved(check, name))
        return fail_in_column(check, COLANDER_INVALID,
                              "the name is reserved for the key");
    code = names_add(check->names, level->map, name, &is_new, check->err);
    if (code != COLANDER_OK)
        return code;
    if (!is_new)
        return fail_in_column(check, COLANDER_INVALID, "name appears twice");
    if (check->names->count > COLANDER_ROW_NAMES_MAX)
        return in_column(check, COLANDER_FAIL(check->err, COLANDER_LIMIT,
                                              "row has more than %d names",
                                              COLANDER_ROW_NAMES_MAX));
    return COLANDER_OK;
}

/* Enters a container whose head was read. */
static enum colander_code
enter(struct check *check, const uint8_t *start, bool is_map, uint32_t count)
{
    struct level *level;

    if (check->depth == COLANDER_ROW_DEPTH_MAX)
        return in_column(check, COLANDER_FAIL(check->err, COLANDER_LIMIT,
                                              "row has more than %d levels",
                                              COLANDER_ROW_DEPTH_MAX));
    level = &check->levels[check->depth++];
    level->left = count;
    level->map = (uint32_t)(start - check->start);
    level->is_map = is_map;
    return COLANDER_OK;
}

static enum colander_code
check_value(struct check *check)
{
    struct colander_value value;
    enum msgpack_result result;
    uint32_t count;

    result = msgpack_read(&check->reader, &value, &count);
    if (result != MSGPACK_FINE)
        return in_column(
            check, msgpack_fail(result, COLANDER_INVALID, "row", check->err));
    if (value.type >= COLANDER_ARRAY)
        return enter(check, value.bytes.data, value.type == COLANDER_MAP,
                     count);
    if (value.type == COLANDER_STRING && !check->has_utf8 &&
        !utf8_is_valid(value.bytes.data, value.bytes.size))
        return fail_in_column(
            check, COLANDER_INVALID,
            "string is not UTF-8 (store other bytes as binary)");
    return COLANDER_OK;
}

/* Checks the content of the map that was entered. */
static enum colander_code
check_content(struct check *check)
{
    enum colander_code code = COLANDER_OK;

    while (check->depth > 0 && code == COLANDER_OK) {
        struct level *level = &check->levels[check->depth - 1];

        if (level->left == 0) {
            check->depth--;
            continue;
        }
        level->left--;
        if (level->is_map)
            code = check_name(check, level);
        if (code == COLANDER_OK)
            code = check_value(check);
    }
    return code;
}

enum colander_code
row_begin(struct msgpack_reader *reader, enum colander_code code,
          uint32_t *count, struct colander_error *err)
{
    struct colander_value head;
    enum msgpack_result result = msgpack_read(reader, &head, count);

    if (result != MSGPACK_FINE)
        return msgpack_fail(result, code, "row", err);
    if (head.type != COLANDER_MAP)
        return COLANDER_FAIL(err, code, "row is not a map but of type %s",
                             colander_type_name(head.type));
    return COLANDER_OK;
}

enum colander_code
row_end(const struct msgpack_reader *reader, enum colander_code code,
        struct colander_error *err)
{
    if (msgpack_left(reader) == 0)
        return COLANDER_OK;
    return COLANDER_FAIL(err, code, "row has %zu bytes after its end",
                         msgpack_left(reader));
}

static enum colander_code
check_row(struct colander_slice row, bool has_utf8, struct names *names,
          struct colander_error *err)
{
    struct check check;
    enum colander_code code;
    uint32_t count = 0;

    if (row.size > COLANDER_ROW_SIZE_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "row has %zu bytes, %u at most", row.size,
                             COLANDER_ROW_SIZE_MAX);
    check.reader = msgpack_reader_of(row);
    check.start = row.data;
    check.names = names;
    check.has_utf8 = has_utf8;
    check.depth = 0;
    check.err = err;
    code = row_begin(&check.reader, COLANDER_INVALID, &count, err);
    if (code == COLANDER_OK)
        code = enter(&check, row.data, true, count);
    if (code == COLANDER_OK)
        code = check_content(&check);
    return code == COLANDER_OK ? row_end(&check.reader, COLANDER_INVALID, err)
                               : code;
}

enum colander_code
row_check_names(struct colander_slice row, struct names *names,
                struct colander_error *err)
{
    return check_row(row, false, names, err);
}

static enum colander_code
check_alone(struct colander_slice row, bool has_utf8,
            struct colander_error *err)
{
    struct names names;
    enum colander_code code;

    names_init(&names);
    code = check_row(row, has_utf8, &names, err);
    names_release(&names);
    return code;
}

enum colander_code
row_check_of_utf8(struct colander_slice row, struct colander_error *err)
{
    return check_alone(row, true, err);
}

enum colander_code
colander_row_check(struct colander_slice row, struct colander_error *err)
{
    return check_alone(row, false, err);
}
