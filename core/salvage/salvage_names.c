/*
 * Names of families that were renamed, and of those that got a name which a
 * renamed family had before: see core/engine/names.cc.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/salvage/salvage_inside.h"

#include "core/bytes.h"
#include "core/family_name.h"

#include <stdio.h>
#include <stdlib.h>

#define NAME "name/"
#define NAME_KEY_SIZE (sizeof(NAME) - 1 + sizeof(uint32_t))
#define FAMILY_PREFIX "family/"
#define SEPARATOR '\x1f'

static enum colander_code
set_name(struct salvage *salvage, uint32_t id, struct colander_slice name,
         struct colander_error *err)
{
    char *copy = strndup((const char *)name.data, name.size);

    if (copy == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a name");
    for (size_t i = 0; i < salvage->family_count; i++) {
        char **known = &salvage->families[i].name;

        if (salvage->families[i].id != id ||
            family_name_check(copy, NULL) != COLANDER_OK)
            continue;
        free(*known);
        *known = copy;
        return COLANDER_OK;
    }
    free(copy);
    return COLANDER_OK;
}

/* Sets the names that column families of families have beside a number. A
 * record of a later name counts more. */
static enum colander_code
set_first_names(struct salvage *salvage, struct colander_error *err)
{
    const struct manifest *manifest = &salvage->manifest;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < manifest->family_count && code == COLANDER_OK; i++) {
        const char *column = manifest->families[i].name;
        const char *end = strchr(column, SEPARATOR);
        const size_t size = sizeof(FAMILY_PREFIX) - 1;

        if (end != NULL && strncmp(column, FAMILY_PREFIX, size) == 0)
            code = set_name(
                salvage, manifest->families[i].id,
                colander_slice_of(column + size, (size_t)(end - column) - size),
                err);
    }
    return code;
}

static enum colander_code
set_recorded_names(struct salvage *salvage, struct colander_error *err)
{
    enum colander_code code = salvage_begin_items(salvage, err);
    struct colander_slice key, name;
    bool is_row = true;

    while (code == COLANDER_OK) {
        code = salvage_next(salvage, &is_row, &key, &name, err);
        if (code != COLANDER_OK || !is_row)
            break;
        if (key.size == NAME_KEY_SIZE &&
            memcmp(key.data, NAME, sizeof(NAME) - 1) == 0)
            code =
                set_name(salvage, bytes_get_be32(key.data + sizeof(NAME) - 1),
                         name, err);
    }
    salvage_end_family(salvage);
    return code;
}

/* Returns whether an earlier family has the name. */
static bool
is_taken(const struct salvage *salvage, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(salvage->families[i].name, name) == 0)
            return true;
    }
    return false;
}

/* If records are lost, two families may have one name: adds numbers. */
static enum colander_code
tell_apart(struct salvage *salvage, struct colander_error *err)
{
    for (size_t i = 1; i < salvage->family_count; i++) {
        char **name = &salvage->families[i].name;
        char *other;

        for (unsigned n = 2; is_taken(salvage, i, *name); n++) {
            if (asprintf(&other, "%.240s (%u)", *name, n) < 0)
                return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                     "no memory for a name");
            free(*name);
            *name = other;
        }
    }
    return COLANDER_OK;
}

static void
report_nothing(void *context, const struct salvage_loss *loss)
{
    (void)context;
    (void)loss;
}

enum colander_code
salvage_read_names(struct salvage *salvage, struct colander_error *err)
{
    salvage_report *report = salvage->report;
    enum colander_code code = set_first_names(salvage, err);

    salvage->report = report_nothing; /* items are read again, and reported */
    if (code == COLANDER_OK)
        code = set_recorded_names(salvage, err);
    salvage->report = report;
    return code == COLANDER_OK ? tell_apart(salvage, err) : code;
}
