/*
 * Changes of a tree of presences, from the leaf to the root.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/hierarchy/tree_change.h"

#include <assert.h>
#include <stdlib.h>

/* A path from the root: the child taken in each node. */
struct way {
    struct tree_node *nodes[TREE_LEVELS_MAX];
    uint32_t taken[TREE_LEVELS_MAX];
    size_t depth;
};

/* Replaces children `at` to `at + gone` of a node. */
struct change {
    uint32_t at;
    uint32_t gone;
    struct tree_node *come[2]; /* counted */
    uint32_t come_count;
};

static void
change_release(struct change *change)
{
    for (uint32_t i = 0; i < change->come_count; i++)
        tree_node_unref(change->come[i]);
    change->come_count = 0;
}

/* Lists the children of `node` with the change. Returns their number. */
static size_t
list_changed(const struct tree_node *node, const struct change *change,
             struct tree_node **list)
{
    size_t count = 0;

    for (uint32_t i = 0; i < change->at; i++)
        list[count++] = node->children[i];
    for (uint32_t i = 0; i < change->come_count; i++)
        list[count++] = change->come[i];
    for (uint32_t i = change->at + change->gone; i < node->child_count; i++)
        list[count++] = node->children[i];
    return count;
}

/* Adds the children of a neighbour to the `*count` children in lists[0], which
 * are too few for a node. Prefers a neighbour that can spare some. `index` is
 * the node's in `parent`. Returns the index of the first of the two nodes. */
static uint32_t
join_neighbour(struct tree_changer *changer, const struct tree_node *parent,
               uint32_t index, size_t *count)
{
    const struct tree_node *neighbour;
    struct tree_node **joined = changer->lists[1];
    bool is_before = index > 0;
    size_t joined_count = 0;

    if (index > 0 && index + 1 < parent->child_count &&
        parent->children[index + 1]->child_count >
            parent->children[index - 1]->child_count)
        is_before = false;
    neighbour = parent->children[is_before ? index - 1 : index + 1];
    if (!is_before) {
        memcpy(joined, changer->lists[0], *count * sizeof(struct tree_node *));
        joined_count = *count;
    }
    memcpy(joined + joined_count, neighbour->children,
           neighbour->child_count * sizeof(struct tree_node *));
    joined_count += neighbour->child_count;
    if (is_before) {
        memcpy(joined + joined_count, changer->lists[0],
               *count * sizeof(struct tree_node *));
        joined_count += *count;
    }
    changer->lists[1] = changer->lists[0];
    changer->lists[0] = joined;
    *count = joined_count;
    return is_before ? index - 1 : index;
}

/* Makes one node of the `count` children in lists[0], or two if these are too
 * many. Returns false if memory is short. */
static bool
make_nodes(struct tree_changer *changer, size_t count, struct change *change)
{
    size_t node_count = count > 2 * (size_t)changer->order ? 2 : 1;
    size_t first = count / node_count;

    change->come_count = 0;
    for (size_t i = 0; i < node_count; i++) {
        struct tree_node *node =
            tree_node_make(changer->lists[0] + i * first,
                           i + 1 == node_count ? count - i * first : first);

        if (node == NULL) {
            change_release(change);
            return false;
        }
        change->come[change->come_count++] = node;
    }
    return true;
}

/* Makes the root over the results: NULL for none. Returns false if memory is
 * short. */
static bool
make_root(struct tree_changer *changer, size_t count, struct tree_node **root)
{
    struct tree_node **list = changer->lists[0];
    struct change change;

    *root = NULL;
    if (count == 0)
        return true;
    if (count == 1 && list[0]->level > 0) {
        *root = tree_node_ref(list[0]);
        return true;
    }
    if (!make_nodes(changer, count, &change))
        return false;
    *root = change.come_count == 1
                ? tree_node_ref(change.come[0])
                : tree_node_make(change.come, change.come_count);
    change_release(&change);
    return *root != NULL;
}

/* Applies the change to the last node of the path, and what follows from it up
 * to the root, which is replaced. Returns false if memory is short. Releases
 * the change. The old tree stays unchanged. */
static bool
apply(struct tree_changer *changer, const struct way *way,
      struct change *change, struct tree_node **root)
{
    bool is_made = true;
    size_t count;

    for (size_t depth = way->depth; is_made; depth--) {
        struct change above = {0, 1, {NULL, NULL}, 0};

        count = list_changed(way->nodes[depth - 1], change, changer->lists[0]);
        if (depth == 1) {
            is_made = make_root(changer, count, root);
            break;
        }
        above.at = way->taken[depth - 2];
        if (count < changer->order) {
            above.at = join_neighbour(changer, way->nodes[depth - 2], above.at,
                                      &count);
            above.gone = 2;
        }
        is_made = make_nodes(changer, count, &above);
        change_release(change);
        *change = above;
    }
    change_release(change);
    return is_made;
}

/* Extends the path by `node` and what leads from there to the leaf of a slot.
 * False, and the path is the same, if the leaf is not below. Searches
 * everything, which costs far less than the copies of a change. */
static bool
find_leaf(struct tree_node *node, uint32_t slot, struct way *way)
{
    const size_t depth = way->depth++;

    way->nodes[depth] = node;
    for (uint32_t i = 0; i < node->child_count; i++) {
        struct tree_node *child = node->children[i];

        way->taken[depth] = i;
        if (child->level == 0 ? child->slot == slot
                              : find_leaf(child, slot, way))
            return true;
    }
    way->depth--;
    return false;
}

bool
tree_changer_insert(struct tree_changer *changer, struct tree_node *root,
                    struct tree_node *leaf, struct tree_node **created)
{
    struct change change = {0, 0, {leaf, NULL}, 1};
    struct tree_node *node = root;
    struct way way = {.depth = 0};

    if (root == NULL) {
        *created = tree_node_make(&leaf, 1);
        change_release(&change);
        return *created != NULL;
    }
    do {
        uint32_t closest = tree_node_closest(node, &leaf->presence);

        assert(way.depth < TREE_LEVELS_MAX);
        way.nodes[way.depth] = node;
        way.taken[way.depth++] = closest;
        change.at = closest + 1;
        node = node->children[closest];
    } while (node->level > 0);
    return apply(changer, &way, &change, created);
}

bool
tree_changer_take_out(struct tree_changer *changer, struct tree_node **root,
                      uint32_t slot)
{
    struct change change = {0, 1, {NULL, NULL}, 0};
    struct way way = {.depth = 0};

    if (!find_leaf(*root, slot, &way))
        return true;
    change.at = way.taken[way.depth - 1];
    return apply(changer, &way, &change, root);
}

bool
tree_changer_init(struct tree_changer *changer, uint32_t order)
{
    const uint32_t least = order < TREE_ORDER_MIN ? TREE_ORDER_MIN : order;
    const uint32_t within = least > TREE_ORDER_MAX ? TREE_ORDER_MAX : least;
    const size_t room = 4 * (size_t)within; /* of a node and its neighbour */

    changer->order = within;
    changer->lists[0] = calloc(room, sizeof(struct tree_node *));
    changer->lists[1] = calloc(room, sizeof(struct tree_node *));
    if (changer->lists[0] == NULL || changer->lists[1] == NULL) {
        tree_changer_release(changer);
        return false;
    }
    return true;
}

void
tree_changer_release(struct tree_changer *changer)
{
    free(changer->lists[0]);
    free(changer->lists[1]);
    changer->lists[0] = NULL;
    changer->lists[1] = NULL;
}
