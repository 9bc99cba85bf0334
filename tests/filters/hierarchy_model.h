/*
 * A naive model of hierarchies: the set of values of each slot.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FILTERS_HIERARCHY_MODEL_H
#define TESTS_FILTERS_HIERARCHY_MODEL_H

#include "support/cases.h"
#include "support/random.h"

#include "filters/hierarchy.h"
#include "filters/hierarchy/tree.h"
#include "support/cases.h"

#define POOL 256  /* values that parts may share */
#define SLOTS 192 /* of the model */
#define POOL_WORDS (POOL / 64)
#define SLOT_WORDS (SLOTS / 64)

static const enum hierarchy_kind kinds[] = {HIERARCHY_SLICES, HIERARCHY_TREE};

/* The values of the pool that each slot has. */
struct model {
    bool is_part[SLOTS];
    uint64_t values[SLOTS][POOL_WORDS];
};

/* What a hierarchy is tested with. */
struct fixture {
    enum hierarchy_kind kind;
    struct hierarchy *hierarchy;
    uint64_t budget;
    uint64_t pool[POOL];
    uint64_t random;
    struct model now;
};

/* Creates a fixture. The caller destroys it. */
static inline struct fixture *
fixture_create(enum hierarchy_kind kind, uint64_t budget, uint64_t seed)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    fixture->kind = kind;
    fixture->budget = budget;
    fixture->random = seed;
    for (unsigned i = 0; i < POOL; i++)
        fixture->pool[i] = random_next(&fixture->random);
    fixture->hierarchy = hierarchy_create(kind, 2, budget);
    assert_non_null(fixture->hierarchy);
    return fixture;
}

static inline void
fixture_destroy(struct fixture *fixture)
{
    hierarchy_destroy(fixture->hierarchy);
    free(fixture);
}

/* A new set of values for the slot, with `extra` that are not in the pool. */
static inline struct presence
presence_for(struct fixture *fixture, uint32_t slot,
             const struct presence_shape *shape, uint64_t extra)
{
    struct presence presence;

    OK(presence_init(&presence, shape, NULL));
    /* a quarter of the pool */
    for (unsigned i = 0; i < POOL_WORDS; i++) {
        uint64_t half = random_next(&fixture->random);

        fixture->now.values[slot][i] = half & random_next(&fixture->random);
    }
    for (unsigned i = 0; i < POOL; i++) {
        if (fixture->now.values[slot][i / 64] >> i % 64 & 1)
            presence_add(&presence, fixture->pool[i]);
    }
    for (uint64_t i = 0; i < extra; i++)
        presence_add(&presence, random_next(&fixture->random));
    return presence;
}

/* Small shapes of several kinds, all of which can be folded to a block. */
static inline struct presence_shape
random_shape(uint64_t *random)
{
    struct presence_shape shape = {
        1u << random_below(random, 5),
        (uint8_t)(4 + 2 * random_below(random, 2)),
        (uint8_t)(random_below(random, 4) == 0 ? 40 : 32),
    };

    return shape;
}

static inline enum colander_code
fixture_add(struct fixture *fixture, uint32_t slot,
            const struct presence_shape *shape, uint64_t extra)
{
    struct presence presence = presence_for(fixture, slot, shape, extra);
    enum colander_code code =
        hierarchy_add(fixture->hierarchy, slot, &presence, NULL);

    presence_release(&presence);
    if (code == COLANDER_OK)
        fixture->now.is_part[slot] = true;
    return code;
}

static inline void
fixture_remove(struct fixture *fixture, uint32_t slot)
{
    hierarchy_remove(fixture->hierarchy, slot);
    fixture->now.is_part[slot] = false;
}

static inline struct hierarchy_version *
published(struct hierarchy *hierarchy)
{
    struct hierarchy_version *version;

    OK(hierarchy_publish(hierarchy, &version, NULL));
    return version;
}

static inline uint32_t
slots_of(const struct model *model)
{
    uint32_t count = SLOTS;

    while (count > 0 && !model->is_part[count - 1])
        count--;
    return count;
}

/* Fails unless the version returns at least the slots with the value, and only
 * slots that are parts. */
static inline void
check_value(const struct hierarchy_version *version, const struct model *model,
            uint64_t hash, unsigned value)
{
    uint64_t slots[SLOT_WORDS] = {0};

    assert_int_equal(hierarchy_version_slots(version), slots_of(model));
    hierarchy_find(version, hash, slots);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        bool is_found = (slots[slot / 64] >> slot % 64 & 1) != 0;
        bool is_held = model->is_part[slot] &&
                       (model->values[slot][value / 64] >> value % 64 & 1) != 0;

        if (is_held && !is_found)
            fail_msg("slot %u holds value %u, but is denied", slot, value);
        if (is_found && !model->is_part[slot])
            fail_msg("slot %u is found, but is not a part", slot);
    }
}

static inline void
check_version(const struct fixture *fixture,
              const struct hierarchy_version *version,
              const struct model *model, unsigned step)
{
    for (unsigned value = 0; value < POOL; value += step)
        check_value(version, model, fixture->pool[value], value);
}

#endif
