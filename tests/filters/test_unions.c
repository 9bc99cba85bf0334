/*
 * Unions have no filters of their own: those of their members are used.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/union.h"
#include "support/store_fixture.h"

FIXTURE_TEST(what_is_about_filters_is_refused)
{
    const struct colander_filter_options options = usual_filters();
    struct colander_filter_stats stats;
    struct colander_check check;
    struct colander_store *all;
    struct colander_family *rows;

    OK(colander_union_open("all", &fixture->store, 1, &all, NULL));
    OK(colander_family_open(all, "rows", &rows, NULL));
    FAILS(colander_family_set_filters(rows, &options, NULL),
          COLANDER_READ_ONLY);
    FAILS(colander_family_filter_stats(rows, &stats, NULL), COLANDER_INVALID);
    memset(&check, 0, sizeof(check));
    FAILS(colander_store_check_filters(all, false, &check, NULL, NULL, NULL),
          COLANDER_INVALID);
    OK(colander_family_await_filters(rows, NULL));
    colander_family_close(rows);
    OK(colander_store_close(all, NULL));
}
