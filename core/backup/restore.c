/*
 * Stores made from backups.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/backup/backup_directory.h"
#include "core/backup/store_copy.h"
#include "core/directory.h"
#include "core/drop_report.h"
#include "core/logs.h"
#include "core/manifest.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

struct restore {
    struct backup_directory backups; /* closed: the source is a store itself */
    struct directory from;
    const struct colander_backup_source *source; /* instead; or NULL */
    struct directory to;
    struct store_copy copy;
    const char *parent; /* directory of the files being copied; NULL: the top */
};

/* -------------------------------------------------------------- source --- */

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

/* Finds backup `number`, or the newest for 0. */
static enum colander_code
choose(struct restore *restore, uint64_t number, struct colander_error *err)
{
    const struct files_numbers *numbers = &restore->backups.numbers;

    for (size_t i = 0; i < numbers->count; i++) {
        if (number == 0 || number == numbers->list[i])
            restore->copy.counts.number = numbers->list[i];
    }
    if (restore->copy.counts.number != 0)
        return COLANDER_OK;
    if (numbers->count == 0)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND, "it has no backups");
    return COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                         "it has no backup %" PRIu64
                         ", but %zu others, from %06" PRIu64 " to %06" PRIu64,
                         number, numbers->count, numbers->list[0],
                         numbers->list[numbers->count - 1]);
}

static enum colander_code
open_backup(struct restore *restore, const char *path, uint64_t number,
            struct colander_error *err)
{
    enum colander_code code =
        backup_directory_open(&restore->backups, path, false, err);
    struct numbered_name name;
    char *whole;

    if (code == COLANDER_OK)
        code = choose(restore, number, err);
    if (code != COLANDER_OK)
        return code;
    name = files_name("", restore->copy.counts.number, BACKUP_WHOLE);
    if (asprintf(&whole, "%s/%s", path, name.text) < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    code = directory_open(&restore->from, whole, COLANDER_OPEN_READ_ONLY, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "backup %s", name.text);
    free(whole);
    return code;
}

static enum colander_code
open_source(struct restore *restore, const char *path, uint64_t number,
            struct colander_error *err)
{
    enum colander_code code;

    if (!is_store(path))
        code = open_backup(restore, path, number, err);
    else if (number != 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "it is a store, and has no backups with numbers");
    else
        code =
            directory_open(&restore->from, path, COLANDER_OPEN_READ_ONLY, err);
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

/* Skips locks, text logs and unfinished files, what no copy has, and the
 * record, which is copied last. */
static bool
is_skipped(const char *name)
{
    return strcmp(name, DIRECTORY_RECORD) == 0 ||
           strcmp(name, DIRECTORY_LOCK) == 0 ||
           strcmp(name, DIRECTORY_ORIGINAL) == 0 ||
           strcmp(name, DIRECTORY_RESTORING) == 0 ||
           strncmp(name, "LOG", 3) == 0 || ends_with(name, ".new") ||
           ends_with(name, ".tmp") || ends_with(name, ".dbtmp") ||
           directory_is_bulk(name);
}

static enum colander_code
copy_one(void *context, int directory, const char *name,
         struct colander_error *err)
{
    struct restore *restore = context;
    const bool is_directory = files_is_directory(directory, name) &&
                              strcmp(name, LEDGER_FILE) != 0 &&
                              strcmp(name, DROP_REPORT_FILE) != 0;
    char path[2 * NAME_MAX + 2];
    const struct backup_file file = {.name = path, .size = FILES_WHOLE};
    enum colander_code code;

