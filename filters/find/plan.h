/*
 * Plans: from a query to the streams of its candidates, or to a scan.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_FIND_PLAN_H
#define COLANDER_FILTERS_FIND_PLAN_H

#include "filters/find/stream.h"

struct plan {
    struct file_view *view;
    struct recent_view *recent;
    struct levels *levels; /* NULL: no row can be read directly */
    size_t slot_words;     /* of a bit for each slot of the view */
    uint64_t *hash_slots;  /* slots that may have each hash; NULL: not kept */
    struct stream **streams;
    size_t stream_count;
    size_t stream_capacity;
    bool is_scan;
};

/* Takes a view and opens a stream for each source that may have a row. Sets
 * is_scan instead if a scan costs less and `may_scan`. Fills the request's
 * explain. On failure there is nothing to release. */
COLANDER_CHECKED enum colander_code plan_make(struct plan *plan,
                                              const struct stream_find *find,
                                              bool may_scan,
                                              struct colander_error *err);

void plan_release(struct plan *plan);

/* Takes the view of a family, and opens the filters of its files; with `files`
 * (NULL: all) only those whose bit is set. *view may be set, and must be
 * released, even on failure. */
COLANDER_CHECKED enum colander_code plan_view(struct filters *filters,
                                              struct family_filters *family,
                                              const uint64_t *files,
                                              struct file_view **view,
                                              struct colander_error *err);

/* Sets in `slots` the parts that may match the query, as far as the hierarchy
 * can tell, and keeps those of each hash. */
COLANDER_CHECKED enum colander_code
plan_ask_hierarchy(const struct plan *plan, const struct filter_query *query,
                   uint64_t *slots, struct colander_error *err);

/* Sets *files, which the caller frees, to a bit for each file of the view: not
 * set for those in which no row matches, as the summaries say. */
COLANDER_CHECKED enum colander_code
rule_out_files(struct filters *filters, const struct file_view *view,
               const struct filter_query *query, uint64_t **files,
               struct colander_error *err);

#endif
