/* SPDX-License-Identifier: MIT */
#include "loading/rows.h"
#include "loading/guess.h"
#include "loading/nearest.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <xxhash.h>

void
rows_init(struct rows *rows, enum record_format format,
          const struct csv_header *header, const struct colander_schema *schema)
{
    memset(rows, 0, sizeof(*rows));
    rows->format = format;
    rows->schema = schema;
    rows->converts =
        schema != NULL && format != RECORDS_CSV && conversion_is_needed(schema);
    rows->csv.header = header;
    rows->csv.misfits = rows->conversion.misfits = &rows->misfits;
    assert(schema == NULL || schema->key.count <= COLANDER_KEY_PARTS_MAX);
    for (size_t i = 0; schema != NULL && i < schema->key.count; i++)
        rows->key_is_name[i] = strpbrk(schema->key.texts[i], ".[]\\") == NULL;
}

void
rows_release(struct rows *rows)
{
    conversion_release(&rows->conversion);
    colander_json_reader_destroy(rows->json);
    csv_reader_release(&rows->csv);
    msgpack_rows_release(&rows->msgpack);
    influx_rows_release(&rows->influx);
    item_rows_release(&rows->items);
    misfits_release(&rows->misfits);
    colander_buffer_release(&rows->key);
    colander_buffer_release(&rows->wide);
    colander_buffer_release(&rows->partition_key);
}

/* -------------------------------------------------------------- formats --- */

void
reason_drop(struct colander_error *reason, const char *format, ...)
{
    char lead[300]; /* the name of a family has 255 bytes at most */
    va_list arguments;
    size_t size;

    va_start(arguments, format);
    (void)vsnprintf(lead, sizeof(lead), format, arguments);
    va_end(arguments);
    size = strlen(lead);
    if (strncmp(reason->message, lead, size) == 0)
        memmove(reason->message, reason->message + size,
                strlen(reason->message + size) + 1);
}

static enum colander_code
make_json(struct rows *rows, struct colander_slice record,
          struct parsed_row *parsed, struct colander_error *err)
{
    enum colander_code code;

    if (rows->json == NULL)
        rows->json = colander_json_reader_create();
    if (rows->json == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory to read JSON");
    code = colander_json_reader_row(rows->json, record, &parsed->key,
                                    &parsed->has_key, &parsed->row, err);
    if (code != COLANDER_OK &&
        colander_json_reader_fault(rows->json, &parsed->fault))
        reason_drop(err, "byte %zu: ", parsed->fault); /* reported apart */
    if (code == COLANDER_INVALID && guess_is_msgpack(record))
        return COLANDER_FAIL(err, code,
                             "the format is json, and this is msgpack");
    return code;
}

static enum colander_code
make_row(struct rows *rows, struct colander_slice record,
         struct parsed_row *parsed, struct colander_error *err)
{
    switch (rows->format) {
    case RECORDS_JSONL:
    case RECORDS_JSON:
        return make_json(rows, record, parsed, err);
    case RECORDS_CSV:
        return csv_reader_row(&rows->csv, record, parsed, err);
    case RECORDS_MSGPACK:
        return msgpack_rows_row(&rows->msgpack, record, parsed, err);
    case RECORDS_INFLUX:
        return influx_rows_row(
            &rows->influx, record,
            rows->schema == NULL ? 1 : rows->schema->time_unit, parsed, err);
    case RECORDS_ITEMS:
        return item_rows_row(&rows->items, record, parsed, err);
    }
    return COLANDER_FAIL(err, COLANDER_INVALID, "unknown format");
}

/* ------------------------------------------------------------------ key --- */

static enum colander_code
get_named(struct colander_slice row, const char *text,
          struct colander_value *value, bool *found, struct colander_error *err)
{
    const struct colander_slice wanted = colander_slice_text(text);
    struct colander_members members;
    struct colander_slice name;
    enum colander_code code = colander_members_init(&members, row, err);

    do {
        if (code == COLANDER_OK)
            code = colander_members_next(&members, found, &name, value, err);
    } while (code == COLANDER_OK && *found &&
             !colander_slice_equal(name, wanted));
    return code;
}

/* Fails because there is no column at `path`; its name may have a point. */
static enum colander_code
fail_without_column(struct colander_slice row, const char *path,
                    struct colander_error *err)
{
    struct nearest nearest = nearest_of(colander_slice_text(path));
    char hint[NEAREST_HINT_SIZE];
    struct colander_members members;
    struct colander_value value;
    struct colander_slice name;
    bool found = false;
    enum colander_code code = get_named(row, path, &value, &found, err);

