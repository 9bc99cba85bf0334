/*
 * Writer: what is made of the records of a file, written into the family, with
 * the place that it leads to.
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
#include "loading/loading.h"
#include "loading/place.h"
#include "loading/source.h"

struct writer;

/* All are borrowed until destroy; `rejects_size` is what the file of rejects
 * has of before. */
COLANDER_CHECKED enum colander_code
writer_create(struct colander_store *store, struct colander_family *family,
              const struct loading_options *options, uint64_t rejects_size,
              struct loading_figures *figures, struct writer **writer,
              struct colander_error *err);

/* NULL is allowed. */
void writer_destroy(struct writer *writer);

/* The chunks to come are of this file, which is loaded from `place` on (NULL:
 * its beginning). */
COLANDER_CHECKED enum colander_code
writer_begin_file(struct writer *writer, const struct source *source,
                  struct colander_slice mark_name, const struct place *place,
                  struct colander_error *err);

/* Writes the rows of a chunk, its rejects, and the place behind it. LIMIT when
 * more records were rejected than are allowed. */
COLANDER_CHECKED enum colander_code writer_chunk(struct writer *writer,
                                                 struct chunk *chunk,
                                                 struct colander_error *err);

/* Of a bulk load: makes all rows appear. */
COLANDER_CHECKED enum colander_code writer_finish(struct writer *writer,
                                                  struct colander_error *err);

#endif
