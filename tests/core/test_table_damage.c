/*
 * Damaged SST files: what is returned is right and in order; what is missing
 * lies in a reported gap, and only where the damage is.
 *
 * The entries of a block are known from the file before it was damaged: the
 * index has the places of its blocks, and each is read alone. test_table_file.c
 * compares such readings with RocksDB.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/golden_table.h"
#include "support/scoped.h"
#include "support/table_stores.h"

#include "core/engine.h"
#include "core/tables/table_map.h"

#include <inttypes.h>

#define FILES_MAX 32
#define PAGE_SIZE 4096

/* ---------------------------------------------------------------- files --- */

/* A data block and its entries: from `first` up to but not including `end`. */
struct known_block {
    uint64_t offset;
    uint64_t end_offset;
    size_t first;
    size_t end;
};

/* A file before it is damaged. */
struct whole_file {
    struct colander_buffer bytes;
    struct reading reading;
    struct known_block *blocks;
    size_t block_count;
    uint64_t data_end;
};

struct whole_files {
    struct whole_file files[FILES_MAX];
    size_t count;
    char directory[TEMPORARY_SIZE];
    int fd; /* of the directory */
};

static size_t
count_entries(struct table_block *block)
{
    struct colander_slice key;
    struct colander_slice value;
    size_t count = 0;

    while (table_block_next(block, &key, &value) == TABLE_PARSED)
        count++;
    return count;
}

static void
learn_blocks(struct whole_file *file, int fd)
{
    const struct table_source source = {.fd = fd, .size = file->bytes.size};
    struct table_map map = {0};
    struct table_block block;
    size_t entry = 0;

    OK(table_block_init(&block, NULL));
    OK(table_map_read(&map, &source, &block, NULL));
    assert_true(map.has_index && map.has_keys);
    file->blocks = calloc(map.block_count, sizeof(*file->blocks));
    for (size_t i = 0; i < map.block_count; i++) {
        const struct table_place place = map.blocks[i].place;
        const char *why;

        OK(table_block_read(&block, &source, place, &why, NULL));
        assert_null(why);
        file->blocks[i].offset = place.offset;
        file->blocks[i].end_offset =
            place.offset + place.size + TABLE_TRAILER_SIZE;
        file->blocks[i].first = entry;
        entry += count_entries(&block);
        file->blocks[i].end = entry;
    }
    assert_int_equal(entry, file->reading.given.count);
    file->block_count = map.block_count;
    file->data_end = map.data_end;
    table_map_release(&map);
    table_block_release(&block);
}

static void
learn_file(void *context, const char *path, uint64_t entry_count)
{
    struct whole_files *files = context;
    struct whole_file *file = &files->files[files->count++];
    struct table_source source = {.fd = open(path, O_RDONLY)};

    assert_true(source.fd >= 0 && files->count <= FILES_MAX);
    OK(table_source_read(&source, 0, (size_t)lseek(source.fd, 0, SEEK_END),
                         &file->bytes, NULL));
    read_table(AT_FDCWD, path, &file->reading);
    assert_int_equal(file->reading.gap_count, 0);
    assert_int_equal(file->reading.given.count, entry_count);
    learn_blocks(file, source.fd);
    close(source.fd);
}

/* In one store: a file of two flushes, one of a compaction, one of a bulk. */
static void
learn_store(struct whole_files *files, uint64_t *random)
{
    struct engine_family *families[2];
    struct colander_snapshot *snapshots[SNAPSHOTS];
    struct fixture *fixture;
    void *state;

    setup(&state);
    fixture = state;
    open_random_store(fixture, random);
    families[0] = family_of(fixture, "rows");
    families[1] = family_of(fixture, "bulk");
    rocksdb_stop_compactions(families[0]);
    write_random_files(fixture, families, 1, snapshots, random);
    write_bulk(families[1], random);
    rocksdb_visit_files(families[0], learn_file, files);
    rocksdb_visit_files(families[1], learn_file, files);
    for (size_t i = 0; i < SNAPSHOTS; i++) {
        if (i % 2 == 0)
            colander_snapshot_release(snapshots[i]);
    }
    OK(engine_family_compact(families[0], NULL));
    rocksdb_visit_files(families[0], learn_file, files);
    for (size_t i = 1; i < SNAPSHOTS; i += 2)
        colander_snapshot_release(snapshots[i]);
    assert_int_equal(teardown(&state), 0);
}

