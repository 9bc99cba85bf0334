/*
 * Salvage of stores in which each damaged file looks valid alone, or nothing
 * shows that a file is missing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/tables/table_map.h"
#include "support/cases.h"
#include "support/salvaging.h"

/* The maximum number of places where an SST is cut. */
#define ENDS_MAX 64

/* Changes a byte of the file's properties. */
static void
damage_properties(const char *store, const char *file)
{
    static const char name[] = "rocksdb.num.data.blocks";
    char path[2 * PATH_SIZE];
    static char bytes[1 << 20];
    const char *place;
    ssize_t size;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", store, file);
    fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    size = pread(fd, bytes, sizeof(bytes), 0);
    assert_in_range(size, 1, sizeof(bytes) - 1);
    /* names are stored without the prefix they share with the one before */
    place = memmem(bytes, (size_t)size, name + 12, sizeof(name) - 13);
    assert_non_null(place);
    assert_int_equal(pwrite(fd, "X", 1, place - bytes), 1);
    ZERO(close(fd));
}

/* Salvages the store of a killed process once for each of its SST files, which
 * `look` damages. Returns the sum of the results of `look`. */
static uint64_t
each_sst(const char *test,
         uint64_t (*look)(struct salvaging *salvaging, const char *file))
{
    static struct damageable files;
    char directory[TEMPORARY_SIZE];
    struct salvaging *salvaging = salvaging_begin(test, directory);
    uint64_t sum = 0;

    list_files(salvaging->killed, &files);
    for (size_t i = 0; i < files.count; i++) {
        if (strstr(files.paths[i], ".sst") == NULL)
            continue;
        printf("%s\n", files.paths[i]);
        copy_store(salvaging->killed, salvaging->path);
        sum += look(salvaging, files.paths[i]);
        temporary_remove(salvaging->path);
    }
    salvaging_end(salvaging, directory);
    return sum;
}

static uint64_t
salvage_without_properties(struct salvaging *salvaging, const char *file)
{
    char command[2 * PATH_SIZE];

    damage_properties(salvaging->path, file);
    salvage_store(salvaging, salvaging->path);
    assert_int_equal(salvaging->doubtful, 0);
    /* nor to distinguish families, if nothing else names that of the file */
    (void)snprintf(command, sizeof(command), "rm '%s'/rocksdb/MANIFEST-*",
                   salvaging->path);
    run(command);
    salvage_store(salvaging, salvaging->path);
    return 0;
}

/* They say whether rows were written outside of the database, and so which of
 * two rows is newer. */
TEST(properties_are_not_needed)
{
    (void)each_sst(__func__, salvage_without_properties);
}

/* The ends of an SST's data blocks, and 0. Returns their number. */
static size_t
read_ends(const char *path, off_t ends[ENDS_MAX])
{
    struct table_source source = {.fd = open(path, O_RDONLY)};
    struct table_map map = {0};
    struct table_block block;
    size_t count = 0;

    assert_true(source.fd >= 0);
    source.size = (uint64_t)lseek(source.fd, 0, SEEK_END);
    OK(table_block_init(&block, NULL));
    OK(table_map_read(&map, &source, &block, NULL));
    assert_in_range(map.block_count, 1, ENDS_MAX - 1);
    ends[count++] = 0;
    for (size_t i = 0; i < map.block_count; i++)
        ends[count++] = (off_t)table_place_end(map.blocks[i].place);
    table_map_release(&map);
    table_block_release(&block);
    ZERO(close(source.fd));
    return count;
}

/* Returns how many rows were reported in doubt. */
static uint64_t
salvage_cut(struct salvaging *salvaging, const char *file)
{
    char path[3 * PATH_SIZE];
    off_t ends[ENDS_MAX];
    uint64_t missing = 0;
    size_t count;

    (void)snprintf(path, sizeof(path), "%s/%s", salvaging->path, file);
    count = read_ends(path, ends);
    while (count-- > 0) { /* from the last one */
        ZERO(truncate(path, ends[count]));
        salvage_store(salvaging, salvaging->path);
        missing += salvaging->doubtful;
    }
    return missing;
}

/* Then no byte of it is damaged. */
TEST(cuts_between_blocks_are_reported)
{
    assert_true(each_sst(__func__, salvage_cut) > 0);
}

/* A dropped family does not come back from logs that still exist, if the
 * MANIFEST was begun again without it. */
TEST(dropped_families_do_not_come_back)
{
    char command[6 * PATH_SIZE];
    char directory[TEMPORARY_SIZE];
    struct salvaging *salvaging = salvaging_begin(__func__, directory);
    struct colander_options options = usual_options();
    struct colander_store *store;
    struct salvage *salvage;

    copy_store(salvaging->killed, salvaging->path);
    OK(colander_store_open(salvaging->path, &options, &store, NULL));
    OK(colander_store_close(store, NULL));
    (void)snprintf(command, sizeof(command),
                   "cp -n '%s'/rocksdb/*.log '%s/rocksdb/'", salvaging->killed,
                   salvaging->path);
    run(command);
    OK(salvage_open(salvaging->path, note_loss, salvaging, &salvage, NULL));
    for (size_t i = 0; i < salvage_family_count(salvage); i++)
        assert_null(strstr(salvage_family_name(salvage, i), "unknown-"));
    salvage_close(salvage);
    salvage_store(salvaging, salvaging->path);
    assert_int_equal(salvaging->doubtful, 0);
    salvaging_end(salvaging, directory);
}

