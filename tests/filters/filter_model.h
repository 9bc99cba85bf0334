/*
 * The contents of a filter file, kept in memory for comparison, and the bytes
 * of files, to be damaged.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FILTERS_FILTER_MODEL_H
#define TESTS_FILTERS_FILTER_MODEL_H

#include "core/bytes.h"
#include "filters/filter_file.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/scoped.h"
#include "support/temporary.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* --------------------------------------------------------------- bytes --- */

struct file_bytes {
    uint8_t *data;
    size_t size;
};

static inline struct file_bytes
file_bytes_read(const char *path)
{
    struct file_bytes bytes = {NULL, 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t size = lseek(fd, 0, SEEK_END);

    if (size < 0)
        abort();
    bytes.size = (size_t)size;
    bytes.data = malloc(bytes.size + 1);
    if (pread(fd, bytes.data, bytes.size, 0) != (ssize_t)bytes.size)
        abort();
    (void)close(fd);
    return bytes;
}

static inline void
file_bytes_free(struct file_bytes *bytes)
{
    free(bytes->data);
}

static inline void
bytes_overwrite(const char *path, size_t offset, const uint8_t *data,
                size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    if (pwrite(fd, data, size, (off_t)offset) != (ssize_t)size)
        abort();
    (void)close(fd);
}

static inline void
bytes_write(const char *path, const uint8_t *data, size_t size)
{
    bytes_overwrite(path, 0, data, size);
    if (truncate(path, (off_t)size) != 0)
        abort();
}

/* Writes the checksum of the block at `offset` after it. */
static inline void
bytes_sum(uint8_t *file, size_t offset, size_t size, uint64_t salt)
{
    bytes_put_le64(file + offset + size,
                   XXH3_64bits_withSeed(file + offset, size, salt + offset));
}

/* Writes the checksum of the directory to the footer. */
static inline void
bytes_sum_directory(uint8_t *file, size_t size)
{
    uint8_t *footer = file + size - 40;
    uint64_t offset = bytes_get_le64(footer);

    bytes_put_le64(footer + 16,
                   XXH3_64bits_withSeed(file + offset,
                                        bytes_get_le64(footer + 8), offset));
}

/* --------------------------------------------------------------- model --- */

struct model_block {
    enum filter_block_kind kind;
    uint32_t first;
    uint8_t *data;
    size_t size;
};

struct model_part {
    struct filter_part part;
    uint8_t *keys; /* both, one after the other */
    struct model_block *blocks;
    size_t block_count;
};

struct model {
    struct filter_head head;
    struct model_part *parts;
    size_t part_count;
    struct filter_span spans[2];
    size_t span_count;
};

static inline struct model *
model_empty(void)
{
    return calloc(1, sizeof(struct model));
}

static inline void
model_destroy(struct model *model)
{
    for (size_t i = 0; i < model->part_count; i++) {
        struct model_part *part = &model->parts[i];

        for (size_t j = 0; j < part->block_count; j++)
            free(part->blocks[j].data);
        free(part->blocks);
        free(part->keys);
    }
    free(model->parts);
    free(model);
}

SCOPED_DEFINE(struct model, model_destroy)
SCOPED_DEFINE(struct filter_file, filter_file_unref)

#define SCOPED_MODEL SCOPED(scoped_model_destroy) struct model *
#define SCOPED_FILTER_FILE SCOPED(scoped_filter_file_unref) struct filter_file *

/* A part of 200 rows, like the one in FORMAT.md. */
static inline struct model_part *
model_add_part(struct model *model, const void *first_key, size_t first_size,
               const void *last_key, size_t last_size)
{
    struct model_part *part;

    model->parts =
        realloc(model->parts, (model->part_count + 1) * sizeof(*model->parts));
    part = &model->parts[model->part_count++];
    memset(part, 0, sizeof(*part));
    part->part.shape.row_count = 200;
    part->part.shape.fine = 1;
    part->part.shape.coarse = 16;
    part->part.shape.hash_bits = 32;
    part->part.shape.group_bits = 6;
    part->part.hash_count = 1000;
    part->keys = malloc(first_size + last_size + 1);
    if (first_size > 0)
        memcpy(part->keys, first_key, first_size);
    if (last_size > 0)
        memcpy(part->keys + first_size, last_key, last_size);
    part->part.first_key = colander_slice_of(part->keys, first_size);
    part->part.last_key = colander_slice_of(part->keys + first_size, last_size);
    return part;
}

/* Adds a block to the last part. */
static inline void
model_add_block(struct model *model, enum filter_block_kind kind,
                uint32_t first, const void *data, size_t size)
{
    struct model_part *part = &model->parts[model->part_count - 1];
    struct model_block *block;

    part->blocks =
        realloc(part->blocks, (part->block_count + 1) * sizeof(*part->blocks));
    block = &part->blocks[part->block_count++];
    block->kind = kind;
    block->first = first;
    block->size = size;
    block->data = malloc(size + 1);
    if (size > 0)
        memcpy(block->data, data, size);
}

/* The example file of filters/FORMAT.md. */
static const uint8_t golden[] __attribute__((unused)) = {
    /* 0: the beginning */
    0x43, 0x4f, 0x4c, 0x46, 0x49, 0x4c, 0x54, 0x0a, 7, 0, 0, 0, 0, 0, 0, 0,
    0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01,
    /* 24: a block of the locator, and its checksum */
    'l', 'o', 'c', 'a', 't', 'o', 'r', 0x7f, 0xfe, 0x0d, 0x04, 0x00, 0xe1, 0xe7,
    0x19,
    /* 39: a block of keys */
    'k', 'e', 'y', 's', 0x78, 0x62, 0x0d, 0xcc, 0xc4, 0x7b, 0x19, 0x42,
    /* 51: the directory: salt, tag */
    0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, 't', 'a', 'g', ' ', 'o',
    'f', ' ', '1', '6', ' ', 'b', 'y', 't', 'e', 's', '.',
    /* 75: 300 entries, words of version 7 and 9 bytes, hash version 1, a column
     * left out */
    0xac, 0x02, 7, 9, 1, 1, 8, 7, 6, 5, 4, 3, 2, 1,
    /* 89: 1 part, 2 blocks, 5 bytes of keys */
    1, 2, 5,
    /* 92: 200 rows, fine 1, coarse 16, bits of hash and group */
    0xc8, 0x01, 1, 16, 32, 6,
    /* 98: no presence; 1,000 hashes */
    0, 0, 0, 0xe8, 0x07,
    /* 103: first and last key */
    2, 'a', 'b', 3, 'x', 'y', 'z',
    /* 110: one block of the locator, one of keys */
    1, 1, 0, 0, 0, 35, 0, 21, 0,
    /* 119: two spans: from 0 and from row 0, from 4,000 and from row 120 */
    2, 0, 0, 1, 2, 3, 4, 0xa0, 0x1f, 120, 5, 6, 7, 8,
    /* 133: one column has words */
    1, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
    /* 142: the footer: where the directory is, its size and checksum */
    51, 0, 0, 0, 0, 0, 0, 0, 91, 0, 0, 0, 0, 0, 0, 0, 0xc9, 0x44, 0xa1, 0xa2,
    0xac, 0xeb, 0x96, 0x5d, 0, 0, 0, 0, 7, 0, 0, 0, 0x43, 0x4f, 0x4c, 0x46,
    0x49, 0x4c, 0x54, 0x0a};

/* The same as version 4 has it: without the bytes of words, and with four kinds
 * of blocks. */
static const uint8_t golden_4[] __attribute__((unused)) = {
    /* 0: the beginning */
    0x43, 0x4f, 0x4c, 0x46, 0x49, 0x4c, 0x54, 0x0a, 4, 0, 0, 0, 0, 0, 0, 0,
    0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01,
    /* 24: a block of the locator, and its checksum */
    'l', 'o', 'c', 'a', 't', 'o', 'r', 0x7f, 0xfe, 0x0d, 0x04, 0x00, 0xe1, 0xe7,
    0x19,
    /* 39: a block of keys */
    'k', 'e', 'y', 's', 0x78, 0x62, 0x0d, 0xcc, 0xc4, 0x7b, 0x19, 0x42,
    /* 51: the directory: salt, tag */
    0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, 't', 'a', 'g', ' ', 'o',
    'f', ' ', '1', '6', ' ', 'b', 'y', 't', 'e', 's', '.',
    /* 75: 300 entries, from sequence 7, hash version 1, a column left out */
    0xac, 0x02, 7, 1, 1, 8, 7, 6, 5, 4, 3, 2, 1,
    /* 88: 1 part, 2 blocks, 5 bytes of keys */
    1, 2, 5,
    /* 91: 200 rows, fine 1, coarse 16, bits of hash and group */
    0xc8, 0x01, 1, 16, 32, 6,
    /* 97: no presence; 1,000 hashes */
    0, 0, 0, 0xe8, 0x07,
    /* 102: first and last key */
    2, 'a', 'b', 3, 'x', 'y', 'z',
    /* 109: one block of the locator, one of keys */
    1, 1, 0, 0, 28, 0, 17, 0,
    /* 117: two spans: from 0 and from row 0, from 4,000 and from row 120 */
    2, 0, 0, 1, 2, 3, 4, 0xa0, 0x1f, 120, 5, 6, 7, 8,
    /* 131: the footer: where the directory is, its size and checksum */
    51, 0, 0, 0, 0, 0, 0, 0, 80, 0, 0, 0, 0, 0, 0, 0, 0xf5, 0xf2, 0xc7, 0x37,
    0xfe, 0x8a, 0xbc, 0x23, 0, 0, 0, 0, 4, 0, 0, 0, 0x43, 0x4f, 0x4c, 0x46,
    0x49, 0x4c, 0x54, 0x0a};

#define GOLDEN_SPANS_SIZE 14
#define GOLDEN_WORD_COLUMNS_SIZE 9

/* The contents of `golden`. */
static inline struct model *
model_golden(void)
{
    struct model *model = model_empty();

    memcpy(model->head.tag, "tag of 16 bytes.", SST_TAG_SIZE);
    model->head.entry_count = 300;
    model->head.words_version = 7;
    model->head.words_size = 9;
    model->head.hash_version = 1;
    model->head.unfiltered_count = 1;
    model->head.unfiltered[0] = UINT64_C(0x0102030405060708);
    model->head.word_column_count = 1;
    model->head.word_columns[0] = UINT64_C(0x1112131415161718);
    model_add_part(model, "ab", 2, "xyz", 3);
    model_add_block(model, FILTER_LOCATOR, 0, "locator", 7);
    model_add_block(model, FILTER_KEYS, 0, "keys", 4);
    model->spans[0] = (struct filter_span){0, 0, 0x04030201};
    model->spans[1] = (struct filter_span){4000, 120, 0x08070605};
    model->span_count = 2;
    return model;
}

/* A small model of two parts, with several blocks of a kind among others. */
static inline struct model *
model_tiny(void)
{
    struct model *model = model_empty();
    struct model_part *part;

    memcpy(model->head.tag, "0123456789abcdef", SST_TAG_SIZE);
    model->head.entry_count = 1000;
    model->head.words_version = UINT64_MAX;
    model->head.words_size = UINT64_MAX;
    model->head.hash_version = 1;
    model->head.unfiltered_count = 2;
    model->head.unfiltered[0] = 3;
    model->head.unfiltered[1] = UINT64_MAX;
    model_add_part(model, "aaa", 3, "bbb", 3);
    model_add_block(model, FILTER_LOCATOR, 0, "first locator", 13);
    model_add_block(model, FILTER_KEYS, 0, "keys", 4);
    model_add_block(model, FILTER_LOCATOR, 9, "second", 6);
    model_add_block(model, FILTER_ORDER, 0, "", 0);
    model_add_block(model, FILTER_LOCATOR, 63, "third", 5);
    part = model_add_part(model, "c", 1, "d", 1);
    part->part.presence.block_count = 1000;
    part->part.presence.probes = 7;
    part->part.presence.hash_bits = 40;
    model_add_block(model, FILTER_KEYS, 3, "key", 3);
    model_add_block(model, FILTER_PRESENCE, 0, "bits and bits", 13);
    model_add_block(model, FILTER_PRESENCE, 500, "more of them", 12);
    return model;
}

/* -------------------------------------------------------------- random --- */

/* A random number below 2^bits; all lengths in bits are equally likely. */
static inline uint64_t
model_any(uint64_t *random, unsigned bits)
{
    return random_next(random) >> (64 - bits) >> random_below(random, bits);
}

static inline void
model_fill(uint64_t *random, uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)random_next(random);
}

