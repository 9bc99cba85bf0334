/* SPDX-License-Identifier: MIT */
#include "loading/column_tree.h"
#include "columns/path.h"
#include "core/array.h"

#include <assert.h>
#include <stdlib.h>

/* With a copy of the name after it. */
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
    free(root->reading);
    free(root);
}

/* Where the child is, or would be. */
static size_t
child_index(const struct column_node *node, struct colander_slice name,
            bool *is_there)
{
    size_t place;

    array_search(place, node->child_count,
                 colander_slice_compare(node->children[place]->name, name) < 0);
    *is_there = place < node->child_count &&
                colander_slice_equal(name, node->children[place]->name);
    return place;
}

const struct column_node *
column_node_child(const struct column_node *node, struct colander_slice name)
{
    bool is_there;
    size_t index = child_index(node, name, &is_there);

    return is_there ? node->children[index] : NULL;
}

/* Returns the child, created if it is missing; NULL without memory. */
static struct column_node *
reach_child(struct column_node *node, struct colander_slice name)
{
    bool is_there;
    size_t index = child_index(node, name, &is_there);
    struct column_node *child;

    assert(!is_there || node->children != NULL);
    if (is_there)
        return node->children[index];
    if (array_reserve(&node->children, node->child_count, &node->child_capacity,
                      1, NULL) != COLANDER_OK)
        return NULL;
    child = node_create(name);
    if (child == NULL)
        return NULL;
    memmove(node->children + index + 1, node->children + index,
            (node->child_count - index) * sizeof(*node->children));
    node->children[index] = child;
    node->child_count++;
    return child;
}

static struct column_node *
reach_element(struct column_node *node)
{
    if (node->element == NULL)
        node->element = node_create(colander_slice_of(NULL, 0));
    return node->element;
}

/* --------------------------------------------------------------- paths --- */

enum colander_code
column_path_check(const char *path, struct colander_error *err)
{
    struct path parsed;
    enum colander_code code = colander_path_parse(path, &parsed, err);

    path_release(&parsed);
    return code;
}

/* Returns the node at `path`, created if it is missing; NULL without memory. */
static struct column_node *
reach(struct column_node *node, const struct path *path)
{
    for (size_t i = 0; i < path->count && node != NULL; i++)
        node = path->steps[i].is_element
                   ? reach_element(node)
                   : reach_child(node, path->steps[i].name);
    return node;
}

/* With copies of the path and the time format after it. */
static struct value_reading *
copy_reading(const struct value_reading *reading, const char *path,
             size_t number)
{
    const char *format =
        reading->type == VALUE_TIME ? reading->time_format : NULL;
    size_t path_size = strlen(path) + 1;
    size_t size = format == NULL ? 0 : strlen(format) + 1;
    struct value_reading *copy = malloc(sizeof(*copy) + path_size + size);
    char *texts = (char *)(copy + 1);

    if (copy == NULL)
        return NULL;
    copy->type = reading->type;
    copy->path = memcpy(texts, path, path_size);
    copy->time_format =
        format == NULL ? NULL : memcpy(texts + path_size, format, size);
    copy->number = number;
    return copy;
}

enum colander_code
column_tree_add(struct column_node **root, const char *path,
                const struct value_reading *reading, bool replaces,
                struct colander_error *err)
{
    struct value_reading *copy = NULL;
    struct path parsed;
    struct column_node *node;
    enum colander_code code = colander_path_parse(path, &parsed, err);

    if (code != COLANDER_OK)
        return code;
    if (*root == NULL)
        *root = node_create(colander_slice_of(NULL, 0));
    node = reach(*root, &parsed);
    path_release(&parsed);
    if (node != NULL && node->reading != NULL && !replaces)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "column '%.200s' is listed twice", path);
    if (node != NULL)
        copy = copy_reading(reading, path,
                            node->reading != NULL ? node->reading->number
                                                  : (*root)->reading_count++);
    if (copy == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot keep a schema");
    free(node->reading);
    node->reading = copy;
    return COLANDER_OK;
}
