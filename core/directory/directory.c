/* SPDX-License-Identifier: MIT */
#include "core/directory.h"

#include "core/drop_report.h"
#include "core/files.h"
#include "core/ledger.h"
#include "core/options.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define RECORD_NEW DIRECTORY_RECORD ".new"
#define ORIGINAL_NEW DIRECTORY_ORIGINAL ".new"

/* ------------------------------------------------------------- holders --- */

/* Returns the process that holds a lock on the file according to /proc/locks,
 * or 0. A line reads "1: FLOCK  ADVISORY  WRITE 1234 fe:00:10954891 0 EOF". */
static long
find_holder(int fd)
{
    struct stat status;
    FILE *locks;
    char line[256];
    long holder = 0;
    long likely = 0; /* same inode, on a device of another name */

    if (fstat(fd, &status) != 0)
        return 0;
    locks = fopen("/proc/locks", "re");
    if (locks == NULL)
        return 0;
    while (holder == 0 && fgets(line, sizeof(line), locks) != NULL) {
        unsigned device[2];
        uintmax_t inode;
        long pid;

        if (sscanf(line, "%*s FLOCK %*s %*s %ld %x:%x:%" SCNuMAX, &pid,
                   &device[0], &device[1], &inode) != 4 ||
            inode != (uintmax_t)status.st_ino || pid <= 0)
            continue;
        likely = pid;
        if (makedev(device[0], device[1]) == status.st_dev)
            holder = pid;
    }
    (void)fclose(locks);
    return holder != 0 ? holder : likely;
}

/* Returns the process id in the lock file, or 0. */
static long
read_pid(int fd)
{
    char text[32] = "";

    if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
        return 0;
    return strtol(text, NULL, 10);
}

static enum colander_code
fail_busy(int fd, struct colander_error *err)
{
    char path[64];
    char command[64] = "";
    long holder = find_holder(fd);
    FILE *file;

    if (holder == 0)
        holder = read_pid(fd);
    if (holder <= 0)
        return COLANDER_FAIL(err, COLANDER_BUSY,
                             "the store is held by another process");
    if (holder == (long)getpid())
        return COLANDER_FAIL(err, COLANDER_BUSY,
                             "the store is open in this process already");
    (void)snprintf(path, sizeof(path), "/proc/%ld/comm", holder);
    file = fopen(path, "re");
    if (file != NULL) {
        if (fgets(command, sizeof(command), file) == NULL)
            command[0] = '\0';
        command[strcspn(command, "\n")] = '\0';
        (void)fclose(file);
    }
    return COLANDER_FAIL(
        err, COLANDER_BUSY,
        "the store is held by process %ld%s%s%s; a store is open in one "
        "process, or in any number of processes that only read",
        holder, command[0] == '\0' ? "" : " (", command,
        command[0] == '\0' ? "" : ")");
}

/* ---------------------------------------------------------------- open --- */

/* Accepts only files of an unfinished creation. */
static enum colander_code
check_vacant(void *context, int directory, const char *name,
             struct colander_error *err)
{
    (void)context;
    (void)directory;
    if (strcmp(name, DIRECTORY_LOCK) == 0 ||
        strcmp(name, DIRECTORY_ENGINE) == 0 || strcmp(name, LEDGER_FILE) == 0 ||
        strcmp(name, RECORD_NEW) == 0 || strcmp(name, DROP_REPORT_FILE) == 0 ||
        strcmp(name, DROP_REPORT_NEW) == 0)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "it is not a store: it has files, but no '%s'",
                         DIRECTORY_RECORD);
}

/* Creates the directory and syncs its name. */
static enum colander_code
make_directory(const char *path, struct colander_error *err)
{
    if (mkdir(path, 0700) == 0)
        files_sync_parent(path);
    else if (errno != EEXIST)
        return files_fail(err, "create", path);
    return COLANDER_OK;
}

static enum colander_code
open_directory(struct directory *directory, const char *path,
               enum colander_open_mode mode, struct colander_error *err)
{
    bool may_create =
        mode == COLANDER_OPEN_OR_CREATE || mode == COLANDER_OPEN_NEW;
    enum colander_code code;

    directory->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory->fd < 0 && errno == ENOENT && may_create) {
        code = make_directory(path, err);
        if (code != COLANDER_OK)
            return code;
        directory->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    if (directory->fd >= 0)
        return COLANDER_OK;
    if (errno == ENOENT) {
        code = files_check_link(path, err);
        return code != COLANDER_OK ? code
                                   : COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                                                   "there is no such store");
    }
    if (errno == ENOTDIR)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "it is not a store: not a directory");
    return files_fail(err, "open", path);
}

