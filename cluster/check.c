/*
 * Checks of backups: reads every object that they have.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/backups.h"
#include "cluster/cluster.h"
#include "cluster/pool.h"
#include "core/array.h"

#include <pthread.h>
#include <stdlib.h>

/* An object of a backup. */
struct checked {
    struct content_name name;
    struct content content;
    const char *backup; /* the name of its list; borrowed */
    bool is_missing;
};

struct checking {
    struct objects *objects;
    struct checked *items;
    size_t count;
    size_t capacity;
    pthread_mutex_t lock; /* of what follows */
    struct cluster_check *check;
    colander_finding *report;
    void *context;
};

static void
add_finding(struct checking *checking, const char *name, const char *what)
{
    pthread_mutex_lock(&checking->lock);
    checking->check->finding_count++;
    checking->report(checking->context, name, what);
    pthread_mutex_unlock(&checking->lock);
}

/* Reports a failure that is damage. Returns any other. */
static enum colander_code
sort_out(struct checking *checking, const char *name, enum colander_code code,
         const struct colander_error *err)
{
    if (code == COLANDER_CORRUPT || code == COLANDER_TOO_NEW)
        add_finding(checking, name, err->message);
    else
        return code;
    return COLANDER_OK;
}

struct check_job {
    struct checking *checking;
    struct checked *object;
};

static enum colander_code
run_job(void *context, bool is_dropped, struct colander_error *err)
{
    struct check_job *job = context;
    struct checking *checking = job->checking;
    struct checked *object = job->object;
    enum colander_code code = COLANDER_OK;

    if (!is_dropped) {
        code = content_fetch(checking->objects, object->name.text,
                             &object->content, -1, err);
        object->is_missing = code == COLANDER_NOT_FOUND;
        if (object->is_missing)
            code = COLANDER_OK; /* report_missing */
        code = sort_out(checking, object->name.text, code, err);
        pthread_mutex_lock(&checking->lock);
        checking->check->object_count++;
        checking->check->size += object->content.size;
        pthread_mutex_unlock(&checking->lock);
    }
    free(job);
    return code;
}

static int
compare(const void *one, const void *other)
{
    return strcmp(((const struct checked *)one)->name.text,
                  ((const struct checked *)other)->name.text);
}

static enum colander_code
add_backup(struct checking *checking, const char *name,
           struct colander_error *err)
{
    struct colander_error mine;
    struct file_list files;
    enum colander_code code =
        backups_read(checking->objects, name, &files, &mine);

    if (code == COLANDER_NOT_FOUND) /* it was just removed */
        return COLANDER_OK;
    checking->check->backup_count++;
    if (code != COLANDER_OK) {
        code = sort_out(checking, name, code, &mine);
        return code == COLANDER_OK
                   ? code
                   : COLANDER_FAIL(err, code, "%s", mine.message);
    }
    code = array_reserve(&checking->items, checking->count, &checking->capacity,
                         files.count, err);
    for (size_t i = 0; i < files.count && code == COLANDER_OK; i++) {
        const struct listed_file *file = &files.items[i];
        const struct checked object = {content_object(&file->content, file->id),
                                       file->content, name, false};

        checking->items[checking->count++] = object;
    }
    file_list_release(&files);
    return code;
}

/* Reads each object once. */
static enum colander_code
check_objects(struct checking *checking, struct colander_error *err)
{
    struct pool *pool;
    enum colander_code code = pool_create(run_job, &pool, err);
    enum colander_code finished;

    if (code != COLANDER_OK)
        return code;
    if (checking->count > 0)
        qsort(checking->items, checking->count, sizeof(*checking->items),
              compare);
    for (size_t i = 0; i < checking->count && code == COLANDER_OK; i++) {
        struct check_job *job;

        if (i > 0 && compare(&checking->items[i - 1], &checking->items[i]) == 0)
            continue;
        job = malloc(sizeof(*job));
        if (job == NULL) {
            code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory");
            break;
        }
        job->checking = checking;
        job->object = &checking->items[i];
        code = pool_add(pool, job, err);
    }
    finished = pool_finish(pool, code == COLANDER_OK ? err : NULL);
    return code == COLANDER_OK ? finished : code;
}

/* Reports the objects that are missing. One whose backups were removed
 * meanwhile is not. */
static enum colander_code
report_missing(struct checking *checking, struct colander_error *err)
{
    struct object_list backups = {NULL, 0, 0};
    enum colander_code code = COLANDER_OK;
    bool is_listed = false;

    for (size_t i = 0; i < checking->count && code == COLANDER_OK; i++) {
        bool is_needed = false;
        size_t next = i;

        if (!checking->items[i].is_missing)
            continue; /* only the first of its name was looked for */
        if (!is_listed)
            code = backups_list(checking->objects, &backups, err);
        is_listed = true;
        for (; next < checking->count &&
               compare(&checking->items[i], &checking->items[next]) == 0;
             next++)
            is_needed = is_needed ||
                        object_list_find(&backups,
                                         checking->items[next].backup) != NULL;
        if (is_needed && code == COLANDER_OK)
            add_finding(checking, checking->items[i].name.text,
                        "it is missing");
    }
    object_list_release(&backups);
    return code;
}

enum colander_code
cluster_check(const char *address, struct cluster_check *check,
              colander_finding *report, void *context,
              struct colander_error *err)
{
    struct checking checking = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                .check = check,
                                .report = report,
                                .context = context};
    struct object_list backups = {NULL, 0, 0};
    enum colander_code code;

    memset(check, 0, sizeof(*check));
    code = objects_open(address, &checking.objects, err);
    if (code == COLANDER_OK)
        code = backups_list(checking.objects, &backups, err);
    if (code == COLANDER_OK && backups.count == 0)
        code = COLANDER_FAIL(err, COLANDER_NOT_FOUND, "it has no backups");
    for (size_t i = 0; i < backups.count && code == COLANDER_OK; i++)
        code = add_backup(&checking, backups.items[i].name, err);
    if (code == COLANDER_OK)
        code = check_objects(&checking, err);
    if (code == COLANDER_OK)
        code = report_missing(&checking, err);
    object_list_release(&backups);
    objects_close(checking.objects);
    free(checking.items);
    pthread_mutex_destroy(&checking.lock);
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot check '%s'", address);
    return code;
}
