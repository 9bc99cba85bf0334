/*
 * The directory of a store, and who holds it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/directory.h"

#include "core/ledger.h"
#include "core/options.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define RECORD_NEW DIRECTORY_RECORD ".new"

static enum colander_code
fail_errno(struct colander_error *err, const char *what, const char *name)
{
    int number = errno;

    return COLANDER_FAIL(err,
                         number == ENOMEM ? COLANDER_NO_MEMORY : COLANDER_IO,
                         "cannot %s '%s': %s", what, name, strerror(number));
}

/* ------------------------------------------------------------- holders --- */

/* The process that holds a lock on the file, as /proc/locks tells; 0: unknown.
 * A line reads "1: FLOCK  ADVISORY  WRITE 1234 fe:00:10954891 0 EOF". */
static long
find_holder(int fd)
{
    struct stat status;
    FILE *locks;
    char line[256];
    long holder = 0;
    long likely = 0; /* same inode, on a device of another name */

    if (fstat(fd, &status) != 0)
        return 0;
    locks = fopen("/proc/locks", "re");
    if (locks == NULL)
        return 0;
    while (holder == 0 && fgets(line, sizeof(line), locks) != NULL) {
        unsigned device[2];
        uintmax_t inode;
        long pid;

        if (sscanf(line, "%*s FLOCK %*s %*s %ld %x:%x:%" SCNuMAX, &pid,
                   &device[0], &device[1], &inode) != 4 ||
            inode != (uintmax_t)status.st_ino || pid <= 0)
            continue;
        likely = pid;
        if (makedev(device[0], device[1]) == status.st_dev)
            holder = pid;
    }
    (void)fclose(locks);
    return holder != 0 ? holder : likely;
}

/* What the last writer left in the lock file; 0: nothing of use. */
static long
read_pid(int fd)
{
    char text[32] = "";

    if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
        return 0;
    return strtol(text, NULL, 10);
}

static enum colander_code
fail_busy(int fd, struct colander_error *err)
{
    char path[64];
    char command[64] = "";
    long holder = find_holder(fd);
    FILE *file;

    if (holder == 0)
        holder = read_pid(fd);
    if (holder <= 0)
        return COLANDER_FAIL(err, COLANDER_BUSY,
                             "the store is held by another process");
    if (holder == (long)getpid())
        return COLANDER_FAIL(err, COLANDER_BUSY,
                             "the store is open in this process already");
    (void)snprintf(path, sizeof(path), "/proc/%ld/comm", holder);
    file = fopen(path, "re");
    if (file != NULL) {
        if (fgets(command, sizeof(command), file) == NULL)
            command[0] = '\0';
        command[strcspn(command, "\n")] = '\0';
        (void)fclose(file);
    }
    return COLANDER_FAIL(
        err, COLANDER_BUSY, "the store is held by process %ld%s%s%s", holder,
        command[0] == '\0' ? "" : " (", command, command[0] == '\0' ? "" : ")");
}

/* ---------------------------------------------------------------- open --- */

/* Whether the directory has nothing, or only what a creation that did not
 * finish leaves. */
static enum colander_code
is_vacant(int directory_fd, bool *vacant, struct colander_error *err)
{
    int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    enum colander_code code = COLANDER_OK;
    struct dirent *entry;

    if (stream == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return fail_errno(err, "list", "the directory");
    }
    *vacant = true;
    errno = 0; /* readdir leaves it when it is through */
    while (*vacant && (entry = readdir(stream)) != NULL) {
        const char *name = entry->d_name;

        *vacant = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
                  strcmp(name, DIRECTORY_LOCK) == 0 ||
                  strcmp(name, DIRECTORY_ENGINE) == 0 ||
                  strcmp(name, LEDGER_FILE) == 0 ||
                  strcmp(name, RECORD_NEW) == 0;
    }
    if (*vacant && errno != 0)
        code = fail_errno(err, "list", "the directory");
    (void)closedir(stream);
    return code;
}

