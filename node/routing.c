/* See routing.h. SPDX-License-Identifier: MIT */
#include "node/routing.h"

#include "columns/source.h"
#include "columns/union.h"
#include "core/array.h"
#include "node/placed.h"
#include "node/replicas.h"
#include "serve/peer_store.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* Partitions that are read at another node. */
struct place {
    char *address; /* "": no node has them */
    char **parts;  /* in their order */
    size_t part_count;
    size_t part_capacity;
    struct colander_store *store; /* NULL: not opened yet */
};

/* Those that one node is asked for first. */
struct peer {
    struct place first;
    struct place *seconds; /* where they are read if that fails */
    size_t second_count;
    size_t second_capacity;
    struct colander_store *second; /* of several seconds; NULL: there is none */
    struct colander_store *both;   /* the first and the second; NULL as well */
    bool is_of_old; /* the stores are still those of an equal peer of before */
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
    struct placed *placed;
    struct peers peers;
    struct peers retired; /* to be closed when no cursor uses them */
};

/* -------------------------------------------------------------- missing --- */

/* A store of partitions that no node has. Their families are there, and sizes
 * and the like are told of what there is; rows are not. Other families are
 * empty there. */
struct nowhere {
    char *path; /* names them all, as that of a member of a union does */
    size_t count;
    char *parts[]; /* in their order; after a blank, why, if that is known */
};

/* Returns a partition of the family, or of that whose rejects it has; NULL:
 * none is missing. */
static const char *
find_missing(const struct nowhere *nowhere, const char *family)
{
    for (size_t i = 0; i < nowhere->count; i++) {
        const char *part = nowhere->parts[i];
        const size_t size = strcspn(part, "./"); /* of any generation */

        if (strncmp(part, family, size) == 0 &&
            (family[size] == '\0' || family[size] == '.'))
            return part;
    }
    return NULL;
}

/* Fails if a partition of the family is missing. */
static enum colander_code
check_missing(const struct nowhere *nowhere, const char *family,
              struct colander_error *err)
{
    const char *part = find_missing(nowhere, family);
    const char *why = part == NULL ? NULL : strchr(part, ' ');

    if (part == NULL)
        return COLANDER_OK;
    if (why != NULL)
        return COLANDER_FAIL(err, COLANDER_BUSY,
                             "no node has partition %.*s now: %s",
                             (int)(why - part), part, why + 1);
    return COLANDER_FAIL(err, COLANDER_BUSY,
                         "no node has partition %s now: try again, or see "
                         "colander cluster status",
                         part);
}

static enum colander_code
list_families(void *context, struct colander_names *names,
              struct colander_error *err)
{
    const struct nowhere *nowhere = context;

    names->count = 0;
    names->names = calloc(nowhere->count + 1, sizeof(char *));
    for (size_t i = 0; i < nowhere->count && names->names != NULL; i++) {
        const char *part = nowhere->parts[i];
        const size_t size = strcspn(part, "./") + 1; /* of the same family */

        if (i > 0 && strncmp(part, nowhere->parts[i - 1], size) == 0)
            continue;
        names->names[names->count] = strndup(part, size - 1);
        if (names->names[names->count++] != NULL)
            continue;
        colander_names_release(names);
        break;
    }
    return names->names == NULL ? COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                                "no memory for families")
                                : COLANDER_OK;
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
has_family(void *context, const char *family, bool *exists,
           struct colander_error *err)
{
    (void)err;
    *exists =
        strchr(family, '.') == NULL && find_missing(context, family) != NULL;
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
    (void)name;
    (void)value;
    *found = false;
    return check_missing(context, family, err);
}

static enum colander_code
no_rows(void *context, const char *family, const struct colander_slice *keys,
        size_t count, const struct colander_read *read,
        struct colander_buffer *rows, bool *found, struct colander_error *err)
{
    (void)keys;
    (void)read;
    (void)rows;
    for (size_t i = 0; i < count; i++)
        found[i] = false;
    return check_missing(context, family, err);
}

static enum colander_code
begin_find(void *context, const char *family,
           const struct colander_query *query, void **find,
           struct colander_error *err)
{
    (void)query;
    *find = context;
    return check_missing(context, family, err);
}

