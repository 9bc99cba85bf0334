/*
 * What is known of groups, as bytes. A group may be split: the values of a set
 * may be many.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/decode.h"
#include "columns/groups/groups_inside.h"
#include "columns/groups/quantiles.h"
#include "columns/groups/state.h"

#define BYTES_MIN ((size_t)64 << 10) /* then the next bytes begin */
#define VALUE_SIZE 16                /* more than a value without bytes takes */

enum colander_code
groups_finish_bytes(struct colander_row_builder *builder,
                    enum colander_code code, struct colander_buffer *bytes,
                    struct colander_error *err)
{
    struct colander_slice row;

    if (code == COLANDER_OK)
        code = colander_row_builder_finish(builder, &row, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(bytes, row.data, row.size, err);
    if (code != COLANDER_OK)
        colander_error_context(err, "cannot encode groups");
    colander_row_builder_destroy(builder);
    return code;
}

/* ------------------------------------------------------------- encoding --- */

/* Groups that are being encoded. */
struct encoder {
    struct colander_groups *groups;
    struct colander_row_builder *builder;
    struct colander_buffer scratch;
    size_t size; /* about what was added */
};

static void
add_value(struct encoder *encoder, const struct colander_value *value)
{
    encoder->size +=
        VALUE_SIZE + (any_value_has_bytes(value) ? value->bytes.size : 0);
    colander_row_builder_add(encoder->builder, NULL, *value);
}

static void
add_number(struct encoder *encoder, uint64_t number)
{
    const struct colander_value value = colander_unsigned(number);

    add_value(encoder, &value);
}

/* Adds values of a set, from the place on and at least one, and moves that. */
static void
add_set(struct encoder *encoder, const struct value_set *set, size_t *place)
{
    colander_row_builder_begin_array(encoder->builder, NULL);
    do
        add_value(encoder, &set->values[(*place)++]);
    while (*place < set->count && encoder->size < BYTES_MIN);
    colander_row_builder_end(encoder->builder);
    *place = *place < set->count ? *place : 0;
}

/* Adds what one of the sketches is as bytes. */
static enum colander_code
add_encoded(struct encoder *encoder, enum slot_kind kind, void *state,
            struct colander_error *err)
{
    struct colander_buffer *scratch = &encoder->scratch;
    struct colander_value value;
    enum colander_code code;

    colander_buffer_clear(scratch);
    switch (kind) {
    case SLOT_SUM:
        code = exact_sum_encode(state, scratch, &encoder->groups->table.bytes,
                                err);
        break;
    case SLOT_ESTIMATE:
        code = value_estimate_encode(state, scratch, err);
        break;
    default: /* SLOT_QUANTILES */
        code = quantiles_encode(state, scratch, err);
        break;
    }
    value = colander_binary(colander_buffer_slice(scratch));
    if (code == COLANDER_OK)
        add_value(encoder, &value);
    return code;
}

/* Whether no value was added. */
static bool
is_blank(enum slot_kind kind, const void *state)
{
    switch (kind) {
    case SLOT_ROWS:
    case SLOT_PRESENT:
        return *(const uint64_t *)state == 0;
    case SLOT_SUM:
        return ((const struct exact_sum *)state)->count == 0;
    case SLOT_LEAST:
    case SLOT_GREATEST:
    case SLOT_FIRST:
    case SLOT_LAST:
        return !((const struct end_state *)state)->has_value;
    case SLOT_SET:
        return ((const struct value_set *)state)->count == 0;
    case SLOT_ESTIMATE:
    case SLOT_QUANTILES:
        break;
    }
    return false;
}

/* Adds the state of a measure, or as much as fits of a set. */
static enum colander_code
add_state(struct encoder *encoder, enum slot_kind kind, void *state,
          size_t *place, struct colander_error *err)
{
    const struct end_state *end = state;

    switch (kind) {
    case SLOT_ROWS:
    case SLOT_PRESENT:
        add_number(encoder, *(const uint64_t *)state);
        break;
    case SLOT_LEAST:
    case SLOT_GREATEST:
        add_value(encoder, &end->value.value);
        break;
    case SLOT_FIRST:
    case SLOT_LAST:
        add_value(encoder, &end->value.value);
        add_value(encoder, &end->time.value);
        add_value(encoder, &end->key.value);
        break;
    case SLOT_SET:
        add_set(encoder, state, place);
        break;
    case SLOT_SUM:
    case SLOT_ESTIMATE:
    case SLOT_QUANTILES:
        return add_encoded(encoder, kind, state, err);
    }
    return COLANDER_OK;
}

/* Adds a group from the place on, as far as it fits, and moves the place. */
static enum colander_code
add_group(struct encoder *encoder, struct colander_groups_place *place,
          struct colander_error *err)
{
    const struct group_plan *plan = &encoder->groups->plan;
    const struct record *record =
        group_table_record(&encoder->groups->table, place->group);
    enum colander_code code = COLANDER_OK;