static inline void
model_add_random_part(struct model *model, uint64_t *random)
{
    static uint8_t keys[2][4096];
    size_t sizes[2] = {model_any(random, 12), model_any(random, 12)};
    struct filter_part *part;

    keys[0][0] = 1;
    keys[1][0] = 2;
    model_fill(random, keys[0] + 1, sizeof(keys[0]) - 1);
    model_fill(random, keys[1] + 1, sizeof(keys[1]) - 1);
    part =
        &model_add_part(model, keys[0], sizes[0], keys[1], sizes[1] + 1)->part;
    part->shape.row_count = (uint32_t)model_any(random, 20) + 1;
    part->shape.fine = UINT32_C(1) << random_below(random, 10);
    part->shape.coarse = part->shape.fine * 2;
    part->shape.hash_bits = (uint8_t)(16 + random_below(random, 25));
    part->shape.group_bits = (uint8_t)random_below(random, 17);
    part->hash_count = model_any(random, part->shape.hash_bits);
    if (random_below(random, 2) == 0) {
        part->presence.block_count = (uint32_t)model_any(random, 26) + 1;
        part->presence.probes = (uint8_t)(1 + random_below(random, 12));
        part->presence.hash_bits = (uint8_t)(1 + random_below(random, 64));
    }
}

/* Adds up to 100 blocks of the kinds in random order, if there is space. Those
 * of dictionaries have no random bytes. */