/* Files with each compression, and one with a single block. */
static void
learn_tables(struct whole_files *files, uint64_t *random)
{
    char path[TEMPORARY_SIZE + 16];

    (void)snprintf(path, sizeof(path), "%s/whole.sst", files->directory);
    for (unsigned i = 0; i < 4; i++) {
        static const int compressions[] = {4, 0, 7, 4};
        const struct rocksdb_table how = {.compression = compressions[i],
                                          .block_size = i == 3 ? 1 << 20 : 1000,
                                          .restart_interval = 4};
        const size_t count = i == 3 ? 20 : TABLE_KEYS;

        write_table(path, &how, count, random);
        learn_file(files, path, count);
    }
}

static void
files_init(struct whole_files *files, uint64_t *random)
{
    memset(files, 0, sizeof(*files));
    temporary_make(files->directory);
    files->fd = open(files->directory, O_RDONLY | O_DIRECTORY);
    assert_true(files->fd >= 0);
    for (unsigned i = 0; i < 3; i++)
        learn_store(files, random);
    learn_tables(files, random);
}

static void
files_release(struct whole_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        colander_buffer_release(&files->files[i].bytes);
        reading_release(&files->files[i].reading);
        free(files->files[i].blocks);
    }
    close(files->fd);
    temporary_remove(files->directory);
}

/* --------------------------------------------------------------- damage --- */

enum damage { BIT, BYTE, PAGE, GARBAGE, CUT, NO_END, DAMAGES };

/* Changed bytes, from `at` up to but not including `end`. */
struct touched {
    uint64_t at;
    uint64_t end;
};

static struct touched
damage_bytes(struct colander_buffer *bytes, const struct whole_file *file,
             enum damage damage, uint64_t at, uint64_t *random)
{
    struct touched touched = {at, at + 1};

    switch (damage) {
    case BIT:
        bytes->data[at] ^= (uint8_t)(1 << random_below(random, 8));
        break;
    case BYTE:
        bytes->data[at] ^= (uint8_t)(1 + random_below(random, 255));
        break;
    case PAGE:
        touched.at -= at % PAGE_SIZE;
        touched.end = touched.at + PAGE_SIZE;
        break;
    case GARBAGE:
        touched.end = at + 1 + random_below(random, 300);
        break;
    case CUT:
        touched.end = UINT64_MAX;
        bytes->size = (size_t)at;
        break;
    default:
        touched.at = file->data_end;
        touched.end = UINT64_MAX;
        break;
    }
    for (uint64_t i = touched.at;
         damage != BIT && damage != BYTE && i < touched.end && i < bytes->size;
         i++)
        bytes->data[i] = damage == GARBAGE ? (uint8_t)random_next(random) : 0;
    return touched;
}

static void
write_damaged(const struct whole_files *files,
              const struct colander_buffer *bytes)
{
    int fd = openat(files->fd, "damaged.sst", O_RDWR | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes->data, bytes->size), (ssize_t)bytes->size);
    close(fd);
}

/* ----------------------------------------------------------- comparison --- */

static bool
is_in(const struct kept_gap *gap, struct colander_slice key)
{
    return (gap->after.data == NULL ||
            colander_slice_compare(gap->after, key) < 0) &&
           (gap->until.data == NULL ||
            colander_slice_compare(key, gap->until) <= 0);
}

static bool
is_in_some_gap(const struct reading *reading, struct colander_slice key)
{
    for (size_t i = 0; i < reading->gap_count; i++)
        if (is_in(&reading->gaps[i], key))
            return true;
    return false;
}

static bool
is_touched(uint64_t from, uint64_t until, const struct touched *touched,
           size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (from < touched[i].end && touched[i].at < until)
            return true;
    return false;
}

/* Returns whether a block is damaged, or follows a damaged one where the index
 * may be damaged, too. */
static bool
is_lost(const struct whole_file *file, const struct known_block *block,
        const struct touched *touched, size_t count)
{
    const bool has_index =
        !is_touched(file->data_end, UINT64_MAX, touched, count);

    return is_touched(has_index ? block->offset : 0, block->end_offset, touched,
                      count);
}

/* Fills which entries were returned, and asserts that each existed, and that
 * they are in order. */
