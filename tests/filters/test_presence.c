/*
 * Presences: which bits hashes use, that they deny no value, their
 * false-positive rates, and how they are combined.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/random.h"
#include "support/scoped.h"

#include "filters/presence.h"

static struct presence
presence_of(const struct presence_shape *shape, const uint64_t *hashes,
            size_t count)
{
    struct presence presence;

    OK(presence_init(&presence, shape, why()));
    for (size_t i = 0; i < count; i++)
        presence_add(&presence, hashes[i]);
    return presence;
}

static bool
presences_are_equal(const struct presence *a, const struct presence *b)
{
    return a->shape.block_count == b->shape.block_count &&
           memcmp(a->words, b->words, presence_size(&a->shape)) == 0;
}

static void
fill_random(uint64_t *hashes, size_t count, uint64_t *random)
{
    for (size_t i = 0; i < count; i++)
        hashes[i] = random_next(random);
}

/* Files contain these bits: they must never change. */
TEST(a_hash_uses_the_bits_that_files_have)
{
    const struct presence_shape shapes[] = {
        {1u << 26, PRESENCE_PROBES_MAX, 64},
        {1000, PRESENCE_PROBES_MAX, 64},
        {1u << 26, PRESENCE_PROBES_MAX, 32},
    };
    const uint32_t blocks[] = {24786951, 271, 24099222};
    const uint16_t places[][PRESENCE_PROBES_MAX] = {
        {157, 469, 291, 147, 232, 296, 358, 297, 410, 341, 190, 230},
        {157, 469, 291, 147, 232, 296, 358, 297, 410, 341, 190, 230},
        {229, 32, 410, 272, 164, 140, 494, 138, 390, 218, 37, 49}};

    for (size_t i = 0; i < 3; i++) {
        struct presence_probe probe;

        presence_locate(&shapes[i], UINT64_C(0x0123456789abcdef), &probe);
        assert_int_equal(probe.block, blocks[i]);
        assert_memory_equal(probe.bits, places[i], sizeof(places[i]));
    }
}

TEST(an_added_hash_sets_exactly_its_places)
{
    const struct presence_shape shape = {3, 6, 64};
    uint64_t random = random_seed("presence places");

    for (unsigned round = 0; round < 100; round++) {
        uint64_t hash = random_next(&random);
        SCOPED(presence_release)
        struct presence presence = presence_of(&shape, &hash, 1);
        uint64_t words[3 * PRESENCE_BLOCK_WORDS] = {0};
        struct presence_probe probe;

        presence_locate(&shape, hash, &probe);
        for (unsigned i = 0; i < 6; i++)
            words[probe.block * 8 + probe.bits[i] / 64] |=
                UINT64_C(1) << probe.bits[i] % 64;
        assert_memory_equal(presence.words, words, sizeof(words));
    }
}

TEST(a_stored_hash_is_never_denied)
{
    enum { COUNT = 3000 };
    static uint64_t hashes[COUNT];
    uint64_t random = random_seed("presence denies");

    for (unsigned round = 0; round < 40; round++) {
        struct presence_shape shape = {
            (uint32_t)(1 + random_below(&random, 300)),
            (uint8_t)(1 + random_below(&random, PRESENCE_PROBES_MAX)),
            (uint8_t)(16 + random_below(&random, 49)),
        };
        uint64_t cut = UINT64_MAX >> 1 >> (shape.hash_bits - 1);
        SCOPED(presence_release) struct presence presence;

        fill_random(hashes, COUNT, &random);
        presence = presence_of(&shape, hashes, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            assert_true(presence_may_hold(&presence, hashes[i]));
            /* what was cut off does not matter */
            assert_true(presence_may_hold(
                &presence, (hashes[i] & ~cut) | (random_next(&random) & cut)));
        }
    }
}

/* With any two sizes that fit: the union denies nothing of either, and in the
 * smaller size it is exactly the presence of all values. */
TEST(united_presences_deny_nothing_of_either)
{
    const uint32_t counts[] = {5, 10, 20, 40, 80};
    uint64_t random = random_seed("presence unites");
    uint64_t hashes[400];

    for (size_t a = 0; a < 5; a++) {
        for (size_t b = 0; b < 5; b++) {
            struct presence_shape into_shape = {counts[a], 4, 64};
            struct presence_shape from_shape = {counts[b], 4, 64};
            SCOPED(presence_release) struct presence into;
            SCOPED(presence_release) struct presence from;
            SCOPED(presence_release) struct presence all;

            fill_random(hashes, 400, &random);
            into = presence_of(&into_shape, hashes, 200);
            from = presence_of(&from_shape, hashes + 200, 200);
            all = presence_of(&into_shape, hashes, 400);
            presence_unite(&into, &from);
            for (size_t i = 0; i < 400; i++)
                assert_true(presence_may_hold(&into, hashes[i]));
            if (counts[a] <= counts[b])
                assert_true(presences_are_equal(&into, &all));
        }
    }
}

