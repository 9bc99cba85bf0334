/*
 * Census: which columns rows have, of which types, in how many of them.
 *
 * Columns inside columns count as well, under their paths; so do the elements
 * of arrays, all under one.
 *
 * Life:   create -> take or sample -> count, column -> destroy
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_CENSUS_H
#define SHELL_CENSUS_H

#include "colander.h"

#define CENSUS_COLUMNS_MAX 10000 /* of a family: so memory stays bounded */
#define CENSUS_TYPES (COLANDER_MAP + 1) /* the last of them */

struct census_column {
    const char *path;
    uint64_t row_count;                 /* rows that have it */
    uint64_t type_counts[CENSUS_TYPES]; /* values, by enum colander_type */
};

struct census;

/* NULL when memory is short. */
struct census *census_create(void);

/* NULL is allowed. */
void census_destroy(struct census *census);

/* Reads the first `row_limit` rows of the family; *row_count (if any) is how
 * many there were. `watch` (if any) is told the cursor, and NULL. LIMIT when
 * there are too many columns. */
COLANDER_CHECKED enum colander_code
census_take(struct census *census, struct colander_family *family,
            uint64_t row_limit, void (*watch)(struct colander_cursor *cursor),
            uint64_t *row_count, struct colander_error *err);

/* What was looked at. */
struct census_sample {
    uint64_t row_count;
    bool is_all; /* every row there is */
    bool is_cut; /* there are more columns than are counted */
};

/* Reads `row_limit` rows of the family at most, spread over its keys: all rows
 * where there are no more, else runs of neighbours which begin in places that
 * have about as many bytes between them. Large rows are fewer. */
COLANDER_CHECKED enum colander_code
census_sample(struct census *census, struct colander_family *family,
              uint64_t row_limit, void (*watch)(struct colander_cursor *cursor),
              struct census_sample *sample, struct colander_error *err);

/* The columns, in the order in which they were met. */
size_t census_count(const struct census *census);
const struct census_column *census_column(const struct census *census,
                                          size_t index);

#endif
