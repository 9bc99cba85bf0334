/*
 * RocksDB alone, through its C API.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_rocksdb.h"

#include <rocksdb/c.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROWS, ENTRIES, FAMILIES };

#define COLUMNS_MAX 0xf0 /* above this a byte would continue a number */
#define READ_AT_ONCE 64
#define FORCE_OPTIMIZED 3 /* rocksdb::BottommostLevelCompaction */

struct bench_rocksdb {
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_column_family_handle_t *families[FAMILIES];
    int family_count; /* 1: no index */
    rocksdb_writebatch_t *batch;
    uint64_t put_count;
    rocksdb_writeoptions_t *writing;
    rocksdb_readoptions_t *reading;
    rocksdb_readoptions_t *walking; /* with a bound, borrowed from `bound` */

    char *columns[COLUMNS_MAX]; /* a column's byte in an entry is its place */
    size_t column_count;
    bool is_limited;           /* to these columns */
    const char *adding;        /* add only this column's entries; NULL: all */
    const char *key_name;      /* not indexed */
    struct colander_slice key; /* of the row whose entries are added */
    struct colander_buffer entry;
    struct colander_buffer bound;
    struct bench_rows found; /* keys, without rows */
};

static void
check(char *message)
{
    if (message != NULL)
        bench_fail("rocksdb", message);
}

/* The defaults of core/engine/open.cc that matter here. If a cache of 64 MiB
 * had its usual 64 parts, the Bloom filter of an SST would hardly fit into one,
 * and would be read from disk for every row. */
static rocksdb_options_t *
options_create(size_t cache_size)
{
    rocksdb_options_t *plain = rocksdb_options_create();
    rocksdb_options_t *options = rocksdb_options_create();
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct colander_options ours;
    char *message = NULL;

    colander_options_init(&ours);
    bench_print(&text,
                "create_if_missing=true;create_missing_column_families=true;"
                "max_background_jobs=%ld;"
                "db_write_buffer_size=%zu;write_buffer_size=%zu;"
                "arena_block_size=64K;bytes_per_sync=1M;"
                "compression=kLZ4Compression;target_file_size_base=64M;"
                "max_bytes_for_level_base=256M;"
                "level_compaction_dynamic_level_bytes=true;"
                "optimize_filters_for_hits=true;"
                "memtable_prefix_bloom_size_ratio=%f;"
                "memtable_whole_key_filtering=true;"
                "block_based_table_factory={"
                "block_cache={capacity=%zu;num_shard_bits=2};block_size=16K;"
                "format_version=5;cache_index_and_filter_blocks=true;"
                "pin_l0_filter_and_index_blocks_in_cache=true;"
                "filter_policy=bloomfilter:10:false}",
                cores < 2 ? 2 : cores, (size_t)ours.write_buffer_size,
                (size_t)ours.write_buffer_size, 1.0 / 64,
                cache_size != 0 ? cache_size : (size_t)ours.cache_size);
    rocksdb_get_options_from_string(plain, (const char *)text.data, options,
                                    &message);
    check(message);
    rocksdb_options_destroy(plain);
    colander_buffer_release(&text);
    return options;
}

struct bench_rocksdb *
bench_rocksdb_open(const char *path, bool has_index, size_t cache_size)
{
    static const char *const names[FAMILIES] = {"default", "entries"};
    struct bench_rocksdb *it = bench_allocate(1, sizeof(*it));
    const rocksdb_options_t *each[FAMILIES];
    char *message = NULL;

    it->options = options_create(cache_size);
    it->family_count = has_index ? FAMILIES : 1;
    each[ROWS] = each[ENTRIES] = it->options;
    it->db = rocksdb_open_column_families(it->options, path, it->family_count,
                                          names, each, it->families, &message);
    check(message);
    it->batch = rocksdb_writebatch_create();
    it->writing = rocksdb_writeoptions_create();
    it->reading = rocksdb_readoptions_create();
    it->walking = rocksdb_readoptions_create();
    return it;
}

void
bench_rocksdb_close(struct bench_rocksdb *it)
{
    for (int i = 0; i < it->family_count; i++)
        rocksdb_column_family_handle_destroy(it->families[i]);
    rocksdb_close(it->db);
    rocksdb_writebatch_destroy(it->batch);
    rocksdb_writeoptions_destroy(it->writing);
    rocksdb_readoptions_destroy(it->reading);
    rocksdb_readoptions_destroy(it->walking);
    rocksdb_options_destroy(it->options);
    for (size_t i = 0; i < it->column_count; i++)
        free(it->columns[i]);
    colander_buffer_release(&it->entry);
    colander_buffer_release(&it->bound);
    bench_rows_release(&it->found);
    free(it);
}

/* --------------------------------------------------------------- index --- */

/* Returns column_count if it has no number. */
static size_t
find_column(const struct bench_rocksdb *it, const char *name)
{
    size_t i = 0;

    while (i < it->column_count && strcmp(it->columns[i], name) != 0)
        i++;
    return i;
}

