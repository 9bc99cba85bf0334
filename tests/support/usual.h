/*
 * Default queries and options, for locals of tests:
 *
 *     struct colander_query query = usual_query();
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_USUAL_H
#define TESTS_SUPPORT_USUAL_H

#include "columns/columns.h"
#include "filters/filters.h"

static inline struct colander_query
usual_query(void)
{
    struct colander_query query;

    colander_query_init(&query);
    return query;
}

static inline struct colander_options
usual_options(void)
{
    struct colander_options options;

    colander_options_init(&options);
    return options;
}

static inline struct colander_filter_options
usual_filters(void)
{
    struct colander_filter_options options;

    colander_filter_options_init(&options);
    return options;
}

#endif
