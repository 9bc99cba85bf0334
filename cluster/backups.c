/* See backups.h. SPDX-License-Identifier: MIT */
#include "cluster/backups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LIST_SIZE_MAX ((size_t)256 << 20)
#define NUMBER_DIGITS 20 /* so that names sort as numbers do */
#define ID_DIGITS 16

uint64_t
backups_number(const char *name)
{
    const char *number = name + strlen(BACKUPS_FOLDER "/");
    const char *id = number + NUMBER_DIGITS + 1;

    if (strncmp(name, BACKUPS_FOLDER "/", strlen(BACKUPS_FOLDER "/")) != 0 ||
        strspn(number, "0123456789") != NUMBER_DIGITS ||
        number[NUMBER_DIGITS] != '-' ||
        strspn(id, "0123456789abcdef") != ID_DIGITS || id[ID_DIGITS] != '\0')
        return 0;
    return strtoull(number, NULL, 10);
}

struct content_name
backups_name(uint64_t number, uint64_t id)
{
    struct content_name name;

    (void)snprintf(name.text, sizeof(name.text),
                   BACKUPS_FOLDER "/%0*" PRIu64 "-%0*" PRIx64, NUMBER_DIGITS,
                   number, ID_DIGITS, id);
    return name;
}

enum colander_code
backups_list(struct objects *objects, struct object_list *list,
             struct colander_error *err)
{
    enum colander_code code = objects_list(objects, BACKUPS_FOLDER, list, err);
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct object object = list->items[i];

        if (backups_number(object.name) != 0)
            list->items[count++] = object;
        else
            free(object.name);
    }
    list->count = count;
    return code;
}

enum colander_code
backups_read(struct objects *objects, const char *name, struct file_list *files,
             struct colander_error *err)
{
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    memset(files, 0, sizeof(*files));
    code = objects_get(objects, name, 0, LIST_SIZE_MAX, &bytes, err);
    if (code == COLANDER_OK) {
        code = file_list_decode(files, colander_buffer_slice(&bytes), err);
        if (code != COLANDER_OK)
            colander_error_context(
                err, code == COLANDER_CORRUPT ? "'%s' is damaged" : "'%s'",
                name);
    }
    colander_buffer_release(&bytes);
    return code;
}

enum colander_code
backups_choose(const struct object_list *backups, uint64_t number,
               const struct object **chosen, struct colander_error *err)
{
    size_t count = backups->count; /* up to the chosen one */

    while (count > 0 && number != 0 &&
           backups_number(backups->items[count - 1].name) != number)
        count--;
    if (count > 0) {
        *chosen = &backups->items[count - 1];
        return COLANDER_OK;
    }
    if (backups->count == 0)
        return COLANDER_FAIL(err, COLANDER_NOT_FOUND, "it has no backups");
    return COLANDER_FAIL(
        err, COLANDER_NOT_FOUND,
        "it has no backup %" PRIu64 ", but %zu others, from %06" PRIu64
        " to %06" PRIu64,
        number, backups->count, backups_number(backups->items[0].name),
        backups_number(backups->items[backups->count - 1].name));
}
