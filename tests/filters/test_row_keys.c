/*
 * Row keys: blocks of front-coded keys, compared with the keys from which they
 * were built.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/row_keys.h"
#include "support/cases.h"

#include "support/cases.h"
#include "support/random.h"
#include "support/scoped.h"

#define SCOPED_READER SCOPED(row_keys_reader_release) struct row_keys_reader
#define KEY_SIZE_MAX 4096
#define BLOCKS_MAX 4096

/* A list of keys, with their bytes concatenated. */
struct keys {
    struct colander_buffer bytes;
    struct colander_slice *list;
    size_t count;
};

/* The blocks that a coder produced. */
struct blocks {
    struct colander_buffer blocks[BLOCKS_MAX];
    uint32_t first_units[BLOCKS_MAX];
    size_t count;
    size_t size;
};

static struct keys keys;
static struct blocks blocks;

static enum colander_code
keep_block(void *context, struct colander_slice block, uint32_t first_unit,
           struct colander_error *err)
{
    struct blocks *kept = context;

    assert_true(kept->count < BLOCKS_MAX);
    kept->first_units[kept->count] = first_unit;
    kept->size += block.size;
    return colander_buffer_append(&kept->blocks[kept->count++], block.data,
                                  block.size, err);
}

static void
release_blocks(void)
{
    for (size_t i = 0; i < blocks.count; i++)
        colander_buffer_release(&blocks.blocks[i]);
    blocks.count = 0;
    blocks.size = 0;
}

static void
release_keys(void)
{
    colander_buffer_release(&keys.bytes);
    free(keys.list);
    keys.list = NULL;
    keys.count = 0;
}

static void
code_keys(void)
{
    struct row_keys_coder coder;

    release_blocks();
    row_keys_coder_init(&coder, keep_block, &blocks);
    for (size_t i = 0; i < keys.count; i++)
        OK(row_keys_coder_add(&coder, keys.list[i], why()));
    OK(row_keys_coder_finish(&coder, why()));
    row_keys_coder_release(&coder);
}

static int
key_order(const void *a, const void *b)
{
    return colander_slice_compare(*(const struct colander_slice *)a,
                                  *(const struct colander_slice *)b);
}

/* How the keys of a list are generated. */
enum shape {
    SHAPE_EIGHT,  /* a byte and 8 random ones */
    SHAPE_FEW,    /* 1 to 24 of two letters: long common prefixes */
    SHAPE_NUMBER, /* a long prefix and a number */
    SHAPE_LONG,   /* up to 4 KiB, changed anywhere */
    SHAPES,
};

static size_t
make_key(enum shape shape, uint64_t *state, uint8_t *key)
{
    uint64_t bits = random_next(state);
    size_t size = 1 + (size_t)random_below(state, 24);

    switch (shape) {
    case SHAPE_EIGHT:
        key[0] = 0x30;
        memcpy(key + 1, &bits, sizeof(bits));
        return 9;
    case SHAPE_FEW:
        for (size_t i = 0; i < size; i++)
            key[i] = (uint8_t)('a' + (bits >> i & 1));
        return size;
    case SHAPE_NUMBER:
        return (size_t)snprintf((char *)key, KEY_SIZE_MAX,
                                "a-long-beginning-of-every-key/%07" PRIu64,
                                bits % 10000000);
    default:
        size = 1 + (size_t)random_below(state, KEY_SIZE_MAX);
        memset(key, 0xff, size);
        key[random_below(state, size)] = (uint8_t)bits;
        return size;
    }
}

/* A list of at most `count` keys, ascending, without duplicates. */
static void
make_keys(enum shape shape, size_t count, uint64_t *state)
{
    static uint8_t key[KEY_SIZE_MAX];
    SCOPED_MEMORY size_t *sizes = calloc(count, sizeof(*sizes));
    size_t offset = 0;

    release_keys();
    keys.list = calloc(count, sizeof(*keys.list));
    for (size_t i = 0; i < count; i++) {
        sizes[i] = make_key(shape, state, key);
        OK(colander_buffer_append(&keys.bytes, key, sizes[i], NULL));
    }
    for (size_t i = 0; i < count; offset += sizes[i++])
        keys.list[i] = colander_slice_of(keys.bytes.data + offset, sizes[i]);
    qsort(keys.list, count, sizeof(keys.list[0]), key_order);
    for (size_t i = 0; i < count; i++) {
        if (keys.count == 0 ||
            !colander_slice_equal(keys.list[keys.count - 1], keys.list[i]))
            keys.list[keys.count++] = keys.list[i];
    }
}

static void
assert_key(const struct row_keys_reader *reader, struct colander_slice key)
{
    ASSERT_SAME(colander_buffer_slice(&reader->key), key);
}

