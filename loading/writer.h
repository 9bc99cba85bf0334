/*
 * Writer: writes the rows of a file into the family, with resume points.
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
#include "loading/load.h"
#include "loading/resume_point.h"
#include "loading/source.h"

struct writer;

/* All are borrowed until destroy. `rejects_size` is how much of the file of
 * rejects an earlier load wrote. */
COLANDER_CHECKED enum colander_code
writer_create(struct colander_store *store, struct colander_family *family,
              const struct colander_load_options *options,
              uint64_t rejects_size, struct colander_load_stats *stats,
              struct writer **writer, struct colander_error *err);

/* NULL is allowed. */
void writer_destroy(struct writer *writer);

/* Begins a file, from the resume point on (NULL: its beginning). */
COLANDER_CHECKED enum colander_code
writer_begin_file(struct writer *writer, const struct source *source,
                  struct colander_slice mark_name,
                  const struct resume_point *point, struct colander_error *err);

/* Writes the rows of a chunk, its rejects, and the resume point after it. Fails
 * with LIMIT if more records were rejected than allowed. */
COLANDER_CHECKED enum colander_code writer_chunk(struct writer *writer,
                                                 struct chunk *chunk,
                                                 struct colander_error *err);

/* Makes the rows of a bulk visible. */
COLANDER_CHECKED enum colander_code
writer_finish(struct writer *writer, const atomic_bool *is_cancelled,
              struct colander_error *err);

#endif
