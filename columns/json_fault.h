/*
 * What is wrong with a text that is no row in JSON, and where.
 *
 * The parser that reads texts fast says little of those it refuses. This one
 * goes through such a text again, byte by byte.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_JSON_FAULT_H
#define COLANDER_JSON_FAULT_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

struct json_fault {
    enum colander_code code;
    const char *message; /* static storage */
    size_t at;           /* the byte of the text, from 0 */
};

/*
 * Finds the first fault of a text that is to be one JSON object (RFC 8259) of
 * no more levels than a row may have; false when there is none. Numbers must
 * fit 64 bits or a double.
 */
bool json_fault_find(struct colander_slice text, struct json_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