static enum colander_code
find_none(void *find, bool *is_row, struct colander_result *result,
          struct colander_error *err)
{
    (void)find;
    (void)result;
    (void)err;
    *is_row = false;
    return COLANDER_OK;
}

static enum colander_code
seek_none(void *find, struct colander_slice key, struct colander_error *err)
{
    (void)find;
    (void)key;
    (void)err;
    return COLANDER_OK;
}

static void
leave_find(void *find)
{
    (void)find;
}

static void
pause_none(void *find, uint64_t time_us)
{
    (void)find;
    (void)time_us;
}

static void
explain_none(const void *find, struct colander_explain *explain)
{
    (void)find;
    memset(explain, 0, sizeof(*explain));
}

static void
free_nowhere(void *context)
{
    struct nowhere *nowhere = context;

    for (size_t i = 0; i < nowhere->count; i++)
        free(nowhere->parts[i]);
    free(nowhere->path);
    free(nowhere);
}

/* Returns "nowhere" and the partitions, or NULL. */
static char *
make_path(char *const *parts, size_t count)
{
    size_t size = sizeof("nowhere");
    char *path;
    char *end;

    for (size_t i = 0; i < count; i++)
        size += 1 + strlen(parts[i]);
    path = malloc(size);
    if (path == NULL)
        return NULL;
    end = stpcpy(path, "nowhere");
    for (size_t i = 0; i < count; i++) {
        end = stpncpy(stpcpy(end, " "), parts[i], strcspn(parts[i], " "));
        *end = '\0';
    }
    return path;
}

static enum colander_code
open_nowhere(char *const *parts, size_t count, struct colander_store **store,
             struct colander_error *err)
{
    struct nowhere *nowhere =
        malloc(sizeof(*nowhere) + count * sizeof(nowhere->parts[0]));
    struct colander_source source = {
        .closed = free_nowhere,
        .families = list_families,
        .snapshot = no_snapshot,
        .exists = has_family,
        .sizes = no_sizes,
        .split_keys = no_keys,
        .mark = no_mark,
        .get_many = no_rows,
        .find = begin_find,
        .find_next = find_none,
        .find_seek = seek_none,
        .find_cancel = leave_find,
        .find_pause = pause_none,
        .find_explain = explain_none,
        .find_close = leave_find,
    };

    if (nowhere == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for routes");
    nowhere->count = 0;
    nowhere->path = make_path(parts, count);
    while (nowhere->count < count && (nowhere->parts[nowhere->count] = strdup(
                                          parts[nowhere->count])) != NULL)
        nowhere->count++;
    if (nowhere->count < count || nowhere->path == NULL) {
        free_nowhere(nowhere);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for routes");
    }
    source.context = nowhere;
    source.name = nowhere->path;
    return colander_store_open_source(&source, store, err);
}

/* ---------------------------------------------------------------- peers --- */

/* A first place that is silent is given up sooner if there is another one. A
 * node that looks for rows says so each second. */
#define WAIT_MS 10000
#define WAIT_FIRST_MS 5000

static void
release_place(struct place *place)
{
    for (size_t i = 0; i < place->part_count; i++)
        free(place->parts[i]);
    free(place->parts);
    free(place->address);
}

static void
release_peer(struct peer *peer)
{
    release_place(&peer->first);
    for (size_t i = 0; i < peer->second_count; i++)
        release_place(&peer->seconds[i]);
    free(peer->seconds);
}

/* The store that is read. */
static struct colander_store *
store_of(const struct peer *peer)
{
    return peer->both != NULL ? peer->both : peer->first.store;
}

/* Closes a store that was opened, and forgets it. */
static bool
close_store(struct colander_store **store)
{
    if (*store != NULL && colander_store_close(*store, NULL) != COLANDER_OK)
        return false;
    *store = NULL;
    return true;
}

/* Closes the stores, each before those that it reads. Returns false if a cursor
 * uses them. */
static bool
close_peer(struct peer *peer)
{
    bool is_closed = close_store(&peer->both) && close_store(&peer->second) &&
                     close_store(&peer->first.store);

    for (size_t i = 0; i < peer->second_count && is_closed; i++)
        is_closed = close_store(&peer->seconds[i].store);
    return is_closed;
}

/* Closes the stores, which no one uses, unless they are another's. */
static void
drop_peer(struct peer *peer)
{
    const bool is_closed = peer->is_of_old || close_peer(peer);

    assert(is_closed);
    (void)is_closed;
    release_peer(peer);
}

static enum colander_code
make_place(struct place *place, const char *address, struct colander_error *err)
{
    *place = (struct place){.address = strdup(address)};
    return place->address != NULL
               ? COLANDER_OK
               : COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory");
}

static enum colander_code
add_part(struct place *place, const char *partition, const char *problem,
         struct colander_error *err)
{
    char *part = NULL;
    const bool is_made =
        asprintf(&part, "%s%s%s", partition, problem == NULL ? "" : " ",
                 problem == NULL ? "" : problem) >= 0;
    enum colander_code code =
        !is_made ? COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory")
                 : array_reserve(&place->parts, place->part_count,
                                 &place->part_capacity, 1, err);

