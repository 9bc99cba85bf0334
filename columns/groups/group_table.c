/* See group_table.h. SPDX-License-Identifier: MIT */
#include "columns/groups/group_table.h"
#include "columns/groups/state.h"
#include "columns/groups/value_set.h"
#include "columns/msgpack.h"
#include "core/array.h"
#include "core/bytes.h"

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
    table->span_group = SIZE_MAX;
    table->seed = (uint64_t)(uintptr_t)table; /* differs between runs */
    return group_row_init(&table->row, plan, err);
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
    group_row_release(&table->row);
    hash_index_release(&table->index);
    memset(table, 0, sizeof(*table));
}

/* Whether groups hold all different values of a column. */
static bool
has_sets(const struct group_plan *plan)
{
    for (size_t i = 0; i < plan->slot_count; i++) {
        if (plan->slots[i].kind == SLOT_SET)
            return true;
    }
    return false;
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
                         "groups take more than %zu bytes: group by fewer "
                         "columns or larger buckets, add conditions%s, or "
                         "raise the limit",
                         table->budget->size_max,
                         has_sets(table->plan) ? ", count values approximately"
                                               : "");
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

static uint64_t
mix(uint64_t hash, uint64_t word)
{
    const unsigned __int128 product =
        (unsigned __int128)(hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t
hash_text(uint64_t hash, struct colander_slice text)
{
    const uint8_t *data = text.data;
    const size_t size = text.size;

    hash = mix(hash, size);
    if (size < 4)
        return size == 0 ? hash
                         : mix(hash, (uint64_t)data[0] << 16 |
                                         (uint64_t)data[size / 2] << 8 |
                                         data[size - 1]);
    if (size < 8) /* both ends, which may overlap */
        return mix(hash, (uint64_t)bytes_get_le32(data) << 32 |
                             bytes_get_le32(data + size - 4));
    for (size_t i = 0; i + 8 < size; i += 8)
        hash = mix(hash, bytes_get_le64(data + i));
    return mix(hash, bytes_get_le64(data + size - 8));
}

static uint32_t
hash_keys(const struct group_table *table, const struct colander_value *keys,
          uint32_t missing)
{
    uint64_t hash = table->seed + missing;

    for (size_t i = 0; i < table->plan->key_count; i++) {
        if ((missing >> i & 1) != 0)
            continue;
        hash = keys[i].type == COLANDER_STRING
                   ? hash_text(hash, keys[i].bytes)
                   : mix(hash, any_value_hash(&keys[i]));
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
    hash = hash_keys(table, keys, missing);
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

/* --------------------------------------------------------- known groups --- */

/* Sets *key to the bytes of the value at `at`. Returns false if they are too
 * many, or at the very end. */
static bool
read_bytes(const uint8_t *at, const uint8_t *end, struct known_group *key)
{
    const size_t size = msgpack_sizes[*at];

    if (size == 0 || size > 16 || end - at < 8 || size > (size_t)(end - at))
        return false;
    key->size = (uint32_t)size;
    key->low = plan_name_word(at, size);
    key->high = size < 8 ? 0 : bytes_get_le64(at + size - 8);
    return true;
}

static struct known_group *
known_place(struct group_table *table, const struct known_group *key)
{
    const uint64_t hash =
        mix(mix(table->seed ^ key->size, key->low), key->high);

    return &table->known[hash % KNOWN_GROUPS];
}

/* Returns the seconds of the timestamp whose bytes these are; INT64_MAX: it is
 * none, or of another century. */
static int64_t
seconds_of(const uint8_t *at, const uint8_t *end)
{
    if (end - at >= 6 && at[0] == 0xd6 && at[1] == 0xff)
        return bytes_get_be32(at + 2);
    if (end - at >= 10 && at[0] == 0xd7 && at[1] == 0xff)
        return (int64_t)(bytes_get_be64(at + 2) & 0x3ffffffff);
    return INT64_MAX;
}

/* Returns the group of the present row without reading its key, or SIZE_MAX.
 * Sets *key to its bytes, if these are few. */
static size_t
known_group(struct group_table *table, struct colander_slice row,
            struct known_group *key)
{
    const struct group_plan *plan = table->plan;
    const uint8_t *const end = row.data + row.size;
    const uint8_t *at;
    const struct known_group *known;

    if (plan->only_key == SIZE_MAX ||
        !group_row_has(&table->row, plan->keys[0].source))
        return SIZE_MAX;
    at = table->row.places[plan->only_key];
    if (plan->keys[0].is_bucket) {
        const int64_t second = seconds_of(at, end);

        return second >= table->spans[0].from && second < table->spans[0].until
                   ? table->span_group
                   : SIZE_MAX;
    }
    if (!read_bytes(at, end, key))
        return SIZE_MAX;
    known = known_place(table, key);
    return known->size == key->size && known->low == key->low &&
                   known->high == key->high
               ? known->index
               : SIZE_MAX;
}

/* Remembers the group of the present row. */
static void
remember_group(struct group_table *table, struct known_group *key, size_t index)
{
    if (key->size > 0) {
        key->index = (uint32_t)index;
        *known_place(table, key) = *key;
    } else if (table->keys[0].type == COLANDER_TIMESTAMP &&
               table->plan->keys[0].is_bucket) {
        table->span_group = index;
    }
}

/* ----------------------------------------------------------------- keys --- */

static bool
is_in_span(const struct bucket_span *span, const struct colander_value *value)
{
    return value->type == COLANDER_TIMESTAMP && value->second >= span->from &&
           value->second < span->until;
}

/* Replaces a time by the start of its bucket. Returns whether it is a time. */
static bool
read_bucket(struct group_table *table, size_t key, struct colander_value *value)
{
    struct bucket_span *span = &table->spans[key];

    if (!is_in_span(span, value)) { /* rows of a bucket are often together */
        bucket_read_time(value);
        if (!bucket_has(value))
            return false;
        if (!is_in_span(span, value))
            *span = bucket_of(&table->plan->keys[key].bucket, value->second);
    }
    *value = colander_timestamp(span->from, 0);
    return true;
}

/* Makes a value of the row one of a key. Returns false if it is none. */
static bool
make_key(struct group_table *table, size_t key, struct colander_value *value)
{
    if (!table->plan->keys[key].is_bucket || value->type == COLANDER_NULL ||
        read_bucket(table, key, value))
        return true;
    table->keys_left_out[key]++;
    return false;
}

/* Sets the keys of the present row, but not that of which there may be many.
 * Returns which are missing. */
static uint32_t
read_keys(struct group_table *table)
{
    uint32_t missing = 0;

    for (size_t i = 0; i < table->plan->key_count; i++) {
        const struct plan_key *key = &table->plan->keys[i];
        const bool found = group_row_has(&table->row, key->source);

        table->keys[i] =
            found ? table->row.values[key->source] : colander_null();
        if (!found || !make_key(table, i, &table->keys[i]))
            missing |= UINT32_C(1) << i;
    }
    return missing;
}

/* Returns the value of a source, or NULL if it is null or missing. */
static const struct colander_value *
value_at(const struct group_table *table, size_t source)
{
    return source != PLAN_NO_SOURCE && group_row_has(&table->row, source) &&
                   table->row.values[source].type != COLANDER_NULL
               ? &table->row.values[source]
               : NULL;
}

/* Returns what rows are first and last by: a time or a number, or NULL. */
static const struct colander_value *
read_time(struct group_table *table)
{
    const size_t source = table->plan->time_source;

    if (source == PLAN_NO_SOURCE || !group_row_has(&table->row, source))
        return NULL;
    table->time = table->row.values[source];
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
    struct state_input input = {NULL, read_time(table), key};
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

/* Adds the present row, which has the key `key`, to the group of its keys. */
static enum colander_code
add_to_group(struct group_table *table, uint32_t missing,
             struct colander_slice key, size_t *index,
             struct colander_error *err)
{
    bool is_new;
    enum colander_code code =
        group_table_find(table, table->keys, missing, index, &is_new, err);

    return code == COLANDER_OK
               ? add_to_states(table, group_table_record(table, *index), key,
                               err)
               : code;
}

/* Of equal values, the one that represents them comes first. */
static int
compare_many(const void *a, const void *b)
{
    const int order = any_value_compare(a, b);

    return order != 0 ? order
                      : any_value_represents(b, a) - any_value_represents(a, b);
}

/* Adds the present row to the group of each of its values at a path with []. */
static enum colander_code
add_to_groups(struct group_table *table, uint32_t missing,
              struct colander_slice key, struct colander_error *err)
{
    const size_t many_key = table->plan->many_key;
    struct colander_value *values = table->row.many;
    size_t count = 0;
    size_t index;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < table->row.many_count; i++) {
        if (make_key(table, many_key, &values[i]))
            values[count++] = values[i];
    }
    if (count == 0)
        return add_to_group(table, missing, key, &index, err);
    qsort(values, count, sizeof(*values), compare_many);
    missing &= ~(UINT32_C(1) << many_key);
    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        if (i > 0 && any_value_equal(&values[i - 1], &values[i]))
            continue;
        table->keys[many_key] = values[i];
        code = add_to_group(table, missing, key, &index, err);
    }
    return code;
}

/* Adds the present row, whose key may have these bytes, to its groups. */
static enum colander_code
add_by_keys(struct group_table *table, struct known_group *known,
            struct colander_slice key, struct colander_error *err)
{
    const uint32_t missing = read_keys(table);
    size_t index;
    enum colander_code code;

    if (table->plan->many_key != SIZE_MAX)
        return add_to_groups(table, missing, key, err);
    code = add_to_group(table, missing, key, &index, err);
    if (code == COLANDER_OK && table->plan->only_key != SIZE_MAX &&
        missing == 0)
        remember_group(table, known, index);
    return code;
}

enum colander_code
group_table_add(struct group_table *table, const struct colander_result *row,
                const struct colander_value *const *given,
                struct colander_error *err)
{
    struct known_group key = {.size = 0};
    enum colander_code code = group_row_find(&table->row, row->row, err);
    size_t index;

    if (code != COLANDER_OK)
        return code;
    index = known_group(table, row->row, &key);
    code = group_row_read(&table->row, row->row, given,
                          index == SIZE_MAX ? SIZE_MAX : table->plan->only_key,
                          &table->bytes, err);
    if (code != COLANDER_OK)
        return code;
    code = index == SIZE_MAX
               ? add_by_keys(table, &key, row->key, err)
               : add_to_states(table, group_table_record(table, index),
                               row->key, err);
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
