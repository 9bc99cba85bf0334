/*
 * Splitter of msgpack: goes from head to head, and believes no count: it only
 * waits for more bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/splitter_formats.h"

enum msgpack_state {
    MSGPACK_BETWEEN,
    MSGPACK_MAP,
    MSGPACK_OTHER, /* a value that is no record */
    MSGPACK_REST,  /* nothing more can be read */
};

/* How a value begins. */
struct head {
    uint8_t size;        /* its bytes, with those of a content of fixed size */
    uint8_t length_size; /* of which so many behind the first are a length: */
    uint8_t values;      /* 0: of the content; else of so many values each */
};

/* 0xc0 to 0xdf. 0xc1 has none. */
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

/* The length that stands behind the first byte. */
static uint64_t
length_of(const uint8_t *head, size_t size)
{
    uint64_t length = 0;

    for (size_t i = 1; i <= size; i++)
        length = length << 8 | head[i];
    return length;
}

/* Steps over one head and the content of a scalar, which may lie beyond the
 * text. False: the head is not all there yet, or it is none. */
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
        length = length_of(at, head.length_size);
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

/* All that is left of the file, once that has ended. */
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
                        is_illegal ? "0xc1 is no msgpack, so that all behind "
                                     "it cannot be read"
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
    (void)COLANDER_FAIL(err, COLANDER_INVALID, "the value is no map");
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
