/*
 * Questions: the parameters of a find as a query.
 *
 * Life:   a zeroed struct -> read -> resolve -> (the query is used) -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_QUESTION_H
#define SERVE_QUESTION_H

#include "columns/columns.h"
#include "serve/parameters.h"

struct question {
    struct parameters parameters;
    struct colander_predicate *where; /* NULL: every row */
    const char **paths;               /* selected columns, of the parameters */
    size_t path_count;
    struct colander_buffer keys[COLANDER_KEY_TO + 1];
    struct colander_query query;
    struct colander_buffer cursor; /* the key to continue after; empty: none */
    bool wants_cursor;             /* one is in the answer, to continue */
    const char *order;             /* a path of the parameters; NULL: by key */
    bool is_descending;
    bool is_any; /* the columns that matched are wanted */
    bool is_msgpack;
    bool explains;
    bool wants_hints;
    bool is_partial; /* partitions that cannot be read may be missing */
    bool is_fresh;   /* all that was acknowledged before must be there */
    uint64_t limit;  /* UINT64_MAX: none */
    uint64_t skip;
};

/* Takes the parameters, unless it fails. A failure with INVALID is at byte
 * *offset of the parameter *parameter, which has static storage or is as long
 * there as the parameters. */
COLANDER_CHECKED enum colander_code
question_read(struct question *question, struct parameters *parameters,
              bool is_get, const char **parameter, size_t *offset,
              struct colander_error *err);

/* Reads the keys, which mean something else in each family, and fills the
 * query. Reads rows. */
COLANDER_CHECKED enum colander_code
question_resolve(struct question *question, struct colander_family *family,
                 const char **parameter, size_t *offset,
                 struct colander_error *err);

/* Whether the key is not after the cursor, in the order of the find: the range
 * begins with the key of the cursor. */
bool question_passed(const struct question *question,
                     struct colander_slice key);

void question_release(struct question *question);

#endif
