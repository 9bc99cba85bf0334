/*
 * Changes: rows that a find returned, deleted or patched in batches.
 *
 * The find may be long over when a row is written. So a batch locks its rows
 * against all other writers, reads them again, and leaves out those that no
 * longer match.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/finds/find.h"
#include "columns/write.h"
#include "core/engine.h"
#include "core/sst.h"

#include <stdlib.h>

/* How many times as long as the work a pause lasts if others write, and the
 * longest one, so that a call that is cancelled ends soon. With 31 the 99th
 * percentile of puts beside the work hardly grows: each of them may wait for
 * its write, and one of 32 for its lock. */
#define PAUSE_FACTOR 31
#define PAUSE_NS_MAX UINT64_C(50000000)

/* Bytes of patched rows after which a batch is written early. */
#define LOT_SIZE_MAX (8u << 20)

struct colander_changes {
    struct colander_family *family;
    const struct colander_predicate *where;
    struct colander_write_options options;
    struct colander_buffer patch; /* empty: delete */
    struct colander_buffer keys;  /* of the lot, one after another */
    size_t key_sizes[CHANGES_LOT];
    uint32_t key_locks[CHANGES_LOT]; /* the bit of each key */
    size_t key_count;
    struct key_locks locks;       /* of these keys */
    bool yields;                  /* a batch has one of the locks */
    uint64_t sequence;            /* of the store after the last one */
    struct colander_buffer row;   /* as it is */
    struct colander_buffer after; /* as it is patched */
    uint64_t count;
};

/* --------------------------------------------------------------- a lot --- */

/* Reads a row. Sets *is_wanted if it exists and matches. */
static enum colander_code
judge_row(struct colander_changes *changes, struct colander_slice key,
          bool *is_wanted, struct colander_error *err)
{
    enum colander_code code = colander_family_get(
        changes->family, key, NULL, &changes->row, is_wanted, err);

    if (code == COLANDER_OK && *is_wanted && changes->where != NULL)
        code = colander_predicate_evaluate(changes->where,
                                           colander_buffer_slice(&changes->row),
                                           is_wanted, NULL, err);
    return code;
}

/* Adds the row under `key` to the batch, if it is wanted. */
static enum colander_code
change_row(struct colander_changes *changes, struct colander_slice key,
           struct write_batch *batch, uint64_t *count,
           struct colander_error *err)
{
    struct row_write write = {WRITE_DELETE, changes->family, key, {NULL, 0}};
    bool is_wanted = false;
    enum colander_code code = judge_row(changes, key, &is_wanted, err);

    if (code == COLANDER_OK && is_wanted && changes->patch.size > 0) {
        code = colander_row_patch(colander_buffer_slice(&changes->row),
                                  colander_buffer_slice(&changes->patch),
                                  &changes->after, err);
        write.kind = WRITE_PUT;
        write.row = colander_buffer_slice(&changes->after);
    }
    if (code != COLANDER_OK)
        error_add_row(changes->family, key, err);
    if (code == COLANDER_OK && is_wanted)
        code = write_apply(&write, batch, err);
    *count += code == COLANDER_OK && is_wanted;
    return code;
}

/* Writes rows from the one at *index on, whose key is at *offset, in one batch:
 * those of the rest of the lot whose locks are held, or fewer if they are
 * large. */
static enum colander_code
write_batch_of(struct colander_changes *changes, uint32_t held, size_t *index,
               size_t *offset, struct colander_error *err)
{
    struct colander_store *store = changes->family->store;
    struct write_batch batch = {NULL, NULL};
    uint64_t count = 0;
    enum colander_code code =
        store_begin_batch(store, false, &batch.engine_batch, err);

    if (code != COLANDER_OK)
        return code;
    while (code == COLANDER_OK && *index < changes->key_count &&
           engine_batch_size(batch.engine_batch) < LOT_SIZE_MAX) {
        const struct colander_slice key = colander_slice_of(
            changes->keys.data + *offset, changes->key_sizes[*index]);

        if ((changes->key_locks[*index] & held) != 0)
            code = change_row(changes, key, &batch, &count, err);
        *offset += key.size;
        ++*index;
    }
    if (code == COLANDER_OK && count > 0)
        code = engine_batch_write(batch.engine_batch,
                                  changes->options.durability, err);
    notify_written(store, &batch, code == COLANDER_OK && count > 0);
    engine_batch_destroy(batch.engine_batch);
    if (code == COLANDER_OK)
        changes->count += count;
    return code;
}

/* Pauses after a batch that was begun at `begin` and wrote `count` rows, if
 * others have written since the one before. */
static void
pause_after(struct colander_changes *changes, uint64_t begin, uint64_t count)
{
    const uint64_t before = changes->sequence;
    uint64_t ns = (clock_ns() - begin) * PAUSE_FACTOR;
    struct timespec time;

    changes->sequence = engine_sequence(changes->family->store->engine);
    if (changes->sequence == before + count)
        return;
    ns = ns < PAUSE_NS_MAX ? ns : PAUSE_NS_MAX;
    time.tv_sec = (time_t)(ns / 1000000000);
    time.tv_nsec = (long)(ns % 1000000000);
    (void)nanosleep(&time, NULL); /* a signal may end it */
}

/* Writes the rows of the lot whose keys have these locks. */
static enum colander_code
write_under(struct colander_changes *changes, uint32_t held,
            struct colander_error *err)
{
    struct colander_store *store = changes->family->store;
    const struct key_locks locks = {.alone = held};
    enum colander_code code = COLANDER_OK;
    size_t index = 0;
    size_t offset = 0;

