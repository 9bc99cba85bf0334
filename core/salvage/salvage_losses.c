/*
 * Losses, and the families that they are reported for.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/salvage/salvage_inside.h"

#include "core/array.h"
#include "core/drop_report.h"
#include "core/family_name.h"

#include <stdarg.h>
#include <stdio.h>

/* -------------------------------------------------------------- losses --- */

struct salvage_loss
salvage_rows_of(const struct salvage *salvage, uint32_t family)
{
    const struct salvage_family *known = salvage_family(salvage, family);
    struct salvage_loss rows = {.is_items = family == SALVAGE_ITEMS};

    if (known != NULL && family != SALVAGE_UNKNOWN)
        rows.family = known->name;
    return rows;
}

void
salvage_lose(const struct salvage *salvage, struct salvage_loss rows,
             const char *name, const char *format, ...)
{
    const bool is_outside = strcmp(name, DIRECTORY_RECORD) == 0 ||
                            strcmp(name, DROP_REPORT_FILE) == 0;
    char file[sizeof(struct numbered_name) + sizeof(DIRECTORY_ENGINE)];
    char what[400];
    va_list values;

    va_start(values, format);
    (void)vsnprintf(what, sizeof(what), format, values);
    va_end(values);
    (void)snprintf(file, sizeof(file), "%s%s",
                   is_outside ? "" : DIRECTORY_ENGINE "/", name);
    rows.file = file;
    rows.what = what;
    salvage->report(salvage->context, &rows);
}

/* ------------------------------------------------------------- families --- */

const struct salvage_family *
salvage_family(const struct salvage *salvage, uint32_t id)
{
    for (size_t i = 0; i < salvage->family_count; i++) {
        if (salvage->families[i].id == id)
            return &salvage->families[i];
    }
    return NULL;
}

static struct salvage_family *
family_named(const struct salvage *salvage, const char *name)
{
    for (size_t i = 0; i < salvage->family_count; i++) {
        if (strcmp(salvage->families[i].name, name) == 0)
            return &salvage->families[i];
    }
    return NULL;
}

/* Of two families with one name, that with the lower id was dropped before the
 * other was created. */
static enum colander_code
replace_family(struct salvage *salvage, struct salvage_family *known,
               uint32_t id, struct colander_error *err)
{
    const uint32_t dropped = id < known->id ? id : known->id;

    known->id = id < known->id ? known->id : id;
    return manifest_drop_family(&salvage->manifest, dropped, err);
}

enum colander_code
salvage_add_nameless(struct salvage *salvage, uint32_t id, const char *name,
                     struct colander_error *err)
{
    char other[64];

    (void)snprintf(other, sizeof(other), "%s", name);
    for (unsigned i = 2; family_named(salvage, other) != NULL; i++) {
        if (salvage_family(salvage, id) != NULL)
            return COLANDER_OK;
        (void)snprintf(other, sizeof(other), "%s (%u)", name, i);
    }
    return salvage_add_family(salvage, id, other, err);
}

enum colander_code
salvage_add_family(struct salvage *salvage, uint32_t id, const char *name,
                   struct colander_error *err)
{
    struct salvage_family *known = family_named(salvage, name);
    struct salvage_family added = {id, NULL};
    enum colander_code code;

    if (salvage_family(salvage, id) != NULL)
        return COLANDER_OK;
    if (family_name_check(name, NULL) != COLANDER_OK) /* not one of ours */
        return salvage_add_nameless(salvage, id, "unknown", err);
    if (known != NULL)
        return replace_family(salvage, known, id, err);
    code = array_reserve(&salvage->families, salvage->family_count,
                         &salvage->family_capacity, 1, err);
    if (code != COLANDER_OK)
        return code;
    added.name = strdup(name);
    if (added.name == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a family");
    salvage->families[salvage->family_count++] = added;
    return COLANDER_OK;
}
