/*
 * Conversion: rows of JSON and msgpack, whose values have types already, made
 * as a schema says: a string that is a time becomes one, "17" an integer, an
 * integer a string, and so on. What does not read as its type stays as it is.
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

/* *conversion is NULL where the schema has no columns: then rows stay as they
 * are. `schema` is borrowed until destroy. */
COLANDER_CHECKED enum colander_code
conversion_create(const struct schema *schema, struct conversion **conversion,
                  struct colander_error *err);

/* NULL is allowed. */
void conversion_destroy(struct conversion *conversion);

/* Gives `row` (checked: it may be stored) converted: borrowed from the
 * conversion, until it is next used, or `row` itself where nothing changes. */
COLANDER_CHECKED enum colander_code
conversion_row(struct conversion *conversion, struct colander_slice row,
               struct colander_slice *converted, struct colander_error *err);

#endif
