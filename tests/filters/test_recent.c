/*
 * Recent rows: what is found, and what must be removed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/live/recent_chunk.h"
#include "recent_rows.h"
#include "support/cases.h"
#include "support/scoped.h"

/* ------------------------------------------------------------- finding --- */

TEST(a_value_is_found_by_its_tag_or_in_any_column)
{
    SCOPED_RECENT recent = recent_create();
    struct recent_write write = {0};
    const struct recent_value values[] = {{.hash = hash_of(1), .tag = 3},
                                          {.hash = hash_of(2), .tag = 3},
                                          {.hash = hash_of(1), .tag = 15},
                                          {.hash = hash_of(1), .tag = 15}};
    struct recent_view *view;

    OK(recent_add(recent, &write, colander_slice_text("key1"), values, 4,
                  NULL));
    view = recent_view_create(recent);
    assert_int_equal(rows_found(view, hash_of(1), 3), 1);
    assert_int_equal(rows_found(view, hash_of(1), 15), 1);
    assert_int_equal(rows_found(view, hash_of(1), LOCATOR_TAG_ANY), 1);
    assert_int_equal(rows_found(view, hash_of(1), 0), 0);
    assert_int_equal(rows_found(view, hash_of(2), 15), 0);
    assert_int_equal(rows_found(view, hash_of(3), LOCATOR_TAG_ANY), 0);
    recent_view_release(view);
    recent_write_end(&write, false, 0);
    assert_empty(recent);
}

TEST(notes_are_counted_up_to_a_limit)
{
    SCOPED_RECENT recent = recent_create();
    struct recent_write write = {0};
    struct recent_view *view;

    for (uint32_t i = 0; i < 50000; i++) {
        note_one(recent, &write, i, hash_of(7), i % 5);
        note_one(recent, &write, i, hash_of(100 + i), 0);
    }
    assert_true(write.count > 2); /* it spans several chunks */
    view = recent_view_create(recent);
    assert_int_equal(
        recent_count(view, hash_of(7), LOCATOR_TAG_ANY, UINT64_MAX), 50000);
    assert_int_equal(recent_count(view, hash_of(7), 4, UINT64_MAX), 10000);
    assert_int_equal(recent_count(view, hash_of(7), 5, UINT64_MAX), 0);
    assert_int_equal(recent_count(view, hash_of(7), 4, 9999), 9999);
    assert_int_equal(recent_count(view, hash_of(7), 4, 0), 0);
    assert_int_equal(rows_found(view, hash_of(7), 2), 10000);
    recent_view_release(view);
    recent_write_end(&write, false, 0);
}

/* In chunks of all sizes, and several sieves. */
TEST(a_row_is_found_by_the_hash_of_its_key)
{
    enum { ROWS = 800000, STEP = 97 };
    SCOPED_RECENT recent = recent_create();
    struct recent_write write = {0};
    struct recent_view *view;
    unsigned found = 0;

    for (uint32_t i = 0; i < ROWS; i++) {
        const struct recent_value key = {.hash = hash_of(i), .is_key = true};
        uint8_t bytes[9];

        OK(recent_add(recent, &write, key_of(i, bytes, sizeof(bytes)), &key, 1,
                      NULL));
    }
    view = recent_view_create(recent);
    for (uint32_t i = 0; i < ROWS; i += STEP)
        assert_true(recent_has_key(view, hash_of(i)));
    for (uint32_t i = ROWS; i < 2 * ROWS; i += STEP)
        found += recent_has_key(view, hash_of(i));
    assert_int_equal(found, 0);
    recent_write_end(&write, true, 1);
    recent_flushed(recent, 1);
    assert_true(recent_has_key(view, hash_of(0)));
    recent_view_release(view);
    view = recent_view_create(recent);
    assert_false(recent_has_key(view, hash_of(0)));
    recent_view_release(view);
    assert_empty(recent);
}

/* 16 chunks of rows with five values; then few searches for others go on. */
TEST(a_sieve_knows_most_keys_that_it_does_not_have)
{
    enum { KEYS = 100000 };
    const struct recent_sieve_shape shape =
        recent_chunk_sieve(RECENT_SLOT_BITS_MAX);
    struct recent_sieve *sieve = recent_sieve_create(shape);
    unsigned found = 0;

    for (uint32_t i = 0; i < KEYS; i++)
        recent_sieve_add_key(sieve, hash_of(i));
    for (uint32_t i = 0; i < KEYS; i++)
        assert_true(recent_sieve_has_key(sieve, shape, hash_of(i)));
    for (uint32_t i = KEYS; i < 2 * KEYS; i++)
        found += recent_sieve_has_key(sieve, shape, hash_of(i));
    assert_true(found < KEYS / 100);
    (void)recent_sieve_unref(sieve);
}

