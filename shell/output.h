/*
 * Output: rows as JSON lines, JSON, CSV, msgpack, a table, or line by line.
 *
 * Rows need not be those of a store: see has_no_key.
 *
 * Life:   create -> learn* -> row* -> finish -> destroy
 * Memory: the paths of the options are borrowed until destroy
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_OUTPUT_H
#define SHELL_OUTPUT_H

#include "colander.h"

#include <stdio.h>

enum output_format {
    OUTPUT_JSONL = 0, /* one JSON object a line, exact */
    OUTPUT_JSON,      /* one array, a row a line */
    OUTPUT_CSV,       /* as in csv.h */
    OUTPUT_MSGPACK,   /* one map after another, as they are stored */
    OUTPUT_TABLE,     /* fitted to the terminal */
    OUTPUT_LINE,      /* one column a line, a blank line between rows */
};

struct output_options {
    enum output_format format;
    const char *const *paths; /* columns selected */
    size_t path_count;        /* 0: those the rows have */
    bool shows_matches;       /* the columns that matched, too */
    bool has_no_key;          /* rows are columns alone: no "_key" is shown */
    bool learns_columns;      /* every row comes to output_learn first */
};

struct output;

const char *output_format_name(enum output_format format);

/* Reads a name such as "jsonl". */
COLANDER_CHECKED enum colander_code
output_format_parse(const char *name, enum output_format *format,
                    struct colander_error *err);

/* `file` is borrowed until destroy. INVALID: msgpack for a terminal. */
COLANDER_CHECKED enum colander_code
output_create(FILE *file, const struct output_options *options,
              struct output **output, struct colander_error *err);

/* Takes the columns of a row that comes later: so CSV has the names of all
 * before the first, and keeps none back. Other formats need none. */
COLANDER_CHECKED enum colander_code
output_learn(struct output *output, const struct colander_result *result,
             struct colander_error *err);

/* IO when the file cannot take the row, CANCELLED when nobody reads it any
 * more. A table keeps its rows back until it has seen some, CSV all of them
 * where no columns are selected or learnt: after LIMIT, finish writes those
 * before. */
COLANDER_CHECKED enum colander_code
output_row(struct output *output, const struct colander_result *result,
           struct colander_error *err);

/* Writes what was kept back, and the end; also after a row failed. */
COLANDER_CHECKED enum colander_code output_finish(struct output *output,
                                                  struct colander_error *err);

/* NULL is allowed. */
void output_destroy(struct output *output);

/* Appends what a table did not show, if anything. */
COLANDER_CHECKED enum colander_code
output_append_left_out(const struct output *output,
                       struct colander_buffer *text,
                       struct colander_error *err);

/* Flushes, and says what writing to `file` has failed with: as output_row. */
COLANDER_CHECKED enum colander_code output_flush(FILE *file,
                                                 struct colander_error *err);

/* Cells of a line of the terminal; $COLUMNS or 80 where there is none. */
size_t output_width(void);

#endif
