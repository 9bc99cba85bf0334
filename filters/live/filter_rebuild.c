/*
 * Rebuilds a filter from its SST file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/filter_builder.h"
#include "filters/live.h"

#include <unistd.h>

struct rebuild {
    struct filters *filters;
    struct filter_builder *builder;
};

static enum colander_code
add_entry(void *context, const struct sst_entry *entry,
          struct colander_error *err)
{
    const struct rebuild *rebuild = context;

    if (worker_is_stopping(rebuild->filters))
        return COLANDER_FAIL(err, COLANDER_CANCELLED,
                             "the store is being closed");
    return filter_builder_add(rebuild->builder, entry, err);
}

/* Adds the rows of an SST that another program has written, in a form that only
 * the engine reads. Such files have one version of each row. */
static enum colander_code
add_foreign_rows(struct rebuild *rebuild, struct sst *sst,
                 struct colander_error *err)
{
    struct sst_entry entry = {.block = SST_BLOCK_UNKNOWN, .is_put = true};
    struct engine_cursor *cursor;
    bool is_row = true;
    enum colander_code code = sst_cursor_open(sst, NULL, false, &cursor, err);

    while (code == COLANDER_OK && is_row) {
        code =
            engine_cursor_next(cursor, &is_row, &entry.key, &entry.value, err);
        if (code == COLANDER_OK && is_row)
            code = add_entry(rebuild, &entry, err);
    }
    engine_cursor_close(cursor);
    return code;
}

/* Builds the filter of an SST at `path`, as when the SST was written: with
 * deletes and older versions of rows. */
static enum colander_code
build_at(struct filters *filters, struct sst_file *file, const char *path,
         struct settings *settings, struct colander_error *err)
{
    struct rebuild rebuild = {.filters = filters};
    char sst_path[SST_PATH_MAX];
    uint8_t tag[SST_TAG_SIZE] = {0}; /* the tag of an SST without one */
    struct sst *sst = NULL;
    enum colander_code code;

    code = sst_open(filters->engine, file->number, &sst, err);
    if (code == COLANDER_OK)
        code = filter_builder_create(path, settings, &rebuild.builder, err);
    if (code == COLANDER_OK &&
        !engine_sst_path(filters->engine, file->number, sst_path))
        code = COLANDER_FAIL(err, COLANDER_IO,
                             "the path of the store is too long");
    if (code == COLANDER_OK)
        code = sst_entries_visit(sst_path, add_entry, &rebuild, err);
    if (code == COLANDER_CORRUPT && sst != NULL && !sst_tag(sst, tag)) {
        filter_builder_destroy(rebuild.builder);
        code = filter_builder_create(path, settings, &rebuild.builder, err);
        if (code == COLANDER_OK)
            code = add_foreign_rows(&rebuild, sst, err);
    }
    if (code == COLANDER_OK) {
        (void)sst_tag(sst, tag);
        code = filter_builder_finish(rebuild.builder, tag, sst_entry_count(sst),
                                     err);
    }
    filter_builder_destroy(rebuild.builder);
    sst_close(sst);
    return code;
}

/* Lets the worker open the new filter of an SST. It may just have changed the
 * state of the file, which then has the old filter still, whose path is that of
 * the new one. Returns false if the SST is gone. */
static bool
open_again(struct registry *registry, struct sst_file *file)
{
    struct sst_file *now = sst_file_ref(file);
    enum colander_code code = COLANDER_NOT_FOUND;

    while (now != NULL && code == COLANDER_NOT_FOUND) {
        code = registry_change(registry, now, FILE_PENDING, NULL, NULL);
        sst_file_unref(registry, now);
        now = registry_find(registry, file->number);
    }
    sst_file_unref(registry, now);
    return code == COLANDER_OK;
}

/* Makes the file at `path` the filter of the SST. *is_done: it is, as the SST
 * is there, and the family has the settings of the filter still. */
static enum colander_code
install(struct filters *filters, struct sst_file *file, const char *path,
        const struct settings *settings, bool *is_done,
        struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    struct settings *present;
    struct sst_file *still;
    bool is_wanted;

    pthread_mutex_lock(&filters->names.mutex);
    still = registry_find(&filters->registry, file->number);
    present = registry_settings(&filters->registry, file->family);
    is_wanted = still == file && present == settings;
    if (is_wanted)
        code = filter_publish(&filters->names, path, file->number, file->size,
                              err);
    if (is_wanted && code == COLANDER_OK)
        *is_done = open_again(&filters->registry, file);
    else
        (void)unlink(path);
    pthread_mutex_unlock(&filters->names.mutex);
    settings_unref(present);
    sst_file_unref(&filters->registry, still);
    return code;
}

enum colander_code
filters_rebuild(struct filters *filters, struct sst_file *file, bool *is_done,
                struct colander_error *err)
{
    uint8_t name[SST_TAG_SIZE]; /* names the file while it is built */
    char path[FILTER_PATH_MAX];
    struct settings *settings;
    enum colander_code code;

    *is_done = false;
    filter_tag_draw(&filters->names, name);
    if (!filter_path_of_tag(&filters->names, name, path))
        return COLANDER_FAIL(err, COLANDER_IO,
                             "the path of the store is too long");
    settings = registry_settings(&filters->registry, file->family);
    code = build_at(filters, file, path, settings, err);
    if (code == COLANDER_OK)
        code = install(filters, file, path, settings, is_done, err);
    settings_unref(settings);
    return code;
}
