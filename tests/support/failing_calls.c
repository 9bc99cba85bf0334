/*
 * System calls that fail: see failing_calls.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/failing_calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

atomic_long calls_left = -1;
atomic_bool call_failed;

bool
call_fails(void)
{
    if (atomic_load(&calls_left) < 0 || atomic_fetch_sub(&calls_left, 1) != 0)
        return false;
    atomic_store(&call_failed, true);
    errno = EIO;
    return true;
}

/* A call that returns `failure` when it fails. */
#define WRAP(type, name, failure, parameters, arguments)                       \
    type __real_##name parameters;                                             \
    type __wrap_##name parameters;                                             \
    type __wrap_##name parameters                                              \
    {                                                                          \
        return call_fails() ? (failure) : __real_##name arguments;             \
    }

/* The compiler passes an omitted mode like one that is given. */
WRAP(int, open, -1, (const char *path, int flags, mode_t mode),
     (path, flags, mode))
WRAP(int, openat, -1, (int fd, const char *path, int flags, mode_t mode),
     (fd, path, flags, mode))
WRAP(ssize_t, read, -1, (int fd, void *data, size_t size), (fd, data, size))
WRAP(ssize_t, pread, -1, (int fd, void *data, size_t size, off_t at),
     (fd, data, size, at))
WRAP(ssize_t, write, -1, (int fd, const void *data, size_t size),
     (fd, data, size))
WRAP(ssize_t, pwrite, -1, (int fd, const void *data, size_t size, off_t at),
     (fd, data, size, at))
WRAP(int, fsync, -1, (int fd), (fd))
WRAP(int, fdatasync, -1, (int fd), (fd))
WRAP(int, ftruncate, -1, (int fd, off_t size), (fd, size))
WRAP(int, posix_fallocate, EIO, (int fd, off_t at, off_t size), (fd, at, size))
WRAP(int, fstat, -1, (int fd, struct stat *status), (fd, status))
WRAP(int, fchmod, -1, (int fd, mode_t mode), (fd, mode))
WRAP(int, flock, -1, (int fd, int how), (fd, how))
WRAP(int, mkdir, -1, (const char *path, mode_t mode), (path, mode))
WRAP(int, rename, -1, (const char *from, const char *to), (from, to))
WRAP(int, renameat, -1,
     (int from_fd, const char *from, int to_fd, const char *to),
     (from_fd, from, to_fd, to))
WRAP(ssize_t, getrandom, -1, (void *data, size_t size, unsigned flags),
     (data, size, flags))
WRAP(DIR *, opendir, NULL, (const char *path), (path))
WRAP(DIR *, fdopendir, NULL, (int fd), (fd))
