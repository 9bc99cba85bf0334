/* See routing.h. SPDX-License-Identifier: MIT */
#include "node/routing.h"

#include "columns/source.h"
#include "columns/union.h"
#include "core/array.h"
#include "serve/peer_store.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

/* Another node, and the partitions that are read there. */
struct peer {
    char *address;
    char **parts; /* in their order */
    size_t part_count;
    size_t part_capacity;
    struct colander_store *store; /* NULL: not opened yet */
    bool is_of_old; /* the store is still that of an equal peer of before */
};

struct peers {
    struct peer *items;
    size_t count;
    size_t capacity;
};

struct routing {
    struct routing_options options;
    struct colander_store *all;
    struct colander_store *here;
    struct colander_store *nowhere; /* of partitions that no node has */
    char *missing;                  /* the first of them */
    pthread_mutex_t mutex;          /* of `missing` */
    struct peers peers;
    struct peers retired; /* to be closed when no cursor uses them */
};

/* -------------------------------------------------------------- missing --- */

/* Names, sizes and the like are told of what there is; rows are not. */

static enum colander_code
fail_missing(struct routing *routing, struct colander_error *err)
{
    enum colander_code code;

    pthread_mutex_lock(&routing->mutex);
    code = COLANDER_FAIL(err, COLANDER_BUSY,
                         "no node has partition %s now: try again, or see "
                         "colander cluster status",
                         routing->missing == NULL ? "?" : routing->missing);
    pthread_mutex_unlock(&routing->mutex);
    return code;
}

static enum colander_code
no_families(void *context, struct colander_names *names,
            struct colander_error *err)
{
    (void)context;
    (void)err;
    *names = (struct colander_names){NULL, 0};
    return COLANDER_OK;
}

static enum colander_code
no_snapshot(void *context, struct colander_snapshot **snapshot,
            struct colander_error *err)
{
    (void)context;
    (void)err;
    *snapshot = NULL;
    return COLANDER_OK;
}

static enum colander_code
no_family(void *context, const char *family, bool *exists,
          struct colander_error *err)
{
    (void)context;
    (void)family;
    (void)err;
    *exists = false;
    return COLANDER_OK;
}

static enum colander_code
no_sizes(void *context, const char *family, struct colander_family_sizes *sizes,
         struct colander_error *err)
{
    (void)context;
    (void)family;
    (void)err;
    memset(sizes, 0, sizeof(*sizes));
    return COLANDER_OK;
}

static enum colander_code
no_keys(void *context, const char *family, struct colander_buffer *keys,
        size_t count, size_t *found, struct colander_error *err)
{
    (void)context;
    (void)family;
    (void)keys;
    (void)count;
    (void)err;
    *found = 0;
    return COLANDER_OK;
}

static enum colander_code
no_mark(void *context, const char *family, struct colander_slice name,
        struct colander_buffer *value, bool *found, struct colander_error *err)
{
    (void)context;
    (void)family;
    (void)name;
    (void)value;
    (void)err;
    *found = false;
    return COLANDER_OK;
}

static enum colander_code
fail_get(void *context, const char *family, const struct colander_slice *keys,
         size_t count, const struct colander_read *read,
         struct colander_buffer *rows, bool *found, struct colander_error *err)
{
    (void)family;
    (void)keys;
    (void)count;
    (void)read;
    (void)rows;
    (void)found;
    return fail_missing(context, err);
}

static enum colander_code
fail_find(void *context, const char *family, const struct colander_query *query,
          void **find, struct colander_error *err)
{
    (void)family;
    (void)query;
    *find = NULL;
    return fail_missing(context, err);
}

static void
keep_context(void *context)
{
    (void)context;
}

static enum colander_code
open_nowhere(struct routing *routing, struct colander_error *err)
{
    const struct colander_source source = {
        .context = routing,
        .name = "nowhere",
        .closed = keep_context,
        .families = no_families,
        .snapshot = no_snapshot,
        .exists = no_family,
        .sizes = no_sizes,
        .split_keys = no_keys,
        .mark = no_mark,
        .get_many = fail_get,
        .find = fail_find,
    };

    return colander_store_open_source(&source, &routing->nowhere, err);
}

/* ---------------------------------------------------------------- peers --- */

static void
release_peer(struct peer *peer)
{
    for (size_t i = 0; i < peer->part_count; i++)
        free(peer->parts[i]);
    free(peer->parts);
    free(peer->address);
}

