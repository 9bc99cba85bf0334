/*
 * Reader: a backup that is opened as a store where it is.
 *
 * Its small files are downloaded into a temporary directory. SST files and
 * filters are there as files of the same size without content, so that whatever
 * looks for names and sizes finds them. Their bytes are read piece by piece,
 * from the local disk if they were read before, else by one request for all
 * pieces in a row that are missing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/backups.h"
#include "cluster/cluster.h"
#include "cluster/object_cache.h"
#include "cluster/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Most pieces of one request. */
#define PIECES_MAX 256

struct cluster_reader {
    struct objects *objects;
    struct object_cache *cache;
    struct file_list files;
    char *word;   /* the address, as it was given */
    char *path;   /* of the temporary directory */
    int64_t made; /* when the backup was */
    struct colander_remote_files remote;
    struct colander_error_name name; /* of the temporary directory */
    atomic_uint_fast64_t request_count;
    atomic_uint_fast64_t fetched_size;
    atomic_uint_fast64_t cached_size;
};

/* Most bytes of the list of a backup. */
#define LIST_SIZE_MAX ((uint64_t)256 << 20)

static enum colander_code
fail_errno(struct colander_error *err, const char *what, const char *path)
{
    return COLANDER_FAIL(err, COLANDER_IO, "cannot %s '%s': %s", what, path,
                         strerror(errno));
}

/* -------------------------------------------------------------- pieces --- */

static size_t
piece_size(uint64_t object_size, uint64_t index)
{
    const uint64_t left = object_size - index * OBJECT_PIECE_SIZE;

    return left < OBJECT_PIECE_SIZE ? (size_t)left : OBJECT_PIECE_SIZE;
}

/* Gets pieces `first` to `end` - 1 of an object of `size` bytes, by one
 * request, and keeps them. */
static enum colander_code
get_pieces(struct cluster_reader *reader, const char *object, uint64_t size,
           uint64_t first, uint64_t end, uint8_t *bytes,
           struct colander_error *err)
{
    const uint64_t offset = first * OBJECT_PIECE_SIZE;
    const size_t wanted = (size_t)((end - 1 - first) * OBJECT_PIECE_SIZE) +
                          piece_size(size, end - 1);
    struct colander_buffer got = COLANDER_BUFFER_EMPTY;
    enum colander_code code =
        objects_get(reader->objects, object, offset, wanted, &got, err);

    if (code == COLANDER_NOT_FOUND)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT, "'%s' is missing", object);
    if (code == COLANDER_OK && got.size != wanted)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "'%s' has not the %" PRIu64
                             " bytes that the list of the backup says",
                             object, size);
    atomic_fetch_add(&reader->request_count, 1);
    atomic_fetch_add(&reader->fetched_size, got.size);
    if (code == COLANDER_OK) {
        memcpy(bytes, got.data, wanted);
        for (uint64_t i = first; i < end; i++)
            object_cache_put(reader->cache, object, i,
                             got.data + (i - first) * OBJECT_PIECE_SIZE,
                             piece_size(size, i));
    }
    colander_buffer_release(&got);
    return code;
}

/* Reads pieces `first` to `end` - 1. */
static enum colander_code
read_pieces(struct cluster_reader *reader, const char *object, uint64_t size,
            uint64_t first, uint64_t end, uint8_t *bytes,
            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    uint64_t missing = first; /* from there on to `at`, none is on the disk */

    for (uint64_t at = first; at <= end && code == COLANDER_OK; at++) {
        const bool is_there =
            at < end &&
            object_cache_get(reader->cache, object, at,
                             bytes + (at - first) * OBJECT_PIECE_SIZE,
                             piece_size(size, at));

        if (at < end && !is_there && at - missing < PIECES_MAX)
            continue;
        if (is_there)
            atomic_fetch_add(&reader->cached_size, piece_size(size, at));
        if (at > missing)
            code =
                get_pieces(reader, object, size, missing, at,
                           bytes + (missing - first) * OBJECT_PIECE_SIZE, err);
        missing = is_there ? at + 1 : at;
    }
    return code;
}

