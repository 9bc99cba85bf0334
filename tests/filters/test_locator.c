/*
 * Locators, compared with the entries from which they were built.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/locators.h"
#include "support/cases.h"
#include "support/scoped.h"

#define CUT (64 - LOCATOR_HASH_BITS)

static bool
ranges_hold(const struct row_ranges *ranges, uint32_t row)
{
    size_t low = 0;
    size_t high = ranges->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ranges->ranges[middle].end <= row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ranges->count && ranges->ranges[low].first <= row;
}

/* --------------------------------------------------------------- model --- */

/* The rows of one (hash, tag) in the entries: `has` is by row, *rows is their
 * number. */
static void
model_rows(const struct entries *entries, unsigned hash_bits, uint64_t hash,
           unsigned tag, bool *has, uint32_t *rows)
{
    uint64_t cut = hash >> (64 - hash_bits) << (64 - hash_bits);
    size_t low = 0;
    size_t high = entries->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (entries->words[middle] < cut)
            low = middle + 1;
        else
            high = middle;
    }
    *rows = 0;
    for (; low < entries->count; low++) {
        uint64_t word = entries->words[low];
        uint32_t row = word & (LOCATOR_UNIT_MAX - 1);

        if (word >> (64 - hash_bits) != hash >> (64 - hash_bits))
            break;
        if ((word >> LOCATOR_ROW_BITS & (LOCATOR_TAGS - 1)) != tag || has[row])
            continue;
        has[row] = true;
        ++*rows;
    }
}

/* Adds to `found` the rows of each unit that has one. Returns their number. */
static uint32_t
model_units(const struct locator_shape *shape, uint32_t unit_rows,
            const bool *has, bool *found)
{
    uint32_t units = 0;

    for (uint32_t first = 0; first < shape->row_count; first += unit_rows) {
        uint32_t end = shape->row_count - first < unit_rows ? shape->row_count
                                                            : first + unit_rows;
        bool any = false;

        for (uint32_t row = first; row < end; row++)
            any |= has[row];
        units += any;
        if (any && found != NULL)
            memset(found + first, true, end - first);
    }
    return units;
}

/* What a lookup must find for one tag; adds rows to `found`. */
static void
model_find(const struct locator_shape *shape, const struct entries *entries,
           uint64_t hash, unsigned tag, bool *found,
           struct locator_answer *answer)
{
    SCOPED_MEMORY bool *has = calloc(shape->row_count, sizeof(*has));
    uint64_t all = (shape->row_count - 1) / shape->coarse + 1;
    uint64_t units;
    uint64_t coarse;
    uint64_t fine = (shape->row_count - 1) / shape->fine + 1;
    uint32_t rows;

    assert_non_null(has);
    model_rows(entries, shape->hash_bits, hash, tag, has, &rows);
    units = model_units(shape, shape->fine, has, NULL);
    coarse = model_units(shape, shape->coarse, has, NULL);
    if (units <= LOCATOR_SHORT_MAX) {
        model_units(shape, shape->fine, has, found);
        answer->units += units;
        answer->rows += units * shape->fine < shape->row_count
                            ? units * shape->fine
                            : shape->row_count;
    } else if (shape->fine < shape->coarse && units <= fine / LOCATOR_COMMON) {
        answer->units += model_units(shape, shape->fine, has, found);
        answer->rows += rows;
    } else if (coarse * 8 >= all * 7) {
        memset(found, true, shape->row_count);
        answer->units += all;
        answer->rows += shape->row_count;
    } else {
        answer->units += model_units(shape, shape->coarse, has, found);
        answer->rows += rows;
    }
}

