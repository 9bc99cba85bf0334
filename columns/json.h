/*
 * JSON: rows as text for people and other programs.
 *
 * JSON has null, booleans, numbers, strings, arrays and maps; a row may hold
 * more, which is shown as what comes closest:
 *
 *     BINARY                            a string, in base64
 *     TIMESTAMP                         a string, in RFC 3339; the map
 *                                       {"seconds":..,"nanoseconds":..}
 *                                       outside the years 0000 to 9999
 *     EXTENSION                         the map {"type":..,"data":base64}
 *     DOUBLE of NaN or an infinity      null
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

#ifdef __cplusplus
}
#endif

#endif
