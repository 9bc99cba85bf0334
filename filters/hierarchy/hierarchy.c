/*
 * Hierarchies: two kinds with one interface.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/hierarchy.h"

#include <stdlib.h>

#include "filters/hierarchy/slices.h"
#include "filters/hierarchy/tree.h"

/* One of the two is NULL. */
struct hierarchy {
    struct slices *slices;
    struct tree *tree;
};

struct hierarchy_version {
    struct slices_version *slices;
    struct tree_version *tree;
};

struct hierarchy *
hierarchy_create(enum hierarchy_kind kind, uint32_t order, uint64_t budget)
{
    struct hierarchy *hierarchy = calloc(1, sizeof(*hierarchy));

    if (hierarchy == NULL)
        return NULL;
    if (kind == HIERARCHY_TREE)
        hierarchy->tree = tree_create(order, budget);
    else
        hierarchy->slices = slices_create(budget);
    if (hierarchy->tree == NULL && hierarchy->slices == NULL) {
        free(hierarchy);
        return NULL;
    }
    return hierarchy;
}

void
hierarchy_destroy(struct hierarchy *hierarchy)
{
    if (hierarchy == NULL)
        return;
    slices_destroy(hierarchy->slices);
    tree_destroy(hierarchy->tree);
    free(hierarchy);
}

enum colander_code
hierarchy_add(struct hierarchy *hierarchy, uint32_t slot,
              const struct presence *presence, struct colander_error *err)
{
    if (hierarchy->tree != NULL)
        return tree_add(hierarchy->tree, slot, presence, err);
    return slices_add(hierarchy->slices, slot, presence, err);
}

void
hierarchy_remove(struct hierarchy *hierarchy, uint32_t slot)
{
    if (hierarchy->tree != NULL)
        tree_remove(hierarchy->tree, slot);
    else
        slices_remove(hierarchy->slices, slot);
}

struct hierarchy_sizes
hierarchy_sizes(const struct hierarchy *hierarchy)
{
    if (hierarchy->tree != NULL)
        return tree_sizes(hierarchy->tree);
    return slices_sizes(hierarchy->slices);
}

enum colander_code
hierarchy_publish(struct hierarchy *hierarchy,
                  struct hierarchy_version **version,
                  struct colander_error *err)
{
    struct hierarchy_version *created = calloc(1, sizeof(*created));

    *version = NULL;
    if (created != NULL && hierarchy->tree != NULL)
        created->tree = tree_publish(hierarchy->tree);
    else if (created != NULL)
        created->slices = slices_publish(hierarchy->slices);
    if (created == NULL || (created->tree == NULL && created->slices == NULL)) {
        free(created);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a version of the filters");
    }
    *version = created;
    return COLANDER_OK;
}

void
hierarchy_version_release(struct hierarchy_version *version)
{
    if (version == NULL)
        return;
    slices_version_release(version->slices);
    tree_version_release(version->tree);
    free(version);
}

uint32_t
hierarchy_version_slots(const struct hierarchy_version *version)
{
    if (version->tree != NULL)
        return tree_version_slots(version->tree);
    return slices_version_slots(version->slices);
}

void
hierarchy_find(const struct hierarchy_version *version, uint64_t value_hash,
               uint64_t *slots)
{
    if (version->tree != NULL)
        tree_find(version->tree, value_hash, slots);
    else
        slices_find(version->slices, value_hash, slots);
}