static size_t
match_given(const struct whole_file *file, const struct reading *reading,
            bool *was_given)
{
    const struct kept_entries *all = &file->reading.given;
    size_t lost = 0;
    size_t next = 0;

    for (size_t i = 0; i < reading->given.count; i++) {
        while (next < all->count &&
               !is_same_entry(&all->entries[next], &reading->given.entries[i]))
            was_given[next++] = false;
        assert_true(next < all->count);
        was_given[next++] = true;
    }
    while (next < all->count)
        was_given[next++] = false;
    for (size_t i = 0; i < all->count; i++)
        lost += !was_given[i];
    return lost;
}

/* Returns the number of lost entries. */
static size_t
check_reading(const struct whole_file *file, const struct reading *reading,
              const struct touched *touched, size_t touched_count)
{
    const struct kept_entries *all = &file->reading.given;
    SCOPED_MEMORY bool *was_given = calloc(all->count, sizeof(*was_given));
    size_t lost = match_given(file, reading, was_given);

    for (size_t b = 0; b < file->block_count; b++) {
        const struct known_block *block = &file->blocks[b];
        const bool may_be_lost = is_lost(file, block, touched, touched_count);

        for (size_t i = block->first; i < block->end; i++) {
            assert_true(was_given[i] || may_be_lost);
            assert_true(was_given[i] ||
                        is_in_some_gap(reading, all->entries[i].key));
        }
    }
    for (size_t i = 0; i < reading->gap_count; i++) {
        const struct kept_gap *gap = &reading->gaps[i];

        assert_true(gap->offset + gap->size <= file->bytes.size);
        assert_in_range(strlen(gap->why), 1, sizeof(gap->why) - 1);
        assert_true(gap->after.data == NULL || gap->until.data == NULL ||
                    colander_slice_compare(gap->after, gap->until) < 0);
    }
    return lost;
}

/* Damage to a single block of a file with an index is reported as that block,
 * with no more keys than the index allows. */
static void
check_tight(const struct whole_file *file, const struct reading *reading,
            size_t damaged)
{
    const struct known_block *block = &file->blocks[damaged];
    const struct kept_entry *all = file->reading.given.entries;
    const struct kept_gap *gap = reading->gaps;

    assert_int_equal(reading->gap_count, 1);
    assert_int_equal(gap->offset, block->offset);
    assert_int_equal(gap->size, block->end_offset - block->offset);
    assert_int_equal(gap->entry_count, block->first);
    assert_non_null(gap->until.data);
    if (block->end < file->reading.given.count)
        assert_true(colander_slice_compare(gap->until, all[block->end].key) <=
                    0);
    /* Entries of the previous block may be within: those of at most one key,
     * which might continue in this block. */
    for (size_t i = 0; i < block->first; i++)
        if (is_in(gap, all[i].key))
            assert_true(
                colander_slice_equal(all[i].key, all[block->first - 1].key));
}

/* ---------------------------------------------------------------- tests --- */

TEST(what_damage_does_not_touch_is_read)
{
    const uint64_t runs = random_runs(600);
    const uint64_t seed = random_seed(__func__);
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    SCOPED(files_release) struct whole_files files;
    uint64_t random = seed;
    size_t lost_runs = 0;

    files_init(&files, &random);
    for (uint64_t run = 0; run < runs; run++) {
        const size_t number = random_below(&random, files.count);
        const struct whole_file *file = &files.files[number];
        const size_t count = 1 + random_below(&random, 2);
        struct touched touched[2];
        SCOPED(reading_release) struct reading reading;
        size_t lost;

        colander_buffer_clear(&bytes);
        OK(colander_buffer_append(&bytes, file->bytes.data, file->bytes.size,
                                  NULL));
        for (size_t i = 0; i < count && bytes.size > 0; i++) {
            const enum damage damage =
                (enum damage)random_below(&random, DAMAGES);
            const bool is_at_end = random_below(&random, 3) == 0;
            const uint64_t from =
                is_at_end && bytes.size > file->data_end ? file->data_end : 0;

            touched[i] = damage_bytes(
                &bytes, file, damage,
                from + random_below(&random, bytes.size - from), &random);
        }
        write_damaged(&files, &bytes);
        read_table(files.fd, "damaged.sst", &reading);
        lost =
            check_reading(file, &reading, touched, bytes.size > 0 ? count : 1);
        lost_runs += lost > 0;
        assert_true(lost == 0 || reading.gap_count > 0);
    }
    printf("%" PRIu64 " damages, %zu lost entries\n", runs, lost_runs);
}

