/* See items.h. SPDX-License-Identifier: MIT */
#include "loading/items.h"
#include "columns/conditional.h"
#include "columns/partitions.h"
#include "core/array.h"
#include "loading/item_rows.h"
#include "loading/rows.h"

#include <stdlib.h>

struct items {
    struct colander_store *store;
    struct colander_family *family;
    const struct colander_load_options *options;
    struct colander_family **families; /* that items have named; owned */
    size_t family_count;
    size_t family_capacity;
    struct colander_batch *batch;
    struct colander_family **targets; /* of each row of the chunk; NULL: the row
                                       * is rejected */
    size_t target_capacity;
    bool *had_rows; /* whether there was a row before it */
    size_t had_capacity;
    struct colander_json_reader *reader; /* of the actions of rejects */
    struct colander_buffer id;           /* what is reported */
    struct colander_buffer name;
    struct colander_buffer scratch;
};

enum colander_code
items_create(struct colander_store *store, struct colander_family *family,
             const struct colander_load_options *options, struct items **items,
             struct colander_error *err)
{
    struct items *created = calloc(1, sizeof(*created));
    enum colander_code code = COLANDER_OK;

    *items = NULL;
    if (created != NULL)
        created->reader = colander_json_reader_create();
    if (created == NULL || created->reader == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a load");
    if (code == COLANDER_OK) {
        created->store = store;
        created->family = family;
        created->options = options;
        code = colander_batch_create(store, &created->batch, err);
    }
    if (code == COLANDER_OK)
        *items = created;
    else
        items_destroy(created);
    return code;
}

void
items_destroy(struct items *items)
{
    if (items == NULL)
        return;
    colander_batch_destroy(items->batch);
    for (size_t i = 0; i < items->family_count; i++)
        colander_family_close(items->families[i]);
    free(items->families);
    free(items->targets);
    free(items->had_rows);
    colander_json_reader_destroy(items->reader);
    colander_buffer_release(&items->id);
    colander_buffer_release(&items->name);
    colander_buffer_release(&items->scratch);
    free(items);
}

/* ------------------------------------------------------------- families --- */

static enum colander_code
check_name(const char *family, struct colander_error *err)
{
    return colander_partition_unit(family) == NULL
               ? COLANDER_OK
               : COLANDER_FAIL(err, COLANDER_INVALID,
                               "'%s' stands for families by time, into which "
                               "items are not put",
                               family);
}

/* Finds or opens the family that an item names. */
static enum colander_code
find_family(struct items *items, struct colander_slice name,
            struct colander_family **family, struct colander_error *err)
{
    enum colander_code code;

    *family = items->family;
    if (name.size == 0)
        return items->options->items_name_families
                   ? COLANDER_FAIL(err, COLANDER_INVALID,
                                   "the action has no _index")
                   : check_name(colander_family_name(*family), err);
    for (size_t i = 0; i < items->family_count; i++) {
        *family = items->families[i];
        if (colander_slice_equal(
                name, colander_slice_text(colander_family_name(*family))))
            return COLANDER_OK;
    }
    if (items->family_count == ITEMS_FAMILIES_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "the items of a load name at most %d families",
                             ITEMS_FAMILIES_MAX);
    code = array_reserve(&items->families, items->family_count,
                         &items->family_capacity, 1, err);
    colander_buffer_clear(&items->name);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&items->name, name.data, name.size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&items->name, "", 1, err);
    if (code == COLANDER_OK && strlen((char *)items->name.data) != name.size)
        code =
            COLANDER_FAIL(err, COLANDER_INVALID, "the _index has a zero byte");
    if (code == COLANDER_OK)
        code = check_name((char *)items->name.data, err);
    if (code == COLANDER_OK)
        code = colander_family_open(items->store, (char *)items->name.data,
                                    family, err);
    if (code == COLANDER_OK)
        items->families[items->family_count++] = *family;
    return code;
}

/* --------------------------------------------------------------- writes --- */

static bool
is_of_item(enum colander_code code)
{
    return code == COLANDER_INVALID || code == COLANDER_LIMIT;
}

static enum colander_code
add(struct items *items, const struct chunk *chunk, size_t index,
    struct colander_error *err)
{
    const struct waiting_row *waiting = &chunk->waiting[index];
    enum colander_change change = COLANDER_CHANGE_PUT;
    enum colander_row_condition condition = COLANDER_ALWAYS;

