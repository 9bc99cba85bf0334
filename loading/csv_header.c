/* See csv_inside.h. SPDX-License-Identifier: MIT */
#include "columns/path.h"
#include "columns/utf8.h"
#include "loading/csv_inside.h"
#include "loading/encode.h"
#include "loading/nearest.h"

#include <stdio.h>
#include <stdlib.h>

#include <xxhash.h>

/* The address is a seed that a foreign file cannot know. */
static uint32_t
hash_name(const struct csv_header *header, struct colander_slice name)
{
    return (uint32_t)XXH3_64bits_withSeed(name.data, name.size,
                                          (uint64_t)(uintptr_t)header);
}

/* Returns the column of that name, or NULL. */
static struct csv_column *
find_column(const struct csv_header *header, struct colander_slice name)
{
    const uint32_t hash = hash_name(header, name);
    size_t at = HASH_INDEX_START;
    uint32_t i;

    while ((i = hash_index_next(&header->index, hash, &at)) !=
           HASH_INDEX_NONE) {
        if (colander_slice_equal(csv_column_name(header, i), name))
            return &header->columns[i];
    }
    return NULL;
}

/* Adds a column with a unique name. */
static enum colander_code
add_column(struct csv_header *header, struct colander_slice name,
           struct colander_error *err)
{
    struct csv_column *column = &header->columns[header->column_count];
    enum colander_code code;
    uint8_t *at;

    if (name.size > COLANDER_NAME_SIZE_MAX)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the name of column %zu has %zu bytes, more than "
                             "%d",
                             header->column_count + 1, name.size,
                             COLANDER_NAME_SIZE_MAX);
    code = colander_buffer_reserve(&header->names, name.size + ENCODED_HEAD_MAX,
                                   err);
    if (code == COLANDER_OK)
        code = hash_index_reserve(&header->index, err);
    if (code != COLANDER_OK)
        return code;
    at = header->names.data + header->names.size;
    column->name_at = header->names.size;
    column->name_head =
        (uint8_t)(encode_string_head(at, (uint32_t)name.size) - at);
    column->name_size = (uint32_t)(encode_string(at, name) - at);
    column->is_key =
        colander_slice_equal(name, colander_slice_text(COLANDER_KEY_COLUMN));
    header->names.size += column->name_size;
    hash_index_add(&header->index, hash_name(header, name),
                   (uint32_t)header->column_count++);
    return COLANDER_OK;
}

/* Adds a column as NAME_2, NAME_3 ... */
static enum colander_code
add_another(struct csv_header *header, struct csv_column *first,
            struct colander_slice name, struct colander_error *err)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    do {
        char suffix[16];
        int size;

        first->suffix += first->suffix == 0 ? 2 : 1;
        size = snprintf(suffix, sizeof(suffix), "_%u", first->suffix);
        colander_buffer_clear(&text);
        code = colander_buffer_append(&text, name.data, name.size, err);
        if (code == COLANDER_OK)
            code = colander_buffer_append(&text, suffix, (size_t)size, err);
    } while (code == COLANDER_OK &&
             find_column(header, colander_buffer_slice(&text)) != NULL);
    if (code == COLANDER_OK)
        code = add_column(header, colander_buffer_slice(&text), err);
    colander_buffer_release(&text);
    return code;
}

static enum colander_code
add_name(struct csv_header *header, struct colander_slice name,
         struct colander_error *err)
{
    size_t number = header->column_count + 1;
    struct csv_column *same;
    char numbered[32];

    if (name.size == 0) {
        (void)snprintf(numbered, sizeof(numbered), "column_%zu", number);
        name = colander_slice_text(numbered);
    }
    if (colander_utf8_size(name) < name.size)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the name of column %zu is not UTF-8", number);
    same = find_column(header, name);
    if (same == NULL)
        return add_column(header, name, err);
    if (same->is_key)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "two columns are called '" COLANDER_KEY_COLUMN
                             "'");
    return add_another(header, same, name, err);
}

