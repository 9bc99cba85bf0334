/* See group_table.h. SPDX-License-Identifier: MIT */
#include "columns/groups/group_table.h"
#include "columns/groups/state.h"
#include "columns/groups/value_set.h"
#include "columns/msgpack.h"
#include "core/array.h"

#define BLOCK_SIZE_MIN ((size_t)1 << 10)
#define BLOCK_SIZE_MAX ((size_t)64 << 10)

/* Bytes of the keys of groups, which stay where they are. */
struct key_block {
    struct key_block *next;
    size_t size;
    size_t used;
    uint8_t bytes[];
};

/* --------------------------------------------------------------- memory --- */

enum colander_code
group_table_init(struct group_table *table, const struct group_plan *plan,
                 struct budget *budget, struct colander_error *err)
{
    memset(table, 0, sizeof(*table));
    table->plan = plan;
    table->budget = budget;
    table->values = calloc(plan->source_count + 1, sizeof(*table->values));
    table->found = calloc(plan->source_count + 1, sizeof(*table->found));
    if (table->values == NULL || table->found == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for groups");
    return COLANDER_OK;
}

void
group_table_release(struct group_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        struct record *record = group_table_record(table, i);

        for (size_t j = 0; j < table->plan->slot_count; j++)
            state_release(table->plan->slots[j].kind,
                          group_table_state(record, &table->plan->slots[j]));
    }
    while (table->blocks != NULL) {
        struct key_block *next = table->blocks->next;

        free(table->blocks);
        table->blocks = next;
    }
    if (table->budget != NULL)
        atomic_fetch_sub(&table->budget->used, table->charged);
    free(table->records);
    free(table->values);
    free(table->found);
    hash_index_release(&table->index);
    memset(table, 0, sizeof(*table));
}

/* Charges what was taken since the last time. */
static enum colander_code
charge(struct group_table *table, struct colander_error *err)
{
    const size_t more = table->bytes - table->charged;
    size_t used;

    if (more == 0)
        return COLANDER_OK;
    table->charged = table->bytes;
    used = atomic_fetch_add(&table->budget->used, more) + more;
    if (used <= table->budget->size_max)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_LIMIT,
                         "%zu groups take more than %zu bytes (fewer columns, "
                         "larger buckets or a condition make fewer groups; or "
                         "raise the limit)",
                         table->count, table->budget->size_max);
}

enum colander_code
group_table_charge(struct group_table *table, size_t bytes,
                   struct colander_error *err)
{
    table->bytes += bytes;
    return charge(table, err);
}

/* Copies the bytes of a key. */
static enum colander_code
copy_bytes(struct group_table *table, struct colander_slice *bytes,
           struct colander_error *err)
{
    struct key_block *block = table->blocks;

    if (block == NULL || block->size - block->used < bytes->size) {
        size_t size = block == NULL ? BLOCK_SIZE_MIN : 2 * block->size;

        if (size > BLOCK_SIZE_MAX)
            size = BLOCK_SIZE_MAX;
        if (size < bytes->size)
            size = bytes->size;
        block = malloc(sizeof(*block) + size);
        if (block == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for groups");
        block->size = size;
        block->used = 0;
        block->next = table->blocks;
        table->blocks = block;
        table->bytes += sizeof(*block) + size;
    }
    if (bytes->size > 0)
        memcpy(block->bytes + block->used, bytes->data, bytes->size);
    bytes->data = block->bytes + block->used;
    block->used += bytes->size;
    return COLANDER_OK;
}

/* --------------------------------------------------------------- groups --- */

static uint32_t
hash_keys(const struct colander_value *keys, size_t count, uint32_t missing)
{
    uint64_t hash = missing;

    for (size_t i = 0; i < count; i++) {
        if ((missing >> i & 1) == 0)
            hash += any_value_hash(&keys[i]);
        hash *= UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return (uint32_t)hash;
}

static bool
has_keys(const struct record *record, const struct colander_value *keys,
         size_t count, uint32_t missing)
{
    if (record->missing != missing)
        return false;
    for (size_t i = 0; i < count; i++) {
        if ((missing >> i & 1) == 0 &&
            !any_value_equal(&record->keys[i], &keys[i]))
            return false;
    }
    return true;
}

/* Of equal numbers, keeps the one that represents them. */
static void
keep_representatives(struct record *record, const struct colander_value *keys,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (colander_type_is_number(keys[i].type) &&
            colander_type_is_number(record->keys[i].type) &&
            any_value_represents(&keys[i], &record->keys[i]))
            record->keys[i] = keys[i];
    }
}

static enum colander_code
add_group(struct group_table *table, const struct colander_value *keys,
          uint32_t missing, uint32_t hash, struct colander_error *err)
{
    const struct group_plan *plan = table->plan;
    const size_t before = table->capacity * plan->record_size +
                          table->index.slot_count * sizeof(struct hash_slot);
    struct record *record;
    enum colander_code code;

    code = array_reserve_sized(&table->records, plan->record_size, table->count,
                               &table->capacity, 1, err);
    if (code == COLANDER_OK)
        code = hash_index_reserve(&table->index, err);
    if (code != COLANDER_OK)
        return code;
    table->bytes += table->capacity * plan->record_size +
                    table->index.slot_count * sizeof(struct hash_slot) - before;
    record = group_table_record(table, table->count);
    memset(record, 0, plan->record_size);
    record->hash = hash;
    record->missing = missing;
    for (size_t i = 0; i < plan->key_count && code == COLANDER_OK; i++) {
        record->keys[i] = (missing >> i & 1) == 0 ? keys[i] : colander_null();
        if (any_value_has_bytes(&record->keys[i]))
            code = copy_bytes(table, &record->keys[i].bytes, err);
    }
    if (code != COLANDER_OK)
        return code;
    hash_index_add(&table->index, hash, (uint32_t)table->count++);
    return charge(table, err);
}

enum colander_code
group_table_find(struct group_table *table, const struct colander_value *keys,
                 uint32_t missing, size_t *index, bool *is_new,
                 struct colander_error *err)
{
    const size_t count = table->plan->key_count;
    size_t at = HASH_INDEX_START;
    uint32_t hash;
    uint32_t i;

