/*
 * Plans: from a question to the streams that give its candidates, or to a scan.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_PLAN_H
#define COLANDER_FILTERS_PLAN_H

#include "filters/stream.h"

struct plan {
    struct view *view;
    struct recent_view *recent;
    struct stream **streams;
    size_t stream_count;
    size_t stream_capacity;
    bool is_scan;
};

/*
 * Takes a view and opens a stream for each source that may have a row, or,
 * where a scan costs less and `may_scan`, says so. Fills the explain of the
 * request. On failure there is nothing to release.
 */
COLANDER_CHECKED enum colander_code plan_make(struct plan *plan,
                                              const struct stream_find *find,
                                              bool may_scan,
                                              struct colander_error *err);

void plan_release(struct plan *plan);

#endif
