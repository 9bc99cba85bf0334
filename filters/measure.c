/*
 * Measure: how often filters are wrong, by asking for what no row has.
 *
 * The values are texts of 128 random bits, so none of them is in a store. Each
 * is asked for in a column of its own, as `column = value`: what the hierarchy
 * says does not depend on the column, and what a locator says of it is what it
 * says of a column that has nothing to do with the value.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/context.h"
#include "filters/part_find.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct measuring {
    const struct view *view;
    struct colander_filter_measure *measure;
    struct row_ranges ranges;
    uint64_t *slots; /* that may have the value under way */
    size_t slot_words;
    uint64_t random_state;
};

/* The same numbers every time: so that the same store has the same figures. */
static uint64_t
next_random(struct measuring *measuring)
{
    uint64_t z = measuring->random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Asks the filter of a part that the hierarchy took for one with the value. A
 * filter that cannot be read rules out nothing. */
static enum colander_code
ask_filter(struct measuring *measuring, const struct sst_file *file,
           uint32_t part, const struct question *question,
           struct colander_error *err)
{
    const struct value_hints none = {NULL, 0, 0};
    struct colander_filter_measure *measure = measuring->measure;
    enum colander_code code;

    if (measure->located_count == COLANDER_MEASURE_LOCATED_MAX)
        return COLANDER_OK;
    measure->located_count++;
    code = part_find(file->filter, filter_file_part(file->filter->file, part),
                     question, &none, &measuring->ranges, err);
    if (code == COLANDER_OK)
        measure->wrong_count += measuring->ranges.count > 0;
    if (code != COLANDER_CORRUPT && code != COLANDER_NOT_FOUND &&
        code != COLANDER_IO)
        return code;
    measure->wrong_count++;
    return COLANDER_OK;
}

/* Follows what the hierarchy said of one file. */
static enum colander_code
follow(struct measuring *measuring, const struct sst_file *file,
       const struct question *question, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (file->state != FILE_LOADED)
        return COLANDER_OK;
    for (uint32_t i = 0;
         i < filter_file_part_count(file->filter->file) && code == COLANDER_OK;
         i++) {
        const uint32_t slot = file->slots[i];

        if ((measuring->slots[slot / 64] >> slot % 64 & 1) == 0)
            continue;
        measuring->measure->maybe_count++;
        code = ask_filter(measuring, file, i, question, err);
    }
    return code;
}

/* Asks all parts for a new value. */
static enum colander_code
ask_value(struct measuring *measuring, struct colander_error *err)
{
    const struct view *view = measuring->view;
    const uint64_t path = next_random(measuring);
    const uint64_t high = next_random(measuring);
    const uint64_t low = next_random(measuring);
    enum colander_code code = COLANDER_OK;
    struct question question;
    struct colander_value value;
    char text[33];
    uint64_t hash;

    snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, high, low);
    value = colander_text(text);
    hash = colander_value_hash(&value);
    memset(&question, 0, sizeof(question));
    question.kind = QUESTION_EQUAL;
    question.path_hashes = &path;
    question.path_length = 1;
    question.values = &value;
    question.value_hashes = &hash;
    question.value_count = 1;
    memset(measuring->slots, 0,
           measuring->slot_words * sizeof(*measuring->slots));
    hierarchy_find(view->edition, hash, measuring->slots);
    for (size_t i = 0; i < view->file_count && code == COLANDER_OK; i++)
        code = follow(measuring, view->files[i], &question, err);
    return code;
}

static enum colander_code
measure_view(const struct view *view, uint64_t value_count,
             struct colander_filter_measure *measure,
             struct colander_error *err)
{
    struct measuring measuring = {.view = view, .measure = measure};
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < view->file_count; i++) {
        if (view->files[i]->state == FILE_LOADED)
            measure->part_count +=
                filter_file_part_count(view->files[i]->filter->file);
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
    struct colander_engine_family *engine_family;
    struct family_filters *found = NULL;
    struct filters *filters;
    struct view *view = NULL;
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
    view_release(view);
    return code;
}
