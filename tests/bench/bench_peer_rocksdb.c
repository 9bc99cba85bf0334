/*
 * RocksDB alone: rows as msgpack under their keys, scanned, or found by an
 * index maintained by hand and written in one batch with the rows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_peer.h"
#include "bench_rocksdb.h"

#include <stdlib.h>

struct peer {
    const struct bench_work *work;
    enum bench_peer_indexes indexes;
    struct bench_rocksdb *db;
};

static const struct bench_peer_way ways[] = {
    {"RocksDB, scan", BENCH_PEER_NONE, 0, false},
    {"RocksDB, index on one", BENCH_PEER_ONE, 0, false},
    {"RocksDB, index on all", BENCH_PEER_ALL, 0, false},
};

static void *
open_peer(const char *directory, const struct bench_work *work,
          const struct bench_peer_way *way, const char **reason)
{
    struct peer *peer = bench_allocate(1, sizeof(*peer));

    (void)reason;
    peer->work = work;
    peer->indexes = way->indexes;
    peer->db = bench_rocksdb_open(directory, way->indexes != BENCH_PEER_NONE,
                                  BENCH_PEER_CACHE);
    bench_rocksdb_leave_out(peer->db, work->key_name);
    if (way->indexes == BENCH_PEER_ONE)
        bench_rocksdb_index_column(peer->db, work->chosen);
    return peer;
}

static void
close_peer(void *it)
{
    struct peer *peer = it;

    bench_rocksdb_close(peer->db);
    free(peer);
}

static void
load(void *it, const char *path)
{
    struct peer *peer = it;

    bench_lines_parse(path, peer->work->key_name, bench_rocksdb_put, peer->db);
    bench_rocksdb_commit(peer->db);
}

static void
flush(void *it)
{
    bench_rocksdb_flush(((struct peer *)it)->db);
}

static void
settle(void *it)
{
    bench_rocksdb_settle(((struct peer *)it)->db);
}

static uint64_t
size_of(void *it)
{
    struct bench_rocksdb *db = ((struct peer *)it)->db;

    return bench_rocksdb_row_size(db) + bench_rocksdb_entry_size(db);
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
ask(void *it, const struct bench_work_question *question)
{
    const struct peer *peer = it;
    const struct colander_value value = colander_text(question->value);
    struct counting counting = {NULL, 0};

    if (question->column == NULL
            ? peer->indexes == BENCH_PEER_ALL
            : bench_rocksdb_has_index(peer->db, question->column))
        return bench_rocksdb_find(peer->db, question->column, &value);
    counting.predicate = bench_peer_predicate(question);
    bench_rocksdb_scan(peer->db, count_row, &counting);
    colander_predicate_destroy(counting.predicate);
    return counting.found;
}

static bool
add_column(void *it, const char *column)
{
    struct peer *peer = it;

    if (peer->indexes == BENCH_PEER_ONE)
        bench_rocksdb_add_column(peer->db, column);
    return peer->indexes == BENCH_PEER_ONE;
}

const struct bench_peer bench_peer_rocksdb = {
    .ways = ways,
    .way_count = sizeof(ways) / sizeof(ways[0]),
    .version = "RocksDB " BENCH_ROCKSDB_VERSION, /* its C API has none */
    .open = open_peer,
    .load = load,
    .index = flush,
    .settle = settle,
    .size = size_of,
    .ask = ask,
    .add_column = add_column,
    .close = close_peer,
};
