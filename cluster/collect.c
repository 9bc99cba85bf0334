/* See collect.h. SPDX-License-Identifier: MIT */
#include "cluster/collect.h"

#include "cluster/backups.h"
#include "cluster/making.h"
#include "cluster/pool.h"
#include "core/array.h"

#include <stdlib.h>

/* The objects of all backups. */
struct used {
    struct content_name *names; /* in byte order */
    size_t count;
    size_t capacity;
};

static int
compare(const void *one, const void *other)
{
    return strcmp(((const struct content_name *)one)->text,
                  ((const struct content_name *)other)->text);
}

static bool
is_used(const struct used *used, const char *name)
{
    size_t place;

    array_search(place, used->count, strcmp(used->names[place].text, name) < 0);
    return place < used->count && strcmp(used->names[place].text, name) == 0;
}

static enum colander_code
add_used(struct objects *objects, const char *backup, struct used *used,
         struct colander_error *err)
{
    struct colander_error problem;
    struct file_list files;
    enum colander_code code = backups_read(objects, backup, &files, &problem);

    if (code != COLANDER_OK)
        return COLANDER_FAIL(
            err, code, "%s%s", problem.message,
            code == COLANDER_CORRUPT
                ? "; delete this object, with which nothing can be restored, "
                  "so that others can be removed again"
                : "");
    if (code == COLANDER_OK)
        code = array_reserve(&used->names, used->count, &used->capacity,
                             files.count, err);
    for (size_t i = 0; i < files.count && code == COLANDER_OK; i++)
        used->names[used->count++] =
            content_object(&files.items[i].content, files.items[i].id);
    file_list_release(&files);
    return code;
}

/* Reads the lists of the backups. */
static enum colander_code
find_used(struct objects *objects, const struct object_list *backups,
          struct used *used, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < backups->count && code == COLANDER_OK; i++)
        code = add_used(objects, backups->items[i].name, used, err);
    if (used->count > 0)
        qsort(used->names, used->count, sizeof(*used->names), compare);
    return code;
}

struct deletion {
    struct objects *objects;
    char *name; /* owned */
};

static enum colander_code
run_deletion(void *job, bool is_dropped, struct colander_error *err)
{
    struct deletion *deletion = job;
    enum colander_code code = COLANDER_OK;

    if (!is_dropped)
        code = objects_delete(deletion->objects, deletion->name, err);
    free(deletion->name);
    free(deletion);
    return code;
}

static enum colander_code
add_deletion(struct pool *pool, struct objects *objects, const char *name,
             struct colander_error *err)
{
    struct deletion *deletion = malloc(sizeof(*deletion));

    if (deletion != NULL) {
        deletion->objects = objects;
        deletion->name = strdup(name);
    }
    if (deletion == NULL || deletion->name == NULL) {
        free(deletion);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a name");
    }
    return pool_add(pool, deletion, err);
}

static enum colander_code
remove_unused(struct objects *objects, const struct object_list *files,
              const struct used *used, int64_t now, struct colander_error *err)
{
    struct pool *pool;
    enum colander_code code = pool_create(run_deletion, &pool, err);
    enum colander_code finished;

    if (code != COLANDER_OK)
        return code;
    for (size_t i = 0; i < files->count && code == COLANDER_OK; i++) {
        const struct object *file = &files->items[i];

        if (content_is_object(file->name) && !is_used(used, file->name) &&
            now - file->modified > BACKUPS_COLLECTED_SECONDS)
            code = add_deletion(pool, objects, file->name, err);
    }
    finished = pool_finish(pool, code == COLANDER_OK ? err : NULL);
    return code == COLANDER_OK ? finished : code;
}

/* Sets whether no backup is being made, nor was finished since those were
 * listed. What a backup may use is then in a list that was read, or young. */
static enum colander_code
is_quiet(struct objects *objects, const struct object_list *backups,
         int64_t now, bool *is, struct colander_error *err)
{
    struct object_list again = {NULL, 0, 0};
    bool is_any = true;
    enum colander_code code = making_any(objects, now, &is_any, err);

    if (code == COLANDER_OK)
        code = backups_list(objects, &again, err);
    *is = !is_any;
    for (size_t i = 0; i < again.count; i++)
        *is = *is && object_list_find(backups, again.items[i].name) != NULL;
    object_list_release(&again);
    return code;
}

/* Removes objects that no backup has. If others make or remove backups
 * meanwhile, leaves that to a later call. */
static enum colander_code
remove_old(struct objects *objects, int64_t now, struct colander_error *err)
{
    struct object_list backups = {NULL, 0, 0};
    struct object_list files = {NULL, 0, 0};
    struct used used = {NULL, 0, 0};
    bool may_remove = false;
    enum colander_code code = backups_list(objects, &backups, err);

    if (code == COLANDER_OK)
        code = find_used(objects, &backups, &used, err);
    if (code == COLANDER_OK)
        code = objects_list(objects, BACKUPS_FILES, &files, err);
    if (code == COLANDER_OK)
        code = is_quiet(objects, &backups, now, &may_remove, err);
    if (code == COLANDER_OK && may_remove)
        code = remove_unused(objects, &files, &used, now, err);
    object_list_release(&backups);
    object_list_release(&files);
    free(used.names);
    return code == COLANDER_NOT_FOUND ? COLANDER_OK : code; /* it was removed */
}

enum colander_code
collect(struct objects *objects, uint64_t keep_count, uint64_t *removed_count,
        struct colander_error *err)
{
    struct object_list backups = {NULL, 0, 0};
    enum colander_code code = backups_list(objects, &backups, err);
    int64_t now = 0;

    *removed_count = 0;
    for (size_t i = 0; i < backups.count && code == COLANDER_OK; i++) {
        /* no clock but that of the objects */
        if (backups.items[i].modified > now)
            now = backups.items[i].modified;
        if (backups.count - i <= keep_count)
            continue;
        code = objects_delete(objects, backups.items[i].name, err);
        *removed_count += code == COLANDER_OK;
    }
    object_list_release(&backups);
    return code == COLANDER_OK ? remove_old(objects, now, err) : code;
}
