/*
 * System calls that fail: see io_faults.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/io_faults.h"

#include "support/interposed_calls.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

static struct {
    atomic_bool is_on;
    struct fault fault;
    bool has_fault;
    bool has_room; /* ...to run out of */
    char directory[PATH_MAX];
    _Atomic(uint64_t) counts[FAULT_KINDS];
    _Atomic(uint64_t) written;
    _Atomic(uint64_t) room; /* left */
    atomic_bool is_met;
} faults;

static _Thread_local bool is_held;

void
faults_hold(bool holds)
{
    is_held = holds;
}

static bool
is_counted(void)
{
    return atomic_load(&faults.is_on) && !is_held;
}

static void
begin(const char *directory)
{
    (void)snprintf(faults.directory, sizeof(faults.directory), "%s", directory);
    for (size_t i = 0; i < FAULT_KINDS; i++)
        atomic_store(&faults.counts[i], 0);
    atomic_store(&faults.written, 0);
    atomic_store(&faults.is_met, false);
    atomic_store(&faults.is_on, true);
}

void
faults_begin(const char *directory, const struct fault *fault)
{
    faults.has_fault = fault != NULL;
    faults.has_room = false;
    if (fault != NULL)
        faults.fault = *fault;
    begin(directory);
}

void
faults_begin_room(const char *directory, uint64_t room)
{
    faults.has_fault = false;
    faults.has_room = true;
    atomic_store(&faults.room, room);
    begin(directory);
}

void
faults_repair(void)
{
    atomic_store(&faults.is_on, false);
}

bool
faults_were_met(void)
{
    return atomic_load(&faults.is_met);
}

uint64_t
faults_count(enum fault_kind kind)
{
    return atomic_load(&faults.counts[kind]);
}

uint64_t
faults_written(void)
{
    return atomic_load(&faults.written);
}

/* Returns whether the call with this number, from 0, fails. */
static bool
is_due(enum fault_kind kind, bool *is_first)
{
    const uint64_t number = atomic_fetch_add(&faults.counts[kind], 1);
    const struct fault *fault = &faults.fault;

    *is_first = false;
    if (!faults.has_fault || fault->kind != kind || number < fault->number)
        return false;
    *is_first = number == fault->number;
    if (!*is_first && !fault->is_lasting)
        return false;
    atomic_store(&faults.is_met, true);
    return true;
}

bool
fault_is_due(enum fault_kind kind)
{
    bool is_first;

    return is_counted() && is_due(kind, &is_first);
}

static bool
is_ours(int directory, const char *name)
{
    char path[PATH_MAX];

    return is_counted() && path_of_name(directory, name, path) &&
           is_below(path, faults.directory);
}

static bool
is_ours_fd(int fd)
{
    char path[PATH_MAX];

    return is_counted() && path_of_descriptor(fd, path) &&
           is_below(path, faults.directory);
}

/* Returns true if the call must fail, with errno set. */
static bool
fails(enum fault_kind kind, bool is_ours)
{
    if (!is_ours || !fault_is_due(kind))
        return false;
    errno = faults.fault.error;
    return true;
}

/* Takes from the space left on the disk. */
static size_t
take_room(size_t size)
{
    uint64_t left = atomic_load(&faults.room);
    uint64_t taken;

    do {
        taken = left < size ? left : size;
    } while (!atomic_compare_exchange_weak(&faults.room, &left, left - taken));
    if (taken < size)
        atomic_store(&faults.is_met, true);
    return (size_t)taken;
}

/* Returns how many bytes of a write succeed; 0: it fails. */
static size_t
write_size(int fd, size_t size)
{
    bool is_first;

    if (size == 0 || !is_ours_fd(fd))
        return size;
    atomic_fetch_add(&faults.written, size);
    errno = ENOSPC;
    if (faults.has_room)
        return take_room(size);
    if (!is_due(FAULT_WRITE, &is_first))
        return size;
    errno = faults.fault.error;
    return faults.fault.is_short && is_first ? size / 2 : 0;
}

/* ----------------------------------------------------- the system calls --- */

/* A call that returns `failure` when a fault of that kind is due, if it
 * concerns our files. */
#define FAILING(type, name, failure, kind, concerns_us, parameters, arguments) \
    PUBLIC type name parameters                                                \
    {                                                                          \
        __typeof__(&(name)) real_call = REAL(name);                            \
                                                                               \
        return fails((kind), (concerns_us)) ? (failure) : real_call arguments; \
    }

FAILING(ssize_t, read, -1, FAULT_READ, is_ours_fd(fd),
        (int fd, void *bytes, size_t size), (fd, bytes, size))
FAILING(ssize_t, pread, -1, FAULT_READ, is_ours_fd(fd),
        (int fd, void *bytes, size_t size, off_t at), (fd, bytes, size, at))

/* After a failure the caller asks feof(), which is false. */
FAILING(size_t, fread, 0, FAULT_READ, is_ours_fd(fileno(stream)),
        (void *bytes, size_t size, size_t count, FILE *stream),
        (bytes, size, count, stream))

PUBLIC ssize_t
write(int fd, const void *bytes, size_t size)
{
    const size_t done = write_size(fd, size);

    if (done == 0 && size > 0)
        return -1;
    return REAL(write)(fd, bytes, done);
}

