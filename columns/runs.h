/*
 * Runs: parts of a large load, for the layers above only: exported, but not
 * installed.
 *
 * A run is a bulk (columns/bulk.h) into a family that may have rows, which
 * those of the run replace. It can also set marks of the family. At commit all
 * of it becomes visible together, and is on disk. So is then what was written
 * to the family before. A crash leaves all of a run or nothing.
 *
 * Runs cost less than batches if they are large: each leaves SST files that
 * have to be compacted with those below them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_RUNS_H
#define COLANDER_COLUMNS_RUNS_H

#include "columns/columns.h"

/* Begins a run, to which bulk_add, progress, cancel, commit and destroy apply.
 * The family is created if it does not exist. The row_count of commit is the
 * number of different keys in the run. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_run_create(struct colander_family *family, struct colander_bulk **run,
                    struct colander_error *err);

/* Sets a mark at commit, as colander_batch_mark does. Of two with one name the
 * later one counts. */
COLANDER_API COLANDER_CHECKED enum colander_code
colander_run_mark(struct colander_bulk *run, struct colander_slice name,
                  struct colander_slice value, struct colander_error *err);

/* Returns whether the next run should wait until compactions have reduced the
 * number of files, as puts do. */
COLANDER_API bool colander_run_must_wait(struct colander_family *family);

#endif
