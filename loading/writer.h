/*
 * Writer: writes the rows of files into the family, with resume points.
 *
 * Rows of a small load, or of a slow pipe, are written in batches, one for each
 * chunk. Those of a large load go in runs (columns/runs.h), each with the
 * resume point after it; those of a bulk in a single one. A run that was begun
 * has the rows of all chunks until it is written, so that later rows replace
 * earlier ones. Rows of a pipe wait a few seconds at most.
 *
 * Life:    writer_create -> for each file: begin_file -> chunk* -> finish ->
 *          destroy
 * Threads: one
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_WRITER_H
#define LOADING_WRITER_H

#include "loading/chunk.h"
#include "loading/load_inside.h"
#include "loading/resume_point.h"
#include "loading/source.h"

struct writer;

/* All are borrowed until destroy. `rejects_size` is how much of the file of
 * rejects an earlier load wrote. Once *is_cancelled is set, a bulk is not
 * written. */
COLANDER_CHECKED enum colander_code
writer_create(struct colander_store *store, struct colander_family *family,
              const struct colander_load_options *options,
              const struct load_limits *limits, uint64_t rejects_size,
              const atomic_bool *is_cancelled,
              struct colander_load_stats *stats, struct writer **writer,
              struct colander_error *err);

/* NULL is allowed. Call finish before, if there was a chunk. */
void writer_destroy(struct writer *writer);

/* Begins a file, from the resume point on (NULL: its beginning). `id` is that
 * of records that go elsewhere, if the load is resumed; else 0. */
COLANDER_CHECKED enum colander_code
writer_begin_file(struct writer *writer, const struct source *source,
                  struct colander_slice mark_name,
                  const struct resume_point *point, uint64_t id,
                  struct colander_error *err);

/* Writes the rows of a chunk, its rejects, and the resume point after it. Fails
 * with LIMIT if more records were rejected than allowed. */
COLANDER_CHECKED enum colander_code writer_chunk(struct writer *writer,
                                                 struct chunk *chunk,
                                                 struct colander_error *err);

/* Writes a run that is due, although there is no chunk now. */
COLANDER_CHECKED enum colander_code writer_pause(struct writer *writer,
                                                 struct colander_error *err);

/* Writes what was read before the load ended, with this code; of a bulk only
 * after success. */
COLANDER_CHECKED enum colander_code writer_finish(struct writer *writer,
                                                  enum colander_code ended,
                                                  struct colander_error *err);

/* Returns how many runs were written. */
uint64_t writer_run_count(const struct writer *writer);

#endif
