/*
 * Colander as a peer among others: rows are loaded as `colander load` does, and
 * found by the public interface. No columns are configured.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_peer.h"
#include "bench_store.h"

#include "loading/load.h"

#include <stdlib.h>

enum { LOAD, BULK };

struct peer {
    struct bench_store store;
    const struct bench_work *work;
    bool is_bulk; /* the next load */
};

static const struct bench_peer_way ways[] = {
    {"Colander", BENCH_PEER_ALL, LOAD, true},
    {"Colander, load --bulk", BENCH_PEER_ALL, BULK, true},
};

static char version[40];

static void *
open_peer(const char *directory, const struct bench_work *work,
          const struct bench_peer_way *way, const char **reason)
{
    struct peer *peer = bench_allocate(1, sizeof(*peer));
    struct colander_options options;

    (void)reason;
    (void)snprintf(version, sizeof(version), "Colander %s", colander_version());
    peer->work = work;
    peer->is_bulk = way->number == BULK;
    colander_options_init(&options);
    options.cache_size = BENCH_PEER_CACHE;
    bench_store_open(&peer->store, directory, &options, NULL);
    return peer;
}

static void
load(void *it, const char *path)
{
    struct peer *peer = it;
    const char *const key[] = {peer->work->key_name};
    const uint64_t expected = path == peer->work->later_path
                                  ? peer->work->later_count
                                  : peer->work->row_count;
    struct colander_load_options options;
    struct colander_load *load;

    colander_load_options_init(&options);
    options.key = key;
    options.key_count = strcmp(peer->work->key_name, "_key") != 0;
    options.is_bulk = peer->is_bulk;
    bench_check(colander_load_create(peer->store.store, peer->store.family,
                                     &options, &load, &bench_error));
    bench_check(colander_load_run(load, &path, 1, &bench_error));
    if (colander_load_stats(load)->row_count != expected)
        bench_fail("load", "not all rows are there");
    peer->is_bulk = false; /* rows are there now */
    colander_load_destroy(load);
}

/* Finds work without this, but with it the full cost of a load is counted. */
static void
make_filters(void *it)
{
    struct peer *peer = it;

    bench_check(colander_family_flush(peer->store.family, &bench_error));
    bench_check(
        colander_family_await_filters(peer->store.family, &bench_error));
}

static void
settle(void *it)
{
    struct peer *peer = it;

    bench_store_wait(&peer->store);
}

static uint64_t
size_of(void *it)
{
    struct peer *peer = it;

    return bench_store_sizes(&peer->store).sst_size +
           bench_store_stats(&peer->store).filter_size;
}

static uint64_t
ask(void *it, const struct bench_work_question *question)
{
    struct peer *peer = it;
    struct colander_predicate *predicate = bench_peer_predicate(question);
    uint64_t found =
        bench_store_find(&peer->store, predicate, NULL, NULL, NULL);

    colander_predicate_destroy(predicate);
    return found;
}

static void
close_peer(void *it)
{
    struct peer *peer = it;

    bench_store_close(&peer->store);
    free(peer);
}

const struct bench_peer bench_peer_colander = {
    .ways = ways,
    .way_count = sizeof(ways) / sizeof(ways[0]),
    .version = version,
    .open = open_peer,
    .load = load,
    .index = make_filters,
    .settle = settle,
    .size = size_of,
    .ask = ask,
    .close = close_peer,
};
