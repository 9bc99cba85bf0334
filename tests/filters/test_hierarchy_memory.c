/*
 * Hierarchies when memory is short: each allocation in turn fails, which is
 * reported as NO_MEMORY and changes no part of any version.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hierarchy_model.h"
#include "support/cases.h"

#include "support/failing_memory.h"
#include "support/scoped.h"

/* Adds a part with the first allocation failing, then the second, until it
 * succeeds. Checks each time that nothing else has changed. */
static void
add_in_short_memory(struct fixture *fixture, uint32_t slot)
{
    struct presence_shape shape = {4, 4, 32};
    SCOPED(presence_release) struct presence presence;
    enum colander_code code = COLANDER_NO_MEMORY;

    /* with space for all, one kind of parts: trees that are high and split */
    if (fixture->budget < UINT64_MAX)
        shape = random_shape(&fixture->random);
    presence = presence_for(fixture, slot, &shape, 50);
    for (long turn = 0; code != COLANDER_OK; turn++) {
        uint64_t count = hierarchy_sizes(fixture->hierarchy).part_count;
        struct hierarchy_version *version;

        allocations_left = turn;
        code = hierarchy_add(fixture->hierarchy, slot, &presence, NULL);
        allocations_left = -1;
        assert_int_equal(hierarchy_sizes(fixture->hierarchy).part_count,
                         count + (code == COLANDER_OK));
        assert_true(code == COLANDER_OK || code == COLANDER_NO_MEMORY);
        version = published(fixture->hierarchy);
        fixture->now.is_part[slot] = code == COLANDER_OK;
        check_version(fixture, version, &fixture->now, 31);
        hierarchy_version_release(version);
    }
}

static void
publish_in_short_memory(struct fixture *fixture)
{
    struct hierarchy_version *version = NULL;
    enum colander_code code = COLANDER_NO_MEMORY;

    for (long turn = 0; code != COLANDER_OK; turn++) {
        allocations_left = turn;
        code = hierarchy_publish(fixture->hierarchy, &version, NULL);
        allocations_left = -1;
        assert_true((code == COLANDER_OK) == (version != NULL));
    }
    check_version(fixture, version, &fixture->now, 5);
    hierarchy_version_release(version);
}

/* Removing never fails, even without memory. */
static void
remove_in_short_memory(struct fixture *fixture, uint32_t slot, long left)
{
    uint64_t count = hierarchy_sizes(fixture->hierarchy).part_count;

    allocations_left = left;
    fixture_remove(fixture, slot);
    allocations_left = -1;
    assert_int_equal(hierarchy_sizes(fixture->hierarchy).part_count, count - 1);
}

TEST(short_memory_changes_nothing)
{
    uint64_t seed = random_seed("hierarchy memory");

    for (unsigned i = 0; i < 4; i++) {
        struct fixture *fixture;
        struct model *before = malloc(sizeof(*before));
        struct hierarchy_version *held;
        struct presence_shape shape = {4, 4, 32};

        assert_non_null(before);
        fixture =
            fixture_create(kinds[i % 2], i < 2 ? UINT64_MAX : 20000, seed);
        for (uint32_t slot = 100; slot < 110; slot++)
            OK(fixture_add(fixture, slot, &shape, 0));
        held = published(fixture->hierarchy);
        *before = fixture->now;
        for (uint32_t slot = 0; slot < 70; slot++) {
            add_in_short_memory(fixture, slot);
            publish_in_short_memory(fixture);
            remove_in_short_memory(fixture, slot / 2, (long)slot % 7);
            publish_in_short_memory(fixture);
            add_in_short_memory(fixture, slot / 2);
            check_version(fixture, held, before, 17);
        }
        hierarchy_version_release(held);
        free(before);
        fixture_destroy(fixture);
    }
    for (long turn = 0; turn < 4; turn++) {
        struct hierarchy *hierarchy;

        allocations_left = turn;
        hierarchy = hierarchy_create(HIERARCHY_TREE, 8, 1000);
        allocations_left = -1;
        hierarchy_destroy(hierarchy);
    }
}
