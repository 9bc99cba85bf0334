/*
 * Objects in a directory: NAME is the file PATH/NAME.
 *
 * A put writes a file of another name, syncs it and renames it, so a killed
 * process leaves no part of an object under its name. What it leaves is listed
 * as NAME.part-XXXXXX.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/objects_inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_SIZE ((size_t)1 << 20)

struct file_objects {
    struct objects objects;
    char path[];
};

static enum colander_code
fail(struct colander_error *err, const char *what, const char *path)
{
    return COLANDER_FAIL(err,
                         errno == ENOENT ? COLANDER_NOT_FOUND : COLANDER_IO,
                         "cannot %s '%s': %s", what, path, strerror(errno));
}

/* Returns the path of an object, or of a folder. Free it. */
static char *
path_of(const struct objects *objects, const char *name,
        struct colander_error *err)
{
    const struct file_objects *files = (const struct file_objects *)objects;
    char *path;

    if (asprintf(&path, "%s/%s", files->path, name) >= 0)
        return path;
    (void)COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    return NULL;
}

/* ----------------------------------------------------------------- put --- */

static enum colander_code
sync_directory(const char *path, struct colander_error *err)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum colander_code code = COLANDER_OK;

    if (fd < 0 || fsync(fd) != 0)
        code = fail(err, "sync", path);
    if (fd >= 0)
        (void)close(fd);
    return code;
}

/* Creates the directories above a file. */
static enum colander_code
make_parents(char *path, struct colander_error *err)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        enum colander_code code = COLANDER_OK;
        char *above;

        *slash = '\0';
        if (mkdir(path, 0700) == 0) {
            above = strrchr(path, '/');
            if (above != path) {
                *above = '\0';
                code = sync_directory(path, err);
                *above = '/';
            }
        } else if (errno != EEXIST) {
            code = fail(err, "create", path);
        }
        *slash = '/';
        if (code != COLANDER_OK)
            return code;
    }
    return COLANDER_OK;
}

static enum colander_code
write_body(int fd, const char *path, const struct object_body *body,
           struct colander_error *err)
{
    uint8_t *piece = malloc(PIECE_SIZE);
    enum colander_code code = COLANDER_OK;
    uint64_t done = 0;

    if (piece == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a piece");
    while (done < body->size && code == COLANDER_OK) {
        const size_t size = body->size - done < PIECE_SIZE
                                ? (size_t)(body->size - done)
                                : PIECE_SIZE;
        ssize_t written = 0;

        code = object_body_read(body, done, piece, size, err);
        if (code == COLANDER_OK)
            written = write(fd, piece, size);
        if (written < 0 && errno != EINTR)
            code = fail(err, "write", path);
        done += written > 0 ? (uint64_t)written : 0;
    }
    free(piece);
    if (code == COLANDER_OK && fsync(fd) != 0)
        code = fail(err, "sync", path);
    return code;
}

/* Writes the file under a temporary name, which is a template. */
static enum colander_code
write_file(char *temporary, const char *path, const struct object_body *body,
           struct colander_error *err)
{
    enum colander_code code = make_parents(temporary, err);
    int fd;

    if (code != COLANDER_OK)
        return code;
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return fail(err, "create", temporary);
    code = write_body(fd, temporary, body, err);
    (void)close(fd);
    if (code == COLANDER_OK && rename(temporary, path) != 0)
        code = fail(err, "put in place", path);
    if (code != COLANDER_OK)
        (void)unlink(temporary);
    return code;
}

static enum colander_code
put(struct objects *objects, const char *name, const struct object_body *body,
    struct colander_error *err)
{
    char *path = path_of(objects, name, err);
    char *temporary = NULL;
    enum colander_code code = COLANDER_NO_MEMORY;