TEST(a_damaged_block_is_reported_with_the_bounds_of_the_index)
{
    const uint64_t runs = random_runs(300);
    uint64_t random = random_seed(__func__);
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    SCOPED(files_release) struct whole_files files;

    files_init(&files, &random);
    for (uint64_t run = 0; run < runs; run++) {
        const struct whole_file *file =
            &files.files[random_below(&random, files.count)];
        const size_t number = random_below(&random, file->block_count);
        const struct known_block *block = &file->blocks[number];
        const uint64_t at =
            block->offset +
            random_below(&random, block->end_offset - block->offset);
        struct touched touched;
        SCOPED(reading_release) struct reading reading;

        colander_buffer_clear(&bytes);
        OK(colander_buffer_append(&bytes, file->bytes.data, file->bytes.size,
                                  NULL));
        touched = damage_bytes(&bytes, file, BYTE, at, &random);
        write_damaged(&files, &bytes);
        read_table(files.fd, "damaged.sst", &reading);
        assert_int_equal(check_reading(file, &reading, &touched, 1),
                         block->end - block->first);
        check_tight(file, &reading, number);
    }
}

/* Any part of the file after the data may be missing. */
TEST(no_entry_is_lost_when_what_follows_the_data_is_damaged)
{
    const uint64_t runs = random_runs(300);
    uint64_t random = random_seed(__func__);
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    SCOPED(files_release) struct whole_files files;

    files_init(&files, &random);
    for (uint64_t run = 0; run < runs; run++) {
        const struct whole_file *file =
            &files.files[random_below(&random, files.count)];
        const uint64_t rest = file->bytes.size - file->data_end;
        const uint64_t at = file->data_end + random_below(&random, rest);
        SCOPED(reading_release) struct reading reading;

        colander_buffer_clear(&bytes);
        OK(colander_buffer_append(&bytes, file->bytes.data, file->bytes.size,
                                  NULL));
        if (run % 3 == 0)
            bytes.size = (size_t)at;
        else if (run % 3 == 1)
            memset(bytes.data + at, 0,
                   random_below(&random, file->bytes.size - at) + 1);
        else
            (void)damage_bytes(&bytes, file, BYTE, at, &random);
        write_damaged(&files, &bytes);
        read_table(files.fd, "damaged.sst", &reading);
        assert_int_equal(check_reading(file, &reading, NULL, 0), 0);
        /* a damaged byte also shows that none is */
        assert_true(run % 3 < 2 || reading.gap_count == 0);
    }
}

/* A small file, cut and damaged at each byte. */
TEST(a_small_file_is_cut_and_damaged_everywhere)
{
    SCOPED(files_release) struct whole_files files = {.count = 0};
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    const struct whole_file *file = &files.files[0];
    char path[TEMPORARY_SIZE + 16];
    uint64_t random = 1;

    temporary_make(files.directory);
    files.fd = open(files.directory, O_RDONLY | O_DIRECTORY);
    (void)snprintf(path, sizeof(path), "%s/whole.sst", files.directory);
    golden_write(path, GOLDEN_SIZE);
    learn_file(&files, path, 9);
    assert_in_range(file->block_count, 3, 9);
    for (uint64_t i = 0; i < 3 * file->bytes.size; i++) {
        const enum damage damage = i % 3 == 0 ? BYTE : CUT;
        struct touched touched[2] = {{0, 0}, {0, 0}};
        SCOPED(reading_release) struct reading reading;

        colander_buffer_clear(&bytes);
        OK(colander_buffer_append(&bytes, file->bytes.data, file->bytes.size,
                                  NULL));
        if (i % 3 == 1) /* so that another gap is reported before */
            touched[1] = damage_bytes(&bytes, file, BYTE, 5, &random);
        touched[0] = damage_bytes(&bytes, file, damage, i / 3, &random);
        write_damaged(&files, &bytes);
        read_table(files.fd, "damaged.sst", &reading);
        assert_true(check_reading(file, &reading, touched, 2) == 0 ||
                    reading.gap_count > 0);
    }
}

