/*
 * Colander as a peer among others: rows come in as `colander load` takes them,
 * and are found by the public interface. Nothing is said of columns.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_peer.h"
#include "bench_peer_rows.h"
#include "bench_store.h"

#include "loading/loading.h"

#include <stdlib.h>

enum { LOAD, BULK };

struct peer {
    struct bench_store store;
    const struct bench_work *work;
    bool is_bulk; /* the next load */
};

static const struct bench_peer_way ways[] = {
    {"Colander", BENCH_PEER_ALL, LOAD},
    {"Colander, load --bulk", BENCH_PEER_ALL, BULK},
};

static const char *
version(void)
{
    static char text[40];

    (void)snprintf(text, sizeof(text), "Colander %s", colander_version());
    return text;
}

static void *
open_peer(const char *directory, const struct bench_work *work,
          const struct bench_peer_way *way, const char **reason)
{
    struct peer *peer = bench_allocate(1, sizeof(*peer));

    (void)reason;
    peer->work = work;
    peer->is_bulk = way->number == BULK;
    bench_store_open(&peer->store, directory, NULL, NULL);
    return peer;
}

static void
load(void *it, const char *path)
{
    struct peer *peer = it;
    struct schema *schema = schema_create();
    struct loading_options options;
    struct loading_figures figures;
    struct colander_error err;

    if (schema == NULL)
        bench_fail("load", "no memory");
    if (strcmp(peer->work->key_name, "_key") != 0)
        bench_check(schema_texts_add(&schema->key, peer->work->key_name, &err),
                    &err);
    loading_options_init(&options);
    options.schema = schema;
    options.is_bulk = peer->is_bulk;
    bench_check(loading_run(peer->store.store, peer->store.family, &path, 1,
                            &options, &figures, &err),
                &err);
    if (figures.reject_count != 0)
        bench_fail("load", "not all rows are there");
    peer->is_bulk = false; /* rows are there now */
    schema_destroy(schema);
}

/* Rows are found without; but so is what a load costs counted in full. */
static void
make_filters(void *it)
{
    struct peer *peer = it;
    struct colander_error err;

    bench_check(colander_family_flush(peer->store.family, &err), &err);
    bench_check(colander_family_await_filters(peer->store.family, &err), &err);
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
