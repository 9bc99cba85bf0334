/*
 * Load options: what a client asked for, checked and completed. The key
 * columns, nulls and so on that options add to a schema become a schema of
 * their own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_LOAD_OPTIONS_H
#define LOADING_LOAD_OPTIONS_H

#include "loading/load.h"
#include "loading/schema.h"

/*
 * Fills `options` from those of a client (NULL: the defaults), which may be of
 * an older version and shorter, and makes `schema` the schema of `options`. All
 * texts are borrowed. Fails with INVALID if an option is wrong. Release also
 * after a failure.
 */
COLANDER_CHECKED enum colander_code
load_options_read(const struct colander_load_options *given,
                  struct colander_load_options *options,
                  struct colander_schema *schema, struct colander_error *err);
void load_options_release(struct colander_schema *schema);

#endif