    *is_new = false;
    *index = table->last; /* rows of a bucket are often together */
    if (table->count > 0 && count > 0 && table->plan->keys[0].is_bucket &&
        has_keys(group_table_record(table, table->last), keys, count,
                 missing)) {
        keep_representatives(group_table_record(table, table->last), keys,
                             count);
        return COLANDER_OK;
    }
    hash = hash_keys(keys, count, missing);
    while ((i = hash_index_next(&table->index, hash, &at)) != HASH_INDEX_NONE) {
        struct record *record = group_table_record(table, i);

        if (has_keys(record, keys, count, missing)) {
            keep_representatives(record, keys, count);
            *index = i;
            table->last = i;
            return COLANDER_OK;
        }
    }
    *is_new = true;
    *index = table->count;
    table->last = table->count;
    return add_group(table, keys, missing, hash, err);
}

/* --------------------------------------------------------------- adding --- */

struct first_value {
    struct colander_value *value;
    bool *found;
};

static bool
take_first(void *context, const struct colander_value *value, size_t offset)
{
    const struct first_value *first = context;

    (void)offset;
    *first->value = *value;
    *first->found = true;
    return false;
}

/* Returns the column of the plan that has this name, or NULL. */
static const size_t *
column_called(const struct group_plan *plan, struct colander_slice name)
{
    for (size_t i = 0; i < plan->column_count; i++) {
        const struct path_step *step =
            plan->sources[plan->columns[i]].path.steps;

        if (colander_slice_equal(step->name, name))
            return &plan->columns[i];
    }
    return NULL;
}

/* Reads the columns at the top of a row, all at once. */
static enum colander_code
read_columns(struct group_table *table, struct colander_slice row,
             struct colander_error *err)
{
    size_t left = table->plan->column_count;
    struct msgpack_reader reader = msgpack_reader_of(row);
    struct colander_value head;
    uint32_t count;
    enum msgpack_result result = msgpack_read(&reader, &head, &count);

    if (result == MSGPACK_FINE && head.type != COLANDER_MAP)
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "row is not a map");
    for (; result == MSGPACK_FINE && count > 0 && left > 0; count--) {
        struct colander_slice name;
        const size_t *source;

        result = msgpack_read_name(&reader, &name);
        if (result != MSGPACK_FINE)
            break;
        source = column_called(table->plan, name);
        if (source == NULL) {
            result = msgpack_skip(&reader);
            continue;
        }
        result = msgpack_read_whole(&reader, &table->values[*source]);
        table->found[*source] = true;
        left--;
    }
    if (result == MSGPACK_FINE)
        return COLANDER_OK;
    return msgpack_fail(result, COLANDER_CORRUPT, "row", err);
}

/* Reads what the plan wants to know of a row. */
static enum colander_code
read_sources(struct group_table *table, struct colander_slice row,
             const struct colander_value *const *given,
             struct colander_error *err)
{
    const struct group_plan *plan = table->plan;
    enum colander_code code = COLANDER_OK;

    memset(table->found, 0, plan->source_count * sizeof(*table->found));
    if (plan->column_count > 0)
        code = read_columns(table, row, err);
    if (plan->column_count == plan->source_count)
        return code;
    for (size_t i = 0; i < plan->source_count && code == COLANDER_OK; i++) {
        const struct plan_source *source = &plan->sources[i];
        struct first_value first = {&table->values[i], &table->found[i]};

        if (source->path.count > 1) {
            code = path_visit(&source->path, row, take_first, &first, err);
        } else if (source->path.count == 0 && given[source->given] != NULL) {
            table->values[i] = *given[source->given];
            table->found[i] = true;
        }
    }
    return code;
}

