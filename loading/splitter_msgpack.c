/*
 * Splitter of msgpack: steps from head to head. A count is not trusted: it only
 * means that more bytes are needed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bytes.h"
#include "loading/splitter_formats.h"

enum msgpack_state {
    MSGPACK_BETWEEN,
    MSGPACK_MAP,
    MSGPACK_OTHER, /* a value that is not a record */
    MSGPACK_REST,  /* nothing more can be read */
};

/* How a value begins. */
struct head {
    uint8_t size;        /* its bytes, with those of a content of fixed size */
    uint8_t length_size; /* bytes of a length after the first byte: */
    uint8_t values;      /* 0: of the content; 1 or 2: elements of this many
                          * values */
};

/* 0xc0 to 0xdf. 0xc1 is not used. */
static const struct head heads[32] = {
    {1, 0, 0},  {0, 0, 0}, {1, 0, 0}, {1, 0, 0},  /* nil, none, booleans */
    {2, 1, 0},  {3, 2, 0}, {5, 4, 0},             /* bin */
    {3, 1, 0},  {4, 2, 0}, {6, 4, 0},             /* ext, with its type */
    {5, 0, 0},  {9, 0, 0},                        /* float */
    {2, 0, 0},  {3, 0, 0}, {5, 0, 0}, {9, 0, 0},  /* uint */
    {2, 0, 0},  {3, 0, 0}, {5, 0, 0}, {9, 0, 0},  /* int */
    {3, 0, 0},  {4, 0, 0}, {6, 0, 0}, {10, 0, 0}, /* fixext */
    {18, 0, 0},                                   /* fixext 16 */
    {2, 1, 0},  {3, 2, 0}, {5, 4, 0},             /* str */
    {3, 2, 1},  {5, 4, 1},                        /* array */
    {3, 2, 2},  {5, 4, 2},                        /* map */
};

/* Steps over one head and the content of a scalar, which may lie beyond the
 * text. Returns false if the head is incomplete or invalid. */
static bool
step(struct splitter *splitter, const struct split_text *text)
{
    const uint8_t *at = text->data + splitter->scanned;
    size_t left = text->size - splitter->scanned;
    struct head head = {1, 0, 0};
    uint64_t length = 0;

    if (*at >= 0xc0 && *at < 0xe0) {
        head = heads[*at - 0xc0];
        if (head.size == 0)
            splitter->state = MSGPACK_REST;
        if (head.size == 0 || left <= head.length_size)
            return false;
        length = bytes_get_be(at + 1, head.length_size);
    } else if (*at >= 0x80 && *at < 0xa0) {
        head.values = *at < 0x90 ? 2 : 1;
        length = *at & 0x0f;
    } else if (*at >= 0xa0 && *at < 0xc0) {
        length = *at & 0x1f;
    }
    splitter->values_left += length * head.values;
    splitter->values_left--;
    splitter->scanned += head.size + (head.values == 0 ? length : 0);
    return true;
}

static bool
is_map(uint8_t first)
{
    return first >> 4 == 8 || first == 0xde || first == 0xdf;
}

/* The rest of the file, once that has ended. */
static enum split
rest(struct splitter *splitter, const struct split_text *text,
     struct split_record *ended, struct colander_error *err)
{
    bool is_illegal = splitter->state == MSGPACK_REST;
    size_t at = splitter->scanned;

    if (!text->is_end)
        return SPLIT_MORE;
    split_end(splitter, text, text->size, text->size, ended);
    ended->at = at < text->size ? at : text->size;
    (void)COLANDER_FAIL(err, COLANDER_INVALID,
                        is_illegal ? "0xc1 is not msgpack, so the rest of "
                                     "the file cannot be read"
                                   : "the file ends inside a value");
    return SPLIT_BAD;
}

enum split
splitter_msgpack_next(struct splitter *splitter, struct split_text text,
                      struct split_record *ended, struct colander_error *err)
{
    bool is_record;

    if (splitter->state == MSGPACK_BETWEEN) {
        if (text.size == 0)
            return text.is_end ? SPLIT_END : SPLIT_MORE;
        splitter->state = is_map(*text.data) ? MSGPACK_MAP : MSGPACK_OTHER;
        splitter->values_left = 1;
    }
    while (splitter->state != MSGPACK_REST && splitter->values_left > 0 &&
           splitter->scanned < text.size && step(splitter, &text))
        ;
    if (splitter->state == MSGPACK_REST || splitter->values_left > 0 ||
        splitter->scanned > text.size)
        return rest(splitter, &text, ended, err);
    is_record = splitter->state == MSGPACK_MAP;
    split_end(splitter, &text, splitter->scanned, splitter->scanned, ended);
    if (is_record)
        return SPLIT_RECORD;
    (void)COLANDER_FAIL(err, COLANDER_INVALID, "the value is not a map");
    return SPLIT_BAD;
}

size_t
splitter_msgpack_give_up(struct splitter *splitter, struct split_text text)
{
    size_t dropped = text.size;

    if (splitter->state == MSGPACK_REST)
        splitter->scanned = text.size;
    if (splitter->scanned < dropped)
        dropped = splitter->scanned;
    splitter->scanned -= dropped;
    return dropped;
}