/* Reads bytes of an object that has `object_size`. */
static enum colander_code
read_object(struct cluster_reader *reader, const char *object,
            uint64_t object_size, uint64_t offset, uint8_t *bytes, size_t size,
            struct colander_error *err)
{
    const uint64_t first = offset / OBJECT_PIECE_SIZE;
    const uint64_t end =
        (offset + size + OBJECT_PIECE_SIZE - 1) / OBJECT_PIECE_SIZE;
    enum colander_code code;
    uint8_t *pieces;

    if (size == 0)
        return COLANDER_OK;
    if (offset > object_size || size > object_size - offset)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "'%s' ends before byte %" PRIu64, object,
                             offset + size);
    pieces = malloc((size_t)(end - first) * OBJECT_PIECE_SIZE);
    if (pieces == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for '%s'",
                             object);
    code = read_pieces(reader, object, object_size, first, end, pieces, err);
    if (code == COLANDER_OK)
        memcpy(bytes, pieces + (offset - first * OBJECT_PIECE_SIZE), size);
    free(pieces);
    return code;
}

static enum colander_code
read_listed(struct cluster_reader *reader, const struct listed_file *file,
            uint64_t offset, uint8_t *bytes, size_t size,
            struct colander_error *err)
{
    const struct content_name object = content_object(&file->content, file->id);
    const enum colander_code code = read_object(
        reader, object.text, file->content.size, offset, bytes, size, err);

    if (code != COLANDER_OK)
        colander_error_context(err, "'%s'", file->name);
    return code;
}

/* The function of colander_remote_files. */
static enum colander_code
read_file(void *context, const char *path, uint64_t offset, uint8_t *bytes,
          size_t size, struct colander_error *err)
{
    struct cluster_reader *reader = context;
    const size_t above = strlen(reader->path) + 1;
    const struct listed_file *file =
        strlen(path) > above ? file_list_find(&reader->files, path + above)
                             : NULL;

    if (file == NULL)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                             "the backup has no file '%s'", path);
    return read_listed(reader, file, offset, bytes, size, err);
}

/* ----------------------------------------------------------- directory --- */

static bool
ends_with(const char *name, const char *end)
{
    const size_t size = strlen(name);
    const size_t end_size = strlen(end);

    return size >= end_size && strcmp(name + size - end_size, end) == 0;
}

/* Whether the file is read piece by piece. */
static bool
is_remote(const char *name)
{
    return ends_with(name, ".sst") || strncmp(name, "filters/", 8) == 0;
}

static enum colander_code
make_parents(const char *path, struct colander_error *err)
{
    char *copy = strdup(path);
    enum colander_code code = COLANDER_OK;

    if (copy == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    for (char *slash = strchr(copy + 1, '/');
         slash != NULL && code == COLANDER_OK; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0700) != 0 && errno != EEXIST)
            code = fail_errno(err, "create", copy);
        *slash = '/';
    }
    free(copy);
    return code;
}

static enum colander_code
write_file(int fd, const char *path, const uint8_t *bytes, uint64_t size,
           struct colander_error *err)
{
    uint64_t done = 0;

    while (done < size) {
        const ssize_t written = write(fd, bytes + done, size - done);

        if (written < 0 && errno != EINTR)
            return fail_errno(err, "write", path);
        done += written > 0 ? (uint64_t)written : 0;
    }
    return COLANDER_OK;
}

/* Small files are whole in memory once: logs are at most some 20 MiB. */
#define SMALL_SIZE_MAX ((uint64_t)1 << 30)

static enum colander_code
check_content(const struct listed_file *file, const uint8_t *bytes,
              struct colander_error *err)
{
    const struct object_body body = {-1, bytes, file->content.size};
    const struct content_name name = content_object(&file->content, file->id);
    struct content found;
    enum colander_code code = content_of(&body, &found, err);

    if (code == COLANDER_OK &&
        memcmp(found.hash, file->content.hash, CONTENT_HASH_SIZE) != 0)
        code = COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "'%s', which is '%s', is "
                             "damaged",
                             name.text, file->name);
    return code;
}

