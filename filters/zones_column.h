/*
 * Zone blocks: a column while its part is written.
 *
 * Knows: nothing of how columns are found, nor of other columns
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_ZONES_COLUMN_H
#define COLANDER_FILTERS_ZONES_COLUMN_H

#include "filters/zones.h"

/* The type of an empty span's low end; no span begins so high. */
#define ZONE_TYPE_NONE UINT8_MAX

/* A span of a run in which the column is. */
struct zones_run {
    uint64_t low; /* prefix, and while coding an offset in the frame */
    uint64_t high;
    uint32_t index;
    uint8_t low_type; /* ZONE_TYPE_NONE: nulls and containers only */
    uint8_t high_type;
};

struct zones_column {
    uint64_t path_hash;
    struct zone_span now;   /* in the run under way */
    bool is_present;        /* in the run under way */
    bool has_null;          /* in the part */
    bool is_lost;           /* a run could not be kept */
    struct zones_run *runs; /* ascending */
    uint32_t run_count;
    uint32_t run_capacity;
};

/* Room for any code of the column in a part of `run_count` runs. */
size_t zones_column_size_max(const struct zones_column *column,
                             uint32_t run_count);

/* Codes the column at `end`, where there is room, and returns the new end.
 * Leaves nothing to be coded again. */
uint8_t *zones_column_put(uint8_t *end, struct zones_column *column,
                          uint32_t run_count);

static inline void
zone_span_clear(struct zone_span *span)
{
    span->low.type = ZONE_TYPE_NONE;
    span->low.prefix = UINT64_MAX;
    span->high.type = 0;
    span->high.prefix = 0;
}

static inline void
zone_span_widen(struct zone_span *span, struct zone_rank low,
                struct zone_rank high)
{
    if (zone_rank_is_below(low, span->low))
        span->low = low;
    if (zone_rank_is_below(span->high, high))
        span->high = high;
}

#endif