    if (path != NULL && asprintf(&temporary, "%s.part-XXXXXX", path) < 0) {
        temporary = NULL;
        (void)COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    }
    if (path != NULL && temporary != NULL)
        code = write_file(temporary, path, body, err);
    if (code == COLANDER_OK) {
        *strrchr(path, '/') = '\0';
        code = sync_directory(path, err);
    }
    if (code == COLANDER_NOT_FOUND) /* callers take that for a missing object */
        code = COLANDER_FAIL(err, COLANDER_IO, "'%s' was removed", path);
    free(temporary);
    free(path);
    return code;
}

/* ----------------------------------------------------------------- get --- */

static enum colander_code
read_piece(int fd, const char *path, uint64_t offset, size_t size,
           struct colander_buffer *bytes, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    ssize_t got = 1;

    while (size > 0 && got != 0 && code == COLANDER_OK) {
        const size_t most = size < PIECE_SIZE ? size : PIECE_SIZE;

        code = colander_buffer_reserve(bytes, most, err);
        if (code != COLANDER_OK)
            break;
        got = pread(fd, bytes->data + bytes->size, most, (off_t)offset);
        if (got < 0 && errno != EINTR)
            code = fail(err, "read", path);
        if (got > 0) {
            bytes->size += (size_t)got;
            offset += (uint64_t)got;
            size -= (size_t)got;
        }
    }
    return code;
}

static enum colander_code
get(struct objects *objects, const char *name, uint64_t offset, size_t size,
    struct colander_buffer *bytes, struct colander_error *err)
{
    char *path = path_of(objects, name, err);
    enum colander_code code;
    int fd;

    if (path == NULL)
        return COLANDER_NO_MEMORY;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    code = fd < 0 ? fail(err, "open", path)
                  : read_piece(fd, path, offset, size, bytes, err);
    if (fd >= 0)
        (void)close(fd);
    free(path);
    return code;
}

/* ----------------------------------------------------- delete and list --- */

static enum colander_code
delete_object(struct objects *objects, const char *name,
              struct colander_error *err)
{
    char *path = path_of(objects, name, err);
    enum colander_code code = COLANDER_OK;

    if (path == NULL)
        return COLANDER_NO_MEMORY;
    if (unlink(path) != 0 && errno != ENOENT)
        code = fail(err, "remove", path);
    free(path);
    return code;
}

static enum colander_code
add_file(DIR *directory, const char *folder, const char *file,
         struct object_list *list, struct colander_error *err)
{
    struct stat status;
    enum colander_code code;
    char *name;

    if (fstatat(dirfd(directory), file, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? COLANDER_OK : fail(err, "look at", file);
    if (!S_ISREG(status.st_mode))
        return COLANDER_OK;
    if (asprintf(&name, "%s/%s", folder, file) < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a name");
    code = object_list_add(list, colander_slice_text(name),
                           (uint64_t)status.st_size, status.st_mtime, err);
    free(name);
    return code;
}

static enum colander_code
list_folder(struct objects *objects, const char *folder,
            struct object_list *list, struct colander_error *err)
{
    char *path = path_of(objects, folder, err);
    enum colander_code code = COLANDER_OK;
    const struct dirent *entry;
    DIR *directory;

    if (path == NULL)
        return COLANDER_NO_MEMORY;
    directory = opendir(path);
    if (directory == NULL && errno != ENOENT)
        code = fail(err, "open", path);
    free(path);
    if (directory == NULL)
        return code;
    errno = 0;
    while (code == COLANDER_OK && (entry = readdir(directory)) != NULL) {
        code = add_file(directory, folder, entry->d_name, list, err);
        errno = 0;
    }
    if (code == COLANDER_OK && errno != 0)
        code = fail(err, "read", folder);
    (void)closedir(directory);
    return code;
}

/* ---------------------------------------------------------------- open --- */

static void
close_files(struct objects *objects)
{
    free(objects);
}

static int
digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes "%20". Returns false if a '%' is not followed by two digits, or they
 * are those of a zero. */
static bool
decode(const char *from, char *to)
{
    while (*from != '\0') {
        if (*from != '%') {
            *to++ = *from++;
            continue;
        }
        if (digit(from[1]) < 0 || digit(from[2]) < 0)
            return false;
        *to = (char)(digit(from[1]) * 16 + digit(from[2]));
        if (*to++ == '\0')
            return false;
        from += 3;
    }
    *to = '\0';
    return true;
}

enum colander_code
objects_open_file(const char *place, struct objects **objects,
                  struct colander_error *err)
{
    static const struct objects_kind kind = {put, get, delete_object,
                                             list_folder, close_files};
    struct file_objects *files;
    size_t size;

    if (place[0] != '/')
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "after file:// there must be a path that begins "
                             "with /");
    files = calloc(1, sizeof(*files) + strlen(place) + 1);
    if (files == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    files->objects.kind = &kind;
    if (!decode(place, files->path)) {
        free(files);
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%%' must be written '%%25'");
    }
    size = strlen(files->path);
    while (size > 1 && files->path[size - 1] == '/')
        files->path[--size] = '\0';
    *objects = &files->objects;
    return COLANDER_OK;
}
