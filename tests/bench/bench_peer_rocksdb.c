/*
 * RocksDB alone: rows as msgpack under their keys, scanned, or found by an
 * index made by hand: a second family of empty values under value, column and
 * key, written in one batch with the rows. So one range of it has the rows of
 * a value in one column, and a longer one those in any column.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_keys.h"
#include "bench_peer.h"
#include "bench_peer_rows.h"
#include "bench_rocksdb.h"
#include "bench_scalars.h"

#include <stdlib.h>
#include <time.h>

enum { ROWS, ENTRIES, FAMILIES };

#define BATCH 1000
#define COLUMNS_MAX 2 /* that have an index where not all have */
#define READ_AT_ONCE 64

struct peer {
    const struct bench_work *work;
    enum bench_peer_indexes indexes;
    const char *columns[COLUMNS_MAX]; /* indexed, where not all are */
    size_t column_count;
    rocksdb_t *db;
    rocksdb_column_family_handle_t *families[FAMILIES];
    rocksdb_writebatch_t *batch;
    rocksdb_writeoptions_t *writing;
    rocksdb_readoptions_t *reading;
    rocksdb_readoptions_t *walking; /* with a bound, borrowed from `bound` */
    struct colander_slice key;      /* of the row whose entries are made */
    struct colander_buffer entry;
    struct colander_buffer bound;
    struct bench_keys found;
};

static const struct bench_peer_way ways[] = {
    {"RocksDB, scan", BENCH_PEER_NONE, 0},
    {"RocksDB, index on one", BENCH_PEER_ONE, 0},
    {"RocksDB, index on all", BENCH_PEER_ALL, 0},
};

static const char *
version(void)
{
    return "RocksDB " BENCH_ROCKSDB_VERSION; /* its C interface tells none */
}

static void *
open_peer(const char *directory, const struct bench_work *work,
          const struct bench_peer_way *way, const char **reason)
{
    static const char *const names[FAMILIES] = {"default", "entries"};
    struct peer *peer = bench_allocate(1, sizeof(*peer));
    rocksdb_options_t *options = bench_rocksdb_options();
    const rocksdb_options_t *each[FAMILIES] = {options, options};
    char *message = NULL;

    (void)reason;
    rocksdb_options_set_create_missing_column_families(options, 1);
    peer->db = rocksdb_open_column_families(options, directory, FAMILIES, names,
                                            each, peer->families, &message);
    bench_rocksdb_check(message);
    rocksdb_options_destroy(options);
    peer->work = work;
    peer->indexes = way->indexes;
    if (way->indexes == BENCH_PEER_ONE)
        peer->columns[peer->column_count++] = work->chosen;
    peer->batch = rocksdb_writebatch_create();
    peer->writing = rocksdb_writeoptions_create();
    peer->reading = rocksdb_readoptions_create();
    peer->walking = rocksdb_readoptions_create();
    return peer;
}

static void
close_peer(void *it)
{
    struct peer *peer = it;

    rocksdb_writebatch_destroy(peer->batch);
    rocksdb_writeoptions_destroy(peer->writing);
    rocksdb_readoptions_destroy(peer->reading);
    rocksdb_readoptions_destroy(peer->walking);
    for (size_t i = 0; i < FAMILIES; i++)
        rocksdb_column_family_handle_destroy(peer->families[i]);
    rocksdb_close(peer->db);
    colander_buffer_release(&peer->entry);
    colander_buffer_release(&peer->bound);
    bench_keys_release(&peer->found);
    free(peer);
}

/* ------------------------------------------------------------- writing --- */

static void
append(struct colander_buffer *buffer, const void *data, size_t size)
{
    struct colander_error err;

    bench_check(colander_buffer_append(buffer, data, size, &err), &err);
}

/* A letter for the type, the value, and a zero byte: false for null. */
static bool
begin_entry(struct peer *peer, const struct colander_value *value)
{
    colander_buffer_clear(&peer->entry);
    switch (value->type) {
    case COLANDER_STRING:
        append(&peer->entry, "s", 1);
        append(&peer->entry, value->bytes.data, value->bytes.size);
        break;
    case COLANDER_BOOLEAN:
        append(&peer->entry, value->boolean ? "t" : "f", 1);
        break;
    case COLANDER_INTEGER:
    case COLANDER_UNSIGNED:
        append(&peer->entry, "i", 1);
        append(&peer->entry, &value->integer, sizeof(value->integer));
        break;
    case COLANDER_DOUBLE:
        append(&peer->entry, "d", 1);
        append(&peer->entry, &value->number, sizeof(value->number));
        break;
    default:
        return false;
    }
    append(&peer->entry, "", 1);
    return true;
}

