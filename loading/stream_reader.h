/*
 * Stream reader: the thread that fills chunks with the records of a stream.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_STREAM_READER_H
#define LOADING_STREAM_READER_H

#include "loading/chunk.h"

/* Fills chunks of the ring until the stream ends, or the ring is stopped. The
 * last one has the failure, if any. */
void stream_reader_run(const struct colander_load_options *options,
                       struct ring *ring);

#endif
