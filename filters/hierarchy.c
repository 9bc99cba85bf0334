/*
 * Hierarchies: one of two kinds behind one interface.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/hierarchy.h"

#include <stdlib.h>

#include "filters/slices.h"
#include "filters/tree.h"

/* One of the two is there. */
struct hierarchy {
    struct slices *slices;
    struct tree *tree;
};

struct hierarchy_edition {
    struct slices_edition *slices;
    struct tree_edition *tree;
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
                  struct hierarchy_edition **edition,
                  struct colander_error *err)
{
    struct hierarchy_edition *made = calloc(1, sizeof(*made));

    *edition = NULL;
    if (made != NULL && hierarchy->tree != NULL)
        made->tree = tree_publish(hierarchy->tree);
    else if (made != NULL)
        made->slices = slices_publish(hierarchy->slices);
    if (made == NULL || (made->tree == NULL && made->slices == NULL)) {
        free(made);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "cannot make an edition of the filters");
    }
    *edition = made;
    return COLANDER_OK;
}

void
hierarchy_edition_release(struct hierarchy_edition *edition)
{
    if (edition == NULL)
        return;
    slices_edition_release(edition->slices);
    tree_edition_release(edition->tree);
    free(edition);
}

uint32_t
hierarchy_edition_slots(const struct hierarchy_edition *edition)
{
    if (edition->tree != NULL)
        return tree_edition_slots(edition->tree);
    return slices_edition_slots(edition->slices);
}

void
hierarchy_find(const struct hierarchy_edition *edition, uint64_t value_hash,
               uint64_t *slots)
{
    if (edition->tree != NULL)
        tree_find(edition->tree, value_hash, slots);
    else
        slices_find(edition->slices, value_hash, slots);
}
