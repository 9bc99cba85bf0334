/*
 * Conversion: rows of JSON and msgpack, whose values have types already,
 * converted to the types of a schema: a string becomes a time, "17" an integer,
 * and so on. Values that cannot be read as their type stay unchanged, and so do
 * null, binaries, timestamps, extensions, maps and arrays. Numbers and booleans
 * are read as their text in JSON: 20200229 may be a date.
 *
 * If the schema names the map of a record that is the row, only that is kept.
 *
 * Life:    create -> row* -> destroy
 * Threads: one at a time
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_CONVERSION_H
#define LOADING_CONVERSION_H

#include "loading/schema.h"

struct conversion;

/* Sets *conversion to NULL if the schema changes nothing. `schema` is borrowed
 * until destroy. */
COLANDER_CHECKED enum colander_code
conversion_create(const struct colander_schema *schema,
                  struct conversion **conversion, struct colander_error *err);

/* NULL is allowed. */
void conversion_destroy(struct conversion *conversion);

/* Converts a valid row. *converted is borrowed from the conversion until its
 * next use, or from `row` if nothing changes. */
COLANDER_CHECKED enum colander_code
conversion_row(struct conversion *conversion, struct colander_slice row,
               struct colander_slice *converted, struct colander_error *err);

#endif
