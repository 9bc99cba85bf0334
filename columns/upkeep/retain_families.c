/*
 * Families of a pattern that a policy does not keep, dropped as a whole.
 *
 * A family goes if all its times are too old: those that its name says, and
 * those of its rows. So none is dropped that a row with a newer time was
 * written into.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/upkeep/retention_inside.h"

#include "columns/partitions.h"
#include "columns/store.h"
#include "columns/time_range.h"

#include <stdlib.h>
#include <time.h>

struct dropping {
    struct colander_family *pattern;
    const struct colander_retention *retention;
    const struct colander_retention *kept; /* NULL: not the pattern's own */
    const char *column;
    const struct colander_retain_options *options;
    struct colander_retained *done;
    struct colander_names names; /* of the families, the oldest first */
    uint64_t *sizes;             /* of each, in bytes on disk */
    uint64_t size;               /* of those that are left */
    size_t kept_from;            /* the first that no size drops */
};

struct colander_value
retention_reference(const struct colander_retain_options *options,
                    const struct colander_value *newest)
{
    struct colander_value now = options->now;
    struct timespec clock;

    if (options->asked != NULL &&
        options->asked->reference.type == COLANDER_TIMESTAMP)
        return options->asked->reference;
    if (now.type != COLANDER_TIMESTAMP) {
        (void)clock_gettime(CLOCK_REALTIME, &clock); /* cannot fail on Linux */
        now = colander_timestamp(clock.tv_sec, (uint32_t)clock.tv_nsec);
    }
    return colander_value_compare(newest, &now) < 0 ? *newest : now;
}

enum colander_code
retention_check_pattern(const struct colander_family *family,
                        const struct colander_retention *retention,
                        struct colander_error *err)
{
    const char *name = colander_family_name(family);

    if (colander_partition_unit(name) == NULL)
        return COLANDER_OK;
    for (size_t i = 0; i < retention->keep_count; i++) {
        if (retention->keeps[i].word_count > 0)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "families of '%s' are dropped as a whole: a "
                                 "policy of theirs has no conditions",
                                 name);
    }
    return COLANDER_OK;
}

static enum colander_code
open_one(const struct dropping *dropping, size_t index,
         struct colander_family **family, struct colander_error *err)
{
    return colander_family_open(dropping->pattern->store,
                                dropping->names.names[index], family, err);
}

/* Sets *newest to the latest time in a family; null: it has none. */
static enum colander_code
find_newest(const struct dropping *dropping, struct colander_family *family,
            struct colander_value *newest, struct colander_error *err)
{
    const struct cursor_watch watch = {dropping->options->watch,
                                       dropping->options->context};
    bool found;

    return time_range_find(family, dropping->column, &watch, NULL, newest,
                           &found, err);
}

/* Sets the newest time of all, which is in the last family that has one, and
 * the reference. */
static enum colander_code
look_at_times(struct dropping *dropping, struct colander_error *err)
{
    struct colander_retained *done = dropping->done;
    enum colander_code code = COLANDER_OK;

    for (size_t i = dropping->names.count;
         i-- > 0 && code == COLANDER_OK &&
         done->newest.type == COLANDER_NULL;) {
        struct colander_family *family = NULL;

        code = open_one(dropping, i, &family, err);
        if (code == COLANDER_OK)
            code = find_newest(dropping, family, &done->newest, err);
        colander_family_close(family);
    }
    if (code == COLANDER_OK && done->newest.type != COLANDER_NULL)
        done->reference = retention_reference(dropping->options, &done->newest);
    return code;
}

