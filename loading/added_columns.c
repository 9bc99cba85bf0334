/* See added_columns.h. SPDX-License-Identifier: MIT */
#include "loading/added_columns.h"
#include "columns/path.h"
#include "columns/utf8.h"
#include "loading/encode.h"
#include "loading/guess.h"

void
added_columns_release(struct added_columns *added)
{
    colander_buffer_release(&added->members);
    added->count = 0;
}

/* Returns the column `index`: those with a value, then that of the file's name;
 * NULL after the last. */
static const char *
column_at(const struct colander_load_options *options, size_t index)
{
    if (index < options->added_count)
        return options->added[index].path;
    return index == options->added_count ? options->file_name_column : NULL;
}

bool
added_columns_have(const struct colander_load_options *options,
                   const char *path)
{
    const char *column;

    for (size_t i = 0; (column = column_at(options, i)) != NULL; i++) {
        if (strcmp(column, path) == 0)
            return true;
    }
    return false;
}

/* Parses the path of a plain column. Release it also after a failure. */
static enum colander_code
parse_plain(const char *column, struct path *path, struct colander_error *err)
{
    enum colander_code code = colander_path_parse(column, path, err);

    if (code == COLANDER_OK && path->count > 1)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "column '%.200s' cannot be added inside another: "
                             "write a point in a name as \\.",
                             column);
    if (code == COLANDER_OK && strcmp(column, COLANDER_KEY_COLUMN) == 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "'" COLANDER_KEY_COLUMN "' cannot be added: add "
                             "another column and make it the key");
    return code;
}

enum colander_code
added_columns_check(const struct colander_load_options *options,
                    struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    const char *column;

    for (size_t i = 0;
         code == COLANDER_OK && (column = column_at(options, i)) != NULL; i++) {
        struct path path;

        code = parse_plain(column, &path, err);
        path_release(&path);
        for (size_t k = 0; k < i && code == COLANDER_OK; k++) {
            if (strcmp(column_at(options, k), column) == 0)
                code = COLANDER_FAIL(err, COLANDER_INVALID,
                                     "column '%.200s' is added twice", column);
        }
        if (code == COLANDER_OK && i < options->added_count &&
            options->added[i].value.type > COLANDER_STRING &&
            options->added[i].value.type != COLANDER_TIMESTAMP)
            code = COLANDER_FAIL(
                err, COLANDER_INVALID,
                "column '%.200s' cannot be added with a value "
                "of type %s",
                column, colander_type_name(options->added[i].value.type));
    }
    return code;
}

static enum colander_code
add(struct added_columns *added, const char *column,
    const struct colander_value *value, const struct csv_header *header,
    struct colander_error *err)
{
    struct colander_buffer *members = &added->members;
    size_t room = ENCODED_HEAD_MAX + ENCODED_SCALAR_MAX;
    struct colander_slice name;
    enum colander_code code;
    struct path path;
    uint8_t *at;

    code = parse_plain(column, &path, err);
    if (code != COLANDER_OK)
        return code;
    name = path.steps[0].name;
    if (header != NULL && csv_header_has(header, name))
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "the header has the column '%.200s' already: add "
                             "it under another name",
                             column);
    room += name.size;
    if (value->type == COLANDER_STRING)
        room += value->bytes.size;
    if (code == COLANDER_OK)
        code = colander_buffer_reserve(members, room, err);
    if (code == COLANDER_OK) {
        at = encode_string(members->data + members->size, name);
        at = encode_scalar(at, value);
        members->size = (size_t)(at - members->data);
        added->count++;
    }
    path_release(&path);
    return code;
}

enum colander_code
added_columns_begin_file(struct added_columns *added,
                         const struct colander_load_options *options,
                         const char *file, const struct csv_header *header,
                         struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    colander_buffer_clear(&added->members);
    added->count = 0;
    for (size_t i = 0; i < options->added_count && code == COLANDER_OK; i++)
        code = add(added, options->added[i].path, &options->added[i].value,
                   header, err);
    if (code == COLANDER_OK && options->file_name_column != NULL) {
        const struct colander_value name = colander_string(format_stem(file));

        if (colander_utf8_size(name.bytes) < name.bytes.size)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "the name of the file is not UTF-8");
        code = add(added, options->file_name_column, &name, header, err);
    }
    return code;
}

enum colander_code
added_columns_append(const struct added_columns *added,
                     struct colander_buffer *wide, struct colander_slice *row,
                     struct colander_error *err)
{
    struct colander_members members;
    enum colander_code code = colander_members_init(&members, *row, err);
    const uint8_t *begin;

    colander_buffer_clear(wide);
    if (code == COLANDER_OK)
        code = colander_buffer_reserve(
            wide, ENCODED_HEAD_MAX + row->size + added->members.size, err);
    if (code != COLANDER_OK)
        return code;
    wide->size = ENCODED_HEAD_MAX; /* the head is written before that */
    code = colander_buffer_append(wide, members.at,
                                  (size_t)(members.end - members.at), err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(wide, added->members.data,
                                      added->members.size, err);
    begin = encode_map_head_before(wide->data + ENCODED_HEAD_MAX,
                                   members.left + added->count);
    *row = colander_slice_of(begin, (size_t)(wide->data + wide->size - begin));
    return code;
}

/* Whether the row has two columns of that name. */
static bool
has_twice(struct colander_slice row, struct colander_slice wanted)
{
    struct colander_members members;
    struct colander_slice name;
    struct colander_value value;
    unsigned count = 0;
    bool is_member = true;

    if (colander_members_init(&members, row, NULL) != COLANDER_OK)
        return false;
    while (colander_members_next(&members, &is_member, &name, &value, NULL) ==
               COLANDER_OK &&
           is_member)
        count += colander_slice_equal(name, wanted);
    return count > 1;
}

void
added_columns_explain(const struct added_columns *added,
                      struct colander_slice row, struct colander_error *err)
{
    struct colander_members members = {
        added->members.data, added->members.data + added->members.size,
        added->count, true};
    struct colander_slice name;
    struct colander_value value;
    bool is_member = true;

    while (colander_members_next(&members, &is_member, &name, &value, NULL) ==
               COLANDER_OK &&
           is_member) {
        if (has_twice(row, name))
            (void)COLANDER_FAIL(err, COLANDER_INVALID,
                                "the record has the column '%.*s' already: add "
                                "it under another name",
                                name.size < 200 ? (int)name.size : 200,
                                (const char *)name.data);
    }
}
