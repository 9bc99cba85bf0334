/* See making.h. SPDX-License-Identifier: MIT */
#include "cluster/making.h"

#include "cluster/backups.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#define AGAIN_SECONDS 3600
#define LATE_SECONDS (12 * 3600)
#define KILLED_SECONDS (24 * 3600)

/* Counts while the machine sleeps, too. */
static uint64_t
seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_BOOTTIME, &now); /* cannot fail on Linux */
    return (uint64_t)now.tv_sec;
}

static enum colander_code
put(struct making *making, struct colander_error *err)
{
    static const char text[] = "a backup is being made\n";
    const struct object_body body = {-1, (const uint8_t *)text,
                                     sizeof(text) - 1};
    const uint64_t at = seconds();
    enum colander_code code =
        objects_put(making->objects, making->name.text, &body, err);

    if (code == COLANDER_OK)
        making->put_at = at;
    return code;
}

enum colander_code
making_begin(struct making *making, struct objects *objects,
             struct colander_error *err)
{
    struct object_list list = {NULL, 0, 0};
    const struct object *own;
    enum colander_code code;

    making->objects = objects;
    if (getrandom(&making->id, sizeof(making->id), 0) !=
        (ssize_t)sizeof(making->id))
        return COLANDER_FAIL(err, COLANDER_IO, "no random number");
    (void)snprintf(making->name.text, sizeof(making->name.text),
                   BACKUPS_MAKING "/%016" PRIx64, making->id);
    code = put(making, err);
    if (code == COLANDER_OK)
        code = objects_list(objects, BACKUPS_MAKING, &list, err);
    own = object_list_find(&list, making->name.text);
    if (code == COLANDER_OK && own == NULL)
        code = COLANDER_FAIL(err, COLANDER_IO,
                             "'%s' was put, and a list does not show it",
                             making->name.text);
    if (own != NULL)
        making->began_at = own->modified;
    object_list_release(&list);
    return code;
}

enum colander_code
making_continue(struct making *making, struct colander_error *err)
{
    const uint64_t since = seconds() - making->put_at;

    if (since > LATE_SECONDS)
        return COLANDER_FAIL(err, COLANDER_IO,
                             "for %" PRIu64 " hours this process has stood "
                             "still or sent one file, and others may have "
                             "removed what it sent: start it again",
                             since / 3600);
    return since > AGAIN_SECONDS ? put(making, err) : COLANDER_OK;
}

void
making_end(struct making *making)
{
    if (making->name.text[0] != '\0' &&
        objects_delete(making->objects, making->name.text, NULL) == COLANDER_OK)
        making->name.text[0] = '\0';
}

enum colander_code
making_any(struct objects *objects, int64_t now, bool *is_any,
           struct colander_error *err)
{
    struct object_list list = {NULL, 0, 0};
    enum colander_code code = objects_list(objects, BACKUPS_MAKING, &list, err);

    *is_any = false;
    for (size_t i = 0; i < list.count && code == COLANDER_OK; i++) {
        if (now - list.items[i].modified < KILLED_SECONDS)
            *is_any = true;
        else
            code = objects_delete(objects, list.items[i].name, err);
    }
    object_list_release(&list);
    return code;
}
