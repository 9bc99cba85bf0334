/*
 * Stores made from backups.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/backup_directory.h"
#include "core/bulk_directory.h"
#include "core/directory.h"
#include "core/files.h"
#include "core/logs.h"
#include "core/options.h"
#include "core/sst.h"
#include "core/version_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct restoring {
    struct backup_directory backups; /* closed: the source is a store itself */
    struct directory from;
    struct directory to;
    const char *path;   /* of `to` */
    const char *parent; /* in it, of the files under way; NULL: its own */
    struct colander_backup restored;
};

#define RESTORING_EMPTY                                                        \
    {                                                                          \
        BACKUP_DIRECTORY_CLOSED, DIRECTORY_CLOSED, DIRECTORY_CLOSED, NULL,     \
            NULL,                                                              \
        {                                                                      \
            0, 0, 0, 0, 0, 0                                                   \
        }                                                                      \
    }

/* -------------------------------------------------------------- source --- */

/* Whether the directory at `path` is itself a store. */
static bool
is_store(const char *path)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool has_record;

    if (fd < 0)
        return false;
    has_record = faccessat(fd, DIRECTORY_RECORD, F_OK, 0) == 0;
    (void)close(fd);
    return has_record;
}

static enum colander_code
fail_no_backup(const struct backup_directory *backups, uint64_t number,
               struct colander_error *err)
{
    if (backups->count == 0)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND, "it has no backups");
    return COLANDER_FAIL(
        err, COLANDER_NOT_FOUND,
        "it has no backup %llu, but %zu others, from %06llu "
        "to %06llu",
        (unsigned long long)number, backups->count,
        (unsigned long long)backups->numbers[0],
        (unsigned long long)backups->numbers[backups->count - 1]);
}

/* Finds out which backup is meant. */
static enum colander_code
choose(struct restoring *restoring, uint64_t number, struct colander_error *err)
{
    const struct backup_directory *backups = &restoring->backups;

    for (size_t i = 0; i < backups->count; i++) {
        if (number == 0 || number == backups->numbers[i])
            restoring->restored.number = backups->numbers[i];
    }
    if (restoring->restored.number == 0)
        return fail_no_backup(backups, number, err);
    return COLANDER_OK;
}

static enum colander_code
open_backup(struct restoring *restoring, const char *path, uint64_t number,
            struct colander_error *err)
{
    enum colander_code code =
        backup_directory_open(&restoring->backups, path, false, err);
    char name[BACKUP_NAME_SIZE];
    char *whole;

    if (code == COLANDER_OK)
        code = choose(restoring, number, err);
    if (code != COLANDER_OK)
        return code;
    backup_name(restoring->restored.number, BACKUP_WHOLE, name);
    if (asprintf(&whole, "%s/%s", path, name) < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    code =
        directory_open(&restoring->from, whole, COLANDER_OPEN_READ_ONLY, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "backup %s", name);
    free(whole);
    return code;
}

static enum colander_code
open_source(struct restoring *restoring, const char *path, uint64_t number,
            struct colander_error *err)
{
    enum colander_code code;

    if (!is_store(path))
        code = open_backup(restoring, path, number, err);
    else if (number != 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "it is a store, and has no backups with numbers");
    else
        code = directory_open(&restoring->from, path, COLANDER_OPEN_READ_ONLY,
                              err);
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot restore from '%s'", path);
    return code;
}

/* ------------------------------------------------------------- copying --- */

static bool
ends_with(const char *name, const char *end)
{
    const size_t size = strlen(name);
    const size_t end_size = strlen(end);

    return size >= end_size && strcmp(name + size - end_size, end) == 0;
}

/* Locks, logs for people, and what was not finished: of no use in a copy. The
 * record comes last. */
static bool
is_left_out(const char *name)
{
    return strcmp(name, DIRECTORY_RECORD) == 0 ||
           strcmp(name, DIRECTORY_LOCK) == 0 ||
           strcmp(name, DIRECTORY_RESTORING) == 0 ||
           strncmp(name, "LOG", 3) == 0 || ends_with(name, ".new") ||
           ends_with(name, ".tmp") || ends_with(name, ".dbtmp");
}

static enum colander_code
check_copy(const struct restoring *restoring, const char *name,
           struct colander_error *err)
{
    enum colander_code code;
    char *path;

    if (!ends_with(name, ".sst"))
        return COLANDER_OK;
    if (asprintf(&path, "%s/%s/%s", restoring->path, restoring->parent, name) <
        0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    code = sst_check_file(path, err);
    free(path);
    return code;
}

static enum colander_code
copy_file(struct restoring *restoring, int from, const char *name, int to,
          struct colander_error *err)
{
    enum colander_code code =
        files_copy(from, name, to, name, FILES_WHOLE, err);

