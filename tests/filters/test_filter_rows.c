/*
 * Finds of rows of all shapes: with many values, with large ones, under keys
 * with several parts, and with a million in one file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/filter_files.h"
#include "support/plain_finds.h"
#include "support/scoped.h"

FIXTURE_TEST(each_of_100000_values_of_a_row_is_found)
{
    enum { VALUES = 100000 };
    struct colander_family *family = kept_family(fixture, "rows");
    SCOPED_BUFFER key = text_key("wide");

    for (unsigned pass = 0; pass < 2; pass++) {
        struct colander_slice row;

        colander_row_builder_begin_array(fixture->builder, "tags");
        for (int64_t i = 0; i < VALUES; i++)
            colander_row_builder_add(fixture->builder, NULL,
                                     colander_integer(i));
        colander_row_builder_end(fixture->builder);
        OK(colander_row_builder_finish(fixture->builder, &row, NULL));
        OK(colander_family_put(family, colander_buffer_slice(&key), row, NULL,
                               NULL));
        for (int64_t i = 0; i < VALUES; i += 5555)
            assert_int_equal(count_equal(fixture, family, "tags[]", i), 1);
        assert_int_equal(count_equal(fixture, family, "tags[]", VALUES), 0);
        assert_int_equal(count_equal(fixture, family, "other[]", 5), 0);
        OK(colander_family_flush(family, NULL));
        for (int64_t i = VALUES - 1; i > 0; i -= 4444)
            assert_int_equal(count_equal(fixture, family, NULL, i), 1);
    }
    assert_int_equal(filter_stats(family).error_count, 0);
}

FIXTURE_TEST(rows_of_a_mebibyte_are_found_by_large_and_small_values)
{
    enum { ROWS = 12, SIZE = 1 << 20 };
    struct colander_family *family = kept_family(fixture, "rows");
    struct find_counts counts = {.row_count = 0};
    SCOPED_MEMORY char *text = malloc(SIZE + 1);
    char key[8];

    assert_non_null(text);
    memset(text, 'x', SIZE);
    text[SIZE] = '\0';
    for (int64_t i = 0; i < ROWS; i++) {
        text[SIZE - 1] = (char)('a' + i);
        snprintf(key, sizeof(key), "%d", (int)i);
        colander_row_builder_add(fixture->builder, "n", colander_integer(i));
        OK(put_text(fixture, family, key, "text", colander_text(text), NULL));
        if (i == ROWS / 2)
            OK(colander_family_flush(family, NULL));
    }
    for (int64_t i = 0; i < ROWS; i++) {
        text[SIZE - 1] = (char)('a' + i);
        assert_int_equal(compare_equal(fixture->store, family, "text",
                                       colander_text(text), &counts),
                         1);
        assert_int_equal(count_equal(fixture, family, "n", i), 1);
    }
}

FIXTURE_TEST(rows_are_found_within_prefixes_of_composite_keys)
{
    enum { SENSORS = 20, TIMES = 100 };
    struct colander_family *family = kept_family(fixture, "rows");
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_value parts[2];
    char name[24];

    for (unsigned i = 0; i < SENSORS * TIMES; i++) {
        snprintf(name, sizeof(name), "sensor-%u", i % SENSORS);
        parts[0] = colander_text(name);
        parts[1] = colander_integer(1600000000 + i);
        OK(colander_key_encode(parts, 2, &key, NULL));
        OK(colander_family_put(
            family, colander_buffer_slice(&key),
            fixture_row(fixture, "level", colander_integer(i / SENSORS % 25)),
            NULL, NULL));
        if (i % 700 == 0)
            OK(colander_family_flush(family, NULL));
    }
    for (unsigned i = 0; i < SENSORS; i++) {
        SCOPED_PREDICATE predicate =
            colander_where("level", COLANDER_EQ, colander_integer(i), NULL);
        struct colander_query query = usual_query();
        uint64_t count;

        snprintf(name, sizeof(name), "sensor-%u", i);
        parts[0] = colander_text(name);
        OK(colander_key_encode(parts, 1, &key, NULL));
        query.where = predicate;
        query.keys.prefix = colander_buffer_slice(&key);
        OK(colander_family_count(family, &query, &count, NULL));
        assert_int_equal(count, TIMES / 25);
        query.keys.prefix = colander_slice_of(NULL, 0);
        OK(colander_family_count(family, &query, &count, NULL));
        assert_int_equal(count, SENSORS * TIMES / 25);
    }
}

/* More rows than fit in one part of a filter. */
FIXTURE_TEST(rows_of_a_file_of_over_a_million_are_found)
{
    enum { ROWS = (1 << 20) + 50000, LOT = 10000 };
    struct colander_family *family;
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_batch *batch;
    struct colander_filter_stats stats;

    fixture->options.write_buffer_size = 512 << 20;
    fixture->options.sst_size = 512 << 20;
    fixture_remake(fixture);
    family = kept_family(fixture, "rows");
    OK(colander_batch_create(fixture->store, &batch, NULL));
    for (int64_t i = 0; i < ROWS; i++) {
        struct colander_value part = colander_integer(i);

        OK(colander_key_encode(&part, 1, &key, NULL));
        OK(colander_batch_put(
            batch, family, colander_buffer_slice(&key),
            fixture_row(fixture, "n", colander_integer(i / 4)), NULL));
        if (i % LOT == LOT - 1 || i == ROWS - 1)
            OK(colander_batch_commit(batch, NULL, NULL));
    }
    colander_batch_destroy(batch);
    OK(colander_family_flush(family, NULL));
    assert_all_loaded(family);
    stats = filter_stats(family);
    assert_int_equal(stats.file_count, 1);
    assert_true(stats.part_count >= 2);
    assert_int_equal(stats.row_count, ROWS);
    for (int64_t i = 0; i < ROWS / 4; i += 37777) {
        uint64_t count;

        OK(find_count(family, "n", i, &count));
        assert_int_equal(count, 4);
    }
    assert_int_equal(count_equal(fixture, family, NULL, ROWS / 4 - 1), 4);
}
