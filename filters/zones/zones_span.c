/*
 * Zone blocks: from the ends of a column's runs to offsets in its frame. Only
 * here it is known what all strings of the column share, and which bytes occur
 * after it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/zones/zones_column.h"

void
zones_window_deepen(const struct zones_column *column, uint64_t *words,
                    size_t from, size_t to)
{
    uint8_t bytes[2 * ZONES_PLACES_MAX];
    size_t lost = from - to < ZONES_PLACES_MAX ? from - to : ZONES_PLACES_MAX;

    memcpy(bytes, column->begin + to, lost);
    for (size_t i = 0; i < ZONES_PLACES_MAX; i++)
        bytes[lost + i] = (uint8_t)(words[i / 8] >> (56 - 8 * (i % 8)));
    for (size_t i = 0; i < ZONES_WINDOW_WORDS; i++)
        words[i] = zones_get_big(bytes + 8 * i, 8);
}

/* ------------------------------------------------------------- strings --- */

static void
places_widen(uint8_t *places, const uint64_t *words)
{
    for (size_t i = 0; i < ZONES_PLACES_MAX; i++) {
        uint8_t byte = (uint8_t)(words[i / 8] >> (56 - 8 * (i % 8)));

        if (byte < places[2 * i])
            places[2 * i] = byte;
        if (byte > places[2 * i + 1])
            places[2 * i + 1] = byte;
    }
}

void
zones_column_settle(struct zones_column *column, uint8_t *places)
{
    for (size_t i = 0; i < ZONES_PLACES_MAX; i++) {
        places[2 * i] = UINT8_MAX;
        places[2 * i + 1] = 0;
    }
    if (!column->has_text)
        return;
    for (size_t i = 0; i < column->run_count; i++) {
        struct zones_windows *windows = &column->windows[i];
        struct zones_run *run = &column->runs[i];

        if (zones_is_text(run->low_type)) {
            zones_window_deepen(column, windows->low, run->begin_size,
                                column->begin_size);
            places_widen(places, windows->low);
        }
        if (zones_is_text(run->high_type)) {
            zones_window_deepen(column, windows->high, run->begin_size,
                                column->begin_size);
            places_widen(places, windows->high);
        }
        run->begin_size = column->begin_size;
    }
}

static bool
has_empty(const struct zones_column *column)
{
    for (size_t i = 0; i < column->run_count; i++) {
        if (column->runs[i].empties != 0)
            return true;
    }
    return false;
}

void
zones_column_strings(const struct zones_column *column, const uint8_t *places,
                     uint64_t enough, struct zones_strings *strings)
{
    unsigned most = column->has_text ? ZONES_PLACES_MAX : 0;
    struct zones_strings longer = {.begin = column->begin,
                                   .begin_size = column->begin_size,
                                   .places = places,
                                   .has_empty = has_empty(column)};

    while (longer.place_count <= most && zones_strings_init(&longer)) {
        *strings = longer;
        if (longer.count >= enough)
            break;
        longer.place_count++;
    }
    /* One place where all strings are alike detects other bytes; further such
     * places add nothing. */
    for (unsigned i = strings->place_count; i >= 2; i--) {
        if (places[2 * i - 1] != places[2 * i - 2] ||
            places[2 * i - 3] != places[2 * i - 4])
            break;
        strings->place_count--;
    }
}

/* --------------------------------------------------------------- spans --- */

/* A span of points. */
struct span {
    struct zones_point low;
    struct zones_point high;
};

static const struct span span_empty = {{ZONE_TYPE_NONE, UINT64_MAX}, {0, 0}};

static void
span_widen(struct span *span, struct zones_point low, struct zones_point high)
{
    if (zones_point_is_below(low, span->low))
        span->low = low;
    if (zones_point_is_below(span->high, high))
        span->high = high;
}

/* Returns the point of an end of a run in a column with strings. */
static struct zones_point
point_of(const struct zones_strings *strings, uint8_t type,
         const uint64_t *words, bool is_high)
{
    struct zones_point point = {type, words[0]};

    return zones_is_text(type)
               ? zones_strings_window_point(strings, type, words, is_high)
               : point;
}

static void
span_widen_empty(struct span *span, const struct zones_strings *strings,
                 enum colander_type type)
{
    const struct zone_rank empty = {.type = (uint8_t)type};

    span_widen(span, zones_strings_point(strings, &empty, false),
               zones_strings_point(strings, &empty, true));
}

/* Returns the span of run `i`, which must have one. */
static struct span
run_span(const struct zones_column *column, const struct zones_strings *strings,
         size_t i)
{
    const struct zones_run *run = &column->runs[i];
    struct span span = {{run->low_type, run->low}, {run->high_type, run->high}};

    if (column->windows != NULL && run->low_type != ZONE_TYPE_NONE) {
        const struct zones_windows *windows = &column->windows[i];

        span.low = point_of(strings, run->low_type, windows->low, false);
        span.high = point_of(strings, run->high_type, windows->high, true);
    }
    if ((run->empties & ZONES_EMPTY_STRING) != 0)
        span_widen_empty(&span, strings, COLANDER_STRING);
    if ((run->empties & ZONES_EMPTY_BINARY) != 0)
        span_widen_empty(&span, strings, COLANDER_BINARY);
    return span;
}

/* Returns the types of a run's ends, including empty strings. */
static uint8_t
low_type_of(const struct zones_run *run)
{
    if ((run->empties & ZONES_EMPTY_STRING) != 0 &&
        run->low_type > COLANDER_STRING)
        return COLANDER_STRING;
    if ((run->empties & ZONES_EMPTY_BINARY) != 0 &&
        run->low_type > COLANDER_BINARY)
        return COLANDER_BINARY;
    return run->low_type;
}

static uint8_t
high_type_of(const struct zones_run *run)
{
    if ((run->empties & ZONES_EMPTY_BINARY) != 0 &&
        run->high_type < COLANDER_BINARY)
        return COLANDER_BINARY;
    if ((run->empties & ZONES_EMPTY_STRING) != 0 &&
        run->high_type < COLANDER_STRING)
        return COLANDER_STRING;
    return run->high_type;
}

struct zones_frame
zones_column_points(struct zones_column *column,
                    const struct zones_strings *strings)
{
    struct zones_frame frame;
    struct span all = span_empty;

    for (size_t i = 0; i < column->run_count; i++) {
        struct zones_run *run = &column->runs[i];
        struct span span;

        if (!zones_run_has_span(run))
            continue;
        span = run_span(column, strings, i);
        span_widen(&all, span.low, span.high);
        run->low = span.low.prefix;
        run->high = span.high.prefix;
    }
    frame.low_type = all.low.type;
    frame.high_type = all.high.type;
    frame.low = zones_line(&frame, all.low);
    frame.high = zones_line(&frame, all.high);
    return frame;
}

void
zones_column_offsets(struct zones_column *column,
                     const struct zones_frame *frame)
{
    for (size_t i = 0; i < column->run_count; i++) {
        struct zones_run *run = &column->runs[i];
        struct zones_point low = {low_type_of(run), run->low};
        struct zones_point high = {high_type_of(run), run->high};

        /* An empty span stays empty: its low end is above its high end. */
        if (!zones_run_has_span(run))
            continue;
        run->low = zones_line(frame, low) - frame->low;
        run->high = zones_line(frame, high) - frame->low;
    }
}
