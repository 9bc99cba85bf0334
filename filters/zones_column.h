/*
 * Zone blocks: a column while its part is written.
 *
 * Knows: nothing of how columns are found, nor of other columns
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_ZONES_COLUMN_H
#define COLANDER_FILTERS_ZONES_COLUMN_H

#include "filters/zones_strings.h"

/* The type of an empty span's low end; no span begins so high. */
#define ZONE_TYPE_NONE UINT8_MAX

/* An end of a span, as it is known while what strings have in common is not. Of
 * a value that is no string the first word is all. */
struct zones_end {
    uint8_t type;
    uint64_t words[ZONES_WINDOW_WORDS];
};

/* A span of a run in which the column is. */
struct zones_run {
    uint64_t low; /* first word; while coding a point, then an offset */
    uint64_t high;
    uint32_t index;
    uint8_t
        low_type; /* ZONE_TYPE_NONE: no scalar but nulls and empty strings */
    uint8_t high_type;
    uint8_t begin_size; /* of the beginning behind which the words stand */
    uint8_t empties;
};

/* The ends of a run in full. */
struct zones_windows {
    uint64_t low[ZONES_WINDOW_WORDS];
    uint64_t high[ZONES_WINDOW_WORDS];
};

/* Empty strings and binaries are in no end: they have no part in the common
 * beginning, which one of them would end at once. */
enum zones_empties {
    ZONES_EMPTY_STRING = 1,
    ZONES_EMPTY_BINARY = 2,
};

struct zones_column {
    uint64_t path_hash;
    struct zones_end low; /* in the run under way */
    struct zones_end high;
    uint8_t empties;               /* in the run under way */
    bool is_present;               /* in the run under way */
    bool has_null;                 /* in the part */
    bool has_text;                 /* in the part, other than empty */
    bool is_lost;                  /* a run could not be kept */
    uint8_t begin_size;            /* with which all such texts begin */
    struct zones_run *runs;        /* ascending */
    struct zones_windows *windows; /* of the runs; NULL without text */
    uint32_t run_count;
    uint32_t run_capacity;
    uint8_t begin[ZONES_BEGIN_MAX]; /* behind begin_size what was it before */
};

static inline void
zones_column_clear_span(struct zones_column *column)
{
    column->empties = 0;
    column->low.type = ZONE_TYPE_NONE;
    column->high.type = 0;
    for (size_t i = 0; i < ZONES_WINDOW_WORDS; i++) {
        column->low.words[i] = UINT64_MAX;
        column->high.words[i] = 0;
    }
}

static inline bool
zones_run_has_span(const struct zones_run *run)
{
    return run->low_type != ZONE_TYPE_NONE || run->empties != 0;
}

/* Makes of words behind the first `from` bytes of the column's beginning those
 * behind its first `to`, not more. */
void zones_window_deepen(const struct zones_column *column, uint64_t *words,
                         size_t from, size_t to);

/* When the part is over: brings all windows behind the common beginning, and
 * finds the least and the largest byte at each place. What is between the ends
 * of runs has no part in that, and need not. */
void zones_column_settle(struct zones_column *column, uint8_t *places);

/* Then: takes as many places as tell `enough` strings apart, or fit. */
void zones_column_strings(const struct zones_column *column,
                          const uint8_t *places, uint64_t enough,
                          struct zones_strings *strings);

/* Makes the ends of all runs points, and returns from which to which they are.
 * Again only in a column with strings, which has windows. */
struct zones_frame zones_column_points(struct zones_column *column,
                                       const struct zones_strings *strings);

/* Makes points offsets in the frame. */
void zones_column_offsets(struct zones_column *column,
                          const struct zones_frame *frame);

/* Room for any code of the column in a part of `run_count` runs. */
size_t zones_column_size_max(const struct zones_column *column,
                             uint32_t run_count);

/* Codes the column at `end`, where there is room, and returns the new end.
 * Leaves nothing to be coded again. */
uint8_t *zones_column_put(uint8_t *end, struct zones_column *column,
                          uint32_t run_count);

#endif
