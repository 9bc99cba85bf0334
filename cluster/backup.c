/*
 * Backups: what is sent of a store, and what is there already.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/backups.h"
#include "cluster/cluster.h"
#include "cluster/collect.h"
#include "cluster/making.h"
#include "cluster/pool.h"
#include "columns/columns.h"
#include "core/array.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define IDENTITY "rocksdb/IDENTITY" /* of the database of a store */

struct sending {
    struct objects *objects;
    const struct cluster_backup_options *options;
    struct making making;
    struct object_list there; /* the objects when the backup began */
    bool *are_kept;           /* of each: an earlier backup has it */
    struct file_list before;  /* files of the last backup that can be read */
    struct pool *pool;
    pthread_mutex_t lock; /* of what follows */
    struct file_list files;
    uint64_t sent_count;
    uint64_t sent_size;
};

/* A file that is sent. */
struct file_job {
    struct sending *sending;
    int fd; /* owned */
    uint64_t size;
    char name[];
};

/* ----------------------------------------------------- what is there --- */

/* Reads the list of the newest backup that is not damaged. */
static enum colander_code
read_before(struct sending *sending, struct colander_error *err)
{
    struct object_list backups = {NULL, 0, 0};
    enum colander_code code = backups_list(sending->objects, &backups, err);
    enum colander_code got = COLANDER_CORRUPT;

    for (size_t i = backups.count;
         i > 0 && (got == COLANDER_CORRUPT || got == COLANDER_NOT_FOUND); i--)
        got = backups_read(sending->objects, backups.items[i - 1].name,
                           &sending->before, err);
    object_list_release(&backups);
    if (code == COLANDER_OK && got != COLANDER_CORRUPT &&
        got != COLANDER_NOT_FOUND)
        code = got;
    return code;
}

/* Returns the object of a file of the last backup, if it is there. */
static const struct object *
object_of(const struct sending *sending, const struct listed_file *file)
{
    const struct content_name name = content_object(&file->content, file->id);
    const struct object *object = object_list_find(&sending->there, name.text);

    return object != NULL && object->size == file->content.size ? object : NULL;
}

/* Fails with INVALID if the last backup is of another store: of one whose
 * database has another identity. Restored and copied stores keep theirs. */
static enum colander_code
check_identity(const struct sending *sending,
               const struct colander_store *store, struct colander_error *err)
{
    const struct listed_file *before =
        file_list_find(&sending->before, IDENTITY);
    struct object_body body = {.fd = -1};
    enum colander_code code = COLANDER_OK;
    struct content content;
    struct stat status;
    char *path;

    if (before == NULL)
        return COLANDER_OK;
    if (asprintf(&path, "%s/" IDENTITY, colander_store_path(store)) < 0)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
    body.fd = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
    if (body.fd < 0 || fstat(body.fd, &status) != 0)
        code = COLANDER_FAIL(err, COLANDER_IO,
                             "'" IDENTITY "' of the store, by which it knows "
                             "its backups, cannot be read: a command that "
                             "writes to the store rebuilds it");
    body.size = code == COLANDER_OK ? (uint64_t)status.st_size : 0;
    if (code == COLANDER_OK)
        code = content_of(&body, &content, err);
    if (body.fd >= 0)
        (void)close(body.fd);
    if (code == COLANDER_OK &&
        (content.size != before->content.size ||
         memcmp(content.hash, before->content.hash, sizeof(content.hash)) != 0))
        code = COLANDER_FAIL(
            err, COLANDER_INVALID,
            "the backups there are of another store, and --keep of one would "
            "remove those of the other: choose an address for each store");
    return code;
}

static enum colander_code
look_around(struct sending *sending, const struct colander_store *store,
            struct colander_error *err)
{
    enum colander_code code =
        making_begin(&sending->making, sending->objects, err);

