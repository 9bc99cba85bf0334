/*
 * Damaged locators return some answer or report the damage, without side
 * effects. Reports of sanitizers count as failures, too.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/locators.h"
#include "support/cases.h"
#include "support/scoped.h"

/* A block with lists of every kind. */
static struct locator
mixed_locator(struct entries *entries, uint32_t row_count)
{
    struct locator_shape shape = {row_count, 1, 16, 24, 0};
    struct locator locator;

    for (uint32_t row = 0; row < row_count; row++) {
        if (row % 40 == 0)
            entries_add(entries, hash_of(0, row), row % 16, row);
        if (row % 11 == 0) /* a few rows */
            entries_add(entries, hash_of(0, row * 7 % 130), 3, row);
        entries_add(entries, hash_of(0, row % 3), 1, row); /* in all rows */
        if (row % 100 < 30)                                /* clusters */
            entries_add(entries, hash_of(0, row / 500), 2, row);
        if (row % 2 == 0)
            entries_add(entries, hash_of(0, row * 31 % 12), 4, row * 8 / 10);
        if (row / 16 * 37 % 11 < 4 && row % 4 == 0) /* a bitmap */
            entries_add(entries, hash_of(0, 1), 5, row);
    }
    locator = locator_of(shape, true, entries);
    assert_int_equal(locator.count, 1);
    return locator;
}

struct seen {
    uint64_t count;
    uint64_t last;
};

static void
see_hash(void *context, uint64_t hash)
{
    struct seen *seen = context;

    assert_true(seen->count == 0 || hash > seen->last);
    seen->last = hash;
    seen->count++;
}

/* Reads the block of `size` bytes in `bytes`: it may answer or report damage,
 * and hashes must be ascending and rows in the part. */
static void
assert_copes(const struct locator *locator, const struct entries *entries,
             const uint8_t *bytes, size_t size, uint64_t *random)
{
    const struct locator_shape *shape = &locator->shape;
    /* Of exact size, so that an overrun is detected. */
    SCOPED_MEMORY uint8_t *copy = malloc(size == 0 ? 1 : size);
    struct colander_slice block = colander_slice_of(copy, size);
    SCOPED_RANGES ranges = ROW_RANGES_EMPTY;
    struct locator_answer answer = {0, 0};
    struct seen seen = {0, 0};
    enum colander_code code;

    assert_non_null(copy);
    memcpy(copy, bytes, size);
    for (int i = 0; i < 4; i++) {
        uint64_t word = entries->words[random_below(random, entries->count)];
        unsigned tag = i % 2 == 0 ? LOCATOR_TAG_ANY
                                  : (unsigned)(word >> LOCATOR_ROW_BITS) % 16;

        row_ranges_clear(&ranges);
        code =
            locator_find(shape, block, 0, i == 3 ? random_next(random) : word,
                         tag, &ranges, &answer, NULL);
        assert_true(code == COLANDER_OK || code == COLANDER_CORRUPT);
        row_ranges_order(&ranges);
        assert_ranges_are_sound(&ranges, shape->row_count);
        code = locator_find(shape, block, 0, word, tag, NULL, &answer, NULL);
        assert_true(code == COLANDER_OK || code == COLANDER_CORRUPT);
    }
    code = locator_hashes(shape, block, 0, see_hash, &seen, NULL);
    assert_true(code == COLANDER_OK || code == COLANDER_CORRUPT);
}

TEST(a_truncated_block_is_corrupt_or_lacks_only_its_end)
{
    struct entries entries = {NULL, 0, 0};
    SCOPED_LOCATOR locator = mixed_locator(&entries, 6000);
    struct colander_slice bytes = locator.blocks[0].bytes;
    size_t head = 2 + 2 * (bytes.data[0] + bytes.data[1] * 256u);
    uint64_t random = random_seed("truncated locator");
    struct seen seen = {0, 0};

    for (size_t size = 0; size < bytes.size; size++) {
        assert_copes(&locator, &entries, bytes.data, size, &random);
        if (size < head)
            FAILS(locator_hashes(&locator.shape,
                                 colander_slice_of(bytes.data, size), 0,
                                 see_hash, &seen, NULL),
                  COLANDER_CORRUPT);
    }
}

