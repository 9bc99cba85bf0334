/*
 * Hierarchies of both kinds, compared with a naive model: a set of values for
 * each slot, and copies of the sets for versions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hierarchy_model.h"
#include "support/cases.h"
#include "support/scoped.h"

#include <pthread.h>
#include <stdatomic.h>

/* --------------------------------------------------------- random steps --- */

#define HELD 6

struct held {
    struct hierarchy_version *version;
    struct model model;
};

static bool
slot_is_held(const struct held *held, uint32_t slot)
{
    for (unsigned i = 0; i < HELD; i++) {
        if (held[i].version != NULL && held[i].model.is_part[slot])
            return true;
    }
    return false;
}

static void
step_version(struct fixture *fixture, struct held *held)
{
    if (held->version != NULL) {
        check_version(fixture, held->version, &held->model, 3);
        hierarchy_version_release(held->version);
        held->version = NULL;
        return;
    }
    held->version = published(fixture->hierarchy);
    held->model = fixture->now;
    check_version(fixture, held->version, &held->model, 5);
}

/* The first version is held far longer than the others. */
static void
random_step(struct fixture *fixture, struct held *held, unsigned slots)
{
    uint32_t slot = (uint32_t)random_below(&fixture->random, slots);
    uint64_t choice = random_below(&fixture->random, 100);
    struct presence_shape shape = random_shape(&fixture->random);
    struct hierarchy_sizes sizes;

    if (choice < 15)
        step_version(fixture, &held[choice == 0 ? 0 : 1 + choice % (HELD - 1)]);
    else if (fixture->now.is_part[slot])
        fixture_remove(fixture, slot);
    else if (!slot_is_held(held, slot))
        OK(fixture_add(fixture, slot, &shape,
                       random_below(&fixture->random, 200)));
    else
        hierarchy_remove(fixture->hierarchy, slot); /* not in it: permitted */
    sizes = hierarchy_sizes(fixture->hierarchy);
    assert_true(sizes.bytes <= fixture->budget);
}

/* Adds many parts at times, few at others: structures grow and shrink. */
static void
run_random(enum hierarchy_kind kind, uint64_t budget, uint64_t seed)
{
    struct fixture *fixture;
    struct held *held = calloc(HELD, sizeof(*held));
    unsigned slots = SLOTS;

    assert_non_null(held);
    fixture = fixture_create(kind, budget, seed);
    for (unsigned step = 0; step < 1500; step++) {
        if (step % 400 == 300) {
            for (uint32_t slot = 8; slot < SLOTS; slot++)
                fixture_remove(fixture, slot);
            slots = 16;
        } else if (step % 400 == 0) {
            slots = SLOTS;
        }
        random_step(fixture, held, slots);
    }
    for (unsigned i = 0; i < HELD; i++) {
        if (held[i].version != NULL)
            step_version(fixture, &held[i]);
    }
    free(held);
    fixture_destroy(fixture);
}

TEST(versions_answer_as_the_parts_they_have_and_keep_to_the_budget)
{
    uint64_t random = random_seed("hierarchy model");

    for (uint64_t run = 0; run < random_runs(4); run++) {
        for (unsigned i = 0; i < 2; i++) {
            run_random(kinds[i], UINT64_MAX, random_next(&random));
            run_random(kinds[i], 160000, random_next(&random));
            run_random(kinds[i], 40000, random_next(&random));
        }
    }
}

/* ---------------------------------------------------- false positives --- */

#define QUESTIONS 3000

/* Sums the slots returned for each of QUESTIONS absent values. */
static double
found_for_absent_values(struct fixture *fixture)
{
    struct hierarchy_version *version = published(fixture->hierarchy);
    uint64_t found = 0;

    for (unsigned question = 0; question < QUESTIONS; question++) {
        uint64_t slots[SLOT_WORDS] = {0};

        hierarchy_find(version, random_next(&fixture->random), slots);
        for (unsigned j = 0; j < SLOT_WORDS; j++)
            found += presence_bit_count(slots[j]);
    }
    hierarchy_version_release(version);
    return (double)found;
}

