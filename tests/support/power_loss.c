/*
 * A machine that loses power: see power_loss.h. Every change is recorded so
 * that it can be undone, and forgotten when it is synced. A power loss undoes
 * some of the remaining changes, the latest first.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/power_loss.h"

#include "support/interposed_calls.h"
#include "support/random.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define CHANGES_MAX 1000000
#define FILES_KNOWN 8192

enum change_kind { GONE, BYTES, MADE, RENAMED, REMOVED };

struct change {
    enum change_kind kind;
    char *path;      /* of the file; renamed: where it is now */
    char *from;      /* renamed: where it was before */
    char *saved;     /* what was removed or replaced, under another name */
    ino_t file;      /* of changed bytes: the file */
    ino_t directory; /* of other changes: the directory */
    int fd;          /* of changed bytes: opened for this; never closed */
    off_t at;
    size_t size;       /* written */
    off_t size_before; /* of the file */
    uint8_t *before;   /* the old bytes; up to size_before */
};

static struct {
    pthread_mutex_t mutex;
    bool is_on;
    bool is_kill; /* nothing is lost */
    char directory[PATH_MAX];
    const char *only; /* part of the names that count; NULL: all */
    uint64_t left;    /* changes before the loss */
    uint64_t random;
    unsigned saved_count;
    struct change *changes;
    size_t count;
    struct known_file {
        ino_t file;
        int fd; /* keeps the number from being reused */
    } files[FILES_KNOWN];
    size_t file_count;
} loss = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void
give_up(const char *what)
{
    (void)fprintf(stderr, "power loss: %s: %s\n", what, strerror(errno));
    _exit(4);
}

/* ------------------------------------------------------- losing changes --- */

/* Undoes a write, except for its first `kept` bytes. */
static void
undo_bytes(const struct change *change, size_t kept)
{
    const off_t begin = change->at + (off_t)kept;
    const off_t end = change->at + (off_t)change->size;
    uint8_t zeros[4096] = {0};
    struct stat status;

    if (fstat(change->fd, &status) != 0)
        give_up("fstat");
    for (off_t at = begin; at < end; at++) {
        const uint8_t *byte =
            at < change->size_before ? &change->before[at - change->at] : zeros;

        if (at >= change->size_before && end >= status.st_size) {
            const off_t size =
                at > change->size_before ? at : change->size_before;

            if (REAL(ftruncate)(change->fd, size) != 0)
                give_up("ftruncate");
            return;
        }
        if (REAL(pwrite)(change->fd, byte, 1, at) != 1)
            give_up("pwrite");
    }
}

/* Loses bytes of one file: all changes from some change on, and part of that
 * one; or some of the changes. */
static void
lose_bytes_of(ino_t file)
{
    const bool is_from_one_on = random_below(&loss.random, 3) != 0;
    size_t first = random_below(&loss.random, loss.count + 1);
    struct change *cut = NULL;

    for (size_t i = loss.count; i-- > 0;) {
        struct change *change = &loss.changes[i];

        if (change->kind != BYTES || change->file != file)
            continue;
        if (is_from_one_on ? i >= first : random_below(&loss.random, 2) == 0) {
            if (is_from_one_on && cut != NULL)
                undo_bytes(cut, 0);
            else if (!is_from_one_on)
                undo_bytes(change, 0);
            cut = change;
        }
    }
    if (is_from_one_on && cut != NULL)
        undo_bytes(cut, random_below(&loss.random, cut->size + 1));
    for (size_t i = 0; i < loss.count; i++) {
        if (loss.changes[i].kind == BYTES && loss.changes[i].file == file)
            loss.changes[i].kind = GONE;
    }
}

static char *
keep_text(const char *text)
{
    char *kept = strdup(text);

    if (kept == NULL)
        give_up("strdup");
    return kept;
}

/* A directory was renamed: changes of what is in it have other paths. */
static void
move_paths(const char *from, const char *to)
{
    const size_t size = strlen(from);

    for (size_t i = 0; i < loss.count; i++) {
        struct change *change = &loss.changes[i];
        char path[2 * PATH_MAX];

        if (change->path == NULL || strncmp(change->path, from, size) != 0 ||
            change->path[size] != '/')
            continue;
        (void)snprintf(path, sizeof(path), "%s%s", to, change->path + size);
        free(change->path);
        change->path = keep_text(path);
    }
}

