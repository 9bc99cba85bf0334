/*
 * Found rows: a group of candidates, read. The layer above may read some of
 * them where it has found them; the engine reads the others.
 *
 * Life:   zeroed -> (read -> get ... -> clear)* -> release. A read clears first
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_FINDS_FOUND_ROWS_H
#define COLANDER_COLUMNS_FINDS_FOUND_ROWS_H

#include "columns/candidates.h"

#define FOUND_ROWS_MAX CANDIDATE_ROWS_MAX

/* Where candidates come from, borrowed. */
struct candidate_source {
    const struct store_hooks *hooks;
    const struct candidate_request *request;
    struct candidates *candidates;
};

struct found_rows {
    const struct candidate_source *source; /* of the last read */
    struct candidate_rows direct; /* sizes of rows that are not read: their
                                   * indexes in `others` */
    struct engine_rows *others;   /* NULL until some are read */
    size_t direct_count;
};

/* Reads the rows of `count` candidates, at most FOUND_ROWS_MAX. */
COLANDER_CHECKED enum colander_code
found_rows_read(struct found_rows *rows, const struct candidate_source *source,
                const struct candidate *found, size_t count,
                struct colander_error *err);

/* Returns false if the row does not exist. */
bool found_rows_get(const struct found_rows *rows, size_t index,
                    struct colander_slice *row);

/* Returns about how much memory the row holds. */
size_t found_rows_size(const struct found_rows *rows, size_t index);

/* Frees the rows, and keeps a usual amount of memory. */
void found_rows_clear(struct found_rows *rows);

/* Before the candidates of the source are closed. */
void found_rows_release(struct found_rows *rows);

#endif
