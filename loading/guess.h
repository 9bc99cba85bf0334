/*
 * Guess: the format of a file, from its name and its first bytes.
 *
 *     .jsonl .ndjson       lines of JSON
 *     .json .js            JSON or JSON lines, from the bytes as below
 *     .csv .tsv .tab       CSV
 *     .msgpack .mp         msgpack
 *     other names, none    `[` or an assignment: JSON; `{`: lines of JSON when
 *                          the first line is one whole object, else JSON; a
 *                          map of msgpack; else CSV when the first line is
 *                          text with a delimiter in it
 *
 * .gz, .zst and .zstd at the end of a name are ignored, and so is the number of
 * a log that was rotated: app.jsonl.2.gz.
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

/* Bytes of a file that suffice for a guess. */
#define GUESS_SIZE ((size_t)64 << 10)

/* Reads the name of a format: jsonl, json, csv, tsv, msgpack. Returns false if
 * it is unknown. *delimiter is a tab for tsv, else 0. */
bool format_parse(const char *text, enum record_format *format,
                  char *delimiter);

/* Returns "jsonl" and so on; "tsv" for CSV with tabs. */
const char *format_name(enum record_format format, char delimiter);

/* Returns the name of a file without its folder and the endings above, borrowed
 * from `path`. */
struct colander_slice format_stem(const char *path);

/*
 * Guesses from `name` (a path, or NULL) and `text`, the first GUESS_SIZE bytes
 * or all there are. Fails with INVALID if they do not decide, or are UTF-16.
 * For an empty file any format is returned.
 */
COLANDER_CHECKED enum colander_code format_guess(const char *name,
                                                 struct colander_slice text,
                                                 struct format_guess *guess,
                                                 struct colander_error *err);

/* The same for a known format and delimiter (0: guessed). Fails with INVALID
 * for UTF-16. */
COLANDER_CHECKED enum colander_code format_given(enum record_format format,
                                                 char delimiter,
                                                 struct colander_slice text,
                                                 struct format_guess *guess,
                                                 struct colander_error *err);

/* Whether the text is a msgpack map that is empty or whose first key is a
 * string; not UTF-8, nor the beginning of an image. */
bool guess_is_msgpack(struct colander_slice text);

#endif
