/*
 * Rows of msgpack: the key is taken out, the rest is checked.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/msgpack_rows.h"

#include <stdlib.h>

#include "loading/encode.h"

struct msgpack_rows {
    struct colander_buffer key;
    struct colander_buffer row; /* without the key */
};

struct msgpack_rows *
msgpack_rows_create(void)
{
    return calloc(1, sizeof(struct msgpack_rows));
}

void
msgpack_rows_destroy(struct msgpack_rows *rows)
{
    if (rows == NULL)
        return;
    colander_buffer_release(&rows->key);
    colander_buffer_release(&rows->row);
    free(rows);
}

/* A fault of bytes that nobody has promised to be right. */
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
struct place {
    size_t from;
    size_t to;
    struct colander_value value;
};

/* Finds the first column _key; on failure place->from is where it is. */
static enum colander_code
find_key(struct colander_slice record, struct place *place, bool *is_there,
         struct colander_error *err)
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
        code = COLANDER_FAIL(err, COLANDER_INVALID, "the value is no map");
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

static enum colander_code
encode_key(struct msgpack_rows *rows, const struct colander_value *value,
           struct colander_error *err)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    struct colander_members members;
    enum colander_code code;
    size_t count = 0;
    bool is_member;

    if (value->type != COLANDER_ARRAY)
        return colander_key_encode(value, 1, &rows->key, err);
    code = colander_members_init(&members, value->bytes, err);
    if (code == COLANDER_OK && members.left > COLANDER_KEY_PARTS_MAX)
        code = COLANDER_FAIL(err, COLANDER_LIMIT,
                             "the key has %u parts, more than %d", members.left,
                             COLANDER_KEY_PARTS_MAX);
    while (code == COLANDER_OK && members.left > 0) {
        struct colander_slice name;

        code = colander_members_next(&members, &is_member, &name,
                                     &parts[count++], err);
    }
    if (code != COLANDER_OK)
        return code;
    return colander_key_encode(parts, count, &rows->key, err);
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
         const struct place *place, struct colander_error *err)
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
is_fine(struct colander_slice column)
{
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    bool is_so = true;

    if (colander_buffer_append(&row, "\x81", 1, NULL) == COLANDER_OK &&
        colander_buffer_append(&row, column.data, column.size, NULL) ==
            COLANDER_OK)
        is_so = colander_row_check(colander_buffer_slice(&row), NULL) ==
                COLANDER_OK;
    colander_buffer_release(&row);
    return is_so;
}

/* Where the column begins, but for the key, by which a record is refused; 0: it
 * is none alone. */
static size_t
find_fault(struct colander_slice record, const struct place *key, bool has_key)
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
        if (!is_fine(colander_slice_of(
                record.data + from, (size_t)(members.at - record.data) - from)))
            return from;
    }
    return 0;
}

enum colander_code
msgpack_rows_row(struct msgpack_rows *rows, struct colander_slice record,
                 struct colander_slice *key, bool *has_key,
                 struct colander_slice *row, size_t *at,
                 struct colander_error *err)
{
    struct place place = {0, 0, colander_null()};
    enum colander_code code;

    code = find_key(record, &place, has_key, err);
    if (code == COLANDER_OK && *has_key)
        code = encode_key(rows, &place.value, err);
    *at = place.from;
    if (code != COLANDER_OK)
        return invalid(code, err);
    *row = record;
    *key = colander_buffer_slice(&rows->key);
    if (*has_key) {
        code = take_out(rows, record, &place, err);
        if (code != COLANDER_OK)
            return invalid(code, err);
        *row = colander_buffer_slice(&rows->row);
    }
    code = invalid(colander_row_check(*row, err), err);
    if (code == COLANDER_OK)
        return code;
    *at = find_fault(record, &place, *has_key);
    return code;
}
