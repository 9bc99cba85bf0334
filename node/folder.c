/* See folder.h. SPDX-License-Identifier: MIT */
#include "node/folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>

static int
remove_one(const char *path, const struct stat *status, int kind,
           struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

enum colander_code
folder_remove(const char *path, struct colander_error *err)
{
    struct stat status;

    if (lstat(path, &status) != 0 && errno == ENOENT)
        return COLANDER_OK;
    if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_IO, "cannot remove '%s': %s", path,
                         strerror(errno));
}

enum colander_code
folder_move(const char *from, const char *to, struct colander_error *err)
{
    enum colander_code code = folder_remove(to, err);

    if (code == COLANDER_OK && rename(from, to) != 0)
        code = COLANDER_FAIL(err, COLANDER_IO, "cannot rename '%s': %s", from,
                             strerror(errno));
    return code;
}