/* Makes the directory, and its entry in the parent durable. */
static enum colander_code
make_directory(const char *path, struct colander_error *err)
{
    char parent[PATH_MAX];
    int fd;

    if (strlen(path) >= sizeof(parent)) {
        errno = ENAMETOOLONG;
        return fail_errno(err, "make", path);
    }
    if (mkdir(path, 0700) != 0) {
        if (errno == EEXIST)
            return COLANDER_OK;
        return fail_errno(err, "make", path);
    }
    memcpy(parent, path, strlen(path) + 1);
    fd = open(dirname(parent), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return COLANDER_OK; /* not ours to read; the entry is there */
    (void)fsync(fd);
    (void)close(fd);
    return COLANDER_OK;
}

static enum colander_code
open_directory(struct directory *directory, const char *path,
               enum colander_open_mode mode, struct colander_error *err)
{
    bool may_create =
        mode == COLANDER_OPEN_OR_CREATE || mode == COLANDER_OPEN_NEW;
    enum colander_code code;

    directory->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory->fd < 0 && errno == ENOENT && may_create) {
        code = make_directory(path, err);
        if (code != COLANDER_OK)
            return code;
        directory->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    if (directory->fd >= 0)
        return COLANDER_OK;
    if (errno == ENOENT)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND, "there is no such store");
    if (errno == ENOTDIR)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "it is not a store: not a directory");
    return fail_errno(err, "open", path);
}

/* Takes the lock, and for a writer leaves the pid. */
static enum colander_code
lock_directory(struct directory *directory, bool is_writer,
               struct colander_error *err)
{
    int flags = is_writer ? O_RDWR | O_CREAT : O_RDONLY;
    char pid[32];

    directory->lock_fd =
        openat(directory->fd, DIRECTORY_LOCK, flags | O_CLOEXEC, 0600);
    if (directory->lock_fd < 0 && errno == ENOENT && !is_writer)
        return COLANDER_OK;
    if (directory->lock_fd < 0)
        return fail_errno(err, "open", DIRECTORY_LOCK);
    if (flock(directory->lock_fd, (is_writer ? LOCK_EX : LOCK_SH) | LOCK_NB) !=
        0) {
        if (errno == EWOULDBLOCK)
            return fail_busy(directory->lock_fd, err);
        return fail_errno(err, "lock", DIRECTORY_LOCK);
    }
    if (is_writer) {
        (void)snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
        /* Only a hint where /proc/locks does not tell. */
        if (ftruncate(directory->lock_fd, 0) == 0 &&
            pwrite(directory->lock_fd, pid, strlen(pid), 0) < 0)
            (void)ftruncate(directory->lock_fd, 0);
    }
    return COLANDER_OK;
}

/* Says what stands there, before anything is written. */
static enum colander_code
look_at_directory(struct directory *directory, enum colander_open_mode mode,
                  struct colander_error *err)
{
    enum colander_code code;
    bool vacant = false;

    if (faccessat(directory->fd, DIRECTORY_RECORD, F_OK, 0) == 0) {
        directory->is_store = true;
        if (mode == COLANDER_OPEN_NEW)
            return COLANDER_FAIL(err, COLANDER_EXISTS,
                                 "there is a store already");
        return COLANDER_OK;
    }
    if (errno != ENOENT)
        return fail_errno(err, "look for", DIRECTORY_RECORD);
    code = is_vacant(directory->fd, &vacant, err);
    if (code != COLANDER_OK)
        return code;
    if (!vacant)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "it is not a store: it has files, but no '%s'",
                             DIRECTORY_RECORD);
    if (mode == COLANDER_OPEN_EXISTING || mode == COLANDER_OPEN_READ_ONLY)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                             "the directory holds no store");
    return COLANDER_OK;
}

/* A store's file as standard output would be written over by the next printf:
 * where one of the three is closed, /dev/null takes its place. */
static enum colander_code
occupy_standard_descriptors(struct colander_error *err)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
        if (fd < 0)
            return fail_errno(err, "open", "/dev/null");
    } while (fd <= STDERR_FILENO);
    (void)close(fd);
    return COLANDER_OK;
}

enum colander_code
directory_open(struct directory *directory, const char *path,
               enum colander_open_mode mode, struct colander_error *err)
{
    const struct directory closed = DIRECTORY_CLOSED;
    enum colander_code code;

    *directory = closed;
    code = occupy_standard_descriptors(err);
    if (code == COLANDER_OK)
        code = open_directory(directory, path, mode, err);
    /* Look first: a lock file is not for a directory of somebody else. */
    if (code == COLANDER_OK)
        code = look_at_directory(directory, mode, err);
    if (code == COLANDER_OK)
        code = lock_directory(directory, mode != COLANDER_OPEN_READ_ONLY, err);
    /* And again: another process may just have made the store. */
    if (code == COLANDER_OK)
        code = look_at_directory(directory, mode, err);
    if (code == COLANDER_OK && !directory->is_store &&
        fchmod(directory->fd, 0700) != 0)
        code = fail_errno(err, "make private", path);
    if (code != COLANDER_OK)
        directory_close(directory);
    return code;
}

