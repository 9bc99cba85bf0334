/*
 * Rows: see rows.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/rows.h"
#include "loading/conversion.h"
#include "loading/msgpack_rows.h"

#include <stdio.h>
#include <stdlib.h>

struct rows {
    enum record_format format;
    const struct schema *schema; /* NULL: none */
    struct conversion *conversion;
    struct colander_json_reader *json; /* NULL: to be made */
    struct csv_reader *csv;
    struct msgpack_rows *msgpack;
    struct colander_buffer key;
    bool key_is_name[COLANDER_KEY_PARTS_MAX]; /* the column of each part: it is
                                               * found without a path */
};

/* Whether a path is the name of a column, as it is. */
static bool
is_name(const char *path)
{
    return strpbrk(path, ".[]\\") == NULL;
}

enum colander_code
rows_create(enum record_format format, const struct csv_header *header,
            const struct schema *schema, struct rows **rows,
            struct colander_error *err)
{
    struct rows *made = calloc(1, sizeof(*made));
    enum colander_code code = COLANDER_OK;

    *rows = NULL;
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for rows");
    made->format = format;
    made->schema = schema;
    for (size_t i = 0;
         schema != NULL && i < schema->key.count && i < COLANDER_KEY_PARTS_MAX;
         i++)
        made->key_is_name[i] = is_name(schema->key.texts[i]);
    if (format == RECORDS_CSV)
        made->csv = csv_reader_create(header);
    else if (format == RECORDS_MSGPACK)
        made->msgpack = msgpack_rows_create();
    if ((format == RECORDS_CSV && made->csv == NULL) ||
        (format == RECORDS_MSGPACK && made->msgpack == NULL))
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for rows");
    if (code == COLANDER_OK && schema != NULL && format != RECORDS_CSV)
        code = conversion_create(schema, &made->conversion, err);
    if (code == COLANDER_OK)
        *rows = made;
    else
        rows_destroy(made);
    return code;
}

void
rows_destroy(struct rows *rows)
{
    if (rows == NULL)
        return;
    conversion_destroy(rows->conversion);
    colander_json_reader_destroy(rows->json);
    csv_reader_destroy(rows->csv);
    msgpack_rows_destroy(rows->msgpack);
    colander_buffer_release(&rows->key);
    free(rows);
}

/* -------------------------------------------------------------- formats --- */

void
reason_drop(struct colander_error *reason, const char *lead)
{
    const size_t size = strlen(lead);
    char *message = reason->message;

    if (strncmp(message, lead, size) == 0)
        memmove(message, message + size, strlen(message + size) + 1);
}

/* Takes the "byte 17: " away: it is told as a line and a column. */
static void
drop_byte(struct colander_error *reason, size_t at)
{
    char lead[40];

    (void)snprintf(lead, sizeof(lead), "byte %zu: ", at);
    reason_drop(reason, lead);
}

static enum colander_code
make_json(struct rows *rows, struct colander_slice record,
          struct made_row *made, struct colander_error *err)
{
    enum colander_code code;

    if (rows->json == NULL)
        rows->json = colander_json_reader_create();
    if (rows->json == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory to read JSON");
    code = colander_json_reader_row(rows->json, record, &made->key,
                                    &made->has_key, &made->row, err);
    if (code != COLANDER_OK &&
        colander_json_reader_fault(rows->json, &made->fault))
        drop_byte(err, made->fault);
    return code;
}

static enum colander_code
make_row(struct rows *rows, struct colander_slice record, struct made_row *made,
         struct colander_error *err)
{
    switch (rows->format) {
    case RECORDS_JSONL:
    case RECORDS_JSON:
        return make_json(rows, record, made, err);
    case RECORDS_CSV:
        return csv_reader_row(rows->csv, record, &made->key, &made->has_key,
                              &made->row, &made->fault, err);
    case RECORDS_MSGPACK:
        return msgpack_rows_row(rows->msgpack, record, &made->key,
                                &made->has_key, &made->row, &made->fault, err);
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

/* There is no column at `path`; perhaps its name has a point in it. */
static enum colander_code
fail_without_column(struct colander_slice row, const char *path,
                    struct colander_error *err)
{
    struct colander_value value;
    bool found = false;
    enum colander_code code = get_named(row, path, &value, &found, err);

    if (code != COLANDER_OK)
        return code;
    return COLANDER_FAIL(
        err, COLANDER_INVALID, "no column '%s', which is to be the key%s", path,
        found ? ": a point that is in a name is written \\." : "");
}

/* "a map", "an array" */
static const char *
article(enum colander_type type)
{
    const char first = colander_type_name(type)[0];

    if (type == COLANDER_NULL)
        return "";
    return first == 'a' || first == 'e' ? "an " : "a ";
}

/* Takes a column of the row as a part of the key. */
static enum colander_code
get_part(const struct rows *rows, size_t index, struct colander_slice row,
         struct colander_value *part, struct colander_error *err)
{
    const char *path = rows->schema->key.texts[index];
    bool found = false;
    enum colander_code code =
        rows->key_is_name[index]
            ? get_named(row, path, part, &found, err)
            : colander_row_get(row, path, part, &found, err);

    if (code != COLANDER_OK)
        return code;
    if (!found)
        return fail_without_column(row, path, err);
    if (part->type == COLANDER_NULL || part->type >= COLANDER_ARRAY)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "column '%s', which is to be the key, is %s%s",
                             path, article(part->type),
                             colander_type_name(part->type));
    return COLANDER_OK;
}

/* Makes the key of the columns that the schema names. */
static enum colander_code
make_key(struct rows *rows, struct made_row *made, struct colander_error *err)
{
    const struct schema_texts *paths = &rows->schema->key;
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    enum colander_code code = COLANDER_OK;

    if (paths->count > COLANDER_KEY_PARTS_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "a key has %d parts at most, not %zu",
                             COLANDER_KEY_PARTS_MAX, paths->count);
    for (size_t i = 0; i < paths->count && code == COLANDER_OK; i++)
        code = get_part(rows, i, made->row, &parts[i], err);
    if (code == COLANDER_OK)
        code = colander_key_encode(parts, paths->count, &rows->key, err);
    made->key = colander_buffer_slice(&rows->key);
    made->has_key = true;
    return code;
}

enum colander_code
rows_make(struct rows *rows, struct colander_slice record,
          struct made_row *made, struct colander_error *err)
{
    enum colander_code code;

    memset(made, 0, sizeof(*made));
    code = make_row(rows, record, made, err);
    if (code == COLANDER_OK && rows->conversion != NULL)
        code = conversion_row(rows->conversion, made->row, &made->row, err);
    made->is_checked = rows->conversion == NULL; /* the readers see to it */
    if (code == COLANDER_OK && rows->schema != NULL &&
        rows->schema->key.count > 0)
        code = make_key(rows, made, err);
    return code;
}

void
rows_forget(struct rows *rows)
{
    colander_json_reader_destroy(rows->json);
    rows->json = NULL;
}
