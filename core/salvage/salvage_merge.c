/*
 * The rows of a family of a damaged store, merged from SST files and logs.
 *
 * Sources are in a heap by key, and of one key by the newest write. An SST is
 * opened when its first key is reached, so only those that overlap are open.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/salvage/salvage_inside.h"

#include "core/array.h"
#include "core/bytes.h"
#include "core/heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- heap --- */

/* By key, then the newest first. Of two entries that differ only in their
 * files, the later file is the result of a compaction. */
static bool
is_before(const void *left, const void *right, const void *context)
{
    const struct salvage_source *a = *(struct salvage_source *const *)left;
    const struct salvage_source *b = *(struct salvage_source *const *)right;
    const int order = colander_slice_compare(a->entry.key, b->entry.key);

    (void)context;
    if (order != 0)
        return order < 0;
    if (a->entry.sequence != b->entry.sequence)
        return a->entry.sequence > b->entry.sequence;
    if (a->table == NULL || b->table == NULL)
        return a->table == NULL && b->table != NULL;
    return a->table->number > b->table->number;
}

/* -------------------------------------------------------------- sources --- */

/* Reports bytes of an SST that cannot be read, between the entry before and the
 * present one. */
static void
lose_gap(const struct salvage *salvage, const struct salvage_source *source,
         const struct table_gap *gap, bool is_anywhere, bool is_end)
{
    const struct salvage_table *table = source->table;
    const struct manifest_table *known =
        manifest_table(&salvage->manifest, table->number);
    struct salvage_loss rows = salvage_rows_of(salvage, table->family);

    if (known != NULL) {
        rows.after = colander_buffer_slice(&known->smallest);
        rows.is_from = true;
        rows.until = colander_buffer_slice(&known->largest);
    }
    /* A gap without bounds may be before earlier entries. */
    if (source->last_key.size > 0 && !is_anywhere) {
        rows.after = colander_buffer_slice(&source->last_key);
        rows.is_from = false;
    }
    if (!is_end && !is_anywhere)
        rows.until = source->entry.key;
    if (gap->size > 0)
        salvage_lose(salvage, rows, files_name("", table->number, ".sst").text,
                     "%" PRIu64 " bytes at %" PRIu64 " cannot be read: %s",
                     gap->size, gap->offset, gap->why);
    else
        salvage_lose(salvage, rows, files_name("", table->number, ".sst").text,
                     "it ends at %" PRIu64 ": %s", gap->offset, gap->why);
}

/* Steps an SST to its next entry. Sets *is_end if there is none. */
static enum colander_code
step_table(struct salvage *salvage, struct salvage_source *source, bool *is_end,
           struct colander_error *err)
{
    const struct colander_slice key = source->entry.key;
    enum table_step step = TABLE_GAP;
    struct table_gap first = {.size = 0};
    enum colander_code code = COLANDER_OK;
    bool has_gap = false;
    bool is_anywhere = false;

    colander_buffer_clear(&source->last_key);
    if (key.size > 0)
        code =
            colander_buffer_append(&source->last_key, key.data, key.size, err);
    while (code == COLANDER_OK && step == TABLE_GAP) {
        struct table_gap gap;

        code = table_file_next(source->file, &step, &source->entry, &gap, err);
        if (code != COLANDER_OK || step != TABLE_GAP)
            continue;
        if (!has_gap)
            first = gap;
        has_gap = true;
        is_anywhere =
            is_anywhere || (gap.after.data == NULL && gap.until.data == NULL);
        first.size = gap.offset + gap.size - first.offset;
    }
    if (code != COLANDER_OK)
        return code;
    *is_end = step == TABLE_END;
    if (has_gap)
        lose_gap(salvage, source, &first, is_anywhere, *is_end);
    if (!*is_end && source->entry.sequence == 0)
        source->entry.sequence = source->table->external_sequence;
    return COLANDER_OK;
}

/* Steps the logs to their next entry of the family. */
static void
step_log(const struct salvage *salvage, struct salvage_source *source,
         bool *is_end)
{
    const struct salvage_log *log = &salvage->log;
    const struct salvage_entry *entry;
    const uint8_t *key;

    *is_end = source->entry_at == log->count;
    if (*is_end)
        return;
    entry = &log->entries[source->entry_at++];
    *is_end = entry->family != salvage->family->id;
    key = log->bytes.data + entry->key_at;
    source->entry.key = colander_slice_of(key, entry->key_size);
    source->entry.value =
        colander_slice_of(key + entry->key_size, entry->value_size);
    source->entry.sequence = entry->sequence;
    source->entry.kind = entry->is_delete ? TABLE_DELETE : TABLE_PUT;
}