    if (code == COLANDER_OK)
        place->parts[place->part_count++] = part;
    else if (is_made)
        free(part);
    return code;
}

/* Adds the partition to those that are read at the second node of its route. */
static enum colander_code
add_second(struct peer *peer, const struct route *route,
           struct colander_error *err)
{
    struct place *second = NULL;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < peer->second_count && second == NULL; i++) {
        if (strcmp(peer->seconds[i].address, route->second) == 0)
            second = &peer->seconds[i];
    }
    if (second == NULL) {
        code = array_reserve(&peer->seconds, peer->second_count,
                             &peer->second_capacity, 1, err);
        if (code == COLANDER_OK) {
            second = &peer->seconds[peer->second_count];
            code = make_place(second, route->second, err);
            peer->second_count += code == COLANDER_OK;
        }
    }
    return code == COLANDER_OK ? add_part(second, route->partition, NULL, err)
                               : code;
}

/* Adds the partition to those that are read at its node. Those that have no
 * second place are apart, so that one store has all that the other has. */
static enum colander_code
add_route(struct peers *peers, const struct route *route,
          struct colander_error *err)
{
    const char *address = route->address == NULL ? "" : route->address;
    const bool has_second = route->second != NULL;
    struct peer *peer = NULL;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < peers->count && peer == NULL; i++) {
        if (strcmp(peers->items[i].first.address, address) == 0 &&
            (peers->items[i].second_count > 0) == has_second)
            peer = &peers->items[i];
    }
    if (peer == NULL) {
        code = array_reserve(&peers->items, peers->count, &peers->capacity, 1,
                             err);
        if (code == COLANDER_OK) {
            peer = &peers->items[peers->count];
            *peer = (struct peer){.seconds = NULL};
            code = make_place(&peer->first, address, err);
            peers->count += code == COLANDER_OK;
        }
    }
    if (code == COLANDER_OK)
        code = add_part(&peer->first, route->partition,
                        route->address == NULL ? route->problem : NULL, err);
    return code == COLANDER_OK && has_second ? add_second(peer, route, err)
                                             : code;
}

static bool
is_same_place(const struct place *a, const struct place *b)
{
    if (strcmp(a->address, b->address) != 0 || a->part_count != b->part_count)
        return false;
    for (size_t i = 0; i < a->part_count; i++) {
        if (strcmp(a->parts[i], b->parts[i]) != 0)
            return false;
    }
    return true;
}

static bool
is_same(const struct peer *a, const struct peer *b)
{
    if (!is_same_place(&a->first, &b->first) ||
        a->second_count != b->second_count)
        return false;
    for (size_t i = 0; i < a->second_count; i++) {
        if (!is_same_place(&a->seconds[i], &b->seconds[i]))
            return false;
    }
    return true;
}

static enum colander_code
open_place(struct routing *routing, struct place *place, unsigned wait_ms,
           struct colander_error *err)
{
    const struct peer_store_options options = {
        .address = place->address,
        .token = routing->options.token,
        .ca_file = routing->options.ca_file,
        .parts = (const char *const *)place->parts,
        .part_count = place->part_count,
        .wait_ms = wait_ms,
        .choose = placed_choose,
        .choose_context = routing->placed,
    };

