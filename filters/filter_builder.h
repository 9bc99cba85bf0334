/*
 * Filter builder: builds the filter file of an SST from its rows, in order.
 *
 * Rows are collected until a part is full: FILTER_PART_ENTRIES of values and
 * words, FILTER_PART_VALUES, LOCATOR_ROWS_MAX rows or FILTER_PART_KEY_BYTES of
 * keys. Then the entries of the part are sorted and coded, by a thread if there
 * are more. Words of texts are collected over parts, until a dictionary is
 * full, which ends a part too. So memory is bounded, however large the SST: it
 * holds two parts and two dictionaries.
 *
 * Life: create -> add ... -> finish or not -> destroy
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_FILTER_BUILDER_H
#define COLANDER_FILTERS_FILTER_BUILDER_H

#include "filters/settings.h"

#define FILTER_PART_ENTRIES (UINT32_C(1) << 21) /* of the locator */
#define FILTER_PART_VALUES (UINT32_C(3) << 19)  /* of orders */
#define FILTER_PART_KEY_BYTES (UINT32_C(16) << 20)

struct filter_builder;

/* Creates a builder that will write to `path` (copied). Keeps a reference to
 * `settings`. */
COLANDER_CHECKED enum colander_code
filter_builder_create(const char *path, struct settings *settings,
                      struct filter_builder **builder,
                      struct colander_error *err);

/* Adds an entry of the SST. Requires ascending keys, with all versions of a key
 * together. A delete counts as an entry, but is not a row. The places of blocks
 * are kept unless some are unknown. After a failure only destroy is allowed. */
COLANDER_CHECKED enum colander_code
filter_builder_add(struct filter_builder *builder,
                   const struct sst_entry *entry, struct colander_error *err);

/* Writes the rest and waits until everything is on disk. `entry_count` is that
 * of the SST; 0 means the number of entries added. */
COLANDER_CHECKED enum colander_code
filter_builder_finish(struct filter_builder *builder,
                      const uint8_t tag[SST_TAG_SIZE], uint64_t entry_count,
                      struct colander_error *err);

/* Removes the file unless it is finished. NULL is allowed. */
void filter_builder_destroy(struct filter_builder *builder);

#endif
