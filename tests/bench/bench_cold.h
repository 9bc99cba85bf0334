/*
 * Cold files: what the system remembers of files is forgotten, so that who
 * reads them next reads the storage.
 *
 * The system is first asked to forget the files alone, as that harms nobody
 * else; where it keeps more than a little of them, all it remembers is dropped,
 * which only the administrator may. What is left is counted, not believed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_COLD_H
#define BENCH_COLD_H

#include "bench.h"

/* What was possible, over all times that files were made cold. */
struct bench_cold {
    double share_max;     /* of a folder's bytes that stayed in memory */
    bool has_dropped_all; /* what the system remembered, too */
    bool was_refused;     /* it might not be dropped, though it was needed */
};

/* Makes the files of a folder and below it cold. */
void bench_cold_make(struct bench_cold *cold, const char *directory);

/* How, in a sentence; static. */
const char *bench_cold_about(const struct bench_cold *cold);

#endif
