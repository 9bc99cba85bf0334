/* See columns.h. SPDX-License-Identifier: MIT */
#include "columns/conditional.h"
#include "columns/store.h"
#include "columns/unchecked.h"
#include "columns/write.h"
#include "core/engine.h"

#include <stdlib.h>

/* The head of a write in the bytes of a batch. Its key and row follow. */
struct write_head {
    struct colander_family *family;
    bool *had_row; /* to be set; NULL: the write has no condition */
    uint32_t kind;
    uint32_t condition;
    uint32_t key_size;
    uint32_t row_size;
};

struct colander_batch {
    struct colander_store *store;
    struct colander_buffer writes; /* heads, keys, rows */
    size_t count;
    size_t read_count;      /* those that read their row first */
    struct key_locks locks; /* of all keys */
};

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
    batch->read_count = 0;
    memset(&batch->locks, 0, sizeof(batch->locks));
}

size_t
colander_batch_count(const struct colander_batch *batch)
{
    return batch->count;
}

/* Adds a write that was checked. With `had_row` it has a condition. */
static enum colander_code
batch_append(struct colander_batch *batch, const struct row_write *write,
             enum colander_row_condition condition, bool *had_row,
             struct colander_error *err)
{
    const struct write_head head = {.family = write->family,
                                    .had_row = had_row,
                                    .kind = write->kind,
                                    .condition = condition,
                                    .key_size = (uint32_t)write->key.size,
                                    .row_size = (uint32_t)write->row.size};
    const bool reads = write->kind == WRITE_PATCH || had_row != NULL;
    const size_t size = sizeof(head) + write->key.size + write->row.size;
    enum colander_code code = COLANDER_OK;

    if (write->family->store != batch->store)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "family '%s' is of another store than the batch",
                             colander_family_name(write->family));
    if (batch->writes.size + size > COLANDER_BATCH_SIZE_MAX)
        code = COLANDER_FAIL(err, COLANDER_LIMIT,
                             "a batch holds %u bytes at most: commit it",
                             COLANDER_BATCH_SIZE_MAX);
    if (code == COLANDER_OK)
        code = colander_buffer_reserve(&batch->writes, size, err);
    /* There is room, so none of these fails. */
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
    batch->read_count += reads;
    if (write->kind != WRITE_MARK)
        key_locks_add(&batch->locks, write->key, reads);
    return COLANDER_OK;
}

static enum colander_code
batch_add(struct colander_batch *batch, const struct row_write *write,
          struct colander_error *err)
{
    enum colander_code code = write_check(write, err);

    return code == COLANDER_OK
               ? batch_append(batch, write, COLANDER_ALWAYS, NULL, err)
               : code;
}

enum colander_code
colander_batch_put(struct colander_batch *batch, struct colander_family *family,
                   struct colander_slice key, struct colander_slice row,
                   struct colander_error *err)
{
    const struct row_write write = {WRITE_PUT, family, key, row};

    return batch_add(batch, &write, err);
}

enum colander_code
colander_batch_put_checked(struct colander_batch *batch,
                           struct colander_family *family,
                           struct colander_slice key, struct colander_slice row,
                           struct colander_error *err)
{
    const struct row_write write = {WRITE_PUT, family, key, row};
    enum colander_code code = write_check_key(&write, err);

    return code == COLANDER_OK
               ? batch_append(batch, &write, COLANDER_ALWAYS, NULL, err)
               : code;
}

enum colander_code
colander_batch_patch(struct colander_batch *batch,
                     struct colander_family *family, struct colander_slice key,
                     struct colander_slice patch, struct colander_error *err)
{
    const struct row_write write = {WRITE_PATCH, family, key, patch};

    return batch_add(batch, &write, err);
}

enum colander_code
colander_batch_delete(struct colander_batch *batch,
                      struct colander_family *family, struct colander_slice key,
                      struct colander_error *err)
{
    const struct row_write write = {WRITE_DELETE, family, key, {NULL, 0}};

    return batch_add(batch, &write, err);
}

enum colander_code
colander_batch_mark(struct colander_batch *batch,
                    struct colander_family *family, struct colander_slice name,
                    struct colander_slice value, struct colander_error *err)
{
    const struct row_write write = {WRITE_MARK, family, name, value};

    return batch_add(batch, &write, err);
}

enum colander_code
colander_batch_change(struct colander_batch *batch,
                      struct colander_family *family,
                      enum colander_change change,
                      enum colander_row_condition condition,
                      struct colander_slice key, struct colander_slice row,
                      bool is_checked, bool *had_row,
                      struct colander_error *err)
{
    static const enum write_kind kinds[] = {
        [COLANDER_CHANGE_PUT] = WRITE_PUT,
        [COLANDER_CHANGE_PATCH] = WRITE_PATCH,
        [COLANDER_CHANGE_DELETE] = WRITE_DELETE,
    };
    const struct row_write write = {kinds[change], family, key, row};
    enum colander_code code =
        is_checked ? write_check_key(&write, err) : write_check(&write, err);

    return code == COLANDER_OK
               ? batch_append(batch, &write, condition, had_row, err)
               : code;
}

/* Applies a write, unless its condition is not met. */
static enum colander_code
apply(const struct row_write *write, const struct write_head *head,
      struct write_batch *writing, struct colander_error *err)
{
    enum colander_code code;
    bool found;

    if (head->had_row == NULL)
        return write_apply(write, writing, err);
    code = write_finds_row(write, writing, &found, err);
    if (code != COLANDER_OK)
        return code;
    *head->had_row = found;
    if (head->condition == (found ? COLANDER_IF_ABSENT : COLANDER_IF_PRESENT))
        return COLANDER_OK;
    return write_apply(write, writing, err);
}

/* Returns the write at *offset and its head, and moves *offset after it. */
static struct row_write
batch_read(const struct colander_batch *batch, size_t *offset,
           struct write_head *read)
{
    const uint8_t *at = batch->writes.data + *offset;
    struct write_head head;
    struct row_write write;

    memcpy(&head, at, sizeof(head));
    *read = head;
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
                      const struct colander_write_options *options,
                      struct colander_error *err)
{
    struct write_batch writing = {NULL, NULL};
    enum colander_durability durability;
    enum colander_code code;
    size_t offset = 0;

    code = write_options_accept(options, &durability, err);
    if (code == COLANDER_OK)
        code = store_begin_batch(batch->store, batch->read_count > 0,
                                 &writing.engine_batch, err);
    if (code != COLANDER_OK)
        return code;
    key_locks_lock(&batch->locks, batch->store);
    while (code == COLANDER_OK && offset < batch->writes.size) {
        struct write_head head;
        struct row_write write = batch_read(batch, &offset, &head);

        code = apply(&write, &head, &writing, err);
        /* Patches may have grown into rows far larger than themselves. */
        if (code == COLANDER_OK && engine_batch_size(writing.engine_batch) >
                                       2 * (size_t)COLANDER_BATCH_SIZE_MAX)
            code = COLANDER_FAIL(err, COLANDER_LIMIT,
                                 "the patched rows of a batch are over %u "
                                 "bytes: patch fewer at once",
                                 2 * COLANDER_BATCH_SIZE_MAX);
    }
    if (code == COLANDER_OK)
        code = engine_batch_write(writing.engine_batch, durability, err);
    key_locks_unlock(&batch->locks, batch->store);
    notify_written(batch->store, &writing, code == COLANDER_OK);
    engine_batch_destroy(writing.engine_batch);
    if (code == COLANDER_OK)
        colander_batch_clear(batch);
    return code;
}