/* Asserts that a lookup finds exactly what the model finds. */
static void
assert_found(const struct locator *locator, const struct entries *entries,
             uint64_t hash, unsigned tag)
{
    uint32_t row_count = locator->shape.row_count;
    SCOPED_RANGES ranges = ROW_RANGES_EMPTY;
    struct locator_answer answer;
    struct locator_answer counted;
    struct locator_answer expected = {0, 0};
    SCOPED_MEMORY bool *found = calloc(row_count, sizeof(*found));
    uint64_t rows = 0;

    assert_non_null(found);
    for (unsigned each = 0; each < LOCATOR_TAGS; each++)
        if (tag == LOCATOR_TAG_ANY || tag == each)
            model_find(&locator->shape, entries, hash, each, found, &expected);
    look_up(locator, hash, tag, &ranges, &answer);
    look_up(locator, hash, tag, NULL, &counted);
    assert_ranges_are_sound(&ranges, row_count);
    for (uint32_t row = 0; row < row_count; row++) {
        if (found[row])
            assert_true(ranges_hold(&ranges, row));
        rows += found[row];
    }
    assert_int_equal(row_ranges_rows(&ranges), rows);
    assert_int_equal(answer.rows, expected.rows);
    assert_int_equal(answer.units, expected.units);
    assert_int_equal(counted.rows, expected.rows);
    assert_int_equal(counted.units, expected.units);
}

/* ------------------------------------------------------ random entries --- */

/* Fills a column: unique, skewed, few values, in runs, or in few rows. */
static void
add_column(struct entries *entries, uint64_t column, uint32_t row_count,
           uint64_t *random)
{
    uint64_t values = PICK(random, 1, 2, 3, 10, 30, 100, 1000, UINT64_MAX);
    uint64_t run = PICK(random, 1, 1, 1, 4, 100);
    uint64_t presence = PICK(random, 1, 1, 2, 50);
    bool is_skewed = random_below(random, 2) == 0;
    unsigned tag = (unsigned)random_below(random, LOCATOR_TAGS);
    uint64_t value = 0;

    for (uint32_t row = 0; row < row_count; row++) {
        if (random_below(random, run) == 0)
            value = random_below(random, values);
        if (is_skewed && random_below(random, 3) != 0)
            value = random_below(random, 1 + value / 7);
        if (random_below(random, presence) != 0)
            continue;
        entries_add(entries, hash_of(column, value), tag, row);
        if (random_below(random, 20) == 0)
            entries_add(entries, hash_of(column, value), tag, row);
    }
}

static struct entries
random_entries(uint64_t *random, uint32_t row_count)
{
    struct entries entries = {NULL, 0, 0};
    uint64_t columns = 1 + random_below(random, 4);

    for (uint64_t column = 0; column < columns; column++)
        add_column(&entries, column, row_count, random);
    return entries;
}

/* --------------------------------------------------------------- tests --- */

TEST(lookups_find_what_the_entries_say)
{
    uint64_t random = random_seed("locator");

    for (uint64_t run = 0; run < random_runs(300); run++) {
        struct locator_shape shape = random_shape(&random, 5000);
        struct entries entries = random_entries(&random, shape.row_count);
        SCOPED_LOCATOR locator;

        shape.group_bits = (uint8_t)random_below(
            &random, 1 + (shape.hash_bits < 12u ? shape.hash_bits : 12u));
        locator = locator_of(shape, random_below(&random, 3) > 0, &entries);
        for (size_t i = 0; i < 40 && entries.count > 0; i++) {
            uint64_t word = entries.words[random_below(&random, entries.count)];
            /* The bits cut off a hash do not matter. */
            uint64_t hash = word ^ random_below(&random, 1u << CUT);
            unsigned tag = (unsigned)(word >> LOCATOR_ROW_BITS) % LOCATOR_TAGS;

            assert_found(&locator, &entries, hash, tag);
            assert_found(&locator, &entries, hash, LOCATOR_TAG_ANY);
            assert_found(&locator, &entries, hash, (tag + 1) % LOCATOR_TAGS);
            assert_found(&locator, &entries, hash ^ UINT64_C(1) << 63, tag);
            assert_found(&locator, &entries, random_next(&random),
                         LOCATOR_TAG_ANY);
        }
    }
}

