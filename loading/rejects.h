/*
 * Rejects: records that could not be read, kept as they were, in a file.
 *
 * Records of text end with a line end there; those of CSV have the line of
 * names of their file before them. So what was mended there can be loaded.
 *
 * Life:    rejects_open -> header, put, flush -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_REJECTS_H
#define LOADING_REJECTS_H

#include "core/core.h"

#include <stdio.h>

struct rejects {
    const char *path; /* borrowed; NULL: they are not kept */
    FILE *file;
    uint64_t size;                /* of the file */
    struct colander_slice header; /* goes before the next; borrowed */
    struct colander_buffer last_header;
};

/* Opens `path` (NULL: none; then the size stands for a file of earlier). It
 * keeps its first `size` bytes, no more. */
COLANDER_CHECKED enum colander_code rejects_open(struct rejects *rejects,
                                                 const char *path,
                                                 uint64_t size,
                                                 struct colander_error *err);

/* The line of names of the records to come (empty: they have none), which need
 * not be written if it `is_there`. */
COLANDER_CHECKED enum colander_code
rejects_set_header(struct rejects *rejects, struct colander_slice header,
                   bool is_there, struct colander_error *err);

/* Adds a record, or a piece of one, with a line end behind it if `ends_line`.
 */
COLANDER_CHECKED enum colander_code rejects_put(struct rejects *rejects,
                                                struct colander_slice record,
                                                bool ends_line,
                                                struct colander_error *err);

/* Hands what was put to the system. */
COLANDER_CHECKED enum colander_code rejects_flush(struct rejects *rejects,
                                                  struct colander_error *err);

void rejects_close(struct rejects *rejects);

#endif
