/*
 * Writes: single ones and batches, both through one commit.
 *
 * A write is checked when it is made, so that a bad one never reaches a
 * batch. A commit takes the locks of all its keys, which makes a patch (a read
 * and a write) atomic against every other write of its row, turns patches
 * into whole rows, and hands the engine one batch.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/key.h"
#include "columns/range.h"
#include "columns/store.h"

#include <stdlib.h>

enum write_kind { WRITE_PUT, WRITE_PATCH, WRITE_DELETE };

/* One write; the bytes are borrowed. */
struct write {
    enum write_kind kind;
    struct colander_family *family;
    struct colander_slice key;
    struct colander_slice row; /* or patch; empty for a delete */
};

/* How a write stands in a batch's bytes, followed by its key and row. */
struct write_head {
    struct colander_family *family;
    uint32_t kind;
    uint32_t key_size;
    uint32_t row_size;
};

struct colander_batch {
    struct colander_store *store;
    struct colander_buffer writes; /* heads, keys, rows */
    size_t count;
    size_t patch_count;
    struct key_lock_set locks; /* of all keys */
};

/* Rows that one lot of a range deletion takes at most. */
#define DELETE_LOT_COUNT 4096

/* ----------------------------------------------------------- one write --- */

static enum colander_code
write_check(const struct write *write, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (!key_is_valid(write->key))
        code = COLANDER_FAIL(err, COLANDER_INVALID, "the key is not encoded");
    if (code == COLANDER_OK && write->kind != WRITE_DELETE)
        code = colander_row_check(write->row, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "family '%s'", write->family->name);
    return code;
}

static enum colander_code
patch_row(const struct write *write, struct colander_engine_batch *batch,
          struct colander_engine_family *engine_family,
          struct colander_error *err)
{
    struct colander_buffer before = COLANDER_BUFFER_EMPTY;
    struct colander_buffer after = COLANDER_BUFFER_EMPTY;
    enum colander_code code;
    bool found;

    code = colander_engine_batch_get(batch, engine_family, write->key, &before,
                                     &found, err);
    if (code == COLANDER_OK)
        code = colander_row_patch(colander_buffer_slice(&before), write->row,
                                  &after, err);
    if (code == COLANDER_OK)
        code = colander_engine_batch_put(batch, engine_family, write->key,
                                         colander_buffer_slice(&after), err);
    colander_buffer_release(&before);
    colander_buffer_release(&after);
    return code;
}

/* Adds the write to the engine's batch; the locks are held. */
static enum colander_code
write_apply(const struct write *write, struct colander_engine_batch *batch,
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
        return colander_engine_batch_put(batch, engine_family, write->key,
                                         write->row, err);
    case WRITE_PATCH:
        return patch_row(write, batch, engine_family, err);
    case WRITE_DELETE:
        return colander_engine_batch_delete(batch, engine_family, write->key,
                                            err);
    }
    return COLANDER_FAIL(err, COLANDER_INVALID, "a batch is damaged");
}

static enum colander_code
write_now(const struct write *write, enum colander_durability durability,
          struct colander_error *err)
{
    struct colander_store *store = write->family->store;
    struct colander_engine_batch *batch = NULL;
    struct key_lock_set locks = {{0}};
    enum colander_code code;

