/*
 * Files, copied, compared and removed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE ((size_t)1 << 18)
#define SYSTEM_PIECE ((size_t)1 << 30)
#define END_SIZE 4096

enum colander_code
files_fail(struct colander_error *err, const char *what, const char *name)
{
    const int number = errno;

    return COLANDER_FAIL(err,
                         number == ENOMEM ? COLANDER_NO_MEMORY : COLANDER_IO,
                         "cannot %s '%s': %s", what, name, strerror(number));
}

/* ------------------------------------------------------------- copying --- */

static bool
write_all(int fd, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t put = write(fd, bytes, size);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        bytes += put;
        size -= (size_t)put;
    }
    return true;
}

/* Copies up to `size` bytes through memory; 0: `from` is at its end. */
static ssize_t
copy_piece(int from, int to, uint8_t *piece, size_t size)
{
    ssize_t got;

    do
        got = read(from, piece, size);
    while (got < 0 && errno == EINTR);
    return got <= 0 || write_all(to, piece, (size_t)got) ? got : -1;
}

/* Copies from where both stand. *left is what `from` did not have. First by the
 * system, which may share the blocks, as far as it does; then by ourselves, who
 * see an error, or the end. */
static bool
copy_bytes(int from, int to, uint64_t *left)
{
    uint8_t *piece = malloc(PIECE);
    ssize_t got;

    if (piece == NULL)
        return false;
    do {
        got = copy_file_range(from, NULL, to, NULL,
                              *left < SYSTEM_PIECE ? *left : SYSTEM_PIECE, 0);
        *left -= got > 0 ? (uint64_t)got : 0;
    } while (got > 0);
    do {
        got = copy_piece(from, to, piece, *left < PIECE ? *left : PIECE);
        *left -= got > 0 ? (uint64_t)got : 0;
    } while (got > 0);
    free(piece);
    return got == 0;
}

static enum colander_code
copy_open(int from, int to, const char *name, uint64_t size,
          struct colander_error *err)
{
    uint64_t left = size;

    if (!copy_bytes(from, to, &left))
        return files_fail(err, "copy", name);
    if (left > 0 && size != FILES_WHOLE)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "'%s' has lost its end: %llu bytes", name,
                             (unsigned long long)left);
    if (fsync(to) != 0)
        return files_fail(err, "sync", name);
    return COLANDER_OK;
}

/* Makes a file that is not there yet. */
static int
make_file(int directory, const char *name)
{
    return openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                  0600);
}

/* Closes a file that was made; one that failed is removed. */
static enum colander_code
end_file(int fd, int directory, const char *name, enum colander_code code,
         struct colander_error *err)
{
    if (close(fd) != 0 && code == COLANDER_OK)
        code = files_fail(err, "close", name);
    if (code != COLANDER_OK)
        (void)unlinkat(directory, name, 0);
    return code;
}

/* A pipe of that name would be waited for, and a device has no end. */
static bool
is_regular(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

enum colander_code
files_copy(int from_directory, const char *from, int to_directory,
           const char *to, uint64_t size, struct colander_error *err)
{
    const int from_fd =
        openat(from_directory, from, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    enum colander_code code;
    int to_fd;

    if (from_fd < 0 && errno == ENOENT)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND, "there is no '%s'", from);
    if (from_fd < 0)
        return files_fail(err, "open", from);
    if (!is_regular(from_fd)) {
        (void)close(from_fd);
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "'%s' is no file", from);
    }
    to_fd = make_file(to_directory, to);
    if (to_fd < 0) {
        code = files_fail(err, "make", to);
    } else {
        code = copy_open(from_fd, to_fd, from, size, err);
        code = end_file(to_fd, to_directory, to, code, err);
    }
    (void)close(from_fd);
    return code;
}

enum colander_code
files_write(int directory, const char *name, struct colander_slice bytes,
            struct colander_error *err)
{
    const int fd = make_file(directory, name);
    enum colander_code code = COLANDER_OK;

    if (fd < 0)
        return files_fail(err, "make", name);
    if (!write_all(fd, bytes.data, bytes.size) || fsync(fd) != 0)
        code = files_fail(err, "write", name);
    return end_file(fd, directory, name, code, err);
}

/* ----------------------------------------------------------- comparing --- */

uint64_t
files_size(int directory, const char *name)
{
    struct stat status;

    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode))
        return 0;
    return (uint64_t)status.st_size;
}

