/*
 * LevelDB: rows as msgpack under their keys, scanned.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_lines.h"
#include "bench_peer.h"

#include <leveldb/c.h>
#include <stdlib.h>

#define BUFFER_SIZE ((size_t)64 << 20)

struct peer {
    const struct bench_work *work;
    leveldb_t *db;
    leveldb_cache_t *cache;
    leveldb_options_t *options;
    leveldb_writeoptions_t *writing;
    leveldb_readoptions_t *reading;
    leveldb_writebatch_t *batch;
    unsigned batch_count;
};

static const struct bench_peer_way ways[] = {
    {"LevelDB, scan", BENCH_PEER_NONE, 0, false},
};

static char version[40];

static void
check(char *message)
{
    if (message != NULL)
        bench_fail("leveldb", message);
}

static void *
open_peer(const char *directory, const struct bench_work *work,
          const struct bench_peer_way *way, const char **reason)
{
    struct peer *peer = bench_allocate(1, sizeof(*peer));
    char *message = NULL;

    (void)way;
    (void)reason;
    (void)snprintf(version, sizeof(version), "LevelDB %d.%d",
                   leveldb_major_version(), leveldb_minor_version());
    peer->work = work;
    peer->cache = leveldb_cache_create_lru(BENCH_PEER_CACHE);
    peer->options = leveldb_options_create();
    leveldb_options_set_create_if_missing(peer->options, 1);
    leveldb_options_set_cache(peer->options, peer->cache);
    leveldb_options_set_write_buffer_size(peer->options, BUFFER_SIZE);
    peer->writing = leveldb_writeoptions_create();
    peer->reading = leveldb_readoptions_create();
    peer->batch = leveldb_writebatch_create();
    peer->db = leveldb_open(peer->options, directory, &message);
    check(message);
    return peer;
}

static void
close_peer(void *it)
{
    struct peer *peer = it;

    leveldb_close(peer->db);
    leveldb_writebatch_destroy(peer->batch);
    leveldb_readoptions_destroy(peer->reading);
    leveldb_writeoptions_destroy(peer->writing);
    leveldb_options_destroy(peer->options);
    leveldb_cache_destroy(peer->cache);
    free(peer);
}

static void
commit(struct peer *peer, unsigned least)
{
    char *message = NULL;

    if (peer->batch_count < least)
        return;
    leveldb_write(peer->db, peer->writing, peer->batch, &message);
    check(message);
    leveldb_writebatch_clear(peer->batch);
    peer->batch_count = 0;
}

static void
put_row(void *context, struct colander_slice key, struct colander_slice row)
{
    struct peer *peer = context;

    leveldb_writebatch_put(peer->batch, (const char *)key.data, key.size,
                           (const char *)row.data, row.size);
    peer->batch_count++;
    commit(peer, BENCH_BATCH);
}

static void
load(void *it, const char *path)
{
    struct peer *peer = it;

    bench_lines_parse(path, peer->work->key_name, put_row, peer);
    commit(peer, 1);
}

/* Compacting a range, here one without keys, first writes the rows in memory.
 * The C interface of LevelDB has no other way to do that. */
static void
flush(void *it)
{
    struct peer *peer = it;

    leveldb_compact_range(peer->db, "", 0, "", 0);
}

/* It does not report when compactions are over, so everything is compacted. */
static void
settle(void *it)
{
    struct peer *peer = it;

    leveldb_compact_range(peer->db, NULL, 0, NULL, 0);
}

static uint64_t
ask(void *it, const struct bench_work_question *question)
{
    struct peer *peer = it;
    struct colander_predicate *predicate = bench_peer_predicate(question);
    leveldb_iterator_t *iterator =
        leveldb_create_iterator(peer->db, peer->reading);
    char *message = NULL;
    uint64_t found = 0;

    for (leveldb_iter_seek_to_first(iterator); leveldb_iter_valid(iterator);
         leveldb_iter_next(iterator)) {
        size_t size;
        const char *row = leveldb_iter_value(iterator, &size);

        found += bench_peer_matches(predicate, colander_slice_of(row, size));
    }
    leveldb_iter_get_error(iterator, &message);
    check(message);
    leveldb_iter_destroy(iterator);
    colander_predicate_destroy(predicate);
    return found;
}

const struct bench_peer bench_peer_leveldb = {
    .ways = ways,
    .way_count = sizeof(ways) / sizeof(ways[0]),
    .version = version,
    .open = open_peer,
    .load = load,
    .index = flush,
    .settle = settle,
    .ask = ask,
    .close = close_peer,
};