    if (code == COLANDER_OK)
        code = colander_members_init(&members, row, err);
    for (bool is_name = true; code == COLANDER_OK && is_name;) {
        code = colander_members_next(&members, &is_name, &name, &value, err);
        if (code == COLANDER_OK && is_name)
            nearest_try(&nearest, name);
    }
    if (code != COLANDER_OK)
        return code;
    return COLANDER_FAIL(err, COLANDER_INVALID, "no column '%s' for the key%s",
                         path,
                         found ? ": write a point in a name as \\."
                               : nearest_hint(&nearest, hint));
}

/* Takes a column of the row as a part of the key. */
static enum colander_code
get_part(const struct rows *rows, size_t index, struct colander_slice row,
         struct colander_value *part, bool *found, struct colander_error *err)
{
    const char *path = rows->schema->key.texts[index];
    enum colander_code code =
        rows->key_is_name[index]
            ? get_named(row, path, part, found, err)
            : colander_row_get(row, path, part, found, err);

    if (code != COLANDER_OK)
        return code;
    if (!*found)
        return fail_without_column(row, path, err);
    if (part->type == COLANDER_NULL || part->type >= COLANDER_ARRAY)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "column '%s' for the key is of type %s", path,
                             colander_type_name(part->type));
    return COLANDER_OK;
}

/* Makes the key from the columns that the schema names. */
static enum colander_code
make_key(struct rows *rows, struct parsed_row *parsed,
         struct colander_error *err)
{
    const struct schema_texts *paths = &rows->schema->key;
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    enum colander_code code = COLANDER_OK;
    bool found = true;

    for (size_t i = 0; i < paths->count && code == COLANDER_OK; i++)
        code = get_part(rows, i, parsed->row, &parts[i], &found, err);
    parsed->lacks_key = !found;
    if (code == COLANDER_OK)
        code = colander_key_encode(parts, paths->count, &rows->key, err);
    parsed->key = colander_buffer_slice(&rows->key);
    parsed->has_key = true;
    return code;
}

/* Makes a key of 32 digits from the columns that the record has. */
static enum colander_code
hash_row(struct rows *rows, struct parsed_row *parsed,
         struct colander_error *err)
{
    const XXH128_hash_t hash = XXH3_128bits(parsed->row.data, parsed->row.size);
    struct colander_value part;
    enum colander_code code;
    char text[33];

    (void)snprintf(text, sizeof(text), "%016llx%016llx",
                   (unsigned long long)hash.high64,
                   (unsigned long long)hash.low64);
    part = colander_text(text);
    code = colander_key_encode(&part, 1, &rows->key, err);
    parsed->key = colander_buffer_slice(&rows->key);
    parsed->has_key = true;
    return code;
}

enum colander_code
rows_parse(struct rows *rows, struct colander_slice record,
           struct parsed_row *parsed, struct colander_error *err)
{
    enum colander_code code;
    bool has_id; /* an item names its key */
    bool may_have_id;

    memset(parsed, 0, sizeof(*parsed));
    code = make_row(rows, record, parsed, err);
    may_have_id = rows->is_delete && parsed->has_key;
    parsed->is_checked = parsed->action == ITEM_DELETE;
    if (code != COLANDER_OK || parsed->action == ITEM_DELETE)
        return code;
    has_id = parsed->action != ITEM_NONE && parsed->has_key;
    if (rows->schema != NULL && rows->schema->hashes && !has_id && !may_have_id)
        code = hash_row(rows, parsed, err);
    if (code == COLANDER_OK && rows->converts)
        code = conversion_row(&rows->conversion, rows->schema, parsed->row,
                              &parsed->row, err);
    /* by the format */
    parsed->is_checked = !rows->converts && parsed->action != ITEM_UPDATE;
    if (code == COLANDER_OK && rows->added != NULL && rows->added->count > 0) {
        code =
            added_columns_append(rows->added, &rows->wide, &parsed->row, err);
        parsed->is_checked = false;
    }
    if (code == COLANDER_OK && rows->schema != NULL &&
        rows->schema->key.count > 0 && !has_id) {
        const struct colander_slice id = parsed->key;

        code = make_key(rows, parsed, err);
        if (code == COLANDER_INVALID && parsed->lacks_key && may_have_id) {
            parsed->lacks_key = false;
            parsed->key = id;
            code = COLANDER_OK;
        }
    }
    return code;
}

enum colander_code
rows_parse_stored(struct rows *rows, struct colander_slice record,
                  struct parsed_row *parsed, struct colander_error *err)
{
    enum colander_code code;

    memset(parsed, 0, sizeof(*parsed));
    code = msgpack_rows_row(&rows->msgpack, record, parsed, err);
    parsed->is_checked = true;
    return code != COLANDER_OK || parsed->has_key
               ? code
               : COLANDER_FAIL(err, COLANDER_INVALID, "the row has no _key");
}

void
rows_trim(struct rows *rows)
{
    colander_json_reader_destroy(rows->json);
    rows->json = NULL;
    msgpack_rows_release(&rows->msgpack);
}