static enum colander_code
stop_at_third(void *context, struct colander_slice key,
              struct colander_error *err)
{
    (void)key;
    if (++*(uint64_t *)context < 3)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_CANCELLED, "enough");
}

TEST(a_find_stops_where_the_visitor_does)
{
    SCOPED_RECENT recent = recent_create();
    struct recent_write write = {0};
    struct recent_view *view;
    uint64_t count = 0;

    for (uint32_t i = 0; i < 20000; i++)
        note_one(recent, &write, i, hash_of(7), 0);
    view = recent_view_create(recent);
    FAILS(recent_find(view, hash_of(7), 0, stop_at_third, &count, NULL),
          COLANDER_CANCELLED);
    assert_int_equal(count, 3);
    recent_view_release(view);
    recent_write_end(&write, false, 0);
}

/* Some bits of a hash are not kept, and the search for it may begin next to
 * that for another. */
TEST(hashes_too_similar_to_distinguish_are_all_found)
{
    SCOPED_RECENT recent = recent_create();
    struct recent_write write = {0};
    uint64_t hash = hash_of(1);

    for (uint32_t number = 0; number < 3; number++) {
        for (unsigned bit = 0; bit < 64; bit++)
            note_one(recent, &write, number, hash ^ UINT64_C(1) << bit, 1);
        note_one(recent, &write, number, hash, 1);
    }
    for (unsigned bit = 0; bit < 64; bit++)
        assert_true(rows_found_now(recent, hash ^ UINT64_C(1) << bit, 1) >= 3);
    assert_true(rows_found_now(recent, hash, 1) >= 3);
    recent_write_end(&write, false, 0);
}

TEST(thirty_two_bits_distinguish_hashes)
{
    SCOPED_RECENT recent = recent_create();
    struct recent_write write = {0};
    uint64_t hash = hash_of(1);

    note_one(recent, &write, 1, hash, 1);
    for (unsigned bit = 16; bit < 48; bit++)
        assert_int_equal(rows_found_now(recent, hash ^ UINT64_C(1) << bit, 1),
                         0);
    recent_write_end(&write, false, 0);
}

/* ---------------------------------------------------------- large rows --- */

TEST(a_row_of_many_chunks_is_found_by_each_of_its_values)
{
    const size_t count = 100000;
    SCOPED_MEMORY struct recent_value *values = malloc(count * sizeof(*values));
    SCOPED_RECENT recent = recent_create();
    struct recent_write write = {0};
    uint8_t key[2048];
    struct recent_view *view;

    for (size_t i = 0; i < count; i++)
        values[i] = (struct recent_value){.hash = hash_of(i),
                                          .tag = (uint32_t)(i % 16)};
    OK(recent_add(recent, &write, key_of(5, key, sizeof(key)), values, count,
                  NULL));
    assert_int_equal(recent_sizes(recent).row_count, 1);
    assert_true(write.count > 2);
    view = recent_view_create(recent);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(rows_found(view, values[i].hash, values[i].tag), 1);
    recent_view_release(view);
    recent_write_end(&write, true, 10);
    assert_true(recent_sizes(recent).bytes > 0);
    recent_flushed(recent, 10);
    assert_empty(recent);
}

/* The context is the expected key. */
static enum colander_code
expect_key(void *context, struct colander_slice key, struct colander_error *err)
{
    struct colander_slice *expected = context;

    (void)err;
    ASSERT_SAME(key, *expected);
    expected->data = NULL;
    return COLANDER_OK;
}

TEST(keys_of_every_size_come_back_and_longer_ones_are_refused)
{
    static uint8_t bytes[UINT16_MAX + 1];
    const size_t sizes[] = {0, 1, 9, 2048, 9000, 40000, UINT16_MAX};
    const struct recent_value value = {.hash = hash_of(1), .tag = 1};

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 7);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct colander_slice key = colander_slice_of(bytes, sizes[i]);
        SCOPED_RECENT recent = recent_create();
        struct recent_write write = {0};
        struct recent_view *view;

        OK(recent_add(recent, &write, key, &value, 1, NULL));
        assert_true(recent_sizes(recent).bytes < 16384 + sizes[i]);
        view = recent_view_create(recent);
        OK(recent_find(view, value.hash, 1, expect_key, &key, NULL));
        assert_null(key.data);
        key = colander_slice_of(bytes, sizeof(bytes));
        FAILS(recent_add(recent, &write, key, &value, 1, why()),
              COLANDER_LIMIT);
        assert_string_equal(
            error_text(),
            "a key of 65536 bytes is too long for a recent row: at most 65535");
        recent_view_release(view);
        recent_write_end(&write, false, 0);
    }
}

/* ------------------------------------------------------------- removal --- */