    if (waiting->action == ITEM_CREATE)
        condition = COLANDER_IF_ABSENT;
    if (waiting->action == ITEM_UPDATE) {
        change = COLANDER_CHANGE_PATCH;
        condition = waiting->is_upsert ? COLANDER_ALWAYS : COLANDER_IF_PRESENT;
    }
    if (waiting->action == ITEM_DELETE)
        change = COLANDER_CHANGE_DELETE;
    return colander_batch_change(
        items->batch, items->targets[index], change, condition,
        chunk_waiting_key(chunk, index), chunk_waiting_row(chunk, index),
        change == COLANDER_CHANGE_PUT, &items->had_rows[index], err);
}

/* Rejects a row for its own fault. Another failure is that of the load. */
static enum colander_code
reject(struct items *items, struct chunk *chunk, size_t index,
       enum colander_code code, struct colander_error *err)
{
    const struct colander_family *family = items->targets[index];

    if (!is_of_item(code))
        return code;
    if (family != NULL)
        reason_drop(err, "family '%s': ", colander_family_name(family));
    items->targets[index] = NULL;
    return chunk_add_reject(chunk, chunk->waiting[index].piece, 0, err->message,
                            err);
}

static enum colander_code
commit(struct items *items, struct colander_error *err)
{
    struct colander_write_options options;

    colander_write_options_init(&options);
    if (items->options->syncs)
        options.durability = COLANDER_SYNC;
    if (colander_batch_count(items->batch) == 0)
        return COLANDER_OK;
    return colander_batch_commit(items->batch, &options, err);
}

/* Writes them one by one after the batch failed, as a row would become too
 * large. */
static enum colander_code
write_singly(struct items *items, struct chunk *chunk,
             struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < chunk->waiting_count && code == COLANDER_OK; i++) {
        colander_batch_clear(items->batch);
        if (items->targets[i] == NULL)
            continue;
        code = add(items, chunk, i, err);
        if (code == COLANDER_OK)
            code = commit(items, err);
        if (code != COLANDER_OK)
            code = reject(items, chunk, i, code, err);
    }
    colander_batch_clear(items->batch);
    return code;
}

/* Rejects a create of a row that is there, and an update of one that is not. */
static enum colander_code
check_condition(struct items *items, struct chunk *chunk, size_t index,
                struct colander_error *err)
{
    const struct waiting_row *waiting = &chunk->waiting[index];
    const bool had_row = items->had_rows[index];
    struct colander_error reason;

    if (waiting->action == ITEM_CREATE && had_row)
        (void)COLANDER_FAIL(&reason, COLANDER_INVALID,
                            "there is already a row with this key");
    else if (waiting->action == ITEM_UPDATE && !had_row && !waiting->is_upsert)
        (void)COLANDER_FAIL(&reason, COLANDER_INVALID,
                            "there is no row with this key");
    else
        return COLANDER_OK;
    return chunk_add_reject(chunk, waiting->piece, 0, reason.message, err);
}

/* Counts what was written, and rejects what was not. */
static enum colander_code
conclude(struct items *items, struct chunk *chunk,
         struct colander_load_stats *stats, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < chunk->waiting_count && code == COLANDER_OK; i++) {
        struct waiting_row *waiting = &chunk->waiting[i];
        const size_t rejects = chunk->reject_count;

        if (items->targets[i] == NULL)
            continue;
        code = check_condition(items, chunk, i, err);
        waiting->is_taken = chunk->reject_count == rejects;
        if (!waiting->is_taken || waiting->action == ITEM_DELETE)
            continue;
        stats->row_count++;
        stats->new_count += !items->had_rows[i];
        stats->replaced_count += items->had_rows[i];
    }
    return code;
}

enum colander_code
items_write(struct items *items, struct chunk *chunk,
            struct colander_load_stats *stats, struct colander_error *err)
{
    const size_t count = chunk->waiting_count;
    enum colander_code code =
        array_reserve(&items->targets, 0, &items->target_capacity, count, err);

    if (code == COLANDER_OK)
        code = array_reserve(&items->had_rows, 0, &items->had_capacity, count,
                             err);
    colander_batch_clear(items->batch);
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        items->targets[i] = NULL;
        items->had_rows[i] = false;
        code = find_family(items, chunk_waiting_family(chunk, i),
                           &items->targets[i], err);
        if (code == COLANDER_OK)
            code = add(items, chunk, i, err);
        else
            items->targets[i] = NULL;
        if (code != COLANDER_OK)
            code = reject(items, chunk, i, code, err);
    }
    if (code == COLANDER_OK)
        code = commit(items, err);
    if (is_of_item(code))
        code = write_singly(items, chunk, err);
    if (code == COLANDER_OK)
        code = conclude(items, chunk, stats, err);
    return code;
}

