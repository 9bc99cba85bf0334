/*
 * Inside of a record of JSON, for splitter_json.c alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_JSON_BRACKETS_H
#define LOADING_JSON_BRACKETS_H

#include "loading/splitter_formats.h"

/* Why a record is none. */
enum json_fault {
    FAULT_NO_OBJECT,
    FAULT_LINE_IN_STRING,
    FAULT_CLOSES_OTHER,
    FAULT_OPENS,
    FAULT_STRAY,
    FAULT_BEHIND,
    FAULT_CUT_OFF,
};

enum json_scan {
    JSON_SCAN_MORE,
    JSON_SCAN_ENDED,
    JSON_SCAN_BROKEN, /* the fault is noted, and where it is */
};

/* Begins an object, an array or a string, of which nothing was looked at. */
void json_scan_begin(struct json_split *json);

/* Goes on from *scanned to where that ends. */
enum json_scan json_scan(struct json_split *json, const struct split_text *text,
                         size_t *scanned);

/* What JSON has between its words. */
static inline bool
json_is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

#endif
