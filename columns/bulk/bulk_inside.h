/*
 * Bulks with limits of the caller, for tests.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_BULK_BULK_INSIDE_H
#define COLANDER_COLUMNS_BULK_BULK_INSIDE_H

#include "columns/bulk.h"
#include "columns/bulk/row_sorter.h"

struct bulk_limits {
    bool is_run; /* the family may have rows */
    struct row_sorter_limits sorter;
    uint64_t sst_size;   /* 0: the store's */
    size_t thread_count; /* 0: depends on the size of the rows */
};

/* Returns the usual limits. */
struct bulk_limits bulk_limits_usual(void);

/* Does what colander_bulk_create does, with other limits. */
COLANDER_CHECKED enum colander_code
bulk_create_limited(struct colander_family *family,
                    const struct bulk_limits *limits,
                    struct colander_bulk **bulk, struct colander_error *err);

#endif