    if (code == COLANDER_OK && restoring->parent != NULL)
        code = check_copy(restoring, name, err);
    if (code != COLANDER_OK)
        return code;
    restoring->restored.file_count++;
    restoring->restored.size += files_size(to, name);
    return COLANDER_OK;
}

/* A file in rocksdb/, say. */
static enum colander_code
copy_below(void *context, int directory, const char *name,
           struct colander_error *err)
{
    struct restoring *restoring = context;
    enum colander_code code;
    int to;

    if (is_left_out(name) || files_is_directory(directory, name))
        return COLANDER_OK;
    to = openat(restoring->to.fd, restoring->parent,
                O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (to < 0)
        return files_fail(err, "open", restoring->parent);
    code = copy_file(restoring, directory, name, to, err);
    (void)close(to);
    return code;
}

static enum colander_code
copy_one(void *context, int directory, const char *name,
         struct colander_error *err)
{
    struct restoring *restoring = context;
    enum colander_code code;

    if (is_left_out(name) || strncmp(name, BULK_DIRECTORY_PREFIX,
                                     sizeof(BULK_DIRECTORY_PREFIX) - 1) == 0)
        return COLANDER_OK;
    if (!files_is_directory(directory, name))
        return copy_file(restoring, directory, name, restoring->to.fd, err);
    if (mkdirat(restoring->to.fd, name, 0700) != 0)
        return files_fail(err, "make", name);
    restoring->parent = name;
    code = files_visit(directory, name, copy_below, restoring, err);
    restoring->parent = NULL;
    return code;
}

/* ------------------------------------------------------------ checking --- */

/* All SST files that the MANIFEST tells of must be there. */
static enum colander_code
check_tables(const struct version_log *log, int engine,
             struct colander_error *err)
{
    for (size_t i = 0; i < log->table_count; i++) {
        const struct version_table *table = &log->tables[i];
        const struct version_family *family =
            version_log_family(log, table->family);
        char name[32];
        uint64_t size;

        if (!table->is_live || family == NULL || family->is_dropped)
            continue;
        (void)snprintf(name, sizeof(name), "%06" PRIu64 ".sst", table->number);
        size = files_size(engine, name);
        if (size != table->size)
            return COLANDER_FAIL(err, COLANDER_CORRUPT,
                                 "'%s' has %" PRIu64 " bytes, and had %" PRIu64,
                                 name, size, table->size);
    }
    return COLANDER_OK;
}

/* What an open would look at: logs as long as they were, and all SST files. */
static enum colander_code
check_whole(const struct restoring *restoring, int engine, const char *path,
            struct colander_error *err)
{
    struct version_log log = VERSION_LOG_EMPTY;
    struct colander_recovery recovery;
    struct ledger *ledger;
    char manifest[32];
    enum colander_code code = ledger_open(restoring->to.fd, &ledger, err);

    if (code == COLANDER_OK)
        code = logs_check(path, ledger, &recovery, err);
    ledger_close(ledger);
    if (code == COLANDER_OK)
        code = logs_read_current(path, manifest, sizeof(manifest), err);
    if (code == COLANDER_OK && manifest[0] == '\0')
        code = COLANDER_FAIL(err, COLANDER_CORRUPT, "it has no CURRENT");
    if (code == COLANDER_OK)
        code = version_log_read(&log, engine, manifest, err);
    if (code == COLANDER_OK && !log.is_whole)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "%s cannot be read to its end", manifest);
    if (code == COLANDER_OK)
        code = check_tables(&log, engine, err);
    version_log_release(&log);
    return code;
}

static enum colander_code
check_database(const struct restoring *restoring, struct colander_error *err)
{
    const int engine = openat(restoring->to.fd, DIRECTORY_ENGINE,
                              O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum colander_code code;
    char *path;

    if (engine < 0)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "it has no '" DIRECTORY_ENGINE "'");
    if (asprintf(&path, "%s/" DIRECTORY_ENGINE, restoring->path) < 0) {
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    } else {
        code = check_whole(restoring, engine, path, err);
        free(path);
    }
    (void)close(engine);
    return code;
}

/* ------------------------------------------------------------- making --- */

/* The record makes it a store. */
static enum colander_code
copy_record(struct restoring *restoring, struct colander_error *err)
{
    struct colander_buffer record = COLANDER_BUFFER_EMPTY;
    struct colander_options kept;
    enum colander_code code =
        directory_read_record(&restoring->from, &record, err);

    colander_options_init(&kept);
    if (code == COLANDER_OK)
        code = options_decode(colander_buffer_slice(&record), &kept, err);
    if (code == COLANDER_OK)
        code = directory_write_record(&restoring->to,
                                      colander_buffer_slice(&record), err);
    if (code == COLANDER_OK) {
        restoring->restored.file_count++;
        restoring->restored.size += record.size;
    }
    colander_buffer_release(&record);
    return code;
}

/* All but what says that more may have to be removed. */
static enum colander_code
remove_made(void *context, int directory, const char *name,
            struct colander_error *err)
{
    (void)context;
    (void)err;
    if (strcmp(name, DIRECTORY_RESTORING) != 0)
        files_remove(directory, name);
    return COLANDER_OK;
}

static void
remove_all_made(int directory)
{
    (void)files_visit(directory, ".", remove_made, NULL, NULL);
    files_remove(directory, DIRECTORY_RESTORING);
}

/* Removes what a killed process has left of a restore. */
static enum colander_code
remove_unfinished(const char *path, struct colander_error *err)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum colander_code code = COLANDER_OK;
    int lock_fd;

