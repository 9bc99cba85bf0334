/*
 * RocksDB alone: the settings, and an index made by hand.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_rocksdb.h"

#include <stdlib.h>
#include <unistd.h>

#define FAMILIES 2 /* RocksDB's "default" holds the rows */
#define COLUMNS_MAX 250
#define CACHE_SHARD_BITS 2
#define FORCE_OPTIMIZED 3 /* rocksdb::BottommostLevelCompaction */

rocksdb_options_t *
bench_rocksdb_options(void)
{
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_block_based_table_options_t *table =
        rocksdb_block_based_options_create();
    rocksdb_lru_cache_options_t *caching = rocksdb_lru_cache_options_create();
    struct colander_options ours;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    rocksdb_cache_t *cache;

    colander_options_init(&ours);
    /* In the 64 parts that 64 MiB would have, the Bloom filter of an SST hardly
     * fits into one, and is read from disk for every row. */
    rocksdb_lru_cache_options_set_capacity(caching, ours.cache_size);
    rocksdb_lru_cache_options_set_num_shard_bits(caching, CACHE_SHARD_BITS);
    cache = rocksdb_cache_create_lru_opts(caching);
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_options_set_max_background_jobs(options,
                                            cores < 2 ? 2 : (int)cores);
    rocksdb_options_set_db_write_buffer_size(options, ours.write_buffer_size);
    rocksdb_options_set_write_buffer_size(options, ours.write_buffer_size);
    rocksdb_options_set_arena_block_size(options, 64 << 10);
    rocksdb_options_set_bytes_per_sync(options, 1 << 20);
    rocksdb_options_set_compression(options, rocksdb_lz4_compression);
    rocksdb_options_set_target_file_size_base(options, 64 << 20);
    rocksdb_options_set_max_bytes_for_level_base(options, 256 << 20);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1);
    rocksdb_options_set_optimize_filters_for_hits(options, 1);
    rocksdb_options_set_memtable_prefix_bloom_size_ratio(options, 1.0 / 64);
    rocksdb_options_set_memtable_whole_key_filtering(options, 1);
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_block_based_options_set_block_size(table, 16 << 10);
    rocksdb_block_based_options_set_format_version(table, 5);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(
        table, 1);
    rocksdb_block_based_options_set_filter_policy(
        table, rocksdb_filterpolicy_create_bloom_full(10));
    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_block_based_options_destroy(table);
    rocksdb_cache_destroy(cache);
    rocksdb_lru_cache_options_destroy(caching);
    return options;
}

void
bench_rocksdb_check(char *message)
{
    if (message != NULL)
        bench_fail("rocksdb", message);
}

/* --------------------------------------------------------------- index --- */

struct bench_index {
    rocksdb_t *db;
    rocksdb_column_family_handle_t *families[FAMILIES]; /* rows, entries */
    rocksdb_writebatch_t *batch;
    rocksdb_writeoptions_t *writing;
    rocksdb_readoptions_t *reading;
    rocksdb_readoptions_t *walking; /* with a bound: see entries_of */
    bool at_once;
    char *columns[COLUMNS_MAX]; /* a column's number is its place */
    size_t column_count;
    struct colander_buffer entry;
    struct colander_buffer bound;
    struct colander_buffer found; /* keys, one behind the other */
    size_t ends[64];              /* of those keys */
};

struct bench_index *
bench_index_open(const char *path)
{
    static const char *const names[FAMILIES] = {"default", "entries"};
    struct bench_index *index = bench_allocate(1, sizeof(*index));
    rocksdb_options_t *options = bench_rocksdb_options();
    const rocksdb_options_t *each[FAMILIES] = {options, options};
    char *message = NULL;

    rocksdb_options_set_create_missing_column_families(options, 1);
    index->db = rocksdb_open_column_families(options, path, FAMILIES, names,
                                             each, index->families, &message);
    bench_rocksdb_check(message);
    rocksdb_options_destroy(options);
    index->batch = rocksdb_writebatch_create();
    index->writing = rocksdb_writeoptions_create();
    index->reading = rocksdb_readoptions_create();
    index->walking = rocksdb_readoptions_create();
    return index;
}

