/*
 * Placement: which of the members of a cluster own a partition.
 *
 * Rendezvous hashing: each member has a weight for each partition, a hash of
 * both, and the heaviest are the owners, the first of them first. It depends on
 * the names alone, not on their order. A member that comes or goes moves only
 * the partitions that it gets or had.
 *
 * All members must compute the same, of any version: so the hash never changes.
 * FORMAT.md has it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_PLACEMENT_H
#define CLUSTER_PLACEMENT_H

#include <stddef.h>
#include <stdint.h>

/* Sets owners[i], for i < min(replicas, count), to the index in `names` of the
 * i-th owner of a partition. Returns how many there are. Names differ, and
 * replicas is at most CLUSTER_REPLICAS_MAX. */
size_t placement_owners(const char *family, uint32_t partition,
                        const char *const *names, size_t count, size_t replicas,
                        size_t *owners);

#endif
