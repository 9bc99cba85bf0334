/* See columns.h. SPDX-License-Identifier: MIT */
#include "columns/selection.h"
#include "columns/store.h"
#include "core/engine.h"
#include "core/sst.h"

/* Replaces rows by their columns asked for. */
static enum colander_code
select_columns(const struct colander_read *read, struct colander_buffer *rows,
               const bool *found, size_t count, struct colander_error *err)
{
    struct selection selection = SELECTION_EMPTY;
    struct colander_buffer cut = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    if (read == NULL || read->paths == NULL)
        return COLANDER_OK;
    code = selection_init(&selection, read->paths, read->path_count, err);
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        struct colander_buffer whole = rows[i];

        if (!found[i])
            continue;
        code = selection_apply(&selection, colander_buffer_slice(&whole), &cut,
                               err);
        if (code == COLANDER_OK) {
            rows[i] = cut;
            cut = whole;
        }
    }
    selection_release(&selection);
    colander_buffer_release(&cut);
    return code;
}

enum colander_code
colander_family_get_many(struct colander_family *family,
                         const struct colander_slice *keys, size_t count,
                         const struct colander_read *read,
                         struct colander_buffer *rows, bool *found,
                         struct colander_error *err)
{
    const struct colander_source *source = &family->store->source;
    const struct colander_snapshot *snapshot = NULL;
    struct engine_family *engine_family;
    enum colander_code code;

    for (size_t i = 0; i < count; i++) {
        colander_buffer_clear(&rows[i]);
        found[i] = false;
    }
    if (family->store->engine == NULL)
        return source->get_many(source->context, family->name, keys, count,
                                read, rows, found, err);
    if (read != NULL)
        snapshot = engine_snapshot_part(read->snapshot, family->store->engine);
    code = family_engine(family, &engine_family, err);
    if (code != COLANDER_OK || engine_family == NULL || count == 0)
        return code;
    if (count == 1)
        code = engine_get(engine_family, snapshot, keys[0], rows, found, err);
    else
        code = engine_get_many(engine_family, snapshot, keys, count, rows,
                               found, err);
    if (code == COLANDER_OK)
        code = select_columns(read, rows, found, count, err);
    return code;
}

enum colander_code
colander_family_mark(struct colander_family *family, struct colander_slice name,
                     struct colander_buffer *value, bool *found,
                     struct colander_error *err)
{
    const struct colander_source *source = &family->store->source;
    struct engine_family *engine_family;
    enum colander_code code;

    *found = false;
    colander_buffer_clear(value);
    if (family->store->engine == NULL)
        return source->mark(source->context, family->name, name, value, found,
                            err);
    code = family_engine(family, &engine_family, err);
    if (code != COLANDER_OK || engine_family == NULL)
        return code;
    return engine_mark_get(engine_family, name, value, found, err);
}
