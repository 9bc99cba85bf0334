/*
 * The summaries of a store: made for backups, and read in place of filters that
 * are far away.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_SUMMARIES_H
#define COLANDER_FILTERS_SUMMARIES_H

#include "core/sst.h"
#include "filters/summary.h"

#include <pthread.h>

struct file_view;
struct filters;

struct summaries {
    pthread_mutex_t mutex; /* taken before all others */
    struct summary **items;
    size_t count;
    size_t capacity;
    bool is_listed;
};

void summaries_init(struct summaries *summaries);
void summaries_release(struct summaries *summaries);

/* Makes summaries of the files that none has, before a backup. What fails is
 * logged: a reader of the backup reads more filters then. */
void summaries_make(struct filters *filters);

/* Fills `name` with a summary, relative to the store. Returns false after the
 * last one. */
bool summaries_name(struct filters *filters, size_t index,
                    char name[SIDECAR_PATH_MAX]);

/* Sets in `files` the bit of each file of the view that may have the value. Of
 * one that no summary has, or with `needs_words` none that knows words, nothing
 * is known. Needs a bit for each file. */
COLANDER_CHECKED enum colander_code
summaries_ask(struct filters *filters, const struct file_view *view,
              uint64_t value_hash, bool needs_words, uint64_t *files,
              struct colander_error *err);

#endif
