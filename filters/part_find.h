/*
 * Part find: which rows of a part may answer a question.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_PART_FIND_H
#define COLANDER_FILTERS_PART_FIND_H

#include "columns/candidates.h"
#include "filters/registry.h"

/* What the hierarchy has said of a part: for the value at a place (see struct
 * question) whether the part may hold it. All may while `bits` is NULL. */
struct value_hints {
    const uint64_t *bits; /* of the part's slot, for the value at place 0 */
    size_t stride;        /* words to the next value's */
    unsigned shift;       /* of the bit in its word */
};

/*
 * Fills `ranges` with the rows of the part that may match: every row that does
 * is in it. CORRUPT, NOT_FOUND or IO when the filter cannot be read.
 */
COLANDER_CHECKED enum colander_code
part_find(const struct filter *filter, const struct filter_part *part,
          const struct question *question, const struct value_hints *hints,
          struct row_ranges *ranges, struct colander_error *err);

/*
 * Fills `bounds` with the rows of the part whose keys may be from `from` to
 * below `until` (empty: no bound). The part has keys.
 */
COLANDER_CHECKED enum colander_code
part_bounds(const struct filter *filter, const struct filter_part *part,
            struct colander_slice from, struct colander_slice until,
            struct row_range *bounds, struct colander_error *err);

/* Whether the question is about a column that `left_out` has, or about any
 * column while there are such. */
bool question_is_left_out(const struct question *question,
                          const uint64_t *left_out, uint32_t count);

/* The same of the question or one that it is made of: then what a hierarchy
 * says of it means nothing. */
bool question_has_left_out(const struct question *question,
                           const uint64_t *left_out, uint32_t count);

#endif
