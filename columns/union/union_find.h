/*
 * The finds of a union: those of its members, merged by key.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_UNION_FIND_H
#define COLANDER_COLUMNS_UNION_FIND_H

#include "columns/union/union_missing.h"

struct union_find;

/* Begins a find in each family. All are begun before the first one is asked for
 * a row. `unasked` others have none. The families and their list are taken.
 * `missing` gets those that the find goes on without, as they fail with BUSY;
 * NULL: then it fails. */
COLANDER_CHECKED enum colander_code
union_find_open(struct colander_family **families, size_t count, size_t unasked,
                const struct colander_query *query,
                struct union_missing *missing, struct union_find **find,
                struct colander_error *err);

/* What follows are functions of a source (source.h). */

enum colander_code union_find_next(void *find, bool *is_row,
                                   struct colander_result *result,
                                   struct colander_error *err);

enum colander_code union_find_seek(void *find, struct colander_slice key,
                                   struct colander_error *err);

void union_find_cancel(void *find);

void union_find_pause(void *find, uint64_t time_us);

void union_find_explain(const void *find, struct colander_explain *explain);

void union_find_close(void *find);

/* Explains a union of which these members are not asked; each other one is
 * added. */
void union_explain_begin(struct colander_explain *explain, size_t unasked);
void union_explain_add(struct colander_explain *explain,
                       const struct colander_explain *member);

#endif
