/*
 * Backups: see backup.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/backup.h"

#include "core/backup_directory.h"
#include "core/directory.h"
#include "core/files.h"
#include "core/log_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct backup {
    struct backup_directory directory;
    char *path;    /* of the directory */
    int store_fd;  /* borrowed */
    int before_fd; /* of the backup before; -1: there is none */
    int fd;        /* of the one that is made; -1: none yet */
    char part[BACKUP_NAME_SIZE];
    struct ledger *ledger; /* of its logs */
    struct colander_backup made;
};

/* ----------------------------------------------------------- beginning --- */

/* Makes DIR/000003.part, with nothing in it. */
static enum colander_code
make_part(struct backup *backup, struct colander_error *err)
{
    const struct backup_directory *directory = &backup->directory;

    backup->made.number =
        directory->count > 0 ? directory->numbers[directory->count - 1] + 1 : 1;
    backup_name(backup->made.number, BACKUP_PART, backup->part);
    if (mkdirat(directory->fd, backup->part, 0700) != 0)
        return files_fail(err, "make", backup->part);
    backup->fd =
        openat(directory->fd, backup->part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (backup->fd < 0)
        return files_fail(err, "open", backup->part);
    return ledger_open(backup->fd, &backup->ledger, err);
}

static void
open_before(struct backup *backup)
{
    const struct backup_directory *directory = &backup->directory;
    char name[BACKUP_NAME_SIZE];

    if (directory->count == 0)
        return;
    backup_name(directory->numbers[directory->count - 1], BACKUP_WHOLE, name);
    backup->before_fd =
        openat(directory->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

enum colander_code
backup_begin(const char *path, int store_fd, struct backup **backup,
             struct colander_error *err)
{
    const struct backup_directory closed = BACKUP_DIRECTORY_CLOSED;
    struct backup *made = calloc(1, sizeof(*made));
    enum colander_code code;

    *backup = NULL;
    if (made != NULL)
        made->path = strdup(path);
    if (made == NULL || made->path == NULL) {
        free(made);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a backup");
    }
    made->directory = closed;
    made->store_fd = store_fd;
    made->before_fd = -1;
    made->fd = -1;
    /* An open of the store removes what it does not know; and what befalls the
     * store would befall its backups. */
    code = files_is_inside(path, store_fd)
               ? COLANDER_FAIL(err, COLANDER_INVALID, "it is in the store")
               : backup_directory_open(&made->directory, path, true, err);
    if (code == COLANDER_OK) {
        open_before(made);
        code = make_part(made, err);
    }
    if (code != COLANDER_OK) {
        backup_destroy(made);
        return code;
    }
    *backup = made;
    return COLANDER_OK;
}

/* --------------------------------------------------------------- files --- */

/* Makes the directory that `name` is in, as in the store. */
static enum colander_code
make_parent(int fd, const char *name, struct colander_error *err)
{
    const char *slash = strchr(name, '/');
    char parent[64];

    if (slash == NULL || (size_t)(slash - name) >= sizeof(parent))
        return COLANDER_OK;
    memcpy(parent, name, (size_t)(slash - name));
    parent[slash - name] = '\0';
    if (mkdirat(fd, parent, 0700) != 0 && errno != EEXIST)
        return files_fail(err, "make", parent);
    return COLANDER_OK;
}

/* Counts a file of the backup. */
static void
count_file(struct backup *backup, const char *name, bool is_new)
{
    const uint64_t size = files_size(backup->fd, name);

    backup->made.file_count++;
    backup->made.size += size;
    backup->made.copied_count += is_new;
    backup->made.copied_size += is_new ? size : 0;
}

/* Shares a file with the backup before, if it has the same. Where a file system
 * has no links, or no more, the file is copied. */
static bool
link_file(const struct backup *backup, const char *name)
{
    return backup->before_fd >= 0 &&
           files_end_alike(backup->store_fd, name, backup->before_fd, name) &&
           linkat(backup->before_fd, name, backup->fd, name, 0) == 0;
}

enum colander_code
backup_file(struct backup *backup, const char *name, uint64_t size,
            bool *is_new, struct colander_error *err)
{
    const uint64_t has = files_size(backup->store_fd, name);
    enum colander_code code = make_parent(backup->fd, name, err);

    *is_new = false;
    if (code != COLANDER_OK)
        return code;
    if (size != FILES_WHOLE && has != 0 && has != size)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "'%s' has %llu bytes, and %llu were written", name,
                             (unsigned long long)has, (unsigned long long)size);
    if (!link_file(backup, name)) {
        *is_new = true;
        code = files_copy(backup->store_fd, name, backup->fd, name, FILES_WHOLE,
                          err);
    }
    if (code == COLANDER_OK)
        count_file(backup, name, *is_new);
    return code;
}

enum colander_code
backup_text(struct backup *backup, const char *name,
            struct colander_slice bytes, struct colander_error *err)
{
    enum colander_code code = make_parent(backup->fd, name, err);

    if (code == COLANDER_OK)
        code = files_write(backup->fd, name, bytes, err);
    if (code == COLANDER_OK)
        count_file(backup, name, true);
    return code;
}

char *
backup_path_of(const struct backup *backup, const char *name)
{
    char *path;

    if (asprintf(&path, "%s/%s/%s", backup->path, backup->part, name) < 0)
        return NULL;
    return path;
}

static enum colander_code
look_at_log(struct backup *backup, const char *name, struct log_state *state,
            struct colander_error *err)
{
    const char *slash = strrchr(name, '/');
    char *path = backup_path_of(backup, name);
    enum colander_code code;

    if (path == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    path[strlen(path) - strlen(slash)] = '\0';
    code = log_walk(path, slash + 1, state, err);
    free(path);
    return code;
}

enum colander_code
backup_log(struct backup *backup, const char *name, enum ledger_kind kind,
           uint64_t number, uint64_t size, uint64_t whole,
           struct colander_error *err)
{
    struct log_state state;
    enum colander_code code = make_parent(backup->fd, name, err);

    if (code == COLANDER_OK)
        code = files_copy(backup->store_fd, name, backup->fd, name, size, err);
    if (code == COLANDER_OK)
        code = look_at_log(backup, name, &state, err);
    if (code == COLANDER_OK && (state.bad_at < whole || state.has_behind))
        code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "'%s' is damaged at byte %llu: %llu bytes of it "
                             "were written",
                             name, (unsigned long long)state.bad_at,
                             (unsigned long long)whole);
    if (code != COLANDER_OK)
        return code;
    (void)ledger_found(backup->ledger, kind, number, state.bad_at);
    count_file(backup, name, true);
    return COLANDER_OK;
}

/* -------------------------------------------------------------- ending --- */

enum colander_code
backup_finish(struct backup *backup, uint64_t keep_count,
              struct colander_backup *made, struct colander_error *err)
{
    struct backup_directory *directory = &backup->directory;
    char name[BACKUP_NAME_SIZE];
    enum colander_code code = ledger_settle_synced(backup->ledger, err);

    /* So that its readers keep out who would write. */
    if (code == COLANDER_OK)
        code = files_write(backup->fd, DIRECTORY_LOCK,
                           colander_slice_of(NULL, 0), err);
    if (code == COLANDER_OK)
        code = files_sync_tree(backup->fd, err);
    if (code != COLANDER_OK)
        return code;
    count_file(backup, LEDGER_FILE, true);
    backup_name(backup->made.number, BACKUP_WHOLE, name);
    if (renameat(directory->fd, backup->part, directory->fd, name) != 0)
        return files_fail(err, "put in place", name);
    (void)close(backup->fd);
    backup->fd = -1;
    code = files_sync_names(directory->fd, ".", err);
    if (code == COLANDER_OK && keep_count > 0)
        backup->made.removed_count =
            backup_directory_prune(directory, keep_count - 1);
    *made = backup->made;
    return code;
}

void
backup_destroy(struct backup *backup)
{
    if (backup == NULL)
        return;
    if (backup->fd >= 0) {
        (void)close(backup->fd);
        files_remove(backup->directory.fd, backup->part);
    }
    if (backup->before_fd >= 0)
        (void)close(backup->before_fd);
    ledger_close(backup->ledger);
    backup_directory_close(&backup->directory);
    free(backup->path);
    free(backup);
}
