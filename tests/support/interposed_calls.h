/*
 * For sources that replace functions of the C library, also for callers in
 * shared libraries: finds the original functions, and the file of a call.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_INTERPOSED_CALLS_H
#define TESTS_SUPPORT_INTERPOSED_CALLS_H

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

/* The same function under another name. */
#define ALIAS_OF(other) PUBLIC __attribute__((alias(other)))

static inline void *
real_function(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);

    if (function == NULL)
        _exit(4);
    return function;
}

/* The function that the source replaces. */
#define REAL(name) ((__typeof__(&(name)))real_function(#name))

/* Fills the path of an open file. Returns false if it has none. */
static inline bool
path_of_descriptor(int fd, char path[PATH_MAX])
{
    char link[64];
    ssize_t size;

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    size = readlink(link, path, PATH_MAX - 1);
    if (size <= 0)
        return false;
    path[size] = '\0';
    return true;
}

/* Fills the absolute path of a name in a directory; false: it is unknown. */
static inline bool
path_of_name(int directory, const char *name, char path[PATH_MAX])
{
    size_t size;

    if (name[0] == '/') {
        (void)snprintf(path, PATH_MAX, "%s", name);
        return true;
    }
    if (directory == AT_FDCWD || !path_of_descriptor(directory, path))
        return false;
    size = strlen(path);
    if (size + strlen(name) + 2 > PATH_MAX)
        return false;
    path[size] = '/';
    memcpy(path + size + 1, name, strlen(name) + 1);
    return true;
}

/* Returns whether a path is the directory, or something in it. */
static inline bool
is_below(const char *path, const char *directory)
{
    const size_t size = strlen(directory);

    return strncmp(path, directory, size) == 0 &&
           (path[size] == '/' || path[size] == '\0');
}

/* Defines open and openat by open_at(directory, name, flags, mode). */
#define INTERPOSE_OPEN(open_at)                                                \
    PUBLIC int open(const char *name, int flags, ...)                          \
    {                                                                          \
        OPEN_WITH_MODE(open_at, AT_FDCWD);                                     \
    }                                                                          \
                                                                               \
    PUBLIC int openat(int directory, const char *name, int flags, ...)         \
    {                                                                          \
        OPEN_WITH_MODE(open_at, directory);                                    \
    }                                                                          \
    extern ALIAS_OF("open") __typeof__(open) open64;                           \
    extern ALIAS_OF("openat") __typeof__(openat) openat64

#define OPEN_WITH_MODE(open_at, directory)                                     \
    va_list arguments;                                                         \
    mode_t mode;                                                               \
                                                                               \
    va_start(arguments, flags);                                                \
    mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;      \
    va_end(arguments);                                                         \
    return open_at(directory, name, flags, mode)

#endif
