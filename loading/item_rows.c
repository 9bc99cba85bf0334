/* See item_rows.h. SPDX-License-Identifier: MIT */
#include "loading/item_rows.h"
#include "loading/rows.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const names[] = {
    [ITEM_NONE] = "index",    [ITEM_INDEX] = "index",
    [ITEM_CREATE] = "create", [ITEM_UPDATE] = "update",
    [ITEM_DELETE] = "delete",
};

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

/* ---------------------------------------------------------------- lines --- */

static struct colander_slice
trim(struct colander_slice text)
{
    while (text.size > 0 && memchr(" \t\r\n", *text.data, 4) != NULL)
        text = colander_slice_of(text.data + 1, text.size - 1);
    while (text.size > 0 && memchr(" \t\r\n", text.data[text.size - 1], 4))
        text.size--;
    return text;
}

/* Takes `token` and blanks before it off the beginning. */
static bool
take(struct colander_slice *text, const char *token)
{
    const size_t size = strlen(token);
    const struct colander_slice left = trim(*text);

    if (left.size < size || memcmp(left.data, token, size) != 0)
        return false;
    *text = colander_slice_of(left.data + size, left.size - size);
    return true;
}

enum item_action
item_action_of(struct colander_slice line)
{
    line = trim(line);
    if (line.size == 0 || line.data[line.size - 1] != '}' ||
        !take(&line, "{") || !take(&line, "\""))
        return ITEM_NONE;
    for (size_t i = ITEM_INDEX; i < NAME_COUNT; i++) {
        const size_t size = strlen(names[i]);
        struct colander_slice rest;

        if (line.size <= size || memcmp(line.data, names[i], size) != 0 ||
            line.data[size] != '"')
            continue;
        rest = colander_slice_of(line.data + size, line.size - size);
        if (take(&rest, "\"") && take(&rest, ":") && take(&rest, "{"))
            return (enum item_action)i;
    }
    return ITEM_NONE;
}

const char *
item_action_name(enum item_action action)
{
    return names[action];
}

struct colander_slice
item_line(struct colander_slice record)
{
    const uint8_t *end = NULL;

    if (record.size > 0)
        end = memchr(record.data, '\n', record.size);
    if (end != NULL)
        record.size = (size_t)(end - record.data);
    return record;
}

/* --------------------------------------------------------------- action --- */

static bool
is_named(struct colander_slice name, const char *const *list)
{
    while (*list != NULL &&
           !colander_slice_equal(name, colander_slice_text(*list)))
        list++;
    return *list != NULL;
}

static enum colander_code
read_id(const struct colander_value *value, struct item *item,
        struct colander_error *err)
{
    item->has_id = value->type != COLANDER_NULL;
    if (value->type == COLANDER_STRING) {
        item->id = value->bytes;
    } else if (value->type == COLANDER_INTEGER ||
               value->type == COLANDER_UNSIGNED) {
        (void)snprintf(item->number, sizeof(item->number),
                       value->type == COLANDER_INTEGER ? "%" PRId64
                                                       : "%" PRIu64,
                       value->integer);
        item->id = colander_slice_text(item->number);
    } else if (item->has_id) {
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the _id is neither a string nor an integer");
    }
    return COLANDER_OK;
}

/* What does not change which row is written, or how. */
static const char *const ignored[] = {
    "_type",
    "routing",
    "_routing",
    "retry_on_conflict",
    "dynamic_templates",
    "list_executed_pipelines",
    NULL,
};

static enum colander_code
read_member(struct colander_slice name, const struct colander_value *value,
            struct item *item, struct colander_error *err)
{
    static const char *const index[] = {"_index", NULL};
    static const char *const id[] = {"_id", NULL};
    static const char *const alias[] = {"require_alias", NULL};

    if (is_named(name, index) && value->type == COLANDER_STRING) {
        item->family = value->bytes;
        return COLANDER_OK;
    }
    if (is_named(name, id))
        return read_id(value, item, err);
    if (is_named(name, ignored) ||
        (is_named(name, alias) && value->type == COLANDER_BOOLEAN &&
         !value->boolean))
        return COLANDER_OK;
    return COLANDER_FAIL(
        err, COLANDER_INVALID, "the action has '%.*s', which is not supported",
        name.size < 100 ? (int)name.size : 100, (const char *)name.data);
}

static enum colander_code
read_members(struct colander_slice map, struct item *item,
             struct colander_error *err)
{
    struct colander_members members;
    struct colander_slice name;
    struct colander_value value;
    bool is_member = true;
    enum colander_code code = colander_members_init(&members, map, err);

    while (code == COLANDER_OK && is_member) {
        code = colander_members_next(&members, &is_member, &name, &value, err);
        if (code == COLANDER_OK && is_member)
            code = read_member(name, &value, item, err);
    }
    return code;
}

