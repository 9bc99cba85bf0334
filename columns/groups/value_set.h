/*
 * Sets of values: each once, exactly; and how many different values there are,
 * estimated in little memory.
 *
 * Values are equal as colander_value_compare says; arrays and maps if their
 * bytes are.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_GROUPS_VALUE_SET_H
#define COLANDER_COLUMNS_GROUPS_VALUE_SET_H

#include "columns/columns.h"
#include "core/bytes.h"
#include "core/hash_index.h"

/* --------------------------------------------------------------- values --- */

/* Returns <0, 0 or >0, also for arrays and maps. */
int any_value_compare(const struct colander_value *a,
                      const struct colander_value *b);

/* Returns whether they are equal, fast where they mostly are of one type. */
static inline bool
any_value_equal(const struct colander_value *a, const struct colander_value *b)
{
    if (a->type == COLANDER_STRING && b->type == COLANDER_STRING)
        return a->bytes.size == b->bytes.size &&
               bytes_equal(a->bytes.data, b->bytes.data, a->bytes.size);
    if (a->type == COLANDER_TIMESTAMP && b->type == COLANDER_TIMESTAMP)
        return a->second == b->second && a->nanosecond == b->nanosecond;
    return any_value_compare(a, b) == 0;
}

uint64_t any_value_hash(const struct colander_value *value);

/* Returns whether `value` represents equal values rather than `other`, which
 * is equal to it: 1 rather than 1.0, and 0.0 rather than -0.0. */
bool any_value_represents(const struct colander_value *value,
                          const struct colander_value *other);

/* Returns whether the value has `bytes`, as a scalar or as a container. */
static inline bool
any_value_has_bytes(const struct colander_value *value)
{
    return colander_type_has_bytes(value->type) ||
           value->type >= COLANDER_ARRAY;
}

/* A value with its own memory. Starts zeroed, which is null. */
struct held_value {
    struct colander_value value;
    uint8_t *bytes; /* owned */
    size_t capacity;
};

/* Replaces the value by a copy. *bytes grows with the memory. */
COLANDER_CHECKED enum colander_code
held_value_set(struct held_value *held, const struct colander_value *value,
               size_t *bytes, struct colander_error *err);

static inline void
held_value_release(struct held_value *held)
{
    free(held->bytes);
    memset(held, 0, sizeof(*held));
}

/* ------------------------------------------------------------------ set --- */

/* Starts zeroed. */
struct value_set {
    struct colander_value *values; /* their bytes are owned one by one */
    size_t count;
    size_t capacity;
    struct hash_index index;
};

COLANDER_CHECKED enum colander_code
value_set_add(struct value_set *set, const struct colander_value *value,
              size_t *bytes, struct colander_error *err);

COLANDER_CHECKED enum colander_code
value_set_merge(struct value_set *set, const struct value_set *other,
                size_t *bytes, struct colander_error *err);

void value_set_release(struct value_set *set);

/* ------------------------------------------------------------- estimate --- */

/*
 * HyperLogLog with 2^14 registers: the standard error is 0.8 %. Few values are
 * counted by their hashes instead. Starts zeroed.
 */
struct value_estimate {
    uint64_t *hashes; /* sorted, each once; NULL: registers, or empty; owned */
    size_t count;
    size_t capacity;
    uint8_t *registers; /* NULL: hashes; owned */
};

/* Adds the value that has this hash. */
COLANDER_CHECKED enum colander_code
value_estimate_add(struct value_estimate *estimate, uint64_t hash,
                   size_t *bytes, struct colander_error *err);

COLANDER_CHECKED enum colander_code
value_estimate_merge(struct value_estimate *estimate,
                     const struct value_estimate *other, size_t *bytes,
                     struct colander_error *err);

/* Appends the estimate as bytes (FORMAT.md). */
COLANDER_CHECKED enum colander_code
value_estimate_encode(const struct value_estimate *estimate,
                      struct colander_buffer *out, struct colander_error *err);

/* Adds the estimate that was encoded so. Fails with INVALID for other bytes. */
COLANDER_CHECKED enum colander_code
value_estimate_add_encoded(struct value_estimate *estimate,
                           struct colander_slice encoded, size_t *bytes,
                           struct colander_error *err);

/* Returns about how many different hashes were added. */
uint64_t value_estimate_count(const struct value_estimate *estimate);

void value_estimate_release(struct value_estimate *estimate);

#endif
