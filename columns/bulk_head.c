/*
 * Bulk heads: see bulk_head.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/bulk_head.h"

#include <stdlib.h>

void
bulk_head_init(struct bulk_head *head, struct bulk_files *files,
               uint64_t sst_size, const atomic_bool *is_cancelled)
{
    memset(head, 0, sizeof(*head));
    head->files = files;
    head->sst_size = sst_size;
    head->is_cancelled = is_cancelled;
}

void
bulk_head_release(struct bulk_head *head)
{
    bulk_sst_destroy(head->sst);
    for (size_t i = 0; i < head->count; i++) {
        colander_buffer_release(&head->list[i].first);
        colander_buffer_release(&head->list[i].last);
    }
    free(head->list);
    memset(head, 0, sizeof(*head));
}

static struct colander_slice
key_at(const struct row_run *run, size_t place)
{
    struct colander_slice key;
    struct colander_slice row;

    row_run_get(run, place, &key, &row);
    return key;
}

/* Makes `buffer` a copy of the key. */
static enum colander_code
set_key(struct colander_buffer *buffer, struct colander_slice key,
        struct colander_error *err)
{
    colander_buffer_clear(buffer);
    return colander_buffer_append(buffer, key.data, key.size, err);
}

/* ----------------------------------------------------------------- late --- */

/* Notes the files in which rows of the run belong. */
static void
note_late(struct bulk_head *head, const struct row_run *run)
{
    for (size_t i = 0; i < head->count; i++) {
        struct row_file *file = &head->list[i];
        size_t place;

        if (file->is_withdrawn)
            continue;
        place = row_run_find(run, colander_buffer_slice(&file->first));
        if (place < row_run_count(run) &&
            colander_slice_compare(key_at(run, place),
                                   colander_buffer_slice(&file->last)) <= 0)
            file->is_withdrawn = true;
    }
}

/* Files that stay first, those that do not behind them; else as they were. */
static enum colander_code
divide(struct bulk_head *head, size_t *kept, size_t *withdrawn,
       struct colander_error *err)
{
    struct row_file *list = malloc(head->count * sizeof(*list));
    size_t count = 0;

    if (list == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a list of files");
    *kept = 0;
    for (size_t i = 0; i < head->count; i++) {
        if (head->list[i].is_withdrawn) {
            withdrawn[count] = i;
            list[count++] = head->list[i];
        } else {
            head->list[(*kept)++] = head->list[i];
        }
    }
    memcpy(head->list + *kept, list, count * sizeof(*list));
    free(list);
    return COLANDER_OK;
}

enum colander_code
bulk_head_settle(struct bulk_head *head, const struct row_run *last,
                 size_t *kept, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    size_t *withdrawn;

    *kept = 0;
    if (head->count == 0)
        return COLANDER_OK;
    withdrawn = malloc(head->count * sizeof(*withdrawn));
    if (withdrawn == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a list of files");
    note_late(head, last);
    code = divide(head, kept, withdrawn, err);
    if (code == COLANDER_OK)
        code = bulk_files_withdraw(head->files, withdrawn, head->count - *kept,
                                   err);
    free(withdrawn);
    return code;
}

/* --------------------------------------------------------------- taking --- */

static enum colander_code
check_going_on(const struct bulk_head *head, struct colander_error *err)
{
    if (atomic_load_explicit(head->is_cancelled, memory_order_relaxed))
        return COLANDER_FAIL(err, COLANDER_CANCELLED, "the bulk was cancelled");
    return COLANDER_OK;
}

static bool
is_next(const struct bulk_head *head, const struct row_run *run)
{
    if (head->is_over || !row_run_is_ascending(run))
        return false;
    return head->count == 0 ||
           colander_slice_compare(
               colander_buffer_slice(&head->list[head->count - 1].last),
               key_at(run, 0)) < 0;
}

static enum colander_code
begin_file(struct bulk_head *head, struct colander_slice key,
           struct colander_error *err)
{
    enum colander_code code;

    if (head->count == head->capacity) {
        const size_t capacity = 2 * head->capacity + 16;
        struct row_file *list = realloc(head->list, capacity * sizeof(*list));

        if (list == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for a list of files");
        head->list = list;
        head->capacity = capacity;
    }
    memset(&head->list[head->count], 0, sizeof(*head->list));
    code = set_key(&head->list[head->count].first, key, err);
    if (code == COLANDER_OK)
        code = bulk_sst_begin(head->files, &head->sst, err);
    if (code == COLANDER_OK)
        head->count++;
    else
        colander_buffer_release(&head->list[head->count].first);
    return code;
}

/* `last`: the key added last. */
static enum colander_code
finish_file(struct bulk_head *head, struct colander_slice last,
            struct colander_error *err)
{
    enum colander_code code =
        set_key(&head->list[head->count - 1].last, last, err);

    return code == COLANDER_OK ? bulk_sst_finish(&head->sst, err) : code;
}

static enum colander_code
take_row(struct bulk_head *head, struct colander_slice key,
         struct colander_slice row, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    struct row_file *file;

    if (head->sst == NULL)
        code = begin_file(head, key, err);
    if (code != COLANDER_OK)
        return code;
    file = &head->list[head->count - 1];
    code = bulk_sst_add(head->sst, key, row, &file->size, err);
    file->row_count++;
    if (code == COLANDER_OK && file->size >= head->sst_size)
        code = finish_file(head, key, err);
    return code;
}

enum colander_code
bulk_head_take(struct bulk_head *head, const struct row_run *run,
               bool *is_taken, struct colander_error *err)
{
    const size_t count = row_run_count(run);
    enum colander_code code = COLANDER_OK;
    struct colander_slice key;
    struct colander_slice row;

    *is_taken = is_next(head, run);
    if (!*is_taken) {
        head->is_over = true;
        note_late(head, run);
        return COLANDER_OK;
    }
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        row_run_get(run, i, &key, &row);
        code = check_going_on(head, err);
        if (code == COLANDER_OK)
            code = take_row(head, key, row, err);
    }
    /* The run goes, its last key is still needed. */
    if (code == COLANDER_OK)
        code = set_key(&head->list[head->count - 1].last,
                       key_at(run, count - 1), err);
    return code;
}

enum colander_code
bulk_head_finish(struct bulk_head *head, bool is_well,
                 struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (is_well)
        code = check_going_on(head, err);
    if (is_well && code == COLANDER_OK)
        return bulk_sst_finish(&head->sst, err);
    bulk_sst_destroy(head->sst);
    head->sst = NULL;
    return code;
}
