/*
 * Writes: checked, turned into whole rows, and handed to the engine.
 *
 * A write is checked when it is made, so that a bad one never reaches a
 * batch. It is applied while its key is locked, which makes a patch (a read
 * and a write) atomic against every other write of its row.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/write.h"

#include "columns/key.h"
#include "columns/store.h"
#include "core/sst.h"

static enum colander_code
check_mark(const struct write *write, struct colander_error *err)
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
write_check_key(const struct write *write, struct colander_error *err)
{
    if (key_is_valid(write->key))
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "family '%s': the key is not encoded",
                         write->family->name);
}

enum colander_code
write_check(const struct write *write, struct colander_error *err)
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
        colander_error_context(err, "family '%s'", write->family->name);
    return code;
}

static enum colander_code
put_row(const struct write *write, struct colander_slice row,
        struct colander_engine_family *engine_family, struct write_batch *batch,
        struct colander_error *err)
{
    const struct colander_store *store = write->family->store;
    enum colander_code code;

    code = colander_engine_batch_put(batch->engine_batch, engine_family,
                                     write->key, row, err);
    if (code != COLANDER_OK || !store->is_extended)
        return code;
    return store->extension.note_row(store->extension.context, &batch->noted,
                                     engine_family, write->key, row, err);
}

static enum colander_code
patch_row(const struct write *write,
          struct colander_engine_family *engine_family,
          struct write_batch *batch, struct colander_error *err)
{
    struct colander_buffer before = COLANDER_BUFFER_EMPTY;
    struct colander_buffer after = COLANDER_BUFFER_EMPTY;
    enum colander_code code;
    bool found;

    code = colander_engine_batch_get(batch->engine_batch, engine_family,
                                     write->key, &before, &found, err);
    if (code == COLANDER_OK)
        code = colander_row_patch(colander_buffer_slice(&before), write->row,
                                  &after, err);
    if (code == COLANDER_OK)
        code = put_row(write, colander_buffer_slice(&after), engine_family,
                       batch, err);
    colander_buffer_release(&before);
    colander_buffer_release(&after);
    if (code != COLANDER_OK)
        tell_row(write->family, write->key, err);
    return code;
}

enum colander_code
write_apply(const struct write *write, struct write_batch *batch,
            struct colander_error *err)
{
    struct colander_engine_family *engine_family;
    enum colander_code code;

    if (write->kind == WRITE_DELETE)
        code = family_find(write->family, &engine_family, err);
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
        return colander_engine_batch_delete(batch->engine_batch, engine_family,
                                            write->key, err);
    case WRITE_MARK:
        return engine_batch_mark(batch->engine_batch, engine_family, write->key,
                                 write->row, err);
    }
    return COLANDER_FAIL(err, COLANDER_INVALID, "a batch is damaged");
}

void
write_tell(struct colander_store *store, const struct write_batch *batch,
           bool is_written)
{
    if (batch->noted != NULL)
        store->extension.write_end(store->extension.context, batch->noted,
                                   is_written);
}

static enum colander_code
write_now(const struct write *write, enum colander_durability durability,
          struct colander_error *err)
{
    struct colander_store *store = write->family->store;
    struct write_batch batch = {NULL, NULL};
    struct key_locks locks = {0, 0};
    enum colander_code code;

    code = write_check(write, err);
    if (code == COLANDER_OK)
        code = colander_engine_batch_create(store->engine,
                                            write->kind == WRITE_PATCH,
                                            &batch.engine_batch, err);
    if (code != COLANDER_OK)
        return code;
    key_locks_add(&locks, write->key, write->kind == WRITE_PATCH);
    key_locks_lock(&locks, store);
    code = write_apply(write, &batch, err);
    if (code == COLANDER_OK)
        code = colander_engine_batch_write(batch.engine_batch, durability, err);
    key_locks_unlock(&locks, store);
    write_tell(store, &batch, code == COLANDER_OK);
    colander_engine_batch_destroy(batch.engine_batch);
    return code;
}

enum colander_code
colander_family_put(struct colander_family *family, struct colander_slice key,
                    struct colander_slice row,
                    enum colander_durability durability,
                    struct colander_error *err)
{
    const struct write write = {WRITE_PUT, family, key, row};

    return write_now(&write, durability, err);
}

enum colander_code
colander_family_patch(struct colander_family *family, struct colander_slice key,
                      struct colander_slice patch,
                      enum colander_durability durability,
                      struct colander_error *err)
{
    const struct write write = {WRITE_PATCH, family, key, patch};

    return write_now(&write, durability, err);
}

enum colander_code
colander_family_delete(struct colander_family *family,
                       struct colander_slice key,
                       enum colander_durability durability,
                       struct colander_error *err)
{
    const struct write write = {WRITE_DELETE, family, key, {NULL, 0}};

    return write_now(&write, durability, err);
}