TEST(a_block_with_flipped_bits_answers_or_is_corrupt)
{
    struct entries entries = {NULL, 0, 0};
    SCOPED_LOCATOR locator = mixed_locator(&entries, 3000);
    struct colander_slice bytes = locator.blocks[0].bytes;
    SCOPED_MEMORY uint8_t *flipped = malloc(bytes.size);
    uint64_t random = random_seed("flipped locator");

    assert_non_null(flipped);
    for (uint64_t run = 0; run < random_runs(100000); run++) {
        uint64_t flips = 1 + random_below(&random, 4);

        memcpy(flipped, bytes.data, bytes.size);
        for (; flips > 0; flips--) {
            uint64_t bit = random_below(&random, bytes.size * 8);

            flipped[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        assert_copes(&locator, &entries, flipped, bytes.size, &random);
    }
}

/* Random bytes with random shapes, and with heads that point into them. */
TEST(a_block_of_noise_answers_or_is_corrupt)
{
    struct entries entries = {NULL, 0, 0};
    uint64_t random = random_seed("noise locator");

    for (int i = 0; i < 64; i++)
        entries_add(&entries, random_next(&random), 0, 0);
    for (uint64_t run = 0; run < random_runs(30000); run++) {
        struct locator locator = {.shape =
                                      random_shape(&random, LOCATOR_ROWS_MAX)};
        uint64_t sparseness = random_below(&random, 4);
        uint8_t noise[300];

        for (size_t i = 0; i < sizeof(noise); i++) {
            noise[i] = (uint8_t)random_next(&random);
            for (uint64_t j = 0; j < sparseness; j++)
                noise[i] &= (uint8_t)random_next(&random);
        }
        memcpy(noise, (const uint8_t[]){2, 0, 6, 0, 70, 0}, 6);
        locator.shape.group_bits = 1;
        assert_copes(&locator, &entries, noise, sizeof(noise), &random);
    }
    free(entries.words);
}

TEST(an_unsound_shape_is_corrupt)
{
    const struct locator_shape unsound[] = {
        {0, 1, 16, 32, 0},
        {LOCATOR_ROWS_MAX + 1, 1, 16, 32, 0},
        {1, 0, 16, 32, 0},
        {1, 3, 6, 32, 0},
        {1, 4, 6, 32, 0},
        {1, 4, 0, 32, 0},
        {1, 1, 16, 0, 0},
        {1, 1, 16, 41, 0},
        {1, 1, 16, 32, LOCATOR_GROUP_BITS_MAX + 1},
        {1, 1, 16, 5, 6},
        {1, 1, 16, 255, 255},
    };
    const uint8_t bytes[] = {1, 0, 4, 0};
    struct colander_slice block = colander_slice_of(bytes, sizeof(bytes));
    struct locator_answer answer = {0, 0};
    struct seen seen = {0, 0};

    for (size_t i = 0; i < COUNT(unsound); i++) {
        assert_false(locator_shape_is_sound(&unsound[i]));
        FAILS(locator_find(&unsound[i], block, 0, 1, 0, NULL, &answer, NULL),
              COLANDER_CORRUPT);
        FAILS(locator_hashes(&unsound[i], block, 0, see_hash, &seen, NULL),
              COLANDER_CORRUPT);
    }
}

TEST(a_group_that_the_block_does_not_hold_is_corrupt)
{
    struct locator_shape shape = {1, 1, 16, 32, 2};
    const uint8_t bytes[] = {2, 0, 6, 0, 6, 0}; /* groups 1 and 2 */
    struct colander_slice block = colander_slice_of(bytes, sizeof(bytes));

    for (uint64_t group = 0; group < 4; group++) {
        struct locator_answer answer = {0, 0};
        bool is_there = group == 1 || group == 2;

        assert_int_equal(
            locator_find(&shape, block, 1, group << 62, 0, NULL, &answer, NULL),
            is_there ? COLANDER_OK : COLANDER_CORRUPT);
    }
}

/* A block of one group, written as bits, lowest first. Spaces are for
 * readability; a bar fills a byte with zeros. */
struct crafted {
    const char *bits;
    enum colander_code found;   /* by a lookup of hash 0 for its rows */
    enum colander_code counted; /* without its rows */
};

static size_t
craft(const struct crafted *crafted, uint8_t *bytes)
{
    size_t bit = 32;

    memset(bytes, 0, 40);
    bytes[0] = 1; /* the first group */
    bytes[2] = 4; /* first byte */
    for (const char *at = crafted->bits; *at != 0; at++) {
        if (*at == '|')
            bit = (bit + 7) / 8 * 8;
        if (*at != '0' && *at != '1')
            continue;
        bytes[bit / 8] |= (uint8_t)((*at == '1') << bit % 8);
        bit++;
    }
    return (bit + 7) / 8;
}

/* Kinds 129, 130 and 131, in gamma: 7 zeros and a one, the 7 lower bits. */
#define LONG "00000001 1000000"
#define EVERYWHERE "00000001 0100000"
#define NO_KIND "00000001 1100000"

TEST(what_no_builder_writes_is_corrupt)
{
    /* 20 units, or 10; a gap is unary. Each value: gap, tag, kind, list. */
    const struct locator_shape shape = {20, 1, 2, 4, 0};
    const enum colander_code fine = COLANDER_OK;
    const enum colander_code bad = COLANDER_CORRUPT;
    const struct crafted cases[] = {
        {"1 0000 1 0111 1", fine, fine},
        {"1 0000 010 1 01111 100", fine, fine},   /* units 17 and 18 */
        {"1 0000 010 1 11111 100", bad, fine},    /* 19 and 20: none */
        {"1 0000 010 1 01111 1", bad, bad},       /* the second is truncated */
        {"1 0000 010 00100 01111 100", bad, bad}, /* parameter below 0 */
        {"1 0000 000010010 1 0000 1111111111111111111", fine, fine},
        {"1 0000 000011010 1 0000 11111111111111111111", bad, fine}, /* 21 */
        {"1 0000 " EVERYWHERE, fine, fine},
        {"1 0000 " NO_KIND, bad, bad},
        {"1 1000 " NO_KIND " 1 0000 1 0111 1", bad, bad},
        {"1 1000 " EVERYWHERE " 1 0000 1 0111 1", fine, fine},
        {"1 0001 1 0111 1 | 00000000", bad, bad}, /* more padding than a byte */
        {"0000000000000000 1 0000 1 0111 1", bad, bad}, /* gap 16 of 0 to 15 */
        {"0000000001 0001 1 0111 1 0000000001 0000 1 0111 1", fine, fine},
        /* Long lists: length, then whether a bitmap, units, more rows. */
        {"1 0000 " LONG " 010 | 0 0 1 010 110 |", fine, fine},
        {"1 0000 " LONG " 0000001001001", bad, bad}, /* beyond the group */
        {"1 0000 " LONG " 010 | 0 0 1 000011111 110 |", bad, bad}, /* 31 rows */
        {"1 0000 " LONG " 010 | 1 0 0001110 1 |", bad,
         bad},                                           /* 11 units of 10 */
        {"1 0000 " LONG " 1 | 1 0 010 1 11", bad, fine}, /* bits for 2 */
        {"1 0000 " LONG " 010 | 1 0 010 1 1100000000 |", fine, fine},
        {"1 0000 " LONG " 010 | 1 0 010 1 1110000000 |", bad, fine}, /* not 2 */
        {"1 0000 " LONG " 010 | 0 1 010 1 1 1100 1 00 |", fine, fine},
        {"1 0000 " LONG " 010 | 0 1 000011010 1 |", bad, bad}, /* 21 of 20 */
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        uint8_t bytes[40];
        struct colander_slice block =
            colander_slice_of(bytes, craft(&cases[i], bytes));
        SCOPED_RANGES ranges = ROW_RANGES_EMPTY;
        struct locator_answer answer = {0, 0};
        enum colander_code found =
            locator_find(&shape, block, 0, 0, 0, &ranges, &answer, NULL);
        enum colander_code counted =
            locator_find(&shape, block, 0, 0, 0, NULL, &answer, NULL);

        if (found != cases[i].found || counted != cases[i].counted)
            fail_msg("case %zu: found %s, counted %s", i,
                     colander_code_name(found), colander_code_name(counted));
    }
}

TEST(hashes_beyond_their_group_are_corrupt)
{
    const struct locator_shape shape = {20, 1, 2, 4, 0};
    const struct crafted twice = {
        "0000000001 0000 1 0111 1 0000000001 0000 1 0111 1", 0, 0};
    const uint8_t two_groups[] = {2, 0, 6, 0, 6, 0};
    struct seen seen = {0, 0};
    uint8_t bytes[40];
    size_t size = craft(&twice, bytes);

    FAILS(locator_hashes(&shape, colander_slice_of(bytes, size), 0, see_hash,
                         &seen, NULL),
          COLANDER_CORRUPT);
    assert_int_equal(seen.count, 1);
    FAILS(locator_hashes(&shape,
                         colander_slice_of(two_groups, sizeof(two_groups)), 0,
                         see_hash, &seen, NULL),
          COLANDER_CORRUPT);
}

TEST(groups_that_are_not_in_their_block_are_corrupt)
{
    const struct locator_shape shape = {20, 1, 2, 5, 1};
    /* Groups of one value, {1, 0000, 1, 0111 1}: the head has their places. */
    const uint8_t heads[][8] = {
        {2, 0, 6, 0, 200, 0, 0xA1, 0x07}, /* the first ends after the block */
        {2, 0, 8, 0, 6, 0, 0xA1, 0x07},   /* before it begins */
        {2, 0, 5, 0, 8, 0, 0xA1, 0x07},   /* it begins in the head */
        {2, 0, 9, 0, 9, 0, 0xA1, 0x07},   /* after the block */
    };
    const uint8_t sound[] = {2, 0, 6, 0, 8, 0, 0xA1, 0x07};
    struct locator_answer answer = {0, 0};

    for (size_t i = 0; i < COUNT(heads); i++)
        FAILS(locator_find(&shape,
                           colander_slice_of(heads[i], sizeof(heads[i])), 0, 0,
                           0, NULL, &answer, NULL),
              COLANDER_CORRUPT);
    OK(locator_find(&shape, colander_slice_of(sound, sizeof(sound)), 0, 0, 0,
                    NULL, &answer, NULL));
    assert_int_equal(answer.rows, 1);
}
