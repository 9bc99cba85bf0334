/* See store.h. SPDX-License-Identifier: MIT */
#include "columns/store.h"

#include "columns/utf8.h"
#include "core/engine.h"
#include "core/sized.h"

#include <assert.h>
#include <stdlib.h>
#include <xxhash.h>

/* ----------------------------------------------------------- key locks --- */

void
key_locks_add(struct key_locks *locks, struct colander_slice key, bool is_alone)
{
    uint32_t bit = UINT32_C(1) << XXH3_64bits(key.data, key.size) % KEY_LOCKS;

    if (is_alone)
        locks->alone |= bit;
    else
        locks->shared |= bit;
}

void
key_locks_lock(const struct key_locks *locks, struct colander_store *store)
{
    for (unsigned i = 0; i < KEY_LOCKS; i++) {
        if (locks->alone >> i & 1)
            pthread_rwlock_wrlock(&store->key_locks[i]);
        else if (locks->shared >> i & 1)
            pthread_rwlock_rdlock(&store->key_locks[i]);
    }
}

void
key_locks_unlock(const struct key_locks *locks, struct colander_store *store)
{
    for (unsigned i = 0; i < KEY_LOCKS; i++) {
        if ((locks->alone | locks->shared) >> i & 1)
            pthread_rwlock_unlock(&store->key_locks[i]);
    }
}

/* Newcomers wait for a patch that waits: puts would starve it otherwise. */
static void
init_key_locks(struct colander_store *store)
{
    pthread_rwlockattr_t attributes;

    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes,
                                  PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    for (size_t i = 0; i < KEY_LOCKS; i++)
        pthread_rwlock_init(&store->key_locks[i], &attributes);
    pthread_rwlockattr_destroy(&attributes);
}

static void
destroy_key_locks(struct colander_store *store)
{
    for (size_t i = 0; i < KEY_LOCKS; i++)
        pthread_rwlock_destroy(&store->key_locks[i]);
}

/* -------------------------------------------------------------- stores --- */

static enum colander_code
hooks_opened(struct colander_store *store, struct colander_error *err)
{
    const struct store_hooks *hooks = &store->hooks;
    enum colander_code code;

    if (hooks->opened == NULL)
        return COLANDER_OK;
    code = hooks->opened(hooks->context, store->engine, err);
    store->are_hooks_open = code == COLANDER_OK;
    return code;
}

/* Closes an engine whose hooks could not be opened. The caller reports that
 * failure. Rows that are not in SST files yet are in the write-ahead log. */
static void
engine_give_up(struct colander_store *store)
{
    enum colander_code code = engine_close(store->engine, NULL);

    assert(code != COLANDER_BUSY);
    (void)code;
}

/* The hooks are not called from here on. */
static void
hooks_closing(struct colander_store *store)
{
    if (store->are_hooks_open)
        store->hooks.closing(store->hooks.context);
    store->are_hooks_open = false;
}

/* The store's own end, when the engine is closed or never was open. */
static void
store_free(struct colander_store *store)
{
    if (store->hooks.closed != NULL)
        store->hooks.closed(store->hooks.context);
    if (store->source.closed != NULL)
        store->source.closed(store->source.context);
    destroy_key_locks(store);
    free(store);
}

enum colander_code
store_open_hooked(const char *path, const struct colander_options *options,
                  const struct store_hooks *hooks,
                  struct colander_store **store, struct colander_error *err)
{
    struct colander_store *created = calloc(1, sizeof(*created));
    const struct sst_observer *observer = NULL;
    enum colander_code code;

    *store = NULL;
    if (created == NULL) {
        if (hooks != NULL)
            hooks->closed(hooks->context);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot open store '%s'",
                             path);
    }
    init_key_locks(created);
    if (hooks != NULL) {
        created->hooks = *hooks;
        if (hooks->observer.created != NULL)
            observer = &created->hooks.observer;
    }
    code = engine_open(path, options, observer, &created->engine, err);
    if (code == COLANDER_OK) {
        code = hooks_opened(created, err);
        if (code == COLANDER_OK)
            engine_opened(created->engine);
        else
            engine_give_up(created);
    }
    if (code != COLANDER_OK) {
        store_free(created);
        return code;
    }
    *store = created;
    return COLANDER_OK;
}

