/*
 * Column tree: see column_tree.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/column_tree.h"

#include <assert.h>
#include <stdlib.h>

#include "loading/column_path.h"

/* With a copy of the name behind it. */
static struct column_node *
node_create(struct colander_slice name)
{
    struct column_node *node = calloc(1, sizeof(*node) + name.size);

    if (node == NULL)
        return NULL;
    if (name.size > 0)
        memcpy(node + 1, name.data, name.size);
    node->name = colander_slice_of(node + 1, name.size);
    return node;
}

void
column_tree_destroy(struct column_node *root)
{
    if (root == NULL)
        return;
    for (size_t i = 0; i < root->child_count; i++)
        column_tree_destroy(root->children[i]);
    free(root->children);
    column_tree_destroy(root->element);
    free(root);
}

/* Where the child is, or would be. */
static size_t
child_index(const struct column_node *node, struct colander_slice name,
            bool *is_there)
{
    size_t low = 0;
    size_t high = node->child_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct colander_slice other = node->children[middle]->name;

        if (colander_slice_compare(name, other) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    *is_there = low < node->child_count &&
                colander_slice_equal(name, node->children[low]->name);
    return low;
}

const struct column_node *
column_node_child(const struct column_node *node, struct colander_slice name)
{
    bool is_there;
    size_t index = child_index(node, name, &is_there);

    return is_there ? node->children[index] : NULL;
}

/* The child, made if there is none; NULL when memory is short. */
static struct column_node *
reach_child(struct column_node *node, struct colander_slice name)
{
    bool is_there;
    size_t index = child_index(node, name, &is_there);
    struct column_node **grown;
    struct column_node *child;

    assert(!is_there || node->children != NULL);
    if (is_there)
        return node->children[index];
    grown = realloc(node->children, (node->child_count + 1) * sizeof(*grown));
    if (grown == NULL)
        return NULL;
    node->children = grown;
    child = node_create(name);
    if (child == NULL)
        return NULL;
    memmove(grown + index + 1, grown + index,
            (node->child_count - index) * sizeof(*grown));
    grown[index] = child;
    node->child_count++;
    return child;
}

static struct column_node *
reach(struct column_node *node, const struct column_step *step)
{
    if (!step->is_element)
        return reach_child(node, step->name);
    if (node->element == NULL)
        node->element = node_create(step->name);
    return node->element;
}

static enum colander_code
add_column(struct column_node *root, const struct schema_column *column,
           struct colander_error *err)
{
    struct column_path path;
    struct column_node *node = root;
    enum colander_code code = column_path_parse(column->path, &path, err);

    for (size_t i = 0; i < path.count && node != NULL; i++)
        node = reach(node, &path.steps[i]);
    column_path_release(&path);
    if (code != COLANDER_OK)
        return code;
    if (node == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot keep a schema");
    node->reading = &column->reading;
    return COLANDER_OK;
}

enum colander_code
column_tree_create(const struct schema *schema, struct column_node **root,
                   struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    *root = node_create(colander_slice_of(NULL, 0));
    if (*root == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot keep a schema");
    for (size_t i = 0; i < schema->column_count && code == COLANDER_OK; i++)
        code = add_column(*root, &schema->columns[i], err);
    if (code != COLANDER_OK) {
        column_tree_destroy(*root);
        *root = NULL;
    }
    return code;
}
