/*
 * Row ranges: ascending runs of rows, ordered and intersected.
 *
 * They are intersected in place. The runs of `ranges` are moved to the end of
 * enough room for both, and the result is written from the beginning. Each run
 * is written after one was read, so writing never overtakes reading.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/row_ranges.h"

#include "core/array.h"

#include <stdlib.h>

void
row_ranges_release(struct row_ranges *ranges)
{
    free(ranges->ranges);
    ranges->ranges = NULL;
    ranges->count = 0;
    ranges->capacity = 0;
}

/* Makes room for `count` more runs. */
static inline enum colander_code
reserve(struct row_ranges *ranges, size_t count, struct colander_error *err)
{
    return array_reserve(&ranges->ranges, ranges->count, &ranges->capacity,
                         count, err);
}

/* Appends a run, or extends the last one. Requires room. */
static void
append(struct row_ranges *ranges, struct row_range run)
{
    struct row_range *last;

    if (ranges->count > 0) {
        last = &ranges->ranges[ranges->count - 1];
        if (run.first <= last->end && run.first >= last->first) {
            if (run.end > last->end)
                last->end = run.end;
            return;
        }
    }
    ranges->ranges[ranges->count++] = run;
}

enum colander_code
row_ranges_add(struct row_ranges *ranges, uint32_t first, uint32_t end,
               struct colander_error *err)
{
    struct row_range run = {first, end};
    enum colander_code code;

    if (first >= end)
        return COLANDER_OK;
    code = reserve(ranges, 1, err);
    if (code == COLANDER_OK)
        append(ranges, run);
    return code;
}

static int
compare_firsts(const void *left, const void *right)
{
    const struct row_range *a = left;
    const struct row_range *b = right;

    return (a->first > b->first) - (a->first < b->first);
}

/* Whether the runs are as row_ranges_order leaves them, as those of one value
 * already are. */
static bool
are_ascending(const struct row_ranges *ranges)
{
    for (size_t i = 1; i < ranges->count; i++) {
        if (ranges->ranges[i].first <= ranges->ranges[i - 1].end)
            return false;
    }
    return true;
}

void
row_ranges_order(struct row_ranges *ranges)
{
    size_t count = ranges->count;

    if (are_ascending(ranges))
        return;
    qsort(ranges->ranges, count, sizeof(*ranges->ranges), compare_firsts);
    ranges->count = 0;
    for (size_t i = 0; i < count; i++)
        append(ranges, ranges->ranges[i]);
}

enum colander_code
row_ranges_intersect(struct row_ranges *ranges, const struct row_ranges *other,
                     struct colander_error *err)
{
    const struct row_range *mine;
    const struct row_range *mine_end;
    const struct row_range *its = other->ranges;
    size_t its_left = other->count;
    size_t mine_count = ranges->count;
    enum colander_code code;

    if (mine_count == 0 || other == ranges)
        return COLANDER_OK;
    if (its_left == 0) {
        ranges->count = 0;
        return COLANDER_OK;
    }
    code = reserve(ranges, its_left, err);
    if (code != COLANDER_OK)
        return code;
    mine = ranges->ranges + its_left;
    memmove(ranges->ranges + its_left, ranges->ranges,
            mine_count * sizeof(*mine));
    ranges->count = 0;
    mine_end = mine + mine_count;
    while (mine < mine_end && its_left > 0) {
        struct row_range run = {mine->first > its->first ? mine->first
                                                         : its->first,
                                mine->end < its->end ? mine->end : its->end};
        bool mine_is_over = mine->end <= its->end;

        if (run.first < run.end)
            append(ranges, run);
        if (mine_is_over) {
            mine++;
        } else {
            its++;
            its_left--;
        }
    }
    return COLANDER_OK;
}

void
row_ranges_clip(struct row_ranges *ranges, uint32_t first, uint32_t end)
{
    size_t kept = 0;

    for (size_t i = 0; i < ranges->count; i++) {
        struct row_range run = ranges->ranges[i];

        if (run.first < first)
            run.first = first;
        if (run.end > end)
            run.end = end;
        if (run.first < run.end)
            ranges->ranges[kept++] = run;
    }
    ranges->count = kept;
}

uint64_t
row_ranges_rows(const struct row_ranges *ranges)
{
    uint64_t rows = 0;

    for (size_t i = 0; i < ranges->count; i++)
        rows += ranges->ranges[i].end - ranges->ranges[i].first;
    return rows;
}
