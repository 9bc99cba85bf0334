/*
 * The rows of a family of a damaged store: all SST files and the logs, merged.
 *
 * Sources stand in a heap, by key, and of one key the newest write first. An
 * SST is opened when its first key is reached: so there are open only those
 * that overlap.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/salvage/salvage_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- heap --- */

/* Whether `a` comes before `b`. Of two that only differ in their files the
 * later file has what was compacted. */
static bool
is_before(const struct salvage_source *a, const struct salvage_source *b)
{
    const int order = colander_slice_compare(a->entry.key, b->entry.key);

    if (order != 0)
        return order < 0;
    if (a->entry.sequence != b->entry.sequence)
        return a->entry.sequence > b->entry.sequence;
    if (a->table == NULL || b->table == NULL)
        return a->table == NULL && b->table != NULL;
    return a->table->number > b->table->number;
}

static void
swap(struct salvage_source *a, struct salvage_source *b)
{
    const struct salvage_source kept = *a;

    *a = *b;
    *b = kept;
}

/* Puts the first source where it belongs. */
static void
sift_down(struct salvage *salvage)
{
    struct salvage_source *heap = salvage->sources;
    size_t at = 0;

    for (;;) {
        size_t least = at;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++) {
            if (child < salvage->source_count &&
                is_before(&heap[child], &heap[least]))
                least = child;
        }
        if (least == at)
            return;
        swap(&heap[at], &heap[least]);
        at = least;
    }
}