/* -------------------------------------------------------------- reports --- */

/* Sets `id` to the key as a text: the one string that it is, or JSON. */
static enum colander_code
set_id(struct items *items, struct colander_slice key,
       struct colander_error *err)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    size_t count = 0;
    enum colander_code code =
        colander_key_decode(key, parts, &count, &items->scratch, err);

    if (code != COLANDER_OK)
        return code;
    if (count != 1 || parts[0].type != COLANDER_STRING)
        return colander_json_append_key(&items->id, key, err);
    return colander_buffer_append(&items->id, parts[0].bytes.data,
                                  parts[0].bytes.size, err);
}

static enum colander_load_outcome
outcome_of(const struct items *items, const struct waiting_row *waiting,
           size_t index)
{
    const bool had_row = items->had_rows[index];

    if (!waiting->is_taken && waiting->action == ITEM_CREATE && had_row)
        return COLANDER_LOAD_EXISTS;
    if (!waiting->is_taken)
        return waiting->action == ITEM_UPDATE && items->targets[index] != NULL
                   ? COLANDER_LOAD_MISSING
                   : COLANDER_LOAD_INVALID;
    if (waiting->action == ITEM_DELETE)
        return had_row ? COLANDER_LOAD_DELETED : COLANDER_LOAD_MISSING;
    return had_row ? COLANDER_LOAD_UPDATED : COLANDER_LOAD_CREATED;
}

/* Returns the family that an item names, or else that of the load. */
static struct colander_slice
family_of(const struct items *items, struct colander_slice named)
{
    return named.size > 0 || items->options->items_name_families
               ? named
               : colander_slice_text(colander_family_name(items->family));
}

/* Reads what can still be read of an item that no row was made of. */
static void
describe_bad(struct items *items, struct colander_slice record,
             struct colander_load_item *reported)
{
    const struct colander_slice line = item_line(record);
    struct item item;

    reported->action = item_action_name(item_action_of(line));
    reported->outcome = COLANDER_LOAD_INVALID;
    reported->family = family_of(items, reported->family);
    if (item_read(items->reader, line, &item, NULL) != COLANDER_OK)
        return;
    if (colander_buffer_append(&items->id, item.id.data, item.id.size, NULL) !=
            COLANDER_OK ||
        colander_buffer_append(&items->name, item.family.data, item.family.size,
                               NULL) != COLANDER_OK)
        return;
    reported->family = family_of(items, colander_buffer_slice(&items->name));
}

/* Describes the item of a row. */
static enum colander_code
describe(struct items *items, const struct chunk *chunk, size_t index,
         struct colander_load_item *reported, struct colander_error *err)
{
    const struct waiting_row *waiting = &chunk->waiting[index];
    const struct colander_family *family = items->targets[index];

    reported->action = item_action_name(waiting->action);
    reported->outcome = outcome_of(items, waiting, index);
    reported->family =
        family == NULL ? family_of(items, chunk_waiting_family(chunk, index))
                       : colander_slice_text(colander_family_name(family));
    return set_id(items, chunk_waiting_key(chunk, index), err);
}

enum colander_code
items_report(struct items *items, const struct chunk *chunk,
             struct colander_error *err)
{
    const struct colander_load_options *options = items->options;
    enum colander_code code = COLANDER_OK;
    size_t waiting = 0;
    size_t rejects = 0;

    if (options->report_item == NULL)
        return COLANDER_OK;
    for (size_t i = 0; i < chunk->piece_count && code == COLANDER_OK; i++) {
        struct colander_load_item reported = {.action = NULL};

        if (rejects < chunk->reject_count && chunk->rejects[rejects].piece == i)
            reported.reason = (const char *)chunk->reasons.data +
                              chunk->rejects[rejects++].reason;
        colander_buffer_clear(&items->id);
        colander_buffer_clear(&items->name);
        if (waiting < chunk->waiting_count &&
            chunk->waiting[waiting].piece == i)
            code = describe(items, chunk, waiting++, &reported, err);
        else
            describe_bad(items, chunk_piece(chunk, &chunk->pieces[i]),
                         &reported);
        reported.id = colander_buffer_slice(&items->id);
        if (code == COLANDER_OK && chunk->pieces[i].kind != PIECE_REST)
            options->report_item(options->context, &reported);
    }
    return code;
}
