/*
 * Conversion: rows of JSON and msgpack, whose values have types already, made
 * as a schema says: a string that is a time becomes one, "17" an integer, an
 * integer a string, and so on. What does not read as its type stays as it is,
 * and so do null, binaries, timestamps, extensions, maps and arrays. Numbers
 * and booleans are read as the text that they are in JSON: 20200229 may be a
 * date.
 *
 * Where the schema says which map of a record is the row, that is taken first;
 * what stands around it is not kept.
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

/* *conversion is NULL where the schema has nothing to convert: then rows stay
 * as they are. `schema` is borrowed until destroy. */
COLANDER_CHECKED enum colander_code
conversion_create(const struct schema *schema, struct conversion **conversion,
                  struct colander_error *err);

/* NULL is allowed. */
void conversion_destroy(struct conversion *conversion);

/* Gives `row` (checked: it may be stored) converted: borrowed from the
 * conversion, until it is next used, or from `row` where nothing changes. */
COLANDER_CHECKED enum colander_code
conversion_row(struct conversion *conversion, struct colander_slice row,
               struct colander_slice *converted, struct colander_error *err);

#endif
