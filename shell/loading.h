/*
 * Loading: rows from lines of JSON, into a family.
 *
 * A row whose object has "_key" goes under that key, another under a new one.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_LOADING_H
#define SHELL_LOADING_H

#include "colander.h"

#include <stdio.h>

/* What has come of a load, also of one that failed. */
struct loading {
    uint64_t row_count;  /* that are in the store */
    uint64_t line_count; /* read; the last one is what failed, if one did */
};

/* Loads what `file` has, some rows at a time: those before a mistake are there
 * afterwards. `stops` (if any) is asked now and then: CANCELLED. */
COLANDER_CHECKED enum colander_code loading_run(struct loading *loading,
                                                struct colander_store *store,
                                                struct colander_family *family,
                                                FILE *file, bool (*stops)(void),
                                                struct colander_error *err);

#endif
