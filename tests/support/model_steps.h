/*
 * Rows written step by step, and what a family holds after each step.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_MODEL_STEPS_H
#define TESTS_SUPPORT_MODEL_STEPS_H

#include "support/random_rows.h"
#include "support/scoped.h"

#define KEYS 1000

/* All rows after a number of steps. */
struct model {
    struct colander_buffer rows[KEYS];
    bool is_there[KEYS];
    uint64_t steps;
};

/* Each step writes or deletes one row, and depends only on its number. */
struct step {
    uint64_t key;
    bool is_delete;
    struct colander_slice row; /* borrowed from the builder */
};

static inline void
make_step(uint64_t seed, uint64_t number, struct colander_row_builder *builder,
          struct step *step)
{
    uint64_t random = seed + number * 7919;
    char text[160];
    size_t size = 40 + random_below(&random, sizeof(text) - 41);

    step->key = random_below(&random, KEYS);
    step->is_delete = random_below(&random, 6) == 0;
    for (size_t i = 0; i < size; i++)
        text[i] = (char)('a' + random_below(&random, 26));
    text[size] = '\0';
    colander_row_builder_add(builder, "step",
                             colander_integer((int64_t)number));
    colander_row_builder_add(builder, "text", colander_text(text));
    random_columns(builder, &random);
    OK(colander_row_builder_finish(builder, &step->row, NULL));
}

static inline void
add_step(struct model *model, const struct step *step)
{
    struct colander_buffer *row = &model->rows[step->key];

    colander_buffer_clear(row);
    model->is_there[step->key] = !step->is_delete;
    OK(colander_buffer_append(row, step->row.data, step->row.size, NULL));
}

/* Moves to the state after `steps` steps. */
static inline void
model_go_to(struct model *model, uint64_t seed, uint64_t steps)
{
    SCOPED_BUILDER builder = colander_row_builder_create();
    struct step step;

    if (steps < model->steps) {
        memset(model->is_there, 0, sizeof(model->is_there));
        model->steps = 0;
    }
    for (; model->steps < steps; model->steps++) {
        make_step(seed, model->steps, builder, &step);
        add_step(model, &step);
    }
}

/* Returns the last step whose row exists. */
static inline int64_t
model_last_step(const struct model *model)
{
    int64_t last = -1;

    for (size_t i = 0; i < KEYS; i++) {
        struct colander_value value;
        bool is_found;

        if (!model->is_there[i])
            continue;
        OK(colander_row_get(colander_buffer_slice(&model->rows[i]), "step",
                            &value, &is_found, NULL));
        if (value.integer > last)
            last = value.integer;
    }
    return last;
}

/* Moves to the step, at most `steps`, whose last visible row and keys are
 * these. Deletes may follow it, and puts that they hide. If there is no such
 * step, stays at the last visible one. */
static inline void
model_go_to_shown(struct model *model, uint64_t seed, int64_t last,
                  const bool is_there[KEYS], uint64_t steps)
{
    for (uint64_t at = (uint64_t)(last + 1); at <= steps; at++) {
        model_go_to(model, seed, at);
        if (memcmp(model->is_there, is_there, sizeof(model->is_there)) == 0)
            return;
    }
    model_go_to(model, seed, (uint64_t)(last + 1));
}

static inline void
model_release(struct model *model)
{
    for (size_t i = 0; i < KEYS; i++)
        colander_buffer_release(&model->rows[i]);
}

static inline void
encode_key(uint64_t index, struct colander_buffer *key)
{
    struct colander_value part = colander_integer((int64_t)index);

    colander_buffer_clear(key);
    OK(colander_key_encode(&part, 1, key, NULL));
}

/* Returns the index of such a key. */
static inline uint64_t
decode_key(struct colander_slice key)
{
    struct colander_value parts[COLANDER_KEY_PARTS_MAX];
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;
    size_t count;

    OK(colander_key_decode(key, parts, &count, &scratch, NULL));
    assert_int_equal(count, 1);
    assert_in_range(parts[0].integer, 0, KEYS - 1);
    return (uint64_t)parts[0].integer;
}

#endif