    if (is_skipped(name) || (is_directory && restore->parent != NULL))
        return COLANDER_OK;
    if (is_directory) {
        restore->parent = name;
        code = files_visit(directory, name, copy_one, restore, err);
        restore->parent = NULL;
        return code;
    }
    (void)snprintf(path, sizeof(path), "%s%s%s",
                   restore->parent == NULL ? "" : restore->parent,
                   restore->parent == NULL ? "" : "/", name);
    return store_copy_file(&restore->copy, &file, err);
}

/* ------------------------------------------------------------ fetching --- */

#define RECORD_FETCHED                                                         \
    DIRECTORY_RECORD ".tmp" /* the record, until all is there */

/* A list may come from anywhere. Accepts NAME and DIRECTORY/NAME. */
static bool
is_file_name(const char *name)
{
    const size_t size = strlen(name);
    unsigned slash_count = 0;

    for (size_t i = 0; i < size; i++) {
        const char c = name[i];
        const bool is_first = i == 0 || name[i - 1] == '/';
        const bool is_letter = (c >= 'a' && c <= 'z') ||
                               (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!is_letter && (is_first || strchr("._-/", c) == NULL))
            return false;
        slash_count += c == '/';
    }
    return size > 0 && size <= NAME_MAX && slash_count <= 1 &&
           name[size - 1] != '/';
}

static const char *
fetched_name(const char *name)
{
    return strcmp(name, DIRECTORY_RECORD) == 0 ? RECORD_FETCHED : name;
}

static enum colander_code
fetch_one(struct restore *restore, size_t index, struct colander_error *err)
{
    const struct colander_backup_source *source = restore->source;
    const char *name = source->names[index];
    enum colander_code code;
    int fd;

    if (!is_file_name(name) ||
        (is_skipped(name) && strcmp(name, DIRECTORY_RECORD) != 0))
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "it has a file that no store has: '%.200s'", name);
    code = store_copy_create(&restore->copy, fetched_name(name), &fd, err);
    return code == COLANDER_OK ? source->get(source->context, index, fd, err)
                               : code;
}

static enum colander_code
fetch_all(struct restore *restore, struct colander_error *err)
{
    const struct colander_backup_source *source = restore->source;
    enum colander_code code = COLANDER_OK;
    enum colander_code waited;

    for (size_t i = 0; i < source->count && code == COLANDER_OK; i++)
        code = fetch_one(restore, i, err);
    waited = source->wait(source->context, code == COLANDER_OK ? err : NULL);
    if (code == COLANDER_OK)
        code = waited;
    for (size_t i = 0; i < source->count && code == COLANDER_OK; i++)
        code = store_copy_finish(&restore->copy, fetched_name(source->names[i]),
                                 err);
    return code;
}

/* Makes the directory a store. */
static enum colander_code
place_record(struct restore *restore, struct colander_error *err)
{
    const int to = restore->to.fd;
    struct colander_options kept;
    enum colander_code code;

    if (renameat(to, RECORD_FETCHED, to, DIRECTORY_RECORD) != 0)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "it has no '" DIRECTORY_RECORD "'");
    code = files_sync_names(to, ".", err);
    return code == COLANDER_OK
               ? directory_read_options(&restore->to, &kept, err)
               : code;
}

/* ------------------------------------------------------------ checking --- */

/* Checks that the SST files of the MANIFEST are there. */
static enum colander_code
check_tables(const struct manifest *manifest, int to,
             struct colander_error *err)
{
    for (size_t i = 0; i < manifest->table_count; i++) {
        const struct manifest_table *table = &manifest->tables[i];
        const struct numbered_name name =
            files_name(DIRECTORY_ENGINE "/", table->number, ".sst");
        const uint64_t size = files_size(to, name.text);

        if (manifest_has_table(manifest, table) && size != table->size)
            return COLANDER_FAIL(err, COLANDER_CORRUPT,
                                 "'%s' has %" PRIu64 " bytes, and had %" PRIu64,
                                 name.text, size, table->size);
    }
    return COLANDER_OK;
}

static enum colander_code
check_manifest(int to, struct ledger *ledger, struct colander_error *err)
{
    struct manifest manifest = {0};
    uint64_t number;
    enum colander_code code;
    const int engine =
        openat(to, DIRECTORY_ENGINE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (engine < 0)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "it has no '" DIRECTORY_ENGINE "'");
    code = logs_read_current(engine, &number, err);
    if (code == COLANDER_OK && number == 0)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT, "it has no CURRENT");
    if (code == COLANDER_OK)
        code = manifest_read(&manifest, engine, number, ledger, err);
    if (code == COLANDER_OK && !manifest.is_whole)
        code = COLANDER_FAIL(
            err, COLANDER_CORRUPT,
            LOGS_MANIFEST "%06" PRIu64 " cannot be read to its end", number);
    if (code == COLANDER_OK)
        code = check_tables(&manifest, to, err);
    manifest_release(&manifest);
    (void)close(engine);
    return code;
}

/* Checks what an open would: that logs are as long as they were, and that all
 * SST files are there. */
static enum colander_code
check_database(const struct restore *restore, struct colander_error *err)
{
    struct colander_recovery recovery;
    struct ledger *ledger;
    enum colander_code code = ledger_open(restore->to.fd, &ledger, err);

    if (code == COLANDER_OK)
        code = logs_check(restore->to.fd, DIRECTORY_ENGINE, ledger, false,
                          &recovery, err);
    if (code == COLANDER_OK)
        code = check_manifest(restore->to.fd, ledger, err);
    ledger_close(ledger);
    return code;
}

/* ------------------------------------------------------------- storing --- */