/* The mark of a restore that was not removed, in a complete store. */
TEST(a_completed_restore_is_a_store)
{
    char directory[TEMPORARY_SIZE];
    struct salvaging *salvaging = salvaging_begin(__func__, directory);
    char command[2 * PATH_SIZE];

    (void)snprintf(command, sizeof(command), "touch '%s/RESTORING'",
                   salvaging->killed);
    run(command);
    salvage_store(salvaging, salvaging->killed);
    assert_int_equal(salvaging->loss_count, 0);
    assert_int_equal(salvaging->doubtful, 0);
    salvaging_end(salvaging, directory);
}

/* Deletes three keys, loads two of them as a bulk, and deletes one of these. */
static void
write_between_deletes(struct colander_family *family,
                      struct colander_slice keys[3], struct colander_slice row)
{
    struct colander_bulk *bulk;

    for (size_t i = 0; i < 3; i++)
        OK(colander_family_delete(family, keys[i], NULL, NULL));
    OK(colander_family_flush(family, NULL));
    OK(colander_bulk_create(family, &bulk, NULL));
    for (size_t i = 0; i < 2; i++)
        OK(colander_bulk_add(bulk, keys[i], row, NULL));
    OK(colander_bulk_commit(bulk, NULL, NULL));
    colander_bulk_destroy(bulk);
    OK(colander_family_delete(family, keys[1], NULL, NULL));
    OK(colander_family_flush(family, NULL));
}

/* Creates such a store at `killed`, a copy of that at `path`: the snapshot
 * there still needs older rows and deletes. */
static void
write_bulk_between(const char *killed, const char *path)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer keys[3] = {COLANDER_BUFFER_EMPTY};
    struct colander_slice slices[3];
    struct colander_snapshot *before;
    struct colander_family *family;
    struct colander_store *store;
    struct colander_slice row;

    OK(colander_store_open(killed, NULL, &store, NULL));
    OK(colander_family_open(store, "bulk", &family, NULL));
    colander_row_builder_add(builder, "step", colander_integer(1));
    OK(colander_row_builder_finish(builder, &row, NULL));
    for (size_t i = 0; i < 3; i++) {
        encode_key(i, &keys[i]);
        slices[i] = colander_buffer_slice(&keys[i]);
        OK(colander_family_put(family, slices[i], row, NULL, NULL));
    }
    OK(colander_store_snapshot(store, &before, NULL));
    write_between_deletes(family, slices, row);
    copy_store(killed, path);
    colander_snapshot_release(before);
    for (size_t i = 0; i < 3; i++)
        colander_buffer_release(&keys[i]);
    colander_row_builder_destroy(builder);
    colander_family_close(family);
    OK(colander_store_close(store, NULL));
}

/* In the file of a bulk no entry has a sequence. The MANIFEST says that all of
 * them are newer than earlier deletes, and older than what was written
 * later. */
TEST(rows_of_a_bulk_are_as_new_as_it_was)
{
    char directory[TEMPORARY_SIZE];
    struct salvaging *salvaging = salvaging_begin(__func__, directory);
    struct salvage *salvage;
    struct colander_slice row;

    temporary_remove(salvaging->killed);
    write_bulk_between(salvaging->killed, salvaging->path);
    OK(salvage_open(salvaging->path, note_loss, salvaging, &salvage, NULL));
    OK(salvage_begin(salvage, 0, NULL));
    assert_int_equal(next_index(salvage, &row), 0);
    assert_int_equal(next_index(salvage, &row), KEYS);
    assert_int_equal(salvaging->loss_count, 0);
    salvage_close(salvage);
    salvaging_end(salvaging, directory);
}

/* Swaps the first two blocks of a file, and removes its index. Returns false if
 * it has fewer than two. */
static bool
exchange_blocks(const char *store, const char *file)
{
    struct table_source source = {.fd = -1};
    struct table_map map = {0};
    struct table_block block;
    char path[2 * PATH_SIZE];
    static uint8_t bytes[1 << 20];
    uint64_t first;
    uint64_t end;
    bool has_two;

    (void)snprintf(path, sizeof(path), "%s/%s", store, file);
    source.fd = open(path, O_RDWR);
    assert_true(source.fd >= 0);
    source.size = (uint64_t)pread(source.fd, bytes, sizeof(bytes), 0);
    OK(table_block_init(&block, NULL));
    OK(table_map_read(&map, &source, &block, NULL));
    has_two = map.block_count > 2;
    if (has_two) {
        first = table_place_end(map.blocks[0].place);
        end = table_place_end(map.blocks[1].place);
        assert_true(pwrite(source.fd, bytes + first, end - first, 0) > 0);
        assert_true(pwrite(source.fd, bytes, first, (off_t)(end - first)) > 0);
        memset(bytes, 0x55, 64);
        end = map.data_end;
        assert_true(pwrite(source.fd, bytes, 64, (off_t)end) > 0);
    }
    table_map_release(&map);
    table_block_release(&block);
    ZERO(close(source.fd));
    return has_two;
}