    code = write_check(write, err);
    if (code == COLANDER_OK)
        code = colander_engine_batch_create(
            store->engine, write->kind == WRITE_PATCH, &batch, err);
    if (code != COLANDER_OK)
        return code;
    key_lock_set_add(&locks, write->key);
    key_lock_set_lock(&locks, store);
    code = write_apply(write, batch, err);
    if (code == COLANDER_OK)
        code = colander_engine_batch_write(batch, durability, err);
    key_lock_set_unlock(&locks, store);
    colander_engine_batch_destroy(batch);
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

/* ------------------------------------------------------------- batches --- */

enum colander_code
colander_batch_create(struct colander_store *store,
                      struct colander_batch **batch, struct colander_error *err)
{
    *batch = calloc(1, sizeof(**batch));
    if (*batch == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot make a batch");
    (*batch)->store = store;
    atomic_fetch_add(&store->handle_count, 1);
    return COLANDER_OK;
}

void
colander_batch_destroy(struct colander_batch *batch)
{
    if (batch == NULL)
        return;
    atomic_fetch_sub(&batch->store->handle_count, 1);
    colander_buffer_release(&batch->writes);
    free(batch);
}

void
colander_batch_clear(struct colander_batch *batch)
{
    colander_buffer_clear(&batch->writes);
    batch->count = 0;
    batch->patch_count = 0;
    memset(&batch->locks, 0, sizeof(batch->locks));
}

size_t
colander_batch_count(const struct colander_batch *batch)
{
    return batch->count;
}

static enum colander_code
batch_add(struct colander_batch *batch, const struct write *write,
          struct colander_error *err)
{
    const struct write_head head = {write->family, write->kind,
                                    (uint32_t)write->key.size,
                                    (uint32_t)write->row.size};
    const size_t size = sizeof(head) + write->key.size + write->row.size;
    enum colander_code code;

    if (write->family->store != batch->store)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "family '%s' is of another store than the batch",
                             write->family->name);
    code = write_check(write, err);
    if (code == COLANDER_OK &&
        batch->writes.size + size > COLANDER_BATCH_SIZE_MAX)
        code = COLANDER_FAIL(err, COLANDER_LIMIT,
                             "a batch holds %u bytes at most: commit it",
                             COLANDER_BATCH_SIZE_MAX);
    if (code == COLANDER_OK)
        code = colander_buffer_reserve(&batch->writes, size, err);
    /* Now that there is room, none of these fails halfway. */
    if (code == COLANDER_OK)
        code = colander_buffer_append(&batch->writes, &head, sizeof(head), err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&batch->writes, write->key.data,
                                      write->key.size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&batch->writes, write->row.data,
                                      write->row.size, err);
    if (code != COLANDER_OK)
        return code;
    batch->count++;
    batch->patch_count += write->kind == WRITE_PATCH;
    key_lock_set_add(&batch->locks, write->key);
    return COLANDER_OK;
}

enum colander_code
colander_batch_put(struct colander_batch *batch, struct colander_family *family,
                   struct colander_slice key, struct colander_slice row,
                   struct colander_error *err)
{
    const struct write write = {WRITE_PUT, family, key, row};

    return batch_add(batch, &write, err);
}

enum colander_code
colander_batch_patch(struct colander_batch *batch,
                     struct colander_family *family, struct colander_slice key,
                     struct colander_slice patch, struct colander_error *err)
{
    const struct write write = {WRITE_PATCH, family, key, patch};

    return batch_add(batch, &write, err);
}

enum colander_code
colander_batch_delete(struct colander_batch *batch,
                      struct colander_family *family, struct colander_slice key,
                      struct colander_error *err)
{
    const struct write write = {WRITE_DELETE, family, key, {NULL, 0}};

    return batch_add(batch, &write, err);
}

/* The write at *offset, which moves behind it. */
static struct write
batch_read(const struct colander_batch *batch, size_t *offset)
{
    const uint8_t *at = batch->writes.data + *offset;
    struct write_head head;
    struct write write;

    memcpy(&head, at, sizeof(head));
    at += sizeof(head);
    write.kind = (enum write_kind)head.kind;
    write.family = head.family;
    write.key = colander_slice_of(at, head.key_size);
    write.row = colander_slice_of(at + head.key_size, head.row_size);
    *offset += sizeof(head) + head.key_size + head.row_size;
    return write;
}

enum colander_code
colander_batch_commit(struct colander_batch *batch,
                      enum colander_durability durability,
                      struct colander_error *err)
{
    struct colander_engine_batch *engine_batch = NULL;
    enum colander_code code;
    size_t offset = 0;

