/*
 * Writes: checked, turned into whole rows, and handed to the engine.
 *
 * A write is checked when it is made, so that a bad one never reaches a
 * batch. It is applied while its key is locked, which makes a patch or an
 * insert (a read and a write) atomic against every other write of its row.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/write.h"

#include "columns/key.h"
#include "columns/store.h"
#include "core/sized.h"
#include "core/sst.h"

static enum colander_code
check_mark(const struct row_write *write, struct colander_error *err)
{
    if (write->key.size == 0)
        return COLANDER_FAIL(err, COLANDER_INVALID, "a mark has a name");
    if (write->key.size > COLANDER_MARK_NAME_MAX ||
        write->row.size > COLANDER_MARK_SIZE_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "a mark has a name of %u bytes at most, and %u "
                             "bytes itself: not %zu and %zu",
                             COLANDER_MARK_NAME_MAX, COLANDER_MARK_SIZE_MAX,
                             write->key.size, write->row.size);
    return COLANDER_OK;
}

enum colander_code
write_check_key(const struct row_write *write, struct colander_error *err)
{
    if (key_is_valid(write->key))
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "family '%s': the key is not encoded",
                         colander_family_name(write->family));
}

enum colander_code
write_check(const struct row_write *write, struct colander_error *err)
{
    enum colander_code code;

    if (write->kind != WRITE_MARK) {
        code = write_check_key(write, err);
        if (code != COLANDER_OK || write->kind == WRITE_DELETE)
            return code;
        code = colander_row_check(write->row, err);
    } else {
        code = check_mark(write, err);
    }
    if (code != COLANDER_OK)
        colander_error_context(err, "family '%s'",
                               colander_family_name(write->family));
    return code;
}

/* Tells the layer above of a row, or of a delete: an empty row. */
static enum colander_code
note_row(const struct row_write *write, struct colander_slice row,
         struct engine_family *engine_family, struct write_batch *batch,
         struct colander_error *err)
{
    const struct colander_store *store = write->family->store;

    if (!store->are_hooks_open)
        return COLANDER_OK;
    return store->hooks.recent_add(store->hooks.context, &batch->noted,
                                   engine_family, write->key, row, err);
}

static enum colander_code
put_row(const struct row_write *write, struct colander_slice row,
        struct engine_family *engine_family, struct write_batch *batch,
        struct colander_error *err)
{
    enum colander_code code = engine_batch_put(
        batch->engine_batch, engine_family, write->key, row, err);

    return code == COLANDER_OK ? note_row(write, row, engine_family, batch, err)
                               : code;
}

static enum colander_code
delete_row(const struct row_write *write, struct engine_family *engine_family,
           struct write_batch *batch, struct colander_error *err)
{
    enum colander_code code = engine_batch_delete(
        batch->engine_batch, engine_family, write->key, err);

    return code == COLANDER_OK ? note_row(write, colander_slice_of(NULL, 0),
                                          engine_family, batch, err)
                               : code;
}

static enum colander_code
patch_row(const struct row_write *write, struct engine_family *engine_family,
          struct write_batch *batch, struct colander_error *err)
{
    struct colander_buffer before = COLANDER_BUFFER_EMPTY;
    struct colander_buffer after = COLANDER_BUFFER_EMPTY;
    enum colander_code code;
    bool found;

    code = engine_batch_get(batch->engine_batch, engine_family, write->key,
                            &before, &found, err);
    if (code == COLANDER_OK)
        code = colander_row_patch(colander_buffer_slice(&before), write->row,
                                  &after, err);
    if (code == COLANDER_OK)
        code = put_row(write, colander_buffer_slice(&after), engine_family,
                       batch, err);
    colander_buffer_release(&before);
    colander_buffer_release(&after);
    if (code != COLANDER_OK)
        error_add_row(write->family, write->key, err);
    return code;
}

enum colander_code
write_apply(const struct row_write *write, struct write_batch *batch,
            struct colander_error *err)
{
    struct engine_family *engine_family;
    enum colander_code code;

    if (write->kind == WRITE_DELETE)
        code = family_engine(write->family, &engine_family, err);
    else
        code = family_make(write->family, &engine_family, err);
    if (code != COLANDER_OK || engine_family == NULL)
        return code;
    switch (write->kind) {
    case WRITE_PUT:
        return put_row(write, write->row, engine_family, batch, err);
    case WRITE_PATCH:
        return patch_row(write, engine_family, batch, err);
    case WRITE_DELETE:
        return delete_row(write, engine_family, batch, err);
    case WRITE_MARK:
        return engine_batch_mark(batch->engine_batch, engine_family, write->key,
                                 write->row, err);
    }
    return COLANDER_FAIL(err, COLANDER_INVALID, "a batch is damaged");
}

enum colander_code
write_finds_row(const struct row_write *write, struct write_batch *batch,
                bool *found, struct colander_error *err)
{
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    struct engine_family *engine_family;
    enum colander_code code = family_engine(write->family, &engine_family, err);

    *found = false;
    if (code == COLANDER_OK && engine_family != NULL)
        code = engine_batch_get(batch->engine_batch, engine_family, write->key,
                                &row, found, err);
    colander_buffer_release(&row);
    return code;
}