/* Replaces a time by the start of its bucket. Returns whether it is a time. */
static bool
read_bucket(struct group_table *table, size_t key, struct colander_value *value)
{
    struct bucket_span *span = &table->spans[key];

    bucket_read_time(value);
    if (!bucket_has(value))
        return false;
    if (value->second < span->from || value->second >= span->until)
        *span = bucket_of(&table->plan->keys[key].bucket, value->second);
    *value = colander_timestamp(span->from, 0);
    return true;
}

/* Sets the keys of the present row. Returns which are missing. */
static uint32_t
read_keys(struct group_table *table)
{
    uint32_t missing = 0;

    for (size_t i = 0; i < table->plan->key_count; i++) {
        const struct plan_key *key = &table->plan->keys[i];
        bool is_found = table->found[key->source];

        table->keys[i] =
            is_found ? table->values[key->source] : colander_null();
        if (is_found && key->is_bucket &&
            table->keys[i].type != COLANDER_NULL &&
            !read_bucket(table, i, &table->keys[i])) {
            table->keys_left_out[i]++;
            is_found = false;
        }
        if (!is_found)
            missing |= UINT32_C(1) << i;
    }
    return missing;
}

/* Returns the value of a source, or NULL if it is null or missing. */
static const struct colander_value *
value_at(const struct group_table *table, size_t source)
{
    return source != PLAN_NO_SOURCE && table->found[source] &&
                   table->values[source].type != COLANDER_NULL
               ? &table->values[source]
               : NULL;
}

/* Returns what rows are first and last by: a time or a number, or NULL. */
static const struct colander_value *
read_time(struct group_table *table)
{
    const size_t source = table->plan->time_source;

    if (source == PLAN_NO_SOURCE || !table->found[source])
        return NULL;
    table->time = table->values[source];
    bucket_read_time(&table->time);
    return table->time.type == COLANDER_TIMESTAMP ||
                   colander_type_is_number(table->time.type)
               ? &table->time
               : NULL;
}

static enum colander_code
add_to_states(struct group_table *table, const struct record *record,
              struct colander_slice key, struct colander_error *err)
{
    const struct group_plan *plan = table->plan;
    struct state_input input = {.time = read_time(table), .key = key};
    enum colander_code code = COLANDER_OK;
    bool is_left_out;

    for (size_t i = 0; i < plan->slot_count && code == COLANDER_OK; i++) {
        const struct plan_slot *slot = &plan->slots[i];

        if (slot->kind == SLOT_ROWS) {
            ++*(uint64_t *)group_table_state(record, slot);
            continue;
        }
        input.value = value_at(table, slot->source);
        if (input.value == NULL)
            continue;
        code = state_add(slot->kind, group_table_state(record, slot), &input,
                         &table->bytes, &is_left_out, err);
        table->slots_left_out[i] += is_left_out;
    }
    return code;
}

enum colander_code
group_table_add(struct group_table *table, const struct colander_result *row,
                const struct colander_value *const *given,
                struct colander_error *err)
{
    enum colander_code code = read_sources(table, row->row, given, err);
    size_t index;
    bool is_new;

    if (code == COLANDER_OK)
        code = group_table_find(table, table->keys, read_keys(table), &index,
                                &is_new, err);
    if (code == COLANDER_OK)
        code = add_to_states(table, group_table_record(table, index), row->key,
                             err);
    return code == COLANDER_OK ? charge(table, err) : code;
}

enum colander_code
group_table_merge(struct group_table *table, const struct group_table *from,
                  struct colander_error *err)
{
    const struct group_plan *plan = table->plan;
    enum colander_code code = COLANDER_OK;
    size_t index;
    bool is_new;

    for (size_t i = 0; i < from->count && code == COLANDER_OK; i++) {
        const struct record *record = group_table_record(from, i);

        code = group_table_find(table, record->keys, record->missing, &index,
                                &is_new, err);
        for (size_t j = 0; j < plan->slot_count && code == COLANDER_OK; j++) {
            const struct plan_slot *slot = &plan->slots[j];

            code = state_merge(
                slot->kind,
                group_table_state(group_table_record(table, index), slot),
                group_table_state(record, slot), &table->bytes, err);
        }
        if (code == COLANDER_OK)
            code = charge(table, err);
    }
    for (size_t i = 0; i < plan->key_count; i++)
        table->keys_left_out[i] += from->keys_left_out[i];
    for (size_t i = 0; i < plan->slot_count; i++)
        table->slots_left_out[i] += from->slots_left_out[i];
    return code;
}