/* A filter must never miss an entry (I1), even in the largest part. */
TEST(no_entry_of_the_largest_part_is_denied)
{
    struct locator_shape shape = {LOCATOR_ROWS_MAX, 1, 16, 32, 0};
    struct entries entries = {NULL, 0, 0};
    SCOPED_RANGES ranges = ROW_RANGES_EMPTY;
    struct locator_answer answer;
    SCOPED_LOCATOR locator;
    uint64_t random = random_seed("largest locator");
    uint64_t last = 0;

    for (uint32_t row = 0; row < shape.row_count; row++) {
        uint64_t value = random_below(&random, 40) < 39
                             ? random_below(&random, 1u << 20)
                             : random_below(&random, 3000);

        entries_add(&entries, hash_of(1, value), (unsigned)(value % 16), row);
        if (row % 3 == 0)
            entries_add(&entries, hash_of(2, row % 9), 5, row);
    }
    locator = locator_of(shape, true, &entries);
    for (size_t i = 0; i < entries.count; i++) {
        uint64_t word = entries.words[i];
        unsigned tag = (unsigned)(word >> LOCATOR_ROW_BITS) % LOCATOR_TAGS;

        if (i == 0 || word >> LOCATOR_ROW_BITS != last) {
            row_ranges_clear(&ranges);
            look_up(&locator, word, tag, &ranges, &answer);
            assert_ranges_are_sound(&ranges, shape.row_count);
        }
        last = word >> LOCATOR_ROW_BITS;
        assert_true(ranges_hold(&ranges, word & (LOCATOR_UNIT_MAX - 1)));
    }
}

/* Clusters are coded with short gaps, so a long gap takes many bits. */
TEST(clusters_are_found_however_far_apart)
{
    struct locator_shape shape = {12000, 1, 1, 32, 0};

    for (uint32_t gap = 1; gap < 9000; gap = gap * 25 / 24 + 1) {
        struct entries entries = {NULL, 0, 0};
        SCOPED_LOCATOR locator;

        for (uint32_t row = 0; row < 600; row++)
            entries_add(&entries, hash_of(0, 1), 3, gap / 9 + row);
        entries_add(&entries, hash_of(0, 1), 3, gap / 9 + 600 + gap);
        locator = locator_of(shape, true, &entries);
        assert_found(&locator, &entries, hash_of(0, 1), 3);
    }
}

/* Lists just below and above the longest short one, in one group, with units as
 * far apart and as large as possible. */
TEST(the_longest_short_lists_are_found)
{
    struct locator_shape shape = {LOCATOR_ROWS_MAX, 1, 16, 32, 0};
    struct entries entries = {NULL, 0, 0};
    SCOPED_LOCATOR locator;
    uint64_t random = random_seed("longest short lists");

    for (uint32_t value = 0; value < 12; value++) {
        uint32_t count = LOCATOR_SHORT_MAX - 1 + value % 3;
        uint32_t step = shape.row_count / count;

        for (uint32_t i = 0; i < count; i++)
            entries_add(&entries, hash_of(0, value), 3,
                        i * step + (uint32_t)random_below(&random, step));
    }
    locator = locator_of(shape, true, &entries);
    assert_int_equal(locator.shape.group_bits, 0);
    for (uint32_t value = 0; value < 12; value++)
        assert_found(&locator, &entries, hash_of(0, value), 3);
}

TEST(a_lookup_adds_to_rows_that_were_found_before)
{
    struct locator_shape shape = {100, 1, 16, 32, 0};
    struct entries entries = {NULL, 0, 0};
    SCOPED_RANGES ranges = ROW_RANGES_EMPTY;
    struct locator_answer answer;
    SCOPED_LOCATOR locator;

    entries_add(&entries, hash_of(0, 1), 3, 20);
    entries_add(&entries, hash_of(0, 1), 3, 50);
    entries_add(&entries, hash_of(0, 1), 7, 10);
    locator = locator_of(shape, true, &entries);
    OK(row_ranges_add(&ranges, 30, 50, NULL));
    OK(row_ranges_add(&ranges, 60, 61, NULL));
    look_up(&locator, hash_of(0, 1), LOCATOR_TAG_ANY, &ranges, &answer);
    assert_int_equal(answer.rows, 3);
    assert_int_equal(ranges.count, 4);
    assert_int_equal(ranges.ranges[0].first, 10);
    assert_int_equal(ranges.ranges[1].first, 20);
    assert_int_equal(ranges.ranges[2].first, 30);
    assert_int_equal(ranges.ranges[2].end, 51);
    assert_int_equal(ranges.ranges[3].first, 60);
}

