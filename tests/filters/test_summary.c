/*
 * Summaries: they deny no value, say about what the presences say, and no
 * damaged byte passes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/summary.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/temporary.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SSTS 40
#define PARTS 90
#define VALUES 30 /* of a part */

struct sample {
    char directory[TEMPORARY_SIZE];
    char path[TEMPORARY_SIZE + 32];
    struct block_cache *cache;
    struct summary_sst ssts[SSTS];
    struct summary_part parts[PARTS];
    struct presence presences[PARTS];
    uint64_t values[PARTS][VALUES];
};

/* The parts have three shapes, in any order. */
static void
fill_parts(struct sample *sample, int fd)
{
    uint64_t *random = random_state();
    uint64_t offset = 0;

    for (uint32_t i = 0; i < PARTS; i++) {
        const uint32_t sst = i * SSTS / PARTS;
        struct presence *presence = &sample->presences[i];
        struct presence_shape shape = {
            UINT32_C(1) << 2 * random_below(random, 3), 7, 32};
        const size_t size = presence_size(&shape);

        OK(presence_init(presence, &shape, why()));
        for (size_t k = 0; k < VALUES; k++) {
            sample->values[i][k] = random_next(random);
            presence_add(presence, sample->values[i][k]);
        }
        assert_int_equal(pwrite(fd, presence->words, size, (off_t)offset),
                         size);
        sample->parts[i] = (struct summary_part){sst, shape, offset};
        sample->ssts[sst].number = 10 + sst;
        sample->ssts[sst].size = UINT64_C(1) << 33 | sst;
        sample->ssts[sst].part_count++;
        sample->ssts[sst].has_words = sst % 3 != 0;
        offset += size;
    }
}

