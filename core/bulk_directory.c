/*
 * The directories of bulks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bulk_directory.h"

#include "core/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum colander_code
bulk_directory_make(const char *store, char **path, struct colander_error *err)
{
    int number;

    if (asprintf(path, "%s/" BULK_DIRECTORY_PREFIX "XXXXXX", store) < 0) {
        *path = NULL;
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for the name of a directory");
    }
    if (mkdtemp(*path) != NULL) /* 0700 */
        return COLANDER_OK;
    number = errno;
    free(*path);
    *path = NULL;
    return COLANDER_FAIL(err, COLANDER_IO,
                         "cannot make a directory in '%s': %s", store,
                         strerror(number));
}

void
bulk_directory_remove(const char *path)
{
    files_remove(AT_FDCWD, path);
}

static enum colander_code
remove_bulk(void *context, int directory, const char *name,
            struct colander_error *err)
{
    (void)context;
    (void)err;
    if (strncmp(name, BULK_DIRECTORY_PREFIX,
                sizeof(BULK_DIRECTORY_PREFIX) - 1) == 0)
        files_remove(directory, name);
    return COLANDER_OK;
}

void
bulk_directory_remove_all(const char *store)
{
    (void)files_visit(AT_FDCWD, store, remove_bulk, NULL, NULL);
}