    code = colander_engine_batch_create(
        batch->store->engine, batch->patch_count > 0, &engine_batch, err);
    if (code != COLANDER_OK)
        return code;
    key_lock_set_lock(&batch->locks, batch->store);
    while (code == COLANDER_OK && offset < batch->writes.size) {
        struct write write = batch_read(batch, &offset);

        code = write_apply(&write, engine_batch, err);
        /* Patches may have grown into rows far larger than themselves. */
        if (code == COLANDER_OK && colander_engine_batch_size(engine_batch) >
                                       2 * (size_t)COLANDER_BATCH_SIZE_MAX)
            code = COLANDER_FAIL(err, COLANDER_LIMIT,
                                 "the patched rows of a batch are over %u "
                                 "bytes: patch fewer at once",
                                 2 * COLANDER_BATCH_SIZE_MAX);
    }
    if (code == COLANDER_OK)
        code = colander_engine_batch_write(engine_batch, durability, err);
    key_lock_set_unlock(&batch->locks, batch->store);
    colander_engine_batch_destroy(engine_batch);
    if (code == COLANDER_OK)
        colander_batch_clear(batch);
    return code;
}

/* ------------------------------------------------------ range deletion --- */

/*
 * Point deletes on purpose. A range tombstone of the engine would be one
 * cheap write, but every later scan of the family would have to look for
 * them, and such scans lose errors of damaged files and rows with them.
 */

/* Adds deletes of the cursor's next keys; *is_end when there are no more. */
static enum colander_code
collect_lot(struct colander_engine_cursor *cursor,
            struct colander_family *family, struct colander_batch *batch,
            bool *is_end, struct colander_error *err)
{
    struct colander_slice key;
    struct colander_slice row;
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && batch->count < DELETE_LOT_COUNT) {
        code = colander_engine_cursor_next(cursor, &key, &row, err);
        if (code == COLANDER_OK && key.data == NULL) {
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
             struct colander_engine_family *engine_family,
             const struct byte_range *bytes,
             enum colander_durability durability, uint64_t *deleted,
             struct colander_error *err)
{
    const struct colander_engine_cursor_options options = {
        .from = bytes->from,
        .until = colander_buffer_slice(&bytes->until),
        .skips_cache = true,
    };
    struct colander_engine_cursor *cursor = NULL;
    struct colander_batch *batch = NULL;
    enum colander_code code;
    bool is_end = false;

    code = colander_batch_create(family->store, &batch, err);
    if (code == COLANDER_OK)
        code =
            colander_engine_cursor_open(engine_family, &options, &cursor, err);
    while (code == COLANDER_OK && !is_end) {
        size_t count;

        code = collect_lot(cursor, family, batch, &is_end, err);
        count = colander_batch_count(batch);
        if (code == COLANDER_OK && count > 0)
            code = colander_batch_commit(batch, durability, err);
        if (code == COLANDER_OK)
            *deleted += count;
    }
    colander_engine_cursor_close(cursor);
    colander_batch_destroy(batch);
    return code;
}

enum colander_code
colander_family_delete_range(struct colander_family *family,
                             const struct colander_key_range *range,
                             enum colander_durability durability,
                             uint64_t *deleted, struct colander_error *err)
{
    const struct colander_key_range all = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    struct colander_engine_family *engine_family;
    struct colander_options options;
    struct byte_range bytes;
    uint64_t count = 0;
    enum colander_code code;

    if (deleted == NULL)
        deleted = &count;
    *deleted = 0;
    colander_store_options(family->store, &options);
    if (options.mode == COLANDER_OPEN_READ_ONLY)
        return COLANDER_FAIL(err, COLANDER_READ_ONLY,
                             "store '%s' is open for reading only",
                             colander_engine_path(family->store->engine));
    code = byte_range_init(&bytes, range == NULL ? &all : range, err);
    if (code != COLANDER_OK)
        return code;
    code = family_find(family, &engine_family, err);
    if (code == COLANDER_OK && engine_family != NULL && !bytes.is_empty)
        code = delete_bytes(family, engine_family, &bytes, durability, deleted,
                            err);
    byte_range_release(&bytes);
    return code;
}
