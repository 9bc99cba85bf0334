/*
 * Hierarchies: find the few parts that may hold a value, by its hash.
 *
 * There are two kinds. SLICES keeps presences transposed: each bit is a row
 * that has one column for each part, so a query ANDs a few short rows. TREE is
 * the published structure (Bloofi): leaves are presences, and an inner node is
 * the OR of its children, of which it has `order` to twice as many.
 *
 * A *version* is a hierarchy at one moment. Many threads may search it without
 * locks. It does not change while parts come and go, until it is released. One
 * thread at a time may change the hierarchy; the caller has the lock.
 *
 * The caller numbers parts by *slots*: small numbers, which must not be reused
 * while a version still has the old part.
 *
 * Life:   create -> add, remove -> publish -> find in the version -> release
 * Memory: at most `budget` bytes for bits, not counting old versions. To stay
 *         within it, presences are folded, which causes more false positives.
 *         Only presences that cannot be halved may exceed it. What no version
 *         uses any more is freed or reused.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_HIERARCHY_H
#define COLANDER_FILTERS_HIERARCHY_H

#include "filters/presence.h"

enum hierarchy_kind { HIERARCHY_SLICES, HIERARCHY_TREE };

struct hierarchy;
struct hierarchy_version;

/* `order` of a tree is 2 to 4096; other values are clamped. Returns NULL if
 * memory is short. */
struct hierarchy *hierarchy_create(enum hierarchy_kind kind, uint32_t order,
                                   uint64_t budget);

/* Versions stay valid until they are released, under the same lock. NULL is
 * allowed. */
void hierarchy_destroy(struct hierarchy *hierarchy);

/* Adds the part `slot`, which must not be in it. Copies or folds `presence`. A
 * failure leaves the parts as they were, though some may have been folded. */
COLANDER_CHECKED enum colander_code
hierarchy_add(struct hierarchy *hierarchy, uint32_t slot,
              const struct presence *presence, struct colander_error *err);

/* Removes a part. A part that is not in it is fine. Never fails. */
void hierarchy_remove(struct hierarchy *hierarchy, uint32_t slot);

/* Returns the current version, which the caller must release. */
COLANDER_CHECKED enum colander_code
hierarchy_publish(struct hierarchy *hierarchy,
                  struct hierarchy_version **version,
                  struct colander_error *err);

/* Requires the same lock as add and remove. NULL is allowed. */
void hierarchy_version_release(struct hierarchy_version *version);

/* Returns a limit of slots: all are below it. */
uint32_t hierarchy_version_slots(const struct hierarchy_version *version);

/* Sets the bits in `slots` of the parts that may hold the value. `slots` has a
 * bit for each of hierarchy_version_slots, in words of 64, zeroed before. Any
 * thread; takes no locks and allocates nothing. */
void hierarchy_find(const struct hierarchy_version *version,
                    uint64_t value_hash, uint64_t *slots);

/* Changes the budget, which counts from the next part on; with `shrinks`, parts
 * are folded at once until they fit. */
void hierarchy_set_budget(struct hierarchy *hierarchy, uint64_t budget,
                          bool shrinks);

uint64_t hierarchy_budget(const struct hierarchy *hierarchy);

/* Returns the bytes of bits in memory. */
uint64_t hierarchy_size(const struct hierarchy *hierarchy);

/* Sizes and counts. */
struct hierarchy_sizes {
    uint64_t part_count;
    uint64_t bytes;      /* of bits in memory */
    uint64_t full_bytes; /* what the parts would take if none were folded */
    uint64_t fold_count; /* how often they were halved to fit the budget */
    uint32_t height;     /* levels of the tree; 1 for slices */
};

struct hierarchy_sizes hierarchy_sizes(const struct hierarchy *hierarchy);

#endif
