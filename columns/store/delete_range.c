/*
 * Range deletion: row by row, in lots.
 *
 * These are point deletes on purpose. A range tombstone of the engine would be
 * one cheap write. But every later scan of the family would have to look for
 * such tombstones, and scans with them lose errors of damaged files, and rows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/range.h"
#include "columns/store.h"
#include "columns/write.h"
#include "core/engine.h"

/* The most rows of a lot. */
#define LOT_COUNT 4096

/* Adds deletes of the cursor's next keys. Sets *is_end after the last one. */
static enum colander_code
collect_lot(struct engine_cursor *cursor, struct colander_family *family,
            struct colander_batch *batch, bool *is_end,
            struct colander_error *err)
{
    struct colander_slice key;
    struct colander_slice row;
    enum colander_code code = COLANDER_OK;
    bool is_row;

    while (code == COLANDER_OK && colander_batch_count(batch) < LOT_COUNT) {
        code = engine_cursor_next(cursor, &is_row, &key, &row, err);
        if (code == COLANDER_OK && !is_row) {
            *is_end = true;
            break;
        }
        if (code == COLANDER_OK)
            code = colander_batch_delete(batch, family, key, err);
    }
    return code;
}

static enum colander_code
delete_bytes(struct colander_family *family,
             struct engine_family *engine_family,
             const struct byte_range *bytes,
             const struct colander_write_options *options, uint64_t *deleted,
             struct colander_error *err)
{
    const struct engine_cursor_options every = {
        .from = colander_buffer_slice(&bytes->from),
        .until = colander_buffer_slice(&bytes->until),
        .skips_cache = true,
    };
    struct engine_cursor *cursor = NULL;
    struct colander_batch *batch = NULL;
    enum colander_code code;
    bool is_end = false;

    code = colander_batch_create(family->store, &batch, err);
    if (code == COLANDER_OK)
        code = engine_cursor_open(engine_family, &every, &cursor, err);
    while (code == COLANDER_OK && !is_end) {
        size_t count;

        code = collect_lot(cursor, family, batch, &is_end, err);
        count = colander_batch_count(batch);
        if (code == COLANDER_OK && count > 0)
            code = colander_batch_commit(batch, options, err);
        if (code == COLANDER_OK)
            *deleted += count;
    }
    engine_cursor_close(cursor);
    colander_batch_destroy(batch);
    return code;
}

enum colander_code
colander_family_delete_range(struct colander_family *family,
                             const struct colander_key_range *range,
                             const struct colander_write_options *options,
                             uint64_t *deleted, struct colander_error *err)
{
    const struct colander_key_range all = {
        {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}};
    struct engine_family *engine_family;
    struct byte_range bytes;
    uint64_t count = 0;
    enum colander_durability durability;
    enum colander_code code;

    if (deleted == NULL)
        deleted = &count;
    *deleted = 0;
    code = write_options_accept(options, &durability, err);
    if (code == COLANDER_OK)
        code = store_check_writable(family->store, err);
    if (code != COLANDER_OK)
        return code;
    code = byte_range_init(&bytes, range == NULL ? &all : range, err);
    if (code != COLANDER_OK)
        return code;
    code = family_engine(family, &engine_family, err);
    if (code == COLANDER_OK && engine_family != NULL && !bytes.is_empty)
        code =
            delete_bytes(family, engine_family, &bytes, options, deleted, err);
    byte_range_release(&bytes);
    return code;
}