static void
undo_entry(const struct change *change)
{
    if (change->kind == MADE)
        (void)remove(change->path); /* a directory may be in use */
    if (change->kind == RENAMED) {
        if (REAL(rename)(change->path, change->from) != 0)
            give_up(change->path);
        move_paths(change->path, change->from);
    }
    if (change->saved != NULL && REAL(rename)(change->saved, change->path) != 0)
        give_up(change->saved);
}

static _Noreturn void
lose_power(void)
{
    const size_t first = random_below(&loss.random, loss.count + 1);

    for (size_t i = loss.is_kill ? 0 : loss.count; i-- > 0;) {
        if (loss.changes[i].kind == BYTES)
            lose_bytes_of(loss.changes[i].file);
    }
    for (size_t i = loss.is_kill ? first : loss.count; i-- > first;)
        undo_entry(&loss.changes[i]);
    (void)kill(getpid(), SIGKILL);
    for (;;)
        (void)pause();
}

/* ---------------------------------------------------- recording changes --- */

/* Power may be lost before the change that is about to happen to a file. */
static void
count_down(const char *path)
{
    const bool is_counted =
        loss.only == NULL || strstr(strrchr(path, '/'), loss.only) != NULL;

    if (is_counted && loss.left-- == 0)
        lose_power();
}

static struct change *
add_change(enum change_kind kind, const char *path)
{
    struct change *change;

    count_down(path);
    if (loss.count == CHANGES_MAX)
        give_up("too many changes");
    change = &loss.changes[loss.count++];
    memset(change, 0, sizeof(*change));
    change->kind = kind;
    return change;
}

static void
forget(struct change *change)
{
    free(change->path);
    free(change->from);
    free(change->before);
    if (change->saved != NULL)
        (void)REAL(unlink)(change->saved);
    free(change->saved);
    memset(change, 0, sizeof(*change));
}

/* Fills the absolute path of a name if it is ours: in the directory. */
static bool
is_ours(int directory, const char *name, char path[PATH_MAX])
{
    return loss.is_on && path_of_name(directory, name, path) &&
           is_below(path, loss.directory);
}

static bool
is_ours_fd(int fd, char path[PATH_MAX])
{
    return loss.is_on && path_of_descriptor(fd, path) &&
           is_below(path, loss.directory);
}

/* Returns the directory that has the path as an entry. */
static ino_t
directory_of(const char *path)
{
    char directory[PATH_MAX];
    struct stat status;

    (void)snprintf(directory, sizeof(directory), "%s", path);
    *strrchr(directory, '/') = '\0';
    return stat(directory, &status) == 0 ? status.st_ino : 0;
}

static struct change *
note_entry(enum change_kind kind, const char *path)
{
    struct change *change = add_change(kind, path);

    change->path = keep_text(path);
    change->directory = directory_of(path);
    return change;
}

/* Creates a second name for a file that is about to lose this one. Returns NULL
 * if it does not exist. */
static char *
save(const char *path)
{
    char saved[PATH_MAX + 32];

    (void)snprintf(saved, sizeof(saved), "%s.lost-%u", loss.directory,
                   loss.saved_count++);
    if (REAL(link)(path, saved) != 0) {
        if (errno != ENOENT)
            give_up(path);
        return NULL;
    }
    return keep_text(saved);
}