/* Reads the header, of `count` fields. */
static enum colander_code
add_names(struct csv_header *header, struct colander_slice record,
          struct colander_error *err)
{
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    /* the record of a file of empty lines is NULL */
    const uint8_t *at = record.size > 0 ? record.data : (const uint8_t *)"";
    const uint8_t *end = at + record.size;
    enum colander_code code = COLANDER_OK;

    for (;; at++) {
        const uint8_t *begin = at;
        struct colander_slice name;
        struct csv_field field;

        if (!csv_field_cut(&at, end, header->delimiter, &field)) {
            code = csv_fail_quote(at > begin, err);
            break;
        }
        code = csv_field_text(&field, &scratch, &name, err);
        if (code == COLANDER_OK)
            code = add_name(header, name, err);
        if (code != COLANDER_OK || at == end)
            break;
    }
    colander_buffer_release(&scratch);
    return code;
}

/* At least as many as there are fields. */
static size_t
count_fields(struct colander_slice record, char delimiter)
{
    size_t count = 1;

    for (size_t i = 0; i < record.size; i++)
        count += record.data[i] == (uint8_t)delimiter;
    return count;
}

static void
take_schema(struct csv_header *header, const struct colander_schema *schema)
{
    if (schema == NULL)
        return;
    for (size_t i = 0; i < header->column_count; i++) {
        struct csv_column *column = &header->columns[i];

        column->reading = schema_csv_column(schema, csv_column_name(header, i));
        if (column->reading == NULL && !schema->guesses)
            column->kind = COLUMN_TEXT;
        else if (column->reading != NULL &&
                 column->reading->type == VALUE_GUESSED)
            column->reading = NULL;
    }
    header->nulls = &schema->nulls;
    for (size_t i = 0; i < schema->nulls.count; i++) {
        const char *text = schema->nulls.texts[i];

        header->begins_null[(uint8_t)*text] = true;
        header->has_empty_null |= *text == '\0';
    }
}

/* Finds the columns of the key that are there. */
static enum colander_code
find_key(struct csv_header *header, const struct colander_schema *schema,
         struct colander_error *err)
{
    for (size_t i = 0; schema != NULL && i < schema->key.count; i++) {
        struct csv_column *column = NULL;
        struct path path;
        enum colander_code code =
            colander_path_parse(schema->key.texts[i], &path, err);

        if (code != COLANDER_OK)
            return code;
        if (path.count == 1)
            column = find_column(header, path.steps[0].name);
        path_release(&path);
        if (column == NULL)
            continue;
        column->key_part = (uint8_t)(i + 1);
        if (column->reading == NULL && column->kind == COLUMN_GUESSED)
            column->kind = schema->key_kinds[i];
    }
    return COLANDER_OK;
}

static enum colander_code
fill_header(struct csv_header *header, struct colander_slice record,
            struct colander_error *err)
{
    size_t count = count_fields(record, header->delimiter);

    /* delimiters in quotes make this too high */
    if (count > COLANDER_ROW_NAMES_MAX + 1)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "the header has %zu, and a row at most %d "
                             "(COLANDER_ROW_NAMES_MAX)",
                             count, COLANDER_ROW_NAMES_MAX);
    header->columns = calloc(count, sizeof(*header->columns));
    if (header->columns == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for %zu columns", count);
    return add_names(header, record, err);
}

enum colander_code
csv_header_create(struct colander_slice record, char delimiter,
                  const struct colander_schema *schema,
                  struct csv_header **header, struct colander_error *err)
{
    enum colander_code code;

