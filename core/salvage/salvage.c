/* SPDX-License-Identifier: MIT */
#include "core/salvage/salvage_inside.h"

#include "core/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

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

/* Reports a record that cannot be read. The store is salvaged without it. */
static enum colander_code
check_options(const struct salvage *salvage, struct colander_error *err)
{
    struct salvage_loss no_rows = {.is_none = true};
    struct colander_options options;
    struct colander_error error;
    enum colander_code code =
        directory_read_options(&salvage->directory, &options, &error);

    if (code == COLANDER_NO_MEMORY || code == COLANDER_TOO_NEW)
        return COLANDER_FAIL(err, code, "%s", error.message);
    if (code != COLANDER_OK)
        salvage_lose(salvage, no_rows, DIRECTORY_RECORD,
                     "%s: options are the defaults", error.message);
    return COLANDER_OK;
}

/* The same of a directory that is open, for a store at `to`. */
static enum colander_code
options_for(const struct directory *directory, const char *to,
            struct colander_options *options, struct colander_error *err)
{
    struct colander_error error;
    enum colander_code code;

    if (files_is_inside(to, directory->fd))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "'%s' is in the store, where nothing is written",
                             to);
    code = directory_read_options(directory, options, &error);
    if (code == COLANDER_NO_MEMORY || code == COLANDER_TOO_NEW)
        return COLANDER_FAIL(err, code, "%s", error.message);
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
salvage_open(const char *path, salvage_report *report, void *context,
             struct salvage **salvage, struct colander_error *err)
{
    const struct directory closed = DIRECTORY_CLOSED;
    struct salvage *opened = calloc(1, sizeof(*opened));
    enum colander_code code;

    *salvage = NULL;
    if (opened == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory to salvage");
    opened->directory = closed;
    opened->engine_fd = -1;
    opened->report = report;
    opened->context = context;
    code = open_directories(opened, path, err);
    if (code == COLANDER_OK)
        code = check_options(opened, err);
    if (code == COLANDER_OK)
        code = ledger_open(opened->directory.fd, &opened->ledger, err);
    if (code == COLANDER_OK)
        code = salvage_find_files(opened, err);
    if (code == COLANDER_OK)
        code = salvage_read_logs(opened, err);
    if (code == COLANDER_OK)
        code = salvage_read_names(opened, err);
    if (code != COLANDER_OK) {
        salvage_close(opened);
        colander_error_context(err, "cannot salvage '%s'", path);
        return code;
    }
    *salvage = opened;
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
    manifest_release(&salvage->manifest);
    ledger_close(salvage->ledger);
    if (salvage->engine_fd >= 0)
        (void)close(salvage->engine_fd);
    directory_close(&salvage->directory);
    free(salvage);
}