enum colander_code
item_read(struct colander_json_reader *reader, struct colander_slice line,
          struct item *item, struct colander_error *err)
{
    struct colander_members members;
    struct colander_value value;
    struct colander_slice name, key, row;
    bool has_key;
    bool is_member = false;
    enum colander_code code;

    memset(item, 0, sizeof(*item));
    item->action = item_action_of(line);
    code = colander_json_reader_row(reader, line, &key, &has_key, &row, err);
    if (code == COLANDER_OK)
        code = colander_members_init(&members, row, err);
    if (code == COLANDER_OK)
        code = colander_members_next(&members, &is_member, &name, &value, err);
    if (code != COLANDER_OK)
        return code;
    if (item->action == ITEM_NONE || !is_member || members.left > 0 ||
        has_key || value.type != COLANDER_MAP)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "an action has one name and one object");
    return read_members(value.bytes, item, err);
}

/* --------------------------------------------------------------- source --- */

void
item_rows_release(struct item_rows *rows)
{
    colander_json_reader_destroy(rows->actions);
    colander_json_reader_destroy(rows->sources);
    colander_buffer_release(&rows->key);
}

static enum colander_code
make_reader(struct colander_json_reader **reader, struct colander_error *err)
{
    if (*reader == NULL)
        *reader = colander_json_reader_create();
    return *reader != NULL ? COLANDER_OK
                           : COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                           "no memory to read JSON");
}

/* Takes the doc of an update's source, which is *row. */
static enum colander_code
take_doc(struct parsed_row *parsed, struct colander_error *err)
{
    static const char *const skipped[] = {"detect_noop", "_source", NULL};
    static const char *const doc[] = {"doc", NULL};
    static const char *const upsert[] = {"doc_as_upsert", NULL};
    const struct colander_slice source = parsed->row;
    struct colander_members members;
    struct colander_slice name;
    struct colander_value value;
    bool is_member = true;
    enum colander_code code = colander_members_init(&members, source, err);

    parsed->row = colander_slice_of(NULL, 0);
    while (code == COLANDER_OK && is_member) {
        code = colander_members_next(&members, &is_member, &name, &value, err);
        if (code != COLANDER_OK || !is_member || is_named(name, skipped))
            continue;
        if (is_named(name, doc) && value.type == COLANDER_MAP)
            parsed->row = value.bytes;
        else if (is_named(name, upsert) && value.type == COLANDER_BOOLEAN)
            parsed->is_upsert = value.boolean;
        else
            code = COLANDER_FAIL(
                err, COLANDER_INVALID,
                "an update has a doc and doc_as_upsert, '%.*s' is not "
                "supported",
                name.size < 100 ? (int)name.size : 100,
                (const char *)name.data);
    }
    if (code == COLANDER_OK && parsed->row.size == 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID, "the update has no doc");
    return code;
}

/* Parses the line with the source. */
static enum colander_code
read_source(struct item_rows *rows, struct colander_slice record, size_t from,
            struct parsed_row *parsed, struct colander_error *err)
{
    const struct colander_slice line =
        trim(colander_slice_of(record.data + from, record.size - from));
    struct colander_slice key;
    bool has_key = false;
    enum colander_code code;

    if (line.size == 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the line with the source is missing");
    code = make_reader(&rows->sources, err);
    if (code == COLANDER_OK)
        code = colander_json_reader_row(rows->sources, line, &key, &has_key,
                                        &parsed->row, err);
    if (code != COLANDER_OK) {
        size_t fault = 0;

        if (rows->sources != NULL &&
            colander_json_reader_fault(rows->sources, &fault))
            reason_drop(err, "byte %zu: ", fault);
        parsed->fault = (size_t)(line.data - record.data) + fault;
        return code;
    }
    if (has_key && !parsed->has_key) {
        parsed->has_key = true;
        parsed->key = key;
    }
    return parsed->action == ITEM_UPDATE ? take_doc(parsed, err) : code;
}

enum colander_code
item_rows_row(struct item_rows *rows, struct colander_slice record,
              struct parsed_row *parsed, struct colander_error *err)
{
    const struct colander_slice line = item_line(record);
    const struct item *item = &rows->item;
    enum colander_code code = make_reader(&rows->actions, err);

    if (code == COLANDER_OK)
        code = item_read(rows->actions, line, &rows->item, err);
    if (code != COLANDER_OK)
        return code;
    parsed->action = item->action;
    parsed->family = item->family;
    parsed->has_key = item->has_id;
    if (item->has_id) {
        const struct colander_value part = colander_string(item->id);

        code = colander_key_encode(&part, 1, &rows->key, err);
        parsed->key = colander_buffer_slice(&rows->key);
    } else if (item->action == ITEM_UPDATE || item->action == ITEM_DELETE) {
        code = COLANDER_FAIL(err, COLANDER_INVALID, "the %s has no _id",
                             item_action_name(item->action));
    }
    if (code == COLANDER_OK && item->action != ITEM_DELETE)
        code = read_source(rows, record, line.size, parsed, err);
    return code;
}
