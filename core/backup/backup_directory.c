/* SPDX-License-Identifier: MIT */
#include "core/backup/backup_directory.h"

#include "core/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Removes the record first. A restore that copies the backup by its own path
 * reads the record last, and so does not take the rest for a whole backup. */
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

/* ------------------------------------------------------------- opening --- */

static bool
is_unfinished(const char *name)
{
    return files_number(name, "", BACKUP_PART) != 0 ||
           files_number(name, "", BACKUP_GONE) != 0;
}

static enum colander_code
remove_unfinished(void *context, int directory, const char *name,
                  struct colander_error *err)
{
    (void)context;
    (void)err;
    if (is_unfinished(name))
        remove_backup(directory, name);
    return COLANDER_OK;
}

/* Accepts what a directory may have that gets its mark now. */
static enum colander_code
check_foreign(void *context, int directory, const char *name,
              struct colander_error *err)
{
    (void)context;
    (void)directory;
    if (is_unfinished(name) || strcmp(name, BACKUP_MARK) == 0)
        return COLANDER_OK; /* another process may just have created the mark */
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "it is not a directory of backups: it has files, but "
                         "no '" BACKUP_MARK "'");
}

static enum colander_code
open_path(struct backup_directory *directory, const char *path, bool is_writer,
          struct colander_error *err)
{
    enum colander_code code = files_check_link(path, err);

    if (code == COLANDER_OK && strstr(path, "://") != NULL)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "it is an address, and not a directory: only the "
                             "program takes addresses, if it was built with "
                             "COLANDER_CLUSTER");
    if (code != COLANDER_OK)
        return code;
    if (is_writer && mkdir(path, 0700) != 0 && errno != EEXIST)
        return files_fail(err, "create", path);
    if (is_writer)
        files_sync_parent(path);
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

static enum colander_code
open_mark(struct backup_directory *directory, bool is_writer,
          struct colander_error *err)
{
    /* network file systems lock exclusively only what is open for writing */
    const int flags = is_writer ? O_RDWR : O_RDONLY;
    enum colander_code code =
        files_open(directory->fd, BACKUP_MARK, flags, &directory->mark_fd, err);

    if (code != COLANDER_NOT_FOUND)
        return code;
    if (!is_writer)
        return COLANDER_FAIL(
            err, COLANDER_INVALID,
            "it is neither a store nor a directory of backups: "
            "it has no '" DIRECTORY_RECORD "' and no '" BACKUP_MARK "'");
    code = files_visit(directory->fd, ".", check_foreign, NULL, err);
    if (code != COLANDER_OK)
        return code;
    return files_open(directory->fd, BACKUP_MARK, flags | O_CREAT,
                      &directory->mark_fd, err);
}

static enum colander_code
lock_mark(struct backup_directory *directory, bool is_writer,
          struct colander_error *err)
{
    if (flock(directory->mark_fd, (is_writer ? LOCK_EX : LOCK_SH) | LOCK_NB) ==
        0)
        return COLANDER_OK;
    if (errno == EWOULDBLOCK)
        return COLANDER_FAIL(err, COLANDER_BUSY,
                             "another process makes or restores a backup");
    return files_fail(err, "lock", BACKUP_MARK);
}

static enum colander_code
list(struct backup_directory *directory, struct colander_error *err)
{
    struct files_numbers *numbers = &directory->numbers;
    enum colander_code code =
        files_list_numbers(directory->fd, "", "", numbers, err);

    /* After the highest number there is no next one. */
    while (numbers->count > 0 &&
           numbers->list[numbers->count - 1] == UINT64_MAX)
        numbers->count--;
    return code;
}

enum colander_code
backup_directory_open(struct backup_directory *directory, const char *path,
                      bool is_writer, struct colander_error *err)
{
    const struct backup_directory closed = BACKUP_DIRECTORY_CLOSED;
    enum colander_code code;

    *directory = closed;
    code = open_path(directory, path, is_writer, err);
    if (code == COLANDER_OK)
        code = open_mark(directory, is_writer, err);
    if (code == COLANDER_OK)
        code = lock_mark(directory, is_writer, err);
    if (code == COLANDER_OK && is_writer)
        code = files_visit(directory->fd, ".", remove_unfinished, NULL, err);
    if (code == COLANDER_OK)
        code = list(directory, err);
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
    free(directory->numbers.list);
    *directory = closed;
}

/* ------------------------------------------------------------- pruning --- */

uint64_t
backup_directory_prune(const struct backup_directory *directory,
                       uint64_t keep_count)
{
    uint64_t removed = 0;

    while (directory->numbers.count - removed > keep_count) {
        const uint64_t number = directory->numbers.list[removed];
        const struct numbered_name name = files_name("", number, BACKUP_WHOLE);
        const struct numbered_name gone = files_name("", number, BACKUP_GONE);

        if (renameat(directory->fd, name.text, directory->fd, gone.text) != 0)
            break;
        remove_backup(directory->fd, gone.text);
        removed++;
    }
    return removed;
}
