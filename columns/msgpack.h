/*
 * msgpack, read in place: one item at a time, without allocation.
 *
 * The bytes need not have been checked. A reader never looks past `end`, and
 * rejects a size or count that the remaining bytes cannot hold.
 *
 * Life:   {at, end} -> read, read_name or skip until at == end
 * Memory: values are borrowed from the bytes
 * Knows:  items. row.c knows that a row is a map with unique names.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_MSGPACK_H
#define COLANDER_COLUMNS_MSGPACK_H

#include "columns/columns.h"

struct msgpack_reader {
    const uint8_t *at;
    const uint8_t *end;
};

enum msgpack_result {
    MSGPACK_FINE = 0,
    MSGPACK_CUT,      /* the bytes end before the item does */
    MSGPACK_ILLEGAL,  /* 0xc1, or an impossible timestamp */
    MSGPACK_TOO_DEEP, /* more levels than COLANDER_ROW_DEPTH_MAX */
    MSGPACK_NO_NAME,  /* something else than a string where a name must be */
};

/* The size of an item by its first byte, or 0 if that byte does not determine
 * it. It does for fixed-size scalars and short strings, but not containers. */
extern const uint8_t msgpack_sizes[256];

/* msgpack_read and msgpack_skip for the heads that are not inlined. */
enum msgpack_result msgpack_read_slowly(struct msgpack_reader *reader,
                                        struct colander_value *value,
                                        uint32_t *count);
enum msgpack_result msgpack_skip_slowly(struct msgpack_reader *reader);

/* Fills `err` with `code` and a text about `what`. Requires that `result` is
 * not FINE. */
enum colander_code msgpack_fail(enum msgpack_result result,
                                enum colander_code code, const char *what,
                                struct colander_error *err);

static inline struct msgpack_reader
msgpack_reader_of(struct colander_slice bytes)
{
    struct msgpack_reader reader = {bytes.data, bytes.data};

    if (bytes.size > 0)
        reader.end += bytes.size;
    return reader;
}

static inline size_t
msgpack_left(const struct msgpack_reader *reader)
{
    return (size_t)(reader->end - reader->at);
}

/* Returns whether a map begins with this byte. */
static inline bool
msgpack_is_map(uint8_t head)
{
    return (head & 0xf0) == 0x80 || (head & 0xfe) == 0xde;
}

/*
 * Reads a scalar, or the head of a container. *count is the number of members,
 * and 0 for a scalar. After the head of a container the reader is before its
 * first member; `value->bytes` begins at the head and has size 0. An integer is
 * INTEGER if it fits, and a float32 is a DOUBLE. On failure the reader has not
 * moved.
 */
static inline enum msgpack_result
msgpack_read(struct msgpack_reader *reader, struct colander_value *value,
             uint32_t *count)
{
    const uint8_t *at = reader->at;
    size_t left = msgpack_left(reader);
    size_t size;

    if (left == 0 || (size = msgpack_sizes[*at]) > left)
        return MSGPACK_CUT;
    *count = 0;
    value->extension_type = 0;
    value->nanosecond = 0;
    if (*at < 0x80 || *at >= 0xe0) {
        value->type = COLANDER_INTEGER;
        value->integer = (int8_t)*at;
    } else if ((*at & 0xe0) == 0xa0) {
        value->type = COLANDER_STRING;
        value->bytes = colander_slice_of(at + 1, size - 1);
    } else if (*at < 0xa0) {
        bool is_map = *at < 0x90;
        uint32_t members = *at & 0x0f;

        if ((is_map ? members * 2 : members) > left - 1)
            return MSGPACK_CUT;
        value->type = is_map ? COLANDER_MAP : COLANDER_ARRAY;
        value->bytes = colander_slice_of(at, 0);
        *count = members;
        size = 1;
    } else {
        return msgpack_read_slowly(reader, value, count);
    }
    reader->at = at + size;
    return MSGPACK_FINE;
}

/* Reads a string that is a name. */
static inline enum msgpack_result
msgpack_read_name(struct msgpack_reader *reader, struct colander_slice *name)
{
    struct colander_value value;
    enum msgpack_result result;
    uint32_t count;

    if (msgpack_left(reader) > 0 && (*reader->at & 0xe0) == 0xa0) {
        size_t size = *reader->at & 0x1f;

        if (size >= msgpack_left(reader))
            return MSGPACK_CUT;
        *name = colander_slice_of(reader->at + 1, size);
        reader->at += size + 1;
        return MSGPACK_FINE;
    }
    result = msgpack_read(reader, &value, &count);
    if (result == MSGPACK_FINE && value.type != COLANDER_STRING)
        result = MSGPACK_NO_NAME;
    if (result == MSGPACK_FINE)
        *name = value.bytes;
    return result;
}

/* Skips one item with all that is in it. Finds items that are cut off, illegal
 * or too deep. Only reading finds an impossible timestamp. */
static inline enum msgpack_result
msgpack_skip(struct msgpack_reader *reader)
{
    size_t left = msgpack_left(reader);
    size_t size = left == 0 ? 0 : msgpack_sizes[*reader->at];

    if (size == 0 || size > left)
        return msgpack_skip_slowly(reader);
    reader->at += size;
    return MSGPACK_FINE;
}

/* Reads one item. `bytes` of a container are all of it. */
static inline enum msgpack_result
msgpack_read_whole(struct msgpack_reader *reader, struct colander_value *value)
{
    const uint8_t *start = reader->at;
    enum msgpack_result result;
    uint32_t count;

    result = msgpack_read(reader, value, &count);
    if (result != MSGPACK_FINE || value->type < COLANDER_ARRAY)
        return result;
    reader->at = start;
    result = msgpack_skip(reader);
    if (result == MSGPACK_FINE)
        value->bytes.size = (size_t)(reader->at - start);
    return result;
}

/*
 * Writes a container whose count is only known at its end. `begin` leaves room
 * for the shortest head at the end of `out` and sets *start to its offset.
 * `end` writes the head, and moves the content if the head needs more room.
 */
COLANDER_CHECKED enum colander_code
msgpack_container_begin(struct colander_buffer *out, size_t *start,
                        struct colander_error *err);
COLANDER_CHECKED enum colander_code
msgpack_container_end(struct colander_buffer *out, size_t start, bool is_map,
                      uint32_t count, struct colander_error *err);

#endif
