/*
 * Both are sets of paths, each with a number: the offset of the first value in
 * the row that matched there, or a number of rows. Memory grows with the paths
 * and not with the values.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/finds/match_paths.h"
#include "core/array.h"
#include "core/hash_index.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Memory that is kept from row to row: more than most rows ever need, and
 * little enough to keep for each cursor. */
#define KEPT_PATHS 2048
#define KEPT_TEXT_SIZE (64u << 10)

struct numbered_path {
    size_t text; /* where its text begins, which a zero byte follows */
    size_t size;
    uint64_t number;
};

struct path_set {
    struct numbered_path *items;
    size_t count;
    size_t capacity;
    struct hash_index index; /* of the items, by path */
    struct colander_buffer text;
};

struct colander_matches {
    struct path_set set;
    const char **paths; /* into its text; filled by match_paths_finish */
    size_t path_count;
    size_t path_capacity;
    bool is_cut;
};

struct match_counts {
    struct path_set set;
};

/* ---------------------------------------------------------------- sets --- */

static void
set_release(struct path_set *set)
{
    free(set->items);
    hash_index_release(&set->index);
    colander_buffer_release(&set->text);
}

static const char *
set_text(const struct path_set *set, size_t index)
{
    return (const char *)set->text.data + set->items[index].text;
}

static struct numbered_path *
set_find(const struct path_set *set, struct colander_slice path, uint32_t hash)
{
    size_t at = HASH_INDEX_START;
    uint32_t i;

    while ((i = hash_index_next(&set->index, hash, &at)) != HASH_INDEX_NONE) {
        struct numbered_path *item = &set->items[i];

        if (item->size == path.size &&
            memcmp(set->text.data + item->text, path.data, path.size) == 0)
            return item;
    }
    return NULL;
}

/* Finds the path, or adds it with `number`. Sets *item to NULL if its text and
 * the others would have more than `size_max` bytes. */
static enum colander_code
set_add(struct path_set *set, struct colander_slice path, uint64_t number,
        size_t size_max, struct numbered_path **item,
        struct colander_error *err)
{
    /* The address is a seed that a foreign row cannot know. */
    const uint32_t hash = (uint32_t)XXH3_64bits_withSeed(
        path.data, path.size, (uint64_t)(uintptr_t)set);
    enum colander_code code;

    *item = set_find(set, path, hash);
    if (*item != NULL || set->text.size + path.size >= size_max)
        return COLANDER_OK;
    code = array_reserve(&set->items, set->count, &set->capacity, 1, err);
    if (code == COLANDER_OK)
        code = hash_index_reserve(&set->index, err);
    if (code == COLANDER_OK)
        code = colander_buffer_reserve(&set->text, path.size + 1, err);
    if (code != COLANDER_OK)
        return code;
    *item = &set->items[set->count];
    **item = (struct numbered_path){set->text.size, path.size, number};
    if (path.size > 0)
        memcpy(set->text.data + set->text.size, path.data, path.size);
    set->text.data[set->text.size + path.size] = '\0';
    set->text.size += path.size + 1;
    hash_index_add(&set->index, hash, (uint32_t)set->count++);
    return COLANDER_OK;
}

/* ------------------------------------------------------------- matches --- */

struct colander_matches *
colander_matches_create(void)
{
    return calloc(1, sizeof(struct colander_matches));
}

void
colander_matches_destroy(struct colander_matches *matches)
{
    if (matches == NULL)
        return;
    set_release(&matches->set);
    free(matches->paths);
    free(matches);
}

struct colander_columns
colander_matches_columns(const struct colander_matches *matches)
{
    struct colander_columns columns = {matches->paths, matches->path_count,
                                       matches->is_cut};

    return columns;
}

void
match_paths_clear(struct colander_matches *matches)
{
    struct path_set *set = &matches->set;

    if (set->capacity > KEPT_PATHS || set->text.capacity > KEPT_TEXT_SIZE) {
        set_release(set);
        free(matches->paths);
        memset(matches, 0, sizeof(*matches));
        return;
    }
    hash_index_clear(&set->index);
    set->count = 0;
    matches->path_count = 0;
    matches->is_cut = false;
    colander_buffer_clear(&set->text);
}

bool
match_paths_is_cut(const struct colander_matches *matches)
{
    return matches->is_cut;
}

enum colander_code
match_paths_add(struct colander_matches *matches, struct colander_slice path,
                size_t offset, struct colander_error *err)
{
    struct numbered_path *item;
    enum colander_code code = set_add(&matches->set, path, offset,
                                      COLANDER_MATCHES_SIZE_MAX, &item, err);

    if (code != COLANDER_OK)
        return code;
    if (item == NULL)
        matches->is_cut = true;
    else if (offset < item->number)
        item->number = offset;
    return COLANDER_OK;
}

static int
compare_numbers(const void *left, const void *right)
{
    const struct numbered_path *a = left;
    const struct numbered_path *b = right;

    return (a->number > b->number) - (a->number < b->number);
}

enum colander_code
match_paths_finish(struct colander_matches *matches, struct colander_error *err)
{
    const struct path_set *set = &matches->set;
    enum colander_code code = array_reserve(
        &matches->paths, 0, &matches->path_capacity, set->count, err);

    if (code != COLANDER_OK)
        return code;
    if (set->count > 1)
        qsort(set->items, set->count, sizeof(*set->items), compare_numbers);
    for (size_t i = 0; i < set->count; i++)
        matches->paths[i] = set_text(set, i);
    matches->path_count = set->count;
    return COLANDER_OK;
}

/* -------------------------------------------------------------- counts --- */

struct match_counts *
match_counts_create(void)
{
    return calloc(1, sizeof(struct match_counts));
}

void
match_counts_destroy(struct match_counts *counts)
{
    if (counts == NULL)
        return;
    set_release(&counts->set);
    free(counts);
}

enum colander_code
match_counts_add(struct match_counts *counts, struct colander_columns columns,
                 struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < columns.count && code == COLANDER_OK; i++) {
        const bool is_full = counts->set.count == MATCH_COUNTS_PATHS_MAX;
        struct numbered_path *item = NULL;

        code = set_add(&counts->set, colander_slice_text(columns.paths[i]), 0,
                       is_full ? 0 : MATCH_COUNTS_SIZE_MAX, &item, err);
        if (code == COLANDER_OK && item != NULL)
            item->number++;
    }
    return code;
}

bool
match_counts_get(const struct match_counts *counts, size_t index,
                 const char **path, uint64_t *row_count)
{
    if (index >= counts->set.count)
        return false;
    *path = set_text(&counts->set, index);
    *row_count = counts->set.items[index].number;
    return true;
}
