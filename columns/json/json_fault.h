/*
 * The first fault of a text that is not a row in JSON.
 *
 * simdjson says little about a text that it refuses. This parser reads such a
 * text again, byte by byte.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_JSON_JSON_FAULT_H
#define COLANDER_COLUMNS_JSON_JSON_FAULT_H

#include "core/core.h"

struct json_fault {
    enum colander_code code;
    const char *message; /* static storage */
    size_t at;           /* the byte of the text, from 0 */
};

/*
 * Finds the first fault of a text that should be one JSON value (RFC 8259), or,
 * with `is_row`, one object, with no more levels than a row may have. Returns
 * false if there is none. Numbers must fit 64 bits or a double.
 */
bool json_fault_find(struct colander_slice text, bool is_row,
                     struct json_fault *fault);

#endif
