/*
 * Stores from backups, and the list of backups.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/backups.h"
#include "cluster/cluster.h"
#include "cluster/pool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

struct fetching {
    struct objects *objects;
    struct file_list files;
    const char **names; /* of the files, borrowed */
    struct pool *pool;
};

struct fetch_job {
    const struct fetching *fetching;
    const struct listed_file *file;
    int fd; /* owned */
};

static enum colander_code
run_job(void *context, bool is_dropped, struct colander_error *err)
{
    struct fetch_job *job = context;
    const struct listed_file *file = job->file;
    enum colander_code code = COLANDER_OK;

    if (!is_dropped) {
        const struct content_name name =
            content_object(&file->content, file->id);

        code = content_fetch(job->fetching->objects, name.text, &file->content,
                             job->fd, err);
        if (code == COLANDER_NOT_FOUND)
            code = COLANDER_FAIL(err, COLANDER_CORRUPT, "'%s' is missing",
                                 name.text);
        if (code != COLANDER_OK)
            colander_error_context(err, "'%s'", file->name);
    }
    (void)close(job->fd);
    free(job);
    return code;
}

static enum colander_code
get(void *context, size_t index, int fd, struct colander_error *err)
{
    struct fetching *fetching = context;
    struct fetch_job *job = malloc(sizeof(*job));

    if (job == NULL) {
        (void)close(fd);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a file");
    }
    job->fetching = fetching;
    job->file = &fetching->files.items[index];
    job->fd = fd;
    return pool_add(fetching->pool, job, err);
}

static enum colander_code
wait_all(void *context, struct colander_error *err)
{
    struct fetching *fetching = context;
    struct pool *pool = fetching->pool;

    fetching->pool = NULL;
    return pool_finish(pool, err);
}

static enum colander_code
fetch(struct fetching *fetching, const char *path,
      struct colander_backup *restored, struct colander_error *err)
{
    struct colander_backup_source source = {
        fetching, NULL, fetching->files.count, get, wait_all};
    enum colander_code code;

    fetching->names = calloc(source.count + 1, sizeof(*fetching->names));
    if (fetching->names == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a list");
    for (size_t i = 0; i < source.count; i++)
        fetching->names[i] = fetching->files.items[i].name;
    source.names = fetching->names;
    code = pool_create(run_job, &fetching->pool, err);
    if (code == COLANDER_OK)
        code = colander_backup_restore_from(&source, path, restored, err);
    if (fetching->pool != NULL && pool_finish(fetching->pool, NULL) != 0)
        code = code == COLANDER_OK ? COLANDER_IO : code; /* it had no jobs */
    fetching->pool = NULL;
    return code;
}

static bool
is_unreadable(enum colander_code code)
{
    return code == COLANDER_CORRUPT || code == COLANDER_TOO_NEW;
}

/* Reads the list of the chosen backup. If it is damaged, the error says which
 * other one can be read. */
static enum colander_code
read_chosen(struct fetching *fetching, const struct object_list *backups,
            const struct object *chosen, struct colander_error *err)
{
    struct colander_error problem;
    struct file_list other;
    size_t count = backups->count;
    enum colander_code code = backups_read(fetching->objects, chosen->name,
                                           &fetching->files, &problem);

    if (code == COLANDER_OK)
        return COLANDER_OK;
    if (!is_unreadable(code))
        return COLANDER_FAIL(err, code, "%s", problem.message);
    while (count > 0 &&
           backups_read(fetching->objects, backups->items[count - 1].name,
                        &other, NULL) != COLANDER_OK)
        count--;
    if (count == 0)
        return COLANDER_FAIL(err, code, "%s; no list there can be read",
                             problem.message);
    file_list_release(&other);
    return COLANDER_FAIL(err, code,
                         "%s; the newest backup whose list can be read is "
                         "%06" PRIu64,
                         problem.message,
                         backups_number(backups->items[count - 1].name));
}

static enum colander_code
restore_one(struct fetching *fetching, const struct object_list *backups,
            const struct object *chosen, const char *path,
            struct colander_backup *restored, struct colander_error *err)
{
    enum colander_code code = read_chosen(fetching, backups, chosen, err);

    if (code == COLANDER_OK) {
        code = fetch(fetching, path, restored, err);
        if (restored != NULL)
            restored->number = backups_number(chosen->name);
    }
    file_list_release(&fetching->files);
    free(fetching->names);
    fetching->names = NULL;
    return code;
}

enum colander_code
cluster_restore(const char *address, uint64_t number, const char *path,
                const atomic_bool *is_stopped, struct colander_backup *restored,
                struct colander_error *err)
{
    struct fetching fetching = {.objects = NULL};
    struct object_list backups = {NULL, 0, 0};
    const struct object *chosen = NULL;
    enum colander_code code = objects_open(address, &fetching.objects, err);

    if (code == COLANDER_OK) {
        objects_stop_by(fetching.objects, is_stopped);
        code = backups_list(fetching.objects, &backups, err);
    }
    if (code == COLANDER_OK)
        code = backups_choose(&backups, number, &chosen, err);
    if (code == COLANDER_OK)
        code = restore_one(&fetching, &backups, chosen, path, restored, err);
    while (code == COLANDER_CORRUPT && chosen > backups.items &&
           backups_number(chosen->name) == backups_number(chosen[-1].name)) {
        chosen--;
        code = restore_one(&fetching, &backups, chosen, path, restored, err);
    }
    object_list_release(&backups);
    objects_close(fetching.objects);
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot restore from '%s'", address);
    return code;
}

/* ---------------------------------------------------------------- list --- */

static enum colander_code
visit_backup(struct objects *objects, const struct object *object,
             enum colander_code (*visit)(void *context,
                                         const struct cluster_backup *backup,
                                         struct colander_error *err),
             void *context, struct colander_error *err)
{
    struct cluster_backup backup = {.number = backups_number(object->name),
                                    .made = object->modified};
    struct colander_error problem;
    struct file_list files;
    enum colander_code code =
        backups_read(objects, object->name, &files, &problem);

    backup.file_count = files.count;
    backup.size = file_list_size(&files);
    file_list_release(&files);
    if (code == COLANDER_NOT_FOUND) /* it was just removed */
        return COLANDER_OK;
    if (is_unreadable(code))
        backup.problem = problem.message;
    else if (code != COLANDER_OK)
        return COLANDER_FAIL(err, code, "%s", problem.message);
    return visit(context, &backup, err);
}

enum colander_code
cluster_list(const char *address, const atomic_bool *is_stopped,
             enum colander_code (*visit)(void *context,
                                         const struct cluster_backup *backup,
                                         struct colander_error *err),
             void *context, struct colander_error *err)
{
    struct object_list backups = {NULL, 0, 0};
    struct objects *objects;
    enum colander_code code = objects_open(address, &objects, err);

    if (code == COLANDER_OK) {
        objects_stop_by(objects, is_stopped);
        code = backups_list(objects, &backups, err);
    }
    for (size_t i = 0; i < backups.count && code == COLANDER_OK; i++)
        code = visit_backup(objects, &backups.items[i], visit, context, err);
    object_list_release(&backups);
    objects_close(objects);
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot list '%s'", address);
    return code;
}
