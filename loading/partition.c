/* See partition.h. SPDX-License-Identifier: MIT */
#include "loading/partition.h"
#ifdef COLANDER_FILTERS
#include "filters/filters.h"
#endif
#include "core/array.h"
#include "core/clock.h"

#include <stdlib.h>

static const char *
pattern_of(const struct partition *partition)
{
    return colander_family_name(partition->pattern);
}

enum colander_code
partition_begin(const struct partition *partition, struct colander_error *err)
{
    struct colander_buffer column = COLANDER_BUFFER_EMPTY;
    bool found = false;
    enum colander_code code =
        colander_family_time_column(partition->pattern, &column, &found, err);

    if (code == COLANDER_OK && !found)
        code = colander_family_set_time_column(
            partition->store, partition->pattern, partition->column, err);
    else if (code == COLANDER_OK &&
             strcmp((const char *)column.data, partition->column) != 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "families of '%s' are by the times in '%s', not "
                             "in '%s'",
                             pattern_of(partition), (const char *)column.data,
                             partition->column);
    colander_buffer_release(&column);
    return code;
}

/* Gives a family the filter options of the pattern. */
static enum colander_code
copy_filters(const struct partition *partition, struct colander_family *family,
             struct colander_error *err)
{
#ifdef COLANDER_FILTERS
    struct colander_filter_options options;
    enum colander_code code =
        colander_family_get_filters(partition->pattern, &options, err);

    if (code != COLANDER_OK)
        return code;
    code = colander_family_set_filters(family, &options, err);
    colander_filter_options_release(&options);
    return code;
#else
    (void)partition;
    (void)family;
    (void)err;
    return COLANDER_OK;
#endif
}

/* Gives a family what it lacks; creates it, if it does not exist. The time
 * column comes last, so one that has it has all. */
static enum colander_code
complete(const struct partition *partition, struct colander_family *family,
         struct colander_error *err)
{
    struct colander_buffer column = COLANDER_BUFFER_EMPTY;
    bool found = false;
    enum colander_code code =
        colander_family_time_column(family, &column, &found, err);

    colander_buffer_release(&column);
    if (code != COLANDER_OK || found)
        return code;
    code = copy_filters(partition, family, err);
    return code == COLANDER_OK
               ? colander_family_set_time_column(partition->store, family,
                                                 partition->column, err)
               : code;
}

static enum colander_code
open_part(struct partition *partition, int64_t second, struct part *part,
          struct colander_error *err)
{
    const char *name;
    enum colander_code code = colander_partition_family(
        pattern_of(partition), second, &partition->name, err);

    if (code != COLANDER_OK)
        return code;
    name = (const char *)partition->name.data;
    (void)colander_partition_times(pattern_of(partition), name, &part->from,
                                   &part->until);
    code = colander_family_open(partition->store, name, &part->family, err);
    if (code == COLANDER_OK && !colander_family_exists(part->family)) {
        if (partition->new_count + partition->wanted_count >= PARTITION_NEW_MAX)
            return COLANDER_FAIL(
                err, COLANDER_LIMIT,
                "a load creates at most %d families of '%s'%s: use longer "
                "times, such as {month}, if these are not wrong",
                PARTITION_NEW_MAX, pattern_of(partition),
                partition->follows ? " in an hour" : "");
        partition->wanted_count++;
    }
    return code;
}

static bool
has(const struct part *part, int64_t second)
{
    return second >= part->from && second < part->until;
}

/* Sets *family to that of rows of this time. */
static enum colander_code
find_family(struct partition *partition, int64_t second,
            struct colander_family **family, struct colander_error *err)
{
    struct part part = {.family = NULL};
    enum colander_code code;
    size_t i = partition->last;

