/*
 * Filter files that are truncated, flipped, mixed up or malicious: reading them
 * reports an error or returns the bytes that were written.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter_model.h"
#include "support/cases.h"
#include "support/scoped.h"

#include <malloc.h>

TEST(file_cut_anywhere_is_an_error)
{
    SCOPED_MODEL model = model_tiny();
    SCOPED_FILTER_FILE whole = NULL;
    SCOPED(file_bytes_free) struct file_bytes bytes;

    write_model(model);
    bytes = file_bytes_read(path);
    whole = open_model();
    for (size_t size = bytes.size; size-- > 0;) {
        struct filter_file *file;

        ZERO(truncate(path, (off_t)size));
        FAILS(filter_file_open(path, cache, &file, NULL), COLANDER_CORRUPT);
        assert_null(file);
        /* opened before it was truncated */
        block_cache_forget(cache, whole->salt, whole->place_count);
        assert_int_not_equal(model_compare_blocks(model, whole),
                             MODEL_DIFFERENT);
        FAILS(filter_file_check(whole, NULL), COLANDER_CORRUPT);
    }
    assert_int_equal(model_compare_blocks(model, whole), MODEL_ERROR);
}

/* If a damaged file can be opened, it returns what was written, or an error. */
static void
look_at_damaged(const struct model *model)
{
    SCOPED_FILTER_FILE file = NULL;
    enum colander_code code = filter_file_open(path, cache, &file, NULL);

    if (code != COLANDER_OK) {
        assert_true(code == COLANDER_CORRUPT || code == COLANDER_TOO_NEW);
        return;
    }
    assert_true(model_is_described_by(model, file));
    assert_int_not_equal(model_compare_blocks(model, file), MODEL_DIFFERENT);
    FAILS(filter_file_check(file, NULL), COLANDER_CORRUPT);
}

TEST(flipped_bits_are_found)
{
    SCOPED_MODEL model = model_tiny();
    uint64_t random = random_seed("filter_file");
    uint64_t runs = random_runs(100000);
    SCOPED(file_bytes_free) struct file_bytes bytes;
    int fd;

    write_model(model);
    bytes = file_bytes_read(path);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    for (uint64_t run = 0; run < runs; run++) {
        /* First each single bit, then several at once. */
        size_t count = run < bytes.size * 8 ? 1 : 1 + random_below(&random, 4);
        size_t at[4];

        for (size_t i = 0; i < count; i++) {
            uint64_t bit = run < bytes.size * 8
                               ? run
                               : random_below(&random, bytes.size * 8);
            uint8_t byte;

            at[i] = bit / 8;
            byte = (uint8_t)(bytes.data[at[i]] ^ 1u << bit % 8);
            assert_int_equal(pwrite(fd, &byte, 1, (off_t)at[i]), 1);
        }
        look_at_damaged(model);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(pwrite(fd, bytes.data + at[i], 1, (off_t)at[i]),
                             1);
    }
    (void)close(fd);
}

/* A valid checksum does not make a number valid: none may do harm. */
TEST(hostile_directory_does_no_harm)
{
    SCOPED_MODEL model = model_tiny();
    uint64_t random = random_seed("filter_file");
    uint64_t runs = random_runs(40000);
    uint64_t opened = 0;
    uint64_t sum = 0;
    uint64_t harmless = 0;
    SCOPED(file_bytes_free) struct file_bytes bytes;
    size_t start;

    write_model(model);
    bytes = file_bytes_read(path);
    start = (size_t)bytes_get_le64(bytes.data + bytes.size - 40);
    for (uint64_t run = 0; run < runs; run++) {
        SCOPED_MEMORY uint8_t *copy = malloc(bytes.size);
        size_t room = bytes.size - 40 - start;
        struct filter_file *file;

        memcpy(copy, bytes.data, bytes.size);
        for (uint64_t i = 1 + random_below(&random, 3); i-- > 0;)
            copy[start + random_below(&random, room)] =
                random_below(&random, 3) == 0 ? 0xff
                                              : (uint8_t)random_next(&random);
        bytes_sum_directory(copy, bytes.size);
        bytes_write(path, copy, bytes.size);
        if (filter_file_open(path, cache, &file, NULL) == COLANDER_OK) {
            opened++;
            assert_true(malloc_usable_size(file) < 64 * bytes.size);
            sum += model_look_around(file);
            harmless += filter_file_check(file, NULL) == COLANDER_OK;
            filter_file_unref(file);
        }
    }
    assert_int_not_equal(sum, 0);
    assert_true(runs < 1000 || (opened > 0 && harmless > 0));
}

