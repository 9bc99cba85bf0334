/* See union_missing.h. SPDX-License-Identifier: MIT */
#include "columns/union/union_missing.h"

#include <stdlib.h>

/* Returns what a store stands for, with a blank before each; NULL: all that it
 * has. */
static const char *
parts_of(const struct colander_store *store)
{
    const char *path = colander_store_path(store);

    return path[0] == '/' ? NULL : strchr(path, ' ');
}

/* Whether the family (NULL: any) has rows in a partition, FAMILY/0017 or, of
 * a later generation, FAMILY.1/0017. */
static bool
is_part_of(const char *part, const char *family)
{
    const size_t size = strcspn(part, "./ ");

    return family == NULL || (strncmp(family, part, size) == 0 &&
                              (family[size] == '\0' || family[size] == '.'));
}

bool
union_may_have(const struct colander_store *store, const char *family)
{
    const char *word = parts_of(store);

    if (word == NULL)
        return true;
    for (; word != NULL; word = strchr(word, ' ')) {
        if (is_part_of(++word, family))
            return true;
    }
    return false;
}

void
union_name_member(const struct colander_store *store,
                  struct colander_error *err)
{
    const char *parts = parts_of(store);

    colander_error_context(
        err, "%.200s", parts == NULL ? colander_store_path(store) : parts + 1);
}

/* Adds a copy, in order, unless it is there. */
static enum colander_code
add_name(struct colander_names *names, const char *name, size_t size,
         struct colander_error *err)
{
    char *copy = strndup(name, size);
    char **grown = realloc(names->names, (names->count + 1) * sizeof(*grown));
    size_t at = 0;

    if (grown != NULL)
        names->names = grown;
    if (copy == NULL || grown == NULL) {
        free(copy);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for names");
    }
    while (at < names->count && strcmp(names->names[at], copy) < 0)
        at++;
    if (at < names->count && strcmp(names->names[at], copy) == 0) {
        free(copy);
        return COLANDER_OK;
    }
    memmove(grown + at + 1, grown + at, (names->count - at) * sizeof(*grown));
    grown[at] = copy;
    names->count++;
    return COLANDER_OK;
}

enum colander_code
union_missing_note(struct union_missing *missing, const char *family,
                   const struct colander_store *store,
                   struct colander_error *err)
{
    const char *path = colander_store_path(store);
    const char *word = parts_of(store);
    enum colander_code code = COLANDER_OK;

    pthread_mutex_lock(&missing->mutex);
    if (word == NULL)
        code = add_name(&missing->names, path, strlen(path), err);
    while (word != NULL && code == COLANDER_OK) {
        const size_t size = strcspn(++word, " ");

        if (is_part_of(word, family))
            code = add_name(&missing->names, word, size, err);
        word = strchr(word, ' ');
    }
    pthread_mutex_unlock(&missing->mutex);
    return code;
}

enum colander_code
union_missing_list(struct union_missing *missing, struct colander_names *names,
                   struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    *names = (struct colander_names){NULL, 0};
    pthread_mutex_lock(&missing->mutex);
    for (size_t i = 0; i < missing->names.count && code == COLANDER_OK; i++) {
        const char *name = missing->names.names[i];

        code = add_name(names, name, strlen(name), err);
    }
    pthread_mutex_unlock(&missing->mutex);
    if (code != COLANDER_OK)
        colander_names_release(names);
    return code;
}
