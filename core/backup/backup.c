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

enum colander_code
backup_begin(const char *path, int store_fd, backup_check *check,
             struct backup **backup, struct colander_error *err)
{
    const struct backup_directory closed = BACKUP_DIRECTORY_CLOSED;
    struct backup *begun = calloc(1, sizeof(*begun));
    enum colander_code code;

    *backup = NULL;
    if (begun == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a backup");
    begun->directory = closed;
    begun->copy.from = store_fd;
    begun->copy.to = -1;
    begun->copy.shared = -1;
    begun->copy.check = check;
    /* An open of the store removes files that it does not know, and what
     * destroys the store must not destroy its backups. */
    code = files_is_inside(path, store_fd)
               ? COLANDER_FAIL(err, COLANDER_INVALID, "it is in the store")
               : backup_directory_open(&begun->directory, path, true, err);
    if (code == COLANDER_OK) {
        open_last(begun);
        code = make_part(begun, path, err);
    }
    if (code != COLANDER_OK) {
        backup_destroy(begun);
        return code;
    }
    *backup = begun;
    return COLANDER_OK;
}

enum colander_code
backup_file(struct backup *backup, const char *name, uint64_t size,
            struct colander_error *err)
{
    return store_copy_file(&backup->copy, name, size, err);
}

enum colander_code
backup_text(struct backup *backup, const char *name,
            struct colander_slice bytes, struct colander_error *err)
{
    return store_copy_write(&backup->copy, name, bytes, err);
}

enum colander_code
backup_log(struct backup *backup, const char *name, enum ledger_kind kind,
           uint64_t number, uint64_t size, uint64_t whole,
           struct colander_error *err)
{
    struct log_state state;
    enum colander_code code = store_copy_start(&backup->copy, name, size, err);

    if (code == COLANDER_OK)
        code = log_check(backup->copy.to, name, &state, err);
    if (code == COLANDER_OK && (state.whole < whole || state.has_more))
        code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "'%s' is corrupt at byte %" PRIu64 ": %" PRIu64
                             " bytes of it were written",
                             name, state.whole, whole);
    if (code == COLANDER_OK)
        (void)ledger_found(backup->ledger, kind, number, state.whole);
    return code;
}

enum colander_code
backup_finish(struct backup *backup, uint64_t keep_count,
              struct colander_backup *made, struct colander_error *err)
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
    *made = backup->copy.counts;
    return code;
}

void
backup_destroy(struct backup *backup)
{
    if (backup == NULL)
        return;
    if (backup->copy.to >= 0) {
        (void)close(backup->copy.to);
        files_remove(backup->directory.fd, backup->part.text);
    }
    if (backup->copy.shared >= 0)
        (void)close(backup->copy.shared);
    ledger_close(backup->ledger);
    backup_directory_close(&backup->directory);
    free(backup->path);
    free(backup);
}
