/*
 * The time column of a family: a mark that has its path.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/columns.h"
#include "columns/path.h"

#define MARK "time column"

enum colander_code
colander_family_time_column(struct colander_family *family,
                            struct colander_buffer *path, bool *found,
                            struct colander_error *err)
{
    enum colander_code code = colander_family_mark(
        family, colander_slice_text(MARK), path, found, err);

    if (code == COLANDER_OK && *found)
        code = colander_buffer_append(path, "", 1, err);
    return code;
}

enum colander_code
colander_family_set_time_column(struct colander_store *store,
                                struct colander_family *family,
                                const char *path, struct colander_error *err)
{
    struct colander_batch *batch = NULL;
    struct path parsed = PATH_EMPTY;
    enum colander_code code = COLANDER_OK;

    if (path[0] != '\0')
        code = colander_path_parse(path, &parsed, err);
    if (code == COLANDER_OK)
        code = colander_batch_create(store, &batch, err);
    if (code == COLANDER_OK)
        code = colander_batch_mark(batch, family, colander_slice_text(MARK),
                                   colander_slice_text(path), err);
    if (code == COLANDER_OK)
        code = colander_batch_commit(batch, NULL, err);
    colander_batch_destroy(batch);
    path_release(&parsed);
    return code;
}