    if (code != COLANDER_OK || sending->options->sends_all)
        return code; /* as if nothing were there */
    code = read_before(sending, err);
    if (code == COLANDER_OK && !sending->options->has_twins)
        code = check_identity(sending, store, err);
    if (code == COLANDER_OK)
        code =
            objects_list(sending->objects, BACKUPS_FILES, &sending->there, err);
    if (code != COLANDER_OK)
        return code;
    sending->are_kept = calloc(sending->there.count + 1, sizeof(bool));
    if (sending->are_kept == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a list");
    for (size_t i = 0; i < sending->before.count; i++) {
        const struct object *object =
            object_of(sending, &sending->before.items[i]);

        if (object != NULL)
            sending->are_kept[object - sending->there.items] = true;
    }
    return COLANDER_OK;
}

/* Finds an object with this content that will not be collected, and its id. */
static bool
find_content(const struct sending *sending, const struct content *content,
             uint64_t *id)
{
    const struct content_name prefix = content_prefix(content);
    const size_t size = strlen(prefix.text);
    const struct object_list *there = &sending->there;
    size_t place;

    array_search(place, there->count,
                 strcmp(there->items[place].name, prefix.text) < 0);
    for (; place < there->count &&
           strncmp(there->items[place].name, prefix.text, size) == 0;
         place++) {
        const struct object *object = &there->items[place];
        struct content_name whole;

        *id = strtoull(object->name + size, NULL, 16);
        whole = content_object(content, *id);
        if (strcmp(whole.text, object->name) == 0 &&
            object->size == content->size &&
            (sending->are_kept[place] ||
             sending->making.began_at - object->modified <
                 BACKUPS_REUSED_SECONDS))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------- sending --- */

static enum colander_code
add_file(struct sending *sending, const struct listed_file *file, bool is_sent,
         struct colander_error *err)
{
    enum colander_code code;

    pthread_mutex_lock(&sending->lock);
    code = file_list_add(&sending->files, file, err);
    sending->sent_count += is_sent;
    sending->sent_size += is_sent ? file->content.size : 0;
    pthread_mutex_unlock(&sending->lock);
    return code;
}

static enum colander_code
send_file(struct file_job *job, struct colander_error *err)
{
    struct sending *sending = job->sending;
    const struct object_body body = {job->fd, NULL, job->size};
    struct listed_file file = {.name = job->name};
    bool is_there;
    enum colander_code code = content_of(&body, &file.content, err);

    if (code == COLANDER_OK)
        code = content_end(&body, file.end, err);
    if (code != COLANDER_OK)
        return code;
    is_there = find_content(sending, &file.content, &file.id);
    if (!is_there) {
        file.id = sending->making.id;
        code = objects_put(sending->objects,
                           content_object(&file.content, file.id).text, &body,
                           err);
    }
    return code == COLANDER_OK ? add_file(sending, &file, !is_there, err)
                               : code;
}

static enum colander_code
run_job(void *context, bool is_dropped, struct colander_error *err)
{
    struct file_job *job = context;
    enum colander_code code = COLANDER_OK;

    if (!is_dropped)
        code = send_file(job, err);
    if (!is_dropped && code != COLANDER_OK)
        colander_error_context(err, "'%s'", job->name);
    (void)close(job->fd);
    free(job);
    return code;
}

static enum colander_code
has(void *context, const struct colander_backup_file *file, bool *is_there,
    struct colander_error *err)
{
    struct sending *sending = context;
    const struct listed_file *before =
        file_list_find(&sending->before, file->name);
    const struct object_body body = {file->fd, NULL, file->size};
    uint8_t end[CONTENT_HASH_SIZE];
    enum colander_code code;

    if (before == NULL || before->content.size != file->size ||
        object_of(sending, before) == NULL)
        return COLANDER_OK;
    code = content_end(&body, end, err);
    if (code != COLANDER_OK || memcmp(end, before->end, sizeof(end)) != 0)
        return code;
    *is_there = true;
    return add_file(sending, before, false, err);
}

static enum colander_code
put(void *context, const struct colander_backup_file *file,
    struct colander_error *err)
{
    struct sending *sending = context;
    struct file_job *job = malloc(sizeof(*job) + strlen(file->name) + 1);
    enum colander_code code = making_continue(&sending->making, err);

    if (job == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a file");
    job->sending = sending;
    job->size = file->size;
    strcpy(job->name, file->name);
    job->fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
    if (code == COLANDER_OK && job->fd < 0)
        code = COLANDER_FAIL(err, COLANDER_IO, "no more descriptors");
    if (code != COLANDER_OK) {
        if (job->fd >= 0)
            (void)close(job->fd);
        free(job);
        return code;
    }
    return pool_add(sending->pool, job, err);
}

static enum colander_code
send_files(struct sending *sending, struct colander_store *store,
           struct colander_backup *made, struct colander_error *err)
{
    const struct colander_backup_target target = {sending, has, put};
    enum colander_code code = pool_create(run_job, &sending->pool, err);
    enum colander_code finished;

    if (code != COLANDER_OK)
        return code;
    code = colander_store_backup_to(store, &target, made, err);
    finished = pool_finish(sending->pool, code == COLANDER_OK ? err : NULL);
    file_list_sort(&sending->files);
    made->copied_count = sending->sent_count;
    made->copied_size = sending->sent_size;
    return code == COLANDER_OK ? finished : code;
}

/* ----------------------------------------------------------- finishing --- */

/* Checks that everything is there. */
static enum colander_code
check_there(struct sending *sending, struct colander_error *err)
{
    enum colander_code code =
        objects_list(sending->objects, BACKUPS_FILES, &sending->there, err);

    for (size_t i = 0; i < sending->files.count && code == COLANDER_OK; i++) {
        const struct listed_file *file = &sending->files.items[i];

        if (object_of(sending, file) == NULL)
            code = COLANDER_FAIL(
                err, COLANDER_IO,
                "'%s' of '%s' has disappeared, or has another size than was "
                "sent: start the backup again",
                content_object(&file->content, file->id).text, file->name);
    }
    return code;
}

/* Sets *number, if it is 0 or another backup has it too, to one after the
 * highest: those that find each other with one number then choose different
 * ones. `own` is the name of this backup's list. */
static enum colander_code
choose_number(struct objects *objects, const char *own, uint64_t *number,
              struct colander_error *err)
{
    struct object_list backups = {NULL, 0, 0};
    enum colander_code code = backups_list(objects, &backups, err);
    uint64_t before = 0; /* that have the number */
    bool is_taken = *number == 0;

    for (size_t i = 0; i < backups.count; i++) {
        const char *name = backups.items[i].name;
        const int order = strcmp(name, own);

        if (backups_number(name) != *number)
            continue;
        is_taken = is_taken || order != 0;
        before += order < 0;
    }
    if (code == COLANDER_OK && is_taken)
        *number = before + 1 +
                  (backups.count == 0
                       ? 0
                       : backups_number(backups.items[backups.count - 1].name));
    object_list_release(&backups);
    return code;
}

/* Puts the list with a number that no other has. If this process has stood
 * still meanwhile, removes it. */
static enum colander_code
put_list(struct sending *sending, uint64_t *number, struct colander_error *err)
{
    const bool is_given = sending->options->number != 0;
    struct objects *objects = sending->objects;
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    struct content_name name = {""};
    enum colander_code code = file_list_encode(&sending->files, &bytes, err);
    const struct object_body body = {-1, bytes.data, bytes.size};
    uint64_t put = 0;

    *number = sending->options->number;
    if (code == COLANDER_OK && !is_given)
        code = choose_number(objects, "", number, err);
    while (code == COLANDER_OK && put != *number) {
        if (put != 0) /* no reader may find it under two */
            code = objects_delete(objects, name.text, err);
        if (code != COLANDER_OK)
            break;
        put = *number;
        name = backups_name(put, sending->making.id);
        code = objects_put(objects, name.text, &body, err);
        if (code == COLANDER_OK)
            code = making_continue(&sending->making, err);
        if (code == COLANDER_OK && !is_given)
            code = choose_number(objects, name.text, number, err);
    }
    if (code != COLANDER_OK && put != 0 &&
        objects_delete(objects, name.text, NULL) != COLANDER_OK)
        colander_error_context(err, "'%s' may be incomplete", name.text);
    if (code != COLANDER_OK)
        *number = 0; /* none was made */
    colander_buffer_release(&bytes);
    return code;
}

/* Deletes other lists with the number of the backup, which has all that they
 * had, and is whole. */
static enum colander_code
replace_others(const struct sending *sending, uint64_t number,
               struct colander_error *err)
{
    const struct content_name own = backups_name(number, sending->making.id);
    struct object_list backups = {NULL, 0, 0};
    enum colander_code code = backups_list(sending->objects, &backups, err);

    for (size_t i = 0; i < backups.count && code == COLANDER_OK; i++) {
        const char *name = backups.items[i].name;

        if (backups_number(name) == number && strcmp(name, own.text) != 0)
            code = objects_delete(sending->objects, name, err);
    }
    object_list_release(&backups);
    return code;
}

static void
release(struct sending *sending)
{
    object_list_release(&sending->there);
    file_list_release(&sending->before);
    file_list_release(&sending->files);
    free(sending->are_kept);
    pthread_mutex_destroy(&sending->lock);
}

static enum colander_code
make(struct objects *objects, struct colander_store *store,
     const struct cluster_backup_options *options, struct colander_backup *made,
     struct colander_error *err)
{
    struct sending sending = {.objects = objects,
                              .options = options,
                              .lock = PTHREAD_MUTEX_INITIALIZER};
    enum colander_code code = look_around(&sending, store, err);

    if (code == COLANDER_OK)
        code = send_files(&sending, store, made, err);
    if (code == COLANDER_OK)
        code = check_there(&sending, err);
    if (code == COLANDER_OK)
        code = put_list(&sending, &made->number, err);
    if (code == COLANDER_OK && options->sends_all)
        code = replace_others(&sending, made->number, err);
    making_end(&sending.making);
    release(&sending);
    return code;
}

bool
cluster_is_address(const char *word)
{
    const size_t size = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789");

    return size > 0 && strncmp(word + size, "://", 3) == 0;
}

const char *
cluster_number_in(const char *word)
{
    const char *mark = strrchr(word, '#');

    return mark != NULL && mark[1] != '\0' &&
                   mark[1 + strspn(mark + 1, "0123456789")] == '\0'
               ? mark
               : NULL;
}

enum colander_code
cluster_backup(struct colander_store *store, const char *address,
               const struct cluster_backup_options *options,
               struct colander_backup *made, struct colander_error *err)
{
    struct objects *objects = NULL;
    enum colander_code code = COLANDER_OK;

    memset(made, 0, sizeof(*made));
    if (cluster_number_in(address) != NULL)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "with # and a number at its end it is one of the "
                             "backups there, and a new one gets the next "
                             "number: leave this end out");
    else
        code = objects_open(address, &objects, err);
    if (code == COLANDER_OK) {
        objects_stop_by(objects, options->is_stopped);
        if (options->tries_once)
            objects_try_once(objects);
        code = make(objects, store, options, made, err);
    }
    if (code == COLANDER_OK && options->keep_count > 0) {
        code = collect(objects, options->keep_count, &made->removed_count, err);
        if (code != COLANDER_OK)
            colander_error_context(err,
                                   "backup %06" PRIu64 " was made, but older "
                                   "ones cannot be removed",
                                   made->number);
    }
    objects_close(objects);
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot back up to '%s'", address);
    return code;
}
