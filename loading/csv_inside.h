/*
 * Private to csv*.c: fields, and what is known of the columns.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_CSV_INSIDE_H
#define LOADING_CSV_INSIDE_H

#include "core/hash_index.h"
#include "loading/column_kind.h"
#include "loading/csv.h"

struct csv_column {
    size_t name_at;     /* of the encoded name in `names` */
    uint32_t name_size; /* of that */
    uint8_t name_head;  /* bytes of it before the name itself */
    bool is_key;        /* _key */
    uint8_t key_part;   /* of the schema, from 1; 0: none */
    uint8_t kind;       /* enum column_kind, without a type */
    uint8_t seen;       /* in the sample: enum column_seen */
    uint8_t seen_now;   /* in a record of it */
    uint32_t suffix; /* the last that was tried for a name like it; 0: none */
    const struct value_reading *reading; /* borrowed; NULL: no type */
};

struct csv_header {
    char delimiter;
    const struct schema_texts *nulls; /* borrowed; NULL: none */
    bool begins_null[256];            /* a text of `nulls` begins so */
    bool has_empty_null;
    struct csv_column *columns; /* owned */
    size_t column_count;
    struct colander_buffer names; /* encoded, one after another */
    struct hash_index index;      /* of the columns, by name */
};

/* A field of a record. */
struct csv_field {
    struct colander_slice text; /* in the record, without its quotes */
    bool is_quoted;
    bool has_pairs; /* of quotes, which are one each */
};

/* The slow cases of csv_field_cut. */
bool csv_field_cut_quoted(const uint8_t **at, const uint8_t *end,
                          char delimiter, struct csv_field *field);
const uint8_t *csv_field_end(const uint8_t *at, const uint8_t *end,
                             char delimiter);

/* Reads the field at *at and moves *at to its delimiter or `end`. Returns false
 * if a quote is not closed, or closed too early; *at is then where. */
static inline bool
csv_field_cut(const uint8_t **at, const uint8_t *end, char delimiter,
              struct csv_field *field)
{
    const uint8_t *begin = *at;
    const uint8_t *near = end - begin < 16 ? end : begin + 16;
    const uint8_t *found = begin;

    field->is_quoted = begin < end && *begin == '"';
    field->has_pairs = false;
    if (field->is_quoted)
        return csv_field_cut_quoted(at, end, delimiter, field);
    while (found < near && *found != (uint8_t)delimiter)
        found++;
    if (found == near && near < end)
        found = csv_field_end(near, end, delimiter);
    field->text = colander_slice_of(begin, (size_t)(found - begin));
    *at = found;
    return true;
}

/* Whether the field is null. */
bool csv_field_is_null(const struct csv_header *header,
                       const struct csv_field *field);

/* Sets `text` to that of a field, borrowed from the record or `scratch`. */
COLANDER_CHECKED enum colander_code
csv_field_text(const struct csv_field *field, struct colander_buffer *scratch,
               struct colander_slice *text, struct colander_error *err);

static inline struct colander_slice
csv_column_name(const struct csv_header *header, size_t index)
{
    const struct csv_column *column = &header->columns[index];

    return colander_slice_of(header->names.data + column->name_at +
                                 column->name_head,
                             column->name_size - column->name_head);
}

#endif
