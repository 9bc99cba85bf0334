/*
 * Result file: where what a command writes goes: standard output, or a file
 * that has its name only once it is whole.
 *
 * A file is written beside its name and renamed at the end. So what had the
 * name stays until then, and after a failure; at worst, of a program that is
 * killed, the file beside it is left. What is there and no ordinary file, such
 * as a pipe or /dev/null, is written into.
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
    const char *name; /* as it was given; NULL: standard output */
    char *path;       /* that it gets; NULL: none */
    char *beside;     /* that it has meanwhile; NULL: none */
    off_t start;      /* bytes that were in the file before; -1: unknown */
};

/* `name` NULL: standard output; borrowed until release. Release it also on
 * failure. */
COLANDER_CHECKED enum colander_code
result_file_open(struct result_file *result, const char *name,
                 struct colander_error *err);

/* All is written: puts it on the disk, under its name. IO when that fails,
 * CANCELLED when nobody reads it any more. */
COLANDER_CHECKED enum colander_code
result_file_finish(struct result_file *result, struct colander_error *err);

/* Bytes written; false where that cannot be told, as of a pipe. */
bool result_file_size(const struct result_file *result, uint64_t *size);

/* Removes what was not finished. */
void result_file_release(struct result_file *result);

#endif
