/*
 * The directories of bulks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bulk_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Removes the files in the directory `name` of `parent`, and then it. */
static void
remove_at(int parent, const char *name)
{
    int fd =
        openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *listing = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;

    if (listing == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return;
    }
    while ((entry = readdir(listing)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)unlinkat(fd, entry->d_name, 0);
    }
    (void)closedir(listing);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

void
bulk_directory_remove(const char *path)
{
    remove_at(AT_FDCWD, path);
}

void
bulk_directory_remove_all(const char *store)
{
    const size_t prefix_size = sizeof(BULK_DIRECTORY_PREFIX) - 1;
    DIR *listing = opendir(store);
    struct dirent *entry;

    if (listing == NULL)
        return;
    while ((entry = readdir(listing)) != NULL) {
        if (strncmp(entry->d_name, BULK_DIRECTORY_PREFIX, prefix_size) == 0)
            remove_at(dirfd(listing), entry->d_name);
    }
    (void)closedir(listing);
}
