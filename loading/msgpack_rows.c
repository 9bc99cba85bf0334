/* See msgpack_rows.h. SPDX-License-Identifier: MIT */
#include "loading/msgpack_rows.h"

#include "loading/encode.h"
#include "loading/rows.h"

void
msgpack_rows_release(struct msgpack_rows *rows)
{
    colander_buffer_release(&rows->key);
    colander_buffer_release(&rows->row);
}

/* Bytes of a file are not corrupt, but invalid. */
static enum colander_code
invalid(enum colander_code code, struct colander_error *err)
{
    if (code != COLANDER_CORRUPT)
        return code;
    if (err != NULL)
        err->code = COLANDER_INVALID;
    return COLANDER_INVALID;
}

/* Where a column of a record is. */
struct column_span {
    size_t from;
    size_t to;
    struct colander_value value;
};

/* Finds the first column _key. On failure place->from is where that is. */
static enum colander_code
find_key(struct colander_slice record, struct column_span *place,
         bool *is_there, struct colander_error *err)
{
    const struct colander_slice wanted =
        colander_slice_text(COLANDER_KEY_COLUMN);
    struct colander_members members;
    enum colander_code code;
    bool is_member = true;

    *is_there = false;
    place->from = 0;
    code = colander_members_init(&members, record, err);
    if (code == COLANDER_OK && !members.is_map)
        code = COLANDER_FAIL(err, COLANDER_INVALID, "the value is not a map");
    while (code == COLANDER_OK && is_member && !*is_there) {
        struct colander_slice name;

        place->from = (size_t)(members.at - record.data);
        code = colander_members_next(&members, &is_member, &name, &place->value,
                                     err);
        place->to = (size_t)(members.at - record.data);
        *is_there = code == COLANDER_OK && is_member &&
                    colander_slice_equal(name, wanted);
    }
    return code;
}

/* The head of a map of `count` columns, one fewer than the record has: of a
 * longer kind only where that of the record is longer than it need be. */
static uint8_t *
put_head(uint8_t *at, struct colander_slice record, uint32_t count)
{
    uint8_t head = record.data[0];
    uint32_t before = count + 1;

    if (head == 0xdf && (before <= UINT16_MAX || count > UINT16_MAX))
        return encode_head(at, 0xdf, count, 4);
    if (head != 0xde && count < 16)
        return encode_bytes(at, 0x80 | count, 1);
    if (head == 0xde && before == 16)
        return encode_bytes(at, 0x80 | count, 1);
    return encode_head(at, 0xde, count, 2);
}

/* The record without its key. */
static enum colander_code
take_out(struct msgpack_rows *rows, struct colander_slice record,
         const struct column_span *place, struct colander_error *err)
{
    struct colander_members members;
    enum colander_code code;
    size_t begin;
    uint8_t *at;

    code = colander_members_init(&members, record, err);
    if (code != COLANDER_OK)
        return code;
    begin = (size_t)(members.at - record.data);
    colander_buffer_clear(&rows->row);
    code = colander_buffer_reserve(&rows->row, record.size, err);
    if (code != COLANDER_OK)
        return code;
    at = put_head(rows->row.data, record, members.left - 1);
    memcpy(at, record.data + begin, place->from - begin);
    at += place->from - begin;
    memcpy(at, record.data + place->to, record.size - place->to);
    at += record.size - place->to;
    rows->row.size = (size_t)(at - rows->row.data);
    return COLANDER_OK;
}

/* Whether the bytes of one column may be stored, as a row of their own. */
static bool
may_be_stored(struct colander_slice column)
{
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    bool is_valid = true;

    if (colander_buffer_append(&row, "\x81", 1, NULL) == COLANDER_OK &&
        colander_buffer_append(&row, column.data, column.size, NULL) ==
            COLANDER_OK)
        is_valid = colander_row_check(colander_buffer_slice(&row), NULL) ==
                   COLANDER_OK;
    colander_buffer_release(&row);
    return is_valid;
}

/* Returns where the column at fault begins, except the key; 0 if it is not a
 * single one. */
static size_t
find_fault(struct colander_slice record, const struct column_span *key,
           bool has_key)
{
    struct colander_members members;

    if (colander_members_init(&members, record, NULL) != COLANDER_OK)
        return 0;
    while (members.left > 0) {
        size_t from = (size_t)(members.at - record.data);
        struct colander_slice name;
        struct colander_value value;
        bool is_member;

        if (colander_members_next(&members, &is_member, &name, &value, NULL) !=
            COLANDER_OK)
            return from;
        if (has_key && from == key->from)
            continue;
        if (!may_be_stored(colander_slice_of(
                record.data + from, (size_t)(members.at - record.data) - from)))
            return from;
    }
    return 0;
}

enum colander_code
msgpack_rows_row(struct msgpack_rows *rows, struct colander_slice record,
                 struct parsed_row *parsed, struct colander_error *err)
{
    struct column_span place = {0, 0, colander_null()};
    enum colander_code code = find_key(record, &place, &parsed->has_key, err);

    parsed->fault = place.from;
    parsed->row = record;
    if (code == COLANDER_OK && parsed->has_key)
        code = colander_key_encode_value(&place.value, &rows->key, err);
    if (code == COLANDER_OK && parsed->has_key)
        code = take_out(rows, record, &place, err);
    if (code != COLANDER_OK)
        return invalid(code, err);
    if (parsed->has_key) {
        parsed->key = colander_buffer_slice(&rows->key);
        parsed->row = colander_buffer_slice(&rows->row);
    }
    code = invalid(colander_row_check(parsed->row, err), err);
    if (code != COLANDER_OK)
        parsed->fault = find_fault(record, &place, parsed->has_key);
    return code;
}
