/*
 * Mending: small files of a store that can be made anew, so that nothing is
 * lost, when it cannot be opened without them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_MEND_H
#define COLANDER_CORE_MEND_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes anew, in the store at `path`:
 *     COLANDER         with the default options, when it is missing or damaged
 *     rocksdb/CURRENT  when it names no MANIFEST and there is one only, all of
 *                      which can be read, and the ledger knows of no later one
 * and tells each. NOT_FOUND, INVALID (no store was there: it has neither record
 * nor ledger), TOO_NEW, BUSY or IO.
 */
COLANDER_CHECKED enum colander_code
mend_store(const char *path,
           void (*tell)(void *context, const char *file, const char *what),
           void *context, struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