    colander_row_builder_begin_array(encoder->builder, NULL);
    add_number(encoder, record->missing);
    for (size_t i = 0; i < plan->key_count; i++)
        add_value(encoder, &record->keys[i]);
    do {
        const size_t index = place->measure;
        const struct plan_slot *slot = &plan->slots[index];
        void *state;

        if (index == plan->slot_count)
            break;
        state = group_table_state(record, slot);
        if (!is_blank(slot->kind, state)) {
            add_number(encoder, index);
            code = add_state(encoder, slot->kind, state, &place->value, err);
        }
        place->measure += place->value == 0;
    } while (code == COLANDER_OK && encoder->size < BYTES_MIN);
    colander_row_builder_end(encoder->builder);
    if (place->measure == plan->slot_count) {
        place->measure = 0;
        place->group++;
    }
    return code;
}

static void
add_left_out(struct encoder *encoder)
{
    const struct colander_groups *groups = encoder->groups;

    colander_row_builder_begin_array(encoder->builder, "left_out");
    for (size_t i = 0; i < groups->plan.key_count; i++)
        add_number(encoder, groups->table.keys_left_out[i]);
    for (size_t i = 0; i < groups->plan.slot_count; i++)
        add_number(encoder, groups->table.slots_left_out[i]);
    colander_row_builder_end(encoder->builder);
}

enum colander_code
colander_groups_encode(struct colander_groups *groups,
                       struct colander_groups_place *place,
                       struct colander_buffer *bytes,
                       struct colander_error *err)
{
    struct encoder encoder = {.groups = groups,
                              .builder = colander_row_builder_create()};
    enum colander_code code = COLANDER_OK;

    if (encoder.builder == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for groups");
    colander_row_builder_add(encoder.builder, DECODE_VERSION,
                             colander_integer(GROUPS_VERSION));
    colander_row_builder_begin_array(encoder.builder, "groups");
    while (code == COLANDER_OK && place->group < groups->table.count &&
           encoder.size < BYTES_MIN)
        code = add_group(&encoder, place, err);
    colander_row_builder_end(encoder.builder);
    place->is_end = place->group == groups->table.count;
    if (place->is_end)
        add_left_out(&encoder);
    colander_buffer_release(&encoder.scratch);
    return groups_finish_bytes(encoder.builder, code, bytes, err);
}

/* ------------------------------------------------------------- decoding --- */

static enum colander_code
fail_malformed(const char *what, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_INVALID, "a %s is malformed", what);
}

/* Reads the keys of a group. */
static enum colander_code
take_keys(const struct colander_groups *groups,
          struct colander_members *members, struct colander_value *keys,
          uint32_t *missing, struct colander_error *err)
{
    const struct group_plan *plan = &groups->plan;
    uint64_t bits = 0;
    enum colander_code code = decode_number(
        members, "missing", UINT64_C(1) << plan->key_count, &bits, err);

    *missing = (uint32_t)bits;
    for (size_t i = 0; i < plan->key_count && code == COLANDER_OK; i++) {
        code = decode_next(members, &keys[i], err);
        if (code == COLANDER_OK && keys[i].type != COLANDER_NULL &&
            ((bits >> i & 1) != 0 ||
             (plan->keys[i].is_bucket && !bucket_has(&keys[i]))))
            code = fail_malformed("key", err);
    }
    return code;
}

/* Reads a value with what it is ordered by, and adds it. */
static enum colander_code
take_end(enum slot_kind kind, void *state, struct colander_members *members,
         size_t *bytes, struct colander_error *err)
{
    const bool is_timed = kind == SLOT_FIRST || kind == SLOT_LAST;
    struct colander_value value, time, key;
    struct state_input input = {.value = &value};
    bool is_left_out = false;
    enum colander_code code = decode_next(members, &value, err);

    if (code == COLANDER_OK && is_timed)
        code = decode_next(members, &time, err);
    if (code == COLANDER_OK && is_timed)
        code = decode_next_of(members, COLANDER_BINARY, "key", &key, err);
    if (code != COLANDER_OK)
        return code;
    if (value.type == COLANDER_NULL ||
        (is_timed && time.type != COLANDER_TIMESTAMP &&
         !colander_type_is_number(time.type)))
        return fail_malformed("value", err);
    if (is_timed) {
        input.time = &time;
        input.key = key.bytes;
    }
    code = state_add_any(kind, state, &input, bytes, &is_left_out, err);
    return code == COLANDER_OK && is_left_out ? fail_malformed("value", err)
                                              : code;
}

static enum colander_code
take_set(struct value_set *set, struct colander_members *members, size_t *bytes,
         struct colander_error *err)
{
    struct colander_members values;
    struct colander_value value;
    enum colander_code code =
        decode_next_of(members, COLANDER_ARRAY, "set", &value, err);