/* The last bytes of a file of that size; how many they are, 0: not to be read.
 */
static size_t
read_end(int directory, const char *name, uint64_t size, uint8_t end[END_SIZE])
{
    const size_t want = size < END_SIZE ? (size_t)size : END_SIZE;
    const int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
    ssize_t got;

    if (fd < 0)
        return 0;
    got = pread(fd, end, want, (off_t)(size - want));
    (void)close(fd);
    return got == (ssize_t)want ? want : 0;
}

bool
files_end_alike(int one_directory, const char *one, int other_directory,
                const char *other)
{
    const uint64_t size = files_size(one_directory, one);
    uint8_t ends[2][END_SIZE];
    size_t end_size;

    if (size == 0 || size != files_size(other_directory, other))
        return false;
    end_size = read_end(one_directory, one, size, ends[0]);
    return end_size > 0 &&
           read_end(other_directory, other, size, ends[1]) == end_size &&
           memcmp(ends[0], ends[1], end_size) == 0;
}

/* --------------------------------------------------------- directories --- */

enum colander_code
files_sync_names(int directory, const char *name, struct colander_error *err)
{
    const int fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum colander_code code = COLANDER_OK;

    if (fd < 0)
        return files_fail(err, "open", name);
    if (fsync(fd) != 0)
        code = files_fail(err, "sync", name);
    (void)close(fd);
    return code;
}

enum colander_code
files_visit(int directory, const char *name,
            enum colander_code (*visit)(void *context, int directory,
                                        const char *name,
                                        struct colander_error *err),
            void *context, struct colander_error *err)
{
    const int fd = openat(directory, name,
                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *listing = fd < 0 ? NULL : fdopendir(fd);
    enum colander_code code = COLANDER_OK;
    struct dirent *entry;

    if (listing == NULL) {
        code = files_fail(err, "list", name);
        if (fd >= 0)
            (void)close(fd);
        return code;
    }
    while (code == COLANDER_OK) {
        errno = 0;
        entry = readdir(listing);
        if (entry == NULL && errno != 0)
            code = files_fail(err, "list", name);
        if (entry == NULL)
            break;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            code = visit(context, fd, entry->d_name, err);
    }
    (void)closedir(listing);
    return code;
}

bool
files_is_directory(int directory, const char *name)
{
    struct stat status;

    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(status.st_mode);
}

/* The device and number of a directory; zeros: it has none. */
static struct stat
identity_of(int fd)
{
    struct stat status;

    if (fstat(fd, &status) != 0)
        memset(&status, 0, sizeof(status));
    return status;
}

bool
files_is_inside(const char *path, int directory)
{
    const struct stat outer = identity_of(directory);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *copy = fd < 0 ? strdup(path) : NULL;
    bool is_in = false;

    if (copy != NULL)
        fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    while (fd >= 0 && !is_in) {
        const struct stat below = identity_of(fd);
        const int up = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        const struct stat above = identity_of(up);

        is_in = below.st_dev == outer.st_dev && below.st_ino == outer.st_ino;
        (void)close(fd);
        fd = up;
        if (below.st_dev == above.st_dev && below.st_ino == above.st_ino)
            break; /* the root */
    }
    if (fd >= 0)
        (void)close(fd);
    return is_in;
}

static enum colander_code
sync_directory(void *context, int directory, const char *name,
               struct colander_error *err)
{
    (void)context;
    return files_is_directory(directory, name)
               ? files_sync_names(directory, name, err)
               : COLANDER_OK;
}

enum colander_code
files_sync_tree(int directory, struct colander_error *err)
{
    enum colander_code code =
        files_visit(directory, ".", sync_directory, NULL, err);

    return code == COLANDER_OK ? files_sync_names(directory, ".", err) : code;
}

/* How deep it goes is bounded by whoever made it: `levels` is for bugs. */
static enum colander_code
remove_one(void *context, int directory, const char *name,
           struct colander_error *err)
{
    unsigned levels = *(const unsigned *)context;

    if (unlinkat(directory, name, 0) == 0 || levels == 0)
        return COLANDER_OK;
    levels--;
    (void)files_visit(directory, name, remove_one, &levels, err);
    (void)unlinkat(directory, name, AT_REMOVEDIR);
    return COLANDER_OK;
}

void
files_remove(int directory, const char *name)
{
    unsigned levels = 4;

    (void)remove_one(&levels, directory, name, NULL);
}
