/*
 * Place: how far a file was loaded. It is kept as a mark of the family, written
 * with the rows before it.
 *
 * A file is known by its absolute path, and trusted if the last bytes before
 * the place are still what they were.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_PLACE_H
#define LOADING_PLACE_H

#include "columns/columns.h"

#define PLACE_TAIL_MAX 4096

/* The last bytes before a place. */
struct place_tail {
    size_t size;
    uint8_t bytes[PLACE_TAIL_MAX];
};

struct place {
    uint64_t offset;      /* in the uncompressed bytes */
    uint64_t line;        /* which begins or goes on there, from 1, */
    uint64_t line_offset; /* and begins there */
    uint64_t row_count;
    uint64_t reject_count;
    uint64_t rejects_size; /* of the file of rejected records */
    uint64_t tail_hash;    /* of the bytes before the place: */
    uint64_t tail_size;
    uint64_t format; /* enum record_format */
    uint64_t state;  /* of the splitter there */
    bool is_end;     /* there was nothing behind it */

    /* Of a bulk load, whose places are written before its rows: the key of the
     * first row. The place counts only where that is. */
    size_t bulk_key_size;
    uint8_t bulk_key[COLANDER_KEY_SIZE_MAX];
};

/* Whether it can be one, whatever the file. */
bool place_is_sound(const struct place *place);

/* Takes the end of `text`, which comes behind what it has. */
void place_tail_append(struct place_tail *tail, struct colander_slice text);

/* Notes the bytes before the place. */
void place_set_tail(struct place *place, const struct place_tail *tail);

/* Whether they are what was noted. */
bool place_has_tail(const struct place *place, const struct place_tail *tail);

/* Replaces `name` by the name of the mark for `file`. */
COLANDER_CHECKED enum colander_code place_name(const char *file,
                                               struct colander_buffer *name,
                                               struct colander_error *err);

/* Adds the mark to the batch; NULL instead of a place removes it. */
COLANDER_CHECKED enum colander_code place_mark(const struct place *place,
                                               struct colander_batch *batch,
                                               struct colander_family *family,
                                               struct colander_slice name,
                                               struct colander_error *err);

/* Reads the mark; *found tells. CORRUPT when it is none, or not sound. */
COLANDER_CHECKED enum colander_code
place_read(struct place *place, struct colander_family *family,
           struct colander_slice name, bool *found, struct colander_error *err);

#endif
