/*
 * Bulks with other limits than the usual ones, for tests.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_BULK_INSIDE_H
#define COLANDER_COLUMNS_BULK_INSIDE_H

#include "columns/bulk.h"
#include "columns/row_sorter.h"

struct bulk_limits {
    struct row_sorter_limits sorter;
    uint64_t sst_size;   /* 0: the store's */
    size_t thread_count; /* 0: as many as the rows are worth */
};

/* The usual ones. */
struct bulk_limits bulk_limits_usual(void);

/* As colander_bulk_create. */
COLANDER_CHECKED enum colander_code
bulk_create_limited(struct colander_family *family,
                    const struct bulk_limits *limits,
                    struct colander_bulk **bulk, struct colander_error *err);

#endif