static enum colander_code
download(struct cluster_reader *reader, const struct listed_file *file, int fd,
         const char *path, struct colander_error *err)
{
    const uint64_t size = file->content.size;
    uint8_t *bytes;
    enum colander_code code;

    if (size > SMALL_SIZE_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "'%s' has %" PRIu64 " bytes, too many to read a "
                             "backup in place",
                             file->name, size);
    bytes = malloc(size + 1);
    if (bytes == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for '%s'",
                             file->name);
    code = read_listed(reader, file, 0, bytes, size, err);
    if (code == COLANDER_OK)
        code = check_content(file, bytes, err);
    if (code == COLANDER_OK)
        code = write_file(fd, path, bytes, size, err);
    free(bytes);
    return code;
}

struct place_job {
    struct cluster_reader *reader;
    const struct listed_file *file;
};

/* Creates one file of the directory. */
static enum colander_code
place_file(struct cluster_reader *reader, const struct listed_file *file,
           struct colander_error *err)
{
    enum colander_code code;
    char *path;
    int fd;

    if (asprintf(&path, "%s/%s", reader->path, file->name) < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    code = make_parents(path, err);
    if (code == COLANDER_OK) {
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0)
            code = fail_errno(err, "create", path);
        else if (!is_remote(file->name))
            code = download(reader, file, fd, path, err);
        else if (ftruncate(fd, (off_t)file->content.size) != 0)
            code = fail_errno(err, "extend", path);
        if (fd >= 0)
            (void)close(fd);
    }
    free(path);
    return code;
}

static enum colander_code
run_job(void *context, bool is_dropped, struct colander_error *err)
{
    struct place_job *job = context;
    enum colander_code code = COLANDER_OK;

    if (!is_dropped)
        code = place_file(job->reader, job->file, err);
    free(job);
    return code;
}

/* Files are named as a backup names them, and not "../x". */
static enum colander_code
check_name(const char *name, struct colander_error *err)
{
    const bool is_inside = name[0] != '/' && strstr(name, "..") == NULL &&
                           strstr(name, "//") == NULL;

    if (is_inside)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_CORRUPT,
                         "the list of the backup has a file '%s'", name);
}

static enum colander_code
place_files(struct cluster_reader *reader, struct colander_error *err)
{
    struct pool *pool;
    enum colander_code code = pool_create(run_job, &pool, err);
    enum colander_code finished;

    if (code != COLANDER_OK)
        return code;
    for (size_t i = 0; i < reader->files.count && code == COLANDER_OK; i++) {
        const struct listed_file *file = &reader->files.items[i];
        struct place_job *job;

        code = check_name(file->name, err);
        if (code == COLANDER_OK && is_remote(file->name)) {
            code = place_file(reader, file, err);
            continue;
        }
        if (code != COLANDER_OK)
            break;
        job = malloc(sizeof(*job));
        if (job == NULL) {
            code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory");
            break;
        }
        *job = (struct place_job){reader, file};
        code = pool_add(pool, job, err);
    }
    finished = pool_finish(pool, code == COLANDER_OK ? err : NULL);
    return code == COLANDER_OK ? finished : code;
}