/* Returns the error for a file with this directory, fixing its checksum. */
static enum colander_code
open_bytes(uint8_t bytes[sizeof(golden)])
{
    struct filter_file *file;
    enum colander_code code;

    bytes_sum_directory(bytes, sizeof(golden));
    bytes_write(path, bytes, sizeof(golden));
    code = filter_file_open(path, cache, &file, NULL);
    if (code == COLANDER_OK)
        filter_file_unref(file);
    return code;
}

/* The golden file with one byte of its directory changed. */
static enum colander_code
open_golden_with(size_t offset, uint8_t byte)
{
    uint8_t bytes[sizeof(golden)];

    memcpy(bytes, golden, sizeof(golden));
    bytes[offset] = byte;
    return open_bytes(bytes);
}

TEST(blocks_that_do_not_ascend_are_refused)
{
    uint8_t bytes[sizeof(golden)];

    memcpy(bytes, golden, sizeof(golden));
    bytes[110] = 2; /* both are for the locator */
    bytes[111] = 0;
    bytes[117] = 20;
    FAILS(open_bytes(bytes), COLANDER_CORRUPT);
    bytes[118] = 1;
    OK(open_bytes(bytes));
}

TEST(number_out_of_range_is_refused)
{
    static const struct {
        size_t offset;
        uint8_t byte;
    } wrong[] = {
        {80, 65}, /* unindexed columns: more than fit */
        {89, 0},  /* parts: fewer or more than there are */
        {89, 2},    {89, 127}, {90, 1}, /* blocks */
        {90, 3},    {90, 127}, {91, 4}, /* bytes of keys */
        {91, 6},    {91, 127}, {94, 0}, /* fine: not a power of two */
        {94, 3},    {94, 32},           /* above coarse */
        {95, 0},                        /* coarse */
        {96, 41},                       /* hash bits */
        {96, 5},                        /* fewer than group bits */
        {96, 8},                        /* fewer than 1,000 hashes need */
        {97, 33},                       /* group bits */
        {99, 13},                       /* probes */
        {100, 65},                      /* hash bits in the presence */
        {98, 1},                        /* a presence without probes */
        {103, 127},                     /* a key past the end */
        {104, 'z'},                     /* above the last key */
        {110, 2},                       /* blocks of a kind: a wrong number */
        {110, 0},   {112, 1},  {113, 255},
        {114, 1},   {115, 36}, /* a block of the kind without any left */
        {115, 30},             /* too short: unused bytes */
        {117, 126},            /* too long */
        {116, 64},             /* begins after the last group */
        {119, 1},              /* spans: a wrong number, */
        {119, 3},   {126, 0},  /* and two from the same place */
        {133, 0},   {133, 2},  /* columns with words: a wrong number, */
        {133, 65},             /* more than fit */
    };

    OK(open_golden_with(92, 0xc9));
    for (size_t i = 0; i < COUNT(wrong); i++) {
        if (open_golden_with(wrong[i].offset, wrong[i].byte) !=
            COLANDER_CORRUPT)
            fail_msg("byte %zu as %u is taken", wrong[i].offset, wrong[i].byte);
    }
}

TEST(later_version_is_distinguished_from_damage)
{
    struct filter_file *file;
    uint8_t bytes[sizeof(golden)];

    memcpy(bytes, golden, sizeof(golden));
    bytes[sizeof(golden) - 12] = FILTER_FILE_VERSION + 1;
    bytes_write(path, bytes, sizeof(bytes));
    FAILS(filter_file_open(path, cache, &file, why()), COLANDER_TOO_NEW);
    assert_non_null(strstr(error_text(), "has version 8"));
}

/* Two files with the same blocks differ in their salts. */
TEST(block_of_another_place_or_file_is_found)
{
    SCOPED_MODEL model = model_empty();
    SCOPED_FILTER_FILE file = NULL;
    SCOPED(file_bytes_free) struct file_bytes here;
    SCOPED(file_bytes_free) struct file_bytes there;

    model_add_part(model, "a", 1, "z", 1);
    model_add_block(model, FILTER_LOCATOR, 0, "same bytes", 10);
    model_add_block(model, FILTER_LOCATOR, 5, "same bytes", 10);
    write_model(model);
    there = file_bytes_read(path);
    unlink(path);
    write_model(model);
    here = file_bytes_read(path);
    file = open_model();
    assert_int_equal(model_compare_blocks(model, file), MODEL_SAME);
    block_cache_forget(cache, file->salt, file->place_count);
    bytes_overwrite(path, 24, here.data + 42, 18); /* from another place */
    assert_int_equal(model_compare_blocks(model, file), MODEL_ERROR);
    bytes_overwrite(path, 24, there.data + 24, 18); /* from another file */
    assert_int_equal(model_compare_blocks(model, file), MODEL_ERROR);
    bytes_overwrite(path, 24, here.data + 24, 18);
    assert_int_equal(model_compare_blocks(model, file), MODEL_SAME);
}

int
main(void)
{
    return tests_run(directory_create, directory_remove);
}
