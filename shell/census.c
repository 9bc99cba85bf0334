/*
 * Census: see census.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/census.h"

#include <assert.h>
#include <stdlib.h>

#define PATH_SIZE 64 /* bytes, to begin with */
#define PLACES 32768 /* over three for each column, a power of two */

struct counted {
    struct census_column column;
    uint64_t last_row; /* that had it, from 1 */
};

struct census {
    struct counted *items;
    size_t count;
    size_t capacity;
    uint16_t places[PLACES]; /* by hash: number of the item, from 1; 0: free */
    struct colander_buffer path; /* of the value looked at; never NULL */
    uint64_t row;                /* its number, from 1 */
};

static_assert(CENSUS_COLUMNS_MAX < UINT16_MAX, "numbers fit into places");

struct census *
census_create(void)
{
    struct census *census = calloc(1, sizeof(*census));

    /* the path of the column "" has no bytes, and a place all the same */
    if (census != NULL && colander_buffer_reserve(&census->path, PATH_SIZE,
                                                  NULL) != COLANDER_OK) {
        free(census);
        return NULL;
    }
    return census;
}

void
census_destroy(struct census *census)
{
    if (census == NULL)
        return;
    for (size_t i = 0; i < census->count; i++)
        free((char *)census->items[i].column.path);
    colander_buffer_release(&census->path);
    free(census->items);
    free(census);
}

/* Adds the path as a column that no row has had yet. */
static enum colander_code
add_column(struct census *census, uint16_t *place, struct colander_error *err)
{
    const char *path = (const char *)census->path.data;
    struct counted *item;

    if (census->count == CENSUS_COLUMNS_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "there are more than %d columns",
                             CENSUS_COLUMNS_MAX);
    if (census->count == census->capacity) {
        const size_t capacity = census->capacity * 2 + 64;
        struct counted *grown =
            realloc(census->items, capacity * sizeof(*grown));

        if (grown == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for columns");
        census->items = grown;
        census->capacity = capacity;
    }
    item = &census->items[census->count];
    memset(item, 0, sizeof(*item));
    item->column.path = strndup(path, census->path.size);
    if (item->column.path == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for columns");
    *place = (uint16_t)++census->count;
    return COLANDER_OK;
}

/* Whether the item with this number is the path's. */
static bool
is_path(const struct census *census, uint16_t number)
{
    const char *path = census->items[number - 1].column.path;

    return strlen(path) == census->path.size &&
           memcmp(path, census->path.data, census->path.size) == 0;
}

/* Counts a value at the path. */
static enum colander_code
count_value(struct census *census, enum colander_type type,
            struct colander_error *err)
{
    const struct colander_value path =
        colander_string(colander_buffer_slice(&census->path));
    size_t at = (size_t)colander_value_hash(&path) % PLACES;
    struct counted *item;

    while (census->places[at] != 0 && !is_path(census, census->places[at]))
        at = (at + 1) % PLACES;
    if (census->places[at] == 0) {
        enum colander_code code = add_column(census, &census->places[at], err);

        if (code != COLANDER_OK)
            return code;
    }
    item = &census->items[census->places[at] - 1];
    item->column.type_counts[type]++;
    if (item->last_row != census->row)
        item->column.row_count++;
    item->last_row = census->row;
    return COLANDER_OK;
}

/* Appends what leads from a container, the row itself at `depth` 0, to its
 * member. */
static enum colander_code
append_step(struct census *census, bool is_map, unsigned depth,
            struct colander_slice name, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (!is_map)
        return colander_buffer_append(&census->path, "[]", 2, err);
    if (depth > 0)
        code = colander_buffer_append(&census->path, ".", 1, err);
    if (code == COLANDER_OK)
        code = colander_path_append_name(&census->path, name, err);
    return code;
}

/* Counts all that is in the container, to any depth: rows have a bounded
 * one. */
static enum colander_code
count_members(struct census *census, struct colander_slice container,
              unsigned depth, struct colander_error *err)
{
    const size_t size = census->path.size;
    struct colander_members members;
    struct colander_value value;
    struct colander_slice name;
    bool is_member = true;
    enum colander_code code = colander_members_init(&members, container, err);

    while (code == COLANDER_OK) {
        code = colander_members_next(&members, &is_member, &name, &value, err);
        if (code != COLANDER_OK || !is_member)
            break;
        code = append_step(census, members.is_map, depth, name, err);
        if (code == COLANDER_OK)
            code = count_value(census, value.type, err);
        if (code == COLANDER_OK &&
            (value.type == COLANDER_MAP || value.type == COLANDER_ARRAY))
            code = count_members(census, value.bytes, depth + 1, err);
        census->path.size = size;
    }
    return code;
}

enum colander_code
census_take(struct census *census, struct colander_family *family,
            uint64_t row_limit, void (*watch)(struct colander_cursor *cursor),
            uint64_t *row_count, struct colander_error *err)
{
    struct colander_cursor *cursor = NULL;
    struct colander_query query;
    enum colander_code code;

    colander_query_init(&query);
    query.limit = row_limit;
    code = colander_family_find(family, &query, &cursor, err);
    if (code == COLANDER_OK && watch != NULL)
        watch(cursor);
    while (code == COLANDER_OK) {
        struct colander_result result;
        bool is_row;

        code = colander_cursor_next(cursor, &is_row, &result, err);
        if (code != COLANDER_OK || !is_row)
            break;
        census->row++;
        census->path.size = 0;
        code = count_members(census, result.row, 0, err);
    }
    if (watch != NULL)
        watch(NULL);
    colander_cursor_close(cursor);
    if (row_count != NULL)
        *row_count = census->row;
    return code;
}

size_t
census_count(const struct census *census)
{
    return census->count;
}

const struct census_column *
census_column(const struct census *census, size_t index)
{
    return &census->items[index].column;
}
