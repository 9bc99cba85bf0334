/*
 * Columns that no row has had so far: see hint.h. SPDX-License-Identifier: MIT
 */
#include "shell/hint.h"
#include "shell/output/hint_parts.h"

#include <stdlib.h>

bool
hint_is_key(const char *path)
{
    return strcmp(path, COLANDER_KEY_COLUMN) == 0;
}

bool
hint_is_listed(const char *path, const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(paths[i], path) == 0)
            return true;
    }
    return false;
}

void
hint_missing_init(struct hint_missing *missing, const char *const *paths,
                  size_t count, const char *order,
                  const struct colander_predicate *where)
{
    struct colander_condition condition;

    missing->count = 0;
    missing->paths =
        calloc(count + 1 + HINT_PATHS_MAX, sizeof(*missing->paths));
    for (size_t i = 0; i < count && missing->paths != NULL; i++) {
        if (!hint_is_key(paths[i]))
            missing->paths[missing->count++] = paths[i];
    }
    if (order != NULL && missing->paths != NULL)
        missing->paths[missing->count++] = order;
    for (size_t i = 0;
         i < HINT_PATHS_MAX && where != NULL && missing->paths != NULL &&
         colander_predicate_condition(where, i, &condition);
         i++) {
        if (condition.is_alternative || condition.is_negated)
            missing->paths[missing->count++] = condition.path;
    }
}

void
hint_missing_see(struct hint_missing *missing, struct colander_slice row)
{
    struct colander_value value;
    size_t left = 0;

    for (size_t i = 0; i < missing->count; i++) {
        bool found = false;

        if (strstr(missing->paths[i], "[]") != NULL ||
            colander_row_get(row, missing->paths[i], &value, &found, NULL) !=
                COLANDER_OK ||
            !found)
            missing->paths[left++] = missing->paths[i];
    }
    missing->count = left;
}

void
hint_missing_release(struct hint_missing *missing)
{
    free(missing->paths);
    missing->paths = NULL;
    missing->count = 0;
}
