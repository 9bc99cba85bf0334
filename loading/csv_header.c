/*
 * The line of names: each made one that no other column has, and encoded.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/csv_inside.h"
#include "loading/encode.h"
#include "loading/text.h"

#include <stdio.h>
#include <stdlib.h>

#include <xxhash.h>

/* Names that are there, by their hashes: an open table, half empty. */
struct name_slot {
    uint32_t column; /* and one; 0: none */
    uint32_t suffix; /* the last that was tried for a name like it */
};

struct names {
    struct csv_header *header;
    struct name_slot *slots;
    size_t slot_count; /* a power of 2 */
};

static struct name_slot *
names_find(const struct names *names, struct colander_slice name)
{
    size_t at = (size_t)XXH3_64bits(name.data, name.size);

    for (;; at++) {
        struct name_slot *slot = &names->slots[at & (names->slot_count - 1)];

        if (slot->column == 0 ||
            colander_slice_equal(
                csv_column_name(names->header, slot->column - 1), name))
            return slot;
    }
}

/* Adds a column whose name no other has. */
static enum colander_code
add_column(struct names *names, struct colander_slice name,
           struct colander_error *err)
{
    struct csv_header *header = names->header;
    struct csv_column *column = &header->columns[header->column_count];
    struct name_slot *slot = names_find(names, name);
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
    header->column_count++;
    slot->column = (uint32_t)header->column_count;
    return COLANDER_OK;
}

/* Adds a column as NAME_2, NAME_3 ... */
static enum colander_code
add_another(struct names *names, struct colander_slice name,
            struct colander_error *err)
{
    struct name_slot *first = names_find(names, name);
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
             names_find(names, colander_buffer_slice(&text))->column != 0);
    if (code == COLANDER_OK)
        code = add_column(names, colander_buffer_slice(&text), err);
    colander_buffer_release(&text);
    return code;
}

static enum colander_code
add_name(struct names *names, struct colander_slice name,
         struct colander_error *err)
{
    const struct csv_header *header = names->header;
    size_t number = header->column_count + 1;
    struct name_slot *slot;
    char made[32];

    if (name.size == 0) {
        (void)snprintf(made, sizeof(made), "column_%zu", number);
        name = colander_slice_text(made);
    }
    if (text_valid_size(name) < name.size)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the name of column %zu is not UTF-8", number);
    slot = names_find(names, name);
    if (slot->column == 0)
        return add_column(names, name, err);
    if (header->columns[slot->column - 1].is_key)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "two columns are called '" COLANDER_KEY_COLUMN
                             "'");
    return add_another(names, name, err);
}

/* Reads the line of names, of `count` fields. */
static enum colander_code
add_names(struct names *names, struct colander_slice record,
          struct colander_error *err)
{
    struct colander_buffer scratch = COLANDER_BUFFER_EMPTY;
    /* of a file that has only empty lines the record is nowhere */
    const uint8_t *at = record.size > 0 ? record.data : (const uint8_t *)"";
    const uint8_t *end = at + record.size;
    enum colander_code code = COLANDER_OK;

    for (;; at++) {
        const uint8_t *begin = at;
        struct colander_slice name;
        struct csv_field field;

        if (!csv_field_cut(&at, end, names->header->delimiter, &field)) {
            code = csv_fail_quote(at > begin, err);
            break;
        }
        code = csv_field_text(&field, &scratch, &name, err);
        if (code == COLANDER_OK)
            code = add_name(names, name, err);
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
take_schema(struct csv_header *header, const struct schema *schema)
{
    header->guesses = schema == NULL || schema->guesses;
    if (schema == NULL)
        return;
    for (size_t i = 0; i < header->column_count; i++)
        header->columns[i].reading =
            schema_csv_column(schema, csv_column_name(header, i));
    header->nulls = &schema->nulls;
    for (size_t i = 0; i < schema->nulls.count; i++) {
        const char *text = schema->nulls.texts[i];

        header->begins_null[(uint8_t)*text] = true;
        header->has_empty_null |= *text == '\0';
    }
}

static enum colander_code
fill_header(struct csv_header *header, struct colander_slice record,
            struct colander_error *err)
{
    size_t count = count_fields(record, header->delimiter);
    struct names names = {header, NULL, 16};
    enum colander_code code;

    /* some may be in quotes, and then there are a few columns fewer */
    if (count > COLANDER_ROW_NAMES_MAX + 1)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "the line of names has %zu, and a row at most %d "
                             "(COLANDER_ROW_NAMES_MAX)",
                             count, COLANDER_ROW_NAMES_MAX);
    while (names.slot_count < count * 2)
        names.slot_count *= 2;
    names.slots = calloc(names.slot_count, sizeof(*names.slots));
    header->columns = calloc(count, sizeof(*header->columns));
    if (names.slots == NULL || header->columns == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for %zu columns", count);
    else
        code = add_names(&names, record, err);
    free(names.slots);
    return code;
}

enum colander_code
csv_header_create(struct colander_slice record, char delimiter,
                  const struct schema *schema, struct csv_header **header,
                  struct colander_error *err)
{
    enum colander_code code;

    *header = calloc(1, sizeof(**header));
    if (*header == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot read the line of names");
    (*header)->delimiter = delimiter;
    code = fill_header(*header, record, err);
    if (code == COLANDER_OK) {
        take_schema(*header, schema);
        return COLANDER_OK;
    }
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
    free(header->columns);
    free(header);
}

size_t
csv_header_names_size(const struct csv_header *header)
{
    return header->names.size;
}
