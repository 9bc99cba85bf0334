/*
 * Feeder: the thread that reads a file and cuts it into chunks of records.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_FEEDER_H
#define LOADING_FEEDER_H

#include "loading/chunk.h"
#include "loading/source.h"

/* Fills the ring with all that the source has; the last chunk says what went
 * wrong, if anything did. Records get keys where the schema names none. */
void feeder_run(struct source *source, const struct loading_options *options,
                struct ring *ring);

#endif
