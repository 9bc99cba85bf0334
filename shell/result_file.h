/*
 * Result files: the output of a command, to standard output or to a file that
 * gets its name only once it is complete.
 *
 * A file is written under a temporary name in the same directory, and renamed
 * at the end. A file that had the name stays until then, and after a failure.
 * If the program is killed, the temporary file may remain. A pipe or a device
 * is written to directly.
 *
 * Life:   open -> write to `file` -> finish -> release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_RESULT_FILE_H
#define SHELL_RESULT_FILE_H

#include "colander.h"

#include <stdio.h>

struct result_file {
    FILE *file;
    FILE *borrowed;   /* the same, unless it was opened; NULL */
    const char *name; /* as the user wrote it; NULL: standard output */
    char *path;       /* the final one; NULL: none */
    char *temporary;  /* the current one; NULL: none */
    off_t start;      /* bytes in the file before; -1: unknown */
};

/* Opens the file `name`, or, if that is NULL, uses `out`; both are borrowed
 * until release. Release it also on failure. */
COLANDER_CHECKED enum colander_code
result_file_open(struct result_file *result, const char *name, FILE *out,
                 struct colander_error *err);

/* Syncs the file, and gives it its name. Fails with IO, or with CANCELLED if no
 * one reads the pipe. */
COLANDER_CHECKED enum colander_code
result_file_finish(struct result_file *result, struct colander_error *err);

/* Sets *size to the bytes written. Returns false if it is unknown, as of a
 * pipe. */
bool result_file_size(const struct result_file *result, uint64_t *size);

/* Closes the file, and removes it if it was not finished. */
void result_file_release(struct result_file *result);

#endif
