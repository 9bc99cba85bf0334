/* See arrangement.h. SPDX-License-Identifier: MIT */
#include "shell/output/arrangement.h"
#include "shell/text.h"

#include <stdlib.h>

struct arranged {
    char *name; /* owned, of that size */
    size_t size;
    struct colander_value value; /* of the row */
    bool is_there;
};

/* Returns the first name of a path, without its backslashes, or NULL without
 * memory. */
static char *
first_name(const char *path, size_t *size)
{
    char *name = malloc(strlen(path) + 1);

    for (*size = 0;
         name != NULL && *path != '\0' && *path != '.' && *path != '[';
         path++) {
        if (*path == '\\' && path[1] != '\0')
            path++;
        name[(*size)++] = *path;
    }
    return name;
}

static struct arranged *
find_column(const struct arrangement *arrangement, struct colander_slice name)
{
    for (size_t i = 0; i < arrangement->count; i++) {
        struct arranged *column = &arrangement->columns[i];

        if (colander_slice_equal(colander_slice_of(column->name, column->size),
                                 name))
            return column;
    }
    return NULL;
}

enum colander_code
arrangement_init(struct arrangement *arrangement, const char *const *paths,
                 size_t count, struct colander_error *err)
{
    if (count < 2)
        return COLANDER_OK;
    arrangement->columns = calloc(count, sizeof(*arrangement->columns));
    arrangement->builder = colander_row_builder_create();
    for (size_t i = 0; i < count && arrangement->columns != NULL; i++) {
        struct arranged *column = &arrangement->columns[arrangement->count];

        column->name = first_name(paths[i], &column->size);
        if (column->name == NULL)
            break;
        arrangement->count++; /* a name that comes again gets no value */
    }
    if (arrangement->builder == NULL || arrangement->count < count)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for the selected columns");
    return COLANDER_OK;
}

/* Finds the values of the columns. *is_needed is whether the row has no others,
 * in another order. */
static enum colander_code
find_values(struct arrangement *arrangement, struct colander_slice row,
            bool *is_needed, struct colander_error *err)
{
    struct colander_members members;
    struct colander_slice name;
    struct colander_value value;
    const struct arranged *before = NULL;
    bool is_member = true;
    enum colander_code code = colander_members_init(&members, row, err);

    *is_needed = false;
    for (size_t i = 0; i < arrangement->count; i++)
        arrangement->columns[i].is_there = false;
    while (code == COLANDER_OK) {
        struct arranged *column;

        code = colander_members_next(&members, &is_member, &name, &value, err);
        if (code != COLANDER_OK || !is_member)
            break;
        column = find_column(arrangement, name);
        if (column == NULL) {
            *is_needed = false;
            break;
        }
        column->value = value;
        column->is_there = true;
        *is_needed |= before != NULL && column < before;
        before = column;
    }
    return code;
}

enum colander_code
arrangement_apply(struct arrangement *arrangement, struct colander_slice *row,
                  struct colander_error *err)
{
    bool is_needed;
    enum colander_code code;

    if (arrangement->columns == NULL)
        return COLANDER_OK;
    code = find_values(arrangement, *row, &is_needed, err);
    if (code != COLANDER_OK || !is_needed)
        return code;
    for (size_t i = 0; i < arrangement->count; i++) {
        const struct arranged *column = &arrangement->columns[i];

        if (column->is_there)
            colander_row_builder_add_named(
                arrangement->builder,
                colander_slice_of(column->name, column->size), column->value);
    }
    return colander_row_builder_finish(arrangement->builder, row, err);
}

void
arrangement_release(struct arrangement *arrangement)
{
    for (size_t i = 0; i < arrangement->count; i++)
        free(arrangement->columns[i].name);
    free(arrangement->columns);
    colander_row_builder_destroy(arrangement->builder);
}
