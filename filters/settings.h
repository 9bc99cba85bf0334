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

/* Columns, each with all that is below it. */
struct path_list {
    uint32_t count;
    uint64_t hashes[FILTER_PATHS_MAX]; /* of their paths */
};

/* In the order of filter_option_lists. */
enum settings_list {
    LIST_UNFILTERED,
    LIST_WORD_COLUMNS, /* none: all or none, as the options say */
    LIST_ORDERED,
    LIST_UNORDERED,
    SETTINGS_LISTS,
};

struct settings {
    struct colander_filter_options options; /* owns its lists of columns */
    struct path_list lists[SETTINGS_LISTS];
    bool adds_words_later; /* words are off for the file that is built */
    atomic_size_t reference_count;
};

/* Checks and copies `options`. NULL means the defaults. */
COLANDER_CHECKED enum colander_code
settings_create(const struct colander_filter_options *options,
                struct settings **settings, struct colander_error *err);

/* Returns the same settings for a file that gets its words later, or NULL if
 * memory is short. */
struct settings *settings_without_words(const struct settings *settings);

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

/* Returns whether a value of a row is in a column of the list, or below one.
 * Requires the values in the order of the row. `depth` is that of the listed
 * column being visited, or 0, as before the first value. */
static inline bool
settings_lists(const struct settings *settings, enum settings_list which,
               const struct row_value *value, uint32_t *depth)
{
    const struct path_list *list = &settings->lists[which];

    if (*depth != 0 && value->depth > *depth)
        return true;
    *depth = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->hashes[i] == value->path_hash)
            *depth = value->depth;
    }
    return *depth != 0;
}

/* Returns whether a value of a row is in a column whose texts have words, as
 * settings_lists does. */
static inline bool
settings_has_words(const struct settings *settings,
                   const struct row_value *value, uint32_t *depth)
{
    return settings->lists[LIST_WORD_COLUMNS].count == 0
               ? settings->options.words
               : settings_lists(settings, LIST_WORD_COLUMNS, value, depth);
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