PUBLIC ssize_t
pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    const size_t done = write_size(fd, size);

    if (done == 0 && size > 0)
        return -1;
    return REAL(pwrite)(fd, bytes, done, at);
}

/* A failing sync takes a while: other threads may wait for it. */
PUBLIC int
fsync(int fd)
{
    const struct timespec pause = {0, 3000000};

    if (is_ours_fd(fd) && fault_is_due(FAULT_SYNC)) {
        (void)nanosleep(&pause, NULL);
        errno = faults.fault.error;
        return -1;
    }
    return is_ours_fd(fd) ? 0 : REAL(fsync)(fd); /* faster */
}

/* Without flags it does nothing: RocksDB calls it to see if it is supported. */
PUBLIC int
sync_file_range(int fd, off64_t at, off64_t size, unsigned flags)
{
    if (flags != 0 && fails(FAULT_SYNC, is_ours_fd(fd)))
        return -1;
    return REAL(sync_file_range)(fd, at, size, flags);
}

FAILING(int, ftruncate, -1, FAULT_ROOM, is_ours_fd(fd), (int fd, off_t size),
        (fd, size))

/* Returns whether this much space cannot be reserved. */
static bool
has_no_room(int fd, off_t size)
{
    if (!is_ours_fd(fd))
        return false;
    errno = ENOSPC;
    if (faults.has_room)
        return (uint64_t)size > atomic_load(&faults.room);
    return fails(FAULT_ROOM, true);
}

PUBLIC int
fallocate(int fd, int mode, off_t at, off_t size)
{
    if (has_no_room(fd, size))
        return -1;
    return REAL(fallocate)(fd, mode, at, size);
}

PUBLIC int
posix_fallocate(int fd, off_t at, off_t size)
{
    if (has_no_room(fd, size))
        return errno;
    return REAL(posix_fallocate)(fd, at, size);
}

static int
open_at(int directory, const char *name, int flags, mode_t mode)
{
    const bool makes =
        (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;

    if (fails(makes ? FAULT_NAME : FAULT_OPEN, is_ours(directory, name)))
        return -1;
    return REAL(openat)(directory, name, flags, mode);
}

INTERPOSE_OPEN(open_at);

FAILING(FILE *, fopen, NULL, mode[0] == 'r' ? FAULT_OPEN : FAULT_NAME,
        is_ours(AT_FDCWD, name), (const char *name, const char *mode),
        (name, mode))
FAILING(DIR *, opendir, NULL, FAULT_OPEN, is_ours(AT_FDCWD, name),
        (const char *name), (name))

/* The end of the listing does not change errno. */
FAILING(struct dirent *, readdir, NULL, FAULT_READ, is_ours_fd(dirfd(listing)),
        (DIR * listing), (listing))

/* Never returns what RocksDB does not expect. */
PUBLIC int
access(const char *name, int mode)
{
    if (fails(FAULT_OPEN, is_ours(AT_FDCWD, name))) {
        errno = EIO;
        return -1;
    }
    return REAL(access)(name, mode);
}

FAILING(int, faccessat, -1, FAULT_OPEN, is_ours(directory, name),
        (int directory, const char *name, int mode, int flags),
        (directory, name, mode, flags))
FAILING(int, rename, -1, FAULT_NAME, is_ours(AT_FDCWD, to),
        (const char *from, const char *to), (from, to))
FAILING(int, renameat, -1, FAULT_NAME, is_ours(to_directory, to),
        (int from_directory, const char *from, int to_directory,
         const char *to),
        (from_directory, from, to_directory, to))
FAILING(int, link, -1, FAULT_NAME, is_ours(AT_FDCWD, to),
        (const char *from, const char *to), (from, to))
FAILING(int, unlink, -1, FAULT_NAME, is_ours(AT_FDCWD, name),
        (const char *name), (name))
FAILING(int, unlinkat, -1, FAULT_NAME, is_ours(directory, name),
        (int directory, const char *name, int flags), (directory, name, flags))
FAILING(int, mkdir, -1, FAULT_NAME, is_ours(AT_FDCWD, name),
        (const char *name, mode_t mode), (name, mode))
FAILING(int, mkdirat, -1, FAULT_NAME, is_ours(directory, name),
        (int directory, const char *name, mode_t mode), (directory, name, mode))
FAILING(int, chmod, -1, FAULT_NAME, is_ours(AT_FDCWD, name),
        (const char *name, mode_t mode), (name, mode))

/* The same under other names. */
extern ALIAS_OF("fopen") __typeof__(fopen) fopen64;
extern ALIAS_OF("fread") __typeof__(fread) fread_unlocked;
extern ALIAS_OF("pread") __typeof__(pread) pread64;
extern ALIAS_OF("pwrite") __typeof__(pwrite) pwrite64;
extern ALIAS_OF("ftruncate") __typeof__(ftruncate) ftruncate64;
extern ALIAS_OF("fallocate") __typeof__(fallocate) fallocate64;
extern ALIAS_OF("posix_fallocate") __typeof__(posix_fallocate)
    posix_fallocate64;
extern ALIAS_OF("fsync") __typeof__(fsync) fdatasync;
