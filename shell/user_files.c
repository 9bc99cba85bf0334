/*
 * User files: see user_files.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/user_files.h"

#include <stdio.h>
#include <stdlib.h>

char *
user_file_path(const char *variable, const char *fallback, const char *name)
{
    const char *place = getenv(variable);
    const char *home = getenv("HOME");
    char *path = NULL;
    int size = -1;

    /* the XDG rules: a path that is not absolute counts as none */
    if (place != NULL && place[0] == '/')
        size = asprintf(&path, "%s/colander/%s", place, name);
    else if (home != NULL && home[0] == '/')
        size = asprintf(&path, "%s/%s/colander/%s", home, fallback, name);
    return size < 0 ? NULL : path;
}
