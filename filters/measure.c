/*
 * Measures false-positive rates: asks filters for values that no row has.
 *
 * The values are texts of 128 random bits. Each is asked for in a column of its
 * own, as `column = value`: the hierarchy's answer does not depend on the
 * column, and a locator's is that for an unrelated column.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine.h"
#include "filters/context.h"
#include "filters/part_find.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct measuring {
    const struct file_view *view;
    struct colander_filter_measure *measure;
    struct row_ranges ranges;
    uint64_t *slots; /* that may contain the current value */
    size_t slot_words;
    uint64_t random_state;
};

/* Repeats the same numbers every time, so that the same store has the same
 * figures. */
static uint64_t
next_random(struct measuring *measuring)
{
    uint64_t z = measuring->random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Asks the filter of a part that may contain the value according to the
 * hierarchy. A filter that cannot be read rules out nothing. */
static enum colander_code
ask_filter(struct measuring *measuring, const struct sst_file *file,
           uint32_t part, const struct filter_query *query,
           struct colander_error *err)
{
    const struct hash_hints none = {NULL, 0, 0};
    struct colander_filter_measure *measure = measuring->measure;
    enum colander_code code;

    if (measure->disk_probe_count == COLANDER_MEASURE_DISK_PROBES_MAX)
        return COLANDER_OK;
    measure->disk_probe_count++;
    code = part_find(file->filter, &file->filter->parts[part], query, &none,
                     NULL, NULL, &measuring->ranges, err);
    if (code == COLANDER_OK)
        measure->disk_false_positive_count += measuring->ranges.count > 0;
    if (code != COLANDER_CORRUPT && code != COLANDER_NOT_FOUND &&
        code != COLANDER_IO)
        return code;
    measure->disk_false_positive_count++;
    return COLANDER_OK;
}

/* Asks the parts of one file that the hierarchy did not rule out. */
static enum colander_code
follow(struct measuring *measuring, const struct sst_file *file,
       const struct filter_query *query, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (file->state != FILE_LOADED)
        return COLANDER_OK;
    for (uint32_t i = 0; i < file->filter->part_count && code == COLANDER_OK;
         i++) {
        const uint32_t slot = file->slots[i];

        if ((measuring->slots[slot / 64] >> slot % 64 & 1) == 0)
            continue;
        measuring->measure->false_positive_count++;
        code = ask_filter(measuring, file, i, query, err);
    }
    return code;
}

/* Asks all parts for a new value. */
static enum colander_code
ask_value(struct measuring *measuring, struct colander_error *err)
{
    const struct file_view *view = measuring->view;
    const uint64_t path = next_random(measuring);
    const uint64_t high = next_random(measuring);
    const uint64_t low = next_random(measuring);
    enum colander_code code = COLANDER_OK;
    struct filter_query query;
    struct colander_value value;
    char text[33];
    uint64_t hash;

    snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, high, low);
    value = colander_text(text);
    hash = colander_value_hash(&value);
    memset(&query, 0, sizeof(query));
    query.kind = FILTER_QUERY_EQUAL;
    query.path_hashes = &path;
    query.path_length = 1;
    query.values = &value;
    query.hashes = &hash;
    query.hash_count = 1;
    memset(measuring->slots, 0,
           measuring->slot_words * sizeof(*measuring->slots));
    hierarchy_find(view->version, hash, measuring->slots);
    for (size_t i = 0; i < view->file_count && code == COLANDER_OK; i++)
        code = follow(measuring, view->files[i], &query, err);
    return code;
}

static enum colander_code
measure_view(const struct file_view *view, uint64_t value_count,
             struct colander_filter_measure *measure,
             struct colander_error *err)
{
    struct measuring measuring = {.view = view, .measure = measure};
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < view->file_count; i++) {
        if (view->files[i]->state == FILE_LOADED)
            measure->part_count += view->files[i]->filter->part_count;
    }
    measuring.slot_words = (view->slot_count + 63) / 64;
    measuring.slots =
        calloc(measuring.slot_words + 1, sizeof(*measuring.slots));
    if (measuring.slots == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to measure filters");
    for (; measure->value_count < value_count && code == COLANDER_OK;
         measure->value_count++)
        code = ask_value(&measuring, err);
    row_ranges_release(&measuring.ranges);
    free(measuring.slots);
    return code;
}

enum colander_code
colander_family_measure_filters(struct colander_family *family,
                                uint64_t value_count,
                                struct colander_filter_measure *measure,
                                struct colander_error *err)
{
    struct engine_family *engine_family;
    struct family_filters *found = NULL;
    struct filters *filters;
    struct file_view *view = NULL;
    enum colander_code code;

    memset(measure, 0, sizeof(*measure));
    code = colander_family_await_filters(family, err);
    if (code == COLANDER_OK)
        code = filters_look_up(family, &filters, &engine_family, &found, err);
    if (code != COLANDER_OK || found == NULL)
        return code;
    code = registry_view(&filters->registry, found, &view, err);
    if (code == COLANDER_OK)
        code = measure_view(view, value_count, measure, err);
    file_view_release(view);
    return code;
}
