/*
 * Rows of line protocol, as InfluxDB has it.
 *
 *     cpu,host=a,zone=eu busy=0.5,cores=8i,note="a b" 1700000000000000000
 *
 * becomes the row
 *
 *     {"_measurement":"cpu","host":"a","zone":"eu","busy":0.5,"cores":8,
 *      "note":"a b","time":"2023-11-14T22:13:20Z"}
 *
 * under the key ["cpu", "host=a,zone=eu", the time]: so points of a series are
 * side by side, and a point that comes again is the same row. The tags of a key
 * are sorted; if they are long, a hash stands for them.
 *
 * A line without a time gets that at which the reading began.
 *
 * Threads: one at a time
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_INFLUX_ROWS_H
#define LOADING_INFLUX_ROWS_H

#include "columns/columns.h"

/* The columns that are neither tags nor fields; InfluxDB reserves the names. */
#define INFLUX_MEASUREMENT "_measurement"
#define INFLUX_TIME "time"

struct parsed_row;
struct influx_tag;

/* Starts zeroed. */
struct influx_rows {
    struct colander_row_builder *builder; /* NULL: to be made */
    struct colander_buffer text;          /* what had backslashes */
    struct influx_tag *tags;              /* of the line */
    size_t tag_count;
    size_t tag_capacity;
    struct colander_buffer series; /* the tags of the key */
    struct colander_buffer key;
    struct colander_value now; /* for lines without a time; null: unset */
};

void influx_rows_release(struct influx_rows *rows);

/* Sets *unit to the nanoseconds of a unit of time: ns, us, ms, s, m or h (also
 * n and u, as InfluxDB 1 has them). Returns false for another text. */
bool influx_unit_read(const char *text, uint64_t *unit);

/* Parses a line whose time is in units of `unit` nanoseconds. Fails with
 * INVALID or LIMIT, and sets parsed->fault to the byte. */
COLANDER_CHECKED enum colander_code influx_rows_row(struct influx_rows *rows,
                                                    struct colander_slice line,
                                                    uint64_t unit,
                                                    struct parsed_row *parsed,
                                                    struct colander_error *err);

#endif
