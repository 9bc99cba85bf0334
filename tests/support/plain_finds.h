/*
 * Finds that return errors instead of failing, for threads of tests.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_PLAIN_FINDS_H
#define TESTS_SUPPORT_PLAIN_FINDS_H

#include "support/scoped.h"
#include "support/usual.h"

/* Counts the rows whose `path` (NULL: any column) equals `value`. */
static inline enum colander_code
find_count(struct colander_family *family, const char *path, int64_t value,
           uint64_t *count)
{
    struct colander_value sought = colander_integer(value);
    SCOPED_PREDICATE predicate =
        path == NULL ? colander_where_any_column(sought, NULL)
                     : colander_where(path, COLANDER_EQ, sought, NULL);
    struct colander_query query = usual_query();

    *count = 0;
    if (predicate == NULL)
        return COLANDER_NO_MEMORY;
    query.where = predicate;
    return colander_family_count(family, &query, count, NULL);
}

#endif
