/*
 * Options: their ranges, and the record of them that a store keeps.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/options.h"
#include "support/cases.h"
#include "support/scoped.h"
#include "support/usual.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <xxhash.h>

static const struct store_identity identity = {
    "0b7e1e9c-4e5f-4f6b-9c0d-1a2b3c4d5e6f"};

static const char golden[] = "colander store 2\n"
                             "compression zstd\n"
                             "compaction universal\n"
                             "block_size 4096\n"
                             "sst_size 2097152\n"
                             "fifo_size 1073741824\n"
                             "identity 0b7e1e9c-4e5f-4f6b-9c0d-1a2b3c4d5e6f\n"
                             "checksum 53ddec662c97c9b7\n";

/* As a store of 0.1.0 has it. */
static const char golden_1[] = "colander store 1\n"
                               "compression zstd\n"
                               "compaction universal\n"
                               "block_size 4096\n"
                               "sst_size 2097152\n"
                               "fifo_size 1073741824\n"
                               "checksum 7532e4934cc2bdd7\n";

static struct colander_options
golden_options(void)
{
    struct colander_options options = usual_options();

    options.compression = COLANDER_COMPRESSION_ZSTD;
    options.compaction = COLANDER_COMPACTION_UNIVERSAL;
    options.block_size = 4096;
    options.sst_size = 2 << 20;
    options_fill_kept(&options);
    return options;
}

TEST(record_has_its_golden_bytes)
{
    struct colander_options options = golden_options();
    SCOPED_BUFFER record = COLANDER_BUFFER_EMPTY;

    OK(options_encode(&options, &identity, &record, NULL));
    ASSERT_SAME(colander_buffer_slice(&record), colander_slice_text(golden));
}

TEST(record_without_an_identity_has_format_1)
{
    const struct store_identity none = {""};
    struct colander_options options = golden_options();
    struct store_identity found = identity;
    SCOPED_BUFFER record = COLANDER_BUFFER_EMPTY;

    OK(options_encode(&options, &none, &record, NULL));
    ASSERT_SAME(colander_buffer_slice(&record), colander_slice_text(golden_1));
    options = usual_options();
    OK(options_decode(colander_slice_text(golden_1), &options, &found, NULL));
    assert_int_equal(options.block_size, 4096);
    assert_string_equal(found.text, "");
}

TEST(identity_is_a_word_of_a_limited_size)
{
    char longest[sizeof(identity.text)];

    memset(longest, 'a', sizeof(longest));
    assert_true(store_identity_is_valid(colander_slice_text(identity.text)));
    assert_true(store_identity_is_valid(
        colander_slice_of(longest, sizeof(longest) - 1)));
    assert_false(
        store_identity_is_valid(colander_slice_of(longest, sizeof(longest))));
    assert_false(store_identity_is_valid(colander_slice_text("")));
    assert_false(store_identity_is_valid(colander_slice_text("a b")));
    assert_false(store_identity_is_valid(colander_slice_text("a\nb")));
}

TEST(record_reads_back_as_it_was_written)
{
    struct colander_options written = golden_options();
    struct colander_options read = usual_options();

    struct store_identity found;

    OK(options_decode(colander_slice_text(golden), &read, &found, NULL));
    assert_memory_equal(&written, &read, sizeof(read));
    assert_string_equal(found.text, identity.text);
}

/* The example of core/FORMAT.md. */
TEST(record_of_the_defaults_is_as_documented)
{
    static const char documented[] = "colander store 2\n"
                                     "compression lz4\n"
                                     "compaction leveled\n"
                                     "block_size 16384\n"
                                     "sst_size 67108864\n"
                                     "fifo_size 1073741824\n"
                                     "identity 0b7e1e9c-4e5f-4f6b-9c0d-"
                                     "1a2b3c4d5e6f\n"
                                     "checksum 9ed07517352ec7ba\n";
    SCOPED_BUFFER record = COLANDER_BUFFER_EMPTY;
    struct colander_options options = usual_options();

    options_fill_kept(&options);
    OK(options_encode(&options, &identity, &record, NULL));
    ASSERT_SAME(colander_buffer_slice(&record),
                colander_slice_text(documented));
}

