/*
 * Entry lists: the sorted contents, compared with all that was added.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/build/entry_list.h"

#include "support/cases.h"
#include "support/random.h"
#include "support/scoped.h"

#include <stdio.h>
#include <stdlib.h>

#define ROWS 60000
#define COARSE 16
#define FREQUENT 8 /* values that every row may have */

struct added {
    uint64_t entries[ROWS * (FREQUENT + 2)];
    size_t count;
};

static uint64_t
hash_of(uint64_t number)
{
    return (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static void
add(struct entry_list *list, struct added *added, unsigned hash_bits,
    uint64_t hash, unsigned tag, uint32_t row)
{
    uint64_t kept = hash >> (64 - hash_bits) << (64 - hash_bits);

    added->entries[added->count++] = locator_entry(kept, tag, row);
    OK(entry_list_add(list, hash, tag, row, NULL));
}

/* In three columns, value i is in about every (i^3 + 1)th row. The other values
 * are in one row each. */
static void
fill(struct entry_list *list, struct added *added, unsigned hash_bits,
     uint64_t *random)
{
    added->count = 0;
    for (uint32_t row = 0; row < ROWS; row++) {
        for (uint64_t i = 0; i < FREQUENT; i++) {
            if (random_below(random, i * i * i + 1) == 0)
                add(list, added, hash_bits, hash_of(i),
                    (unsigned)random_below(random, 3) * 5, row);
        }
        add(list, added, hash_bits, hash_of(1000 + row), 3, row);
        add(list, added, hash_bits, hash_of(1000 + row), 3, row);
    }
}

/* Returns whether the sorted list has an entry from `first` to `last`. */
static bool
has_between(const struct entry_list *list, uint64_t first, uint64_t last)
{
    size_t low = 0;
    size_t high = list->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (list->entries[middle] < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && list->entries[low] <= last;
}

/* Checks each row, or each unit if the value's list is incomplete. */
static void
assert_list_has_all(const struct entry_list *list, const struct added *added)
{
    for (size_t i = 1; i < list->count; i++)
        assert_true(list->entries[i - 1] < list->entries[i]);
    for (size_t i = 0; i < added->count; i++) {
        uint64_t entry = added->entries[i];
        uint64_t unit = entry / COARSE * COARSE;

        if (has_between(list, entry, entry))
            continue;
        assert_true(has_between(list, unit, entry - 1));
        entry |= LOCATOR_ROWS_OMITTED;
        assert_true(has_between(list, entry, entry));
    }
}

TEST(a_sorted_list_has_every_row_or_the_unit_of_a_frequent_value)
{
    static const unsigned hash_bits[] = {16, 24, 32, 33, 40};
    SCOPED_MEMORY struct added *added = malloc(sizeof(*added));
    uint64_t random = random_seed("entry_list");

    for (size_t i = 0; i < COUNT(hash_bits); i++) {
        struct entry_list list;

        OK(entry_list_init(&list, hash_bits[i], COARSE, NULL));
        for (unsigned part = 0; part < 2; part++) {
            fill(&list, added, hash_bits[i], &random);
            OK(entry_list_sort(&list, NULL));
            assert_true(list.count < added->count - ROWS / 2 * 3);
            assert_list_has_all(&list, added);
            entry_list_clear(&list);
        }
        entry_list_release(&list);
    }
}

/* Each row has another value, too, which may take its place. */
TEST(a_value_is_frequent_if_many_of_the_rows_so_far_have_it)
{
    const uint32_t row_count = 100000;
    const uint32_t listed_max = row_count / LOCATOR_COMMON;
    struct entry_list list;
    size_t late = 0;

    assert_int_equal(entry_list_init(&list, 40, COARSE, NULL), COLANDER_OK);
    for (uint32_t row = 0; row < row_count; row++) {
        OK(entry_list_add(&list, hash_of(1000 + row), 0, row, NULL));
        if (row < 3000)
            OK(entry_list_add(&list, hash_of(1), 0, row, NULL));
        if (row >= 20000)
            OK(entry_list_add(&list, hash_of(2), 0, row, NULL));
    }
    assert_int_equal(entry_list_sort(&list, NULL), COLANDER_OK);
    assert_int_equal(
        entry_list_rows(&list, hash_of(1), 0, listed_max, UINT64_MAX), 3000);
    for (size_t i = 0; i < list.count; i++)
        late += list.entries[i] >> LOCATOR_ROW_BITS ==
                locator_entry(hash_of(2), 0, 0) >> LOCATOR_ROW_BITS;
    assert_in_range(late, 80000 / COARSE, 80000 / 4);
    entry_list_release(&list);
}

TEST(rows_are_counted_up_to_as_many_as_asked_for)
{
    const uint32_t row_count = 64000;
    const uint32_t listed_max = row_count / LOCATOR_COMMON;
    struct entry_list list;

    assert_int_equal(entry_list_init(&list, 40, COARSE, NULL), COLANDER_OK);
    for (uint32_t row = 0; row < row_count; row += 64) {
        if (row < 6400)
            OK(entry_list_add(&list, hash_of(1), 0, row, NULL));
        OK(entry_list_add(&list, hash_of(2), 0, row, NULL));
        for (uint32_t i = 0; i < 8; i++)
            OK(entry_list_add(&list, hash_of(3), 0, row + i, NULL));
    }
    assert_int_equal(entry_list_sort(&list, NULL), COLANDER_OK);
    assert_int_equal(entry_list_rows(&list, hash_of(1), 0, listed_max, 10), 11);
    assert_int_equal(
        entry_list_rows(&list, hash_of(1), 0, listed_max, UINT64_MAX), 100);
    assert_int_equal(
        entry_list_rows(&list, hash_of(1), 1, listed_max, UINT64_MAX), 0);
    assert_int_equal(
        entry_list_rows(&list, hash_of(2), 0, listed_max, UINT64_MAX), 1000);
    /* longer lists have units */
    assert_int_equal(entry_list_rows(&list, hash_of(2), 0, 999, UINT64_MAX),
                     1000 * COARSE);
    assert_int_equal(
        entry_list_rows(&list, hash_of(3), 0, listed_max, UINT64_MAX),
        1000 * COARSE);
    entry_list_release(&list);
}