/* Returns whether there were two blocks. */
static uint64_t
salvage_exchanged(struct salvaging *salvaging, const char *file)
{
    if (!exchange_blocks(salvaging->path, file))
        return 0;
    salvage_store(salvaging, salvaging->path);
    printf("%zu losses, %llu rows\n", salvaging->loss_count,
           (unsigned long long)salvaging->doubtful);
    return 1;
}

TEST(blocks_out_of_order_are_reported)
{
    assert_true(each_sst(__func__, salvage_exchanged) > 0);
}

/* Writes each key twice in one batch, and is killed: --batch <store> */
ROLE(batch)
{
    struct colander_options options = usual_options();
    struct colander_store *store;
    struct colander_family *family;
    struct colander_batch *batch;
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;

    DID(colander_store_open(arguments[2], &options, &store, NULL));
    DID(colander_family_open(store, "rows", &family, NULL));
    DID(colander_batch_create(store, &batch, NULL));
    for (uint64_t i = 0; i < KEYS; i++) {
        encode_key(i, &key);
        DID(colander_batch_put(batch, family, colander_buffer_slice(&key),
                               colander_slice_of("\x81\241n\x01", 4), NULL));
        if (i % 2 == 0)
            DID(colander_batch_put(batch, family, colander_buffer_slice(&key),
                                   colander_slice_of("\x81\241n\x02", 4),
                                   NULL));
        else
            DID(colander_batch_delete(batch, family,
                                      colander_buffer_slice(&key), NULL));
    }
    DID(colander_batch_commit(batch, NULL, NULL));
    (void)kill(getpid(), SIGKILL);
    return 3;
}

TEST(last_write_of_a_key_in_a_batch_is_salvaged)
{
    static struct salvaging salvaging;
    char directory[TEMPORARY_SIZE];
    char path[TEMPORARY_SIZE + 16];
    const char *const arguments[] = {"test", "--batch", path, NULL};
    struct salvage *salvage;
    struct colander_slice key;
    struct colander_slice row;
    uint64_t count = 0;
    bool is_row;

    temporary_make(directory);
    (void)snprintf(path, sizeof(path), "%s/store", directory);
    assert_true(WIFSIGNALED(child_run(arguments)));
    OK(salvage_open(path, note_loss, &salvaging, &salvage, why()));
    assert_int_equal(salvage_family_count(salvage), 1);
    OK(salvage_begin(salvage, 0, NULL));
    for (OK(salvage_next(salvage, &is_row, &key, &row, NULL)); is_row;
         count++) {
        ASSERT_SAME(row, colander_slice_of("\x81\241n\x02", 4));
        OK(salvage_next(salvage, &is_row, &key, &row, NULL));
    }
    assert_int_equal(count, (KEYS + 1) / 2);
    assert_int_equal(salvaging.loss_count, 0);
    salvage_close(salvage);
    temporary_remove(directory);
}

/* Writes a file of two rows. */
static void
write_pair(struct colander_family *family, uint64_t first, uint64_t second,
           const char *row)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    encode_key(first, &key);
    OK(colander_family_put(family, colander_buffer_slice(&key),
                           colander_slice_text(row), NULL, NULL));
    encode_key(second, &key);
    OK(colander_family_put(family, colander_buffer_slice(&key),
                           colander_slice_text(row), NULL, NULL));
    OK(colander_family_flush(family, NULL));
}

/* The first key of the newer file is one that the older file has, too. */
TEST(newest_row_is_salvaged_where_files_meet)
{
    static const char *const expected[] = {"\x81\241n\x01", "\x81\241n\x02",
                                           "\x81\241n\x02"};
    static struct salvaging salvaging;
    char directory[TEMPORARY_SIZE];
    struct colander_store *store;
    struct colander_family *family;
    struct salvage *salvage;
    struct colander_slice key;
    struct colander_slice row;
    bool is_row;

    temporary_make(directory);
    OK(colander_store_open(directory, NULL, &store, NULL));
    OK(colander_family_open(store, "rows", &family, NULL));
    write_pair(family, 1, 2, expected[0]);
    write_pair(family, 2, 3, expected[1]);
    colander_family_close(family);
    OK(colander_store_close(store, NULL));
    OK(salvage_open(directory, note_loss, &salvaging, &salvage, why()));
    OK(salvage_begin(salvage, 0, NULL));
    for (size_t i = 0; i < COUNT(expected); i++) {
        OK(salvage_next(salvage, &is_row, &key, &row, NULL));
        assert_true(is_row);
        ASSERT_SAME(row, colander_slice_text(expected[i]));
    }
    OK(salvage_next(salvage, &is_row, &key, &row, NULL));
    assert_false(is_row);
    salvage_close(salvage);
    temporary_remove(directory);
}
