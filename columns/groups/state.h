/*
 * States: what groups know of the values of a measure so far. A state is a few
 * bytes in the record of a group, zeroed at first, which may own more memory.
 *
 * It depends on the values that were added, and not on their order.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_GROUPS_STATE_H
#define COLANDER_COLUMNS_GROUPS_STATE_H

#include "columns/groups/exact_sum.h"
#include "columns/groups/group_plan.h"
#include "columns/groups/value_set.h"

/* The value at one end, of the values or of their times. */
struct end_state {
    struct held_value value;
    struct held_value time; /* of FIRST and LAST */
    struct held_value key;  /* as a binary */
    bool has_value;
};

/* Returns the size of a state, a multiple of 16. */
size_t state_size(enum slot_kind kind);

/* A value for a state, and what it is ordered by. */
struct state_input {
    const struct colander_value *value; /* neither missing nor null */
    const struct colander_value *time;  /* of FIRST and LAST; NULL: none */
    struct colander_slice key;
};

/* Adds a value to a state that is not of ROWS. *bytes grows with the memory
 * that is taken. *is_left_out is set to true if the value has a type that the
 * measure is not for. */
COLANDER_CHECKED enum colander_code
state_add_any(enum slot_kind kind, void *state, const struct state_input *input,
              size_t *bytes, bool *is_left_out, struct colander_error *err);

/* The same; the most frequent kind is not looked for. */
COLANDER_CHECKED static inline enum colander_code
state_add(enum slot_kind kind, void *state, const struct state_input *input,
          size_t *bytes, bool *is_left_out, struct colander_error *err)
{
    if (kind != SLOT_SUM || !colander_type_is_number(input->value->type))
        return state_add_any(kind, state, input, bytes, is_left_out, err);
    *is_left_out = false;
    return exact_sum_add(state, input->value, bytes, err);
}

/* Adds the values of another state. */
COLANDER_CHECKED enum colander_code state_merge(enum slot_kind kind,
                                                void *state, void *from,
                                                size_t *bytes,
                                                struct colander_error *err);

/* Returns the value of a measure, borrowed from the state. */
struct colander_value state_value(const struct plan_measure *measure,
                                  void *state);

void state_release(enum slot_kind kind, void *state);

#endif