/* The keys of all blocks, one by one, are those of the list. */
static void
check_sequence(void)
{
    SCOPED_READER reader = ROW_KEYS_READER_EMPTY;
    size_t number = 0;

    for (size_t i = 0; i < blocks.count; i++) {
        struct colander_slice block = colander_buffer_slice(&blocks.blocks[i]);

        assert_int_equal(blocks.first_units[i], number);
        OK(row_keys_open(&reader, block, NULL));
        for (uint32_t index = 0; index < reader.count; index++) {
            OK(row_keys_get(&reader, index, NULL));
            assert_key(&reader, keys.list[number++]);
        }
    }
    assert_int_equal(number, keys.count);
}

static void
check_get(struct row_keys_reader *reader, size_t block_index, uint64_t *state)
{
    struct colander_slice *expected =
        keys.list + blocks.first_units[block_index];
    uint32_t index = (uint32_t)random_below(state, reader->count);

    for (size_t i = 0; i < 3 && index < reader->count; i++, index++) {
        OK(row_keys_get(reader, index, NULL));
        assert_key(reader, expected[index]);
    }
}

/* Looks for an existing key, a truncated one or a changed one. */
static void
check_search(struct row_keys_reader *reader, size_t block_index,
             uint64_t *state)
{
    static uint8_t copy[KEY_SIZE_MAX];
    uint32_t count = reader->count;
    struct colander_slice *list = keys.list + blocks.first_units[block_index];
    struct colander_slice key = keys.list[random_below(state, keys.count)];
    uint32_t expected = 0;
    uint32_t index;

    if (random_below(state, 2) == 0)
        key = list[random_below(state, count)];
    memcpy(copy, key.data, key.size);
    key.data = copy;
    if (random_below(state, 3) == 0)
        key.size = (size_t)random_below(state, key.size + 1);
    else if (random_below(state, 2) == 0)
        copy[random_below(state, key.size)]++;
    while (expected < count && colander_slice_compare(list[expected], key) < 0)
        expected++;

    OK(row_keys_search(reader, key, &index, NULL));
    assert_int_equal(index, expected);
    if (index < count)
        assert_key(reader, list[index]);
}

TEST(blocks_return_the_keys_that_were_added)
{
    SCOPED_READER reader = ROW_KEYS_READER_EMPTY;
    uint64_t random = random_seed(__func__);

    for (uint64_t run = 0; run < random_runs(24); run++) {
        enum shape shape = (enum shape)(run % SHAPES);
        size_t most = shape == SHAPE_LONG ? 60 : 6000;

        make_keys(shape, 1 + (size_t)random_below(&random, most), &random);
        code_keys();
        check_sequence();
        for (size_t i = 0; i < 200; i++) {
            size_t block = (size_t)random_below(&random, blocks.count);

            OK(row_keys_open(
                &reader, colander_buffer_slice(&blocks.blocks[block]), NULL));
            check_get(&reader, block, &random);
            check_search(&reader, block, &random);
        }
    }
}

/* The numbering of units continues if a block ends between them. */
TEST(keys_longer_than_a_block_are_kept)
{
    static const uint8_t zeros[20000];
    static uint8_t bytes[200000];
    uint64_t random = 1;

    make_keys(SHAPE_EIGHT, 40, &random);
    keys.list[0] = colander_slice_of(zeros, sizeof(zeros));
    for (size_t i = 0; i < 3; i++)
        keys.list[37 + i] = colander_slice_of(bytes, 100000 + 20000 * i);
    memset(bytes, 0xff, sizeof(bytes));
    code_keys();
    assert_int_equal(blocks.count, 5);
    check_sequence();
}

TEST(coding_no_key_makes_no_block)
{
    release_keys();
    code_keys();
    assert_int_equal(blocks.count, 0);
}

/* The purpose of front coding. */
TEST(random_keys_of_nine_bytes_take_less_than_eight)
{
    uint64_t random = random_seed(__func__);

    make_keys(SHAPE_EIGHT, 100000, &random);
    code_keys();
    assert_true(blocks.size < 8 * keys.count);
    assert_true(blocks.blocks[0].size <= ROW_KEYS_BLOCK_SIZE);
    assert_true(blocks.blocks[0].size > ROW_KEYS_BLOCK_SIZE - 64);
}

TEST(separator_is_the_shortest_that_parts_two_keys)
{
    uint64_t random = random_seed(__func__);

    make_keys(SHAPE_FEW, 3000, &random);
    for (size_t i = 0; i < keys.count; i++) {
        struct colander_slice before =
            i == 0 ? colander_slice_of("", 0) : keys.list[i - 1];
        struct colander_slice key = keys.list[i];
        struct colander_slice cut = row_keys_separator(before, key);

        assert_ptr_equal(cut.data, key.data);
        assert_true(colander_slice_compare(before, cut) < 0);
        assert_true(colander_slice_compare(cut, key) <= 0);
        cut.size--;
        assert_true(colander_slice_compare(before, cut) >= 0);
    }
}

