/*
 * How the records of a family of a cluster are loaded.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef NODE_FAMILY_LOAD_H
#define NODE_FAMILY_LOAD_H

#include "cluster/definition.h"
#include "loading/load.h"

struct family_load {
    struct colander_schema *schema;
    struct colander_load_options options; /* borrow from the definition */
};

/* Sets the options of a load by the definition (borrowed). Fails with INVALID
 * if schema, key or types cannot be used. Release it also on failure. */
COLANDER_CHECKED enum colander_code
family_load_init(struct family_load *load, const struct cluster_family *family,
                 struct colander_error *err);

void family_load_release(struct family_load *load);

#endif