    *header = calloc(1, sizeof(**header));
    if (*header == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot read the header");
    (*header)->delimiter = delimiter;
    code = fill_header(*header, record, err);
    if (code == COLANDER_OK) {
        take_schema(*header, schema);
        code = find_key(*header, schema, err);
    }
    if (code == COLANDER_OK)
        return COLANDER_OK;
    csv_header_destroy(*header);
    *header = NULL;
    return code;
}

void
csv_header_destroy(struct csv_header *header)
{
    if (header == NULL)
        return;
    colander_buffer_release(&header->names);
    hash_index_release(&header->index);
    free(header->columns);
    free(header);
}

size_t
csv_header_names_size(const struct csv_header *header)
{
    return header->names.size;
}

/* -------------------------------------------------------------- sample --- */

/* Whether the kind of the column is still to be decided. */
static bool
is_open(const struct csv_column *column)
{
    return column->reading == NULL && column->kind == COLUMN_GUESSED &&
           !column->is_key;
}

bool
csv_header_needs_sample(const struct csv_header *header)
{
    for (size_t i = 0; i < header->column_count; i++) {
        if (is_open(&header->columns[i]))
            return true;
    }
    return false;
}

/* Notes what the field is, if that can change the kind of the column. */
static void
see_field(const struct csv_header *header, struct csv_column *column,
          const struct csv_field *field)
{
    column->seen_now = 0;
    if (is_open(column) && (column->seen & COLUMN_SEEN_TEXT) == 0 &&
        !csv_field_is_null(header, field) &&
        (field->text.size > 0 || field->is_quoted))
        column->seen_now = (uint8_t)column_kind_see(field->text);
}

void
csv_header_sample(struct csv_header *header, struct colander_slice record)
{
    const uint8_t *at = record.data;
    const uint8_t *end = at + record.size;
    struct csv_field field;
    size_t count = 0;

    while (count < header->column_count &&
           csv_field_cut(&at, end, header->delimiter, &field)) {
        see_field(header, &header->columns[count++], &field);
        if (at == end || count == header->column_count)
            break;
        at++;
    }
    if (at < end || count < header->column_count)
        return; /* it is not a row */
    for (size_t i = 0; i < count; i++)
        header->columns[i].seen |= header->columns[i].seen_now;
}

void
csv_header_decide(struct csv_header *header)
{
    for (size_t i = 0; i < header->column_count; i++) {
        struct csv_column *column = &header->columns[i];

        if (is_open(column))
            column->kind =
                (uint8_t)column_kind_decide(column->seen, column->key_part > 0);
    }
}

/* The column of that part of the key, or NULL. */
static const struct csv_column *
key_column(const struct csv_header *header, size_t part)
{
    for (size_t i = 0; i < header->column_count; i++) {
        if (header->columns[i].key_part == part + 1)
            return &header->columns[i];
    }
    return NULL;
}

/* Fails because there is no column at `path`; its name may have a point. */
static enum colander_code
fail_without_column(const struct csv_header *header, const char *path,
                    struct colander_error *err)
{
    const struct colander_slice name = colander_slice_text(path);
    struct nearest nearest = nearest_of(name);
    char hint[NEAREST_HINT_SIZE];

    if (find_column(header, name) != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the header has no column '%s' for the key: write "
                             "a point in a name as \\.",
                             path);
    for (size_t i = 0; i < header->column_count; i++)
        nearest_try(&nearest, csv_column_name(header, i));
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "the header has no column '%s' for the key%s", path,
                         nearest_hint(&nearest, hint));
}

bool
csv_header_has(const struct csv_header *header, struct colander_slice name)
{
    return find_column(header, name) != NULL;
}

enum colander_code
csv_header_check_key(const struct csv_header *header,
                     const struct colander_schema *schema,
                     struct colander_error *err)
{
    for (size_t i = 0; i < schema->key.count; i++) {
        if (key_column(header, i) == NULL && !schema->key_is_added[i])
            return fail_without_column(header, schema->key.texts[i], err);
    }
    return COLANDER_OK;
}

unsigned
csv_header_key_seen(const struct csv_header *header, size_t part)
{
    const struct csv_column *column = key_column(header, part);

    return column == NULL ? 0 : column->seen;
}
