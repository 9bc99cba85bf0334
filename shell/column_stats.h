/*
 * Column statistics: which columns the rows of a family have, in how many rows,
 * with how many values of which types, and with which values.
 *
 * Columns inside columns are counted too, under their paths. All elements of an
 * array are counted under one path.
 *
 * Life:   create -> read_sample, read_rows -> count, get, add -> destroy
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_COLUMN_STATS_H
#define SHELL_COLUMN_STATS_H

#include "colander.h"
#include "shell/report.h"

#define COLUMN_STATS_MAX 10000  /* columns of a family: bounds the memory */
#define COLUMN_STATS_ROWS 10000 /* in an ordinary sample */
#define COLUMN_TYPES (COLANDER_MAP + 1)

struct column_stat {
    const char *path;
    uint64_t row_count;                 /* rows that have the column */
    uint64_t type_counts[COLUMN_TYPES]; /* values, by enum colander_type */

    /* Of the scalars but null. Long ones are cut. Null: there is none. */
    struct colander_value first;
    struct colander_value smallest; /* in the order of all values */
    struct colander_value largest;
};

struct column_stats;

/* Returns NULL if memory is short. */
struct column_stats *column_stats_create(void);

/* NULL is allowed. */
void column_stats_destroy(struct column_stats *stats);

/*
 * Reads all rows of a family that has at most about `row_count`, else a sample
 * of that size: runs of neighbouring rows that begin at split keys with about
 * as many bytes between them. Rows that were read before count towards
 * `row_count`; they may be of another family. Orders the columns by the rows
 * that have them, most rows first; after a failure too. Stops at too many
 * columns. Fails with CANCELLED on Ctrl-C.
 */
COLANDER_CHECKED enum colander_code
column_stats_read_sample(struct column_stats *stats,
                         struct colander_family *family, uint64_t row_count,
                         struct colander_error *err);

/* Reads more rows: those of a query. Does not order the columns again. Fails
 * with LIMIT if there are too many columns. */
COLANDER_CHECKED enum colander_code column_stats_read_rows(
    struct column_stats *stats, struct colander_family *family,
    const struct colander_query *query, struct colander_error *err);

uint64_t column_stats_row_count(const struct column_stats *stats);

/* Whether all rows of the family were read. */
bool column_stats_is_all(const struct column_stats *stats);

size_t column_stats_count(const struct column_stats *stats);
const struct column_stat *column_stats_get(const struct column_stats *stats,
                                           size_t index);

/* Returns the column at `path`, or NULL. */
const struct column_stat *column_stats_find(const struct column_stats *stats,
                                            const char *path);

/* Adds a column to the current row or map: its path, the rows that have it
 * and its values by type. */
void column_stat_add_columns(const struct column_stat *column,
                             struct colander_row_builder *builder);

/* Adds the values of the column: "example", "smallest" and "largest". */
void column_stat_add_values(const struct column_stat *column,
                            struct colander_row_builder *builder);

/* Adds lines with the columns that most rows have. The family has about
 * `key_count` rows (0: unknown). With `orders` they say what filters have of
 * their order. */
void column_stats_add(const struct column_stats *stats, uint64_t key_count,
                      struct colander_family *orders, struct report *report);

/* Adds up to 1,000 columns to a row, and, with
 * `orders`, what filters have of their order. */
COLANDER_CHECKED enum colander_code column_stats_add_columns(
    const struct column_stats *stats, struct colander_family *orders,
    struct colander_row_builder *builder, struct colander_error *err);

#endif
