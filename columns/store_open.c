/*
 * The store as it is opened when nothing is built above columns/.
 *
 * With value filters, filters/store_open.c takes the place of this file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/candidates.h"

enum colander_code
colander_store_open(const char *path, const struct colander_options *options,
                    struct colander_store **store, struct colander_error *err)
{
    return store_open_extended(path, options, NULL, store, err);
}