static bool
is_indexed(const struct peer *peer, const char *path)
{
    if (peer->indexes == BENCH_PEER_ALL)
        return strcmp(path, peer->work->key_name) != 0;
    for (size_t i = 0; i < peer->column_count; i++) {
        if (strcmp(peer->columns[i], path) == 0)
            return true;
    }
    return false;
}

static void
put_entry(void *context, const char *path, const struct colander_value *value)
{
    struct peer *peer = context;

    if (!is_indexed(peer, path) || !begin_entry(peer, value))
        return;
    append(&peer->entry, path, strlen(path) + 1);
    append(&peer->entry, peer->key.data, peer->key.size);
    rocksdb_writebatch_put_cf(peer->batch, peer->families[ENTRIES],
                              (const char *)peer->entry.data, peer->entry.size,
                              "", 0);
}

static void
put_entries(struct peer *peer, struct colander_slice key,
            struct colander_slice row)
{
    peer->key = key;
    if (peer->indexes != BENCH_PEER_NONE)
        bench_scalars_visit(row, put_entry, peer);
}

static void
commit(struct peer *peer, int least)
{
    char *message = NULL;

    if (rocksdb_writebatch_count(peer->batch) < least)
        return;
    rocksdb_write(peer->db, peer->writing, peer->batch, &message);
    bench_rocksdb_check(message);
    rocksdb_writebatch_clear(peer->batch);
}

static void
put_row(void *context, struct colander_slice key, struct colander_slice row)
{
    struct peer *peer = context;

    rocksdb_writebatch_put_cf(peer->batch, peer->families[ROWS],
                              (const char *)key.data, key.size,
                              (const char *)row.data, row.size);
    put_entries(peer, key, row);
    commit(peer, BATCH);
}

static void
load(void *it, const char *path)
{
    struct peer *peer = it;

    bench_peer_rows_make(peer->work, path, put_row, peer);
    commit(peer, 1);
}

static void
flush(void *it)
{
    struct peer *peer = it;
    rocksdb_flushoptions_t *how = rocksdb_flushoptions_create();
    char *message = NULL;

    for (size_t i = 0; i < FAMILIES; i++) {
        rocksdb_flush_cf(peer->db, how, peer->families[i], &message);
        bench_rocksdb_check(message);
    }
    rocksdb_flushoptions_destroy(how);
}

/* A property of both families. */
static uint64_t
sum_of(const struct peer *peer, const char *property)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < FAMILIES; i++) {
        uint64_t number = 0;

        if (rocksdb_property_int_cf(peer->db, peer->families[i], property,
                                    &number) != 0)
            bench_fail("rocksdb", property);
        sum += number;
    }
    return sum;
}

static void
settle(void *it)
{
    const struct timespec pause = {0, 50000000};

    while (sum_of(it, "rocksdb.num-running-compactions") > 0 ||
           sum_of(it, "rocksdb.compaction-pending") > 0)
        (void)nanosleep(&pause, NULL);
}

static uint64_t
size_of(void *it)
{
    return sum_of(it, "rocksdb.total-sst-files-size");
}

/* --------------------------------------------------------------- scans --- */

typedef void take_row(void *context, struct colander_slice key,
                      struct colander_slice row);

static void
scan(struct peer *peer, take_row *take, void *context)
{
    rocksdb_iterator_t *iterator = rocksdb_create_iterator_cf(
        peer->db, peer->reading, peer->families[ROWS]);
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
    bench_rocksdb_check(message);
    rocksdb_iter_destroy(iterator);
}

struct counting {
    struct colander_predicate *predicate;
    uint64_t found;
};

static void
count_row(void *context, struct colander_slice key, struct colander_slice row)
{
    struct counting *counting = context;

    (void)key;
    counting->found += bench_peer_matches(counting->predicate, row);
}

static uint64_t
ask_all_rows(struct peer *peer, const struct bench_work_question *question)
{
    struct counting counting = {bench_peer_predicate(question), 0};

    scan(peer, count_row, &counting);
    colander_predicate_destroy(counting.predicate);
    return counting.found;
}

/* --------------------------------------------------------------- index --- */