void
bench_index_close(struct bench_index *index)
{
    rocksdb_writebatch_destroy(index->batch);
    rocksdb_writeoptions_destroy(index->writing);
    rocksdb_readoptions_destroy(index->reading);
    rocksdb_readoptions_destroy(index->walking);
    for (size_t i = 0; i < FAMILIES; i++)
        rocksdb_column_family_handle_destroy(index->families[i]);
    rocksdb_close(index->db);
    for (size_t i = 0; i < index->column_count; i++)
        free(index->columns[i]);
    colander_buffer_release(&index->entry);
    colander_buffer_release(&index->bound);
    colander_buffer_release(&index->found);
    free(index);
}

static void
append(struct colander_buffer *buffer, const void *data, size_t size)
{
    struct colander_error err;

    bench_check(colander_buffer_append(buffer, data, size, &err), &err);
}

static uint8_t
column_number(struct bench_index *index, struct colander_slice name)
{
    size_t i = 0;

    while (i < index->column_count &&
           !colander_slice_equal(colander_slice_text(index->columns[i]), name))
        i++;
    if (i == COLUMNS_MAX)
        bench_fail("index", "too many columns");
    if (i == index->column_count) {
        index->columns[i] = strndup((const char *)name.data, name.size);
        if (index->columns[i] == NULL)
            bench_fail("index", "no memory");
        index->column_count++;
    }
    return (uint8_t)i;
}

/* Column and value: strings end with a zero byte, numbers have 8 bytes. */
static void
begin_entry(struct bench_index *index, struct colander_slice name,
            const struct colander_value *value)
{
    uint8_t column = column_number(index, name);
    uint8_t number[8];

    colander_buffer_clear(&index->entry);
    append(&index->entry, &column, 1);
    if (value->type == COLANDER_STRING) {
        append(&index->entry, value->bytes.data, value->bytes.size);
        append(&index->entry, "", 1);
    } else if (value->type == COLANDER_INTEGER) {
        uint64_t bits = (uint64_t)value->integer ^ UINT64_C(1) << 63;

        for (int i = 7; i >= 0; i--, bits >>= 8)
            number[i] = (uint8_t)bits;
        append(&index->entry, number, sizeof(number));
    } else {
        bench_fail("index", "a value that is no string and no integer");
    }
}

void
bench_index_put(struct bench_index *index, struct colander_slice key,
                struct colander_slice row)
{
    struct colander_members members;
    struct colander_value value;
    struct colander_slice name;
    struct colander_error err;
    bool is_member;

    rocksdb_writebatch_put_cf(index->batch, index->families[0],
                              (const char *)key.data, key.size,
                              (const char *)row.data, row.size);
    bench_check(colander_members_init(&members, row, &err), &err);
    for (;;) {
        bench_check(
            colander_members_next(&members, &is_member, &name, &value, &err),
            &err);
        if (!is_member)
            return;
        begin_entry(index, name, &value);
        append(&index->entry, key.data, key.size);
        rocksdb_writebatch_put_cf(index->batch, index->families[1],
                                  (const char *)index->entry.data,
                                  index->entry.size, "", 0);
    }
}

void
bench_index_commit(struct bench_index *index)
{
    char *message = NULL;

    rocksdb_write(index->db, index->writing, index->batch, &message);
    bench_rocksdb_check(message);
    rocksdb_writebatch_clear(index->batch);
}

void
bench_index_flush(struct bench_index *index)
{
    rocksdb_flushoptions_t *how = rocksdb_flushoptions_create();
    char *message = NULL;

    for (size_t i = 0; i < FAMILIES; i++) {
        rocksdb_flush_cf(index->db, how, index->families[i], &message);
        bench_rocksdb_check(message);
    }
    rocksdb_flushoptions_destroy(how);
}

/* As colander_family_compact does it. */
void
bench_index_compact(struct bench_index *index)
{
    rocksdb_compactoptions_t *how = rocksdb_compactoptions_create();

    rocksdb_compactoptions_set_bottommost_level_compaction(how,
                                                           FORCE_OPTIMIZED);
    for (size_t i = 0; i < FAMILIES; i++)
        rocksdb_compact_range_cf_opt(index->db, index->families[i], how, NULL,
                                     0, NULL, 0);
    rocksdb_compactoptions_destroy(how);
}