/* Copies the record, which makes the directory a store. */
static enum colander_code
copy_record(struct restore *restore, struct colander_error *err)
{
    struct colander_options kept;
    enum colander_code code =
        directory_read_options(&restore->from, &kept, err);

    if (code == COLANDER_OK)
        code = directory_write_options(&restore->to, &kept, err);
    if (code == COLANDER_OK)
        store_copy_count(&restore->copy, DIRECTORY_RECORD, true);
    return code;
}

static enum colander_code
remove_but_mark(void *context, int directory, const char *name,
                struct colander_error *err)
{
    (void)context;
    (void)err;
    if (strcmp(name, DIRECTORY_RESTORING) != 0)
        files_remove(directory, name);
    return COLANDER_OK;
}

/* Removes all of an unfinished restore, and last what marks it as such. */
static void
remove_all(int directory)
{
    (void)files_visit(directory, ".", remove_but_mark, NULL, NULL);
    files_remove(directory, DIRECTORY_RESTORING);
}

/* Removes what a killed process left of a restore. */
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
        code = files_open(fd, DIRECTORY_LOCK, O_RDWR | O_CREAT, &lock_fd, err);
        if (code == COLANDER_OK && flock(lock_fd, LOCK_EX | LOCK_NB) == 0)
            remove_all(fd);
        else if (code == COLANDER_OK)
            code = COLANDER_FAIL(err, COLANDER_BUSY,
                                 "another process restores to it");
        if (lock_fd >= 0)
            (void)close(lock_fd);
    }
    (void)close(fd);
    return code;
}

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
copy_all(struct restore *restore, struct colander_error *err)
{
    const int to = restore->to.fd;
    enum colander_code code =
        files_write(to, DIRECTORY_RESTORING, colander_slice_text(""), err);

    restore->copy.from = restore->from.fd;
    restore->copy.to = to;
    /* Without the mark a part of a store could pass for one that lost its
     * record. */
    if (code == COLANDER_OK)
        code = files_sync_names(to, ".", err);
    if (code == COLANDER_OK)
        code = restore->source != NULL
                   ? fetch_all(restore, err)
                   : files_visit(restore->from.fd, ".", copy_one, restore, err);
    if (code == COLANDER_OK)
        code = check_database(restore, err);
    if (code == COLANDER_OK)
        code = files_sync_tree(to, err);
    if (code == COLANDER_OK) {
        files_remove(to, DIRECTORY_RESTORING);
        code = restore->source != NULL ? place_record(restore, err)
                                       : copy_record(restore, err);
    }
    if (code != COLANDER_OK)
        remove_all(to);
    return code;
}

static enum colander_code
make_store(struct restore *restore, const char *path,
           struct colander_error *err)
{
    enum colander_code code = remove_unfinished(path, err);

    if (code == COLANDER_OK)
        code = directory_open(&restore->to, path, COLANDER_OPEN_NEW, err);
    if (code == COLANDER_OK)
        code = files_visit(restore->to.fd, ".", check_vacant, NULL, err);
    if (code == COLANDER_OK)
        code = copy_all(restore, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot restore to '%s'", path);
    return code;
}

enum colander_code
backup_restore(const char *directory, uint64_t number, const char *path,
               backup_check *check, struct colander_backup *restored,
               struct colander_error *err)
{
    struct restore restore = {
        .backups = BACKUP_DIRECTORY_CLOSED,
        .from = DIRECTORY_CLOSED,
        .to = DIRECTORY_CLOSED,
        .copy = {.shared = -1, .path = path, .check = check}};
    enum colander_code code = open_source(&restore, directory, number, err);

    if (code == COLANDER_OK)
        code = make_store(&restore, path, err);
    if (code == COLANDER_OK && restored != NULL)
        *restored = restore.copy.counts;
    directory_close(&restore.to);
    directory_close(&restore.from);
    backup_directory_close(&restore.backups);
    return code;
}

enum colander_code
backup_restore_from(const struct colander_backup_source *source,
                    const char *path, backup_check *check,
                    struct colander_backup *restored,
                    struct colander_error *err)
{
    struct restore restore = {
        .backups = BACKUP_DIRECTORY_CLOSED,
        .from = DIRECTORY_CLOSED,
        .source = source,
        .to = DIRECTORY_CLOSED,
        .copy = {.from = -1, .shared = -1, .path = path, .check = check}};
    enum colander_code code = make_store(&restore, path, err);

    if (code == COLANDER_OK && restored != NULL)
        *restored = restore.copy.counts;
    directory_close(&restore.to);
    return code;
}