static void
check_found(struct fixture *fixture, double expected)
{
    double found = found_for_absent_values(fixture);

    if (found > expected * 1.25 + 20 || found < expected * 0.7 - 20)
        fail_msg("kind %u: %.0f expected, %.0f found", (unsigned)fixture->kind,
                 expected, found);
}

#define KEPT 9

/* Adds a part of one of three sizes. Returns how often it is expected. */
static double
add_sized(struct fixture *fixture, uint32_t slot, uint64_t values)
{
    struct presence_shape shape = {8u << slot % 3, 6, 40};
    uint64_t extra = values << slot % 3;

    OK(fixture_add(fixture, slot, &shape, extra));
    return QUESTIONS * presence_expected_rate(&shape, extra + POOL / 4);
}

TEST(absent_values_are_found_as_often_as_expected)
{
    uint64_t seed = random_seed("hierarchy rate");

    for (unsigned i = 0; i < 2; i++) {
        double expected[SLOTS];
        double all = 0;
        struct fixture *fixture = fixture_create(kinds[i], UINT64_MAX, seed);

        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            expected[slot] = add_sized(fixture, slot, 448);
            all += expected[slot];
        }
        check_found(fixture, all);
        /* a narrower or rewritten part has nothing of what was there before,
         * neither if parts stay in their columns, nor if they move */
        for (uint32_t slot = 0; slot < SLOTS - KEPT; slot++) {
            fixture_remove(fixture, slot);
            all -= expected[slot];
        }
        check_found(fixture, all);
        for (uint32_t slot = 0; slot < KEPT; slot++) {
            expected[slot] = add_sized(fixture, slot, 448);
            all += expected[slot];
        }
        for (uint32_t slot = SLOTS - KEPT; slot < SLOTS; slot++) {
            fixture_remove(fixture, slot);
            all -= expected[slot];
        }
        check_found(fixture, all);
        for (uint32_t slot = 0; slot < KEPT; slot++) {
            fixture_remove(fixture, slot);
            all += add_sized(fixture, slot, 10) - expected[slot];
        }
        check_found(fixture, all);
        fixture_destroy(fixture);
    }
}

/* With space for half of each, none is folded much more than others: new parts
 * are folded about as far as old ones, even if all are replaced. */
TEST(folding_is_shared_by_all_parts)
{
    const struct presence_shape shape = {16, 6, 40};
    const struct presence_shape half = {8, 6, 40};
    uint64_t seed = random_seed("hierarchy folding");

    for (unsigned i = 0; i < 2; i++) {
        struct fixture *fixture;
        double expected = 0;

        /* a tree has nodes as well */
        fixture = fixture_create(kinds[i],
                                 presence_size(&half) * SLOTS / 4 *
                                     (kinds[i] == HIERARCHY_TREE ? 8 : 5),
                                 seed);
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            OK(fixture_add(fixture, slot, &shape, 400));
            expected +=
                QUESTIONS * presence_expected_rate(&half, 400 + POOL / 4);
        }
        assert_true(hierarchy_sizes(fixture->hierarchy).fold_count > 0);
        assert_true(found_for_absent_values(fixture) < expected * 1.3);
        for (uint32_t round = 0; round < 4 * SLOTS; round++) {
            fixture_remove(fixture, round % SLOTS);
            OK(fixture_add(fixture, round % SLOTS, &shape, 400));
            if (round % 64 == 0)
                assert_true(found_for_absent_values(fixture) < expected * 1.3);
        }
        fixture_destroy(fixture);
    }
}

/* --------------------------------------------------------------- memory --- */

TEST(few_parts_take_narrow_rows)
{
    const struct presence_shape shape = {64, 6, 40};
    struct hierarchy_version *version;
    struct fixture *fixture = fixture_create(HIERARCHY_SLICES, UINT64_MAX, 1);

    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        uint64_t columns = 8;

        OK(fixture_add(fixture, slot, &shape, 0));
        while (columns <= slot)
            columns *= 2;
        assert_int_equal(hierarchy_sizes(fixture->hierarchy).bytes,
                         columns * presence_size(&shape));
    }
    version = published(fixture->hierarchy);
    /* although a version holds every column that is removed */
    for (uint32_t round = 0; round < 40 * SLOTS; round++) {
        fixture_remove(fixture, round % SLOTS);
        OK(fixture_add(fixture, round % SLOTS, &shape, 0));
        assert_true(hierarchy_sizes(fixture->hierarchy).bytes <=
                    512 * presence_size(&shape));
        if (round % 8 == 0) {
            hierarchy_version_release(version);
            version = published(fixture->hierarchy);
        }
    }
    for (uint32_t slot = 1; slot < SLOTS; slot++)
        fixture_remove(fixture, slot);
    assert_true(hierarchy_sizes(fixture->hierarchy).bytes <=
                16 * presence_size(&shape));
    fixture_remove(fixture, 0);
    assert_int_equal(hierarchy_sizes(fixture->hierarchy).bytes, 0);
    hierarchy_version_release(version);
    fixture_destroy(fixture);
}

