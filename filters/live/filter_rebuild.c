/*
 * Rebuilds a filter from its SST file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/filter_builder.h"
#include "filters/live.h"

#include <unistd.h>

/* Adds every row of the SST, in its newest version. */
static enum colander_code
add_rows(struct filters *filters, struct sst *sst,
         struct filter_builder *builder, struct colander_error *err)
{
    struct engine_cursor *cursor;
    struct sst_entry entry = {.block = SST_BLOCK_UNKNOWN, .is_put = true};
    bool is_row = false;
    enum colander_code code = sst_cursor_open(sst, NULL, false, &cursor, err);

    if (code != COLANDER_OK)
        return code;
    do {
        if (worker_is_stopping(filters))
            code = COLANDER_FAIL(err, COLANDER_CANCELLED,
                                 "the store is being closed");
        if (code == COLANDER_OK)
            code = engine_cursor_next(cursor, &is_row, &entry.key, &entry.value,
                                      err);
        if (code == COLANDER_OK && is_row)
            code = filter_builder_add(builder, &entry, err);
    } while (code == COLANDER_OK && is_row);
    engine_cursor_close(cursor);
    return code;
}

/* Builds the filter of an SST at `path`. It does not contain older versions of
 * rows, so snapshots before this moment cannot use it. */
static enum colander_code
build_at(struct filters *filters, struct sst_file *file, const char *path,
         struct colander_error *err)
{
    const uint64_t sequence = engine_sequence(filters->engine);
    struct settings *settings =
        registry_settings(&filters->registry, file->family);
    struct filter_builder *builder = NULL;
    uint8_t tag[SST_TAG_SIZE] = {0}; /* the tag of an SST without one */
    struct sst *sst = NULL;
    enum colander_code code;

    code = sst_open(filters->engine, file->number, &sst, err);
    if (code == COLANDER_OK)
        code = filter_builder_create(path, settings, &builder, err);
    if (code == COLANDER_OK)
        code = add_rows(filters, sst, builder, err);
    if (code == COLANDER_OK) {
        (void)sst_tag(sst, tag);
        code = filter_builder_finish(builder, tag, sst_entry_count(sst),
                                     sequence, err);
    }
    filter_builder_destroy(builder);
    sst_close(sst);
    settings_unref(settings);
    return code;
}

enum colander_code
filters_rebuild(struct filters *filters, struct sst_file *file, bool *is_done,
                struct colander_error *err)
{
    uint8_t name[SST_TAG_SIZE]; /* names the file while it is built */
    char path[FILTER_PATH_MAX];
    struct sst_file *still;
    enum colander_code code;

    *is_done = false;
    filter_tag_draw(&filters->names, name);
    if (!filter_path_of_tag(&filters->names, name, path))
        return COLANDER_FAIL(err, COLANDER_IO,
                             "the path of the store is too long");
    code = build_at(filters, file, path, err);
    if (code != COLANDER_OK)
        return code;
    pthread_mutex_lock(&filters->names.mutex);
    still = registry_find(&filters->registry, file->number);
    if (still == file)
        code = filter_publish(&filters->names, path, file->number, file->size,
                              err);
    if (still == file && code == COLANDER_OK)
        *is_done = registry_change(&filters->registry, file, FILE_PENDING, NULL,
                                   NULL) == COLANDER_OK;
    else
        (void)unlink(path);
    pthread_mutex_unlock(&filters->names.mutex);
    sst_file_unref(&filters->registry, still);
    return code;
}