enum colander_code
colander_store_open_source(const struct colander_source *source,
                           struct colander_store **store,
                           struct colander_error *err)
{
    struct colander_store *created = calloc(1, sizeof(*created));

    *store = created;
    if (created == NULL) {
        source->closed(source->context);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot open store '%s'",
                             source->name);
    }
    init_key_locks(created);
    created->source = *source;
    return COLANDER_OK;
}

bool
colander_store_has_source(const struct colander_store *store)
{
    return store->engine == NULL;
}

/* Defined by the layer above; NULL where none is linked. */
#pragma weak store_hooks_create

enum colander_code
colander_store_open(const char *path, const struct colander_options *options,
                    struct colander_store **store, struct colander_error *err)
{
    struct colander_options accepted;
    struct store_hooks hooks;
    enum colander_code code;

    *store = NULL;
    code = options_accept(&accepted, options, err);
    if (code == COLANDER_OK && store_hooks_create == NULL)
        return store_open_hooked(path, &accepted, NULL, store, err);
    if (code == COLANDER_OK)
        code = store_hooks_create(path, &accepted, &hooks, err);
    if (code != COLANDER_OK) {
        colander_error_context(err, "cannot open store '%s'", path);
        return code;
    }
    return store_open_hooked(path, &accepted, &hooks, store, err);
}

enum colander_code
colander_store_close(struct colander_store *store, struct colander_error *err)
{
    enum colander_code code;
    size_t handles;

    if (store == NULL)
        return COLANDER_OK;
    handles = atomic_load(&store->handle_count);
    if (handles > 0)
        return COLANDER_FAIL(
            err, COLANDER_BUSY,
            "cannot close store '%s': families and batches open: "
            "%zu",
            colander_store_path(store), handles);
    hooks_closing(store);
    code =
        store->engine == NULL ? COLANDER_OK : engine_close(store->engine, err);
    if (code == COLANDER_BUSY) {
        /* If this fails the store continues without hooks: finds scan. */
        if (hooks_opened(store, NULL) != COLANDER_OK)
            assert(!store->are_hooks_open);
        return code;
    }
    store_free(store);
    return code;
}

void *
store_hooks_context(const struct colander_store *store)
{
    return store->hooks.context;
}

const char *
colander_store_path(const struct colander_store *store)
{
    return store->engine == NULL ? store->source.name
                                 : engine_path(store->engine);
}

void
colander_store_options_sized(const struct colander_store *store,
                             struct colander_options *options,
                             size_t struct_size)
{
    struct colander_options in_force;

    if (store->engine != NULL) {
        engine_options(store->engine, &in_force);
    } else {
        colander_options_init(&in_force);
        in_force.mode = COLANDER_OPEN_READ_ONLY;
    }
    sized_return(options, struct_size, &in_force, sizeof(in_force));
    memcpy(options, &struct_size, sizeof(struct_size));
}

enum colander_code
colander_store_flush(struct colander_store *store, struct colander_error *err)
{
    struct colander_names names = {NULL, 0};
    enum colander_code code = store_check_writable(store, err);

    if (code == COLANDER_OK)
        code = engine_families(store->engine, &names, err);
    for (size_t i = 0; i < names.count && code == COLANDER_OK; i++) {
        struct engine_family *family;

        code = engine_family_open(store->engine, names.names[i], false, &family,
                                  err);
        if (code == COLANDER_OK) {
            code = engine_family_flush(family, err);
            engine_family_close(family);
        }
        if (code == COLANDER_NOT_FOUND || code == COLANDER_DROPPED)
            code = COLANDER_OK; /* it was dropped meanwhile */
    }
    colander_names_release(&names);
    return code;
}

void
colander_store_recovery(const struct colander_store *store,
                        struct colander_recovery *recovery)
{
    if (store->engine == NULL)
        memset(recovery, 0, sizeof(*recovery));
    else
        engine_recovery(store->engine, recovery);
}