/* Rows and blocks of a constant size. */
static void
learn_even_file(struct whole_files *files)
{
    static const struct rocksdb_table how = {.block_size = 500,
                                             .restart_interval = 4};
    static uint8_t key_bytes[40][64];
    struct colander_slice values[40];
    struct colander_slice keys[40];
    char path[TEMPORARY_SIZE + 16];

    temporary_make(files->directory);
    files->fd = open(files->directory, O_RDONLY | O_DIRECTORY);
    (void)snprintf(path, sizeof(path), "%s/whole.sst", files->directory);
    for (size_t i = 0; i < 40; i++) {
        keys[i] = colander_slice_of(table_key_at(i, key_bytes[i]).data, 9);
        values[i] = colander_slice_of(golden_table, 100);
    }
    rocksdb_write_table(path, &how, keys, values, 40);
    learn_file(files, path, 40);
}

/* The file has no filter. */
static uint64_t
hash_nothing(struct colander_slice key)
{
    return key.size;
}

static void
check_fails(const struct whole_files *files, const char *message)
{
    FAILS(table_check(files->fd, "damaged.sst", hash_nothing, why()),
          COLANDER_CORRUPT);
    assert_string_equal(error_text(), message);
}

/* All blocks are intact, but one overwrites another. */
TEST(a_block_in_the_place_of_another_is_not_believed)
{
    SCOPED(files_release) struct whole_files files = {.count = 0};
    struct whole_file *file = &files.files[0];
    const struct known_block *one;
    const struct known_block *other;
    struct reading reading;
    char message[100];
    size_t left;

    learn_even_file(&files);
    assert_in_range(file->block_count, 5, 20);
    OK(table_check(files.fd, "whole.sst", hash_nothing, why()));
    one = &file->blocks[1];
    other = &file->blocks[3];
    assert_int_equal(one->end_offset - one->offset,
                     other->end_offset - other->offset);
    memcpy(file->bytes.data + other->offset, file->bytes.data + one->offset,
           (size_t)(one->end_offset - one->offset));
    left = 40 - (other->end - other->first);

    write_damaged(&files, &file->bytes);
    read_table(files.fd, "damaged.sst", &reading);
    check_tight(file, &reading, 3);
    assert_string_equal(reading.gaps[0].why,
                        "its keys are outside the bounds in the index");
    assert_int_equal(reading.given.count, left);
    reading_release(&reading);
    (void)snprintf(message, sizeof(message),
                   "the block at byte %d: its keys are outside the bounds in "
                   "the index",
                   (int)other->offset);
    check_fails(&files, message);

    file->bytes.size = (size_t)file->data_end; /* without the index */
    write_damaged(&files, &file->bytes);
    check_fails(&files, "its footer, or a block that it leads to, is damaged");
    read_table(files.fd, "damaged.sst", &reading);
    assert_int_equal(reading.given.count, left);
    assert_int_equal(reading.gap_count, 2);
    assert_string_equal(reading.gaps[0].why,
                        "its keys are not above those before it");
    assert_null(reading.gaps[0].after.data);
    assert_null(reading.gaps[0].until.data);
    reading_release(&reading);
}

/* A checksum may be right by accident, or made so. */
TEST(a_key_that_shares_more_than_there_is_is_damage)
{
    /* "ab", then a key that shares two or three of its bytes; restarts; the
     * kind of compression and a checksum, which is not looked at */
    uint8_t stored[] = {0, 2, 0, 'a', 'b', 2, 1, 0, 'c', 0, 0,
                        0, 0, 1, 0,   0,   0, 0, 0, 0,   0, 0};
    struct colander_slice key;
    struct colander_slice value;
    struct table_block block;
    const char *why;

    OK(table_block_init(&block, NULL));
    for (uint8_t shared = 2; shared <= 3; shared++) {
        stored[5] = shared;
        OK(table_block_take(&block, stored, sizeof(stored) - 5, &why, NULL));
        assert_null(why);
        assert_int_equal(table_block_next(&block, &key, &value), TABLE_PARSED);
        ASSERT_SAME(key, colander_slice_text("ab"));
        assert_int_equal(table_block_next(&block, &key, &value),
                         shared == 2 ? TABLE_PARSED : TABLE_PARSED_NONE);
    }
    table_block_release(&block);
}
