/*
 * Slices: the bit-sliced kind of hierarchy. filters/hierarchy.h documents the
 * functions.
 *
 * A *class* is a matrix of presences of one shape, with room for more. It
 * begins narrow and doubles as parts are added. When it has the largest width
 * or takes a quarter of the budget, another class of the same shape is created.
 * A change of the matrix itself (wider, narrower, folded, joined) makes a new
 * class; versions that see the old one keep it.
 *
 * A *view* is what versions see of a class: its used columns, and the part of
 * each. Versions share the views of classes that did not change between them. A
 * column that a part has left is reused when no view has it any more: views of
 * a class are numbered, a column records the last view that may have it, and
 * the oldest existing view decides.
 *
 * Memory: if the budget is short, classes first give up unused columns. Then
 * the new presence or the class with the smallest share of bits set is folded,
 * because folding costs it least.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_HIERARCHY_SLICES_H
#define COLANDER_FILTERS_HIERARCHY_SLICES_H

#include "filters/hierarchy.h"
#include "filters/hierarchy/slices_version.h"

struct slices;

struct slices *slices_create(uint64_t budget);
void slices_destroy(struct slices *slices);

COLANDER_CHECKED enum colander_code slices_add(struct slices *slices,
                                               uint32_t slot,
                                               const struct presence *presence,
                                               struct colander_error *err);
void slices_remove(struct slices *slices, uint32_t slot);

/* Returns NULL if memory is short. */
struct slices_version *slices_publish(struct slices *slices);

struct hierarchy_sizes slices_sizes(const struct slices *slices);

#endif
