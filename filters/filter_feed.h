/*
 * Filter feeds: rows on their way to a filter builder that has a thread of its
 * own.
 *
 * A compaction waits for each row to be taken, and building a filter costs
 * about as much as compacting does. So a feed takes copies, in lots, and a
 * thread builds: two cores do the work of one SST. There are enough lots that
 * the compaction goes on while the thread ends a part.
 *
 * Life:   create -> add ... -> finish or not -> destroy
 * Memory: FEED_LOTS lots of FEED_LOT_SIZE bytes, or of one row that is larger
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_FILTER_FEED_H
#define COLANDER_FILTERS_FILTER_FEED_H

#include "filters/filter_builder.h"

#define FEED_LOTS 8
#define FEED_LOT_SIZE (2u << 20)

struct filter_feed;

/* Will write to `path` (copied), and counts `settings`. */
COLANDER_CHECKED enum colander_code
filter_feed_create(const char *path, struct settings *settings,
                   struct filter_feed **feed, struct colander_error *err);

/* Adds an entry of the SST, as filter_builder_add; what is told may be of
 * entries before. After a failure only destroy is allowed. */
COLANDER_CHECKED enum colander_code filter_feed_add(struct filter_feed *feed,
                                                    struct colander_slice key,
                                                    struct colander_slice row,
                                                    bool is_put,
                                                    struct colander_error *err);

/* Waits until all is built and on disk. */
COLANDER_CHECKED enum colander_code
filter_feed_finish(struct filter_feed *feed, const uint8_t tag[SST_TAG_SIZE],
                   struct colander_error *err);

/* Removes the file unless it was finished. NULL is allowed. */
void filter_feed_destroy(struct filter_feed *feed);

#endif