enum colander_code
directory_open_damaged(struct directory *directory, const char *path,
                       bool is_writer, struct colander_error *err)
{
    const struct directory closed = DIRECTORY_CLOSED;
    enum colander_code code;

    *directory = closed;
    code = occupy_standard_descriptors(err);
    if (code == COLANDER_OK)
        code = open_directory(directory, path, COLANDER_OPEN_EXISTING, err);
    if (code == COLANDER_OK &&
        faccessat(directory->fd, DIRECTORY_ENGINE, F_OK, 0) != 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "it is not a store: it has no '" DIRECTORY_ENGINE
                             "', where rows would be");
    /* Other programs, too, may keep something that they call rocksdb. */
    if (code == COLANDER_OK && is_writer &&
        faccessat(directory->fd, DIRECTORY_RECORD, F_OK, 0) != 0 &&
        faccessat(directory->fd, LEDGER_FILE, F_OK, 0) != 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "it is not a store: it has neither "
                             "'" DIRECTORY_RECORD "' nor '" LEDGER_FILE "'");
    if (code == COLANDER_OK)
        code = lock_directory(directory, is_writer, err);
    if (code == COLANDER_OK)
        directory->is_store =
            faccessat(directory->fd, DIRECTORY_RECORD, F_OK, 0) == 0;
    if (code == COLANDER_OK && !directory->is_store &&
        faccessat(directory->fd, DIRECTORY_RESTORING, F_OK, 0) == 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "a backup was being restored there, and that did "
                             "not come to its end: restore it again");
    if (code != COLANDER_OK)
        directory_close(directory);
    return code;
}

/* -------------------------------------------------------------- record --- */

enum colander_code
directory_read_record(const struct directory *directory,
                      struct colander_buffer *record,
                      struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    ssize_t got = 1;
    int fd;

    colander_buffer_clear(record);
    /* without waiting for who writes into it, should it be a pipe */
    fd = openat(directory->fd, DIRECTORY_RECORD,
                O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_errno(err, "open", DIRECTORY_RECORD);
    while (code == COLANDER_OK && got > 0 &&
           record->size <= OPTIONS_RECORD_SIZE_MAX) {
        code = colander_buffer_reserve(record, 4096, err);
        if (code != COLANDER_OK)
            break;
        got = read(fd, record->data + record->size, 4096);
        if (got < 0)
            code = fail_errno(err, "read", DIRECTORY_RECORD);
        else
            record->size += (size_t)got;
    }
    (void)close(fd);
    return code;
}

static enum colander_code
write_and_sync(int fd, struct colander_slice bytes, struct colander_error *err)
{
    size_t written = 0;

    while (written < bytes.size) {
        ssize_t put = write(fd, bytes.data + written, bytes.size - written);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return fail_errno(err, "write", RECORD_NEW);
        written += (size_t)put;
    }
    if (fsync(fd) != 0)
        return fail_errno(err, "sync", RECORD_NEW);
    return COLANDER_OK;
}

enum colander_code
directory_write_record(struct directory *directory,
                       struct colander_slice record, struct colander_error *err)
{
    enum colander_code code;
    int fd = openat(directory->fd, RECORD_NEW,
                    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0)
        return fail_errno(err, "make", RECORD_NEW);
    code = write_and_sync(fd, record, err);
    if (close(fd) != 0 && code == COLANDER_OK)
        code = fail_errno(err, "close", RECORD_NEW);
    if (code == COLANDER_OK && renameat(directory->fd, RECORD_NEW,
                                        directory->fd, DIRECTORY_RECORD) != 0)
        code = fail_errno(err, "put in place", DIRECTORY_RECORD);
    if (code != COLANDER_OK) {
        (void)unlinkat(directory->fd, RECORD_NEW, 0);
        return code;
    }
    if (fsync(directory->fd) != 0)
        return fail_errno(err, "sync", "the directory");
    directory->is_store = true;
    return COLANDER_OK;
}

void
directory_close(struct directory *directory)
{
    const struct directory closed = DIRECTORY_CLOSED;

    if (directory->lock_fd >= 0)
        (void)close(directory->lock_fd);
    if (directory->fd >= 0)
        (void)close(directory->fd);
    *directory = closed;
}
