/*
 * Repair: small files that a store cannot be opened without, and that can be
 * rebuilt without any loss.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_REPAIR_H
#define COLANDER_CORE_REPAIR_H

#include "core/core.h"

/*
 * Rebuilds in the store at `path`, and reports each:
 *     COLANDER         with the default options, if it is missing or damaged,
 *                      or that of another store
 *     rocksdb/CURRENT  if it names no MANIFEST, and there is exactly one, which
 *                      is whole and the one that the ledger lists last
 * Fails with NOT_FOUND, INVALID (not a store: it has neither record nor
 * ledger), TOO_NEW, BUSY or IO.
 */
COLANDER_CHECKED enum colander_code
repair_store(const char *path,
             void (*report)(void *context, const char *file, const char *what),
             void *context, struct colander_error *err);

#endif
