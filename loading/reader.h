/*
 * Reader: the thread that reads a file and splits it into chunks of records.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_READER_H
#define LOADING_READER_H

#include "loading/chunk.h"
#include "loading/source.h"

/* Fills chunks of the ring with the whole source. The last one has the failure,
 * if any. Adds new keys for records, unless the schema names key columns. */
void reader_run(struct source *source,
                const struct colander_load_options *options, struct ring *ring);

#endif