static uint8_t
column_number(struct bench_rocksdb *it, const char *name)
{
    const size_t i = find_column(it, name);

    if (i == COLUMNS_MAX)
        bench_fail("index", "too many columns");
    if (i == it->column_count)
        it->columns[it->column_count++] = bench_copy(name);
    return (uint8_t)i;
}

void
bench_rocksdb_index_column(struct bench_rocksdb *it, const char *column)
{
    it->is_limited = true;
    (void)column_number(it, column);
}

void
bench_rocksdb_leave_out(struct bench_rocksdb *it, const char *key_name)
{
    it->key_name = key_name;
}

bool
bench_rocksdb_has_index(const struct bench_rocksdb *it, const char *column)
{
    if (it->family_count == 1)
        return false;
    if (it->is_limited)
        return find_column(it, column) < it->column_count;
    return it->key_name == NULL || strcmp(column, it->key_name) != 0;
}

/* Begins an entry, up to the key or, for any column, up to the column: the
 * value as in Colander's keys. Returns false if no key can have it: null and
 * very long texts, which are not asked for. */
static bool
begin_entry(struct bench_rocksdb *it, const char *column,
            const struct colander_value *value)
{
    if (colander_key_encode(value, 1, &it->entry, NULL) != COLANDER_OK)
        return false;
    if (column != NULL)
        bench_append(&it->entry, (uint8_t[]){column_number(it, column)}, 1);
    return true;
}

static void
put_entry(void *context, const char *path, const struct colander_value *value)
{
    struct bench_rocksdb *it = context;

    if (!bench_rocksdb_has_index(it, path) ||
        (it->adding != NULL && strcmp(path, it->adding) != 0) ||
        !begin_entry(it, path, value))
        return;
    bench_append(&it->entry, it->key.data, it->key.size);
    rocksdb_writebatch_put_cf(it->batch, it->families[ENTRIES],
                              (const char *)it->entry.data, it->entry.size, "",
                              0);
}

static void
put_entries(struct bench_rocksdb *it, struct colander_slice key,
            struct colander_slice row)
{
    it->key = key;
    if (it->family_count > 1)
        bench_scalars_visit(row, put_entry, it);
}

/* ------------------------------------------------------------- writing --- */

void
bench_rocksdb_commit(struct bench_rocksdb *it)
{
    char *message = NULL;

    rocksdb_write(it->db, it->writing, it->batch, &message);
    check(message);
    rocksdb_writebatch_clear(it->batch);
}

void
bench_rocksdb_put(void *context, struct colander_slice key,
                  struct colander_slice row)
{
    struct bench_rocksdb *it = context;

    rocksdb_writebatch_put_cf(it->batch, it->families[ROWS],
                              (const char *)key.data, key.size,
                              (const char *)row.data, row.size);
    put_entries(it, key, row);
    if (++it->put_count % BENCH_BATCH == 0)
        bench_rocksdb_commit(it);
}

void
bench_rocksdb_flush(struct bench_rocksdb *it)
{
    rocksdb_flushoptions_t *how = rocksdb_flushoptions_create();
    char *message = NULL;

    bench_rocksdb_commit(it);
    for (int i = 0; i < it->family_count; i++) {
        rocksdb_flush_cf(it->db, how, it->families[i], &message);
        check(message);
    }
    rocksdb_flushoptions_destroy(how);
}

void
bench_rocksdb_compact(struct bench_rocksdb *it)
{
    rocksdb_compactoptions_t *how = rocksdb_compactoptions_create();

    rocksdb_compactoptions_set_bottommost_level_compaction(how,
                                                           FORCE_OPTIMIZED);
    for (int i = 0; i < it->family_count; i++)
        rocksdb_compact_range_cf_opt(it->db, it->families[i], how, NULL, 0,
                                     NULL, 0);
    rocksdb_compactoptions_destroy(how);
}

/* Returns a property of a family, or 0 if it does not exist. */
static uint64_t
property(struct bench_rocksdb *it, int family, const char *name)
{
    uint64_t number = 0;

    if (family < it->family_count &&
        rocksdb_property_int_cf(it->db, it->families[family], name, &number) !=
            0)
        bench_fail("rocksdb", name);
    return number;
}

static bool
is_compacting(struct bench_rocksdb *it)
{
    bool is_busy = false;

    for (int i = 0; i < it->family_count; i++)
        is_busy = is_busy ||
                  property(it, i, "rocksdb.num-running-compactions") > 0 ||
                  property(it, i, "rocksdb.compaction-pending") > 0;
    return is_busy;
}

void
bench_rocksdb_settle(struct bench_rocksdb *it)
{
    const struct timespec pause = {0, 50000000};

    while (is_compacting(it))
        (void)nanosleep(&pause, NULL);
}

uint64_t
bench_rocksdb_row_size(struct bench_rocksdb *it)
{
    return property(it, ROWS, "rocksdb.total-sst-files-size");
}

uint64_t
bench_rocksdb_entry_size(struct bench_rocksdb *it)
{
    return property(it, ENTRIES, "rocksdb.total-sst-files-size");
}