    if (code == COLANDER_OK)
        code = colander_members_init(&values, value.bytes, err);
    while (code == COLANDER_OK && values.left > 0) {
        code = decode_next(&values, &value, err);
        if (code == COLANDER_OK && value.type == COLANDER_NULL)
            code = fail_malformed("set", err);
        if (code == COLANDER_OK)
            code = value_set_add(set, &value, bytes, err);
    }
    return code;
}

static enum colander_code
take_encoded(enum slot_kind kind, void *state, struct colander_members *members,
             size_t *bytes, struct colander_error *err)
{
    struct colander_value value;
    enum colander_code code =
        decode_next_of(members, COLANDER_BINARY, "state", &value, err);

    if (code != COLANDER_OK)
        return code;
    if (kind == SLOT_SUM)
        return exact_sum_add_encoded(state, value.bytes, bytes, err);
    return kind == SLOT_ESTIMATE
               ? value_estimate_add_encoded(state, value.bytes, bytes, err)
               : quantiles_add_encoded(state, value.bytes, bytes, err);
}

static enum colander_code
take_state(enum slot_kind kind, void *state, struct colander_members *members,
           size_t *bytes, struct colander_error *err)
{
    uint64_t count;
    enum colander_code code;

    switch (kind) {
    case SLOT_ROWS:
    case SLOT_PRESENT:
        code = decode_number(members, "count", UINT64_MAX, &count, err);
        if (code == COLANDER_OK)
            *(uint64_t *)state += count;
        return code;
    case SLOT_LEAST:
    case SLOT_GREATEST:
    case SLOT_FIRST:
    case SLOT_LAST:
        return take_end(kind, state, members, bytes, err);
    case SLOT_SET:
        return take_set(state, members, bytes, err);
    case SLOT_SUM:
    case SLOT_ESTIMATE:
    case SLOT_QUANTILES:
        break;
    }
    return take_encoded(kind, state, members, bytes, err);
}

static enum colander_code
take_group(struct colander_groups *groups, const struct colander_value *group,
           struct colander_error *err)
{
    struct group_table *table = &groups->table;
    struct colander_value keys[COLANDER_GROUP_KEYS_MAX];
    struct colander_members members;
    uint32_t missing = 0;
    size_t index = 0;
    bool is_new;
    enum colander_code code =
        decode_enter(&members, group, COLANDER_ARRAY, "group", err);

    if (code == COLANDER_OK)
        code = take_keys(groups, &members, keys, &missing, err);
    if (code == COLANDER_OK)
        code = group_table_find(table, keys, missing, &index, &is_new, err);
    while (code == COLANDER_OK && members.left > 0) {
        const struct record *record = group_table_record(table, index);
        uint64_t at = 0;

        code =
            decode_number(&members, "state", groups->plan.slot_count, &at, err);
        if (code == COLANDER_OK)
            code =
                take_state(groups->plan.slots[at].kind,
                           group_table_state(record, &groups->plan.slots[at]),
                           &members, &table->bytes, err);
    }
    return code == COLANDER_OK ? group_table_charge(table, 0, err) : code;
}

static enum colander_code
take_left_out(struct colander_groups *groups,
              const struct colander_value *counts, struct colander_error *err)
{
    const size_t key_count = groups->plan.key_count;
    struct colander_members members;
    enum colander_code code =
        decode_enter(&members, counts, COLANDER_ARRAY, "left_out", err);

    if (code == COLANDER_OK &&
        members.left != key_count + groups->plan.slot_count)
        code = fail_malformed("count", err);
    for (size_t i = 0; code == COLANDER_OK && members.left > 0; i++) {
        uint64_t count = 0;

        code = decode_number(&members, "left_out", UINT64_MAX, &count, err);
        if (i < key_count)
            groups->table.keys_left_out[i] += count;
        else
            groups->table.slots_left_out[i - key_count] += count;
    }
    return code;
}

static enum colander_code
take_part(struct colander_groups *groups, struct colander_slice name,
          const struct colander_value *value, struct colander_error *err)
{
    struct colander_members members;
    struct colander_value group;
    enum colander_code code;

    if (colander_slice_equal(name, colander_slice_text("left_out")))
        return take_left_out(groups, value, err);
    if (!colander_slice_equal(name, colander_slice_text("groups")))
        return fail_malformed("member", err);
    code = decode_enter(&members, value, COLANDER_ARRAY, "groups", err);
    while (code == COLANDER_OK && members.left > 0) {
        code = decode_next(&members, &group, err);
        if (code == COLANDER_OK)
            code = take_group(groups, &group, err);
    }
    return code;
}

enum colander_code
colander_groups_add_bytes(struct colander_groups *groups,
                          struct colander_slice bytes,
                          struct colander_error *err)
{
    struct colander_members members;
    enum colander_code code;

    if (groups->is_finished)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "no rows can be added to groups that were "
                             "returned");
    code = decode_begin(&members, bytes, GROUPS_VERSION, err);
    while (code == COLANDER_OK && members.left > 0) {
        struct colander_slice name;
        struct colander_value value;
        bool is_member;

        code = colander_members_next(&members, &is_member, &name, &value, err);
        if (code == COLANDER_OK)
            code = take_part(groups, name, &value, err);
    }
    return code;
}
