/*
 * What the files of hints share: see hint.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_OUTPUT_HINT_PARTS_H
#define SHELL_OUTPUT_HINT_PARTS_H

#include "shell/column_stats.h"

#define HINT_PATHS_MAX 100 /* columns that are looked at */

bool hint_is_key(const char *path);

bool hint_is_listed(const char *path, const char *const *paths, size_t count);

/* Adds the columns that look like times and are not among the paths: the first
 * one by name. */
void hint_add_times(const struct column_stats *stats, const char *const *paths,
                    size_t path_count, struct report *report);

#endif
