/*
 * Hierarchies: two kinds with one interface.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/hierarchy/slices.h"
#include "filters/hierarchy/tree.h"

struct hierarchy *
hierarchy_create(enum hierarchy_kind kind, uint32_t order, uint64_t budget)
{
    struct hierarchy *hierarchy =
        kind == HIERARCHY_TREE ? tree_create(order) : slices_create();

    if (hierarchy != NULL) {
        hierarchy->reference_count = 1;
        hierarchy->budget = budget;
    }
    return hierarchy;
}

void
hierarchy_destroy(struct hierarchy *hierarchy)
{
    if (hierarchy != NULL && --hierarchy->reference_count == 0)
        hierarchy->methods->destroy(hierarchy);
}

enum colander_code
hierarchy_add(struct hierarchy *hierarchy, uint32_t slot,
              const struct presence *presence, struct colander_error *err)
{
    if (hierarchy->methods->add(hierarchy, slot, presence))
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                         "no memory for a filter of %zu bytes",
                         presence_size(&presence->shape));
}

void
hierarchy_remove(struct hierarchy *hierarchy, uint32_t slot)
{
    hierarchy->methods->remove(hierarchy, slot);
}

void
hierarchy_set_budget(struct hierarchy *hierarchy, uint64_t budget, bool shrinks)
{
    hierarchy->budget = budget;
    if (shrinks)
        hierarchy->methods->shrink(hierarchy);
}

uint64_t
hierarchy_budget(const struct hierarchy *hierarchy)
{
    return hierarchy->budget;
}

uint64_t
hierarchy_size(const struct hierarchy *hierarchy)
{
    return hierarchy->methods->size(hierarchy);
}

struct hierarchy_sizes
hierarchy_sizes(const struct hierarchy *hierarchy)
{
    return hierarchy->methods->sizes(hierarchy);
}

enum colander_code
hierarchy_publish(struct hierarchy *hierarchy,
                  struct hierarchy_version **version,
                  struct colander_error *err)
{
    *version = hierarchy->methods->publish(hierarchy);
    if (*version == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a version of the filters");
    (*version)->hierarchy = hierarchy;
    hierarchy->reference_count++;
    return COLANDER_OK;
}

void
hierarchy_version_release(struct hierarchy_version *version)
{
    struct hierarchy *hierarchy;

    if (version == NULL)
        return;
    hierarchy = version->hierarchy;
    hierarchy->methods->version_destroy(version);
    hierarchy_destroy(hierarchy);
}

uint32_t
hierarchy_version_slots(const struct hierarchy_version *version)
{
    return version->slot_count;
}

void
hierarchy_find(const struct hierarchy_version *version, uint64_t value_hash,
               uint64_t *slots)
{
    version->hierarchy->methods->find(version, value_hash, slots);
}
