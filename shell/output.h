/*
 * Output: rows as JSON, CSV, TSV, msgpack, tables, or line by line.
 *
 * Rows need not come from a store: see has_no_key.
 *
 * Life:   create -> learn* -> row* -> finish -> destroy
 * Memory: the paths of the options are borrowed until destroy
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_OUTPUT_H
#define SHELL_OUTPUT_H

#include "shell/report.h"

enum output_format {
    OUTPUT_JSONL = 0, /* one JSON object per line, exact */
    OUTPUT_JSON,      /* one array, one row per line */
    OUTPUT_CSV,       /* as in csv.h */
    OUTPUT_TSV,       /* the same */
    OUTPUT_MSGPACK,   /* one map after another, as they are stored */
    OUTPUT_TABLE,     /* fitted to the terminal */
    OUTPUT_BOX,       /* the same, with lines around the cells */
    OUTPUT_MARKDOWN,  /* a table that is never cut */
    OUTPUT_LINE,      /* one column per line, a blank line between rows */
    OUTPUT_PRETTY,    /* JSON of several lines, indented */
};

/* What a user chose. */
struct output_style {
    const char *null_text; /* in tables and lines; NULL: "null"; borrowed */
    size_t width;          /* of a table; 0: that of the terminal */
};

#define OUTPUT_UNCUT SIZE_MAX /* a width: tables are as wide as they need */

struct output_options {
    enum output_format format;
    const char *const *paths; /* columns selected */
    size_t path_count;        /* 0: those the rows have */
    bool shows_matches;       /* print the columns that matched too */
    bool has_no_key;          /* print no "_key" */
    bool learns_columns;      /* every row is passed to output_learn first */
    bool is_terminal; /* the output ends at one, even if the file does not */
    struct output_style style;

    /* A table begins with the columns of its conditions. NULL: none; borrowed
     * until output_create returns. */
    const struct colander_predicate *where;
};

struct output;

const char *output_format_name(enum output_format format);

/* Reads a name such as "jsonl". */
COLANDER_CHECKED enum colander_code
output_format_parse(const char *name, enum output_format *format,
                    struct colander_error *err);

/* `file` is borrowed until destroy. Fails with INVALID for msgpack on a
 * terminal. */
COLANDER_CHECKED enum colander_code
output_create(FILE *file, const struct output_options *options,
              struct output **output, struct colander_error *err);

/* Learns the columns of a row that is printed later, so that CSV can print all
 * names first and keep no row back. Other formats do not
 * need it. */
COLANDER_CHECKED enum colander_code
output_learn(struct output *output, const struct colander_result *result,
             struct colander_error *err);

/* Prints a row. A table keeps its first rows back. CSV keeps all rows back if
 * columns are neither selected nor learnt. Fails with IO, with CANCELLED if no
 * one reads the output, with LIMIT if CSV has too many columns; finish then
 * prints the rows before. */
COLANDER_CHECKED enum colander_code
output_row(struct output *output, const struct colander_result *result,
           struct colander_error *err);

/* Prints the rows that were kept back, and the end. Allowed after a failure. */
COLANDER_CHECKED enum colander_code output_finish(struct output *output,
                                                  struct colander_error *err);

/* NULL is allowed. */
void output_destroy(struct output *output);

/* Adds a line with the columns and values that a table left out, if any. */
void output_add_left_out(const struct output *output, struct report *report);

/* Flushes `file`. Fails if this or an earlier write failed, as output_row. */
COLANDER_CHECKED enum colander_code output_flush(FILE *file,
                                                 struct colander_error *err);

/* Fails, right after a write to `file` that failed. */
COLANDER_CHECKED enum colander_code output_fail(FILE *file,
                                                struct colander_error *err);

/* Returns the width of the terminal; $COLUMNS or 80 if there is none. */
size_t output_width(void);

#endif
