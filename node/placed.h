/*
 * Which partitions can have a key: the one that it decides for, if all rows of
 * the family are known to be where their keys decide.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef NODE_PLACED_H
#define NODE_PLACED_H

#include "columns/union.h"
#include "node/routing.h"

struct placed;

COLANDER_CHECKED enum colander_code placed_create(struct placed **placed,
                                                  struct colander_error *err);

/* NULL is allowed. */
void placed_destroy(struct placed *placed);

/* Sets the families, whose routes follow one another. After a failure it is
 * what it was. */
COLANDER_CHECKED enum colander_code placed_set(struct placed *placed,
                                               const struct route *routes,
                                               size_t count,
                                               struct colander_error *err);

/* What a member may have (columns/union.h); `placed` is struct placed *. A path
 * that is not FAMILY/0017, or does not end so, is of a node, which chooses
 * among its partitions. Any thread. */
enum colander_member_use placed_choose(void *placed, const char *path,
                                       const char *family,
                                       const struct colander_key_range *keys);

#endif
