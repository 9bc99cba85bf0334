/* SPDX-License-Identifier: MIT */
#include "columns/finds/found_rows.h"
#include "core/engine.h"

/* Reads those that the layer above has not. */
static enum colander_code
read_others(struct found_rows *rows, const struct candidate *found,
            size_t count, struct colander_error *err)
{
    const struct candidate_request *request = rows->source->request;
    struct colander_slice keys[FOUND_ROWS_MAX];
    enum colander_code code = COLANDER_OK;
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        if (rows->direct.rows[i].data != NULL)
            continue;
        rows->direct.rows[i].size = left;
        keys[left++] = found[i].key;
    }
    rows->direct_count = count - left;
    if (left == 0)
        return COLANDER_OK;
    if (rows->others == NULL)
        code = engine_rows_create(&rows->others, err);
    if (code == COLANDER_OK)
        code = engine_rows_read(rows->others, request->family,
                                request->snapshot, keys, left, err);
    return code;
}

enum colander_code
found_rows_read(struct found_rows *rows, const struct candidate_source *source,
                const struct candidate *found, size_t count,
                struct colander_error *err)
{
    enum colander_code code;

    found_rows_clear(rows);
    rows->source = source;
    code = source->hooks->candidates_read(source->candidates, found, count,
                                          &rows->direct, err);
    if (code == COLANDER_OK)
        code = read_others(rows, found, count, err);
    if (code != COLANDER_OK)
        found_rows_clear(rows);
    return code;
}

bool
found_rows_get(const struct found_rows *rows, size_t index,
               struct colander_slice *row)
{
    if (index >= rows->direct.count)
        return false;
    if (rows->direct.rows[index].data == NULL)
        return engine_rows_get(rows->others, rows->direct.rows[index].size,
                               row);
    *row = rows->direct.rows[index];
    return true;
}

size_t
found_rows_size(const struct found_rows *rows, size_t index)
{
    if (index >= rows->direct.count)
        return 0;
    if (rows->direct.rows[index].data == NULL)
        return engine_rows_size(rows->others, rows->direct.rows[index].size);
    return rows->direct.held[index] == NULL ? rows->direct.rows[index].size
                                            : rows->direct.held_sizes[index];
}

void
found_rows_clear(struct found_rows *rows)
{
    if (rows->source != NULL)
        rows->source->hooks->candidates_release(rows->source->candidates,
                                                &rows->direct);
    rows->source = NULL;
    rows->direct_count = 0;
    if (rows->others != NULL)
        engine_rows_clear(rows->others);
}

void
found_rows_release(struct found_rows *rows)
{
    found_rows_clear(rows);
    engine_rows_destroy(rows->others);
    rows->others = NULL;
}
