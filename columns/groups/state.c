/* See state.h. SPDX-License-Identifier: MIT */
#include "columns/groups/state.h"
#include "columns/groups/quantiles.h"

size_t
state_size(enum slot_kind kind)
{
    size_t size = 0;

    switch (kind) {
    case SLOT_ROWS:
    case SLOT_PRESENT:
        size = sizeof(uint64_t);
        break;
    case SLOT_SUM:
        size = sizeof(struct exact_sum);
        break;
    case SLOT_LEAST:
    case SLOT_GREATEST:
    case SLOT_FIRST:
    case SLOT_LAST:
        size = sizeof(struct end_state);
        break;
    case SLOT_SET:
        size = sizeof(struct value_set);
        break;
    case SLOT_ESTIMATE:
        size = sizeof(struct value_estimate);
        break;
    case SLOT_QUANTILES:
        size = sizeof(struct quantiles);
        break;
    }
    return (size + 15) / 16 * 16;
}

/* ----------------------------------------------------------------- ends --- */

/* Whether a value that compares so with the present one takes its place. */
static bool
is_better(enum slot_kind kind, int order)
{
    return kind == SLOT_LEAST || kind == SLOT_FIRST ? order < 0 : order > 0;
}

static enum colander_code
add_extreme(enum slot_kind kind, struct end_state *end,
            const struct colander_value *value, size_t *bytes,
            struct colander_error *err)
{
    const int order =
        end->has_value ? any_value_compare(value, &end->value.value) : 0;

    if (end->has_value && !is_better(kind, order) &&
        !(order == 0 && any_value_represents(value, &end->value.value)))
        return COLANDER_OK;
    end->has_value = true;
    return held_value_set(&end->value, value, bytes, err);
}

static enum colander_code
add_timed(enum slot_kind kind, struct end_state *end,
          const struct state_input *input, size_t *bytes,
          struct colander_error *err)
{
    const struct colander_value key = colander_binary(input->key);
    enum colander_code code;

    if (end->has_value) {
        int order = any_value_compare(input->time, &end->time.value);

        if (order == 0)
            order = any_value_compare(&key, &end->key.value);
        if (order == 0) /* rows of two families */
            return add_extreme(kind, end, input->value, bytes, err);
        if (!is_better(kind, order))
            return COLANDER_OK;
    }
    end->has_value = true;
    code = held_value_set(&end->value, input->value, bytes, err);
    if (code == COLANDER_OK)
        code = held_value_set(&end->time, input->time, bytes, err);
    if (code == COLANDER_OK)
        code = held_value_set(&end->key, &key, bytes, err);
    return code;
}

static enum colander_code
merge_end(enum slot_kind kind, struct end_state *end, struct end_state *from,
          size_t *bytes, struct colander_error *err)
{
    const struct state_input input = {
        .value = &from->value.value,
        .time = &from->time.value,
        .key = from->key.value.bytes,
    };

    if (!from->has_value)
        return COLANDER_OK;
    return kind == SLOT_FIRST || kind == SLOT_LAST
               ? add_timed(kind, end, &input, bytes, err)
               : add_extreme(kind, end, input.value, bytes, err);
}

/* --------------------------------------------------------------- adding --- */

enum colander_code
state_add_any(enum slot_kind kind, void *state, const struct state_input *input,
              size_t *bytes, bool *is_left_out, struct colander_error *err)
{
    const struct colander_value *value = input->value;
    const bool is_number = colander_type_is_number(value->type);

    *is_left_out = false;
    switch (kind) {
    case SLOT_ROWS:
    case SLOT_PRESENT:
        ++*(uint64_t *)state;
        return COLANDER_OK;
    case SLOT_SUM: /* state_add adds numbers */
        break;
    case SLOT_QUANTILES:
        if (is_number)
            return quantiles_add(state, value, bytes, err);
        break;
    case SLOT_LEAST:
    case SLOT_GREATEST:
        if (value->type < COLANDER_ARRAY)
            return add_extreme(kind, state, value, bytes, err);
        break;
    case SLOT_FIRST:
    case SLOT_LAST:
        if (input->time != NULL)
            return add_timed(kind, state, input, bytes, err);
        break;
    case SLOT_SET:
        return value_set_add(state, value, bytes, err);
    case SLOT_ESTIMATE:
        return value_estimate_add(state, any_value_hash(value), bytes, err);
    }
    *is_left_out = true;
    return COLANDER_OK;
}

enum colander_code
state_merge(enum slot_kind kind, void *state, void *from, size_t *bytes,
            struct colander_error *err)
{
    switch (kind) {
    case SLOT_ROWS:
    case SLOT_PRESENT:
        *(uint64_t *)state += *(const uint64_t *)from;
        return COLANDER_OK;
    case SLOT_SUM:
        return exact_sum_merge(state, from, bytes, err);
    case SLOT_QUANTILES:
        return quantiles_merge(state, from, bytes, err);
    case SLOT_LEAST:
    case SLOT_GREATEST:
    case SLOT_FIRST:
    case SLOT_LAST:
        return merge_end(kind, state, from, bytes, err);
    case SLOT_SET:
        return value_set_merge(state, from, bytes, err);
    case SLOT_ESTIMATE:
        return value_estimate_merge(state, from, bytes, err);
    }
    return COLANDER_OK;
}

/* --------------------------------------------------------------- result --- */

static struct colander_value
sum_value(struct exact_sum *sum)
{
    return sum->count == 0 ? colander_null() : exact_sum_value(sum);
}

struct colander_value
state_value(const struct plan_measure *measure, void *state)
{
    switch (measure->aggregate) {
    case COLANDER_COUNT:
        return colander_unsigned(*(const uint64_t *)state);
    case COLANDER_SUM:
        return sum_value(state);
    case COLANDER_AVG:
        return exact_sum_average(state);
    case COLANDER_MIN:
    case COLANDER_MAX:
    case COLANDER_FIRST:
    case COLANDER_LAST:
        return ((const struct end_state *)state)->value.value;
    case COLANDER_DISTINCT:
        return colander_unsigned(((const struct value_set *)state)->count);
    case COLANDER_APPROX_DISTINCT:
        return colander_unsigned(value_estimate_count(state));
    case COLANDER_QUANTILE:
        break;
    }
    return quantiles_value(state, measure->quantile);
}

void
state_release(enum slot_kind kind, void *state)
{
    struct end_state *end;

    switch (kind) {
    case SLOT_ROWS:
    case SLOT_PRESENT:
        break;
    case SLOT_SUM:
        exact_sum_release(state);
        break;
    case SLOT_QUANTILES:
        quantiles_release(state);
        break;
    case SLOT_LEAST:
    case SLOT_GREATEST:
    case SLOT_FIRST:
    case SLOT_LAST:
        end = state;
        held_value_release(&end->value);
        held_value_release(&end->time);
        held_value_release(&end->key);
        break;
    case SLOT_SET:
        value_set_release(state);
        break;
    case SLOT_ESTIMATE:
        value_estimate_release(state);
        break;
    }
}
