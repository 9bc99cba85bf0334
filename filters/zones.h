/*
 * Zones: the smallest and largest value of each column in each run of rows of
 * a part, so that a range, a prefix or an exists reads only runs that can hold
 * a row.
 *
 * Values are compared by an image that keeps the order: 64 bits behind the
 * type. Numbers are rounded for it. Of strings and binaries what all of a
 * column in the part begin with is kept once, and the image is made of some
 * bytes behind that, as many as are needed or fit; so dates, or numbered names,
 * prune as numbers do. A zone may be wider than its values, never narrower.
 *
 * A column is known by the hash of its path. Of more columns than
 * ZONES_COLUMNS_MAX the later ones are left out, and asking for one then says
 * maybe.
 *
 * A column may be there without a scalar (a map, an array): it has rows, and
 * an empty span. Nulls are in no span either, or they would widen those of
 * every column that has some: a span asked for that begins with null is
 * answered by where the column is at all.
 *
 * Runs are kept only where they prune: of a column whose runs are all alike
 * there is one span, that of the part.
 *
 * Life:   builder_create -> value, row_end ... -> finish ... -> destroy; then
 *         find
 * Errors: CORRUPT for bytes that the builder never made
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

/* Where a value stands: by type first, then by what fits in 64 bits; a string
 * or binary by its bytes, borrowed, since its image is another in each part. */
struct zone_rank {
    uint8_t type; /* in the order of colander_value_compare; numbers are one */
    uint8_t fill; /* what bytes are followed by, without end */
    uint64_t prefix; /* where the type has no bytes */
    struct colander_slice bytes;
};

struct zone_rank zone_rank_of(const struct colander_value *value);

/* The largest rank of a value that begins as `prefix`, a string or binary. */
struct zone_rank zone_rank_of_prefix_end(const struct colander_value *prefix);

/* The least and the largest rank of the type of `value` (numbers are one). */
struct zone_rank zone_rank_least(const struct colander_value *value);
struct zone_rank zone_rank_largest(const struct colander_value *value);

/* From `low` to `high`, both included. */
struct zone_span {
    struct zone_rank low;
    struct zone_rank high;
};

struct zones_builder;

/* NULL when memory is short. */
struct zones_builder *zones_builder_create(void);

/* NULL is allowed. */
void zones_builder_destroy(struct zones_builder *builder);

/* The row under way has `value` in the column: a scalar, or a container, of
 * which only the type counts. Several times in a row for arrays. Never fails:
 * short memory leaves the column out, and then asking for it says maybe. */
void zones_builder_value(struct zones_builder *builder, uint64_t path_hash,
                         const struct colander_value *value);

/* The row under way has ended. */
void zones_builder_row_end(struct zones_builder *builder);

/* Appends the zones of all rows since the last finish, and begins anew, also
 * when it fails; then `block` is as it was. */
COLANDER_CHECKED enum colander_code
zones_builder_finish(struct zones_builder *builder,
                     struct colander_buffer *block, struct colander_error *err);

/*
 * Adds to `ranges` (which has no row behind the first of the part), of the
 * part's `row_count` rows, the runs where the column may have a value in
 * `span`; `span` NULL: where it may be at all. `row_count` is that of the
 * builder. After a failure `ranges` may hold some of them.
 */
COLANDER_CHECKED enum colander_code
zones_find(struct colander_slice block, uint32_t row_count, uint64_t path_hash,
           const struct zone_span *span, struct row_ranges *ranges,
           struct colander_error *err);

#endif
