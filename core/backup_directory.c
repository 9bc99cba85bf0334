/*
 * A directory of backups.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/backup_directory.h"

#include "core/directory.h"
#include "core/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

void
backup_name(uint64_t number, const char *state, char name[BACKUP_NAME_SIZE])
{
    (void)snprintf(name, BACKUP_NAME_SIZE, "%06" PRIu64 "%s", number, state);
}

/* The number in the name of a backup in that state; 0: it is none, or so high
 * that there would be no next one. */
static uint64_t
number_of(const char *name, const char *state)
{
    char back[BACKUP_NAME_SIZE];
    const uint64_t number = strtoull(name, NULL, 10);

    backup_name(number, state, back);
    return strcmp(name, back) == 0 && number != UINT64_MAX ? number : 0;
}

/* The record goes first: a restore that copies the backup by its own path reads
 * it last, and so does not take what is left for all of it. */
static void
remove_backup(int directory, const char *name)
{
    const int fd = openat(directory, name,
                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0) {
        (void)unlinkat(fd, DIRECTORY_RECORD, 0);
        (void)close(fd);
    }
    files_remove(directory, name);
}

/* ------------------------------------------------------------- listing --- */

static int
compare_numbers(const void *a, const void *b)
{
    const uint64_t *one = a;
    const uint64_t *other = b;

    return (*one > *other) - (*one < *other);
}

static enum colander_code
add_number(struct backup_directory *directory, uint64_t number,
           struct colander_error *err)
{
    uint64_t *grown =
        realloc(directory->numbers, (directory->count + 1) * sizeof(*grown));

    if (grown == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a list of backups");
    grown[directory->count++] = number;
    directory->numbers = grown;
    return COLANDER_OK;
}

struct listing {
    struct backup_directory *directory;
    bool removes;  /* what was not finished */
    size_t others; /* other things */
};

static enum colander_code
list_one(void *context, int directory, const char *name,
         struct colander_error *err)
{
    struct listing *listing = context;
    const uint64_t number = number_of(name, BACKUP_WHOLE);

    if (number != 0)
        return add_number(listing->directory, number, err);
    if (strcmp(name, BACKUP_MARK) == 0)
        return COLANDER_OK; /* just made, by another process */
    if (number_of(name, BACKUP_PART) == 0 && number_of(name, BACKUP_GONE) == 0)
        listing->others++;
    else if (listing->removes)
        remove_backup(directory, name);
    return COLANDER_OK;
}

static enum colander_code
list(struct listing *listing, struct colander_error *err)
{
    struct backup_directory *directory = listing->directory;
    enum colander_code code;

    directory->count = 0;
    code = files_visit(directory->fd, ".", list_one, listing, err);
    if (directory->count > 1)
        qsort(directory->numbers, directory->count, sizeof(uint64_t),
              compare_numbers);
    return code;
}

/* ------------------------------------------------------------- opening --- */

/* A backup that is on the disk is of no use in a directory that is not. It may
 * be in one that is not ours to read: then the name is left to the system. */
static void
sync_parent(const char *path)
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
open_path(struct backup_directory *directory, const char *path, bool makes,
          struct colander_error *err)
{
    if (makes && mkdir(path, 0700) != 0 && errno != EEXIST)
        return files_fail(err, "make", path);
    if (makes)
        sync_parent(path);
    directory->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory->fd >= 0)
        return COLANDER_OK;
    if (errno == ENOENT)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                             "there is no such directory");
    if (errno == ENOTDIR)
        return COLANDER_FAIL(err, COLANDER_INVALID, "it is not a directory");
    return files_fail(err, "open", path);
}

/* Makes the mark in a directory that has nothing. */
static enum colander_code
mark(struct backup_directory *directory, struct colander_error *err)
{
    struct listing listing = {.directory = directory};
    enum colander_code code = list(&listing, err);

    if (code != COLANDER_OK)
        return code;
    if (listing.others > 0 || directory->count > 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "it is no directory of backups: it has files, but "
                             "no '" BACKUP_MARK "'");
    directory->mark_fd =
        openat(directory->fd, BACKUP_MARK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (directory->mark_fd < 0)
        return files_fail(err, "make", BACKUP_MARK);
    return COLANDER_OK;
}

/* Opens the mark, and holds it. On network file systems a file that is held
 * alone must be open for writing. */
static enum colander_code
lock(struct backup_directory *directory, bool makes, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    directory->mark_fd = openat(directory->fd, BACKUP_MARK,
                                (makes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (directory->mark_fd < 0 && errno != ENOENT)
        return files_fail(err, "open", BACKUP_MARK);
    if (directory->mark_fd < 0 && !makes)
        return COLANDER_FAIL(
            err, COLANDER_INVALID,
            "it is neither a store nor a directory of backups: "
            "it has no 'COLANDER' and no '" BACKUP_MARK "'");
    if (directory->mark_fd < 0)
        code = mark(directory, err);
    if (code != COLANDER_OK)
        return code;
    if (flock(directory->mark_fd, (makes ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0)
        return COLANDER_OK;
    if (errno == EWOULDBLOCK)
        return COLANDER_FAIL(err, COLANDER_BUSY,
                             "another process makes or restores a backup");
    return files_fail(err, "lock", BACKUP_MARK);
}

enum colander_code
backup_directory_open(struct backup_directory *directory, const char *path,
                      bool is_for_making, struct colander_error *err)
{
    const struct backup_directory closed = BACKUP_DIRECTORY_CLOSED;
    struct listing listing = {directory, is_for_making, 0};
    enum colander_code code;

    *directory = closed;
    code = open_path(directory, path, is_for_making, err);
    if (code == COLANDER_OK)
        code = lock(directory, is_for_making, err);
    if (code == COLANDER_OK)
        code = list(&listing, err);
    if (code != COLANDER_OK)
        backup_directory_close(directory);
    return code;
}

void
backup_directory_close(struct backup_directory *directory)
{
    const struct backup_directory closed = BACKUP_DIRECTORY_CLOSED;

    if (directory->mark_fd >= 0)
        (void)close(directory->mark_fd);
    if (directory->fd >= 0)
        (void)close(directory->fd);
    free(directory->numbers);
    *directory = closed;
}

/* ------------------------------------------------------------- pruning --- */

uint64_t
backup_directory_prune(struct backup_directory *directory, uint64_t keep_count)
{
    uint64_t removed = 0;

    while (directory->count - removed > keep_count) {
        const uint64_t number = directory->numbers[removed];
        char name[BACKUP_NAME_SIZE];
        char gone[BACKUP_NAME_SIZE];

        backup_name(number, BACKUP_WHOLE, name);
        backup_name(number, BACKUP_GONE, gone);
        if (renameat(directory->fd, name, directory->fd, gone) != 0)
            break;
        remove_backup(directory->fd, gone);
        removed++;
    }
    directory->count -= removed;
    if (removed > 0)
        memmove(directory->numbers, directory->numbers + removed,
                directory->count * sizeof(uint64_t));
    return removed;
}
