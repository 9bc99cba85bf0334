/*
 * Editions of slices: what is asked, without locks, while classes change.
 *
 * Life:   make -> find -> release; made and released under the lock of the
 *         hierarchy, asked by anyone
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_SLICES_EDITION_H
#define COLANDER_FILTERS_SLICES_EDITION_H

#include "filters/slice_class.h"

struct slices_edition;

/* The classes as they are; slots are below `slot_count`. NULL when memory is
 * short. */
struct slices_edition *slices_edition_make(struct slice_class *const *classes,
                                           size_t class_count,
                                           uint32_t slot_count);

/* NULL is allowed. */
void slices_edition_release(struct slices_edition *edition);

uint32_t slices_edition_slots(const struct slices_edition *edition);

/* As hierarchy_find. */
void slices_find(const struct slices_edition *edition, uint64_t value_hash,
                 uint64_t *slots);

#endif