void
notify_written(struct colander_store *store, const struct write_batch *batch,
               bool is_written)
{
    if (batch->noted != NULL)
        store->hooks.write_end(store->hooks.context, batch->noted, is_written);
}

enum colander_code
write_options_accept(const struct colander_write_options *options,
                     enum colander_durability *durability,
                     struct colander_error *err)
{
    struct colander_write_options accepted;
    enum colander_code code = COLANDER_OK;

    colander_write_options_init(&accepted);
    if (options != NULL)
        code = sized_accept(&accepted, sizeof(accepted), options,
                            "write options", err);
    *durability = accepted.durability;
    if (code == COLANDER_OK &&
        (*durability < COLANDER_AS_STORE || *durability > COLANDER_NO_SYNC))
        code = COLANDER_FAIL(err, COLANDER_INVALID, "there is no durability %d",
                             (int)*durability);
    return code;
}

static enum colander_code
has_row(const struct row_write *write, bool *found, struct colander_error *err)
{
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    enum colander_code code =
        colander_family_get(write->family, write->key, NULL, &row, found, err);

    colander_buffer_release(&row);
    return code;
}

/* Writes at once. With `is_inserted`, only if there is no row yet. */
static enum colander_code
write_now(const struct row_write *write,
          const struct colander_write_options *options, bool *is_inserted,
          struct colander_error *err)
{
    struct colander_store *store = write->family->store;
    struct write_batch batch = {NULL, NULL};
    struct key_locks locks = {0, 0};
    enum colander_durability durability;
    const bool reads = write->kind == WRITE_PATCH || is_inserted != NULL;
    bool found = false;
    enum colander_code code;

    code = write_options_accept(options, &durability, err);
    if (code == COLANDER_OK)
        code = write_check(write, err);
    if (code == COLANDER_OK)
        code = store_begin_batch(store, write->kind == WRITE_PATCH,
                                 &batch.engine_batch, err);
    if (code != COLANDER_OK)
        return code;
    key_locks_add(&locks, write->key, reads);
    key_locks_lock(&locks, store);
    if (is_inserted != NULL)
        code = has_row(write, &found, err);
    if (code == COLANDER_OK && !found)
        code = write_apply(write, &batch, err);
    if (code == COLANDER_OK && !found)
        code = engine_batch_write(batch.engine_batch, durability, err);
    key_locks_unlock(&locks, store);
    notify_written(store, &batch, code == COLANDER_OK && !found);
    if (is_inserted != NULL)
        *is_inserted = code == COLANDER_OK && !found;
    engine_batch_destroy(batch.engine_batch);
    return code;
}

enum colander_code
colander_family_put(struct colander_family *family, struct colander_slice key,
                    struct colander_slice row,
                    const struct colander_write_options *options,
                    struct colander_error *err)
{
    const struct row_write write = {WRITE_PUT, family, key, row};

    return write_now(&write, options, NULL, err);
}

enum colander_code
colander_family_insert(struct colander_family *family,
                       struct colander_slice key, struct colander_slice row,
                       const struct colander_write_options *options,
                       bool *is_inserted, struct colander_error *err)
{
    const struct row_write write = {WRITE_PUT, family, key, row};

    *is_inserted = false;
    return write_now(&write, options, is_inserted, err);
}

enum colander_code
colander_family_put_json(struct colander_family *family, const char *json,
                         struct colander_buffer *key,
                         const struct colander_write_options *options,
                         struct colander_error *err)
{
    struct colander_json_reader *reader = colander_json_reader_create();
    struct colander_buffer generated = COLANDER_BUFFER_EMPTY;
    struct colander_slice read_key, row;
    enum colander_code code;
    bool has_key;

    if (reader == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot read JSON");
    code = colander_json_reader_row(reader, colander_slice_text(json),
                                    &read_key, &has_key, &row, err);
    if (code == COLANDER_OK && !has_key) {
        code = colander_key_generate(&generated, err);
        read_key = colander_buffer_slice(&generated);
    }
    if (code == COLANDER_OK && key != NULL) {
        colander_buffer_clear(key);
        code = colander_buffer_append(key, read_key.data, read_key.size, err);
    }
    if (code == COLANDER_OK)
        code = colander_family_put(family, read_key, row, options, err);
    colander_buffer_release(&generated);
    colander_json_reader_destroy(reader);
    return code;
}

enum colander_code
colander_family_patch(struct colander_family *family, struct colander_slice key,
                      struct colander_slice patch,
                      const struct colander_write_options *options,
                      struct colander_error *err)
{
    const struct row_write write = {WRITE_PATCH, family, key, patch};

    return write_now(&write, options, NULL, err);
}

enum colander_code
colander_family_delete(struct colander_family *family,
                       struct colander_slice key,
                       const struct colander_write_options *options,
                       struct colander_error *err)
{
    const struct row_write write = {WRITE_DELETE, family, key, {NULL, 0}};

    return write_now(&write, options, NULL, err);
}
