/*
 * The groupings of a union: each member groups its rows, all at once.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_UNION_GROUP_H
#define COLANDER_COLUMNS_UNION_GROUP_H

#include "columns/groups.h"

struct union_group;

/* Begins to group the rows of each family. `unasked` others cannot have
 * such. The families and their list are taken. */
COLANDER_CHECKED enum colander_code
union_group_open(struct colander_family **families, size_t count,
                 size_t unasked, const struct colander_query *query,
                 struct colander_groups *groups, struct union_group **group,
                 struct colander_error *err);

/* What follows are functions of a source (source.h). */

enum colander_code union_group_finish(void *group,
                                      struct colander_explain *explain,
                                      struct colander_error *err);

void union_group_close(void *group);

#endif