static inline void
model_add_random_blocks(struct model *model, uint64_t *random, size_t size_max)
{
    const struct filter_part *part = &model->parts[model->part_count - 1].part;
    const uint64_t ends[FILTER_KINDS] = {
        UINT64_C(1) << part->shape.group_bits,
        locator_units(&part->shape, part->shape.fine), 1,
        part->presence.block_count};
    uint64_t next[FILTER_KINDS] = {0};
    bool is_without[FILTER_KINDS];
    SCOPED_MEMORY uint8_t *data = malloc(size_max);

    for (unsigned kind = 0; kind < FILTER_KINDS; kind++)
        is_without[kind] = random_below(random, 4) == 0;
    for (uint64_t i = random_below(random, 100); i-- > 0;) {
        enum filter_block_kind kind =
            (enum filter_block_kind)random_below(random, FILTER_KINDS);
        size_t size = random_below(random, size_max);

        if (random_below(random, 4) == 0)
            next[kind] += model_any(random, 14);
        if (is_without[kind] || next[kind] >= ends[kind])
            continue;
        model_fill(random, data, size);
        model_add_block(model, kind, (uint32_t)next[kind], data, size);
        next[kind]++;
    }
}

/* Up to `part_max` parts, with blocks of less than `size_max` bytes. */
static inline struct model *
model_create(uint64_t *random, size_t part_max, size_t size_max)
{
    struct model *model = model_empty();
    uint64_t part_count = random_below(random, part_max + 1);

    model_fill(random, model->head.tag, SST_TAG_SIZE);
    model->head.entry_count = model_any(random, 64);
    model->head.words_version = model_any(random, 64);
    model->head.words_size = model_any(random, 64);
    model->head.hash_version = (uint32_t)model_any(random, 32);
    model->head.unfiltered_count =
        (uint32_t)random_below(random, FILTER_PATHS_MAX + 1);
    for (uint32_t i = 0; i < model->head.unfiltered_count; i++)
        model->head.unfiltered[i] = random_next(random);
    for (uint64_t i = 0; i < part_count; i++) {
        model_add_random_part(model, random);
        model_add_random_blocks(model, random,
                                i == 0 ? size_max : size_max / 10 + 1);
    }
    return model;
}

