/*
 * Row ranges: ascending runs of rows, united and intersected.
 *
 * Two sets of runs are merged in place. The runs of `ranges` are moved to the
 * end of enough room for both, and the result is written from the beginning.
 * Each run is written after one was read, so writing never overtakes reading.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/row_ranges.h"

#include "core/array.h"

#include <assert.h>
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
        if (run.first <= last->end) {
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

    assert(ranges->count == 0 ||
           ranges->ranges[ranges->count - 1].first <= first);
    if (first >= end)
        return COLANDER_OK;
    code = reserve(ranges, 1, err);
    if (code == COLANDER_OK)
        append(ranges, run);
    return code;
}

/* Empties `ranges`, keeping its runs at the end of room for them and `count`
 * more. Returns where. */
static enum colander_code
set_aside(struct row_ranges *ranges, size_t count,
          const struct row_range **aside, struct colander_error *err)
{
    enum colander_code code = reserve(ranges, count, err);

    if (code != COLANDER_OK)
        return code;
    memmove(ranges->ranges + count, ranges->ranges,
            ranges->count * sizeof(*ranges->ranges));
    ranges->count = 0;
    *aside = ranges->ranges + count;
    return COLANDER_OK;
}

enum colander_code
row_ranges_unite(struct row_ranges *ranges, const struct row_ranges *other,
                 struct colander_error *err)
{
    const struct row_range *mine = NULL;
    size_t mine_left = ranges->count;
    const struct row_range *its = other->ranges;
    size_t its_left = other->count;
    enum colander_code code;

    if (its_left == 0 || other == ranges)
        return COLANDER_OK;
    code = set_aside(ranges, its_left, &mine, err);
    if (code != COLANDER_OK)
        return code;
    while (mine_left > 0 || its_left > 0) {
        bool takes_mine =
            its_left == 0 || (mine_left > 0 && mine->first <= its->first);

        append(ranges, takes_mine ? *mine : *its);
        if (takes_mine) {
            mine++;
            mine_left--;
        } else {
            its++;
            its_left--;
        }
    }
    return COLANDER_OK;
}

enum colander_code
row_ranges_gather(struct row_ranges *ranges, const struct row_ranges *other,
                  struct colander_error *err)
{
    enum colander_code code;

    if (other->count == 0)
        return COLANDER_OK;
    code = reserve(ranges, other->count, err);
    if (code != COLANDER_OK)
        return code;
    memcpy(ranges->ranges + ranges->count, other->ranges,
           other->count * sizeof(*other->ranges));
    ranges->count += other->count;
    return COLANDER_OK;
}

static int
compare_firsts(const void *left, const void *right)
{
    const struct row_range *a = left;
    const struct row_range *b = right;

    return (a->first > b->first) - (a->first < b->first);
}

void
row_ranges_order(struct row_ranges *ranges)
{
    size_t count = ranges->count;

    if (count < 2)
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
    const struct row_range *mine = NULL;
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
    code = set_aside(ranges, its_left, &mine, err);
    if (code != COLANDER_OK)
        return code;
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