    if (fd < 0)
        return COLANDER_OK;
    if (faccessat(fd, DIRECTORY_RESTORING, F_OK, 0) == 0 &&
        faccessat(fd, DIRECTORY_RECORD, F_OK, 0) != 0) {
        lock_fd =
            openat(fd, DIRECTORY_LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (lock_fd < 0)
            code = files_fail(err, "open", DIRECTORY_LOCK);
        else if (flock(lock_fd, LOCK_EX | LOCK_NB) == 0)
            remove_all_made(fd);
        else
            code = COLANDER_FAIL(err, COLANDER_BUSY,
                                 "another process restores to it");
        if (lock_fd >= 0)
            (void)close(lock_fd);
    }
    (void)close(fd);
    return code;
}

/* Without it a part of a store might be taken for one that lost its record. */
static enum colander_code
mark_unfinished(const struct restoring *restoring, struct colander_error *err)
{
    enum colander_code code = files_write(restoring->to.fd, DIRECTORY_RESTORING,
                                          colander_slice_text(""), err);

    return code == COLANDER_OK ? files_sync_names(restoring->to.fd, ".", err)
                               : code;
}

/* What is there already stays as it is: it must be nothing. */
static enum colander_code
check_vacant(void *context, int directory, const char *name,
             struct colander_error *err)
{
    (void)context;
    (void)directory;
    if (strcmp(name, DIRECTORY_LOCK) == 0)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_EXISTS, "it has '%s' already", name);
}

static enum colander_code
copy_all(struct restoring *restoring, struct colander_error *err)
{
    enum colander_code code = mark_unfinished(restoring, err);

    if (code == COLANDER_OK)
        code = files_visit(restoring->from.fd, ".", copy_one, restoring, err);
    if (code == COLANDER_OK)
        code = check_database(restoring, err);
    if (code == COLANDER_OK)
        code = files_sync_tree(restoring->to.fd, err);
    if (code == COLANDER_OK) {
        files_remove(restoring->to.fd, DIRECTORY_RESTORING);
        code = copy_record(restoring, err);
    }
    if (code != COLANDER_OK)
        remove_all_made(restoring->to.fd);
    return code;
}

static enum colander_code
make_store(struct restoring *restoring, struct colander_error *err)
{
    enum colander_code code = remove_unfinished(restoring->path, err);

    if (code == COLANDER_OK)
        code = directory_open(&restoring->to, restoring->path,
                              COLANDER_OPEN_NEW, err);
    if (code == COLANDER_OK)
        code = files_visit(restoring->to.fd, ".", check_vacant, NULL, err);
    if (code == COLANDER_OK)
        code = copy_all(restoring, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot restore to '%s'", restoring->path);
    return code;
}

enum colander_code
colander_backup_restore(const char *directory, uint64_t number,
                        const char *path, struct colander_backup *restored,
                        struct colander_error *err)
{
    struct restoring restoring = RESTORING_EMPTY;
    enum colander_code code;

    restoring.path = path;
    code = open_source(&restoring, directory, number, err);
    if (code == COLANDER_OK)
        code = make_store(&restoring, err);
    if (code == COLANDER_OK && restored != NULL) {
        restoring.restored.copied_count = restoring.restored.file_count;
        restoring.restored.copied_size = restoring.restored.size;
        *restored = restoring.restored;
    }
    directory_close(&restoring.to);
    directory_close(&restoring.from);
    backup_directory_close(&restoring.backups);
    return code;
}
