/*
 * Rejects: a file of records that could not be read, unchanged.
 *
 * Records of text end with a line end. Those of CSV follow the header of
 * their file. So the file can be loaded once it is repaired.
 *
 * Life:    rejects_open -> header, put, flush -> close
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_REJECTS_H
#define LOADING_REJECTS_H

#include "core/core.h"

#include <stdio.h>

struct colander_load_files;

struct rejects {
    const char *path; /* borrowed; NULL: there is no file */
    FILE *file;       /* NULL: it is elsewhere */
    const struct colander_load_files *elsewhere; /* borrowed; may be NULL */
    struct colander_buffer unwritten;            /* for elsewhere */
    uint64_t size;                               /* of the file */
    struct colander_slice header; /* to precede the next record; borrowed */
    struct colander_buffer last_header;
};

/* Opens `path`, one of `elsewhere` unless that is NULL, and cuts it to its
 * first `size` bytes. Without a path only the size is kept. */
COLANDER_CHECKED enum colander_code
rejects_open(struct rejects *rejects, const char *path,
             const struct colander_load_files *elsewhere, uint64_t size,
             struct colander_error *err);

/* Sets the header of the following records (empty: none). It is not
 * written again if it `is_there`. */
COLANDER_CHECKED enum colander_code
rejects_set_header(struct rejects *rejects, struct colander_slice header,
                   bool is_there, struct colander_error *err);

/* Adds a record or a part of one, and a line end if `ends_line`. */
COLANDER_CHECKED enum colander_code rejects_put(struct rejects *rejects,
                                                struct colander_slice record,
                                                bool ends_line,
                                                struct colander_error *err);

/* Passes what was added to the operating system. */
COLANDER_CHECKED enum colander_code rejects_flush(struct rejects *rejects,
                                                  struct colander_error *err);

void rejects_close(struct rejects *rejects);

#endif