    key_locks_lock(&locks, store);
    while (code == COLANDER_OK && index < changes->key_count)
        code = write_batch_of(changes, held, &index, &offset, err);
    key_locks_unlock(&locks, store);
    return code;
}

enum colander_code
colander_changes_commit(struct colander_changes *changes,
                        struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    uint32_t left = changes->locks.alone;

    while (code == COLANDER_OK && left != 0) {
        const uint32_t held = changes->yields ? left & -left : left;
        const uint64_t count = changes->count;
        const uint64_t begin = clock_ns();

        code = write_under(changes, held, err);
        left &= ~held;
        if (changes->yields)
            pause_after(changes, begin, changes->count - count);
    }
    colander_buffer_clear(&changes->keys);
    changes->key_count = 0;
    memset(&changes->locks, 0, sizeof(changes->locks));
    return code;
}

/* ------------------------------------------------------------- changes --- */

enum colander_code
colander_changes_create(struct colander_family *family,
                        const struct colander_predicate *where,
                        struct colander_slice patch,
                        const struct colander_write_options *options,
                        struct colander_changes **changes,
                        struct colander_error *err)
{
    struct colander_changes *created = NULL;
    struct colander_write_options accepted;
    enum colander_code code;

    *changes = NULL;
    colander_write_options_init(&accepted);
    code = write_options_accept(options, &accepted.durability, err);
    if (code == COLANDER_OK)
        code = store_check_writable(family->store, err);
    if (code == COLANDER_OK && patch.size > 0)
        code = colander_row_check(patch, err);
    if (code != COLANDER_OK)
        return code;
    created = calloc(1, sizeof(*created));
    if (created == NULL ||
        colander_buffer_append(&created->patch, patch.data, patch.size, NULL) !=
            COLANDER_OK) {
        free(created);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot change rows");
    }
    created->family = family;
    created->where = where;
    created->options = accepted;
    *changes = created;
    return COLANDER_OK;
}

void
changes_yield(struct colander_changes *changes)
{
    changes->yields = true;
}

void
colander_changes_destroy(struct colander_changes *changes)
{
    if (changes == NULL)
        return;
    colander_buffer_release(&changes->patch);
    colander_buffer_release(&changes->keys);
    colander_buffer_release(&changes->row);
    colander_buffer_release(&changes->after);
    free(changes);
}

uint64_t
colander_changes_count(const struct colander_changes *changes)
{
    return changes->count;
}

enum colander_code
colander_changes_add(struct colander_changes *changes,
                     struct colander_slice key, struct colander_error *err)
{
    const struct row_write write = {
        WRITE_DELETE, changes->family, key, {NULL, 0}};
    struct key_locks lock = {0, 0};
    enum colander_code code = write_check_key(&write, err);

    if (code == COLANDER_OK)
        code = colander_buffer_append(&changes->keys, key.data, key.size, err);
    if (code != COLANDER_OK)
        return code;
    key_locks_add(&lock, key, true);
    changes->locks.alone |= lock.alone;
    changes->key_locks[changes->key_count] = lock.alone;
    changes->key_sizes[changes->key_count++] = key.size;
    if (changes->key_count == CHANGES_LOT)
        code = colander_changes_commit(changes, err);
    return code;
}

/* ------------------------------------------------------------ in one go --- */

/* Adds all rows of the cursor. */
static enum colander_code
add_rows(struct colander_changes *changes, struct colander_cursor *cursor,
         struct colander_error *err)
{
    struct colander_result result;
    enum colander_code code = COLANDER_OK;
    bool is_row = true;

    while (code == COLANDER_OK && is_row) {
        code = colander_cursor_next(cursor, &is_row, &result, err);
        if (code == COLANDER_OK && is_row)
            code = colander_changes_add(changes, result.key, err);
    }
    return code == COLANDER_OK ? colander_changes_commit(changes, err) : code;
}

static enum colander_code
change_found(struct colander_family *family, const struct colander_query *query,
             struct colander_slice patch,
             const struct colander_write_options *options, uint64_t *count,
             struct colander_error *err)
{
    struct colander_changes *changes = NULL;
    struct colander_cursor *cursor = NULL;
    struct colander_query finding;
    enum colander_code code;

    code = query_accept(&finding, query, err);
    if (code == COLANDER_OK)
        code = colander_changes_create(family, finding.where, patch, options,
                                       &changes, err);
    if (code == COLANDER_OK) {
        finding.keys_only = true;
        finding.reports_columns = false;
        code = colander_family_find(family, &finding, &cursor, err);
    }
    if (code == COLANDER_OK)
        code = add_rows(changes, cursor, err);
    if (count != NULL)
        *count = changes == NULL ? 0 : changes->count;
    colander_cursor_close(cursor);
    colander_changes_destroy(changes);
    return code;
}

enum colander_code
colander_family_delete_found(struct colander_family *family,
                             const struct colander_query *query,
                             const struct colander_write_options *options,
                             uint64_t *count, struct colander_error *err)
{
    const struct colander_slice none = {NULL, 0};

    return change_found(family, query, none, options, count, err);
}

enum colander_code
colander_family_patch_found(struct colander_family *family,
                            const struct colander_query *query,
                            struct colander_slice patch,
                            const struct colander_write_options *options,
                            uint64_t *count, struct colander_error *err)
{
    if (patch.size == 0) {
        if (count != NULL)
            *count = 0;
        return COLANDER_FAIL(err, COLANDER_INVALID, "the patch is empty");
    }
    return change_found(family, query, patch, options, count, err);
}
