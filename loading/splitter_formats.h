/*
 * Private to splitter*.c: what splitter_next and splitter_give_up do for each
 * format.
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

/* Skips separators at the beginning of `text` and adds them to *ended. */
static inline void
split_step(struct split_text *text, size_t size, struct split_record *ended)
{
    if (size > 0)
        text->data += size;
    text->size -= size;
    ended->size += size;
}

/* Returns where `byte` is next, from `from` on; text->size if nowhere. */
static inline size_t
split_find(const struct split_text *text, size_t from, char byte)
{
    const uint8_t *found = NULL;

    if (from < text->size)
        found = memchr(text->data + from, byte, text->size - from);
    return found == NULL ? text->size : (size_t)(found - text->data);
}

/* Returns whether JSON allows the byte between tokens. */
static inline bool
split_is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* Ends the current record: of `size` bytes, `record_size` are the record. */
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

enum split splitter_influx_next(struct splitter *splitter,
                                struct split_text text,
                                struct split_record *ended,
                                struct colander_error *err);
bool splitter_influx_give_up(struct splitter *splitter, struct split_text text,
                             struct split_record *ended,
                             struct colander_error *err);

enum split splitter_items_next(struct splitter *splitter,
                               struct split_text text,
                               struct split_record *ended,
                               struct colander_error *err);
void splitter_items_give_up(struct splitter *splitter);

enum split splitter_msgpack_next(struct splitter *splitter,
                                 struct split_text text,
                                 struct split_record *ended,
                                 struct colander_error *err);
/* Returns how many bytes to drop; keeps a head in which the text ends. */
size_t splitter_msgpack_give_up(struct splitter *splitter,
                                struct split_text text);

#endif
