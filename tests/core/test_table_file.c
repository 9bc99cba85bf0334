/*
 * SST files read without RocksDB have the entries that RocksDB reports.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/golden_table.h"
#include "support/io_faults.h"
#include "support/scoped.h"
#include "support/table_stores.h"

#include "core/engine.h"
#include "core/sst.h"
#include "core/tables/table_block.h"

#define FAMILIES 3

/* ----------------------------------------------------------- comparison --- */

/* The entries of a family as RocksDB and as its files have them. */
struct comparison {
    struct kept_entries expected;
    struct kept_entries read;
    uint32_t family;
    char name[32];
    bool is_external; /* the files have no sequences */
    size_t file_count;
};

static void
keep_expected(void *context, struct colander_slice key,
              struct colander_slice value, uint64_t sequence, int type)
{
    struct comparison *comparison = context;
    struct table_entry entry = {key, value,
                                comparison->is_external ? 0 : sequence,
                                type == 1 ? TABLE_PUT : TABLE_DELETE};

    assert_true(type == 0 || type == 1 || type == 7);
    keep_entry(&comparison->expected, &entry);
}

static void
read_whole(void *context, const char *path, uint64_t entry_count)
{
    struct comparison *comparison = context;
    struct table_file *table;
    struct reading reading;

    read_table(AT_FDCWD, path, &reading);
    assert_int_equal(reading.gap_count, 0);
    assert_int_equal(reading.given.count, entry_count);
    assert_true(reading.head.is_known);
    assert_int_equal(reading.head.entry_count, entry_count);
    assert_int_equal(reading.head.family, comparison->family);
    assert_int_equal(reading.head.is_external, comparison->is_external);
    for (size_t i = 0; i < reading.given.count; i++) {
        const struct kept_entry *entry = &reading.given.entries[i];
        const struct table_entry copied = {entry->key, entry->value,
                                           entry->sequence, entry->kind};

        if (i > 0)
            assert_true(compare_entries(entry - 1, entry) < 0);
        keep_entry(&comparison->read, &copied);
    }
    reading_release(&reading);

    OK(table_file_open(AT_FDCWD, path, &table, NULL));
    assert_true(colander_slice_equal(table_file_head(table)->family_name,
                                     colander_slice_text(comparison->name)));
    table_file_close(table);
    comparison->file_count++;
}

/* Returns the number of entries compared. */
static size_t
compare_family(struct engine_family *family, bool is_external)
{
    struct comparison comparison = {.is_external = is_external};
    size_t count;

    comparison.family = engine_family_id(family);
    (void)snprintf(comparison.name, sizeof(comparison.name), "family/%s",
                   engine_family_name(family));
    rocksdb_visit_entries(family, keep_expected, &comparison);
    rocksdb_visit_files(family, read_whole, &comparison);
    assert_true(comparison.file_count > 0);
    assert_int_equal(comparison.expected.count, comparison.read.count);
    qsort(comparison.read.entries, comparison.read.count,
          sizeof(struct kept_entry), compare_entries);
    for (size_t i = 0; i < comparison.expected.count; i++)
        assert_true(is_same_entry(&comparison.expected.entries[i],
                                  &comparison.read.entries[i]));
    count = comparison.expected.count;
    entries_release(&comparison.expected);
    entries_release(&comparison.read);
    return count;
}

/* ---------------------------------------------------------------- tests --- */

static void
compare_random_store(uint64_t seed)
{
    static const char *const names[FAMILIES] = {"one", "two", "three"};
    struct engine_family *families[FAMILIES];
    struct colander_snapshot *snapshots[SNAPSHOTS];
    struct engine_family *bulk;
    uint64_t random = seed;
    struct fixture *fixture;
    uint8_t key[64];
    void *state;

    setup(&state);
    fixture = state;
    open_random_store(fixture, &random);
    for (size_t i = 0; i < FAMILIES; i++) {
        families[i] = family_of(fixture, names[i]);
        rocksdb_stop_compactions(families[i]);
    }
    write_random_files(fixture, families, FAMILIES, snapshots, &random);
    rocksdb_single_delete(families[0], table_key_at(TABLE_KEYS, key));
    OK(engine_family_flush(families[0], NULL));
    for (size_t i = 0; i < FAMILIES; i++)
        assert_in_range(compare_family(families[i], false), 400, 100000);
    OK(engine_family_compact(families[0], NULL));
    assert_in_range(compare_family(families[0], false), 400, 100000);
    for (size_t i = 0; i < SNAPSHOTS; i++)
        colander_snapshot_release(snapshots[i]);
    OK(engine_family_compact(families[1], NULL));
    assert_in_range(compare_family(families[1], false), 100, TABLE_KEYS);

    bulk = family_of(fixture, "bulk");
    write_bulk(bulk, &random);
    assert_int_equal(compare_family(bulk, true), TABLE_KEYS);
    assert_int_equal(teardown(&state), 0);
}