/* "b", 16 times "c", and that followed by 18 times "d". */
TEST(bytes_of_a_block_do_not_change)
{
    static const char golden[] = "\x01"
                                 "b"
                                 /* 0 shared, 15 + 1 more */
                                 "\x0f\x01"
                                 "cccccccccccccccc"
                                 /* 15 + 1 shared, 15 + 3 more */
                                 "\xff\x01\x03"
                                 "dddddddddddddddddd"
                                 /* the restart, 3 keys */
                                 "\x00\x00\x03\x00";
    static const char text[] = "bccccccccccccccccdddddddddddddddddd";
    uint8_t third[34];
    uint64_t random = 1;

    make_keys(SHAPE_EIGHT, 3, &random);
    memcpy(third, text + 1, sizeof(third));
    keys.list[0] = colander_slice_of(text, 1);
    keys.list[1] = colander_slice_of(text + 1, 16);
    keys.list[2] = colander_slice_of(third, sizeof(third));
    code_keys();
    assert_int_equal(blocks.count, 1);
    assert_int_equal(blocks.blocks[0].size, sizeof(golden) - 1);
    assert_memory_equal(blocks.blocks[0].data, golden, sizeof(golden) - 1);
}

/* Reads whatever is there: a key or CORRUPT, within the bytes of the block. */
static void
read_damaged(struct row_keys_reader *reader, struct colander_slice block,
             uint64_t *random)
{
    struct colander_slice key = keys.list[random_below(random, keys.count)];
    enum colander_code code = row_keys_open(reader, block, NULL);
    const uint32_t count = reader->count;
    uint32_t index = (uint32_t)random_below(random, (uint64_t)count + 2);

    assert_int_equal(code, count == 0 ? COLANDER_CORRUPT : COLANDER_OK);
    code = row_keys_get(reader, index, NULL);
    if (index >= count)
        assert_int_equal(code, COLANDER_CORRUPT);
    for (size_t i = 0; code == COLANDER_OK && i < 40; i++) {
        assert_true(reader->key.size <= block.size);
        if (++index == count)
            break;
        code = row_keys_get(reader, index, NULL);
    }
    assert_true(code == COLANDER_OK || code == COLANDER_CORRUPT);
    code = row_keys_open(reader, block, NULL);
    if (code == COLANDER_OK)
        code = row_keys_search(reader, key, &index, NULL);
    assert_true(code == COLANDER_OK || code == COLANDER_CORRUPT);
    if (code == COLANDER_OK)
        assert_true(index <= count);
}

/* Reads a damaged copy in memory of exact size, so that an overrun is
 * detected. */
static void
read_copy(struct row_keys_reader *reader, struct colander_slice block,
          uint64_t *random)
{
    SCOPED_MEMORY uint8_t *copy = malloc(block.size > 0 ? block.size : 1);

    assert_non_null(copy);
    if (block.size > 0)
        memcpy(copy, block.data, block.size);
    read_damaged(reader, colander_slice_of(copy, block.size), random);
}

TEST(truncated_blocks_read_as_keys_or_corrupt)
{
    SCOPED_READER reader = ROW_KEYS_READER_EMPTY;
    uint64_t random = random_seed(__func__);

    for (size_t shape = 0; shape < SHAPES; shape++) {
        make_keys((enum shape)shape, 70, &random);
        code_keys();
        for (size_t size = 0; size < blocks.blocks[0].size; size++)
            read_copy(&reader, colander_slice_of(blocks.blocks[0].data, size),
                      &random);
    }
}

TEST(flipped_blocks_read_as_keys_or_corrupt)
{
    SCOPED_READER reader = ROW_KEYS_READER_EMPTY;
    SCOPED_BUFFER damaged = COLANDER_BUFFER_EMPTY;
    uint64_t random = random_seed(__func__);

    for (uint64_t run = 0; run < random_runs(100); run++) {
        const struct colander_buffer *block = &blocks.blocks[0];

        make_keys((enum shape)(run % SHAPES), 70, &random);
        code_keys();
        for (size_t i = 0; i < 1000; i++) {
            size_t tail = block->size < 40 ? block->size : 40;
            size_t place =
                random_below(&random, 4) == 0
                    ? block->size - 1 - (size_t)random_below(&random, tail)
                    : (size_t)random_below(&random, block->size);

            if (i == 0 || random_below(&random, 4) != 0) {
                colander_buffer_clear(&damaged);
                OK(colander_buffer_append(&damaged, block->data, block->size,
                                          NULL));
            }
            damaged.data[place] ^= (uint8_t)(1u << random_below(&random, 8));
            read_copy(&reader, colander_buffer_slice(&damaged), &random);
        }
    }
}

static int
release_all(void **random)
{
    release_blocks();
    release_keys();
    return 0;
}

int
main(void)
{
    return tests_run(NULL, release_all);
}