/* Takes the lock. A writer writes its process id. */
static enum colander_code
lock_directory(struct directory *directory, bool is_writer,
               struct colander_error *err)
{
    enum colander_code code = files_open(
        directory->fd, DIRECTORY_LOCK, is_writer ? O_RDWR | O_CREAT : O_RDONLY,
        &directory->lock_fd, err);
    char pid[32];

    if (code != COLANDER_OK)
        return code == COLANDER_NOT_FOUND && !is_writer ? COLANDER_OK : code;
    if (flock(directory->lock_fd, (is_writer ? LOCK_EX : LOCK_SH) | LOCK_NB) !=
        0) {
        if (errno == EWOULDBLOCK)
            return fail_busy(directory->lock_fd, err);
        return files_fail(err, "lock", DIRECTORY_LOCK);
    }
    if (is_writer) {
        (void)snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
        /* a hint, for systems whose /proc/locks does not say */
        if (ftruncate(directory->lock_fd, 0) == 0 &&
            pwrite(directory->lock_fd, pid, strlen(pid), 0) < 0)
            (void)ftruncate(directory->lock_fd, 0);
    }
    return COLANDER_OK;
}

/* Checks what the directory has, before anything is written. */
static enum colander_code
check_content(struct directory *directory, enum colander_open_mode mode,
              struct colander_error *err)
{
    enum colander_code code;

    if (faccessat(directory->fd, DIRECTORY_RECORD, F_OK, 0) == 0) {
        directory->is_store = true;
        if (mode == COLANDER_OPEN_NEW)
            return COLANDER_FAIL(err, COLANDER_EXISTS,
                                 "there is a store already");
        return COLANDER_OK;
    }
    if (errno != ENOENT)
        return files_fail(err, "look for", DIRECTORY_RECORD);
    code = files_visit(directory->fd, ".", check_vacant, NULL, err);
    if (code != COLANDER_OK)
        return code;
    if (mode == COLANDER_OPEN_EXISTING || mode == COLANDER_OPEN_READ_ONLY)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                             "the directory holds no store");
    return COLANDER_OK;
}

/* Opens /dev/null as each standard descriptor that is closed. A file of the
 * store must not become standard output, which printf writes to. */
static enum colander_code
occupy_standard_descriptors(struct colander_error *err)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
        if (fd < 0)
            return files_fail(err, "open", "/dev/null");
    } while (fd <= STDERR_FILENO);
    (void)close(fd);
    return COLANDER_OK;
}

enum colander_code
directory_open(struct directory *directory, const char *path,
               enum colander_open_mode mode, struct colander_error *err)
{
    const struct directory closed = DIRECTORY_CLOSED;
    enum colander_code code;

    *directory = closed;
    code = occupy_standard_descriptors(err);
    if (code == COLANDER_OK)
        code = open_directory(directory, path, mode, err);
    /* first, so that no lock file is made in a directory of other programs */
    if (code == COLANDER_OK)
        code = check_content(directory, mode, err);
    if (code == COLANDER_OK)
        code = lock_directory(directory, mode != COLANDER_OPEN_READ_ONLY, err);
    /* again: another process may just have made the store */
    if (code == COLANDER_OK)
        code = check_content(directory, mode, err);
    if (code == COLANDER_OK && !directory->is_store &&
        fchmod(directory->fd, 0700) != 0)
        code = files_fail(err, "make private", path);
    if (code != COLANDER_OK)
        directory_close(directory);
    return code;
}

enum colander_code
directory_open_damaged(struct directory *directory, const char *path,
                       bool is_writer, struct colander_error *err)
{
    const struct directory closed = DIRECTORY_CLOSED;
    enum colander_code code;

    *directory = closed;
    code = occupy_standard_descriptors(err);
    if (code == COLANDER_OK)
        code = open_directory(directory, path, COLANDER_OPEN_EXISTING, err);
    if (code == COLANDER_OK &&
        faccessat(directory->fd, DIRECTORY_ENGINE, F_OK, 0) != 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "it is not a store: it has no '" DIRECTORY_ENGINE
                             "', where rows would be");
    /* other programs may also have a directory called rocksdb */
    if (code == COLANDER_OK && is_writer &&
        faccessat(directory->fd, DIRECTORY_RECORD, F_OK, 0) != 0 &&
        faccessat(directory->fd, LEDGER_FILE, F_OK, 0) != 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "it is not a store: it has neither "
                             "'" DIRECTORY_RECORD "' nor '" LEDGER_FILE "'");
    if (code == COLANDER_OK)
        code = lock_directory(directory, is_writer, err);
    if (code == COLANDER_OK)
        directory->is_store =
            faccessat(directory->fd, DIRECTORY_RECORD, F_OK, 0) == 0;
    if (code == COLANDER_OK && !directory->is_store &&
        faccessat(directory->fd, DIRECTORY_RESTORING, F_OK, 0) == 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "a backup was being restored to it, and that did "
                             "not finish: restore it again");
    if (code != COLANDER_OK)
        directory_close(directory);
    return code;
}