/* Returns our own descriptor of the file. */
static int
own_descriptor(int fd, ino_t file)
{
    char link[64];

    for (size_t i = loss.file_count; i-- > 0;) {
        if (loss.files[i].file == file)
            return loss.files[i].fd;
    }
    if (loss.file_count == FILES_KNOWN)
        give_up("too many files");
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    fd = REAL(open)(link, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        give_up("open");
    loss.files[loss.file_count].file = file;
    loss.files[loss.file_count++].fd = fd;
    return fd;
}

/* Bytes are about to be written, or cut off (size 0), at an offset. */
static void
note_bytes(int fd, const char *path, off_t at, size_t size)
{
    struct change *change = add_change(BYTES, path);
    struct stat status;
    size_t old = 0;

    if (fstat(fd, &status) != 0)
        give_up("fstat");
    change->fd = own_descriptor(fd, status.st_ino);
    change->file = status.st_ino;
    change->at = at;
    change->size_before = status.st_size;
    if (size == 0 && at < status.st_size)
        size = (size_t)(status.st_size - at);
    change->size = size;
    if (at < status.st_size)
        old = (size_t)(status.st_size - at) < size
                  ? (size_t)(status.st_size - at)
                  : size;
    if (old > 0) {
        change->before = malloc(old);
        if (change->before == NULL ||
            pread(change->fd, change->before, old, at) != (ssize_t)old)
            give_up("pread");
    }
}

static void
note_sync(int fd)
{
    struct stat status;

    if (fstat(fd, &status) != 0)
        return;
    for (size_t i = 0; i < loss.count; i++) {
        struct change *change = &loss.changes[i];

        if (change->kind != GONE &&
            (S_ISDIR(status.st_mode) ? change->directory == status.st_ino
                                     : change->file == status.st_ino))
            forget(change);
    }
    while (loss.count > 0 && loss.changes[loss.count - 1].kind == GONE)
        loss.count--;
}

void
power_loss_begin(const char *directory, uint64_t number, const char *only,
                 uint64_t seed, bool is_kill)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    loss.changes = calloc(CHANGES_MAX, sizeof(*loss.changes));
    if (loss.changes == NULL)
        give_up("calloc");
    (void)snprintf(loss.directory, sizeof(loss.directory), "%s", directory);
    loss.only = only;
    loss.left = number;
    loss.random = seed;
    loss.is_kill = is_kill;
    loss.is_on = true;
}

/* ----------------------------------------------------- the system calls --- */

static int
open_noted(int directory, const char *name, int flags, mode_t mode)
{
    char path[PATH_MAX];
    bool is_noted;
    bool is_new;
    int fd;

    pthread_mutex_lock(&loss.mutex);
    is_noted = (flags & (O_CREAT | O_TRUNC)) && is_ours(directory, name, path);
    is_new = is_noted && (flags & O_CREAT) && access(path, F_OK) != 0;
    if (is_new)
        (void)note_entry(MADE, path);
    fd = REAL(openat)(directory, name, is_noted ? flags & ~O_TRUNC : flags,
                      mode);
    if (fd >= 0 && is_noted && (flags & O_TRUNC)) {
        note_bytes(fd, path, 0, 0); /* its old bytes may come back */
        if (REAL(ftruncate)(fd, 0) != 0)
            give_up("ftruncate");
    }
    if (fd < 0 && is_new)
        forget(&loss.changes[loss.count - 1]);
    pthread_mutex_unlock(&loss.mutex);
    return fd;
}

INTERPOSE_OPEN(open_noted);

PUBLIC ssize_t
write(int fd, const void *bytes, size_t size)
{
    char path[PATH_MAX];
    ssize_t written;

    pthread_mutex_lock(&loss.mutex);
    if (size > 0 && is_ours_fd(fd, path)) {
        struct stat status;
        const bool is_appending = (fcntl(fd, F_GETFL) & O_APPEND) != 0;

        (void)fstat(fd, &status);
        note_bytes(fd, path,
                   is_appending ? status.st_size : lseek(fd, 0, SEEK_CUR),
                   size);
    }
    written = REAL(write)(fd, bytes, size);
    pthread_mutex_unlock(&loss.mutex);
    return written;
}

PUBLIC ssize_t
pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    char path[PATH_MAX];
    ssize_t written;

    pthread_mutex_lock(&loss.mutex);
    if (is_ours_fd(fd, path))
        note_bytes(fd, path, at, size);
    written = REAL(pwrite)(fd, bytes, size, at);
    pthread_mutex_unlock(&loss.mutex);
    return written;
}

