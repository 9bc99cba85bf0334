/*
 * Slices: the bit-sliced kind of hierarchy (filters/hierarchy.h says what the
 * functions promise).
 *
 * A *class* is a matrix of presences of one shape, with room for more: it is
 * made narrow, doubles as parts come, and gets a sibling of the same shape when
 * it is as wide as matrices are or takes a quarter of the budget. A change of
 * the matrix itself (wider, narrower, folded, two made one) makes a new class;
 * the old one stays with the editions that see it.
 *
 * A *view* is what editions see of a class: which columns, and whose they are.
 * Editions share the views of classes that did not change between them. A
 * column that was left is written again when no view has it any more: views of
 * a class are numbered, a column notes the last that may have it, and the
 * oldest that is left decides.
 *
 * Memory: when the budget is short, classes that have room give it up; then
 *         the new presence, or the class, with the smallest share of bits set
 *         is folded, as it loses least by it
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_SLICES_H
#define COLANDER_FILTERS_SLICES_H

#include "filters/hierarchy.h"
#include "filters/slices_edition.h"

struct slices;

struct slices *slices_create(uint64_t budget);
void slices_destroy(struct slices *slices);

COLANDER_CHECKED enum colander_code slices_add(struct slices *slices,
                                               uint32_t slot,
                                               const struct presence *presence,
                                               struct colander_error *err);
void slices_remove(struct slices *slices, uint32_t slot);

/* NULL when memory is short. */
struct slices_edition *slices_publish(struct slices *slices);

struct hierarchy_sizes slices_sizes(const struct slices *slices);

#endif
