/* See log_files.h. SPDX-License-Identifier: MIT */
#include "loading/log_files.h"
#include "core/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void
clear(struct log_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->files[i].path);
    files->count = 0;
}

/* Adds a regular file. *is_there may be NULL: then one that is missing is
 * added, too. */
static enum colander_code
add(struct log_files *files, char *path, bool is_compressed, bool *is_there,
    struct colander_error *err)
{
    struct log_file file = {.path = path, .is_compressed = is_compressed};
    const bool is_needed = is_there == NULL;
    struct stat status;
    enum colander_code code;

    if (path == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a name");
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
        file.inode = (uint64_t)status.st_ino;
        file.size = (uint64_t)status.st_size;
    }
    if (!is_needed)
        *is_there = file.inode != 0;
    if (file.inode == 0 && !is_needed) {
        free(path);
        return COLANDER_OK;
    }
    code = array_reserve(&files->files, files->count, &files->capacity, 1, err);
    if (code == COLANDER_OK)
        files->files[files->count++] = file;
    else
        free(path);
    return code;
}

static enum colander_code
add_name(struct log_files *files, const char *log, unsigned number,
         const char *ending, bool *is_there, struct colander_error *err)
{
    char *path;

    if (asprintf(&path, "%s.%u%s", log, number, ending) < 0)
        path = NULL;
    return add(files, path, *ending != '\0', is_there, err);
}

/* Takes the file before the last one from the list. */
static void
drop_other(struct log_files *files)
{
    struct log_file *last = &files->files[files->count - 1];

    free(last[-1].path);
    last[-1] = *last;
    files->count--;
}

/* Adds the file with a number, the first of its names that is there: while it
 * is compressed both are. The uncompressed one may have got its name after it
 * was looked for; then the other may be incomplete. */
static enum colander_code
add_number(struct log_files *files, const char *log, unsigned number,
           bool *is_there, struct colander_error *err)
{
    static const char *const compressed[] = {".gz", ".zst"};
    enum colander_code code = add_name(files, log, number, "", is_there, err);

    for (size_t i = 0; i < 2 && code == COLANDER_OK && !*is_there; i++) {
        bool is_both = false;

        code = add_name(files, log, number, compressed[i], is_there, err);
        if (code == COLANDER_OK && *is_there)
            code = add_name(files, log, number, "", &is_both, err);
        if (is_both)
            drop_other(files);
    }
    return code;
}

enum colander_code
log_files_read(struct log_files *files, const char *path,
               struct colander_error *err)
{
    enum colander_code code;
    unsigned missing = 0;
    bool is_there;

    clear(files);
    code = add(files, strdup(path), false, NULL, err);
    if (code == COLANDER_OK)
        code = add_number(files, path, 0, &is_there, err);
    for (unsigned i = 1; missing < 2 && code == COLANDER_OK; i++) {
        code = add_number(files, path, i, &is_there, err);
        missing = is_there ? 0 : missing + 1;
    }
    return code;
}

size_t
log_files_find(const struct log_files *files, uint64_t inode)
{
    size_t index = 0;

    while (index < files->count && files->files[index].inode != inode)
        index++;
    return index;
}

bool
log_files_equal(const struct log_files *files, const struct log_files *later)
{
    bool is_equal = files->count == later->count;

    for (size_t i = 0; i < files->count && is_equal; i++)
        is_equal = files->files[i].inode == later->files[i].inode &&
                   files->files[i].size <= later->files[i].size;
    return is_equal;
}

void
log_files_release(struct log_files *files)
{
    clear(files);
    free(files->files);
    memset(files, 0, sizeof(*files));
}