/* Sizes that cannot be halved are kept whatever the budget is. */
TEST(odd_presences_are_kept_over_the_budget)
{
    const struct presence_shape shape = {39, 4, 40};

    for (unsigned i = 0; i < 2; i++) {
        struct hierarchy_version *version;
        struct fixture *fixture = fixture_create(kinds[i], 1000, 7);

        for (uint32_t slot = 0; slot < 20; slot++)
            OK(fixture_add(fixture, slot, &shape, 100));
        version = published(fixture->hierarchy);
        check_version(fixture, version, &fixture->now, 1);
        assert_int_equal(hierarchy_sizes(fixture->hierarchy).fold_count, 0);
        assert_int_equal(hierarchy_sizes(fixture->hierarchy).part_count, 20);
        hierarchy_version_release(version);
        fixture_destroy(fixture);
    }
}

/* ----------------------------------------------------------------- tree --- */

/* Asserts that the sums of a node are right, that its presence is the OR of
 * those below, and that it has `least` to twice `order` children. */
static void
check_node(const struct tree_node *node, uint32_t least, uint32_t order)
{
    uint64_t size = presence_size(&node->presence.shape);
    uint64_t fold_count = 0;
    uint32_t part_count = 0;
    uint32_t blocks = 0;
    SCOPED(presence_release) struct presence all;

    OK(presence_init(&all, &node->presence.shape, NULL));
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct tree_node *child = node->children[i];

        assert_int_equal(child->level + 1, node->level);
        size += child->size;
        part_count += child->part_count;
        fold_count += child->fold_count;
        if (child->presence.shape.block_count > blocks)
            blocks = child->presence.shape.block_count;
        presence_unite(&all, &child->presence);
        if (child->level > 0)
            check_node(child, order, order);
        else
            assert_true(child->part_count == 1 && child->child_count == 0);
    }
    assert_true(node->child_count >= least && node->child_count <= 2 * order);
    assert_int_equal(size, node->size);
    assert_int_equal(part_count, node->part_count);
    assert_int_equal(fold_count, node->fold_count);
    assert_int_equal(blocks, node->presence.shape.block_count);
    assert_memory_equal(all.words, node->presence.words,
                        presence_size(&all.shape));
}

/* Asserts that all trees are as in the paper. A root over one part has one
 * child; any other root has at least two. */
static void
check_tree(struct hierarchy *tree, uint32_t order)
{
    struct hierarchy_version *base = published(tree);
    const struct tree_version *version = (const struct tree_version *)base;

    for (size_t i = 0; i < version->root_count; i++)
        check_node(version->roots[i], version->roots[i]->level > 1 ? 2 : 1,
                   order);
    hierarchy_version_release(base);
}

