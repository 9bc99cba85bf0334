/* See column_counts.h. SPDX-License-Identifier: MIT */
#include "loading/column_counts.h"
#include "core/array.h"

#include <stdlib.h>

#include <xxhash.h>

#define COLUMNS_MAX 10000

struct counted_column {
    char *path; /* owned */
    struct value_counts values;
};

void
column_counts_init(struct column_counts *counts)
{
    memset(counts, 0, sizeof(*counts));
    pthread_mutex_init(&counts->mutex, NULL);
}

void
column_counts_release(struct column_counts *counts)
{
    for (size_t i = 0; i < counts->count; i++)
        free(counts->columns[i].path);
    free(counts->columns);
    hash_index_release(&counts->index);
    misfits_release(&counts->misfits);
    pthread_mutex_destroy(&counts->mutex);
}

void
value_counts_miss(struct value_counts *counts, struct colander_slice text)
{
    if (counts->missing++ == 0 && text.size < MISSING_TEXT_SIZE)
        memcpy(counts->missing_text, text.data, text.size);
    else if (!colander_slice_equal(text,
                                   colander_slice_text(counts->missing_text)))
        counts->has_other_missing = true;
}

/* Returns the path of a column, owned by the caller; NULL without memory. */
static char *
path_of(struct colander_slice name)
{
    char *path = malloc(2 * name.size + 1);
    char *at = path;

    for (size_t i = 0; path != NULL && i < name.size; i++) {
        if (strchr(".[]\\=", name.data[i]) != NULL)
            *at++ = '\\';
        *at++ = (char)name.data[i];
    }
    if (path != NULL)
        *at = '\0';
    return path;
}

/* Returns the column, created if it is missing, or NULL if too many are
 * counted. Takes the path. */
static struct counted_column *
reach(struct column_counts *counts, char *path)
{
    /* the address is a seed that a foreign file cannot know */
    const uint32_t hash = (uint32_t)XXH3_64bits_withSeed(
        path, strlen(path), (uint64_t)(uintptr_t)counts);
    struct counted_column *column = NULL;
    size_t at = HASH_INDEX_START;
    uint32_t i;

    while ((i = hash_index_next(&counts->index, hash, &at)) !=
           HASH_INDEX_NONE) {
        if (strcmp(counts->columns[i].path, path) == 0) {
            free(path);
            return &counts->columns[i];
        }
    }
    if (counts->count < COLUMNS_MAX &&
        array_reserve(&counts->columns, counts->count, &counts->capacity, 1,
                      NULL) == COLANDER_OK &&
        hash_index_reserve(&counts->index, NULL) == COLANDER_OK) {
        hash_index_add(&counts->index, hash, (uint32_t)counts->count);
        column = &counts->columns[counts->count++];
        *column = (struct counted_column){.path = path};
    } else {
        free(path);
    }
    return column;
}

void
column_counts_add(struct column_counts *counts, struct colander_slice name,
                  const struct value_counts *values)
{
    struct counted_column *column = NULL;
    char *path = path_of(name);

    if (path == NULL)
        return;
    pthread_mutex_lock(&counts->mutex);
    column = reach(counts, path);
    for (size_t i = 0; column != NULL && i <= COLANDER_STRING; i++)
        column->values.of[i] += values->of[i];
    if (column != NULL && values->missing > 0) {
        struct value_counts *sum = &column->values;

        sum->has_other_missing |=
            values->has_other_missing ||
            (sum->missing > 0 &&
             strcmp(sum->missing_text, values->missing_text) != 0);
        sum->missing += values->missing;
        memcpy(sum->missing_text, values->missing_text, MISSING_TEXT_SIZE);
    }
    pthread_mutex_unlock(&counts->mutex);
}

void
column_counts_add_misfits(struct column_counts *counts,
                          const struct misfits *misfits, const char *file)
{
    pthread_mutex_lock(&counts->mutex);
    misfits_add(&counts->misfits, misfits, file);
    pthread_mutex_unlock(&counts->mutex);
}

bool
column_counts_mixed(struct column_counts *counts, size_t *at,
                    struct colander_load_mixed *mixed)
{
    while (*at < counts->count) {
        const struct counted_column *column = &counts->columns[(*at)++];
        const struct value_counts *values = &column->values;
        const bool is_one_text =
            values->missing == values->of[COLANDER_STRING] &&
            !values->has_other_missing && values->missing_text[0] != '\0';

        mixed->path = column->path;
        mixed->integer_count =
            values->of[COLANDER_INTEGER] + values->of[COLANDER_UNSIGNED];
        mixed->double_count = values->of[COLANDER_DOUBLE];
        mixed->boolean_count = values->of[COLANDER_BOOLEAN];
        mixed->string_count = values->of[COLANDER_STRING];
        mixed->missing = is_one_text ? values->missing_text : NULL;
        if ((mixed->integer_count + mixed->double_count > 0) +
                (mixed->boolean_count > 0) + (mixed->string_count > 0) >
            1)
            return true;
    }
    return false;
}
