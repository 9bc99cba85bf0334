/*
 * Source: a file that is being loaded: its bytes, its format, and the current
 * position.
 *
 * Life:    open -> the reader uses text and splitter -> close
 * Threads: one at a time; header and format are constant after open
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_SOURCE_H
#define LOADING_SOURCE_H

#include "loading/csv.h"
#include "loading/input.h"
#include "loading/load.h"
#include "loading/resume_point.h"
#include "loading/splitter.h"

struct source {
    const char *file; /* as given by the client; borrowed */
    struct input *input;
    bool grows; /* it was opened with source_open_growing */
    struct splitter splitter;
    struct csv_header *header;      /* of CSV */
    struct colander_buffer line;    /* of CSV, its header */
    uint64_t sample_size;           /* of CSV, bytes after the header */
    struct colander_buffer text;    /* read, but not split yet */
    bool is_end;                    /* the file ends with the text */
    struct resume_point_bytes tail; /* before the resume point */

    /* of the text's beginning */
    uint64_t offset;
    uint64_t line_number; /* from 1 */
    uint64_t line_offset; /* where that line begins */
};

/*
 * Opens the file, finds its format, and skips what is not a record: a byte
 * order mark, the header. Decides how columns of CSV are read, from the same
 * records as the load that left the resume point. With one it skips to it, and
 * fails with INVALID if the bytes before it have changed.
 */
COLANDER_CHECKED enum colander_code
source_open(struct source *source, const char *file,
            const struct colander_load_options *options,
            const atomic_bool *is_cancelled, const struct resume_point *point,
            struct colander_error *err);

/* The same for a log that grows, which has lines of JSON or CSV: see
 * input_open_growing. The first records are those that are there, at least one.
 */
COLANDER_CHECKED enum colander_code
source_open_growing(struct source *source, const char *file,
                    const struct colander_load_options *options,
                    const atomic_bool *is_cancelled,
                    const struct resume_point *point, struct growing *growing,
                    struct colander_error *err);

/* Closes it; a source that was not opened is allowed. */
void source_close(struct source *source);

/* Appends up to `size` bytes of the file to `text`. */
COLANDER_CHECKED enum colander_code source_read(struct source *source,
                                                struct colander_buffer *text,
                                                size_t size,
                                                struct colander_error *err);

/* Moves the position by `passed`, the beginning of the text. */
void source_pass(struct source *source, struct colander_slice passed);

#endif