/* Closes the store, which no one uses, unless it is another's. */
static void
drop_peer(struct peer *peer)
{
    enum colander_code code = COLANDER_OK;

    if (peer->store != NULL && !peer->is_of_old)
        code = colander_store_close(peer->store, NULL);
    assert(code == COLANDER_OK);
    (void)code;
    release_peer(peer);
}

/* Adds the partition to those that are read at its node. */
static enum colander_code
add_route(struct peers *peers, const struct route *route,
          struct colander_error *err)
{
    struct peer *peer = NULL;
    enum colander_code code = COLANDER_OK;
    char *part;

    for (size_t i = 0; i < peers->count && peer == NULL; i++) {
        if (strcmp(peers->items[i].address, route->address) == 0)
            peer = &peers->items[i];
    }
    if (peer == NULL) {
        char *address = strdup(route->address);

        code = address == NULL
                   ? COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory")
                   : array_reserve(&peers->items, peers->count,
                                   &peers->capacity, 1, err);
        if (code != COLANDER_OK) {
            free(address);
            return code;
        }
        peer = &peers->items[peers->count++];
        *peer = (struct peer){.address = address};
    }
    part = strdup(route->partition);
    code = part == NULL ? COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory")
                        : array_reserve(&peer->parts, peer->part_count,
                                        &peer->part_capacity, 1, err);
    if (code == COLANDER_OK)
        peer->parts[peer->part_count++] = part;
    else
        free(part);
    return code;
}

static bool
is_same(const struct peer *a, const struct peer *b)
{
    if (strcmp(a->address, b->address) != 0 || a->part_count != b->part_count)
        return false;
    for (size_t i = 0; i < a->part_count; i++) {
        if (strcmp(a->parts[i], b->parts[i]) != 0)
            return false;
    }
    return true;
}

/* Opens the store of a peer, or takes that of an equal one of before. */
static enum colander_code
open_peer(struct routing *routing, struct peer *peer,
          struct colander_error *err)
{
    const struct peer_store_options options = {
        .address = peer->address,
        .token = routing->options.token,
        .ca_file = routing->options.ca_file,
        .parts = (const char *const *)peer->parts,
        .part_count = peer->part_count,
    };

    for (size_t i = 0; i < routing->peers.count; i++) {
        struct peer *old = &routing->peers.items[i];

        if (old->store != NULL && is_same(old, peer)) {
            peer->store = old->store;
            peer->is_of_old = true;
            return COLANDER_OK;
        }
    }
    return peer_store_open(&options, &peer->store, err);
}

/* Closes those that no cursor uses. */
static void
close_retired(struct peers *retired)
{
    size_t count = 0;

    for (size_t i = 0; i < retired->count; i++) {
        struct peer *peer = &retired->items[i];

        if (colander_store_close(peer->store, NULL) == COLANDER_BUSY)
            retired->items[count++] = *peer;
        else
            release_peer(peer);
    }
    retired->count = count;
}

/* Retires the peers that have a store left. There is room for them. */
static void
retire(struct routing *routing, struct peers *peers)
{
    for (size_t i = 0; i < peers->count; i++) {
        if (peers->items[i].store != NULL)
            routing->retired.items[routing->retired.count++] = peers->items[i];
        else
            release_peer(&peers->items[i]);
    }
    free(peers->items);
    close_retired(&routing->retired);
}

/* -------------------------------------------------------------- routing --- */

static enum colander_code
open_stores(struct routing *routing, struct colander_error *err)
{
    const char *name = routing->options.name;
    enum colander_code code =
        colander_union_open(name, NULL, 0, &routing->all, err);

    if (code == COLANDER_OK)
        code = colander_union_open(name, NULL, 0, &routing->here, err);
    return code == COLANDER_OK ? open_nowhere(routing, err) : code;
}

enum colander_code
routing_open(const struct routing_options *options, struct routing **routing,
             struct colander_error *err)
{
    struct routing *opened = calloc(1, sizeof(*opened));
    enum colander_code code;

