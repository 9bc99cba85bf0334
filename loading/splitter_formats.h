/*
 * The splitter's formats, for splitter.c alone: each is what splitter_next and
 * splitter_give_up do for it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_SPLITTER_FORMATS_H
#define LOADING_SPLITTER_FORMATS_H

#include "loading/splitter.h"

/* What splitter_next was given. */
struct split_text {
    const uint8_t *data;
    size_t size;
    bool is_end;
};

/* `text` without what was found to be between records; *ended tells how much
 * that is. */
static inline void
split_step(struct split_text *text, size_t size, struct split_record *ended)
{
    if (size > 0)
        text->data += size;
    text->size -= size;
    ended->size += size;
}

/* Where `byte` is, from `from` on; text->size when nowhere. */
static inline size_t
split_find(const struct split_text *text, size_t from, char byte)
{
    const uint8_t *found = NULL;

    if (from < text->size)
        found = memchr(text->data + from, byte, text->size - from);
    return found == NULL ? text->size : (size_t)(found - text->data);
}

/* Ends the record under way: `size` bytes, of which `record_size` are it. */
void split_end(struct splitter *splitter, const struct split_text *text,
               size_t size, size_t record_size, struct split_record *ended);

enum split splitter_json_next(struct splitter *splitter, struct split_text text,
                              struct split_record *ended,
                              struct colander_error *err);

enum split splitter_csv_next(struct splitter *splitter, struct split_text text,
                             struct split_record *ended,
                             struct colander_error *err);
bool splitter_csv_give_up(struct splitter *splitter, struct split_text text,
                          struct split_record *ended,
                          struct colander_error *err);

enum split splitter_msgpack_next(struct splitter *splitter,
                                 struct split_text text,
                                 struct split_record *ended,
                                 struct colander_error *err);
/* Gives the bytes to be dropped: the head that the text ends in stays. */
size_t splitter_msgpack_give_up(struct splitter *splitter,
                                struct split_text text);

#endif
