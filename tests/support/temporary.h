/*
 * A directory for one test, removed with its contents.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_TEMPORARY_H
#define TESTS_SUPPORT_TEMPORARY_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEMPORARY_SIZE 256

static inline int
temporary_unlink(const char *path, const struct stat *status, int kind,
                 struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static inline void
temporary_remove(const char *path)
{
    (void)nftw(path, temporary_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

/* Creates one in $TMPDIR and fills `path`; aborts on failure. */
static inline void
temporary_make(char path[TEMPORARY_SIZE])
{
    const char *parent = getenv("TMPDIR");

    (void)snprintf(path, TEMPORARY_SIZE, "%s/colander-XXXXXX",
                   parent == NULL ? "/tmp" : parent);
    if (mkdtemp(path) == NULL) {
        perror(path);
        abort();
    }
}

#endif