static enum colander_code
make_directory(struct cluster_reader *reader, struct colander_error *err)
{
    const char *base = getenv("TMPDIR");
    char *path;

    if (asprintf(&path, "%s/colander-XXXXXX",
                 base == NULL || base[0] == '\0' ? "/tmp" : base) < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    if (mkdtemp(path) == NULL) {
        const enum colander_code code = fail_errno(err, "create", path);

        free(path);
        return code;
    }
    reader->path = realpath(path, NULL);
    if (reader->path == NULL)
        (void)rmdir(path);
    free(path);
    return reader->path != NULL
               ? COLANDER_OK
               : COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
}

static int
remove_one(const char *path, const struct stat *status, int kind,
           struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    (void)remove(path);
    return 0;
}

/* The function of colander_error_name: files are named by their objects. */
static void
write_name(void *context, const char *file, char *text, size_t size)
{
    const struct cluster_reader *reader = context;
    const struct listed_file *listed = file_list_find(&reader->files, file);
    const struct content_name object =
        listed == NULL ? (struct content_name){.text = ""}
                       : content_object(&listed->content, listed->id);
    const char *name = listed == NULL ? file : object.text;

    (void)snprintf(text, size, "%s%s%s", reader->word,
                   name[0] == '\0' ? "" : "/", name);
}

/* ----------------------------------------------------------------- life --- */

/* Reads the list of the backup. It never changes, so its pieces are kept as
 * those of files. */
static enum colander_code
read_files(struct cluster_reader *reader, const struct object *backup,
           struct colander_error *err)
{
    const uint64_t size = backup->size;
    uint8_t *bytes = size > LIST_SIZE_MAX ? NULL : malloc((size_t)size + 1);
    enum colander_code code;

    if (bytes == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for '%s', which has %" PRIu64 " bytes",
                             backup->name, size);
    code = read_object(reader, backup->name, size, 0, bytes, size, err);
    if (code == COLANDER_OK) {
        code = file_list_decode(&reader->files,
                                colander_slice_of(bytes, (size_t)size), err);
        if (code != COLANDER_OK)
            colander_error_context(
                err, code == COLANDER_CORRUPT ? "'%s' is damaged" : "'%s'",
                backup->name);
    }
    free(bytes);
    return code;
}

/* Finds the backup, and reads its list. */
static enum colander_code
read_list(struct cluster_reader *reader, uint64_t number,
          struct colander_error *err)
{
    struct object_list backups = {NULL, 0, 0};
    const struct object *chosen;
    enum colander_code code = backups_list(reader->objects, &backups, err);

    if (code == COLANDER_OK)
        code = backups_choose(&backups, number, &chosen, err);
    if (code == COLANDER_OK) {
        reader->made = chosen->modified;
        code = read_files(reader, chosen, err);
    }
    object_list_release(&backups);
    return code;
}

enum colander_code
cluster_reader_open(const char *word, struct cluster_reader **reader,
                    struct colander_error *err)
{
    struct cluster_reader *created = calloc(1, sizeof(*created));
    const char *mark = cluster_number_in(word);
    const uint64_t number = mark == NULL ? 0 : strtoull(mark + 1, NULL, 10);
    char *address =
        mark == NULL ? strdup(word) : strndup(word, (size_t)(mark - word));
    enum colander_code code;

    *reader = NULL;
    if (created != NULL)
        created->word = strdup(word);
    if (created == NULL || created->word == NULL || address == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory");
    else if (mark != NULL && number == 0)
        code = COLANDER_FAIL(err, COLANDER_NOT_FOUND,
                             "it has no backup 0: the first one is 1");
    else
        code = objects_open(address, &created->objects, err);
    if (code == COLANDER_OK)
        code = object_cache_open(address, &created->cache, err);
    if (code == COLANDER_OK)
        code = read_list(created, number, err);
    if (code == COLANDER_OK)
        code = make_directory(created, err);
    if (code == COLANDER_OK) {
        created->name = (struct colander_error_name){created->path, write_name,
                                                     created, NULL};
        colander_error_name_add(&created->name);
    }
    if (code == COLANDER_OK)
        code = place_files(created, err);
    free(address);
    if (code == COLANDER_OK) {
        created->remote = (struct colander_remote_files){created, read_file};
        *reader = created;
        return COLANDER_OK;
    }
    cluster_reader_close(created);
    colander_error_context(err, "cannot open the backup at '%s'", word);
    return code;
}

void
cluster_reader_close(struct cluster_reader *reader)
{
    if (reader == NULL)
        return;
    colander_error_name_remove(&reader->name);
    if (reader->path != NULL)
        (void)nftw(reader->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(reader->path);
    free(reader->word);
    file_list_release(&reader->files);
    object_cache_close(reader->cache);
    objects_close(reader->objects);
    free(reader);
}

const char *
cluster_reader_path(const struct cluster_reader *reader)
{
    return reader->path;
}

const struct colander_remote_files *
cluster_reader_files(const struct cluster_reader *reader)
{
    return &reader->remote;
}

int64_t
cluster_reader_made(const struct cluster_reader *reader)
{
    return reader->made;
}

struct cluster_reads
cluster_reader_reads(struct cluster_reader *reader)
{
    return (struct cluster_reads){atomic_load(&reader->request_count),
                                  atomic_load(&reader->fetched_size),
                                  atomic_load(&reader->cached_size)};
}