/* -------------------------------------------------------------- record --- */

static enum colander_code
read_record(const struct directory *directory, struct colander_buffer *record,
            struct colander_error *err)
{
    ssize_t got = 1;
    int fd;
    enum colander_code code =
        files_open(directory->fd, DIRECTORY_RECORD, O_RDONLY, &fd, err);

    if (code != COLANDER_OK)
        return code;
    while (code == COLANDER_OK && got > 0 &&
           record->size <= OPTIONS_RECORD_SIZE_MAX) {
        code = colander_buffer_reserve(record, 4096, err);
        if (code != COLANDER_OK)
            break;
        got = read(fd, record->data + record->size, 4096);
        if (got < 0)
            code = files_fail(err, "read", DIRECTORY_RECORD);
        else
            record->size += (size_t)got;
    }
    (void)close(fd);
    return code;
}

/* Reads the identity of the database. It is empty if there is none, or none
 * that RocksDB wrote. */
static enum colander_code
read_identity(const struct directory *directory,
              struct store_identity *identity, struct colander_error *err)
{
    char text[sizeof(identity->text)];
    ssize_t got;
    int fd;
    enum colander_code code =
        files_open(directory->fd, DIRECTORY_IDENTITY, O_RDONLY, &fd, err);

    memset(identity, 0, sizeof(*identity));
    if (code == COLANDER_CORRUPT) /* the record is not damaged */
        return COLANDER_FAIL(err, COLANDER_IO,
                             "'" DIRECTORY_IDENTITY "' is not a regular file");
    if (code != COLANDER_OK)
        return code == COLANDER_NOT_FOUND ? COLANDER_OK : code;
    got = pread(fd, text, sizeof(text), 0);
    if (got < 0)
        code = files_fail(err, "read", DIRECTORY_IDENTITY);
    (void)close(fd);
    if (got > 0 && text[got - 1] == '\n')
        got--;
    if (got > 0 &&
        store_identity_is_valid(colander_slice_of(text, (size_t)got)))
        memcpy(identity->text, text, (size_t)got);
    return code;
}

/* Reads COLANDER, with the identity that it has. */
static enum colander_code
decode_record(const struct directory *directory,
              struct colander_options *options, struct store_identity *identity,
              struct colander_error *err)
{
    struct colander_buffer record = COLANDER_BUFFER_EMPTY;
    enum colander_code code = read_record(directory, &record, err);

    colander_options_init(options);
    if (code == COLANDER_OK)
        code = options_decode(colander_buffer_slice(&record), options, identity,
                              err);
    colander_buffer_release(&record);
    return code;
}

/* With the options of another store RocksDB might delete rows: those beyond
 * fifo_size. */
enum colander_code
directory_read_options(const struct directory *directory,
                       struct colander_options *options,
                       struct colander_error *err)
{
    struct store_identity expected;
    struct store_identity present;
    enum colander_code code = decode_record(directory, options, &expected, err);

    if (code != COLANDER_OK)
        return code;
    code = read_identity(directory, &present, err);
    if (code == COLANDER_OK && expected.text[0] != '\0' &&
        present.text[0] != '\0' && strcmp(expected.text, present.text) != 0)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "the record '" DIRECTORY_RECORD
                             "' is of another store: it has the identity %s, "
                             "and '" DIRECTORY_IDENTITY "' has %s",
                             expected.text, present.text);
    if (code != COLANDER_OK)
        colander_options_init(options);
    return code;
}

enum colander_code
directory_keep_identity(const struct directory *directory,
                        struct colander_error *err)
{
    struct colander_options options;
    struct store_identity expected;
    struct store_identity present;
    enum colander_code code =
        decode_record(directory, &options, &expected, err);

    if (code == COLANDER_OK)
        code = read_identity(directory, &present, err);
    if (code != COLANDER_OK || expected.text[0] == '\0' ||
        present.text[0] != '\0' ||
        !files_is_directory(directory->fd, DIRECTORY_ENGINE))
        return code;
    code = files_replace(directory->fd, DIRECTORY_IDENTITY,
                         DIRECTORY_IDENTITY ".dbtmp",
                         colander_slice_text(expected.text), err);
    return code == COLANDER_OK
               ? files_sync_names(directory->fd, DIRECTORY_ENGINE, err)
               : code;
}