/* One in 2^(hash_bits) / count random hashes is found. */
TEST(absent_hashes_are_found_as_rarely_as_the_bits_promise)
{
    const uint64_t lookups = 100000;
    struct locator_shape shape = {4096, 1, 16, 18, 0};
    struct entries entries = {NULL, 0, 0};
    SCOPED_LOCATOR locator;
    uint64_t random = random_seed("absent");
    uint64_t found = 0;
    uint64_t expected;

    for (uint32_t row = 0; row < shape.row_count; row++)
        entries_add(&entries, random_next(&random), 0, row);
    locator = locator_of(shape, true, &entries);
    for (uint64_t i = 0; i < lookups; i++) {
        struct locator_answer answer;

        look_up(&locator, random_next(&random), LOCATOR_TAG_ANY, NULL, &answer);
        found += answer.rows > 0;
    }
    expected = lookups * shape.row_count >> shape.hash_bits;
    assert_true(found > expected * 3 / 4 && found < expected * 5 / 4);
}

struct visited {
    const struct entries *entries;
    unsigned hash_bits;
    size_t next; /* the first entry of a hash that was not visited yet */
};

static void
visit_in_order(void *context, uint64_t hash)
{
    struct visited *visited = context;
    const struct entries *entries = visited->entries;
    unsigned cut = 64 - visited->hash_bits;

    assert_true(visited->next < entries->count);
    assert_true(entries->words[visited->next] >> cut << cut == hash);
    while (visited->next < entries->count &&
           entries->words[visited->next] >> cut << cut == hash)
        visited->next++;
}

TEST(hashes_are_those_of_the_entries_each_once)
{
    uint64_t random = random_seed("hashes");

    for (uint64_t run = 0; run < random_runs(300); run++) {
        struct locator_shape shape = random_shape(&random, 5000);
        struct entries entries = random_entries(&random, shape.row_count);
        SCOPED_LOCATOR locator = locator_of(shape, true, &entries);
        struct visited visited = {&entries, locator.shape.hash_bits, 0};

        for (size_t i = 0; i < locator.count; i++)
            OK(locator_hashes(&locator.shape, locator.blocks[i].bytes,
                              locator.blocks[i].first_group, visit_in_order,
                              &visited, NULL));
        assert_int_equal(visited.next, entries.count);
    }
}

TEST(groups_have_eight_to_sixteen_hashes)
{
    struct locator_shape shape = {1, 1, 16, 20, 99};

    for (uint64_t count = 0; count < 16; count++) {
        locator_shape_fit(&shape, count);
        assert_int_equal(shape.group_bits, 0);
    }
    for (uint64_t count = 16; count < (UINT64_C(1) << 31); count += count / 3) {
        locator_shape_fit(&shape, count);
        assert_true(count >> shape.group_bits >= 8);
        assert_true(count >> shape.group_bits < 16);
        assert_true(shape.hash_bits >= shape.group_bits);
    }
    locator_shape_fit(&shape, UINT64_MAX);
    assert_true(locator_shape_is_sound(&shape));
    shape.hash_bits = 0;
    locator_shape_fit(&shape, 3);
    assert_true(locator_shape_is_sound(&shape));
}

TEST(blocks_follow_each_other_and_end_when_full)
{
    struct locator_shape shape = {1 << 16, 1, 16, 32, 0};
    struct entries entries = {NULL, 0, 0};
    SCOPED_LOCATOR locator;
    uint64_t groups = 0;

    for (uint32_t row = 0; row < shape.row_count; row++)
        entries_add(&entries, hash_of(0, row % 50000), 0, row);
    locator = locator_of(shape, true, &entries);
    assert_true(locator.count > 10);
    for (size_t i = 0; i < locator.count; i++) {
        struct colander_slice bytes = locator.blocks[i].bytes;

        assert_int_equal(locator.blocks[i].first_group, groups);
        assert_true(bytes.size < LOCATOR_BLOCK_SIZE + 200);
        if (i + 1 < locator.count)
            assert_true(bytes.size >= LOCATOR_BLOCK_SIZE);
        groups += bytes.data[0] + bytes.data[1] * 256u;
    }
    assert_int_equal(groups, 1u << locator.shape.group_bits);
}

