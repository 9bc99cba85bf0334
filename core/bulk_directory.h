/*
 * The directories of bulks: what is being made beside the database, each in
 * STORE/bulk-XXXXXX, with files in it and no directories.
 *
 * They are of no use to anybody but the process that made them: what a killed
 * one leaves is removed when the store is next opened for writing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BULK_DIRECTORY_H
#define COLANDER_CORE_BULK_DIRECTORY_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BULK_DIRECTORY_PREFIX "bulk-"

/* Makes one in the store at `store`; *path is the caller's to free. */
COLANDER_CHECKED enum colander_code
bulk_directory_make(const char *store, char **path, struct colander_error *err);

/* Removes it with all that it holds, as far as that can be done. */
void bulk_directory_remove(const char *path);

/* Removes those that are in the store, which is held by nobody else. */
void bulk_directory_remove_all(const char *store);

#ifdef __cplusplus
}
#endif

#endif