enum colander_code
directory_write_options(struct directory *directory,
                        const struct colander_options *options,
                        struct colander_error *err)
{
    struct colander_buffer record = COLANDER_BUFFER_EMPTY;
    struct colander_buffer present = COLANDER_BUFFER_EMPTY;
    struct store_identity identity;
    enum colander_code code = read_identity(directory, &identity, err);

    if (code == COLANDER_OK)
        code = options_encode(options, &identity, &record, err);
    if (code == COLANDER_OK && directory->is_store)
        code = read_record(directory, &present, err);
    if (code == COLANDER_OK &&
        !colander_slice_equal(colander_buffer_slice(&record),
                              colander_buffer_slice(&present)))
        code = files_replace(directory->fd, DIRECTORY_RECORD, RECORD_NEW,
                             colander_buffer_slice(&record), err);
    directory->is_store = directory->is_store || code == COLANDER_OK;
    colander_buffer_release(&record);
    colander_buffer_release(&present);
    return code;
}

/* ------------------------------------------------------------ original --- */

#define ORIGINAL_SIZE 32

static enum colander_code
draw_original(const struct directory *directory, struct colander_buffer *text,
              struct colander_error *err)
{
    char digits[ORIGINAL_SIZE + 1];
    uint8_t bytes[ORIGINAL_SIZE / 2];
    enum colander_code code;

    /* so few bytes are never cut short */
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return COLANDER_FAIL(err, COLANDER_IO, "cannot get random bytes: %s",
                             strerror(errno));
    for (size_t i = 0; i < sizeof(bytes); i++)
        (void)snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
    code = files_replace(directory->fd, DIRECTORY_ORIGINAL, ORIGINAL_NEW,
                         colander_slice_of(digits, ORIGINAL_SIZE), err);
    return code == COLANDER_OK
               ? colander_buffer_append(text, digits, ORIGINAL_SIZE, err)
               : code;
}

enum colander_code
directory_read_original(const struct directory *directory, bool creates,
                        struct colander_buffer *text,
                        struct colander_error *err)
{
    char digits[ORIGINAL_SIZE + 1] = "";
    ssize_t got = 0;
    int fd = -1;
    enum colander_code code =
        files_open(directory->fd, DIRECTORY_ORIGINAL, O_RDONLY, &fd, err);

    colander_buffer_clear(text);
    if (code != COLANDER_OK && code != COLANDER_NOT_FOUND)
        return code;
    if (fd >= 0) {
        got = pread(fd, digits, ORIGINAL_SIZE, 0);
        (void)close(fd);
    }
    if (got < 0)
        return files_fail(err, "read", DIRECTORY_ORIGINAL);
    if (strspn(digits, "0123456789abcdef") == ORIGINAL_SIZE)
        return colander_buffer_append(text, digits, ORIGINAL_SIZE, err);
    return creates ? draw_original(directory, text, err) : COLANDER_OK;
}

/* --------------------------------------------------------------- bulks --- */

bool
directory_is_bulk(const char *name)
{
    return strncmp(name, DIRECTORY_BULK, sizeof(DIRECTORY_BULK) - 1) == 0;
}

struct bulk_visit {
    enum colander_code (*visit)(void *context, int directory, const char *name,
                                struct colander_error *err);
    void *context;
};

static enum colander_code
visit_bulk(void *context, int directory, const char *name,
           struct colander_error *err)
{
    const struct bulk_visit *bulks = context;

    return directory_is_bulk(name)
               ? bulks->visit(bulks->context, directory, name, err)
               : COLANDER_OK;
}

enum colander_code
directory_visit_bulks(const struct directory *directory,
                      enum colander_code (*visit)(void *context, int directory,
                                                  const char *name,
                                                  struct colander_error *err),
                      void *context, struct colander_error *err)
{
    struct bulk_visit bulks = {visit, context};

    return files_visit(directory->fd, ".", visit_bulk, &bulks, err);
}

static enum colander_code
remove_bulk(void *context, int directory, const char *name,
            struct colander_error *err)
{
    (void)context;
    (void)err;
    files_remove(directory, name);
    return COLANDER_OK;
}

void
directory_remove_bulks(const struct directory *directory)
{
    (void)directory_visit_bulks(directory, remove_bulk, NULL, NULL);
}

void
directory_close(struct directory *directory)
{
    const struct directory closed = DIRECTORY_CLOSED;

    if (directory->lock_fd >= 0)
        (void)close(directory->lock_fd);
    if (directory->fd >= 0)
        (void)close(directory->fd);
    *directory = closed;
}