static double
measured_rate(const struct presence_shape *shape, uint64_t value_count,
              uint64_t questions, uint64_t *random)
{
    SCOPED(presence_release)
    struct presence presence = presence_of(shape, NULL, 0);
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < value_count; i++)
        presence_add(&presence, random_next(random));
    for (uint64_t i = 0; i < questions; i++)
        wrong += presence_may_hold(&presence, random_next(random));
    return (double)wrong / (double)questions;
}

/* A million questions: three deviations of 1,000 wrong answers are 10 %. Many
 * blocks, so that a presence averages over uneven blocks. */
TEST(presences_are_wrong_as_often_as_expected)
{
    const struct presence_shape shapes[] = {
        {2000, 1, 64}, {2000, 3, 64},  {2000, 6, 64},
        {2000, 8, 40}, {2000, 12, 64}, {2000, 6, 24},
    };
    uint64_t random = random_seed("presence rate");

    for (size_t i = 0; i < COUNT(shapes); i++) {
        for (uint64_t count = 80000; count <= 160000; count += 80000) {
            double expected = presence_expected_rate(&shapes[i], count);
            double measured =
                measured_rate(&shapes[i], count, 1000000, &random);

            if (measured < expected * 0.9 - 1e-4 ||
                measured > expected * 1.1 + 1e-4)
                fail_msg("%u probes, %u bits, %u values: %g, not %g",
                         shapes[i].probes, shapes[i].hash_bits, (unsigned)count,
                         measured, expected);
        }
    }
}

TEST(a_shape_for_a_rate_is_the_smallest_that_meets_it)
{
    const double rates[] = {1e-9, 1e-6, 0.001, 0.01, 0.05, 0.5, 0.99};
    const uint64_t counts[] = {0, 1, 50, 3000, 100000, 1234567};
    const uint8_t choices[] = {1, 2, 3, 4, 6, 8, PRESENCE_PROBES_MAX};

    for (size_t i = 0; i < COUNT(rates); i++) {
        uint8_t probes = presence_shape_for_rate(0, rates[i]).probes;

        for (size_t j = 0; j < COUNT(counts); j++) {
            struct presence_shape shape =
                presence_shape_for_rate(counts[j], rates[i]);

            assert_true(presence_shape_is_valid(&shape));
            assert_int_equal(shape.block_count & (shape.block_count - 1), 0);
            assert_int_equal(shape.probes, probes);
            assert_true(presence_expected_rate(&shape, counts[j]) <=
                        rates[i] * 1.0001);
            shape.block_count /= 2;
            if (shape.block_count == 0)
                continue;
            for (size_t k = 0; k < sizeof(choices); k++) {
                shape.probes = choices[k];
                assert_true(presence_expected_rate(&shape, counts[j]) >
                            rates[i]);
            }
        }
    }
}

TEST(a_shape_for_bits_fills_them_and_suits_the_values)
{
    struct presence_shape shape = presence_shape_for_bits(1000, 20000);

    assert_int_equal(shape.block_count, 39);
    for (uint8_t probes = 1; probes <= 4; probes++) {
        struct presence_shape other = {39, probes, 64};

        assert_true(presence_expected_rate(&shape, 1000) <=
                    presence_expected_rate(&other, 1000));
    }
    assert_int_equal(presence_shape_for_bits(5, 0).block_count, 1);
    assert_int_equal(presence_shape_for_bits(5, UINT64_MAX).block_count,
                     PRESENCE_BLOCKS_MAX);
    shape = presence_shape_for_bits(UINT64_MAX, 1000);
    assert_true(presence_shape_is_valid(&shape));
    assert_true(presence_expected_rate(&shape, UINT64_MAX) >= 1);
    shape = presence_shape_for_rate(UINT64_MAX, 1e-9);
    assert_int_equal(shape.block_count, PRESENCE_BLOCKS_MAX);
}

TEST(a_shape_from_damaged_bytes_is_rejected)
{
    const struct presence_shape good = {PRESENCE_BLOCKS_MAX, 12, 64};
    const struct presence_shape bad[] = {
        {0, 6, 40}, {PRESENCE_BLOCKS_MAX + 1, 6, 40},
        {1, 0, 40}, {1, 13, 40},
        {1, 6, 0},  {1, 6, 65},
    };

    assert_true(presence_shape_is_valid(&good));
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(presence_shape_is_valid(&bad[i]));
}