TEST(entries_are_those_that_rocksdb_has)
{
    const uint64_t runs = random_runs(6);
    uint64_t random = random_seed(__func__);

    for (uint64_t i = 0; i < runs; i++)
        compare_random_store(random_next(&random));
}

ENGINE_TEST(files_of_any_compression_and_index_are_read)
{
    static const int compressions[] = {0, 4, 7};
    uint64_t random = random_seed(__func__);
    struct reading reading;

    for (unsigned i = 0; i < 12; i++) {
        const struct rocksdb_table how = {
            .compression = compressions[i % 3],
            .block_size = 2000,
            .restart_interval = 1 + (int)(i / 3 % 2) * 15,
            .has_partitioned_index = i >= 6,
        };

        write_table(fixture->path, &how, TABLE_KEYS, &random);
        read_table(AT_FDCWD, fixture->path, &reading);
        assert_int_equal(reading.gap_count, 0);
        assert_int_equal(reading.given.count, TABLE_KEYS);
        assert_true(reading.head.is_external);
        for (size_t k = 0; k < TABLE_KEYS; k++)
            assert_int_equal(reading.given.entries[k].kind,
                             k % 8 == 7 ? TABLE_DELETE : TABLE_PUT);
        reading_release(&reading);
    }
}

ENGINE_TEST(an_entry_of_a_kind_that_no_store_writes_is_a_gap)
{
    const struct rocksdb_table how = {.compression = 4,
                                      .block_size = 4000,
                                      .restart_interval = 16,
                                      .has_merges = true};
    uint64_t random = 1;
    SCOPED(reading_release) struct reading reading;
    uint8_t key[64];

    write_table(fixture->path, &how, 30, &random);
    read_table(AT_FDCWD, fixture->path, &reading);
    assert_int_equal(reading.gap_count, 3);
    assert_int_equal(reading.given.count, 27);
    for (uint64_t i = 0; i < 3; i++) {
        const struct kept_gap *gap = &reading.gaps[i];

        assert_int_equal(gap->entry_count, 9 * (i + 1));
        assert_true(
            colander_slice_equal(gap->after, table_key_at(10 * i + 8, key)));
        assert_true(
            colander_slice_equal(gap->until, table_key_at(10 * i + 9, key)));
        assert_string_equal(
            gap->why, "an entry of a kind that this store does not write");
    }
}

ENGINE_TEST(a_file_made_once_is_read)
{
    static const struct {
        const char *key;
        uint64_t sequence;
        size_t size; /* of the value */
        enum table_entry_kind kind;
        char first; /* byte of the value */
    } expected[] = {
        {"key0", 1, 600, TABLE_PUT, 'a'}, {"key1", 7, 0, TABLE_DELETE, 0},
        {"key1", 2, 600, TABLE_PUT, 'b'}, {"key2", 3, 5, TABLE_PUT, 's'},
        {"key3", 8, 3, TABLE_PUT, 'n'},   {"key3", 4, 600, TABLE_PUT, 'd'},
        {"key4", 9, 0, TABLE_DELETE, 0},  {"key4", 5, 600, TABLE_PUT, 'e'},
        {"key5", 6, 5, TABLE_PUT, 's'},
    };
    const size_t count = sizeof(expected) / sizeof(expected[0]);
    SCOPED(reading_release) struct reading reading;

    golden_write(fixture->path, GOLDEN_SIZE);
    read_table(AT_FDCWD, fixture->path, &reading);
    assert_int_equal(reading.gap_count, 0);
    assert_int_equal(reading.given.count, count);
    assert_true(reading.head.is_known && !reading.head.is_external);
    assert_int_equal(reading.head.entry_count, count);
    assert_int_equal(reading.head.family, 1);
    for (size_t i = 0; i < count; i++) {
        const struct kept_entry *entry = &reading.given.entries[i];

        assert_true(colander_slice_equal(entry->key,
                                         colander_slice_text(expected[i].key)));
        assert_int_equal(entry->sequence, expected[i].sequence);
        assert_int_equal(entry->kind, expected[i].kind);
        assert_int_equal(entry->value.size, expected[i].size);
        if (entry->value.size > 0)
            assert_int_equal(entry->value.data[0], expected[i].first);
    }
}