enum colander_code
colander_store_families(struct colander_store *store,
                        struct colander_names *names,
                        struct colander_error *err)
{
    if (store->engine == NULL)
        return store->source.families(store->source.context, names, err);
    return engine_families(store->engine, names, err);
}

enum colander_code
colander_store_snapshot(struct colander_store *store,
                        struct colander_snapshot **snapshot,
                        struct colander_error *err)
{
    if (store->engine == NULL)
        return store->source.snapshot(store->source.context, snapshot, err);
    return engine_snapshot_create(store->engine, snapshot, err);
}

static struct engine_sidecars
sidecars_of(const struct store_hooks *hooks)
{
    return (struct engine_sidecars){hooks->context, hooks->sst_sidecar, NULL};
}

enum colander_code
colander_store_backup(struct colander_store *store, const char *directory,
                      uint64_t keep_count, struct colander_backup *created,
                      struct colander_error *err)
{
    const struct engine_sidecars sidecars = sidecars_of(&store->hooks);
    struct colander_backup ignored;
    enum colander_code code = store_check_files(store, "backed up", err);

    if (code != COLANDER_OK)
        return code;
    return engine_backup(store->engine, directory, keep_count,
                         sidecars.find == NULL ? NULL : &sidecars,
                         created == NULL ? &ignored : created, err);
}

enum colander_code
colander_store_backup_to(struct colander_store *store,
                         const struct colander_backup_target *target,
                         struct colander_backup *created,
                         struct colander_error *err)
{
    struct engine_sidecars sidecars = sidecars_of(&store->hooks);
    struct colander_backup ignored;
    enum colander_code code = store_check_files(store, "backed up", err);

    if (code != COLANDER_OK)
        return code;
    if (store->hooks.backup_begin != NULL)
        store->hooks.backup_begin(store->hooks.context);
    sidecars.more = store->hooks.backup_more;
    return engine_backup_to(store->engine, target,
                            sidecars.find == NULL ? NULL : &sidecars,
                            created == NULL ? &ignored : created, err);
}

/* ------------------------------------------------------------ families --- */

enum colander_code
colander_family_open(struct colander_store *store, const char *name,
                     struct colander_family **family,
                     struct colander_error *err)
{
    struct colander_family *created;
    struct engine_family *engine_family;
    struct colander_error error;
    enum colander_code code = COLANDER_OK;

    *family = NULL;
    if (!utf8_is_valid((const uint8_t *)name, strlen(name)))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a family's name must be UTF-8");
    created = calloc(1, sizeof(*created) + strlen(name) + 1);
    if (created == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot open family '%s'",
                             name);
    created->store = store;
    strcpy(created->name, name);
    atomic_fetch_add(&store->handle_count, 1);
    if (store->engine != NULL)
        code = family_engine(created, &engine_family, &error);
    if (code == COLANDER_DROPPED) { /* just now: as if it had been before */
        engine_family_close(atomic_exchange(&created->engine_family, NULL));
        code = COLANDER_OK;
    }
    if (code != COLANDER_OK) {
        colander_family_close(created);
        return COLANDER_FAIL(err, code, "%s", error.message);
    }
    *family = created;
    return COLANDER_OK;
}

void
colander_family_close(struct colander_family *family)
{
    if (family == NULL)
        return;
    engine_family_close(atomic_load(&family->engine_family));
    atomic_fetch_sub(&family->store->handle_count, 1);
    free(family);
}

const char *
colander_family_name(const struct colander_family *family)
{
    const struct engine_family *bound =
        atomic_load_explicit(&family->engine_family, memory_order_acquire);

    return bound == NULL ? family->name : engine_family_name(bound);
}

/* Binds the handle to its family, once for all threads that use it. */
static enum colander_code
bind_family(struct colander_family *family, bool create,
            struct engine_family **engine_family, struct colander_error *err)
{
    struct engine_family *bound =
        atomic_load_explicit(&family->engine_family, memory_order_acquire);
    struct engine_family *unbound = NULL;
    enum colander_code code;