/* --------------------------------------------------- writing, comparing --- */

static inline enum colander_code
model_write(const struct model *model, const char *path,
            struct colander_error *err)
{
    struct filter_writer *writer = NULL;
    enum colander_code code = filter_writer_create(path, &writer, err);

    for (size_t i = 0; i < model->part_count && code == COLANDER_OK; i++) {
        const struct model_part *part = &model->parts[i];

        for (size_t j = 0; j < part->block_count && code == COLANDER_OK; j++) {
            const struct model_block *block = &part->blocks[j];

            code = filter_writer_block(
                writer, block->kind,
                colander_slice_of(block->data, block->size), block->first, err);
        }
        if (code == COLANDER_OK)
            code = filter_writer_part_end(writer, &part->part, err);
    }
    if (code == COLANDER_OK)
        code = filter_writer_finish(writer, &model->head, model->spans,
                                    model->span_count, err);
    filter_writer_destroy(writer);
    return code;
}

static inline bool
model_part_is(const struct filter_part *a, const struct filter_part *b)
{
    return a->shape.row_count == b->shape.row_count &&
           a->shape.fine == b->shape.fine &&
           a->shape.coarse == b->shape.coarse &&
           a->shape.hash_bits == b->shape.hash_bits &&
           a->shape.group_bits == b->shape.group_bits &&
           a->presence.block_count == b->presence.block_count &&
           a->presence.probes == b->presence.probes &&
           a->presence.hash_bits == b->presence.hash_bits &&
           a->hash_count == b->hash_count &&
           colander_slice_equal(a->first_key, b->first_key) &&
           colander_slice_equal(a->last_key, b->last_key);
}