/* A block of two entries, each with a key of one byte. */
static const char *
check_two(uint8_t first, uint8_t first_sequence, uint8_t second,
          uint8_t second_sequence)
{
    const uint8_t bytes[] = {0,   9, 1, first,  1, first_sequence,
                             0,   0, 0, 0,      0, 0,
                             'v', /**/
                             0,   9, 1, second, 1, second_sequence,
                             0,   0, 0, 0,      0, 0,
                             'v', /**/
                             0,   0, 0, 0,      1, 0,
                             0,   0, 0, 0,      0, 0,
                             0};
    struct table_block block;
    struct colander_slice key;
    const char *why;

    OK(table_block_init(&block, NULL));
    OK(table_block_take(&block, bytes, sizeof(bytes) - TABLE_TRAILER_SIZE, &why,
                        NULL));
    assert_null(why);
    why = table_block_check(&block, &key);
    table_block_release(&block);
    return why;
}

TEST(entries_that_do_not_ascend_are_not_believed)
{
    const char *const expected = "its keys are not in order";

    assert_null(check_two('a', 1, 'b', 2));
    assert_null(check_two('a', 2, 'a', 1)); /* the newest first */
    assert_string_equal(check_two('b', 1, 'a', 1), expected);
    assert_string_equal(check_two('a', 1, 'a', 2), expected);
    assert_string_equal(check_two('a', 1, 'a', 1), expected);
}

/* What the footer points to is found without it. */
ENGINE_TEST(a_file_without_its_footer_is_known_whole)
{
    SCOPED(reading_release) struct reading reading;
    const char zeros[53] = {0};
    int fd;

    golden_write(fixture->path, GOLDEN_SIZE);
    fd = open(fixture->path, O_WRONLY);
    assert_int_equal(pwrite(fd, zeros, sizeof(zeros), GOLDEN_SIZE - 53), 53);
    close(fd);
    read_table(AT_FDCWD, fixture->path, &reading);
    assert_true(reading.head.is_known);
    assert_int_equal(reading.gap_count, 0);
    assert_int_equal(reading.given.count, 9);
}

ENGINE_TEST(a_missing_or_invalid_file_is_rejected)
{
    struct table_file *table;
    int fd = open(fixture->directory, O_RDONLY | O_DIRECTORY);

    assert_true(fd >= 0);
    FAILS(table_file_open(fd, "none.sst", &table, why()), COLANDER_NOT_FOUND);
    assert_string_equal(error_text(), "there is no 'none.sst'");
    assert_null(table);
    assert_int_equal(table_file_open(fd, ".", &table, why()), COLANDER_CORRUPT);
    assert_string_equal(error_text(), "it is not a regular file");
    table_file_close(NULL);
    close(fd);
}

static enum colander_code
count_entry(void *context, const struct sst_entry *entry,
            struct colander_error *err)
{
    (void)entry;
    (void)err;
    (*(size_t *)context)++;
    return COLANDER_OK;
}

/* Visits the file while calls of a kind fail from `number` on. Returns whether
 * one did. */
static bool
visit_with_fault(const struct fixture *fixture, enum fault_kind kind,
                 uint64_t number)
{
    const struct fault fault = {kind, number, EIO, false, true};
    enum colander_code code;
    size_t count = 0;

    faults_begin(fixture->directory, &fault);
    code = sst_entries_visit(fixture->path, count_entry, &count, why());
    faults_repair();
    if (code == COLANDER_OK)
        assert_int_equal(count, 9);
    else
        assert_int_equal(code, COLANDER_IO);
    return faults_were_met();
}

/* A gap is damage only if all bytes were read. */
ENGINE_TEST(a_file_that_cannot_be_read_is_not_called_damaged)
{
    uint64_t number = 0;

    golden_write(fixture->path, GOLDEN_SIZE);
    while (visit_with_fault(fixture, FAULT_READ, number))
        number++;
    assert_true(number > 2);
    assert_true(visit_with_fault(fixture, FAULT_OPEN, 0));
    assert_non_null(strstr(error_text(), "cannot open SST"));
}
