/*
 * Versions of slices: searched without locks while classes change.
 *
 * Life: publish -> find -> destroy. Created and destroyed under the lock of the
 *       hierarchy; any thread may search
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_HIERARCHY_SLICES_VERSION_H
#define COLANDER_FILTERS_HIERARCHY_SLICES_VERSION_H

#include "filters/hierarchy/hierarchy_kind.h"
#include "filters/hierarchy/slice_class.h"

/* The versions of one hierarchy. Starts zeroed. */
struct slices_versions {
    struct slices_version *newest; /* that exists, in a list of them */
    uint64_t count;                /* published so far */
};

/* Publishes the classes, which it sorts, in their current state. The parts have
 * slots below `slot_count`. NULL if memory is short. */
struct hierarchy_version *
slices_version_publish(struct slices_versions *versions,
                       struct slice_class **classes, size_t class_count,
                       uint32_t slot_count);
void slices_version_destroy(struct hierarchy_version *version);

/* Returns the number of the oldest version that exists, or that comes next. */
uint64_t slices_version_oldest(const struct slices_versions *versions);

/* Does what hierarchy_find does. */
void slices_version_find(const struct hierarchy_version *version,
                         uint64_t value_hash, uint64_t *slots);

#endif