/* Copies of the exact size, so that a sanitizer detects a read past the end. */
TEST(truncated_record_is_damaged)
{
    for (size_t size = 0; size < strlen(golden); size++) {
        struct colander_options options = usual_options();
        struct store_identity found;
        SCOPED_MEMORY uint8_t *copy = malloc(size);

        if (size > 0)
            memcpy(copy, golden, size);
        FAILS(options_decode(colander_slice_of(copy, size), &options, &found,
                             why()),
              COLANDER_CORRUPT);
        assert_non_null(strstr(error_text(), "damaged at line"));
        assert_int_equal(options.block_size, 0);
    }
}

TEST(changed_byte_is_always_noticed)
{
    for (size_t at = 0; at < strlen(golden); at++) {
        for (int bit = 0; bit < 8; bit++) {
            struct colander_options options = usual_options();
            struct store_identity found;
            char copy[sizeof(golden)];

            memcpy(copy, golden, sizeof(golden));
            copy[at] = (char)(copy[at] ^ (1 << bit));
            assert_int_not_equal(
                options_decode(colander_slice_of(copy, strlen(golden)),
                               &options, &found, NULL),
                COLANDER_OK);
        }
    }
}

TEST(bytes_after_the_record_are_damage)
{
    struct colander_options options = usual_options();
    struct store_identity found;
    char longer[sizeof(golden) + 1];

    memcpy(longer, golden, sizeof(golden));
    strcat(longer, "\n");
    FAILS(options_decode(colander_slice_text(longer), &options, &found, NULL),
          COLANDER_CORRUPT);
}

/* The checksum is last in every format. Without it the version number itself
 * may be damaged. */
TEST(newer_format_is_distinguished_from_damage)
{
    static const char body[] = "colander store 3\nwhat 5\n";
    struct colander_options options = usual_options();
    struct store_identity found;
    char record[80];

    FAILS(options_decode(colander_slice_text(body), &options, &found, why()),
          COLANDER_CORRUPT);
    (void)snprintf(record, sizeof(record), "%schecksum %016" PRIx64 "\n", body,
                   (uint64_t)XXH3_64bits(body, strlen(body)));
    FAILS(options_decode(colander_slice_text(record), &options, &found, why()),
          COLANDER_TOO_NEW);
    assert_string_equal(error_text(), "the store has format 3, this version of "
                                      "colander reads up to 2");
}

TEST(option_out_of_range_is_named)
{
    struct colander_options options = usual_options();

    OK(options_check(&options, why()));
    options.cache_size = 1000;
    FAILS(options_check(&options, why()), COLANDER_INVALID);
    assert_string_equal(error_text(),
                        "option 'cache_size' is 1000, not between "
                        "1048576 and 1099511627776");
    colander_options_init(&options);
    options.block_size = 7;
    FAILS(options_check(&options, why()), COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "'block_size' is 7"));
    colander_options_init(&options);
    options.compression = 9;
    FAILS(options_check(&options, why()), COLANDER_INVALID);
}

TEST(kept_options_stay_unless_asked_for)
{
    struct colander_options kept = golden_options();
    struct colander_options options = usual_options();

    options.block_size = 8192;
    OK(options_merge_kept(&options, &kept, why()));
    assert_int_equal(options.block_size, 8192);
    assert_int_equal(options.sst_size, kept.sst_size);
    assert_int_equal(options.compression, COLANDER_COMPRESSION_ZSTD);
    options.compaction = COLANDER_COMPACTION_FIFO;
    FAILS(options_merge_kept(&options, &kept, why()), COLANDER_INVALID);
    assert_string_equal(error_text(), "the store was created with universal "
                                      "compaction, which cannot become fifo");
}
