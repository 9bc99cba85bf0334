/* See objects.h. SPDX-License-Identifier: MIT */
#include "cluster/objects_inside.h"

#include "core/array.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum colander_code
objects_open(const char *address, struct objects **objects,
             struct colander_error *err)
{
    enum colander_code code;

    *objects = NULL;
    if (strncmp(address, "file://", 7) == 0)
        code = objects_open_file(address + 7, objects, err);
    else if (strncmp(address, "s3://", 5) == 0)
        code = objects_open_s3(address + 5, objects, err);
    else
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "it is neither file:///PATH nor s3://BUCKET/"
                             "PREFIX");
    return code;
}

void
objects_stop_by(struct objects *objects, const atomic_bool *is_stopped)
{
    objects->is_stopped = is_stopped;
}

void
objects_try_once(struct objects *objects)
{
    objects->tries_once = true;
}

void
objects_close(struct objects *objects)
{
    if (objects != NULL)
        objects->kind->close(objects);
}

enum colander_code
object_body_read(const struct object_body *body, uint64_t offset, void *to,
                 size_t size, struct colander_error *err)
{
    uint8_t *next = to;

    if (body->fd < 0) {
        if (size > 0)
            memcpy(to, body->bytes + offset, size);
        return COLANDER_OK;
    }
    while (size > 0) {
        const ssize_t got = pread(body->fd, next, size, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return COLANDER_FAIL(err, COLANDER_IO, "cannot read the file: %s",
                                 strerror(errno));
        if (got == 0)
            return COLANDER_FAIL(err, COLANDER_IO,
                                 "the file ends at byte %" PRIu64, offset);
        next += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return COLANDER_OK;
}

enum colander_code
objects_put(struct objects *objects, const char *name,
            const struct object_body *body, struct colander_error *err)
{
    enum colander_code code = objects->kind->put(objects, name, body, err);

    if (code != COLANDER_OK)
        colander_error_context(err, "cannot put '%s'", name);
    return code;
}

enum colander_code
objects_get(struct objects *objects, const char *name, uint64_t offset,
            size_t size, struct colander_buffer *bytes,
            struct colander_error *err)
{
    enum colander_code code =
        objects->kind->get(objects, name, offset, size, bytes, err);

    if (code != COLANDER_OK)
        colander_error_context(err, "cannot get '%s'", name);
    return code;
}

enum colander_code
objects_delete(struct objects *objects, const char *name,
               struct colander_error *err)
{
    enum colander_code code = objects->kind->delete (objects, name, err);

    if (code != COLANDER_OK)
        colander_error_context(err, "cannot delete '%s'", name);
    return code;
}

/* --------------------------------------------------------------- lists --- */

static int
compare(const void *one, const void *other)
{
    const struct object *a = one;
    const struct object *b = other;

    return strcmp(a->name, b->name);
}

enum colander_code
objects_list(struct objects *objects, const char *folder,
             struct object_list *list, struct colander_error *err)
{
    enum colander_code code;

    object_list_release(list);
    code = objects->kind->list(objects, folder, list, err);
    if (code != COLANDER_OK) {
        object_list_release(list);
        colander_error_context(err, "cannot list '%s/'", folder);
        return code;
    }
    if (list->count > 0)
        qsort(list->items, list->count, sizeof(*list->items), compare);
    return COLANDER_OK;
}

enum colander_code
object_list_add(struct object_list *list, struct colander_slice name,
                uint64_t size, int64_t modified, struct colander_error *err)
{
    const struct object object = {strndup((const char *)name.data, name.size),
                                  size, modified};
    enum colander_code code;

    if (object.name == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a name");
    code = array_reserve(&list->items, list->count, &list->capacity, 1, err);
    if (code == COLANDER_OK)
        list->items[list->count++] = object;
    else
        free(object.name);
    return code;
}

const struct object *
object_list_find(const struct object_list *list, const char *name)
{
    size_t place;

    array_search(place, list->count, strcmp(list->items[place].name, name) < 0);
    return place < list->count && strcmp(list->items[place].name, name) == 0
               ? &list->items[place]
               : NULL;
}

void
object_list_release(struct object_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].name);
    free(list->items);
    memset(list, 0, sizeof(*list));
}
