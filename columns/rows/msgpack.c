/* See msgpack.h. SPDX-License-Identifier: MIT */
#include "columns/msgpack.h"

#include "columns/value.h"
#include "core/bytes.h"

#define RISING_8(n)                                                            \
    (n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5, (n) + 6, (n) + 7
#define RISING_32 RISING_8(1), RISING_8(9), RISING_8(17), RISING_8(25)

const uint8_t msgpack_sizes[256] = {
    [0x00 ... 0x7f] = 1, [0xe0 ... 0xff] = 1,             /* integers */
    [0xa0] = RISING_32,                                   /* strings */
    [0xc0] = 1,          [0xc2] = 1,          [0xc3] = 1, /* null, booleans */
    [0xca] = 5,          [0xcb] = 9,                      /* floats */
    [0xcc] = 2,          [0xcd] = 3,          [0xce] = 5, /* unsigned */
    [0xcf] = 9,          [0xd3] = 9,                      /* of 8 bytes */
    [0xd0] = 2,          [0xd1] = 3,          [0xd2] = 5, /* signed */
    [0xd4] = 3,          [0xd5] = 4,          [0xd6] = 6, /* extensions */
    [0xd7] = 10,         [0xd8] = 18, /* of 8 and 16 bytes */
};

/* Bytes of the size or count after the heads c0 to df. */
static const uint8_t length_sizes[32] = {
    [0xc4 - 0xc0] = 1, [0xc5 - 0xc0] = 2, [0xc6 - 0xc0] = 4, /* binary */
    [0xc7 - 0xc0] = 1, [0xc8 - 0xc0] = 2, [0xc9 - 0xc0] = 4, /* extension */
    [0xd9 - 0xc0] = 1, [0xda - 0xc0] = 2, [0xdb - 0xc0] = 4, /* string */
    [0xdc - 0xc0] = 2, [0xdd - 0xc0] = 4,                    /* array */
    [0xde - 0xc0] = 2, [0xdf - 0xc0] = 4,                    /* map */
};

static double
load_float(const uint8_t *at)
{
    uint32_t bits = bytes_get_be32(at);
    float number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

static double
load_double(const uint8_t *at)
{
    uint64_t bits = bytes_get_be64(at);
    double number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

/* A head with a size or count. */
struct long_head {
    size_t size;     /* of the head, an extension's type included */
    uint32_t length; /* bytes of the body, or members */
    size_t items;    /* items inside it, each at least a byte */
};

/* An item from 0x80 to 0xdf that msgpack_sizes does not size. */
static enum msgpack_result
read_long_head(const struct msgpack_reader *reader, struct long_head *head)
{
    const uint8_t *at = reader->at;
    size_t left = msgpack_left(reader);
    size_t width = *at < 0xc0 ? 0 : length_sizes[*at - 0xc0];
    bool is_map;

    head->items = 0;
    if (*at == 0xc1)
        return MSGPACK_ILLEGAL;
    head->size = 1 + width + (*at >= 0xc7 && *at <= 0xc9);
    if (head->size > left)
        return MSGPACK_CUT;
    if (width == 0)
        head->length = *at & 0x0f;
    else
        head->length = width == 1   ? at[1]
                       : width == 2 ? bytes_get_be16(at + 1)
                                    : bytes_get_be32(at + 1);
    if (*at >= 0xc0 && *at < 0xdc)
        return head->length > left - head->size ? MSGPACK_CUT : MSGPACK_FINE;
    is_map = *at < 0x90 || *at >= 0xde;
    if (head->length > (left - head->size) / (is_map ? 2 : 1))
        return MSGPACK_CUT;
    head->items = is_map ? (size_t)head->length * 2 : head->length;
    return MSGPACK_FINE;
}

static enum msgpack_result
read_timestamp(const uint8_t *body, size_t size, struct colander_value *value)
{
    uint64_t packed;

    value->type = COLANDER_TIMESTAMP;
    if (size == 4) {
        value->second = bytes_get_be32(body);
    } else if (size == 8) {
        packed = bytes_get_be64(body);
        value->nanosecond = (uint32_t)(packed >> 34);
        value->second = (int64_t)(packed & 0x3ffffffff);
    } else if (size == 12) {
        value->nanosecond = bytes_get_be32(body);
        value->second = (int64_t)bytes_get_be64(body + 4);
    } else {
        return MSGPACK_ILLEGAL;
    }
    return value->nanosecond < VALUE_NANOSECONDS ? MSGPACK_FINE
                                                 : MSGPACK_ILLEGAL;
}

/* `type` points at the extension's type; its body follows. */
static enum msgpack_result
read_extension(const uint8_t *type, size_t size, struct colander_value *value)
{
    if (*type == 0xff)
        return read_timestamp(type + 1, size, value);
    value->type = COLANDER_EXTENSION;
    value->extension_type = (int8_t)*type;
    value->bytes = colander_slice_of(type + 1, size);
    return MSGPACK_FINE;
}

/* Numbers are put into the value field by field: a copy of a whole one would
 * wait for its fields to be written. The other fields are clear already. */
static enum msgpack_result
give_integer(struct colander_value *value, int64_t integer)
{
    value->type = COLANDER_INTEGER;
    value->integer = integer;
    return MSGPACK_FINE;
}

static enum msgpack_result
give_double(struct colander_value *value, double number)
{
    value->type = COLANDER_DOUBLE;
    value->number = number;
    return MSGPACK_FINE;
}

static enum msgpack_result
give_natural(struct colander_value *value, uint64_t natural)
{
    if (natural <= INT64_MAX)
        return give_integer(value, (int64_t)natural);
    value->type = COLANDER_UNSIGNED;
    value->natural = natural;
    return MSGPACK_FINE;
}

/* A head from 0xc0 to 0xdf whose size msgpack_sizes knows. */
static enum msgpack_result
read_sized(const uint8_t *at, struct colander_value *value)
{
    switch (*at) {
    case 0xc0:
        *value = colander_null();
        return MSGPACK_FINE;
    case 0xc2:
    case 0xc3:
        *value = colander_boolean(*at == 0xc3);
        return MSGPACK_FINE;
    case 0xca:
        return give_double(value, load_float(at + 1));
    case 0xcb:
        return give_double(value, load_double(at + 1));
    case 0xcc:
        return give_integer(value, at[1]);
    case 0xcd:
        return give_integer(value, bytes_get_be16(at + 1));
    case 0xce:
        return give_integer(value, bytes_get_be32(at + 1));
    case 0xcf:
        return give_natural(value, bytes_get_be64(at + 1));
    case 0xd0:
        return give_integer(value, (int8_t)at[1]);
    case 0xd1:
        return give_integer(value, (int16_t)bytes_get_be16(at + 1));
    case 0xd2:
        return give_integer(value, (int32_t)bytes_get_be32(at + 1));
    case 0xd3:
        return give_integer(value, (int64_t)bytes_get_be64(at + 1));
    default: /* 0xd4 ... 0xd8 */
        return read_extension(at + 1, (size_t)1 << (*at - 0xd4), value);
    }
}

/* Reads an item with a long head. */
static enum msgpack_result
read_long(const uint8_t *at, const struct long_head *head,
          struct colander_value *value, uint32_t *count)
{
    if (*at >= 0xc7 && *at <= 0xc9)
        return read_extension(at + head->size - 1, head->length, value);
    if (*at >= 0xdc) {
        value->type = *at >= 0xde ? COLANDER_MAP : COLANDER_ARRAY;
        value->bytes = colander_slice_of(at, 0);
        *count = head->length;
        return MSGPACK_FINE;
    }
    value->type = *at >= 0xd9 ? COLANDER_STRING : COLANDER_BINARY;
    value->bytes = colander_slice_of(at + head->size, head->length);
    return MSGPACK_FINE;
}

enum msgpack_result
msgpack_read_slowly(struct msgpack_reader *reader, struct colander_value *value,
                    uint32_t *count)
{
    const uint8_t *at = reader->at;
    size_t size = msgpack_sizes[*at];
    struct long_head head;
    enum msgpack_result result;

    if (size > 0) {
        result = read_sized(at, value);
    } else {
        result = read_long_head(reader, &head);
        if (result != MSGPACK_FINE)
            return result;
        result = read_long(at, &head, value, count);
        size = head.size + (*at < 0xdc ? head.length : 0);
    }
    if (result == MSGPACK_FINE)
        reader->at = at + size;
    return result;
}

/* Skips a scalar, or the head of a container of *items. */
static enum msgpack_result
skip_head(struct msgpack_reader *reader, size_t *items)
{
    struct long_head head;
    enum msgpack_result result;
    size_t size;

    *items = 0;
    if (reader->at == reader->end)
        return MSGPACK_CUT;
    size = msgpack_sizes[*reader->at];
    if (size > msgpack_left(reader))
        return MSGPACK_CUT;
    if (size == 0) {
        result = read_long_head(reader, &head);
        if (result != MSGPACK_FINE)
            return result;
        size = head.size;
        *items = head.items;
        if (*reader->at >= 0xc0 && *reader->at < 0xdc)
            size += head.length;
    }
    reader->at += size;
    return MSGPACK_FINE;
}

enum msgpack_result
msgpack_skip_slowly(struct msgpack_reader *reader)
{
    size_t left[COLANDER_ROW_DEPTH_MAX]; /* items, in each open container */
    size_t depth = 0;
    size_t items;
    enum msgpack_result result;

    for (;;) {
        result = skip_head(reader, &items);
        if (result != MSGPACK_FINE)
            return result;
        if (items > 0 && depth == COLANDER_ROW_DEPTH_MAX)
            return MSGPACK_TOO_DEEP;
        if (items > 0)
            left[depth++] = items;
        while (depth > 0 && left[depth - 1] == 0)
            depth--;
        if (depth == 0)
            return MSGPACK_FINE;
        left[depth - 1]--;
    }
}

enum colander_code
msgpack_fail(enum msgpack_result result, enum colander_code code,
             const char *what, struct colander_error *err)
{
    switch (result) {
    case MSGPACK_TOO_DEEP:
        return COLANDER_FAIL(err, code, "%s has more than %d levels", what,
                             COLANDER_ROW_DEPTH_MAX);
    case MSGPACK_ILLEGAL:
        return COLANDER_FAIL(err, code, "%s has bytes that are not a value",
                             what);
    case MSGPACK_NO_NAME:
        return COLANDER_FAIL(err, code, "%s has a name that is not a string",
                             what);
    default:
        return COLANDER_FAIL(err, code, "%s ends in the middle of a value",
                             what);
    }
}

enum colander_code
msgpack_container_begin(struct colander_buffer *out, size_t *start,
                        struct colander_error *err)
{
    static const uint8_t empty = 0x80;

    *start = out->size;
    return colander_buffer_append(out, &empty, 1, err);
}

enum colander_code
msgpack_container_end(struct colander_buffer *out, size_t start, bool is_map,
                      uint32_t count, struct colander_error *err)
{
    uint16_t count16 = htobe16((uint16_t)count);
    uint32_t count32 = htobe32(count);
    size_t extra = count < 16 ? 0 : count <= UINT16_MAX ? 2 : 4;
    enum colander_code code;
    uint8_t *head;

    code = colander_buffer_reserve(out, extra, err);
    if (code != COLANDER_OK)
        return code;
    head = out->data + start;
    if (extra == 0) {
        *head = (uint8_t)((is_map ? 0x80 : 0x90) | count);
        return COLANDER_OK;
    }
    memmove(head + 1 + extra, head + 1, out->size - start - 1);
    out->size += extra;
    if (extra == 2)
        memcpy(head + 1, &count16, sizeof(count16));
    else
        memcpy(head + 1, &count32, sizeof(count32));
    *head = (uint8_t)((is_map ? 0xde : 0xdc) + (extra == 4));
    return COLANDER_OK;
}

/* ------------------------------------------------------------- members --- */

enum colander_code
colander_members_init(struct colander_members *members,
                      struct colander_slice container,
                      struct colander_error *err)
{
    struct msgpack_reader reader = msgpack_reader_of(container);
    struct colander_value value;
    enum msgpack_result result;
    uint32_t count;

    memset(members, 0, sizeof(*members));
    result = msgpack_read(&reader, &value, &count);
    if (result != MSGPACK_FINE)
        return msgpack_fail(result, COLANDER_CORRUPT, "container", err);
    if (value.type < COLANDER_ARRAY)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "container is neither a map nor an array");
    members->at = reader.at;
    members->end = reader.end;
    members->left = count;
    members->is_map = value.type == COLANDER_MAP;
    return COLANDER_OK;
}

enum colander_code
colander_members_next(struct colander_members *members, bool *is_member,
                      struct colander_slice *name, struct colander_value *value,
                      struct colander_error *err)
{
    struct msgpack_reader reader = {members->at, members->end};
    enum msgpack_result result = MSGPACK_FINE;

    *is_member = false;
    *name = colander_slice_of(NULL, 0);
    if (members->left == 0)
        return COLANDER_OK;
    if (members->is_map)
        result = msgpack_read_name(&reader, name);
    if (result == MSGPACK_FINE)
        result = msgpack_read_whole(&reader, value);
    if (result != MSGPACK_FINE)
        return msgpack_fail(result, COLANDER_CORRUPT, "container", err);
    members->at = reader.at;
    members->left--;
    *is_member = true;
    return COLANDER_OK;
}