/* Measures all families, if bytes count. */
static enum colander_code
measure(struct dropping *dropping, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (dropping->retention->size_max == UINT64_MAX)
        return COLANDER_OK;
    dropping->sizes = calloc(dropping->names.count + 1, sizeof(uint64_t));
    if (dropping->sizes == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for sizes");
    for (size_t i = 0; i < dropping->names.count && code == COLANDER_OK; i++) {
        struct colander_family_sizes sizes = {.sst_size = 0};
        struct colander_family *family = NULL;

        code = open_one(dropping, i, &family, err);
        if (code == COLANDER_OK)
            code = colander_family_sizes(family, &sizes, err);
        dropping->sizes[i] = sizes.sst_size; /* memory is not disk */
        dropping->size += dropping->sizes[i];
        colander_family_close(family);
    }
    return code;
}

/* Finds the last family that begins at or before the reference. It is never too
 * large, nor are those after it, whose names are of the future: a row that is
 * dated there by mistake drops none before it. */
static void
find_kept(struct dropping *dropping)
{
    const char *pattern = colander_family_name(dropping->pattern);
    int64_t from, until;

    dropping->kept_from = dropping->names.count;
    while (dropping->kept_from-- > 0) {
        if (colander_partition_times(pattern,
                                     dropping->names.names[dropping->kept_from],
                                     &from, &until) &&
            from <= dropping->done->reference.second)
            return;
    }
    dropping->kept_from = 0;
}

/* Whether all families from this one on are too large together. */
static bool
is_too_large(const struct dropping *dropping, size_t index)
{
    const struct colander_retained *asked = dropping->options->asked;

    return dropping->sizes != NULL &&
           dropping->size > dropping->retention->size_max &&
           index < dropping->kept_from &&
           (asked == NULL ||
            dropping->done->family_count < asked->family_count);
}

/* Sets *is_old to whether no time in the family can be kept: not one that its
 * name allows, nor one that it has. A family without a time is old once it has
 * no rows. */
static enum colander_code
check_old(const struct dropping *dropping, struct colander_family *family,
          const char *name, bool *is_old, struct colander_error *err)
{
    struct colander_value cut = dropping->done->reference;
    struct colander_value newest;
    struct colander_query query;
    uint64_t count = 0;
    int64_t from, until;
    enum colander_code code;

    *is_old = false;
    if (dropping->retention->keep_count == 0 ||
        __builtin_sub_overflow(
            cut.second, dropping->retention->keeps[0].seconds, &cut.second) ||
        !colander_partition_times(colander_family_name(dropping->pattern), name,
                                  &from, &until) ||
        until > cut.second)
        return COLANDER_OK;
    code = find_newest(dropping, family, &newest, err);
    if (code != COLANDER_OK || newest.type != COLANDER_NULL) {
        *is_old =
            code == COLANDER_OK && colander_value_compare(&newest, &cut) < 0;
        return code;
    }
    colander_query_init(&query);
    query.limit = 1;
    code = colander_family_count(family, &query, &count, err);
    *is_old = code == COLANDER_OK && count == 0;
    return code;
}

static enum colander_code
check_goes_on(const struct dropping *dropping, struct colander_error *err)
{
    const struct colander_retain_options *options = dropping->options;

    if (options->goes_on != NULL &&
        !options->goes_on(options->context, dropping->done->row_count))
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
    if (dropping->kept == NULL || options->is_dry)
        return COLANDER_OK;
    return retention_check_same(dropping->pattern, dropping->kept, err);
}

/* Drops the family, unless it is kept. */
static enum colander_code
drop_one(struct dropping *dropping, size_t index, struct colander_error *err)
{
    struct colander_family_sizes sizes = {.key_count = 0};
    struct colander_family *family = NULL;
    bool goes = is_too_large(dropping, index);
    enum colander_code code = check_goes_on(dropping, err);

    if (code == COLANDER_OK)
        code = open_one(dropping, index, &family, err);
    if (code == COLANDER_OK && !goes)
        code = check_old(dropping, family, dropping->names.names[index], &goes,
                         err);
    if (code == COLANDER_OK && goes)
        code = colander_family_sizes(family, &sizes, err);
    if (code == COLANDER_OK && goes && !dropping->options->is_dry)
        code = colander_family_drop(family, err);
    if (code == COLANDER_OK && goes) {
        dropping->done->family_count++;
        dropping->done->row_count += sizes.key_count;
    }
    if (code == COLANDER_NOT_FOUND || code == COLANDER_DROPPED) {
        code = COLANDER_OK; /* by another, meanwhile */
        goes = true;
    }
    if (code == COLANDER_OK && goes && dropping->sizes != NULL)
        dropping->size -= dropping->sizes[index];
    colander_family_close(family);
    return code;
}

static enum colander_code
drop_all(struct dropping *dropping, struct colander_error *err)
{
    const char *pattern = colander_family_name(dropping->pattern);
    enum colander_code code = colander_store_families(dropping->pattern->store,
                                                      &dropping->names, err);

    if (code != COLANDER_OK)
        return code;
    colander_names_select(&dropping->names, pattern);
    code = look_at_times(dropping, err);
    if (code == COLANDER_OK)
        code = measure(dropping, err);
    find_kept(dropping);
    for (size_t i = 0; i < dropping->names.count && code == COLANDER_OK &&
                       dropping->done->newest.type != COLANDER_NULL;
         i++)
        code = drop_one(dropping, i, err);
    return code;
}

enum colander_code
retention_drop_families(struct colander_family *pattern,
                        const struct colander_retention *retention,
                        const struct colander_retention *kept,
                        const char *column,
                        const struct colander_retain_options *options,
                        struct colander_retained *done,
                        struct colander_error *err)
{
    struct dropping dropping = {.pattern = pattern,
                                .retention = retention,
                                .kept = kept,
                                .column = column,
                                .options = options,
                                .done = done};
    enum colander_code code = drop_all(&dropping, err);

    colander_names_release(&dropping.names);
    free(dropping.sizes);
    return code;
}