/* Returns whether head and parts are those of the model. */
static inline bool
model_is_described_by(const struct model *model, const struct filter_file *file)
{
    const struct filter_head *head = &file->head;

    if (memcmp(head->tag, model->head.tag, SST_TAG_SIZE) != 0 ||
        head->entry_count != model->head.entry_count ||
        head->words_version != model->head.words_version ||
        head->words_size != model->head.words_size ||
        head->hash_version != model->head.hash_version ||
        head->unfiltered_count != model->head.unfiltered_count ||
        head->word_column_count != model->head.word_column_count ||
        memcmp(head->word_columns, model->head.word_columns,
               sizeof(head->word_columns)) != 0 ||
        memcmp(head->unfiltered, model->head.unfiltered,
               sizeof(head->unfiltered)) != 0 ||
        file->part_count != model->part_count ||
        file->span_count != model->span_count)
        return false;
    for (uint32_t i = 0; i < model->span_count; i++) {
        if (file->spans[i].offset != model->spans[i].offset ||
            file->spans[i].first_row != model->spans[i].first_row ||
            file->spans[i].key_sum != model->spans[i].key_sum)
            return false;
    }
    for (uint32_t i = 0; i < model->part_count; i++) {
        const struct filter_part *part = &file->parts[i];
        uint32_t counts[FILTER_KINDS] = {0};

        for (size_t j = 0; j < model->parts[i].block_count; j++)
            counts[model->parts[i].blocks[j].kind]++;
        if (!model_part_is(part, &model->parts[i].part) ||
            memcmp(counts, part->block_count, sizeof(counts)) != 0)
            return false;
    }
    return true;
}

