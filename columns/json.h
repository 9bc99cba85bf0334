/*
 * JSON: rows to text, for people and other programs, and text to rows.
 *
 * Reading guesses nothing: a string that looks like a date is a string. A row
 * that was written reads back as the same row. If a row builder made it, it
 * reads back as the same bytes. The exceptions are values that JSON does not
 * have, which are written as the closest that JSON has:
 *
 *     BINARY                            a string in base64
 *     TIMESTAMP                         a string in RFC 3339; outside the years
 *                                       0000 to 9999 the map
 *                                       {"seconds":..,"nanoseconds":..}
 *     EXTENSION                         the map {"type":..,"data":base64}
 *     DOUBLE of NaN or an infinity      null
 *
 * The same holds for keys, but a key that has become a map or null cannot be
 * read. Writing again what was read gives the same text.
 *
 * Memory:  the words of core.h: owned, borrowed, copied, taken
 * Threads: a reader is used by one thread at a time
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_JSON_H
#define COLANDER_JSON_H

#include "columns/limits.h"
#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

struct colander_value;

/* ------------------------------------------------------------- writing --- */

/* Appends `value` as JSON on one line. A DOUBLE always has a point or an
 * exponent. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_json_append_value(struct colander_buffer *json,
                           const struct colander_value *value,
                           struct colander_error *err);

/* Appends a key: its part, or an array of its parts if there are several. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_json_append_key(struct colander_buffer *json,
                         struct colander_slice key, struct colander_error *err);

/* Appends a row as an object, with its key as the first column "_key": the
 * part, or an array of the parts if there are several. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_json_append_row(struct colander_buffer *json,
                         struct colander_slice key, struct colander_slice row,
                         struct colander_error *err);

/* ------------------------------------------------------------- reading --- */

/* Reads JSON texts, one after the other. Keeps its memory between them: up to
 * twenty times the largest text, for most texts two or three times. */
struct colander_json_reader;

/* Returns NULL if memory is short. */
COLANDER_API struct colander_json_reader *colander_json_reader_create(void);

/* Frees the reader. NULL is allowed. */
COLANDER_API void
colander_json_reader_destroy(struct colander_json_reader *reader);

/*
 * Reads `text`, one JSON object (RFC 8259) with only white space around it,
 * into a row that may be stored. If the object has a column "_key", *has_key is
 * true and that column, a scalar or an array of scalars, becomes the key. Key
 * and row are borrowed until the reader is used again. `text` is borrowed
 * during the call.
 *
 * A number with a point or an exponent is a DOUBLE. Any other is an integer,
 * and must fit 64 bits: a longer one could not be stored exactly. Fails with
 * INVALID for such an integer, for a number beyond all doubles, for text that
 * is not JSON or not UTF-8, for two columns with one name, and for a key that
 * is not a key; with LIMIT for what is over limits.h. The message names the
 * byte of the text, counted from 0, or the column. After a failure the reader
 * can read the next text.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_json_reader_row(struct colander_json_reader *reader,
                         struct colander_slice text, struct colander_slice *key,
                         bool *has_key, struct colander_slice *row,
                         struct colander_error *err);

/* Reads `text`, one JSON value of any kind with only white space around it. The
 * value is borrowed until the reader is used again. Fails as above, and counts
 * the value as the column "value" of a row. */
COLANDER_API COLANDER_CHECKED enum colander_code colander_json_reader_value(
    struct colander_json_reader *reader, struct colander_slice text,
    struct colander_value *value, struct colander_error *err);

/* Sets *at to the position of the error in the last refused text, the one in
 * the message ("byte 17: "). Returns false, and leaves *at, if it has no single
 * position. */
COLANDER_API bool
colander_json_reader_fault(const struct colander_json_reader *reader,
                           size_t *at);

#ifdef __cplusplus
}
#endif

#endif
