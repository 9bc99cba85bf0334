/* SPDX-License-Identifier: MIT */
#include "columns/bulk/bulk_head.h"
#include "core/array.h"
#include "core/bulk_files.h"

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

/* Marks the files in which rows of the run belong. */
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

enum colander_code
bulk_head_settle(struct bulk_head *head, const struct row_run *last,
                 size_t *kept, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    *kept = 0;
    note_late(head, last);
    for (size_t i = 0; i < head->count && code == COLANDER_OK; i++) {
        struct row_file *place = head->list + *kept;
        const struct row_file file = *place;

        if (!file.is_withdrawn) {
            (*kept)++;
            continue;
        }
        code = bulk_files_withdraw(head->files, *kept, err);
        memmove(place, place + 1, (head->count - *kept - 1) * sizeof(*place));
        head->list[head->count - 1] = file;
    }
    return code;
}

/* --------------------------------------------------------------- taking --- */

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

    code = array_reserve(&head->list, head->count, &head->capacity, 1, err);
    if (code != COLANDER_OK)
        return code;
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
        code = bulk_check_cancelled(head->is_cancelled, err);
        if (code == COLANDER_OK)
            code = take_row(head, key, row, err);
    }
    /* The last key is needed after the run is cleared. */
    if (code == COLANDER_OK)
        code = set_key(&head->list[head->count - 1].last,
                       key_at(run, count - 1), err);
    return code;
}

enum colander_code
bulk_head_finish(struct bulk_head *head, struct colander_error *err)
{
    enum colander_code code = bulk_check_cancelled(head->is_cancelled, err);

    return code == COLANDER_OK ? bulk_sst_finish(&head->sst, err) : code;
}
