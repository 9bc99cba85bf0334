/*
 * Live: keeps filters up to date while the store changes.
 *
 *     observer.c       callbacks of the engine: SST files come and go
 *     recent_add.c     values of rows that are about to be written
 *     commons.c        what several stores have together
 *     worker.c         threads that open, loads and rebuilds filters
 *     filter_load.c    opening and loading one filter
 *     filter_rebuild.c rebuilding one filter
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_LIVE_H
#define COLANDER_FILTERS_LIVE_H

#include "filters/context.h"

/* Returns callbacks whose context is `filters`. */
struct sst_observer observer_of(struct filters *filters);

/* --------------------------------------------------------------- worker --- */

/* Starts the work. It can be started and stopped several times. */
COLANDER_CHECKED enum colander_code worker_start(struct filters *filters,
                                                 struct colander_error *err);
void worker_stop(struct filters *filters);

/* Lets a thread look for work. Any thread, also callbacks. */
void worker_kick(struct filters *filters);
void worker_kick_all(struct commons *commons);

/* Ends the threads of commons whose stores are closed. */
void worker_end_threads(struct commons *commons);

/* Rebuilds filters that lack words only for now, as many as it can in two
 * seconds; the next open that writes finds the others. */
void worker_add_words(struct filters *filters);

/* Waits until nothing is left to do; false: the worker does not run. */
bool worker_await(struct filters *filters);

/* Returns whether the worker, and work like its own, should stop. */
bool worker_is_stopping(struct filters *filters);

/* Marks the filter of `file` as damaged: finds ignore it from now on, and the
 * worker rebuilds it. */
void filters_doubt(struct filters *filters, struct sst_file *file,
                   const struct colander_error *err);

/* Rebuilds the filter of SST `number`, whatever happens to it meanwhile. An SST
 * that is gone is fine. */
COLANDER_CHECKED enum colander_code
worker_rebuild_latest(struct filters *filters, uint64_t number,
                      struct colander_error *err);

/* ---------------------------------------------------------- one filter --- */

/* Fails with TOO_NEW if another program version made the filter, and with
 * CORRUPT if it belongs to another SST than the one with this number of entries
 * (0: unknown) and this tag (NULL: unknown). */
COLANDER_CHECKED enum colander_code
filter_check_head(const struct filter_head *head, uint64_t entry_count,
                  const uint8_t *tag, struct colander_error *err);

/* Opens the filter of a PENDING file. The file becomes OPEN, or UNSURE if the
 * filter is unusable. It stays PENDING, and OK is returned, if the filter
 * cannot be read now. */
COLANDER_CHECKED enum colander_code
filters_open_pending(struct filters *filters, struct sst_file *file,
                     struct colander_error *err);

/* Builds the presence of a part in the shape that is wanted, or, if the part
 * has a presence in place of a locator, in the shape of that. */
COLANDER_CHECKED enum colander_code
filters_make_presence(const struct filter_file *filter,
                      const struct filter_part *part,
                      const struct presence_shape *wanted,
                      struct presence *presence, struct colander_error *err);

/* Puts the filter of an OPEN file into its family's hierarchy: LOADED. */
COLANDER_CHECKED enum colander_code filters_load(struct filters *filters,
                                                 struct sst_file *file,
                                                 struct colander_error *err);

/* Rebuilds the filter of `file` with the family's settings. *is_done is false
 * if the file has changed its state in the meantime; then nothing changed. */
COLANDER_CHECKED enum colander_code filters_rebuild(struct filters *filters,
                                                    struct sst_file *file,
                                                    bool *is_done,
                                                    struct colander_error *err);

/* ---------------------------------------------------------- recent rows --- */

COLANDER_CHECKED enum colander_code
recent_add_row(void *context, struct candidate_write **write,
               struct engine_family *family, struct colander_slice key,
               struct colander_slice row, struct colander_error *err);
void recent_add_end(void *context, struct candidate_write *write,
                    bool is_written);

/* In a store that is open for reading: adds the rows that were in the log when
 * it was opened. Does so the first time only. */
COLANDER_CHECKED enum colander_code recent_add_log(struct filters *filters,
                                                   struct engine_family *family,
                                                   struct family_filters *found,
                                                   struct colander_error *err);

#endif
