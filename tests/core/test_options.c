/*
 * Options: their ranges, and the record of those that a store keeps.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/options.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <xxhash.h>

static const char golden[] = "colander store 1\n"
                             "compression zstd\n"
                             "compaction universal\n"
                             "block_size 4096\n"
                             "sst_size 2097152\n"
                             "fifo_size 1073741824\n"
                             "checksum 7532e4934cc2bdd7\n";

static struct colander_options
golden_options(void)
{
    struct colander_options options;

    colander_options_init(&options);
    options.compression = COLANDER_COMPRESSION_ZSTD;
    options.compaction = COLANDER_COMPACTION_UNIVERSAL;
    options.block_size = 4096;
    options.sst_size = 2 << 20;
    options_fill_kept(&options);
    return options;
}

static void
record_has_its_golden_bytes(void **state)
{
    struct colander_options options = golden_options();
    struct colander_buffer record = COLANDER_BUFFER_EMPTY;

    (void)state;
    assert_int_equal(options_encode(&options, &record, NULL), COLANDER_OK);
    assert_int_equal(record.size, strlen(golden));
    assert_memory_equal(record.data, golden, record.size);
    colander_buffer_release(&record);
}

static void
record_reads_back_as_it_was_written(void **state)
{
    struct colander_options written = golden_options();
    struct colander_options read;

    (void)state;
    colander_options_init(&read);
    assert_int_equal(options_decode(colander_slice_text(golden), &read, NULL),
                     COLANDER_OK);
    assert_true(options_same_kept(&written, &read));
}

/* As core/FORMAT.md shows it. */
static void
record_of_the_defaults_is_as_documented(void **state)
{
    static const char documented[] = "colander store 1\n"
                                     "compression lz4\n"
                                     "compaction leveled\n"
                                     "block_size 16384\n"
                                     "sst_size 67108864\n"
                                     "fifo_size 1073741824\n"
                                     "checksum 1c7497bc7f682eb3\n";
    struct colander_buffer record = COLANDER_BUFFER_EMPTY;
    struct colander_options options;

    (void)state;
    colander_options_init(&options);
    options_fill_kept(&options);
    assert_int_equal(options_encode(&options, &record, NULL), COLANDER_OK);
    assert_int_equal(record.size, strlen(documented));
    assert_memory_equal(record.data, documented, record.size);
    colander_buffer_release(&record);
}

/* Exact-size copies, so that a read past the end is seen by a sanitizer. */
static void
truncated_record_is_damaged(void **state)
{
    (void)state;
    for (size_t size = 0; size < strlen(golden); size++) {
        struct colander_options options;
        struct colander_error err;
        uint8_t *copy = malloc(size);

        colander_options_init(&options);
        if (size > 0)
            memcpy(copy, golden, size);
        assert_int_equal(
            options_decode(colander_slice_of(copy, size), &options, &err),
            COLANDER_CORRUPT);
        assert_non_null(strstr(err.message, "damaged at line"));
        assert_int_equal(options.block_size, 0);
        free(copy);
    }
}

static void
changed_byte_never_goes_unseen(void **state)
{
    (void)state;
    for (size_t at = 0; at < strlen(golden); at++) {
        for (int bit = 0; bit < 8; bit++) {
            struct colander_options options;
            char copy[sizeof(golden)];

            colander_options_init(&options);
            memcpy(copy, golden, sizeof(golden));
            copy[at] = (char)(copy[at] ^ (1 << bit));
            assert_int_not_equal(
                options_decode(colander_slice_of(copy, strlen(golden)),
                               &options, NULL),
                COLANDER_OK);
        }
    }
}

static void
bytes_behind_the_record_are_damage(void **state)
{
    struct colander_options options;
    char longer[sizeof(golden) + 1];

    (void)state;
    colander_options_init(&options);
    memcpy(longer, golden, sizeof(golden));
    strcat(longer, "\n");
    assert_int_equal(
        options_decode(colander_slice_text(longer), &options, NULL),
        COLANDER_CORRUPT);
}

/* The checksum stands last in every format: without it the number may be what
 * is damaged. */
static void
newer_format_is_told_from_damage(void **state)
{
    static const char body[] = "colander store 2\nwhat 5\n";
    struct colander_options options;
    struct colander_error err;
    char record[80];

    (void)state;
    colander_options_init(&options);
    assert_int_equal(options_decode(colander_slice_text(body), &options, &err),
                     COLANDER_CORRUPT);
    (void)snprintf(record, sizeof(record), "%schecksum %016" PRIx64 "\n", body,
                   (uint64_t)XXH3_64bits(body, strlen(body)));
    assert_int_equal(
        options_decode(colander_slice_text(record), &options, &err),
        COLANDER_TOO_NEW);
    assert_string_equal(err.message, "the store has format 2, this version of "
                                     "colander reads up to 1");
}

static void
option_out_of_range_is_named(void **state)
{
    struct colander_options options;
    struct colander_error err;

    (void)state;
    colander_options_init(&options);
    assert_int_equal(options_check(&options, &err), COLANDER_OK);
    options.cache_size = 1000;
    assert_int_equal(options_check(&options, &err), COLANDER_INVALID);
    assert_string_equal(err.message, "option 'cache_size' is 1000, not between "
                                     "1048576 and 1099511627776");
    colander_options_init(&options);
    options.block_size = 7;
    assert_int_equal(options_check(&options, &err), COLANDER_INVALID);
    assert_non_null(strstr(err.message, "'block_size' is 7"));
    colander_options_init(&options);
    options.compression = 9;
    assert_int_equal(options_check(&options, &err), COLANDER_INVALID);
}

static void
kept_options_stay_unless_asked_for(void **state)
{
    struct colander_options kept = golden_options();
    struct colander_options options;
    struct colander_error err;

    (void)state;
    colander_options_init(&options);
    options.block_size = 8192;
    assert_int_equal(options_merge_kept(&options, &kept, &err), COLANDER_OK);
    assert_int_equal(options.block_size, 8192);
    assert_int_equal(options.sst_size, kept.sst_size);
    assert_int_equal(options.compression, COLANDER_COMPRESSION_ZSTD);
    options.compaction = COLANDER_COMPACTION_FIFO;
    assert_int_equal(options_merge_kept(&options, &kept, &err),
                     COLANDER_INVALID);
    assert_string_equal(err.message, "the store was made with universal "
                                     "compaction, which cannot become fifo");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(record_has_its_golden_bytes),
        cmocka_unit_test(record_reads_back_as_it_was_written),
        cmocka_unit_test(record_of_the_defaults_is_as_documented),
        cmocka_unit_test(truncated_record_is_damaged),
        cmocka_unit_test(changed_byte_never_goes_unseen),
        cmocka_unit_test(bytes_behind_the_record_are_damage),
        cmocka_unit_test(newer_format_is_told_from_damage),
        cmocka_unit_test(option_out_of_range_is_named),
        cmocka_unit_test(kept_options_stay_unless_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
