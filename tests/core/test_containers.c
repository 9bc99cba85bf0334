/*
 * Arrays, heaps and hash indexes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/array.h"
#include "core/hash_index.h"
#include "core/heap.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/scoped.h"

TEST(array_grows_and_keeps_its_elements)
{
    SCOPED_MEMORY uint32_t *numbers = NULL;
    size_t capacity = 0;
    size_t moves = 0;

    for (uint32_t i = 0; i < 10000; i++) {
        const size_t before = capacity;

        OK(array_reserve(&numbers, i, &capacity, 1, NULL));
        moves += capacity != before;
        numbers[i] = i;
    }
    assert_true(moves <= 12);
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(numbers[i], i);
    OK(array_reserve(&numbers, 10000, &capacity, 50000, NULL));
    assert_true(capacity >= 60000);
}

TEST(array_without_memory_stays)
{
    static const size_t impossible[] = {SIZE_MAX, SIZE_MAX / 2,
                                        SIZE_MAX / sizeof(uint64_t)};
    SCOPED_MEMORY uint64_t *numbers = NULL;
    uint64_t *before;
    size_t capacity = 0;

    OK(array_reserve(&numbers, 0, &capacity, 3, why()));
    numbers[0] = 7;
    before = numbers;
    for (size_t i = 0; i < 3; i++) {
        FAILS(array_reserve(&numbers, 1, &capacity, impossible[i], why()),
              COLANDER_NO_MEMORY);
        assert_ptr_equal(numbers, before);
        assert_int_equal(capacity, 8);
        assert_int_equal(numbers[0], 7);
    }
}

static bool
is_before(const void *a, const void *b, const void *context)
{
    const uint32_t *numbers = context;

    return numbers[*(const uint16_t *)a] < numbers[*(const uint16_t *)b];
}

TEST(heap_yields_its_elements_in_order)
{
    uint64_t random = random_seed("containers");
    uint32_t numbers[200];
    uint16_t heap[200];

    for (uint16_t count = 0; count < 200; count++) {
        const uint16_t built = count / 2;
        uint32_t last = 0;

        for (uint16_t i = 0; i < count; i++) {
            numbers[i] = (uint32_t)random_next(&random) % 64;
            heap[i] = i;
        }
        heap_build(heap, sizeof(*heap), built, is_before, numbers);
        for (uint16_t i = built; i < count; i++)
            heap_sift_up(heap, sizeof(*heap), i, is_before, numbers);
        for (size_t left = count; left > 0;) {
            assert_true(numbers[heap[0]] >= last);
            last = numbers[heap[0]];
            numbers[heap[0]] = UINT32_MAX; /* no element is returned twice */
            heap[0] = heap[--left];
            heap_sift_down(heap, sizeof(*heap), left, 0, is_before, numbers);
        }
        for (uint16_t i = 0; i < count; i++)
            assert_int_equal(numbers[i], UINT32_MAX);
    }
}

static size_t
count_of(const struct hash_index *index, uint32_t hash, uint32_t number)
{
    size_t at = HASH_INDEX_START;
    size_t count = 0;
    uint32_t found;

    while ((found = hash_index_next(index, hash, &at)) != HASH_INDEX_NONE)
        count += found == number;
    return count;
}

TEST(hash_index_finds_each_number_once)
{
    /* Many hashes are equal, and some probes wrap around the end. */
    struct hash_index index = {NULL, 0, 0};

    assert_int_equal(count_of(&index, 5, 0), 0);
    for (uint32_t i = 0; i < 3000; i++) {
        OK(hash_index_reserve(&index, NULL));
        hash_index_add(&index, UINT32_MAX - i / 3 % 700, i);
    }
    for (uint32_t i = 0; i < 3000; i++) {
        assert_int_equal(count_of(&index, UINT32_MAX - i / 3 % 700, i), 1);
        assert_int_equal(count_of(&index, i, i), 0);
    }
    hash_index_clear(&index);
    assert_int_equal(count_of(&index, UINT32_MAX, 0), 0);
    hash_index_add(&index, 5, 9);
    assert_int_equal(count_of(&index, 5, 9), 1);
    hash_index_release(&index);
    assert_int_equal(count_of(&index, 5, 9), 0);
}