static int
make_sample(void **state)
{
    struct sample *sample = calloc(1, sizeof(*sample));
    int fd;

    temporary_make(sample->directory);
    (void)snprintf(sample->path, sizeof(sample->path), "%s/a.summary",
                   sample->directory);
    fd = open(sample->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    sample->cache = block_cache_create(1 << 20, 4096);
    fill_parts(sample, fd);
    OK(summary_write(sample->path, fd, sample->ssts, SSTS, sample->parts, PARTS,
                     why()));
    (void)close(fd);
    *state = sample;
    return 0;
}

static int
drop_sample(void **state)
{
    struct sample *sample = *state;

    for (size_t i = 0; i < PARTS; i++)
        presence_release(&sample->presences[i]);
    block_cache_destroy(sample->cache);
    temporary_remove(sample->directory);
    free(sample);
    return 0;
}

#define SUMMARY_TEST(name)                                                     \
    TEST_WITH(struct sample *sample, name, make_sample, drop_sample)

/* Asks for a value, and compares with what the presences say. */
static void
compare(const struct sample *sample, const struct summary *summary,
        uint64_t value)
{
    uint64_t found = 0;
    uint64_t expected = 0;

    OK(summary_ask(summary, value, &found, why()));
    for (uint32_t i = 0; i < PARTS; i++) {
        if (presence_may_hold(&sample->presences[i], value))
            expected |= UINT64_C(1) << i * SSTS / PARTS;
    }
    assert_int_equal(found, expected);
}

SUMMARY_TEST(a_summary_says_what_the_presences_say)
{
    struct summary *summary;

    OK(summary_open(sample->path, NULL, sample->cache, &summary, why()));
    assert_int_equal(summary->sst_count, SSTS);
    for (uint32_t i = 0; i < SSTS; i++) {
        assert_int_equal(summary->ssts[i].number, 10 + i);
        assert_int_equal(summary->ssts[i].size, UINT64_C(1) << 33 | i);
        assert_int_equal(summary->ssts[i].has_words, i % 3 != 0);
    }
    for (size_t i = 0; i < PARTS; i++) {
        for (size_t k = 0; k < VALUES; k++)
            compare(sample, summary, sample->values[i][k]);
    }
    for (size_t i = 0; i < 2000; i++)
        compare(sample, summary, random_next(random_state()));
    summary_close(summary);
}

/* Opens the summary and asks for all values: the answers are right, or an
 * error, which is returned. */
static enum colander_code
ask_all(const struct sample *sample)
{
    struct block_cache *cache = block_cache_create(1 << 20, 4096);
    struct summary *summary;
    enum colander_code code =
        summary_open(sample->path, NULL, cache, &summary, why());

    for (size_t i = 0; i < PARTS && code == COLANDER_OK; i++) {
        for (size_t k = 0; k < VALUES && code == COLANDER_OK; k++) {
            uint64_t found = 0;

            code = summary_ask(summary, sample->values[i][k], &found, why());
            if (code == COLANDER_OK)
                assert_true((found >> i * SSTS / PARTS & 1) != 0);
        }
    }
    summary_close(summary);
    block_cache_destroy(cache);
    return code;
}

/* A summary of one SST with one part of one block, as version 1 writes it. */
static const uint8_t golden[] = {
    0x43, 0x4f, 0x4c, 0x53, 0x55, 0x4d, 0x4d, 0x0a, 0x00, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x10, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00,
    0x40, 0xe1, 0x3e, 0xef, 0xdf, 0x33, 0xf3, 0x1b, 0x01, 0x0a, 0x64, 0x01,
    0x01, 0x01, 0x01, 0x07, 0x20, 0x01, 0x00, 0x50, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x0b, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x99,
    0x88, 0x0c, 0x87, 0x68, 0x70, 0x61, 0xe5, 0xca, 0x1a, 0x43, 0xd5, 0x3e,
    0xf3, 0x16, 0x0f, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x43,
    0x4f, 0x4c, 0x53, 0x55, 0x4d, 0x4d, 0x0a,
};
#define GOLDEN_VALUE UINT64_C(0x0123456789abcdef)

/* The salt is drawn, and checksums depend on it: zeroes them. */
static void
leave_salt_out(uint8_t *bytes)
{
    memset(bytes + 72, 0, 8);                        /* of the block */
    memset(bytes + sizeof(golden) - 48 + 16, 0, 16); /* of the directory */
}

SUMMARY_TEST(bytes_of_version_1_are_written_and_read)
{
    const struct presence_shape shape = {1, 7, 32};
    const struct summary_sst sst = {
        .number = 10, .size = 100, .part_count = 1, .has_words = true};
    struct summary_part part = {0, shape, 0};
    const int fd =
        open(sample->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    uint8_t written[sizeof(golden) + 1];
    uint8_t expected[sizeof(golden)];
    struct presence presence;
    struct summary *summary;
    uint64_t found = 0;
    int file;

    ZERO(unlink(sample->path));
    file = open(sample->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_int_equal(write(file, golden, sizeof(golden)), sizeof(golden));
    (void)close(file);
    OK(summary_open(sample->path, NULL, sample->cache, &summary, why()));
    assert_int_equal(summary->ssts[0].number, 10);
    OK(summary_ask(summary, GOLDEN_VALUE, &found, why()));
    assert_int_equal(found, 1);
    found = 0;
    OK(summary_ask(summary, ~GOLDEN_VALUE, &found, why()));
    assert_int_equal(found, 0);
    summary_close(summary);

    OK(presence_init(&presence, &shape, why()));
    presence_add(&presence, GOLDEN_VALUE);
    assert_int_equal(pwrite(fd, presence.words, presence_size(&shape), 0),
                     presence_size(&shape));
    ZERO(unlink(sample->path));
    OK(summary_write(sample->path, fd, &sst, 1, &part, 1, why()));
    file = open(sample->path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(file, written, sizeof(written)), sizeof(golden));
    leave_salt_out(written);
    memcpy(expected, golden, sizeof(golden));
    leave_salt_out(expected);
    assert_memory_equal(written, expected, sizeof(golden));
    (void)close(file);
    (void)close(fd);
    presence_release(&presence);
}

SUMMARY_TEST(a_flipped_bit_is_found)
{
    const int fd = open(sample->path, O_RDWR | O_CLOEXEC);
    struct stat status;

    ZERO(fstat(fd, &status));
    for (off_t at = 8; at < status.st_size; /* not the first magic */
         at += 1 + (off_t)random_below(random_state(), 40)) {
        const uint8_t bit = (uint8_t)(1 << random_below(random_state(), 8));
        enum colander_code code;
        uint8_t byte;

        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= bit;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        code = ask_all(sample);
        /* a block in which no value is may be damaged */
        assert_true(code == COLANDER_CORRUPT || code == COLANDER_TOO_NEW ||
                    (code == COLANDER_OK && at < status.st_size - 1000));
        byte ^= bit;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    OK(ask_all(sample));
    (void)close(fd);
}

SUMMARY_TEST(a_truncated_summary_is_damaged)
{
    struct stat status;

    ZERO(stat(sample->path, &status));
    for (off_t size = status.st_size - 1; size >= 0;
         size -= size > 500 ? 97 : 1) {
        ZERO(truncate(sample->path, size));
        FAILS(ask_all(sample), COLANDER_CORRUPT);
    }
}