static enum colander_code
step(struct salvage *salvage, struct salvage_source *source, bool *is_end,
     struct colander_error *err)
{
    if (source->table != NULL)
        return step_table(salvage, source, is_end, err);
    step_log(salvage, source, is_end);
    return COLANDER_OK;
}

static void
close_source(struct salvage_source *source)
{
    table_file_close(source->file);
    colander_buffer_release(&source->last_key);
}

/* Steps the first source, and closes it at its end. */
static enum colander_code
step_first(struct salvage *salvage, struct colander_error *err)
{
    struct salvage_source *first = salvage->heap[0];
    bool is_end;
    const enum colander_code code = step(salvage, first, &is_end, err);

    if (code != COLANDER_OK)
        return code;
    if (is_end) {
        close_source(first);
        salvage->heap[0] = salvage->heap[--salvage->heap_count];
    }
    heap_sift_down(salvage->heap, sizeof(*salvage->heap), salvage->heap_count,
                   0, is_before, NULL);
    return COLANDER_OK;
}

/* Opens an SST, or the logs from entry `entry_at` if `table` is NULL. */
static enum colander_code
add_source(struct salvage *salvage, const struct salvage_table *table,
           size_t entry_at, struct colander_error *err)
{
    struct salvage_source *source = &salvage->sources[salvage->opened_count++];
    enum colander_code code = COLANDER_OK;
    bool is_end;

    source->table = table;
    source->entry_at = entry_at;
    if (table != NULL)
        code = table_file_open(salvage->engine_fd,
                               files_name("", table->number, ".sst").text,
                               &source->file, err);
    if (code == COLANDER_OK)
        code = step(salvage, source, &is_end, err);
    if (code != COLANDER_OK || is_end) {
        close_source(source);
        return code;
    }
    salvage->heap[salvage->heap_count] = source;
    heap_sift_up(salvage->heap, sizeof(*salvage->heap), salvage->heap_count++,
                 is_before, NULL);
    return COLANDER_OK;
}

/* Whether all entries of the table come after the present one. */
static bool
is_later(const struct salvage *salvage, const struct salvage_table *table)
{
    return table->has_rows && salvage->heap_count > 0 &&
           colander_slice_compare(salvage->heap[0]->entry.key,
                                  colander_buffer_slice(&table->first_key)) < 0;
}

/* Opens the SST files that may have the next entry. */
static enum colander_code
add_tables(struct salvage *salvage, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && salvage->table_next < salvage->table_count) {
        const struct salvage_table *table =
            &salvage->tables[salvage->table_next];
        const bool is_ours = table->family == salvage->family->id;

        if (is_ours && is_later(salvage, table))
            break;
        salvage->table_next++;
        if (is_ours)
            code = add_source(salvage, table, 0, err);
    }
    return code;
}

/* Returns the index of the first entry of the family in the logs. */
static size_t
first_entry(const struct salvage *salvage)
{
    size_t place;

    array_search(place, salvage->log.count,
                 salvage->log.entries[place].family < salvage->family->id);
    return place;
}

/* ------------------------------------------------------------- families --- */

void
salvage_end_family(struct salvage *salvage)
{
    while (salvage->heap_count > 0)
        close_source(salvage->heap[--salvage->heap_count]);
    free(salvage->heap);
    free(salvage->sources);
    salvage->heap = NULL;
    salvage->sources = NULL;
    salvage->opened_count = 0;
}

static enum colander_code
begin(struct salvage *salvage, const struct salvage_family *family,
      struct colander_error *err)
{
    const size_t count = salvage->table_count + 1;

