/*
 * Backups of a store.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/store.h"

enum colander_code
colander_store_backup(struct colander_store *store, const char *directory,
                      uint64_t keep_count, struct colander_backup *made,
                      struct colander_error *err)
{
    const struct store_extension *extension = &store->extension;
    const struct engine_companions companions = {extension->context,
                                                 extension->companion};
    struct colander_backup ignored;

    return engine_backup(store->engine, directory, keep_count,
                         extension->companion == NULL ? NULL : &companions,
                         made == NULL ? &ignored : made, err);
}
