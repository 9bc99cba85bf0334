/*
 * Keys that split a family into ranges, and its files by level.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/engine.h"
#include "support/engine_fixture.h"
#include "support/random.h"
#include "support/scoped.h"

#define KEYS 9

struct family_fixture {
    struct fixture *store;
    struct engine_family *family;
    struct colander_buffer keys[KEYS];
    size_t found;
};

/* Puts keys "<lead><number>" with numbers from `first` up to but not including
 * `end`, and values of `size` bytes. */
static void
fill(struct family_fixture *fixture, const char *lead, unsigned first,
     unsigned end, size_t size)
{
    SCOPED_ENGINE_BATCH batch = NULL;
    uint64_t random = random_seed("spread");
    uint8_t value[1000];

    OK(engine_batch_create(fixture->store->engine, false, &batch, NULL));
    for (unsigned i = first; i < end; i++) {
        char key[100];
        struct colander_slice slice;

        for (size_t k = 0; k < size; k++) /* does not compress */
            value[k] = (uint8_t)random_next(&random);
        snprintf(key, sizeof(key), "%s%06u", lead, i);
        slice = colander_slice_text(key);
        OK(engine_batch_put(batch, fixture->family, slice,
                            colander_slice_of(value, size), NULL));
    }
    OK(engine_batch_write(batch, COLANDER_AS_STORE, NULL));
}

static void
flush(struct family_fixture *fixture)
{
    OK(engine_family_flush(fixture->family, NULL));
}

static void
spread(struct family_fixture *fixture, size_t count)
{
    OK(engine_family_split_keys(fixture->family, fixture->keys, count,
                                &fixture->found, NULL));
}

/* Returns the number in a key that was found. */
static unsigned
number(const struct family_fixture *fixture, size_t index, const char *lead)
{
    const struct colander_buffer *key = &fixture->keys[index];
    char digits[7] = "";

    assert_int_equal(key->size, strlen(lead) + 6);
    assert_memory_equal(key->data, lead, strlen(lead));
    memcpy(digits, key->data + strlen(lead), 6);
    return (unsigned)strtoul(digits, NULL, 10);
}

/* Nine keys split 10,000 into approximate tenths. */
static void
assert_tenths(const struct family_fixture *fixture, const char *lead)
{
    assert_int_equal(fixture->found, KEYS);
    for (size_t i = 0; i < KEYS; i++)
        assert_in_range(number(fixture, i, lead), 1000 * (i + 1) - 500,
                        1000 * (i + 1) + 500);
}

static int
open_family(void **state)
{
    struct family_fixture *fixture = calloc(1, sizeof(*fixture));

    ZERO(setup(state));
    fixture->store = *state;
    *state = fixture;
    OK(open_with(fixture->store, NULL, NULL));
    fixture->family = family_of(fixture->store, "f");
    return 0;
}

static int
close_family(void **state)
{
    struct family_fixture *fixture = *state;

    for (size_t i = 0; i < KEYS; i++)
        colander_buffer_release(&fixture->keys[i]);
    *state = fixture->store;
    free(fixture);
    return teardown(state);
}

#define FAMILY_TEST(name)                                                      \
    TEST_WITH(struct family_fixture *fixture, name, open_family, close_family)

FAMILY_TEST(keys_in_files_are_parted_evenly)
{
    fill(fixture, "a long lead that all keys have, ", 0, 10000, 100);
    flush(fixture);
    spread(fixture, KEYS);
    assert_tenths(fixture, "a long lead that all keys have, ");
}

FAMILY_TEST(keys_in_many_files_are_parted_evenly)
{
    for (unsigned i = 0; i < 5; i++) {
        fill(fixture, "k", i * 2000, (i + 1) * 2000, 100);
        flush(fixture);
    }
    spread(fixture, KEYS);
    assert_tenths(fixture, "k");
}

/* The memtable gives only a rough estimate of its keys: some, or none. */
FAMILY_TEST(keys_in_no_file_are_parted_in_order)
{
    fill(fixture, "k", 0, 10000, 100);
    spread(fixture, KEYS);
    for (size_t i = 1; i < fixture->found; i++)
        assert_true(number(fixture, i, "k") > number(fixture, i - 1, "k"));
}

FAMILY_TEST(places_go_by_bytes)
{
    fill(fixture, "k", 0, 9000, 20);
    fill(fixture, "k", 9000, 10000, 1000);
    flush(fixture);
    spread(fixture, 1);
    assert_int_equal(fixture->found, 1);
    assert_in_range(number(fixture, 0, "k"), 9000, 9999);
}

FAMILY_TEST(few_keys_and_none_are_not_parted)
{
    spread(fixture, KEYS);
    assert_int_equal(fixture->found, 0);
    fill(fixture, "k", 0, 1, 10);
    flush(fixture);
    spread(fixture, KEYS);
    assert_int_equal(fixture->found, 0);
    spread(fixture, 0);
    assert_int_equal(fixture->found, 0);
}

FAMILY_TEST(sizes_have_the_files_of_each_level)
{
    struct colander_family_sizes sizes;
    uint64_t count = 0;
    uint64_t size = 0;

    fill(fixture, "k", 0, 100, 100);
    OK(engine_family_compact(fixture->family, NULL));
    fill(fixture, "k", 50, 200, 100);
    flush(fixture);
    OK(engine_family_sizes(fixture->family, &sizes, NULL));
    for (int i = 0; i < COLANDER_LEVELS_MAX; i++) {
        count += sizes.levels[i].sst_count;
        size += sizes.levels[i].sst_size;
    }
    assert_int_equal(sizes.sst_count, 2);
    assert_int_equal(count, 2);
    assert_int_equal(size, sizes.sst_size);
    assert_int_equal(sizes.levels[0].sst_count, 1);
}
