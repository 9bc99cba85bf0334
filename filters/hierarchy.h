/*
 * Hierarchies: from a value's hash to the few parts whose presence may hold it.
 *
 * Two kinds behind one interface. SLICES keeps presences transposed: for each
 * bit a row with one column per part, so that a question ANDs a few short rows.
 * TREE is the published structure (Bloofi): leaves are presences, an inner node
 * the OR of its children, `order` to twice as many children.
 *
 * An *edition* is a hierarchy as it was at one moment: asked without locks by
 * many threads, unchanged while parts come and go, until it is released. One
 * thread at a time changes the hierarchy (the caller's lock).
 *
 * A part is a number that the caller gives, a *slot*: small, and not used for
 * another part while an edition has the old one.
 *
 * Life:   create -> add, remove -> publish -> find in the edition -> release
 * Memory: `budget` bytes at most for bits, editions excepted: when it would be
 *         over, presences are folded, and questions get more maybes; only
 *         those that cannot be halved are kept over it. What no edition sees
 *         any more is freed or used again.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_HIERARCHY_H
#define COLANDER_FILTERS_HIERARCHY_H

#include "filters/presence.h"

enum hierarchy_kind { HIERARCHY_SLICES, HIERARCHY_TREE };

struct hierarchy;
struct hierarchy_edition;

/* `order` of a tree: 2 to 4096, else the nearest. NULL when memory is short. */
struct hierarchy *hierarchy_create(enum hierarchy_kind kind, uint32_t order,
                                   uint64_t budget);

/* All editions are released before. NULL is allowed. */
void hierarchy_destroy(struct hierarchy *hierarchy);

/* Adds the part `slot`, which is not in it. `presence` is copied, or folded. On
 * failure the parts are as they were, though some may have been folded. */
COLANDER_CHECKED enum colander_code
hierarchy_add(struct hierarchy *hierarchy, uint32_t slot,
              const struct presence *presence, struct colander_error *err);

/* Removes a part; one that is not in it is fine. Never fails. */
void hierarchy_remove(struct hierarchy *hierarchy, uint32_t slot);

/* The parts as they are now. It is the caller's to release. */
COLANDER_CHECKED enum colander_code
hierarchy_publish(struct hierarchy *hierarchy,
                  struct hierarchy_edition **edition,
                  struct colander_error *err);

/* Takes the same lock as add and remove. NULL is allowed. */
void hierarchy_edition_release(struct hierarchy_edition *edition);

/* Room for the answer of a question: a bit for each slot below. */
uint32_t hierarchy_edition_slots(const struct hierarchy_edition *edition);

/* Sets in `slots` (a bit per slot, hierarchy_edition_slots of them in words of
 * 64, zeroed before) those that may hold the value. Any thread; no locks, no
 * allocation. */
void hierarchy_find(const struct hierarchy_edition *edition,
                    uint64_t value_hash, uint64_t *slots);

/* What it takes. */
struct hierarchy_sizes {
    uint64_t part_count;
    uint64_t bytes;      /* of bits in memory */
    uint64_t full_bytes; /* what its parts would take, had none been folded */
    uint64_t fold_count; /* how often those were halved, for the budget */
    uint32_t height;     /* levels of the tree; 1 for slices */
};

struct hierarchy_sizes hierarchy_sizes(const struct hierarchy *hierarchy);

#endif
