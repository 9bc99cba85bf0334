/*
 * Census: see census.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/census.h"

#include <assert.h>
#include <stdlib.h>

#define PATH_SIZE 64            /* bytes, to begin with */
#define RUNS 100                /* of neighbours, in a sample */
#define SAMPLE_SIZE (64u << 20) /* bytes of its rows */
#define PLACES 32768            /* over three for each column, a power of two */

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

/* A run of rows to be counted. */
struct run {
    struct colander_slice from;  /* its first key; empty: the first there is */
    struct colander_slice until; /* first key beyond; empty: no bound */
    uint64_t row_limit;
    uint64_t byte_limit; /* the row that goes over it is the last */
    bool is_whole;       /* it was read to its end */
};

static bool
is_beyond(const struct run *run, struct colander_slice key)
{
    return run->until.size > 0 && colander_slice_compare(key, run->until) >= 0;
}

/* Counts what is in the rows of the cursor. One row more is read to learn
 * whether these were all. */
static enum colander_code
count_rows(struct census *census, struct colander_cursor *cursor,
           struct run *run, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    uint64_t count = 0;
    uint64_t size = 0;

    while (code == COLANDER_OK) {
        struct colander_result result;
        bool is_row;

        code = colander_cursor_next(cursor, &is_row, &result, err);
        if (code != COLANDER_OK)
            break;
        run->is_whole = !is_row || is_beyond(run, result.key);
        if (run->is_whole || count == run->row_limit || size > run->byte_limit)
            break;
        count++;
        size += result.row.size;
        census->row++;
        census->path.size = 0;
        code = count_members(census, result.row, 0, err);
    }
    return code;
}

static enum colander_code
take_run(struct census *census, struct colander_family *family, struct run *run,
         void (*watch)(struct colander_cursor *cursor),
         struct colander_error *err)
{
    struct colander_cursor *cursor = NULL;
    struct colander_query query;
    enum colander_code code;

    colander_query_init(&query);
    query.keys.from = run->from;
    if (run->row_limit < UINT64_MAX)
        query.limit = run->row_limit + 1;
    code = colander_family_find(family, &query, &cursor, err);
    if (code != COLANDER_OK)
        return code;
    if (watch != NULL)
        watch(cursor);
    code = count_rows(census, cursor, run, err);
    if (watch != NULL)
        watch(NULL);
    colander_cursor_close(cursor);
    return code;
}

enum colander_code
census_take(struct census *census, struct colander_family *family,
            uint64_t row_limit, void (*watch)(struct colander_cursor *cursor),
            uint64_t *row_count, struct colander_error *err)
{
    struct run run = {.row_limit = row_limit, .byte_limit = UINT64_MAX};
    enum colander_code code = take_run(census, family, &run, watch, err);

    if (row_count != NULL)
        *row_count = census->row;
    return code;
}

enum colander_code
census_sample(struct census *census, struct colander_family *family,
              uint64_t row_limit, void (*watch)(struct colander_cursor *cursor),
              struct census_sample *sample, struct colander_error *err)
{
    struct colander_buffer keys[RUNS - 1];
    enum colander_code code;
    size_t count = 0;

    memset(sample, 0, sizeof(*sample));
    memset(keys, 0, sizeof(keys));
    sample->is_all = true;
    code = colander_family_spread(family, keys, RUNS - 1, &count, err);
    for (size_t i = 0; i <= count && code == COLANDER_OK; i++) {
        /* what a short run leaves is for those behind it */
        struct run run = {.row_limit =
                              (row_limit - census->row) / (count + 1 - i),
                          .byte_limit = SAMPLE_SIZE / (count + 1)};

        if (i > 0)
            run.from = colander_buffer_slice(&keys[i - 1]);
        if (i < count)
            run.until = colander_buffer_slice(&keys[i]);
        code = take_run(census, family, &run, watch, err);
        sample->is_all = sample->is_all && run.is_whole;
    }
    for (size_t i = 0; i < RUNS - 1; i++)
        colander_buffer_release(&keys[i]);
    sample->row_count = census->row;
    sample->is_cut = code == COLANDER_LIMIT;
    if (sample->is_cut) /* what was counted by then will do */
        code = COLANDER_OK;
    sample->is_all = sample->is_all && !sample->is_cut;
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