enum model_answer { MODEL_SAME, MODEL_ERROR, MODEL_DIFFERENT };

/* Looks for `place`, which is in `expected`. */
static inline enum model_answer
model_compare_block(const struct model_block *expected,
                    const struct filter_file *file,
                    const struct filter_part *part, uint32_t place)
{
    enum model_answer answer = MODEL_SAME;
    struct cached_block *block;
    uint32_t first;
    enum colander_code code = filter_file_block(file, part, expected->kind,
                                                place, &block, &first, NULL);

    if (code != COLANDER_OK)
        return code == COLANDER_CORRUPT && block == NULL ? MODEL_ERROR
                                                         : MODEL_DIFFERENT;
    if (first != expected->first || block->bytes.size != expected->size ||
        (expected->size > 0 &&
         memcmp(block->bytes.data, expected->data, expected->size) != 0))
        answer = MODEL_DIFFERENT;
    block_cache_release(file->cache, block);
    return answer;
}

/* Returns the worst answer of all blocks for their first and last places. */
static inline enum model_answer
model_compare_blocks(const struct model *model, const struct filter_file *file)
{
    enum model_answer worst = MODEL_SAME;

    for (uint32_t i = 0; i < model->part_count; i++) {
        const struct model_part *part = &model->parts[i];
        uint32_t last[FILTER_KINDS] = {UINT32_MAX, UINT32_MAX, UINT32_MAX,
                                       UINT32_MAX, UINT32_MAX};

        for (size_t j = part->block_count; j-- > 0;) {
            const struct model_block *block = &part->blocks[j];
            uint32_t places[2] = {block->first, last[block->kind]};

            last[block->kind] = block->first - 1;
            for (size_t k = 0; k < 2; k++) {
                enum model_answer answer = model_compare_block(
                    block, file, &file->parts[i], places[k]);

                if (answer > worst)
                    worst = answer;
            }
        }
    }
    return worst;
}

/* Reads many blocks. Returns the sum of all their bytes. */
static inline uint64_t
model_look_around(const struct filter_file *file)
{
    static const uint32_t places[] = {0, 1, 9, 63, 500, UINT32_MAX};
    uint64_t sum = 0;

    for (uint32_t i = 0; i < file->part_count; i++) {
        const struct filter_part *part = &file->parts[i];

        for (size_t j = 0; j < part->first_key.size; j++)
            sum += part->first_key.data[j];
        for (size_t j = 0; j < part->last_key.size; j++)
            sum += part->last_key.data[j];
        for (size_t j = 0; j < FILTER_KINDS * 6; j++) {
            struct cached_block *block;
            uint32_t first;

            if (filter_file_block(file, part, (enum filter_block_kind)(j / 6),
                                  places[j % 6], &block, &first,
                                  NULL) != COLANDER_OK)
                continue;
            for (size_t k = 0; k < block->bytes.size; k++)
                sum += block->bytes.data[k];
            block_cache_release(file->cache, block);
        }
    }
    return sum;
}

/* ------------------------------------------------------------- fixture --- */

/* Shared by the tests of a program: one file at a time, and a block cache. */
static char directory[TEMPORARY_SIZE];
static char path[TEMPORARY_SIZE + 16];
static struct block_cache *cache;

static int
directory_create(void **state)
{
    temporary_make(directory);
    (void)snprintf(path, sizeof(path), "%s/a.filter", directory);
    cache = block_cache_create(1 << 20, 4096);
    return 0;
}

static int
directory_remove(void **state)
{
    block_cache_destroy(cache);
    temporary_remove(directory);
    return 0;
}

/* Replaces the file by that of the model. */
static void
write_model(const struct model *model)
{
    (void)unlink(path);
    OK(model_write(model, path, why()));
}

/* Opens the file, which must succeed. */
static struct filter_file *
open_model(void)
{
    struct filter_file *file;

    OK(filter_file_open(path, cache, &file, NULL));
    return file;
}

#endif
