/*
 * Settings: what the filters of a family are to be like, as the code uses it.
 *
 * Counted and unchanging: a change makes new settings, and who builds a filter
 * keeps those that it began with.
 *
 * Bytes: filters/FORMAT.md, "Settings"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_SETTINGS_H
#define COLANDER_FILTERS_SETTINGS_H

#include "filters/filter_file.h"
#include "filters/filters.h"

#include <stdatomic.h>

struct settings {
    struct colander_filter_options options; /* left_out is its own */
    uint64_t left_out[FILTER_LEFT_OUT_MAX]; /* path hashes, ascending */
    uint32_t left_out_count;
    atomic_size_t reference_count;
};

/* Checks and copies `options`; NULL: the defaults. */
COLANDER_CHECKED enum colander_code
settings_create(const struct colander_filter_options *options,
                struct settings **settings, struct colander_error *err);

struct settings *settings_ref(struct settings *settings);

/* NULL is allowed. */
void settings_unref(struct settings *settings);

/* Replaces the content of `record`. */
COLANDER_CHECKED enum colander_code
settings_encode(const struct settings *settings, struct colander_buffer *record,
                struct colander_error *err);

/* CORRUPT for what settings_encode did not write, TOO_NEW for a later one. */
COLANDER_CHECKED enum colander_code
settings_decode(struct colander_slice record, struct settings **settings,
                struct colander_error *err);

/* Copies the options for a caller who releases them. */
COLANDER_CHECKED enum colander_code
settings_copy_options(const struct settings *settings,
                      struct colander_filter_options *options,
                      struct colander_error *err);

/* Whether the path is left out: itself, or with what it is in. */
static inline bool
settings_is_left_out(const uint64_t *left_out, uint32_t count,
                     uint64_t path_hash)
{
    for (uint32_t i = 0; i < count; i++) {
        if (left_out[i] == path_hash)
            return true;
    }
    return false;
}

/* The tag that stands for a column in locators and among recent rows. */
static inline unsigned
column_tag(uint64_t path_hash)
{
    return (unsigned)(path_hash >> (64 - LOCATOR_TAG_BITS));
}

/* The shape in memory of a presence of `hash_count` values. */
struct presence_shape settings_presence_shape(const struct settings *settings,
                                              uint64_t hash_count);

#endif
