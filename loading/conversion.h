/*
 * Conversion: rows of JSON and msgpack, whose values have types already,
 * converted to the types of a schema: a string becomes a time, "17" an integer,
 * and so on. Values that cannot be read as their type stay unchanged, and so do
 * null, binaries, timestamps, extensions, maps and arrays. Numbers and booleans
 * are read as their text in JSON: 20200229 may be a date.
 *
 * If the schema names the map of a record that is the row, only that is kept.
 *
 * Threads: one at a time
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_CONVERSION_H
#define LOADING_CONVERSION_H

#include "loading/misfits.h"
#include "loading/schema.h"

/* Memory for the last row. Starts zeroed. */
struct conversion {
    struct colander_buffer text; /* of a number or a boolean */
    struct colander_buffer row;  /* the converted part */
    const uint8_t *copied;       /* end of the original row copied so far */
    struct misfits *misfits;     /* borrowed; NULL: they are not counted */
};

void conversion_release(struct conversion *conversion);

/* Returns whether the schema changes any row. */
bool conversion_is_needed(const struct colander_schema *schema);

/* Converts a valid row. *converted is borrowed from the conversion until its
 * next use, or from `row` if nothing changes. */
COLANDER_CHECKED enum colander_code
conversion_row(struct conversion *conversion,
               const struct colander_schema *schema, struct colander_slice row,
               struct colander_slice *converted, struct colander_error *err);

#endif
