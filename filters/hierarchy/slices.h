/*
 * Slices: the bit-sliced kind of hierarchy.
 *
 * A *class* is a matrix of presences of one shape, with room for more. It
 * begins narrow and doubles as parts are added. When it has the largest width
 * or takes a quarter of the budget, another class of the same shape is created.
 * A change of the matrix itself (wider, narrower, folded, joined) makes a new
 * class; versions that see the old one keep it.
 *
 * A *view* is what a version sees of a class: its used columns, and the part of
 * each. A column that a part has left is reused when no version has that part
 * any more: versions are numbered, a column records the last one that may have
 * it, and the oldest existing version decides.
 *
 * Memory: if the budget is short, classes first give up unused columns. Then
 * the new presence or the class with the smallest share of bits set is folded,
 * because folding costs it least.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_HIERARCHY_SLICES_H
#define COLANDER_FILTERS_HIERARCHY_SLICES_H

#include "filters/hierarchy/hierarchy_kind.h"

/* Returns NULL if memory is short. */
struct hierarchy *slices_create(void);

#endif
