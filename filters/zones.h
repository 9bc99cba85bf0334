/*
 * Zones: the smallest and largest value of each column in each run of rows of a
 * part. A range or a prefix then reads only runs that may have a matching row.
 *
 * Values are compared by a type and 64 bits that keep their order. Numbers are
 * rounded. For strings and binaries, the beginning that all values of a column
 * in the part share is stored once, and the 64 bits come from the bytes after
 * it, as many as are needed or fit. So dates and numbered names prune as well
 * as numbers. A zone may be wider than its values, never narrower.
 *
 * A column is identified by the hash of its path. If a part has more than
 * ZONES_COLUMNS_MAX columns, the later ones are omitted and may be anywhere.
 *
 * Nulls are in no span, because they would widen the spans of every column that
 * has some. A query whose span begins with null gets all
 * runs that have the column.
 *
 * Runs are stored only where they prune. A column whose runs are all alike has
 * one span, that of the part.
 *
 * Life:   builder_create -> value, row_end ... -> finish ... -> destroy; then
 *         find
 * Errors: CORRUPT for bytes that the builder cannot have made
 * Bytes:  filters/FORMAT.md, "Zone blocks"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_ZONES_H
#define COLANDER_FILTERS_ZONES_H

#include "columns/columns.h"
#include "filters/row_ranges.h"

#define ZONES_COLUMNS_MAX 256
#define ZONES_RUN 256 /* rows, a power of two */

/* The position of a value in the order: first its type, then 64 bits; for a
 * string or binary its bytes, borrowed, because their 64 bits differ in each
 * part. */
struct zone_rank {
    uint8_t type; /* in the order of colander_value_compare; all numbers are one
                   * type */
    uint8_t fill; /* repeats after the bytes without end */
    uint64_t prefix; /* for types without bytes */
    struct colander_slice bytes;
};

struct zone_rank zone_rank_of(const struct colander_value *value);

/* Returns the largest rank of a value that begins with `prefix`, a string or
 * binary. */
struct zone_rank zone_rank_of_prefix_end(const struct colander_value *prefix);

/* Return the least and the largest rank of the type of `value`. All numbers are
 * one type. */
struct zone_rank zone_rank_least(const struct colander_value *value);
struct zone_rank zone_rank_largest(const struct colander_value *value);

/* From `low` to `high`, both inclusive. */
struct zone_span {
    struct zone_rank low;
    struct zone_rank high;
};

struct zones_builder;

/* Returns NULL if memory is short. */
struct zones_builder *zones_builder_create(void);

/* NULL is allowed. */
void zones_builder_destroy(struct zones_builder *builder);

/* Adds a value of the column in the current row, a scalar. May be called
 * several times for a row, for arrays. Never fails: if memory is short, the
 * column is omitted and may be anywhere. */
void zones_builder_value(struct zones_builder *builder, uint64_t path_hash,
                         const struct colander_value *value);

/* Ends the current row. */
void zones_builder_row_end(struct zones_builder *builder);

/* Appends the zones of all rows since the last finish to `block`, and starts
 * again. If it fails, `block` is unchanged. */
COLANDER_CHECKED enum colander_code
zones_builder_finish(struct zones_builder *builder,
                     struct colander_buffer *block, struct colander_error *err);

/* Adds to `ranges`, which may only have earlier rows than the part's, the runs
 * in which the column may have a value in `span`. `row_count` must be the
 * builder's. After a failure `ranges` may have some of them. */
COLANDER_CHECKED enum colander_code
zones_find(struct colander_slice block, uint32_t row_count, uint64_t path_hash,
           const struct zone_span *span, struct row_ranges *ranges,
           struct colander_error *err);

/* The same for any column: adds the runs in which some column may have a value
 * in `span`. They are not in order. */
COLANDER_CHECKED enum colander_code zones_find_any(struct colander_slice block,
                                                   uint32_t row_count,
                                                   const struct zone_span *span,
                                                   struct row_ranges *ranges,
                                                   struct colander_error *err);

#endif
