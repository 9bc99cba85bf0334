/*
 * Source: a file that is being loaded: its bytes, its format, and where in it
 * the load is.
 *
 * Life:    open -> the thread that reads takes text and splitter -> close
 * Threads: one at a time; header and format do not change once it is open
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_SOURCE_H
#define LOADING_SOURCE_H

#include "loading/csv.h"
#include "loading/input.h"
#include "loading/loading.h"
#include "loading/place.h"
#include "loading/splitter.h"

struct source {
    const char *file; /* as it was given; borrowed */
    struct input *input;
    struct splitter splitter;
    struct csv_header *header;   /* of CSV */
    struct colander_buffer line; /* of CSV, its line of names */
    struct colander_buffer text; /* was read, and is not cut yet */
    bool is_end;                 /* nothing comes behind it */
    struct place_tail tail;      /* of a load that goes on: bytes before it */

    /* of the text's beginning */
    uint64_t offset;
    uint64_t line_number; /* from 1 */
    uint64_t line_offset; /* where that line begins */
};

/*
 * Opens the file, finds its format, and goes behind what is no record: a byte
 * order mark, the line of names. With a `place` it goes there, and says INVALID
 * when the file is not what it was up to there.
 */
COLANDER_CHECKED enum colander_code
source_open(struct source *source, const char *file,
            const struct loading_options *options, const struct place *place,
            struct colander_error *err);

/* Releases what was opened, if anything. */
void source_close(struct source *source);

/* Reads up to `size` more bytes into `text`, behind what is there. */
COLANDER_CHECKED enum colander_code source_read(struct source *source,
                                                struct colander_buffer *text,
                                                size_t size,
                                                struct colander_error *err);

/* Says that `passed`, the beginning of the text, is behind. */
void source_pass(struct source *source, struct colander_slice passed);

#endif
