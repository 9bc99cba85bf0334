/*
 * Maker: a thread that makes rows of the records of chunks.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_MAKER_H
#define LOADING_MAKER_H

#include "loading/chunk.h"
#include "loading/loading.h"
#include "loading/source.h"

/* What a maker needs; borrowed while it runs. */
struct maker {
    struct colander_store *store;
    struct colander_family *family;
    const struct source *source;
    const struct loading_options *options;
    struct ring *ring;
};

/* Whether rows wait in the chunk, to be looked at before they are written;
 * otherwise they are in its batch. */
bool maker_keeps_rows(const struct loading_options *options);

/* Makes rows until there is no chunk left. */
void maker_run(const struct maker *maker);

#endif
