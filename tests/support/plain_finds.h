/*
 * Finds that tell what happened instead of failing, for threads of tests.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_PLAIN_FINDS_H
#define TESTS_SUPPORT_PLAIN_FINDS_H

#include "columns/columns.h"

/* Counts the rows whose `path` (NULL: any column) equals `value`. */
static inline enum colander_code
find_count(struct colander_family *family, const char *path, int64_t value,
           uint64_t *count)
{
    struct colander_value sought = colander_integer(value);
    struct colander_predicate *predicate =
        path == NULL ? colander_where_any_column(sought, NULL)
                     : colander_where(path, COLANDER_EQ, sought, NULL);
    struct colander_query query;
    enum colander_code code;

    *count = 0;
    if (predicate == NULL)
        return COLANDER_NO_MEMORY;
    colander_query_init(&query);
    query.where = predicate;
    code = colander_family_count(family, &query, count, NULL);
    colander_predicate_destroy(predicate);
    return code;
}

#endif
