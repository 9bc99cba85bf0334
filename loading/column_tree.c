/* SPDX-License-Identifier: MIT */
#include "loading/column_tree.h"
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

/* The library reads paths to follow them: here in a row without columns. */
enum colander_code
column_path_check(const char *path, struct colander_error *err)
{
    static const uint8_t row[] = {0x80};
    struct colander_value value;
    bool found;

    return colander_row_get(colander_slice_of(row, sizeof(row)), path, &value,
                            &found, err);
}

static int
hex_digit(char character)
{
    if (character >= '0' && character <= '9')
        return character - '0';
    return (character | 0x20) - 'a' + 10;
}

/* Takes one byte of a name from *at, in a path that is known to be one. */
static uint8_t
take_byte(const char **at)
{
    const char *from = *at;

    if (*from != '\\') {
        *at = from + 1;
        return (uint8_t)*from;
    }
    if (from[1] != 'x') {
        *at = from + 2;
        return (uint8_t)from[1];
    }
    *at = from + 4;
    return (uint8_t)(hex_digit(from[2]) * 16 + hex_digit(from[3]));
}

/* Returns the node at `path`, created if it is missing; NULL without memory.
 * `name` has room for the longest name of the path. */
static struct column_node *
reach(struct column_node *node, const char *path, uint8_t *name)
{
    for (const char *at = path;; at++) { /* over a dot */
        size_t size = 0;

        while (*at != '\0' && *at != '.' && *at != '[')
            name[size++] = take_byte(&at);
        node = reach_child(node, colander_slice_of(name, size));
        for (; *at == '[' && node != NULL; at += 2)
            node = reach_element(node);
        if (*at == '\0' || node == NULL)
            return node;
    }
}

/* With a copy of the time format after it. */
static struct value_reading *
copy_reading(const struct value_reading *reading)
{
    const char *format =
        reading->type == VALUE_TIME ? reading->time_format : NULL;
    size_t size = format == NULL ? 0 : strlen(format) + 1;
    struct value_reading *copy = malloc(sizeof(*copy) + size);

    if (copy == NULL)
        return NULL;
    copy->type = reading->type;
    copy->time_format = format == NULL ? NULL : memcpy(copy + 1, format, size);
    return copy;
}

enum colander_code
column_tree_add(struct column_node **root, const char *path,
                const struct value_reading *reading, struct colander_error *err)
{
    enum colander_code code = column_path_check(path, err);
    struct column_node *node = NULL;
    uint8_t *name;

    if (code != COLANDER_OK)
        return code;
    name = malloc(strlen(path) + 1);
    if (*root == NULL)
        *root = node_create(colander_slice_of(NULL, 0));
    if (*root != NULL && name != NULL)
        node = reach(*root, path, name);
    free(name);
    if (node != NULL && node->reading != NULL)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "column '%.200s' is listed twice", path);
    if (node != NULL)
        node->reading = copy_reading(reading);
    if (node == NULL || node->reading == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot keep a schema");
    return COLANDER_OK;
}
