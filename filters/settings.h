/*
 * Settings: the filter options of a family, in the form that the code uses.
 *
 * They are counted and never change. A change creates new settings; a builder
 * keeps those that it began with.
 *
 * Bytes: filters/FORMAT.md, "Settings"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_SETTINGS_H
#define COLANDER_FILTERS_SETTINGS_H

#include "columns/candidates.h"
#include "filters/filter_file.h"
#include "filters/filters.h"

#include <stdatomic.h>

struct settings {
    struct colander_filter_options options; /* owns its lists of columns */
    uint64_t unfiltered[FILTER_PATHS_MAX];  /* path hashes, ascending */
    uint32_t unfiltered_count;
    uint32_t word_column_count; /* 0: all or none, as the options say */
    uint64_t word_columns[FILTER_PATHS_MAX]; /* path hashes */
    atomic_size_t reference_count;
};

/* Checks and copies `options`. NULL means the defaults. */
COLANDER_CHECKED enum colander_code
settings_create(const struct colander_filter_options *options,
                struct settings **settings, struct colander_error *err);

struct settings *settings_ref(struct settings *settings);

/* NULL is allowed. */
void settings_unref(struct settings *settings);

/* Replaces the contents of `record`. */
COLANDER_CHECKED enum colander_code
settings_encode(const struct settings *settings, struct colander_buffer *record,
                struct colander_error *err);

/* Fails with CORRUPT for bytes that settings_encode cannot have written, and
 * with TOO_NEW for a later version. */
COLANDER_CHECKED enum colander_code
settings_decode(struct colander_slice record, struct settings **settings,
                struct colander_error *err);

/* Copies the options. The caller must release the copy. */
COLANDER_CHECKED enum colander_code
settings_copy_options(const struct colander_filter_options *from,
                      struct colander_filter_options *into,
                      struct colander_error *err);

/* Returns whether the path is in the list. A path below one in the list must be
 * recognized by the caller. */
static inline bool
settings_is_listed(const uint64_t *paths, uint32_t count, uint64_t path_hash)
{
    for (uint32_t i = 0; i < count; i++) {
        if (paths[i] == path_hash)
            return true;
    }
    return false;
}

/* Returns whether a value of a row is in an unfiltered column. Requires the
 * values in the order of the row. `skip_depth` is the depth of the unfiltered
 * column being visited, or 0, as before the first value. */
static inline bool
settings_skips(const struct settings *settings, const struct row_value *value,
               uint32_t *skip_depth)
{
    if (*skip_depth != 0 && value->depth > *skip_depth)
        return true;
    *skip_depth =
        settings_is_listed(settings->unfiltered, settings->unfiltered_count,
                           value->path_hash)
            ? value->depth
            : 0;
    return *skip_depth != 0;
}

/* Returns whether a value of a row is in a column whose texts have words.
 * Requires the values that are not skipped, in the order of the row, and
 * `words_depth` like `skip_depth`. */
static inline bool
settings_has_words(const struct settings *settings,
                   const struct row_value *value, uint32_t *words_depth)
{
    if (settings->word_column_count == 0)
        return settings->options.words;
    if (*words_depth != 0 && value->depth > *words_depth)
        return true;
    *words_depth =
        settings_is_listed(settings->word_columns, settings->word_column_count,
                           value->path_hash)
            ? value->depth
            : 0;
    return *words_depth != 0;
}

/* Returns the tag that represents a column in locators and recent rows. */
static inline unsigned
column_tag(uint64_t path_hash)
{
    return (unsigned)(path_hash >> (64 - LOCATOR_TAG_BITS));
}

/* Returns the tag of the query's column, or LOCATOR_TAG_ANY. */
static inline unsigned
query_tag(const struct filter_query *query)
{
    return query->path_length == 0
               ? LOCATOR_TAG_ANY
               : column_tag(query->path_hashes[query->path_length - 1]);
}

/* Returns the shape of an in-memory presence of `hash_count` values. */
struct presence_shape settings_presence_shape(const struct settings *settings,
                                              uint64_t hash_count);

#endif
