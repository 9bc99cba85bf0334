/*
 * Filter feeds: hand rows to a filter builder that runs in its own thread.
 *
 * A compaction waits while it hands over a row, and building a filter costs
 * about as much as compacting. So a feed copies rows in lots, and a thread
 * builds; the builder has a part sorted and written by another one while it
 * collects the next. There are enough lots for the compaction to continue if
 * the thread has to wait for that.
 *
 * Life:   create -> add ... -> finish or not -> destroy
 * Memory: FEED_LOTS lots of FEED_LOT_SIZE bytes, or of one larger row
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_FILTER_FEED_H
#define COLANDER_FILTERS_FILTER_FEED_H

#include "filters/filter_builder.h"

#define FEED_LOTS 8
#define FEED_LOT_SIZE (2u << 20)

struct filter_feed;

/* Creates a feed that will write to `path` (copied). Keeps a reference to
 * `settings`. */
COLANDER_CHECKED enum colander_code
filter_feed_create(const char *path, struct settings *settings,
                   struct filter_feed **feed, struct colander_error *err);

/* Adds an entry of the SST like filter_builder_add. May return the error of an
 * earlier entry. After a failure only destroy is allowed. */
COLANDER_CHECKED enum colander_code
filter_feed_add(struct filter_feed *feed, const struct sst_entry *entry,
                struct colander_error *err);

/* Waits until everything is built and on disk. */
COLANDER_CHECKED enum colander_code
filter_feed_finish(struct filter_feed *feed, const uint8_t tag[SST_TAG_SIZE],
                   struct colander_error *err);

/* Removes the file unless it is finished. NULL is allowed. */
void filter_feed_destroy(struct filter_feed *feed);

#endif
