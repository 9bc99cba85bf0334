/*
 * Guess: which format a file has, by its name and its first bytes.
 *
 *     .jsonl .ndjson       lines of JSON
 *     .json .js            JSON, or lines of it: as for no name
 *     .csv .tsv .tab       CSV
 *     .msgpack .mp         msgpack
 *     other names, none    `[` or an assignment: JSON; `{`: lines of JSON when
 *                          the first line is one whole object, else JSON; a
 *                          map of msgpack; else CSV when the first line is
 *                          text with a delimiter in it
 *
 * .gz, .zst and .zstd behind a name are left out of account.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_GUESS_H
#define LOADING_GUESS_H

#include "loading/splitter.h"

struct format_guess {
    enum record_format format;
    char delimiter; /* of CSV */
    size_t skip;    /* bytes before the first record: a byte order mark */
};

/* So much of a file is enough to guess by. */
#define GUESS_SIZE ((size_t)64 << 10)

/* Reads the name of a format: jsonl, json, csv, tsv, msgpack. False: it is
 * none. Of CSV *delimiter is 0, as the file has it. */
bool format_parse(const char *text, enum record_format *format,
                  char *delimiter);

/* "jsonl" ... of a tab as delimiter "tsv". */
const char *format_name(enum record_format format, char delimiter);

/*
 * Guesses by `name` (a path; NULL: none) and `text`, the first GUESS_SIZE bytes
 * or all that there are. INVALID when nothing is known by them, or they are
 * UTF-16. A file that is empty has any format.
 */
COLANDER_CHECKED enum colander_code format_guess(const char *name,
                                                 struct colander_slice text,
                                                 struct format_guess *guess,
                                                 struct colander_error *err);

/* The same where the format is given, and the delimiter (0: as the file has
 * it): what is to be skipped, and INVALID for UTF-16. */
COLANDER_CHECKED enum colander_code format_given(enum record_format format,
                                                 char delimiter,
                                                 struct colander_slice text,
                                                 struct format_guess *guess,
                                                 struct colander_error *err);

#endif