/* The caller copies by read and write instead. */
PUBLIC ssize_t
copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t size,
                unsigned flags)
{
    char path[PATH_MAX];

    if (!is_ours_fd(to, path))
        return REAL(copy_file_range)(from, from_at, to, to_at, size, flags);
    errno = EXDEV;
    return -1;
}

PUBLIC int
ftruncate(int fd, off_t size)
{
    char path[PATH_MAX];
    int result;

    pthread_mutex_lock(&loss.mutex);
    if (is_ours_fd(fd, path))
        note_bytes(fd, path, size, 0);
    result = REAL(ftruncate)(fd, size);
    pthread_mutex_unlock(&loss.mutex);
    return result;
}

PUBLIC int
fsync(int fd)
{
    char path[PATH_MAX];

    pthread_mutex_lock(&loss.mutex);
    if (!is_ours_fd(fd, path)) {
        pthread_mutex_unlock(&loss.mutex);
        return REAL(fsync)(fd);
    }
    count_down(path);
    note_sync(fd);
    pthread_mutex_unlock(&loss.mutex);
    return 0;
}

static int
rename_noted(int from_directory, const char *from, int to_directory,
             const char *to)
{
    char from_path[PATH_MAX];
    char to_path[PATH_MAX];
    int result;

    pthread_mutex_lock(&loss.mutex);
    if (is_ours(from_directory, from, from_path) &&
        is_ours(to_directory, to, to_path)) {
        struct change *change = note_entry(RENAMED, to_path);

        change->from = keep_text(from_path);
        change->saved = save(to_path);
    }
    result = REAL(renameat)(from_directory, from, to_directory, to);
    if (result == 0 && loss.is_on &&
        path_of_name(from_directory, from, from_path) &&
        path_of_name(to_directory, to, to_path))
        move_paths(from_path, to_path);
    pthread_mutex_unlock(&loss.mutex);
    return result;
}

PUBLIC int
rename(const char *from, const char *to)
{
    return rename_noted(AT_FDCWD, from, AT_FDCWD, to);
}

PUBLIC int
renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    return rename_noted(from_directory, from, to_directory, to);
}

static int
remove_noted(int directory, const char *name, int flags)
{
    char path[PATH_MAX];
    int result;

    pthread_mutex_lock(&loss.mutex);
    if (flags == 0 && is_ours(directory, name, path) && access(path, F_OK) == 0)
        note_entry(REMOVED, path)->saved = save(path);
    result = REAL(unlinkat)(directory, name, flags);
    pthread_mutex_unlock(&loss.mutex);
    return result;
}

PUBLIC int
unlink(const char *name)
{
    return remove_noted(AT_FDCWD, name, 0);
}

PUBLIC int
unlinkat(int directory, const char *name, int flags)
{
    return remove_noted(directory, name, flags);
}

PUBLIC int
link(const char *from, const char *to)
{
    char path[PATH_MAX];
    int result;

    pthread_mutex_lock(&loss.mutex);
    if (is_ours(AT_FDCWD, to, path))
        (void)note_entry(MADE, path);
    result = REAL(link)(from, to);
    pthread_mutex_unlock(&loss.mutex);
    return result;
}

static int
mkdir_noted(int directory, const char *name, mode_t mode)
{
    char path[PATH_MAX];
    int result;

    pthread_mutex_lock(&loss.mutex);
    result = REAL(mkdirat)(directory, name, mode);
    if (result == 0 && is_ours(directory, name, path))
        (void)note_entry(MADE, path);
    pthread_mutex_unlock(&loss.mutex);
    return result;
}

PUBLIC int
mkdir(const char *name, mode_t mode)
{
    return mkdir_noted(AT_FDCWD, name, mode);
}

PUBLIC int
mkdirat(int directory, const char *name, mode_t mode)
{
    return mkdir_noted(directory, name, mode);
}

/* The same under other names. */
extern ALIAS_OF("pwrite") __typeof__(pwrite) pwrite64;
extern ALIAS_OF("ftruncate") __typeof__(ftruncate) ftruncate64;
extern ALIAS_OF("fsync") __typeof__(fsync) fdatasync;
