/*
 * Conversion: see conversion.h.
 *
 * Visits the columns of the schema in a row and copies the row, except values
 * that change. Each is replaced by one value, so no head of a map or array
 * does.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/conversion.h"
#include "loading/encode.h"

#include <math.h>

void
conversion_release(struct conversion *conversion)
{
    colander_buffer_release(&conversion->text);
    colander_buffer_release(&conversion->row);
}

bool
conversion_is_needed(const struct colander_schema *schema)
{
    return schema->columns != NULL || schema->record != NULL;
}

/* ------------------------------------------------------------- scalars --- */

/* Whether the value may become another by its type alone. */
static bool
may_change(const struct value_reading *reading,
           const struct colander_value *value)
{
    bool is_string = value->type == COLANDER_STRING;
    bool is_boolean = value->type == COLANDER_BOOLEAN;

    if (!is_string && !is_boolean && !colander_type_is_number(value->type))
        return false;
    if (value->type == COLANDER_DOUBLE && !isfinite(value->number))
        return false;
    switch (reading->type) {
    case VALUE_GUESSED:
        return false;
    case VALUE_STRING:
        return !is_string;
    case VALUE_INTEGER:
        return is_string || value->type == COLANDER_DOUBLE;
    case VALUE_NUMBER:
        return is_string;
    case VALUE_BOOLEAN:
    case VALUE_TIME:
        return !is_boolean;
    }
    return false;
}

/* A double without a fraction as an integer. */
static struct colander_value
plain_number(const struct colander_value *value)
{
    const double limit = 9223372036854775808.0; /* 2^63 */

    if (value->type != COLANDER_DOUBLE || value->number < -limit ||
        value->number >= limit ||
        value->number != (double)(int64_t)value->number)
        return *value;
    return colander_integer((int64_t)value->number);
}

/* Converts a scalar. *converted is borrowed from it or from the conversion. */
static enum colander_code
convert(struct conversion *conversion, const struct value_reading *reading,
        const struct colander_value *value, struct colander_value *converted,
        bool *changes, struct colander_error *err)
{
    struct colander_slice text = value->bytes;

    *changes = may_change(reading, value);
    if (!*changes)
        return COLANDER_OK;
    if (value->type != COLANDER_STRING) {
        struct colander_value plain =
            reading->type == VALUE_STRING ? *value : plain_number(value);
        enum colander_code code;

        colander_buffer_clear(&conversion->text);
        code = colander_json_append_value(&conversion->text, &plain, err);
        if (code != COLANDER_OK)
            return code;
        text = colander_buffer_slice(&conversion->text);
    }
    *changes = typed_value_read(reading, text, converted);
    return COLANDER_OK;
}

/* ----------------------------------------------------------------- row --- */

/* Copies the row up to `from`, then the value instead of the bytes to `to`. */
static enum colander_code
replace(struct conversion *conversion, const uint8_t *from, const uint8_t *to,
        const struct colander_value *value, struct colander_error *err)
{
    struct colander_buffer *row = &conversion->row;
    const size_t copied = (size_t)(from - conversion->copied);
    size_t room = copied + ENCODED_SCALAR_MAX;
    enum colander_code code;
    uint8_t *at;

    if (value->type == COLANDER_STRING)
        room += value->bytes.size;
    code = colander_buffer_reserve(row, room, err);
    if (code != COLANDER_OK)
        return code;
    at = row->data + row->size;
    memcpy(at, conversion->copied, copied);
    at = encode_scalar(at + copied, value);
    row->size = (size_t)(at - row->data);
    conversion->copied = to;
    return COLANDER_OK;
}

static enum colander_code walk(struct conversion *conversion,
                               const struct column_node *node,
                               struct colander_slice container,
                               struct colander_error *err);

/* Converts the value at a node, encoded from `from` to `to`. */
static enum colander_code
visit(struct conversion *conversion, const struct column_node *node,
      const struct colander_value *value, const uint8_t *from,
      const uint8_t *to, struct colander_error *err)
{
    struct colander_value converted;
    bool changes;
    enum colander_code code;

    if ((value->type == COLANDER_MAP && node->child_count > 0) ||
        (value->type == COLANDER_ARRAY && node->element != NULL))
        return walk(conversion, node, value->bytes, err);
    if (node->reading == NULL)
        return COLANDER_OK;
    code = convert(conversion, node->reading, value, &converted, &changes, err);
    if (code == COLANDER_OK)
        misfits_see(conversion->misfits, node->reading,
                    changes ? &converted : value);
    if (code != COLANDER_OK || !changes)
        return code;
    return replace(conversion, from, to, &converted, err);
}

static enum colander_code
walk(struct conversion *conversion, const struct column_node *node,
     struct colander_slice container, struct colander_error *err)
{
    struct colander_members members;
    enum colander_code code = colander_members_init(&members, container, err);

    while (code == COLANDER_OK) {
        const uint8_t *from = members.at;
        const struct column_node *below = node->element;
        struct colander_slice name;
        struct colander_value value;
        bool is_member;

        code = colander_members_next(&members, &is_member, &name, &value, err);
        if (code != COLANDER_OK || !is_member)
            break;
        if (members.is_map) {
            below = column_node_child(node, name);
            from = name.data + name.size;
        }
        if (below != NULL)
            code = visit(conversion, below, &value, from, members.at, err);
    }
    return code;
}

/* Selects the map that is the row, if the record has it. */
static enum colander_code
unwrap(const struct colander_schema *schema, struct colander_slice *row,
       struct colander_error *err)
{
    struct colander_value value;
    bool found;
    enum colander_code code;

    if (schema->record == NULL)
        return COLANDER_OK;
    code = colander_row_get(*row, schema->record, &value, &found, err);
    if (code == COLANDER_OK && found && value.type == COLANDER_MAP)
        *row = value.bytes;
    return code;
}

enum colander_code
conversion_row(struct conversion *conversion,
               const struct colander_schema *schema, struct colander_slice row,
               struct colander_slice *converted, struct colander_error *err)
{
    enum colander_code code = unwrap(schema, &row, err);

    *converted = row;
    if (code != COLANDER_OK || schema->columns == NULL)
        return code;
    colander_buffer_clear(&conversion->row);
    conversion->copied = row.data;
    code = walk(conversion, schema->columns, row, err);
    if (code != COLANDER_OK || conversion->copied == row.data)
        return code;
    code = colander_buffer_append(
        &conversion->row, conversion->copied,
        (size_t)(row.data + row.size - conversion->copied), err);
    *converted = colander_buffer_slice(&conversion->row);
    return code;
}