    *engine_family = NULL;
    if (family->store->engine == NULL)
        return create ? store_check_writable(family->store, err)
                      : COLANDER_FAIL(err, COLANDER_INVALID,
                                      "family '%s' has no files here: ask the "
                                      "stores that '%s' is read from",
                                      family->name, family->store->source.name);
    if (bound == NULL) {
        code = engine_family_open(family->store->engine, family->name, create,
                                  &bound, err);
        if (code != COLANDER_OK)
            return code;
        if (!atomic_compare_exchange_strong(&family->engine_family, &unbound,
                                            bound)) {
            engine_family_close(bound);
            bound = unbound;
        }
    }
    if (engine_family_is_dropped(bound))
        return COLANDER_FAIL(err, COLANDER_DROPPED, "family '%s' was dropped",
                             engine_family_name(bound));
    *engine_family = bound;
    return COLANDER_OK;
}

enum colander_code
family_engine(struct colander_family *family,
              struct engine_family **engine_family, struct colander_error *err)
{
    struct colander_error mine;
    enum colander_code code = bind_family(family, false, engine_family, &mine);

    if (code == COLANDER_NOT_FOUND)
        return COLANDER_OK;
    if (code != COLANDER_OK && err != NULL)
        *err = mine;
    return code;
}

enum colander_code
family_make(struct colander_family *family,
            struct engine_family **engine_family, struct colander_error *err)
{
    return bind_family(family, true, engine_family, err);
}

enum colander_code
store_check_writable(const struct colander_store *store,
                     struct colander_error *err)
{
    struct colander_options options;

    colander_store_options(store, &options);
    if (options.mode != COLANDER_OPEN_READ_ONLY)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_READ_ONLY,
                         "store '%s' is open for reading only",
                         colander_store_path(store));
}

enum colander_code
store_begin_batch(const struct colander_store *store, bool reads,
                  struct engine_batch **batch, struct colander_error *err)
{
    if (store->engine == NULL)
        return store_check_writable(store, err);
    return engine_batch_create(store->engine, reads, batch, err);
}

enum colander_code
store_check_files(const struct colander_store *store, const char *acted,
                  struct colander_error *err)
{
    if (store->engine != NULL)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "'%s' has no files that could be %s: the stores "
                         "have that it is read from",
                         store->source.name, acted);
}

struct colander_store *
colander_family_store(const struct colander_family *family)
{
    return family->store;
}

struct colander_store *
family_store(const struct colander_family *family)
{
    return family->store;
}

enum colander_code
colander_family_exists_there(struct colander_family *family, bool *exists,
                             struct colander_error *err)
{
    const struct colander_source *source = &family->store->source;
    struct engine_family *engine_family;
    enum colander_code code;

    if (family->store->engine == NULL)
        return source->exists(source->context, family->name, exists, err);
    code = family_engine(family, &engine_family, err);
    *exists = code == COLANDER_OK && engine_family != NULL;
    return code;
}

bool
colander_family_exists(struct colander_family *family)
{
    bool exists = false;
    const enum colander_code code =
        colander_family_exists_there(family, &exists, NULL);

    /* where it is not known a read says why */
    return exists || (code != COLANDER_OK && family->store->engine == NULL);
}

enum colander_code
colander_family_create(struct colander_family *family,
                       struct colander_error *err)
{
    struct engine_family *engine_family;
    enum colander_code code = store_check_writable(family->store, err);

    if (code != COLANDER_OK)
        return code;
    return family_make(family, &engine_family, err);
}

enum colander_code
colander_family_drop(struct colander_family *family, struct colander_error *err)
{
    const struct store_hooks *hooks = &family->store->hooks;
    struct engine_family *engine_family;
    enum colander_code code = bind_family(family, false, &engine_family, err);

    if (code != COLANDER_OK)
        return code;
    code = engine_family_drop(engine_family, err);
    if (code == COLANDER_OK && hooks->dropped != NULL)
        hooks->dropped(hooks->context, engine_family);
    return code;
}

