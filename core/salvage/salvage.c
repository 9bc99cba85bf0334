/*
 * Salvage: see salvage.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/salvage/salvage_inside.h"

#include "core/family_name.h"
#include "core/files.h"
#include "core/options.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* -------------------------------------------------------------- losses --- */

struct salvage_loss
salvage_rows_of(const struct salvage *salvage, uint32_t family)
{
    const struct salvage_family *known = salvage_family(salvage, family);
    struct salvage_loss rows = {.family = NULL};

    if (known != NULL && family != SALVAGE_UNKNOWN)
        rows.family = known->name;
    return rows;
}

void
salvage_lose(const struct salvage *salvage, struct salvage_loss rows,
             const char *name, const char *format, ...)
{
    char what[400];
    va_list values;

    va_start(values, format);
    (void)vsnprintf(what, sizeof(what), format, values);
    va_end(values);
    rows.file = name;
    rows.what = what;
    salvage->tell(salvage->context, &rows);
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

/* Of two of one name the one with the lower id was dropped before the other was
 * made. */
static enum colander_code
replace_family(struct salvage *salvage, struct salvage_family *known,
               uint32_t id, struct colander_error *err)
{
    const uint32_t dropped = id < known->id ? id : known->id;

    known->id = id < known->id ? known->id : id;
    return version_log_drop(&salvage->versions, dropped, err);
}

enum colander_code
salvage_add_nameless(struct salvage *salvage, uint32_t id, const char *name,
                     struct colander_error *err)
{
    char other[SALVAGE_NAME_SIZE];

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
    struct salvage_family *grown = family_named(salvage, name);

    if (salvage_family(salvage, id) != NULL)
        return COLANDER_OK;
    if (family_name_check(name, NULL) != COLANDER_OK) /* none of ours */
        return salvage_add_nameless(salvage, id, "unknown", err);
    if (grown != NULL)
        return replace_family(salvage, grown, id, err);
    grown = realloc(salvage->families,
                    (salvage->family_count + 1) * sizeof(*grown));
    if (grown != NULL) {
        salvage->families = grown;
        grown += salvage->family_count;
        grown->id = id;
        grown->name = strdup(name);
    }
    if (grown == NULL || grown->name == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a family");
    salvage->family_count++;
    return COLANDER_OK;
}

size_t
salvage_family_count(const struct salvage *salvage)
{
    return salvage->family_count;
}

const char *
salvage_family_name(const struct salvage *salvage, size_t index)
{
    return salvage->families[index].name;
}

/* -------------------------------------------------------------- opening --- */

static enum colander_code
open_directories(struct salvage *salvage, const char *path,
                 struct colander_error *err)
{
    enum colander_code code =
        directory_open_damaged(&salvage->directory, path, false, err);

    if (code != COLANDER_OK)
        return code;
    salvage->engine_fd = openat(salvage->directory.fd, DIRECTORY_ENGINE,
                                O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (salvage->engine_fd < 0)
        return files_fail(err, "open", DIRECTORY_ENGINE);
    return COLANDER_OK;
}

/* Reads what the store keeps; what stands in the way of that is in `why`. */
static enum colander_code
read_options(const struct directory *directory,
             struct colander_options *options, struct colander_error *why)
{
    struct colander_buffer record = COLANDER_BUFFER_EMPTY;
    struct colander_options kept;
    enum colander_code code;

    colander_options_init(options);
    colander_options_init(&kept);
    code = directory_read_record(directory, &record, why);
    if (code == COLANDER_OK)
        code = options_decode(colander_buffer_slice(&record), &kept, why);
    if (code == COLANDER_OK)
        code = options_merge_kept(options, &kept, why);
    colander_buffer_release(&record);
    return code;
}

/* Without its record a store is salvaged as well. */
static enum colander_code
check_options(const struct salvage *salvage, struct colander_error *err)
{
    struct salvage_loss no_rows = {.is_none = true};
    struct colander_options options;
    struct colander_error why;
    enum colander_code code = read_options(&salvage->directory, &options, &why);

    if (code == COLANDER_NO_MEMORY || code == COLANDER_TOO_NEW)
        return COLANDER_FAIL(err, code, "%s", why.message);
    if (code != COLANDER_OK)
        salvage_lose(salvage, no_rows, DIRECTORY_RECORD,
                     "%s: options are the defaults", why.message);
    return COLANDER_OK;
}

/* The same of a directory that is open, for a store at `to`. */
static enum colander_code
options_for(const struct directory *directory, const char *to,
            struct colander_options *options, struct colander_error *err)
{
    struct colander_error why;
    enum colander_code code;

    if (files_is_inside(to, directory->fd))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%s' is in the store, where nothing is written",
                             to);
    code = read_options(directory, options, &why);
    if (code == COLANDER_NO_MEMORY || code == COLANDER_TOO_NEW)
        return COLANDER_FAIL(err, code, "%s", why.message);
    return COLANDER_OK;
}

enum colander_code
salvage_options(const char *path, const char *to,
                struct colander_options *options, struct colander_error *err)
{
    struct directory directory;
    enum colander_code code =
        directory_open_damaged(&directory, path, false, err);

    if (code == COLANDER_OK) {
        code = options_for(&directory, to, options, err);
        directory_close(&directory);
    }
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot salvage '%s'", path);
    return code;
}

enum colander_code
salvage_open(const char *path, salvage_tell *tell, void *context,
             struct salvage **salvage, struct colander_error *err)
{
    const struct directory closed = DIRECTORY_CLOSED;
    struct salvage *made = calloc(1, sizeof(*made));
    enum colander_code code;

    *salvage = NULL;
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory to salvage");
    made->directory = closed;
    made->engine_fd = -1;
    made->tell = tell;
    made->context = context;
    code = open_directories(made, path, err);
    if (code == COLANDER_OK)
        code = check_options(made, err);
    if (code == COLANDER_OK)
        code = ledger_open(made->directory.fd, &made->ledger, err);
    if (code == COLANDER_OK)
        code = salvage_find_files(made, err);
    if (code == COLANDER_OK)
        code = salvage_read_logs(made, err);
    if (code != COLANDER_OK) {
        salvage_close(made);
        colander_error_context(err, "cannot salvage '%s'", path);
        return code;
    }
    *salvage = made;
    return COLANDER_OK;
}

void
salvage_close(struct salvage *salvage)
{
    if (salvage == NULL)
        return;
    salvage_end_family(salvage);
    for (size_t i = 0; i < salvage->family_count; i++)
        free(salvage->families[i].name);
    for (size_t i = 0; i < salvage->table_count; i++)
        colander_buffer_release(&salvage->tables[i].first_key);
    free(salvage->families);
    free(salvage->tables);
    free(salvage->log.entries);
    colander_buffer_release(&salvage->log.bytes);
    colander_buffer_release(&salvage->key);
    colander_buffer_release(&salvage->row);
    version_log_release(&salvage->versions);
    ledger_close(salvage->ledger);
    if (salvage->engine_fd >= 0)
        (void)close(salvage->engine_fd);
    directory_close(&salvage->directory);
    free(salvage);
}
