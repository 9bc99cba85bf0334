/*
 * Hierarchies while memory is short: each allocation in turn fails, which is
 * told as NO_MEMORY, and changes no part of any edition.
 *
 * The linker sends every allocation of this program here: see CMakeLists.txt.
 * Where it does not, the test is skipped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hierarchy_model.h"

static long allocations_left = -1; /* below 0: none fails */

static bool
allocation_fails(void)
{
    return allocations_left >= 0 && allocations_left-- == 0;
}

void *__real_malloc(size_t size) __attribute__((weak));
void *__real_calloc(size_t count, size_t size) __attribute__((weak));
void *__real_realloc(void *memory, size_t size) __attribute__((weak));
void *__real_aligned_alloc(size_t line, size_t size) __attribute__((weak));
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t line, size_t size);

void *
__wrap_malloc(size_t size)
{
    return allocation_fails() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
    return allocation_fails() ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *memory, size_t size)
{
    return allocation_fails() ? NULL : __real_realloc(memory, size);
}

void *
__wrap_aligned_alloc(size_t line, size_t size)
{
    return allocation_fails() ? NULL : __real_aligned_alloc(line, size);
}

/* Adds a part with the first allocation failing, then the second, until it is
 * added; checks after each time that nothing else has changed. */
static void
add_in_short_memory(struct fixture *fixture, uint32_t slot)
{
    struct presence_shape shape = {4, 4, 32};
    struct presence presence;
    enum colander_code code = COLANDER_NO_MEMORY;

    /* with room for all, one kind of parts: trees that are high and split */
    if (fixture->budget < UINT64_MAX)
        shape = random_shape(&fixture->random);
    presence = presence_for(fixture, slot, &shape, 50);
    for (long turn = 0; code != COLANDER_OK; turn++) {
        uint64_t count = hierarchy_sizes(fixture->hierarchy).part_count;
        struct hierarchy_edition *edition;

        allocations_left = turn;
        code = hierarchy_add(fixture->hierarchy, slot, &presence, NULL);
        allocations_left = -1;
        assert_int_equal(hierarchy_sizes(fixture->hierarchy).part_count,
                         count + (code == COLANDER_OK));
        assert_true(code == COLANDER_OK || code == COLANDER_NO_MEMORY);
        edition = published(fixture->hierarchy);
        fixture->now.is_part[slot] = code == COLANDER_OK;
        check_edition(fixture, edition, &fixture->now, 31);
        hierarchy_edition_release(edition);
    }
    presence_release(&presence);
}

static void
publish_in_short_memory(struct fixture *fixture)
{
    struct hierarchy_edition *edition = NULL;
    enum colander_code code = COLANDER_NO_MEMORY;

    for (long turn = 0; code != COLANDER_OK; turn++) {
        allocations_left = turn;
        code = hierarchy_publish(fixture->hierarchy, &edition, NULL);
        allocations_left = -1;
        assert_true((code == COLANDER_OK) == (edition != NULL));
    }
    check_edition(fixture, edition, &fixture->now, 5);
    hierarchy_edition_release(edition);
}

/* Removing never fails, whatever memory does. */
static void
remove_in_short_memory(struct fixture *fixture, uint32_t slot, long left)
{
    uint64_t count = hierarchy_sizes(fixture->hierarchy).part_count;

    allocations_left = left;
    fixture_remove(fixture, slot);
    allocations_left = -1;
    assert_int_equal(hierarchy_sizes(fixture->hierarchy).part_count, count - 1);
}

static void
what_memory_does_not_suffice_for_changes_nothing(void **state)
{
    uint64_t seed = random_seed("hierarchy memory");

    (void)state;
    if (__real_malloc == NULL)
        skip();
    for (unsigned i = 0; i < 4; i++) {
        struct fixture *fixture = malloc(sizeof(*fixture));
        struct model *before = malloc(sizeof(*before));
        struct hierarchy_edition *held;
        struct presence_shape shape = {4, 4, 32};

        assert_non_null(fixture);
        assert_non_null(before);
        fixture_init(fixture, kinds[i % 2], i < 2 ? UINT64_MAX : 20000, seed);
        for (uint32_t slot = 100; slot < 110; slot++)
            assert_int_equal(fixture_add(fixture, slot, &shape, 0),
                             COLANDER_OK);
        held = published(fixture->hierarchy);
        *before = fixture->now;
        for (uint32_t slot = 0; slot < 70; slot++) {
            add_in_short_memory(fixture, slot);
            publish_in_short_memory(fixture);
            remove_in_short_memory(fixture, slot / 2, (long)slot % 7);
            publish_in_short_memory(fixture);
            add_in_short_memory(fixture, slot / 2);
            check_edition(fixture, held, before, 17);
        }
        hierarchy_edition_release(held);
        hierarchy_destroy(fixture->hierarchy);
        free(before);
        free(fixture);
    }
    for (long turn = 0; turn < 4; turn++) {
        struct hierarchy *hierarchy;

        allocations_left = turn;
        hierarchy = hierarchy_create(HIERARCHY_TREE, 8, 1000);
        allocations_left = -1;
        hierarchy_destroy(hierarchy);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_memory_does_not_suffice_for_changes_nothing),
    };

    return cmocka_run_group_tests_name("hierarchy_memory", tests, NULL, NULL);
}