enum colander_code
colander_family_rename(struct colander_family *family, const char *name,
                       struct colander_error *err)
{
    struct engine_family *engine_family;
    enum colander_code code = bind_family(family, false, &engine_family, err);

    if (code == COLANDER_OK &&
        !utf8_is_valid((const uint8_t *)name, strlen(name)))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a family's name must be UTF-8");
    return code == COLANDER_OK ? engine_family_rename(engine_family, name, err)
                               : code;
}

/* -------------------------------------------------------- housekeeping --- */

enum colander_code
colander_family_flush(struct colander_family *family,
                      struct colander_error *err)
{
    struct engine_family *engine_family;
    enum colander_code code = family_engine(family, &engine_family, err);

    if (code != COLANDER_OK || engine_family == NULL)
        return code;
    return engine_family_flush(engine_family, err);
}

enum colander_code
colander_family_compact(struct colander_family *family,
                        struct colander_error *err)
{
    struct engine_family *engine_family;
    enum colander_code code = family_engine(family, &engine_family, err);

    if (code != COLANDER_OK || engine_family == NULL)
        return code;
    return engine_family_compact(engine_family, err);
}

enum colander_code
colander_family_sizes(struct colander_family *family,
                      struct colander_family_sizes *sizes,
                      struct colander_error *err)
{
    const struct colander_source *source = &family->store->source;
    struct engine_family *engine_family;
    enum colander_code code;

    memset(sizes, 0, sizeof(*sizes));
    if (family->store->engine == NULL)
        return source->sizes(source->context, family->name, sizes, err);
    code = family_engine(family, &engine_family, err);
    if (code != COLANDER_OK || engine_family == NULL)
        return code;
    return engine_family_sizes(engine_family, sizes, err);
}

enum colander_code
colander_family_split_keys(struct colander_family *family,
                           struct colander_buffer *keys, size_t count,
                           size_t *found, struct colander_error *err)
{
    const struct colander_source *source = &family->store->source;
    struct engine_family *engine_family;
    enum colander_code code;

    *found = 0;
    if (family->store->engine == NULL)
        return source->split_keys(source->context, family->name, keys, count,
                                  found, err);
    code = family_engine(family, &engine_family, err);
    if (code != COLANDER_OK || engine_family == NULL)
        return code;
    return engine_family_split_keys(engine_family, keys, count, found, err);
}

bool
family_may_bound(const struct colander_family *family)
{
    return family->store->are_hooks_open ||
           family->store->source.order_bound != NULL;
}

enum colander_code
colander_family_order_bound(struct colander_family *family, const char *path,
                            bool is_descending, uint64_t rows,
                            struct colander_buffer *bytes,
                            struct colander_value *bound, bool *found,
                            struct colander_error *err)
{
    const struct colander_source *source = &family->store->source;
    const struct store_hooks *hooks = &family->store->hooks;
    struct bound_request request = {.is_descending = is_descending,
                                    .rows = rows};
    enum colander_code code;

    *found = false;
    colander_buffer_clear(bytes);
    if (!family_may_bound(family))
        return COLANDER_OK;
    if (source->order_bound != NULL)
        return source->order_bound(source->context, family->name, path,
                                   is_descending, rows, bytes, bound, found,
                                   err);
    code = path_hash_of_text(path, &request.path_hash, err);
    if (code == COLANDER_OK)
        code = family_engine(family, &request.family, err);
    if (code != COLANDER_OK || request.family == NULL)
        return code;
    return hooks->order_bound(hooks->context, &request, bytes, bound, found,
                              err);
}

void
error_add_row(const struct colander_family *family, struct colander_slice key,
              struct colander_error *err)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;

    if (err != NULL &&
        colander_json_append_key(&text, key, NULL) == COLANDER_OK)
        colander_error_context(
            err, "family '%s', row %.*s", colander_family_name(family),
            (int)utf8_cut(text.data, text.size, 200), (const char *)text.data);
    colander_buffer_release(&text);
}