TEST(rows_that_were_left_out_are_found_by_their_units)
{
    struct locator_shape shape = {100000, 1, 16, 32, 0};
    SCOPED_RANGES ranges = ROW_RANGES_EMPTY;
    struct entries entries = {NULL, 0, 0};
    struct locator_answer answer;
    SCOPED_LOCATOR locator;

    /* rows 4, 5 and 6 of some units, but only the first was noted: too few for
     * coarse units if that were not known */
    for (uint32_t unit = 0; unit < 150; unit++)
        entries_add(&entries, hash_of(0, 1), 3, unit * 640 + 4);
    entries_add(&entries, hash_of(0, 1), 3, LOCATOR_ROWS_OMITTED);
    entries_add(&entries, hash_of(0, 2), 3, 77);
    locator = locator_of(shape, true, &entries);
    look_up(&locator, hash_of(0, 1), 3, &ranges, &answer);
    assert_ranges_are_sound(&ranges, shape.row_count);
    assert_int_equal(ranges.count, 150);
    for (uint32_t unit = 0; unit < 150; unit++) {
        assert_int_equal(ranges.ranges[unit].first, unit * 640);
        assert_int_equal(ranges.ranges[unit].end, unit * 640 + 16);
    }
}

TEST(a_failure_of_the_sink_ends_the_build)
{
    struct locator_shape shape = {1 << 16, 1, 16, 32, 0};
    struct entries entries = {NULL, 0, 0};
    SCOPED_LOCATOR locator = {.entries = &entries, .blocks_left = 3};

    for (uint32_t row = 0; row < shape.row_count; row++)
        entries_add(&entries, hash_of(0, row), 0, row);
    entries_sort(&entries, shape.hash_bits);
    locator_shape_fit(&shape, entries.count);
    FAILS(locator_build(&shape, entries.words, entries.count, keep_block,
                        &locator, why()),
          COLANDER_IO);
    assert_string_equal(error_text(), "no more blocks");
    assert_int_equal(locator.count, 3);
}

TEST(a_locator_of_nothing_finds_nothing)
{
    struct locator_shape shape = {1, 1, 16, 32, 3};
    struct entries entries = {NULL, 0, 0};
    SCOPED_LOCATOR locator = locator_of(shape, false, &entries);

    assert_int_equal(locator.count, 1);
    assert_found(&locator, &entries, 0, LOCATOR_TAG_ANY);
    assert_found(&locator, &entries, UINT64_MAX, 0);
}

/* -------------------------------------------------------- golden bytes --- */

/* The example of filters/FORMAT.md. */
TEST(blocks_keep_their_bytes)
{
    const uint8_t golden[] = {
        0x02, 0x00, 0x06, 0x00, 0x17, 0x00,             /* head */
        0xb0, 0x53, 0x09, 0x91, 0x28, 0xc4, 0x01, 0xff, /* group 0 */
        0x25, 0x00, 0x06, 0x18,                         /* end of group 0 */
        0x10, 0xc0, 0x89, 0xc5, 0x01,                   /* its list */
        0x00, 0xf1, 0x80, 0x01, 0x0e, 0xf8, 0x07, 0x14, /* group 1 */
        0x00,                                           /* end of group 1 */
        0xe1, 0x01, 0x55, 0xb5, 0x0c, 0xb1, 0xd2,       /* its list */
    };
    const struct locator_shape shape = {2000, 1, 64, 8, 1};
    const uint32_t bitmap = 0xd2b10cb5;
    struct entries entries = {NULL, 0, 0};
    SCOPED_LOCATOR locator;

    entries_add(&entries, UINT64_C(0x25) << 56, 3, 100); /* one row */
    for (uint32_t row = 7; row < 17; row++)              /* a cluster */
        entries_add(&entries, UINT64_C(0x25) << 56, 9, row);
    for (uint32_t row = 300; row < 450; row++) /* a long list: gaps */
        entries_add(&entries, UINT64_C(0x31) << 56, 0, row);
    for (uint32_t row = 0; row < 2000; row += 5) {
        if ((bitmap >> row / 64 & 1) != 0) /* a bitmap */
            entries_add(&entries, UINT64_C(0xc0) << 56, 15, row);
        entries_add(&entries, UINT64_C(0xff) << 56, 15, row); /* in all rows */
    }
    locator = locator_of(shape, false, &entries);
    assert_int_equal(locator.count, 1);
    assert_int_equal(locator.blocks[0].bytes.size, sizeof(golden));
    assert_memory_equal(locator.blocks[0].bytes.data, golden, sizeof(golden));
}