    if (place->address[0] == '\0')
        return open_nowhere(place->parts, place->part_count, &place->store,
                            err);
    return peer_store_open(&options, &place->store, err);
}

/* Opens what is read if the first place fails. */
static enum colander_code
open_seconds(struct routing *routing, struct peer *peer,
             struct colander_error *err)
{
    struct colander_store **stores =
        calloc(peer->second_count, sizeof(struct colander_store *));
    enum colander_code code = COLANDER_OK;

    if (stores == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for routes");
    for (size_t i = 0; i < peer->second_count && code == COLANDER_OK; i++) {
        code = open_place(routing, &peer->seconds[i], WAIT_MS, err);
        stores[i] = peer->seconds[i].store;
    }
    if (code == COLANDER_OK && peer->second_count > 1)
        code = colander_union_open("replicas", stores, peer->second_count,
                                   &peer->second, err);
    if (code == COLANDER_OK)
        code = replicas_open(peer->first.store,
                             peer->second != NULL ? peer->second : stores[0],
                             &peer->both, err);
    free(stores);
    return code;
}

/* Opens the stores of a peer, or takes those of an equal one of before. */
static enum colander_code
open_peer(struct routing *routing, struct peer *peer,
          struct colander_error *err)
{
    const bool has_second = peer->second_count > 0;
    enum colander_code code;

    for (size_t i = 0; i < routing->peers.count; i++) {
        const struct peer *old = &routing->peers.items[i];

        if (old->first.store == NULL || !is_same(old, peer))
            continue;
        peer->first.store = old->first.store;
        for (size_t j = 0; j < peer->second_count; j++)
            peer->seconds[j].store = old->seconds[j].store;
        peer->second = old->second;
        peer->both = old->both;
        peer->is_of_old = true;
        return COLANDER_OK;
    }
    code = open_place(routing, &peer->first,
                      has_second ? WAIT_FIRST_MS : WAIT_MS, err);
    return code == COLANDER_OK && has_second ? open_seconds(routing, peer, err)
                                             : code;
}

/* Closes those that no cursor uses. */
static void
close_retired(struct peers *retired)
{
    size_t count = 0;

    for (size_t i = 0; i < retired->count; i++) {
        if (close_peer(&retired->items[i]))
            release_peer(&retired->items[i]);
        else
            retired->items[count++] = retired->items[i];
    }
    retired->count = count;
}

/* Retires the peers that have stores left. There is room for them. */
static void
retire(struct routing *routing, struct peers *peers)
{
    for (size_t i = 0; i < peers->count; i++) {
        if (peers->items[i].first.store != NULL)
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

    if (code != COLANDER_OK)
        return code;
    colander_union_choose(routing->all, placed_choose, routing->placed);
    return colander_union_open(name, NULL, 0, &routing->here, err);
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
    code = placed_create(&opened->placed, err);
    if (code == COLANDER_OK)
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

/* Finds out which nodes are asked for what, and which partitions none has, and
 * opens stores of them. */
static enum colander_code
open_peers(struct routing *routing, const struct route *routes, size_t count,
           struct peers *peers, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < count && code == COLANDER_OK; i++) {
        if (routes[i].is_hidden)
            continue;
        if (routes[i].address != NULL || routes[i].store == NULL)
            code = add_route(peers, &routes[i], err);
    }
    for (size_t i = 0; i < peers->count && code == COLANDER_OK; i++)
        code = open_peer(routing, &peers->items[i], err);
    if (code == COLANDER_OK)
        code = array_reserve(&routing->retired.items, routing->retired.count,
                             &routing->retired.capacity,
                             routing->peers.count + peers->count, err);
    return code;
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
        stores[store_count++] = store_of(&peers->items[i]);
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

    if (code ==
        COLANDER_OK) /* what is not placed any more, before it is read */
        code = placed_set(routing->placed, routes, count, err);
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
            if (old.items[j].first.store != peer->first.store)
                continue;
            old.items[j].first.store = NULL; /* all are the new one's */
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
    placed_destroy(routing->placed);
    free(routing);
    return code;
}
