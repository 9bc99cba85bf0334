/*
 * The record of a family's filter options: golden bytes, and invalid records.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/settings.h"
#include "support/cases.h"

#include "support/cases.h"
#include "support/scoped.h"
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define SUM_SIZE 8
#define LEFT_OUT_AT 68 /* the number of unindexed columns */

static const char *const left_out[] = {"user.name", "tags[]"};
static const char *const with_words[] = {"text"};

/* Options that all differ from the defaults. */
static const struct colander_filter_options options = {
    .is_on = true,
    .rows_per_segment = 16,
    .hash_bits = 24,
    .fp_rate = 0.5,
    .bits_per_value = 12,
    .filter_bits = 0,
    .hierarchy = COLANDER_HIERARCHY_TREE,
    .tree_order = 4,
    .memory_budget = 1 << 20,
    .unfiltered = left_out,
    .unfiltered_count = 2,
    .order_budget = 0.25,
    .words = true,
    .word_columns = with_words,
    .word_column_count = 1,
};

/* Version 1 has no order_budget and no words. */
static const uint8_t golden_1[] = {
    0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00,
    0x18, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xe0, 0x3f,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x28, 0x40, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x75, 0x73, 0x65, 0x72, 0x2e, 0x6e, 0x61, 0x6d,
    0x65, 0x00, 0x74, 0x61, 0x67, 0x73, 0x5b, 0x5d, 0x00, 0xc4, 0x27, 0x92,
    0x50, 0x85, 0x99, 0xa4, 0xe3,
};

/* Version 2 has no columns of words. */
static const uint8_t golden_2[] = {
    0x02, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00,
    0x18, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xe0, 0x3f,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x28, 0x40, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0xd0, 0x3f, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x75, 0x73, 0x65, 0x72, 0x2e, 0x6e, 0x61, 0x6d,
    0x65, 0x00, 0x74, 0x61, 0x67, 0x73, 0x5b, 0x5d, 0x00, 0x00, 0xef, 0x47,
    0x3d, 0x13, 0xe6, 0x6b, 0x94,
};

static const uint8_t golden[] = {
    0x03, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00,
    0x18, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xe0, 0x3f,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x28, 0x40, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0xd0, 0x3f, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x75, 0x73, 0x65, 0x72, 0x2e, 0x6e, 0x61, 0x6d, 0x65, 0x00, 0x74, 0x61,
    0x67, 0x73, 0x5b, 0x5d, 0x00, 0x74, 0x65, 0x78, 0x74, 0x00, 0xb2, 0xb0,
    0x2e, 0x5f, 0x84, 0xb0, 0x1d, 0xdc,
};

/* The record of these options. The caller releases it. */
static struct colander_buffer
record_of(const struct colander_filter_options *given)
{
    struct colander_buffer record = COLANDER_BUFFER_EMPTY;
    struct settings *settings;

    OK(settings_create(given, &settings, NULL));
    OK(settings_encode(settings, &record, NULL));
    settings_unref(settings);
    return record;
}

static enum colander_code
decode(const struct colander_buffer *record)
{
    struct colander_error err = {.code = COLANDER_OK};
    struct settings *settings;
    enum colander_code code =
        settings_decode(colander_buffer_slice(record), &settings, &err);

    assert_int_equal(code, err.code);
    assert_int_equal(code == COLANDER_OK, settings != NULL);
    settings_unref(settings);
    return code;
}

/* Updates the checksum. */
static void
seal(struct colander_buffer *record)
{
    const size_t size = record->size - SUM_SIZE;
    const uint64_t sum = XXH3_64bits(record->data, size);

    memcpy(record->data + size, &sum, SUM_SIZE);
}

TEST(options_have_these_bytes)
{
    SCOPED_BUFFER record = record_of(&options);

    assert_int_equal(record.size, sizeof(golden));
    assert_memory_equal(record.data, golden, sizeof(golden));
}

TEST(what_is_read_is_what_was_written)
{
    SCOPED_BUFFER record = COLANDER_BUFFER_EMPTY;
    struct settings *settings;

    OK(settings_decode(colander_slice_of(golden, sizeof(golden)), &settings,
                       NULL));
    OK(settings_encode(settings, &record, NULL));
    assert_int_equal(record.size, sizeof(golden));
    assert_memory_equal(record.data, golden, sizeof(golden));
    settings_unref(settings);
}

TEST(a_record_of_version_1_has_later_defaults)
{
    struct settings *settings;

    OK(settings_decode(colander_slice_of(golden_1, sizeof(golden_1)), &settings,
                       NULL));
    assert_true(settings->options.order_budget == 0.036);
    assert_true(settings->options.words);
    assert_int_equal(settings->options.memory_budget, 1 << 20);
    assert_int_equal(settings->options.unfiltered_count, 2);
    assert_string_equal(settings->options.unfiltered[1], "tags[]");
    settings_unref(settings);
}

TEST(a_record_of_version_2_has_words_of_no_column_in_particular)
{
    struct settings *settings;

    OK(settings_decode(colander_slice_of(golden_2, sizeof(golden_2)), &settings,
                       NULL));
    assert_true(settings->options.order_budget == 0.25);
    assert_false(settings->options.words);
    assert_int_equal(settings->options.word_column_count, 0);
    assert_string_equal(settings->options.unfiltered[1], "tags[]");
    settings_unref(settings);
}

TEST(a_record_that_is_cut_or_changed_is_corrupt)
{
    SCOPED_BUFFER record = record_of(&options);
    const size_t size = record.size;

    OK(decode(&record));
    for (record.size = 0; record.size < size; record.size++)
        FAILS(decode(&record), COLANDER_CORRUPT);
    for (size_t at = 0; at < size; at++) {
        record.data[at] ^= 0x20;
        FAILS(decode(&record), COLANDER_CORRUPT);
        record.data[at] ^= 0x20;
    }
}

TEST(a_record_that_counts_wrong_is_corrupt)
{
    const uint8_t counts[] = {0, 1, 4, 65};
    SCOPED_BUFFER record = record_of(&options);

    for (size_t i = 0; i < sizeof(counts); i++) {
        record.data[LEFT_OUT_AT] = counts[i];
        seal(&record);
        FAILS(decode(&record), COLANDER_CORRUPT);
    }
    record.data[LEFT_OUT_AT] = 2;
    record.data[LEFT_OUT_AT + 8] = 65; /* columns with words */
    seal(&record);
    FAILS(decode(&record), COLANDER_CORRUPT);
}

/* Setting such options would fail. */
TEST(a_record_of_invalid_options_is_corrupt)
{
    SCOPED_BUFFER record = record_of(&options);

    record.data[8] = 15; /* rows of a segment */
    seal(&record);
    FAILS(decode(&record), COLANDER_CORRUPT);
}

TEST(a_record_of_a_later_version_is_too_new)
{
    SCOPED_BUFFER record = record_of(&options);

    record.data[0]++;
    seal(&record);
    FAILS(decode(&record), COLANDER_TOO_NEW);
}