/* The first bytes beyond all that begin with the entry, which ends with 0. */
static void
set_bound(struct peer *peer)
{
    colander_buffer_clear(&peer->bound);
    append(&peer->bound, peer->entry.data, peer->entry.size);
    peer->bound.data[peer->bound.size - 1] = 1;
    rocksdb_readoptions_set_iterate_upper_bound(
        peer->walking, (const char *)peer->bound.data, peer->bound.size);
}

/* Notes the keys of all entries that begin as `entry` does. */
static void
walk_entries(struct peer *peer, bool is_any)
{
    rocksdb_iterator_t *iterator;
    char *message = NULL;

    set_bound(peer);
    iterator = rocksdb_create_iterator_cf(peer->db, peer->walking,
                                          peer->families[ENTRIES]);
    for (rocksdb_iter_seek(iterator, (const char *)peer->entry.data,
                           peer->entry.size);
         rocksdb_iter_valid(iterator) != 0; rocksdb_iter_next(iterator)) {
        size_t size;
        size_t before = peer->entry.size;
        const char *entry = rocksdb_iter_key(iterator, &size);
        struct colander_slice key;

        if (is_any) /* behind the value is the column */
            before += strlen(entry + before) + 1;
        key = colander_slice_of(entry + before, size - before);
        /* a row that has the value in two columns has two entries */
        if (!is_any || !bench_keys_have(&peer->found, key))
            bench_keys_add(&peer->found, key);
    }
    rocksdb_iter_get_error(iterator, &message);
    bench_rocksdb_check(message);
    rocksdb_iter_destroy(iterator);
}

/* Entries of one column are in order of keys. */
static void
read_rows(struct peer *peer, size_t first, size_t count, bool is_sorted)
{
    const char *keys[READ_AT_ONCE] = {NULL};
    size_t sizes[READ_AT_ONCE] = {0};
    rocksdb_pinnableslice_t *rows[READ_AT_ONCE];
    char *messages[READ_AT_ONCE];

    for (size_t i = 0; i < count; i++) {
        const struct colander_slice key =
            bench_keys_at(&peer->found, first + i);

        keys[i] = (const char *)key.data;
        sizes[i] = key.size;
    }
    rocksdb_batched_multi_get_cf(peer->db, peer->reading, peer->families[ROWS],
                                 count, keys, sizes, rows, messages, is_sorted);
    for (size_t i = 0; i < count; i++) {
        bench_rocksdb_check(messages[i]);
        if (rows[i] == NULL)
            bench_fail("rocksdb", "an entry without its row");
        rocksdb_pinnableslice_destroy(rows[i]);
    }
}

static uint64_t
ask(void *it, const struct bench_work_question *question)
{
    struct peer *peer = it;
    const struct colander_value value = colander_text(question->value);

    if (question->column == NULL ? peer->indexes != BENCH_PEER_ALL
                                 : !is_indexed(peer, question->column))
        return ask_all_rows(peer, question);
    (void)begin_entry(peer, &value);
    if (question->column != NULL)
        append(&peer->entry, question->column, strlen(question->column) + 1);
    bench_keys_clear(&peer->found);
    walk_entries(peer, question->column == NULL);
    for (size_t first = 0; first < peer->found.count; first += READ_AT_ONCE) {
        const size_t rest = peer->found.count - first;

        read_rows(peer, first, rest < READ_AT_ONCE ? rest : READ_AT_ONCE,
                  question->column != NULL);
    }
    return peer->found.count;
}

static void
put_entries_of(void *context, struct colander_slice key,
               struct colander_slice row)
{
    put_entries(context, key, row);
    commit(context, BATCH);
}

/* Goes through all rows, of whose columns only the new one is entered. */
static bool
add_column(void *it, const char *column)
{
    struct peer *peer = it;
    const char *first = peer->columns[0];

    if (peer->indexes != BENCH_PEER_ONE)
        return false;
    peer->columns[0] = column;
    scan(peer, put_entries_of, peer);
    commit(peer, 1);
    peer->columns[0] = first;
    peer->columns[peer->column_count++] = column;
    return true;
}

const struct bench_peer bench_peer_rocksdb = {
    .ways = ways,
    .way_count = sizeof(ways) / sizeof(ways[0]),
    .version = version,
    .open = open_peer,
    .load = load,
    .index = flush,
    .settle = settle,
    .size = size_of,
    .ask = ask,
    .add_column = add_column,
    .close = close_peer,
};