    *family = NULL;
    if (i >= partition->count || !has(&partition->parts[i], second)) {
        i = 0;
        while (i < partition->count && !has(&partition->parts[i], second))
            i++;
    }
    if (i == partition->count) {
        code =
            array_reserve(&partition->parts, i, &partition->capacity, 1, err);
        if (code == COLANDER_OK)
            code = open_part(partition, second, &part, err);
        if (code != COLANDER_OK) {
            colander_family_close(part.family);
            return code;
        }
        partition->parts[partition->count++] = part;
    }
    partition->last = i;
    *family = partition->parts[i].family;
    return COLANDER_OK;
}

/* Closes the families that were dropped since they were found. */
static void
forget_dropped(struct partition *partition)
{
    size_t kept = 0;

    for (size_t i = 0; i < partition->count; i++) {
        struct part *part = &partition->parts[i];

        if (colander_family_exists(part->family))
            partition->parts[kept++] = *part;
        else
            colander_family_close(part->family);
    }
    partition->count = kept;
}

/* Completes the families that were opened for this chunk. */
static enum colander_code
complete_new(struct partition *partition, size_t first,
             struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = first; i < partition->count && code == COLANDER_OK; i++) {
        struct colander_family *family = partition->parts[i].family;
        const bool is_new = !colander_family_exists(family);

        code = complete(partition, family, err);
        partition->new_count += is_new && code == COLANDER_OK;
    }
    return code;
}

/* Closes the families that were opened for a chunk which is not placed. */
static void
forget_new(struct partition *partition, size_t first, struct chunk *chunk)
{
    while (partition->count > first)
        colander_family_close(partition->parts[--partition->count].family);
    for (size_t i = 0; i < chunk->waiting_count; i++)
        chunk->waiting[i].family = NULL;
}

/* A load that follows may create as many families in each hour. */
static void
begin_hour(struct partition *partition)
{
    const uint64_t now = clock_us();

    if (!partition->follows || now - partition->hour_begun < PARTITION_HOUR_US)
        return;
    partition->hour_begun = now;
    partition->new_count = 0;
}

enum colander_code
partition_place(struct partition *partition, struct chunk *chunk,
                struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    size_t first;

    forget_dropped(partition);
    first = partition->count;
    partition->wanted_count = 0;
    begin_hour(partition);
    for (size_t i = 0; i < chunk->waiting_count; i++)
        chunk->waiting[i].family = NULL;
    for (size_t i = 0; i < chunk->waiting_count && code == COLANDER_OK; i++) {
        struct waiting_row *waiting = &chunk->waiting[i];

        waiting->family = partition->pattern;
        if (partition->column != NULL)
            code =
                find_family(partition, waiting->second, &waiting->family, err);
    }
    if (code == COLANDER_OK)
        code = complete_new(partition, first, err);
    if (code != COLANDER_OK)
        forget_new(partition, first, chunk);
    return code;
}

bool
partition_is_placed(const struct chunk *chunk)
{
    return chunk->waiting_count == 0 ||
           chunk->waiting[chunk->waiting_count - 1].family != NULL;
}

enum colander_code
partition_open_last(struct colander_store *store, const char *pattern,
                    struct colander_family **family, struct colander_error *err)
{
    struct colander_names names = {NULL, 0};
    struct colander_query query;
    uint64_t count = 0;
    enum colander_code code = colander_store_families(store, &names, err);

    *family = NULL;
    colander_query_init(&query);
    query.keys_only = true;
    query.limit = 1;
    if (code == COLANDER_OK)
        colander_names_select(&names, pattern);
    for (size_t i = names.count;
         i-- > 0 && code == COLANDER_OK && count == 0;) {
        colander_family_close(*family);
        *family = NULL;
        code = colander_family_open(store, names.names[i], family, err);
        if (code == COLANDER_OK)
            code = colander_family_count(*family, &query, &count, err);
    }
    if (count == 0) {
        colander_family_close(*family);
        *family = NULL;
    }
    colander_names_release(&names);
    return code;
}

void
partition_release(struct partition *partition)
{
    for (size_t i = 0; i < partition->count; i++)
        colander_family_close(partition->parts[i].family);
    free(partition->parts);
    colander_buffer_release(&partition->name);
}
