/*
 * Part rows: the rows of a part of a filter, from which it is written.
 *
 * A part is full with FILTER_PART_ENTRIES of values and words,
 * FILTER_PART_VALUES, LOCATOR_ROWS_MAX rows or FILTER_PART_KEY_BYTES of keys,
 * so memory is bounded.
 *
 * Life:   init -> begin_row -> add_values ... -> write -> begin_row ... ->
 *         release
 * Errors: after a failure only release is allowed
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_BUILD_PART_ROWS_H
#define COLANDER_FILTERS_BUILD_PART_ROWS_H

#include "filters/build/entry_list.h"
#include "filters/dictionary.h"
#include "filters/filter_file.h"
#include "filters/order.h"

struct part_rows {
    struct settings *settings; /* borrowed */
    struct entry_list entries;
    struct order_builder *orders; /* NULL: only a presence is built */
    uint32_t row_count;
    struct colander_buffer keys; /* of the rows: size and bytes of each */
    size_t last;                 /* offset of the last one */
    uint64_t row_bytes;          /* of keys and rows */
    uint64_t key_bytes;          /* of the keys, front-coded */
    size_t word_count;           /* entries of words */

    /* Set by the caller. */
    struct dictionary_builder *dictionary; /* of their words; NULL: none */
    bool ends_dictionary;                  /* which is written with them */

    /* Of the row being visited. */
    uint32_t skip_depth;      /* depth of its unfiltered column, or 0 */
    uint32_t words_depth;     /* of its column with words, */
    uint32_t ordered_depth;   /* of that which must have an order, */
    uint32_t unordered_depth; /* and of that which must not, or 0 */
    unsigned word_tag;        /* of its column */
    enum colander_code visit_code;
    struct colander_error *visit_err;
};

/* Keeps nothing to release after a failure. */
COLANDER_CHECKED enum colander_code part_rows_init(struct part_rows *rows,
                                                   struct settings *settings,
                                                   struct colander_error *err);

/* What was only zeroed may be released too. */
void part_rows_release(struct part_rows *rows);

bool part_rows_is_full(const struct part_rows *rows);

/* Begins a row. Keys ascend. */
COLANDER_CHECKED enum colander_code
part_rows_begin_row(struct part_rows *rows, struct colander_slice key,
                    struct colander_error *err);

/* Returns the key of the last row, of which there is one. */
struct colander_slice part_rows_last_key(const struct part_rows *rows);

/* Adds the values of a version of the last row. */
COLANDER_CHECKED enum colander_code
part_rows_add_values(struct part_rows *rows, struct colander_slice row,
                     struct colander_error *err);

/* Writes the part, unless it has no rows, and removes the rows. Adds to
 * *words_size about how many bytes words take in the locator. */
COLANDER_CHECKED enum colander_code
part_rows_write(struct part_rows *rows, struct filter_writer *writer,
                double *words_size, struct colander_error *err);

#endif
