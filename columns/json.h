/*
 * JSON: rows as text for people and other programs, and rows from text.
 *
 * JSON has null, booleans, numbers, strings, arrays and maps; a row may hold
 * more. Writing shows the others as what comes closest. Reading takes JSON as
 * it is written and guesses nothing: a string that looks like a date is a
 * string. So what is written reads back as it was, and as the same bytes where
 * a row builder made them, except
 *
 *     BINARY                            comes back as a string, in base64
 *     TIMESTAMP                         as a string, in RFC 3339; as the map
 *                                       {"seconds":..,"nanoseconds":..}
 *                                       outside the years 0000 to 9999
 *     EXTENSION                         as the map {"type":..,"data":base64}
 *     DOUBLE of NaN or an infinity      as null
 *
 * in rows and in keys alike, but a key that has become a map or null is
 * refused. Written again, what was read is the same text.
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

/* Appends `value` as JSON on one line. A DOUBLE keeps a point or an exponent.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_json_append_value(struct colander_buffer *json,
                           const struct colander_value *value,
                           struct colander_error *err);

/* Appends a key: its part, or an array of its parts when there are several. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_json_append_key(struct colander_buffer *json,
                         struct colander_slice key, struct colander_error *err);

/* Appends a row with its key as first column "_key": the part, or an array of
 * the parts when there are several. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_json_append_row(struct colander_buffer *json,
                         struct colander_slice key, struct colander_slice row,
                         struct colander_error *err);

/* ------------------------------------------------------------- reading --- */

/*
 * Makes rows of texts, one after the other. It keeps its memory from row to
 * row: up to twenty times the largest text, though of most texts two or three.
 */
struct colander_json_reader;

/* NULL when memory is short. */
COLANDER_API struct colander_json_reader *colander_json_reader_create(void);

/* NULL is allowed. */
COLANDER_API void
colander_json_reader_destroy(struct colander_json_reader *reader);

/*
 * Reads `text`, which is one JSON object (RFC 8259) with nothing but space
 * around it, as a row that may be stored. Its column "_key", wherever it
 * stands, becomes the key: a scalar, or an array of them; *has_key says
 * whether there is one. Key and row are borrowed until the reader is next
 * used; `text` only during the call.
 *
 * A number with a point or an exponent is a DOUBLE, any other an integer, which
 * must fit 64 bits: a longer one is INVALID, as it could only be kept with
 * other digits than it has. INVALID as well are a number beyond all doubles,
 * text that is no JSON or no UTF-8, two columns of one name, and what cannot be
 * a key; LIMIT, what is over limits.h. The message names the byte of the text,
 * the first being 0, or the column. After a failure the reader reads on with
 * the next text.
 */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_json_reader_row(struct colander_json_reader *reader,
                         struct colander_slice text, struct colander_slice *key,
                         bool *has_key, struct colander_slice *row,
                         struct colander_error *err);

/* Where the text that was refused last is wrong: its byte *at, which the
 * message began with ("byte 17: "); false when it is not one byte. */
COLANDER_API bool
colander_json_reader_fault(const struct colander_json_reader *reader,
                           size_t *at);

#ifdef __cplusplus
}
#endif

#endif
