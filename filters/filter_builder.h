/*
 * Filter builder: from the rows of an SST, in order, to its filter file.
 *
 * Rows are gathered until a part is full: FILTER_PART_ENTRIES values or
 * LOCATOR_ROWS_MAX rows or some megabytes of keys; then its entries are sorted
 * and coded. So memory is bounded however large the SST.
 *
 * Life: create -> add ... -> finish or not -> destroy
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_FILTER_BUILDER_H
#define COLANDER_FILTERS_FILTER_BUILDER_H

#include "filters/settings.h"

#define FILTER_PART_ENTRIES (UINT32_C(1) << 20)
#define FILTER_PART_KEY_BYTES (UINT32_C(16) << 20)

struct filter_builder;

/* Will write to `path` (copied), and counts `settings`. */
COLANDER_CHECKED enum colander_code
filter_builder_create(const char *path, struct settings *settings,
                      struct filter_builder **builder,
                      struct colander_error *err);

/* Adds an entry of the SST: keys ascend, versions of one key stand together. A
 * delete counts, and is no row. After a failure only destroy is allowed. */
COLANDER_CHECKED enum colander_code
filter_builder_add(struct filter_builder *builder, struct colander_slice key,
                   struct colander_slice row, bool is_put,
                   struct colander_error *err);

/* Writes the rest and waits until all is on disk. `entry_count` of the SST: 0
 * means as many as were added. */
COLANDER_CHECKED enum colander_code
filter_builder_finish(struct filter_builder *builder,
                      const uint8_t tag[SST_TAG_SIZE], uint64_t entry_count,
                      uint64_t valid_from, struct colander_error *err);

/* Removes the file unless it was finished. NULL is allowed. */
void filter_builder_destroy(struct filter_builder *builder);

#endif