/* ------------------------------------------------------------- reading --- */

void
bench_rocksdb_scan(struct bench_rocksdb *it, bench_take_keyed *take,
                   void *context)
{
    rocksdb_iterator_t *iterator =
        rocksdb_create_iterator_cf(it->db, it->reading, it->families[ROWS]);
    char *message = NULL;

    for (rocksdb_iter_seek_to_first(iterator);
         rocksdb_iter_valid(iterator) != 0; rocksdb_iter_next(iterator)) {
        size_t key_size;
        size_t row_size;
        const char *key = rocksdb_iter_key(iterator, &key_size);
        const char *row = rocksdb_iter_value(iterator, &row_size);

        take(context, colander_slice_of(key, key_size),
             colander_slice_of(row, row_size));
    }
    rocksdb_iter_get_error(iterator, &message);
    check(message);
    rocksdb_iter_destroy(iterator);
}

static void
put_entries_of(void *context, struct colander_slice key,
               struct colander_slice row)
{
    struct bench_rocksdb *it = context;

    put_entries(it, key, row);
    if (rocksdb_writebatch_count(it->batch) >= BENCH_BATCH)
        bench_rocksdb_commit(it);
}

void
bench_rocksdb_add_column(struct bench_rocksdb *it, const char *column)
{
    bench_rocksdb_index_column(it, column);
    it->adding = column;
    bench_rocksdb_scan(it, put_entries_of, it);
    bench_rocksdb_commit(it);
    it->adding = NULL;
}

/* Sets the bound to the first bytes after all that begin with the entry, whose
 * first byte is not 0xff. */
static void
set_bound(struct bench_rocksdb *it)
{
    colander_buffer_clear(&it->bound);
    bench_append(&it->bound, it->entry.data, it->entry.size);
    while (++it->bound.data[it->bound.size - 1] == 0)
        it->bound.size--;
    rocksdb_readoptions_set_iterate_upper_bound(
        it->walking, (const char *)it->bound.data, it->bound.size);
}

static bool
is_found(const struct bench_rocksdb *it, struct colander_slice key)
{
    for (uint64_t i = 0; i < it->found.count; i++) {
        if (colander_slice_equal(bench_key(&it->found, i), key))
            return true;
    }
    return false;
}

/* Collects the keys of all entries that begin as `entry` does. */
static void
walk_entries(struct bench_rocksdb *it, bool is_any)
{
    rocksdb_iterator_t *iterator;
    char *message = NULL;

    set_bound(it);
    iterator =
        rocksdb_create_iterator_cf(it->db, it->walking, it->families[ENTRIES]);
    for (rocksdb_iter_seek(iterator, (const char *)it->entry.data,
                           it->entry.size);
         rocksdb_iter_valid(iterator) != 0; rocksdb_iter_next(iterator)) {
        /* of any column, its byte follows the value */
        const size_t before = it->entry.size + is_any;
        size_t size;
        const char *entry = rocksdb_iter_key(iterator, &size);
        const struct colander_slice key =
            colander_slice_of(entry + before, size - before);

        /* a row with the value in two columns has two entries */
        if (!is_any || !is_found(it, key))
            bench_rows_add(&it->found, key, colander_slice_of("", 0));
    }
    rocksdb_iter_get_error(iterator, &message);
    check(message);
    rocksdb_iter_destroy(iterator);
}

/* Entries of one column are in key order. */
static void
read_rows(struct bench_rocksdb *it, uint64_t first, size_t count,
          bool is_sorted)
{
    const char *keys[READ_AT_ONCE] = {NULL};
    size_t sizes[READ_AT_ONCE] = {0};
    rocksdb_pinnableslice_t *rows[READ_AT_ONCE];
    char *messages[READ_AT_ONCE] = {NULL};

    for (size_t i = 0; i < count; i++) {
        const struct colander_slice key = bench_key(&it->found, first + i);

        keys[i] = (const char *)key.data;
        sizes[i] = key.size;
    }
    rocksdb_batched_multi_get_cf(it->db, it->reading, it->families[ROWS], count,
                                 keys, sizes, rows, messages, is_sorted);
    for (size_t i = 0; i < count; i++) {
        check(messages[i]);
        if (rows[i] == NULL)
            bench_fail("index", "an entry without its row");
        rocksdb_pinnableslice_destroy(rows[i]);
    }
}

uint64_t
bench_rocksdb_find(struct bench_rocksdb *it, const char *column,
                   const struct colander_value *value)
{
    (void)begin_entry(it, column, value);
    bench_rows_clear(&it->found);
    walk_entries(it, column == NULL);
    for (uint64_t first = 0; first < it->found.count; first += READ_AT_ONCE) {
        const uint64_t rest = it->found.count - first;

        read_rows(it, first, rest < READ_AT_ONCE ? rest : READ_AT_ONCE,
                  column != NULL);
    }
    return it->found.count;
}

uint64_t
bench_index_rows(void *context, const struct bench_question *question)
{
    return bench_rocksdb_find(context, question->path, &question->value);
}
