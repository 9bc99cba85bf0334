/* SPDX-License-Identifier: MIT */
#include "core/files.h"

#include "core/array.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
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

/* ------------------------------------------------------------- opening --- */

static enum colander_code
check_regular(int fd, const char *name, struct colander_error *err)
{
    struct stat status;

    if (fd >= 0 && fstat(fd, &status) != 0)
        return files_fail(err, "open", name);
    if (fd >= 0 && S_ISREG(status.st_mode))
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_CORRUPT, "'%s' is not a regular file",
                         name);
}

enum colander_code
files_open(int directory, const char *name, int flags, int *fd,
           struct colander_error *err)
{
    enum colander_code code;

    *fd = openat(directory, name, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                 0600);
    if (*fd < 0 && errno == ENOENT)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND, "there is no '%s'", name);
    if (*fd < 0 && errno != EISDIR && errno != ENXIO) /* a socket or pipe */
        return files_fail(err, "open", name);
    code = check_regular(*fd, name, err);
    if (code != COLANDER_OK && *fd >= 0) {
        (void)close(*fd);
        *fd = -1;
    }
    return code;
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

/* Copies up to `size` bytes through memory. Returns 0 at the end of `from`. */
static ssize_t
copy_piece(int from, int to, uint8_t *piece, size_t size)
{
    ssize_t got;

    do
        got = read(from, piece, size);
    while (got < 0 && errno == EINTR);
    return got <= 0 || write_all(to, piece, (size_t)got) ? got : -1;
}

/* Copies from the present offsets. *left is what `from` did not have. The
 * system copies first, and may share the blocks; the loop after it sees the end
 * or an error. */
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
                             "'%s' has lost its end: %" PRIu64 " bytes", name,
                             left);
    if (fsync(to) != 0)
        return files_fail(err, "sync", name);
    return COLANDER_OK;
}

/* Creates a file, which must not exist. */
static int
make_file(int directory, const char *name)
{
    return openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                  0600);
}

/* Closes a new file, and removes it if writing it failed. */
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

enum colander_code
files_copy(int from_directory, const char *from, int to_directory,
           const char *to, uint64_t size, struct colander_error *err)
{
    int from_fd;
    int to_fd;
    enum colander_code code =
        files_open(from_directory, from, O_RDONLY, &from_fd, err);

    if (code != COLANDER_OK)
        return code;
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

enum colander_code
files_replace(int directory, const char *name, const char *temporary,
              struct colander_slice bytes, struct colander_error *err)
{
    enum colander_code code;

    (void)unlinkat(directory, temporary, 0);
    code = files_write(directory, temporary, bytes, err);
    if (code != COLANDER_OK)
        return code;
    if (renameat(directory, temporary, directory, name) != 0) {
        code = files_fail(err, "put in place", name);
        (void)unlinkat(directory, temporary, 0);
        return code;
    }
    return files_sync_names(directory, ".", err);
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

/* Reads the last bytes of a file of that size. Returns their number, or 0 if
 * they cannot be read. */
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

enum colander_code
files_cut(int directory, const char *name, uint64_t size,
          struct colander_error *err)
{
    const int fd = openat(directory, name, O_WRONLY | O_CLOEXEC);
    enum colander_code code = COLANDER_OK;

    if (fd < 0 || ftruncate(fd, (off_t)size) != 0 || fsync(fd) != 0)
        code = files_fail(err, "cut", name);
    if (fd >= 0)
        (void)close(fd);
    return code;
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

struct numbered_name
files_name(const char *prefix, uint64_t number, const char *suffix)
{
    struct numbered_name name;

    (void)snprintf(name.text, sizeof(name.text), "%s%06" PRIu64 "%s", prefix,
                   number, suffix);
    return name;
}

/* RocksDB has 62 bits for a number, and gives the next files higher ones. */
#define NUMBER_MAX (UINT64_C(1) << 60)

uint64_t
files_number(const char *name, const char *prefix, const char *suffix)
{
    const size_t prefix_size = strlen(prefix);
    uint64_t number;

    if (strncmp(name, prefix, prefix_size) != 0)
        return 0;
    number = strtoull(name + prefix_size, NULL, 10);
    return number <= NUMBER_MAX &&
                   strcmp(files_name(prefix, number, suffix).text, name) == 0
               ? number
               : 0;
}

struct listing {
    const char *prefix;
    const char *suffix;
    struct files_numbers *numbers;
};

static enum colander_code
add_number(void *context, int directory, const char *name,
           struct colander_error *err)
{
    const struct listing *listing = context;
    struct files_numbers *numbers = listing->numbers;
    const uint64_t number =
        files_number(name, listing->prefix, listing->suffix);
    enum colander_code code = COLANDER_OK;

    (void)directory;
    if (number != 0)
        code = array_reserve(&numbers->list, numbers->count, &numbers->capacity,
                             1, err);
    if (number != 0 && code == COLANDER_OK)
        numbers->list[numbers->count++] = number;
    return code;
}

static int
compare_numbers(const void *a, const void *b)
{
    const uint64_t *one = a;
    const uint64_t *other = b;

    return (*one > *other) - (*one < *other);
}

enum colander_code
files_list_numbers(int directory, const char *prefix, const char *suffix,
                   struct files_numbers *numbers, struct colander_error *err)
{
    struct listing listing = {prefix, suffix, numbers};
    const enum colander_code code =
        files_visit(directory, ".", add_number, &listing, err);

    if (numbers->count > 1)
        qsort(numbers->list, numbers->count, sizeof(*numbers->list),
              compare_numbers);
    return code;
}

bool
files_is_directory(int directory, const char *name)
{
    struct stat status;

    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(status.st_mode);
}

/* Returns the status of a directory, or zeros on failure. */
static struct stat
identity_of(int fd)
{
    struct stat status;

    if (fstat(fd, &status) != 0)
        memset(&status, 0, sizeof(status));
    return status;
}

enum colander_code
files_check_link(const char *path, struct colander_error *err)
{
    char target[PATH_MAX];
    const ssize_t size = readlink(path, target, sizeof(target) - 1);
    struct stat status;

    if (size < 0 || stat(path, &status) == 0 || errno != ENOENT)
        return COLANDER_OK;
    target[size] = '\0';
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "it is a link to '%s', which does not exist", target);
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

void
files_sync_parent(const char *path)
{
    char *copy = strdup(path);
    const int fd =
        copy == NULL ? -1
                     : open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    free(copy);
    if (fd < 0)
        return;
    (void)fsync(fd);
    (void)close(fd);
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

/* Our directories are at most two levels deep: `levels` bounds bugs. */
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