    salvage_end_family(salvage);
    salvage->family = family;
    salvage->table_next = 0;
    salvage->sources = calloc(count, sizeof(*salvage->sources));
    salvage->heap = calloc(count, sizeof(struct salvage_source *));
    if (salvage->sources == NULL || salvage->heap == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for the files of a family");
    return add_source(salvage, NULL, first_entry(salvage), err);
}

enum colander_code
salvage_begin(struct salvage *salvage, size_t index, struct colander_error *err)
{
    return begin(salvage, &salvage->families[index], err);
}

/* Copies the newest entry of the next key. */
static enum colander_code
take_first(struct salvage *salvage, bool *is_put, struct colander_error *err)
{
    const struct table_entry *entry = &salvage->heap[0]->entry;
    enum colander_code code;

    *is_put = entry->kind == TABLE_PUT && entry->key.size > 0;
    colander_buffer_clear(&salvage->key);
    colander_buffer_clear(&salvage->row);
    code = colander_buffer_append(&salvage->key, entry->key.data,
                                  entry->key.size, err);
    if (code == COLANDER_OK && *is_put)
        code = colander_buffer_append(&salvage->row, entry->value.data,
                                      entry->value.size, err);
    return code;
}

/* Steps over the other entries of that key. */
static enum colander_code
skip_older(struct salvage *salvage, struct colander_error *err)
{
    const struct colander_slice key = colander_buffer_slice(&salvage->key);
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && salvage->heap_count > 0 &&
           colander_slice_equal(salvage->heap[0]->entry.key, key))
        code = step_first(salvage, err);
    return code;
}

enum colander_code
salvage_next(struct salvage *salvage, bool *is_row, struct colander_slice *key,
             struct colander_slice *row, struct colander_error *err)
{
    *is_row = false;
    while (!*is_row) {
        bool is_put = false;
        enum colander_code code = add_tables(salvage, err);

        if (code == COLANDER_OK && salvage->heap_count == 0)
            return COLANDER_OK;
        if (code == COLANDER_OK)
            code = take_first(salvage, &is_put, err);
        if (code == COLANDER_OK)
            code = skip_older(salvage, err);
        if (code != COLANDER_OK)
            return code;
        *is_row = is_put;
    }
    *key = colander_buffer_slice(&salvage->key);
    *row = colander_buffer_slice(&salvage->row);
    return COLANDER_OK;
}

/* --------------------------------------------------------------- items --- */

#define MARK "mark/"
#define MARK_HEAD_SIZE (sizeof(MARK) - 1 + sizeof(uint32_t))
#define RECORD "record/"
#define RECORD_OF_FAMILY " of family "

enum colander_code
salvage_begin_items(struct salvage *salvage, struct colander_error *err)
{
    static const struct salvage_family items = {SALVAGE_ITEMS, NULL};

    return begin(salvage, &items, err);
}

/* Finds the id of the family, and the name of a mark, in the key. Returns
 * SALVAGE_ITEMS if it belongs to no family. */
static uint32_t
read_item_key(struct colander_slice key, struct salvage_item *item)
{
    char text[300];
    const char *id;

    (void)snprintf(text, sizeof(text), "%.*s", (int)key.size,
                   (const char *)key.data);
    item->is_mark = strncmp(text, MARK, sizeof(MARK) - 1) == 0;
    if (item->is_mark && key.size < MARK_HEAD_SIZE)
        return SALVAGE_ITEMS;
    if (item->is_mark) {
        item->name = colander_slice_of(key.data + MARK_HEAD_SIZE,
                                       key.size - MARK_HEAD_SIZE);
        return bytes_get_be32(key.data + sizeof(MARK) - 1);
    }
    id = strstr(text, RECORD_OF_FAMILY);
    if (id == NULL || strncmp(text, RECORD, sizeof(RECORD) - 1) != 0)
        return SALVAGE_ITEMS;
    return (uint32_t)strtoul(id + sizeof(RECORD_OF_FAMILY) - 1, NULL, 10);
}

enum colander_code
salvage_next_item(struct salvage *salvage, bool *is_item,
                  struct salvage_item *item, struct colander_error *err)
{
    enum colander_code code;
    bool is_row;

    *is_item = false;
    do {
        struct colander_slice key;
        uint32_t family;

        code = salvage_next(salvage, &is_row, &key, &item->value, err);
        if (code != COLANDER_OK || !is_row)
            return code;
        family = read_item_key(key, item);
        for (size_t i = 0; i < salvage->family_count && !*is_item; i++) {
            item->family = i;
            *is_item = salvage->families[i].id == family;
        }
    } while (!*is_item);
    return COLANDER_OK;
}