static void
push(struct salvage *salvage, const struct salvage_source *source)
{
    struct salvage_source *heap = salvage->sources;
    size_t at = salvage->source_count++;

    heap[at] = *source;
    while (at > 0 && is_before(&heap[at], &heap[(at - 1) / 2])) {
        swap(&heap[at], &heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

/* -------------------------------------------------------------- sources --- */

/* Tells of bytes of an SST that cannot be read, between the entry before and
 * the one that the source stands at, where there are such. */
static void
lose_gap(const struct salvage *salvage, const struct salvage_source *source,
         const struct table_gap *gap, bool is_anywhere, bool is_end)
{
    const struct salvage_table *table = source->table;
    const struct version_table *known =
        version_log_table(&salvage->versions, table->number);
    struct salvage_loss rows = salvage_rows_of(salvage, table->family);
    char name[SALVAGE_NAME_SIZE];

    (void)snprintf(name, sizeof(name), DIRECTORY_ENGINE "/%06" PRIu64 ".sst",
                   table->number);
    if (known != NULL) {
        rows.after = colander_buffer_slice(&known->smallest);
        rows.is_from = true;
        rows.until = colander_buffer_slice(&known->largest);
    }
    /* Without any bound it may be before what was given already. */
    if (source->last_key.size > 0 && !is_anywhere) {
        rows.after = colander_buffer_slice(&source->last_key);
        rows.is_from = false;
    }
    if (!is_end && !is_anywhere)
        rows.until = source->entry.key;
    if (gap->size > 0)
        salvage_lose(salvage, rows, name,
                     "%" PRIu64 " bytes at %" PRIu64 " cannot be read: %s",
                     gap->size, gap->offset, gap->why);
    else
        salvage_lose(salvage, rows, name, "it ends at %" PRIu64 ": %s",
                     gap->offset, gap->why);
}

/* Steps an SST to its next entry. *is_end: it has no more. */
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

    *is_end = source->entry_at == log->count;
    if (*is_end)
        return;
    entry = &log->entries[source->entry_at++];
    *is_end = entry->family != salvage->family->id;
    source->entry.key =
        colander_slice_of(log->bytes.data + entry->key_at, entry->key_size);
    source->entry.value =
        colander_slice_of(log->bytes.data + entry->value_at, entry->value_size);
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

/* Steps the first source, which goes where it has no more. */
static enum colander_code
step_first(struct salvage *salvage, struct colander_error *err)
{
    struct salvage_source *first = &salvage->sources[0];
    enum colander_code code;
    bool is_end;

    code = step(salvage, first, &is_end, err);
    if (code != COLANDER_OK)
        return code;
    if (is_end) {
        close_source(first);
        *first = salvage->sources[--salvage->source_count];
    }
    sift_down(salvage);
    return COLANDER_OK;
}

/* Opens an SST, or with NULL the logs. */
static enum colander_code
add_source(struct salvage *salvage, const struct salvage_table *table,
           struct salvage_source source, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    char name[SALVAGE_NAME_SIZE];
    bool is_end;

    source.table = table;
    if (table != NULL) {
        (void)snprintf(name, sizeof(name), "%06" PRIu64 ".sst", table->number);
        code = table_file_open(salvage->engine_fd, name, &source.file, err);
    }
    if (code == COLANDER_OK)
        code = step(salvage, &source, &is_end, err);
    if (code == COLANDER_OK && !is_end) {
        push(salvage, &source);
        return COLANDER_OK;
    }
    close_source(&source);
    return code;
}

/* Whether nothing of the table can come before what is first now. */
static bool
is_later(const struct salvage *salvage, const struct salvage_table *table)
{
    return table->has_rows && salvage->source_count > 0 &&
           colander_slice_compare(salvage->sources[0].entry.key,
                                  colander_buffer_slice(&table->first_key)) < 0;
}

/* Opens the SST files whose turn it is. */
static enum colander_code
add_tables(struct salvage *salvage, struct colander_error *err)
{
    const struct salvage_source none = {.table = NULL};
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && salvage->table_next < salvage->table_count) {
        const struct salvage_table *table =
            &salvage->tables[salvage->table_next];
        const bool is_ours = table->family == salvage->family->id;

        if (is_ours && is_later(salvage, table))
            break;
        salvage->table_next++;
        if (is_ours)
            code = add_source(salvage, table, none, err);
    }
    return code;
}

/* Where the entries of the family begin in the logs. */
static size_t
first_entry(const struct salvage *salvage)
{
    size_t low = 0;
    size_t high = salvage->log.count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (salvage->log.entries[middle].family < salvage->family->id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ------------------------------------------------------------- families --- */

void
salvage_end_family(struct salvage *salvage)
{
    while (salvage->source_count > 0)
        close_source(&salvage->sources[--salvage->source_count]);
    free(salvage->sources);
    salvage->sources = NULL;
}

enum colander_code
salvage_begin(struct salvage *salvage, size_t index, struct colander_error *err)
{
    struct salvage_source logs = {.table = NULL};

    salvage_end_family(salvage);
    salvage->family = &salvage->families[index];
    salvage->table_next = 0;
    salvage->sources =
        calloc(salvage->table_count + 1, sizeof(*salvage->sources));
    if (salvage->sources == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for the files of a family");
    logs.entry_at = first_entry(salvage);
    return add_source(salvage, NULL, logs, err);
}

/* Takes the newest entry of the next key. */
static enum colander_code
take_first(struct salvage *salvage, bool *is_put, struct colander_error *err)
{
    const struct table_entry *entry = &salvage->sources[0].entry;
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

/* Goes behind all entries of the key that was taken. */
static enum colander_code
skip_older(struct salvage *salvage, struct colander_error *err)
{
    const struct colander_slice key = colander_buffer_slice(&salvage->key);
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && salvage->source_count > 0 &&
           colander_slice_equal(salvage->sources[0].entry.key, key))
        code = step_first(salvage, err);
    return code;
}

enum colander_code
salvage_next(struct salvage *salvage, struct colander_slice *key,
             struct colander_slice *row, struct colander_error *err)
{
    bool is_put = false;

    *key = colander_slice_of(NULL, 0);
    *row = *key;
    while (!is_put) {
        enum colander_code code = add_tables(salvage, err);

        if (code == COLANDER_OK && salvage->source_count == 0)
            return COLANDER_OK;
        if (code == COLANDER_OK)
            code = take_first(salvage, &is_put, err);
        if (code == COLANDER_OK)
            code = skip_older(salvage, err);
        if (code != COLANDER_OK)
            return code;
    }
    *key = colander_buffer_slice(&salvage->key);
    *row = colander_buffer_slice(&salvage->row);
    return COLANDER_OK;
}
