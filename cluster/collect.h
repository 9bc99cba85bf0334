/*
 * The removal of old backups, and of objects that no backup has.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_COLLECT_H
#define CLUSTER_COLLECT_H

#include "cluster/objects.h"

/*
 * Removes the oldest backups until `keep_count` are left, and then, unless a
 * backup is being made, the objects that no backup has and that are older than
 * a day. Sets `removed_count` to the number of backups removed, also if it
 * fails.
 */
COLANDER_CHECKED enum colander_code collect(struct objects *objects,
                                            uint64_t keep_count,
                                            uint64_t *removed_count,
                                            struct colander_error *err);

#endif