/* With several orders, presences of several sizes, and little space. */
TEST(nodes_are_neither_too_small_nor_too_large)
{
    uint64_t seed = random_seed("hierarchy tree");

    for (uint32_t order = 2; order <= 5; order++) {
        struct hierarchy_sizes sizes;
        uint32_t highest = 0;
        struct fixture *fixture =
            fixture_create(HIERARCHY_TREE, 0, seed + order);

        hierarchy_destroy(fixture->hierarchy);
        fixture->hierarchy = hierarchy_create(
            HIERARCHY_TREE, order, order % 2 == 0 ? UINT64_MAX : 60000);
        assert_non_null(fixture->hierarchy);
        for (unsigned step = 0; step < 1200; step++) {
            uint32_t slot = (uint32_t)random_below(&fixture->random, SLOTS);
            struct presence_shape shape = random_shape(&fixture->random);
            bool grows = step % 600 < 400;

            if (fixture->now.is_part[slot])
                grows ? (void)0 : fixture_remove(fixture, slot);
            else if (grows)
                OK(fixture_add(fixture, slot, &shape, 20));
            check_tree(fixture->hierarchy, order);
            sizes = hierarchy_sizes(fixture->hierarchy);
            highest = sizes.height > highest ? sizes.height : highest;
        }
        assert_true(highest >= 3);
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            fixture_remove(fixture, slot);
            check_tree(fixture->hierarchy, order);
        }
        sizes = hierarchy_sizes(fixture->hierarchy);
        assert_int_equal(sizes.part_count, 0);
        assert_int_equal(sizes.bytes, 0);
        fixture_destroy(fixture);
    }
}

/* -------------------------------------------------------------- threads --- */

struct shared {
    pthread_mutex_t mutex;
    struct fixture *fixture;
    atomic_bool is_over;
    atomic_uint asked;
    atomic_uint wrong;
};

static void
ask_once(struct shared *shared, struct model *model)
{
    const struct fixture *fixture = shared->fixture;
    struct hierarchy_version *version;

    pthread_mutex_lock(&shared->mutex);
    version = published(fixture->hierarchy);
    *model = fixture->now;
    pthread_mutex_unlock(&shared->mutex);
    for (unsigned value = 0; value < POOL; value++) {
        uint64_t slots[SLOT_WORDS] = {0};

        hierarchy_find(version, fixture->pool[value], slots);
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            bool is_found = (slots[slot / 64] >> slot % 64 & 1) != 0;
            bool is_held = (model->values[slot][value / 64] >> value % 64 & 1);

            if ((is_found && !model->is_part[slot]) ||
                (!is_found && is_held && model->is_part[slot]))
                atomic_fetch_add(&shared->wrong, 1);
        }
    }
    atomic_fetch_add(&shared->asked, 1);
    pthread_mutex_lock(&shared->mutex);
    hierarchy_version_release(version);
    pthread_mutex_unlock(&shared->mutex);
}

static void *
ask_often(void *context)
{
    struct shared *shared = context;
    SCOPED_MEMORY struct model *model = malloc(sizeof(*model));

    while (model != NULL && !atomic_load(&shared->is_over))
        ask_once(shared, model);
    return NULL;
}

static void
change_often(struct shared *shared)
{
    struct fixture *fixture = shared->fixture;

    for (unsigned step = 0; step < 400 || atomic_load(&shared->asked) < 20;
         step++) {
        uint32_t slot = (uint32_t)random_below(&fixture->random, SLOTS);
        struct presence_shape shape = random_shape(&fixture->random);

        pthread_mutex_lock(&shared->mutex);
        if (fixture->now.is_part[slot])
            fixture_remove(fixture, slot);
        else
            OK(fixture_add(fixture, slot, &shape, 50));
        pthread_mutex_unlock(&shared->mutex);
    }
    atomic_store(&shared->is_over, true);
}

/* Slots are reused while versions have them, which callers must not do. Here
 * each version is compared with the model it was created with, all the same. */
TEST(readers_see_their_version_while_parts_are_added_and_removed)
{
    uint64_t seed = random_seed("hierarchy threads");

    for (unsigned i = 0; i < 4; i++) {
        SCOPED_MEMORY struct shared *shared = malloc(sizeof(*shared));
        pthread_t readers[3];

        assert_non_null(shared);
        memset(shared, 0, sizeof(*shared));
        ZERO(pthread_mutex_init(&shared->mutex, NULL));
        shared->fixture =
            fixture_create(kinds[i % 2], i < 2 ? UINT64_MAX : 100000, seed);
        for (unsigned j = 0; j < 3; j++)
            ZERO(pthread_create(&readers[j], NULL, ask_often, shared));
        change_often(shared);
        for (unsigned j = 0; j < 3; j++)
            ZERO(pthread_join(readers[j], NULL));
        assert_int_equal(atomic_load(&shared->wrong), 0);
        pthread_mutex_destroy(&shared->mutex);
        fixture_destroy(shared->fixture);
    }
}