TEST(a_flush_may_come_before_the_write_is_over)
{
    SCOPED_RECENT recent = recent_create();
    struct recent_write early = {0};
    struct recent_write late = {0};

    note_one(recent, &early, 1, hash_of(1), 0);
    recent_flushed(recent, 10);
    assert_int_equal(rows_found_now(recent, hash_of(1), 0), 1);
    recent_write_end(&early, true, 10);
    assert_empty(recent);

    /* flushes may be reported in any order */
    note_one(recent, &early, 1, hash_of(1), 0);
    recent_flushed(recent, 14);
    recent_flushed(recent, 12);
    recent_write_end(&early, true, 14);
    assert_empty(recent);

    /* another write continues the chunk, and ends after the flush */
    note_one(recent, &early, 2, hash_of(2), 0);
    note_one(recent, &late, 3, hash_of(3), 0);
    recent_flushed(recent, 20);
    recent_write_end(&early, true, 15);
    recent_write_end(&late, true, 21);
    assert_int_equal(rows_found_now(recent, hash_of(3), 0), 1);
    recent_flushed(recent, 20);
    assert_int_equal(recent_sizes(recent).row_count, 2);
    recent_flushed(recent, 21);
    assert_empty(recent);
}

TEST(a_view_keeps_what_a_flush_drops)
{
    SCOPED_RECENT recent = recent_create();
    struct recent_view *view;

    put_one(recent, 1, hash_of(1), 5);
    view = recent_view_create(recent);
    recent_flushed(recent, 5);
    assert_int_equal(recent_sizes(recent).row_count, 0);
    put_one(recent, 2, hash_of(1), 6);
    assert_int_equal(rows_found(view, hash_of(1), 0), 1);
    assert_int_equal(rows_found_now(recent, hash_of(1), 0), 1);
    recent_view_release(view);
    recent_flushed(recent, 6);
    assert_empty(recent);
}

TEST(failing_writes_leave_nothing_however_many)
{
    SCOPED_RECENT recent = recent_create();
    struct recent_write writes[4] = {0};
    uint64_t bytes_max = 0;

    for (uint32_t i = 0; i < 3000; i++) {
        note_one(recent, &writes[0], i, hash_of(i), 0);
        recent_write_end(&writes[0], false, i);
        assert_empty(recent);
    }
    /* and while some are always under way, with one row that stays */
    put_one(recent, 1, hash_of(1000000), 1);
    for (uint32_t i = 0; i < 300000; i++) {
        uint64_t bytes;

        recent_write_end(&writes[i % 4], false, i);
        note_one(recent, &writes[i % 4], i, hash_of(i), 0);
        bytes = recent_sizes(recent).bytes;
        bytes_max = bytes > bytes_max ? bytes : bytes_max;
    }
    assert_true(bytes_max < 100000);
    assert_int_equal(rows_found_now(recent, hash_of(1000000), 0), 1);
    for (unsigned i = 0; i < 4; i++)
        recent_write_end(&writes[i], false, 0);
    recent_flushed(recent, 1);
    assert_empty(recent);
}

#define FAMILIES 20

TEST(a_write_of_many_families_ends_in_each)
{
    struct recent *families[FAMILIES];
    struct recent_write write = {0};
    struct recent_write nothing = {0};

    for (unsigned i = 0; i < FAMILIES; i++)
        families[i] = recent_create();
    for (uint32_t i = 0; i < FAMILIES * 100; i++)
        note_one(families[i % FAMILIES], &write, i, hash_of(i), 0);
    for (unsigned i = 0; i < FAMILIES; i++)
        recent_flushed(families[i], i % 2 == 0 ? 9 : 8);
    recent_write_end(&nothing, true, 9);
    recent_write_end(&write, true, 9);
    for (unsigned i = 0; i < FAMILIES; i++) {
        assert_int_equal(recent_sizes(families[i]).row_count,
                         i % 2 == 0 ? 0 : 100);
        recent_flushed(families[i], 9);
        assert_empty(families[i]);
        recent_destroy(families[i]);
    }
}

/* Hundreds of families with one or two rows are common, and so are millions of
 * rows in one. */
TEST(memory_is_in_proportion_to_rows)
{
    SCOPED_RECENT recent = recent_create();
    struct recent_sizes sizes;

    put_one(recent, 0, hash_of(0), 1);
    assert_true(recent_sizes(recent).bytes < 16384);
    for (uint32_t i = 1; i < 500000; i++)
        put_one(recent, i, hash_of(i), 1);
    sizes = recent_sizes(recent);
    assert_int_equal(sizes.row_count, 500000);
    assert_true(sizes.bytes < sizes.row_count * 40);
    recent_flushed(recent, 1);
    assert_empty(recent);
}
