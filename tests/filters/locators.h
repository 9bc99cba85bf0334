/*
 * Entries, and locators built from them, for tests.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FILTERS_LOCATORS_H
#define TESTS_FILTERS_LOCATORS_H

#include "filters/locator.h"

#include "support/cases.h"
#include "support/random.h"
#include "support/scoped.h"

#define SCOPED_LOCATOR SCOPED(locator_release) struct locator
#define SCOPED_RANGES SCOPED(row_ranges_release) struct row_ranges

struct entries {
    uint64_t *words;
    size_t count;
    size_t capacity;
};

static inline void
entries_add(struct entries *entries, uint64_t hash, unsigned tag, uint32_t row)
{
    if (entries->count == entries->capacity) {
        entries->capacity = entries->capacity * 2 + 64;
        entries->words =
            realloc(entries->words, entries->capacity * sizeof(uint64_t));
        assert_non_null(entries->words);
    }
    entries->words[entries->count++] = locator_entry(hash, tag, row);
}

static inline int
compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Cuts the hashes to `hash_bits`, and sorts them. */
static inline void
entries_sort(struct entries *entries, unsigned hash_bits)
{
    const uint64_t cut = (UINT64_C(1) << (64 - hash_bits)) -
                         (UINT64_C(1) << (64 - LOCATOR_HASH_BITS));

    for (size_t i = 0; i < entries->count; i++)
        entries->words[i] &= ~cut;
    if (entries->count > 0)
        qsort(entries->words, entries->count, sizeof(uint64_t), compare_words);
}

/* Returns the number of distinct hashes, cut to `hash_bits`. */
static inline uint64_t
entries_hashes(const struct entries *entries, unsigned hash_bits)
{
    uint64_t count = 0;

    for (size_t i = 0; i < entries->count; i++)
        count += i == 0 || entries->words[i] >> (64 - hash_bits) !=
                               entries->words[i - 1] >> (64 - hash_bits);
    return count;
}

/* What locator_build returned: each block in memory of exact size. */
struct locator {
    struct locator_shape shape;
    struct entries *entries; /* freed with it */
    struct {
        struct colander_slice bytes;
        uint32_t first_group;
    } * blocks;
    size_t count;
    size_t blocks_left; /* the sink fails if it is 0 */
};

static inline enum colander_code
keep_block(void *context, struct colander_slice block, uint32_t first_group,
           struct colander_error *err)
{
    struct locator *locator = context;
    uint8_t *copy;

    if (locator->blocks_left-- == 0)
        return COLANDER_FAIL(err, COLANDER_IO, "no more blocks");
    copy = malloc(block.size);
    locator->blocks = realloc(locator->blocks,
                              (locator->count + 1) * sizeof(*locator->blocks));
    assert_non_null(copy);
    assert_non_null(locator->blocks);
    memcpy(copy, block.data, block.size);
    locator->blocks[locator->count].bytes = colander_slice_of(copy, block.size);
    locator->blocks[locator->count++].first_group = first_group;
    return COLANDER_OK;
}

static inline void
locator_release(struct locator *locator)
{
    for (size_t i = 0; i < locator->count; i++)
        free((void *)(uintptr_t)locator->blocks[i].bytes.data);
    free(locator->blocks);
    free(locator->entries->words);
}

/* Sorts the entries. Adapts the shape to them if `is_fitted`. */
static inline struct locator
locator_of(struct locator_shape shape, bool is_fitted, struct entries *entries)
{
    struct locator locator = {
        .shape = shape, .entries = entries, .blocks_left = SIZE_MAX};

    entries_sort(entries, shape.hash_bits);
    if (is_fitted)
        locator_shape_fit(&locator.shape,
                          entries_hashes(entries, shape.hash_bits));
    assert_true(locator_shape_is_sound(&locator.shape));
    OK(locator_build(&locator.shape, entries->words, entries->count, keep_block,
                     &locator, NULL));
    return locator;
}

/* Returns the index of the block that holds the hash. */
static inline size_t
block_of(const struct locator *locator, uint64_t hash)
{
    uint32_t group = locator_group(&locator->shape, hash);
    size_t low = 0;
    size_t high = locator->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (locator->blocks[middle].first_group <= group)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static inline void
look_up(const struct locator *locator, uint64_t hash, unsigned tag,
        struct row_ranges *ranges, struct locator_answer *answer)
{
    size_t i = block_of(locator, hash);

    answer->rows = 0;
    answer->units = 0;
    OK(locator_find(&locator->shape, locator->blocks[i].bytes,
                    locator->blocks[i].first_group, hash, tag, ranges, answer,
                    NULL));
    if (ranges != NULL)
        row_ranges_order(ranges);
}

static inline void
assert_ranges_are_sound(const struct row_ranges *ranges, uint32_t row_count)
{
    for (size_t i = 0; i < ranges->count; i++) {
        assert_true(ranges->ranges[i].first < ranges->ranges[i].end);
        assert_true(ranges->ranges[i].end <= row_count);
        if (i > 0)
            assert_true(ranges->ranges[i - 1].end < ranges->ranges[i].first);
    }
}

/* -------------------------------------------------------------- random --- */

/* A 64-bit hash for a value of a column; some columns share values. */
static inline uint64_t
hash_of(uint64_t column, uint64_t value)
{
    uint64_t state = value * 5 + column % 3;

    return random_next(&state);
}

static inline uint64_t
pick(uint64_t *random, const uint64_t *choices, size_t count)
{
    return choices[random_below(random, count)];
}

#define PICK(random, ...)                                                      \
    pick(random, (const uint64_t[]){__VA_ARGS__},                              \
         sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static inline struct locator_shape
random_shape(uint64_t *random, uint32_t rows_max)
{
    uint32_t fine = (uint32_t)PICK(random, 1, 1, 1, 4, 16, 1 << 20);
    uint32_t times = (uint32_t)PICK(random, 1, 3, 16, 16, 16, 256);
    struct locator_shape shape = {
        .row_count = (uint32_t)PICK(random, 1, 2, 64, 128, 130, 1000, rows_max),
        .fine = fine,
        .coarse = fine * times,
        .hash_bits = (uint8_t)PICK(random, 1, 3, 8, 12, 16, 32, 32, 39, 40)};

    if (random_below(random, 2) == 0)
        shape.row_count = 1 + (uint32_t)random_below(random, shape.row_count);
    return shape;
}

#endif
