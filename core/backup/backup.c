/* SPDX-License-Identifier: MIT */
#include "core/backup/backup_directory.h"
#include "core/backup/store_copy.h"
#include "core/directory.h"
#include "core/log_records.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct backup {
    struct backup_directory directory;
    struct store_copy copy; /* `to` and `shared` are owned */
    struct numbered_name part;
    char *path;            /* of the part */
    struct ledger *ledger; /* of its logs */
};

static uint64_t
last_number(const struct backup_directory *directory)
{
    return directory->numbers.count > 0
               ? directory->numbers.list[directory->numbers.count - 1]
               : 0;
}

/* Creates DIR/000003.part. */
static enum colander_code
make_part(struct backup *backup, const char *path, struct colander_error *err)
{
    const int fd = backup->directory.fd;

    backup->copy.counts.number = last_number(&backup->directory) + 1;
    backup->part = files_name("", backup->copy.counts.number, BACKUP_PART);
    if (asprintf(&backup->path, "%s/%s", path, backup->part.text) < 0) {
        backup->path = NULL;
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    }
    backup->copy.path = backup->path;
    if (mkdirat(fd, backup->part.text, 0700) != 0)
        return files_fail(err, "create", backup->part.text);
    backup->copy.to =
        openat(fd, backup->part.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (backup->copy.to < 0)
        return files_fail(err, "open", backup->part.text);
    return ledger_open(backup->copy.to, &backup->ledger, err);
}

static void
open_last(struct backup *backup)
{
    const struct numbered_name name =
        files_name("", last_number(&backup->directory), BACKUP_WHOLE);

    if (backup->directory.numbers.count > 0)
        backup->copy.shared = openat(backup->directory.fd, name.text,
                                     O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static enum colander_code
open_backup(struct backup *backup, const char *path, struct colander_error *err)
{
    enum colander_code code;

    /* An open of the store removes files that it does not know, and what
     * destroys the store must not destroy its backups. */
    if (files_is_inside(path, backup->copy.from))
        return COLANDER_FAIL(err, COLANDER_INVALID, "it is in the store");
    code = backup_directory_open(&backup->directory, path, true, err);
    if (code != COLANDER_OK)
        return code;
    open_last(backup);
    return make_part(backup, path, err);
}

/* A torn record may follow the whole ones, and nothing else. */
static enum colander_code
check_log(struct backup *backup, const struct backup_file *file,
          struct colander_error *err)
{
    const enum ledger_kind kind =
        file->kind == BACKUP_WAL ? LEDGER_WAL : LEDGER_MANIFEST;
    struct log_state state;
    enum colander_code code =
        log_check(backup->copy.to, file->name, NULL, 0, &state, err);

    if (code != COLANDER_OK)
        return code;
    if (state.whole.size < file->whole || state.has_more)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "'%s' is corrupt at byte %" PRIu64 ": %" PRIu64
                             " bytes of it were written",
                             file->name, state.whole.size, file->whole);
    ledger_found(backup->ledger, kind, file->number, state.whole);
    return COLANDER_OK;
}

static enum colander_code
copy_file(struct backup *backup, const struct backup_file *file,
          struct colander_error *err)
{
    enum colander_code code = store_copy_file(&backup->copy, file, err);

    if (code == COLANDER_NOT_FOUND && file->kind == BACKUP_OPTIONAL_FILE)
        return COLANDER_OK;
    if (code == COLANDER_NOT_FOUND)
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "'%s' is missing",
                             file->name);
    if (code == COLANDER_OK &&
        (file->kind == BACKUP_WAL || file->kind == BACKUP_MANIFEST))
        code = check_log(backup, file, err);
    if (code == COLANDER_OK && backup->copy.target != NULL &&
        file->kind != BACKUP_FILE && file->kind != BACKUP_OPTIONAL_FILE)
        code = store_copy_send(&backup->copy, backup->copy.to, file->name, err);
    return code;
}

/* Gives the backup its number. */
static enum colander_code
finish(struct backup *backup, uint64_t keep_count, struct colander_error *err)
{
    struct backup_directory *directory = &backup->directory;
    struct numbered_name name;
    enum colander_code code = ledger_settle_synced(backup->ledger, err);

    /* Readers of the backup lock it against writers. */
    if (code == COLANDER_OK)
        code = files_write(backup->copy.to, DIRECTORY_LOCK,
                           colander_slice_of(NULL, 0), err);
    if (code == COLANDER_OK)
        code = files_sync_tree(backup->copy.to, err);
    if (code != COLANDER_OK)
        return code;
    store_copy_count(&backup->copy, LEDGER_FILE, true);
    name = files_name("", backup->copy.counts.number, BACKUP_WHOLE);
    if (renameat(directory->fd, backup->part.text, directory->fd, name.text) !=
        0)
        return files_fail(err, "put in place", name.text);
    (void)close(backup->copy.to);
    backup->copy.to = -1;
    code = files_sync_names(directory->fd, ".", err);
    if (code == COLANDER_OK && keep_count > 0)
        backup->copy.counts.removed_count =
            backup_directory_prune(directory, keep_count - 1);
    return code;
}

/* Removes the files of a backup that was not finished, and temporary ones. */
static void
release(struct backup *backup)
{
    if (backup->copy.to >= 0) {
        (void)close(backup->copy.to);
        if (backup->copy.target == NULL)
            files_remove(backup->directory.fd, backup->part.text);
        else
            files_remove(AT_FDCWD, backup->path);
    }
    if (backup->copy.shared >= 0)
        (void)close(backup->copy.shared);
    ledger_close(backup->ledger);
    backup_directory_close(&backup->directory);
    free(backup->path);
}

enum colander_code
backup_make(const char *path, uint64_t keep_count, int store_fd,
            const struct backup_file *files, size_t count, backup_check *check,
            struct colander_backup *made, struct colander_error *err)
{
    struct backup backup = {
        .directory = BACKUP_DIRECTORY_CLOSED,
        .copy = {.from = store_fd, .to = -1, .shared = -1, .check = check}};
    enum colander_code code = open_backup(&backup, path, err);

    for (size_t i = 0; i < count && code == COLANDER_OK; i++)
        code = copy_file(&backup, &files[i], err);
    if (code == COLANDER_OK)
        code = finish(&backup, keep_count, err);
    *made = backup.copy.counts;
    release(&backup);
    return code;
}

/* ------------------------------------------------------------- sending --- */

/* Creates the temporary directory in which logs are checked. */
static enum colander_code
make_temporary(struct backup *backup, struct colander_error *err)
{
    const char *parent = getenv("TMPDIR");

    if (parent == NULL || parent[0] == '\0')
        parent = "/tmp";
    if (asprintf(&backup->path, "%s/colander-XXXXXX", parent) < 0) {
        backup->path = NULL;
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    }
    if (mkdtemp(backup->path) == NULL)
        return files_fail(err, "create a directory in", parent);
    backup->copy.to = open(backup->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (backup->copy.to < 0) {
        (void)rmdir(backup->path);
        return files_fail(err, "open", backup->path);
    }
    return ledger_open(backup->copy.to, &backup->ledger, err);
}

enum colander_code
backup_send(const struct colander_backup_target *target, const char *store_path,
            int store_fd, const struct backup_file *files, size_t count,
            backup_check *check, struct colander_backup *made,
            struct colander_error *err)
{
    struct backup backup = {.directory = BACKUP_DIRECTORY_CLOSED,
                            .copy = {.from = store_fd,
                                     .to = -1,
                                     .shared = -1,
                                     .path = store_path,
                                     .target = target,
                                     .check = check}};
    enum colander_code code = make_temporary(&backup, err);

    for (size_t i = 0; i < count && code == COLANDER_OK; i++)
        code = copy_file(&backup, &files[i], err);
    if (code == COLANDER_OK)
        code = ledger_settle_synced(backup.ledger, err);
    if (code == COLANDER_OK)
        code = store_copy_send(&backup.copy, backup.copy.to, LEDGER_FILE, err);
    *made = backup.copy.counts;
    release(&backup);
    return code;
}