static uint64_t
sst_size(struct bench_index *index, size_t family)
{
    uint64_t size = 0;

    if (rocksdb_property_int_cf(index->db, index->families[family],
                                "rocksdb.total-sst-files-size", &size) != 0)
        bench_fail("rocksdb", "it does not tell the size of its files");
    return size;
}

uint64_t
bench_index_row_size(struct bench_index *index)
{
    return sst_size(index, 0);
}

uint64_t
bench_index_entry_size(struct bench_index *index)
{
    return sst_size(index, 1);
}

/* ------------------------------------------------------------- reading --- */

void
bench_index_read_at_once(struct bench_index *index, bool at_once)
{
    index->at_once = at_once;
}

/* The first bytes beyond all that begin with the entry; columns are few, so
 * the first byte is not 0xff. */
static void
set_bound(struct bench_index *index)
{
    colander_buffer_clear(&index->bound);
    append(&index->bound, index->entry.data, index->entry.size);
    for (size_t i = index->bound.size; i-- > 0;) {
        index->bound.data[i]++;
        index->bound.size = i + 1;
        if (index->bound.data[i] != 0)
            break;
    }
    rocksdb_readoptions_set_iterate_upper_bound(
        index->walking, (const char *)index->bound.data, index->bound.size);
}

/* Collects the keys of a question; how many. */
static size_t
entries_of(struct bench_index *index, const struct bench_question *question)
{
    const size_t most = sizeof(index->ends) / sizeof(index->ends[0]);
    rocksdb_iterator_t *iterator;
    char *message = NULL;
    size_t count = 0;

    begin_entry(index, colander_slice_text(question->path), &question->value);
    set_bound(index);
    colander_buffer_clear(&index->found);
    iterator = rocksdb_create_iterator_cf(index->db, index->walking,
                                          index->families[1]);
    for (rocksdb_iter_seek(iterator, (const char *)index->entry.data,
                           index->entry.size);
         rocksdb_iter_valid(iterator) != 0; rocksdb_iter_next(iterator)) {
        size_t size;
        const char *entry = rocksdb_iter_key(iterator, &size);

        if (count == most)
            bench_fail("index", "too many rows");
        append(&index->found, entry + index->entry.size,
               size - index->entry.size);
        index->ends[count++] = index->found.size;
    }
    rocksdb_iter_get_error(iterator, &message);
    bench_rocksdb_check(message);
    rocksdb_iter_destroy(iterator);
    return count;
}

static void
read_row(struct bench_index *index, const char *key, size_t size)
{
    char *message = NULL;
    rocksdb_pinnableslice_t *row = rocksdb_get_pinned_cf(
        index->db, index->reading, index->families[0], key, size, &message);

    bench_rocksdb_check(message);
    if (row == NULL)
        bench_fail("index", "an entry without its row");
    rocksdb_pinnableslice_destroy(row);
}

static void
read_rows(struct bench_index *index, const char *const *keys,
          const size_t *sizes, size_t count)
{
    rocksdb_pinnableslice_t *rows[64];
    char *messages[64];

    rocksdb_batched_multi_get_cf(index->db, index->reading, index->families[0],
                                 count, keys, sizes, rows, messages, true);
    for (size_t i = 0; i < count; i++) {
        bench_rocksdb_check(messages[i]);
        if (rows[i] == NULL)
            bench_fail("index", "an entry without its row");
        rocksdb_pinnableslice_destroy(rows[i]);
    }
}

uint64_t
bench_index_rows(void *context, const struct bench_question *question)
{
    struct bench_index *index = context;
    size_t count = entries_of(index, question);
    const char *keys[64];
    size_t sizes[64];
    size_t start = 0;

    for (size_t i = 0; i < count; i++) {
        keys[i] = (const char *)index->found.data + start;
        sizes[i] = index->ends[i] - start;
        start = index->ends[i];
    }
    if (index->at_once && count > 0) {
        read_rows(index, keys, sizes, count);
        return count;
    }
    for (size_t i = 0; i < count; i++)
        read_row(index, keys[i], sizes[i]);
    return count;
}