    *routing = NULL;
    if (opened == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for routes");
    opened->options = *options;
    pthread_mutex_init(&opened->mutex, NULL);
    code = open_stores(opened, err);
    if (code != COLANDER_OK) {
        (void)!routing_close(opened, NULL);
        return code;
    }
    *routing = opened;
    return COLANDER_OK;
}

struct colander_store *
routing_all(const struct routing *routing)
{
    return routing->all;
}

struct colander_store *
routing_here(const struct routing *routing)
{
    return routing->here;
}

/* Sets which partition is missing first; NULL: none is. */
static enum colander_code
set_missing(struct routing *routing, const char *partition,
            struct colander_error *err)
{
    char *copy = partition == NULL ? NULL : strdup(partition);

    if (partition != NULL && copy == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for routes");
    pthread_mutex_lock(&routing->mutex);
    free(routing->missing);
    routing->missing = copy;
    pthread_mutex_unlock(&routing->mutex);
    return COLANDER_OK;
}

/* Finds out which nodes are asked for what, and opens their stores. */
static enum colander_code
open_peers(struct routing *routing, const struct route *routes, size_t count,
           struct peers *peers, struct colander_error *err)
{
    const char *missing = NULL;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        if (routes[i].is_hidden)
            continue;
        if (routes[i].address != NULL)
            code = add_route(peers, &routes[i], err);
        else if (routes[i].store == NULL && missing == NULL)
            missing = routes[i].partition;
    }
    for (size_t i = 0; i < peers->count && code == COLANDER_OK; i++)
        code = open_peer(routing, &peers->items[i], err);
    if (code == COLANDER_OK)
        code = array_reserve(&routing->retired.items, routing->retired.count,
                             &routing->retired.capacity,
                             routing->peers.count + peers->count, err);
    return code == COLANDER_OK ? set_missing(routing, missing, err) : code;
}

/* Makes the stores and peers the members of both unions. */
static enum colander_code
join(struct routing *routing, const struct route *routes, size_t count,
     const struct peers *peers, struct colander_error *err)
{
    struct colander_store **stores =
        calloc(count + peers->count + 1, sizeof(struct colander_store *));
    size_t store_count = 0;
    enum colander_code code;

    if (stores == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for routes");
    for (size_t i = 0; i < count; i++) {
        if (routes[i].store != NULL)
            stores[store_count++] = routes[i].store;
    }
    code = colander_union_replace(routing->here, stores, store_count, err);
    store_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (routes[i].store != NULL && routes[i].address == NULL &&
            !routes[i].is_hidden)
            stores[store_count++] = routes[i].store;
    }
    for (size_t i = 0; i < peers->count; i++)
        stores[store_count++] = peers->items[i].store;
    if (routing->missing != NULL)
        stores[store_count++] = routing->nowhere;
    if (code == COLANDER_OK)
        code = colander_union_replace(routing->all, stores, store_count, err);
    free(stores);
    return code;
}

enum colander_code
routing_set(struct routing *routing, const struct route *routes, size_t count,
            struct colander_error *err)
{
    struct peers peers = {NULL, 0, 0};
    struct peers old;
    enum colander_code code = open_peers(routing, routes, count, &peers, err);

    if (code == COLANDER_OK)
        code = join(routing, routes, count, &peers, err);
    if (code != COLANDER_OK) {
        for (size_t i = 0; i < peers.count; i++)
            drop_peer(&peers.items[i]);
        free(peers.items);
        return code;
    }
    old = routing->peers;
    routing->peers = peers;
    for (size_t i = 0; i < peers.count; i++) {
        struct peer *peer = &peers.items[i];

        for (size_t j = 0; j < old.count && peer->is_of_old; j++) {
            if (old.items[j].store != peer->store)
                continue;
            old.items[j].store = NULL;
            peer->is_of_old = false;
        }
    }
    retire(routing, &old);
    return COLANDER_OK;
}

enum colander_code
routing_close(struct routing *routing, struct colander_error *err)
{
    struct peers none = {NULL, 0, 0};
    struct peers old;
    enum colander_code code;
    enum colander_code closed;

    if (routing == NULL)
        return COLANDER_OK;
    code = colander_store_close(routing->all, err);
    closed =
        colander_store_close(routing->here, code == COLANDER_OK ? err : NULL);
    if (code == COLANDER_OK)
        code = closed;
    old = routing->peers;
    routing->peers = none;
    for (size_t i = 0; i < old.count; i++)
        drop_peer(&old.items[i]);
    free(old.items);
    close_retired(&routing->retired);
    free(routing->retired.items);
    (void)!colander_store_close(routing->nowhere, NULL);
    pthread_mutex_destroy(&routing->mutex);
    free(routing->missing);
    free(routing);
    return code;
}
