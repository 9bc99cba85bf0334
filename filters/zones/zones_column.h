/*
 * Zone blocks: a column while its part is written.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_ZONES_ZONES_COLUMN_H
#define COLANDER_FILTERS_ZONES_ZONES_COLUMN_H

#include "filters/zones/zones_strings.h"

/* The type of an empty span's low end, above all types. */
#define ZONE_TYPE_NONE UINT8_MAX

/* An end of a span, before it is known what the strings share. If the value is
 * not a string, the first word is the whole value. */
struct zones_end {
    uint8_t type;
    uint64_t words[ZONES_WINDOW_WORDS];
};

/* The span of the column in a run. */
struct zones_run {
    uint64_t low; /* first word; while coding a point, then an offset */
    uint64_t high;
    uint32_t index;
    uint8_t low_type; /* ZONE_TYPE_NONE: only nulls and empty strings */
    uint8_t high_type;
    uint8_t begin_size; /* length of the beginning before the words */
    uint8_t empties;
};

/* The complete ends of a run. */
struct zones_windows {
    uint64_t low[ZONES_WINDOW_WORDS];
    uint64_t high[ZONES_WINDOW_WORDS];
};

/* Empty strings and binaries are in no end. They would make the common
 * beginning empty. */
enum zones_empties {
    ZONES_EMPTY_STRING = 1,
    ZONES_EMPTY_BINARY = 2,
};

struct zones_column {
    uint64_t path_hash;
    struct zones_end low; /* of the current run */
    struct zones_end high;
    uint8_t empties;               /* of the current run */
    bool is_present;               /* in the current run */
    bool has_null;                 /* in the part */
    bool has_text;                 /* in the part, not counting empty ones */
    bool is_lost;                  /* a run could not be stored */
    uint8_t begin_size;            /* length that all such texts share */
    struct zones_run *runs;        /* ascending */
    struct zones_windows *windows; /* of the runs; NULL without text */
    uint32_t run_count;
    uint32_t run_capacity;
    uint8_t begin[ZONES_BEGIN_MAX]; /* after begin_size, the longer one before
                                     */
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

/* Converts words after the first `from` bytes of the column's beginning to
 * words after its first `to`, not more. */
void zones_window_deepen(const struct zones_column *column, uint64_t *words,
                         size_t from, size_t to);

/* At the end of the part: moves all windows to the end of the common beginning,
 * and finds the smallest and largest byte at each place. Only ends of runs
 * count. */
void zones_column_settle(struct zones_column *column, uint8_t *places);

/* Then: uses as many places as distinguish `enough` strings, or fit. */
void zones_column_strings(const struct zones_column *column,
                          const uint8_t *places, uint64_t enough,
                          struct zones_strings *strings);

/* Replaces the ends of all runs by points, and returns the span of all. Can be
 * repeated only for a column with strings, which has windows. */
struct zones_frame zones_column_points(struct zones_column *column,
                                       const struct zones_strings *strings);

/* Replaces points by offsets in the frame. */
void zones_column_offsets(struct zones_column *column,
                          const struct zones_frame *frame);

/* Returns enough room for any code of the column in a part of `run_count` runs.
 */
size_t zones_column_size_max(const struct zones_column *column,
                             uint32_t run_count);

/* Writes the code of the column to `end`, which has room, and returns the new
 * end. The column cannot be coded again. */
uint8_t *zones_column_put(uint8_t *end, struct zones_column *column,
                          uint32_t run_count);

#endif
