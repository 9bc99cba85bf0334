/*
 * What both kinds of hierarchies begin with, and the functions of a kind.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_HIERARCHY_HIERARCHY_KIND_H
#define COLANDER_FILTERS_HIERARCHY_HIERARCHY_KIND_H

#include "filters/hierarchy.h"

/* They do what the functions of filters/hierarchy.h do. If memory is short,
 * `add` returns false and `publish` NULL. */
struct hierarchy_methods {
    bool (*add)(struct hierarchy *hierarchy, uint32_t slot,
                const struct presence *presence);
    void (*remove)(struct hierarchy *hierarchy, uint32_t slot);
    struct hierarchy_sizes (*sizes)(const struct hierarchy *hierarchy);
    uint64_t (*size)(const struct hierarchy *hierarchy);
    void (*shrink)(struct hierarchy *hierarchy); /* to its budget */
    void (*destroy)(struct hierarchy *hierarchy);
    struct hierarchy_version *(*publish)(struct hierarchy *hierarchy);
    void (*version_destroy)(struct hierarchy_version *version);
    void (*find)(const struct hierarchy_version *version, uint64_t value_hash,
                 uint64_t *slots);
};

struct hierarchy {
    const struct hierarchy_methods *methods;
    size_t reference_count; /* by its owner and by its versions */
    uint64_t budget;
};

struct hierarchy_version {
    struct hierarchy *hierarchy; /* counted; set by hierarchy_publish */
    uint32_t slot_count;         /* above the slot of every part */
};

#endif
