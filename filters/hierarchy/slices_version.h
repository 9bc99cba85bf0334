/*
 * Versions of slices: searched without locks while classes change.
 *
 * Life: make -> find -> release. Made and released under the lock of the
 *       hierarchy; any thread may search
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_HIERARCHY_SLICES_VERSION_H
#define COLANDER_FILTERS_HIERARCHY_SLICES_VERSION_H

#include "filters/hierarchy/slice_class.h"

struct slices_version;

/* Returns the classes in their current state. Slots are below `slot_count`.
 * NULL if memory is short. */
struct slices_version *slices_version_make(struct slice_class *const *classes,
                                           size_t class_count,
                                           uint32_t slot_count);

/* NULL is allowed. */
void slices_version_release(struct slices_version *version);

uint32_t slices_version_slots(const struct slices_version *version);

/* Does what hierarchy_find does. */
void slices_find(const struct slices_version *version, uint64_t value_hash,
                 uint64_t *slots);

#endif
