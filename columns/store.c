/*
 * Stores and families: handles over the engine.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/store.h"

#include "columns/utf8.h"

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
extension_opened(struct colander_store *store, struct colander_error *err)
{
    const struct store_extension *extension = &store->extension;
    enum colander_code code;

    if (extension->opened == NULL)
        return COLANDER_OK;
    code = extension->opened(extension->context, store->engine, err);
    store->is_extended = code == COLANDER_OK;
    return code;
}

/* Closes an engine whose extension could not be opened: that is what is told,
 * and what is not in SST files yet stands in the write-ahead log. */
static void
engine_give_up(struct colander_store *store)
{
    enum colander_code code = colander_engine_close(store->engine, NULL);

    assert(code != COLANDER_BUSY);
    (void)code;
}

/* Nothing is asked or told from here on. */
static void
extension_closing(struct colander_store *store)
{
    if (store->is_extended)
        store->extension.closing(store->extension.context);
    store->is_extended = false;
}

/* The store's own end, when the engine is closed or never was open. */
static void
store_free(struct colander_store *store)
{
    if (store->extension.closed != NULL)
        store->extension.closed(store->extension.context);
    destroy_key_locks(store);
    free(store);
}

enum colander_code
store_open_extended(const char *path, const struct colander_options *options,
                    const struct store_extension *extension,
                    struct colander_store **store, struct colander_error *err)
{
    struct colander_store *made = calloc(1, sizeof(*made));
    const struct sst_observer *observer = NULL;
    enum colander_code code;

    *store = NULL;
    if (made == NULL) {
        if (extension != NULL)
            extension->closed(extension->context);
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot open store '%s'",
                             path);
    }
    init_key_locks(made);
    if (extension != NULL) {
        made->extension = *extension;
        if (extension->observer.created != NULL)
            observer = &made->extension.observer;
    }
    code = engine_open_observed(path, options, observer, &made->engine, err);
    if (code == COLANDER_OK) {
        code = extension_opened(made, err);
        if (code != COLANDER_OK)
            engine_give_up(made);
    }
    if (code != COLANDER_OK) {
        store_free(made);
        return code;
    }
    *store = made;
    return COLANDER_OK;
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
            colander_engine_path(store->engine), handles);
    extension_closing(store);
    code = colander_engine_close(store->engine, err);
    if (code == COLANDER_BUSY) {
        /* Should this fail, the store goes on without: finds scan. */
        if (extension_opened(store, NULL) != COLANDER_OK)
            assert(!store->is_extended);
        return code;
    }
    store_free(store);
    return code;
}

void *
store_extension_context(const struct colander_store *store)
{
    return store->extension.context;
}

void
colander_store_options(const struct colander_store *store,
                       struct colander_options *options)
{
    colander_engine_options(store->engine, options);
}

void
colander_store_recovery(const struct colander_store *store,
                        struct colander_recovery *recovery)
{
    colander_engine_recovery(store->engine, recovery);
}

enum colander_code
colander_store_families(struct colander_store *store,
                        struct colander_names *names,
                        struct colander_error *err)
{
    return colander_engine_families(store->engine, names, err);
}

enum colander_code
colander_store_snapshot(struct colander_store *store,
                        struct colander_snapshot **snapshot,
                        struct colander_error *err)
{
    return colander_snapshot_create(store->engine, snapshot, err);
}

/* ------------------------------------------------------------ families --- */

enum colander_code
colander_family_open(struct colander_store *store, const char *name,
                     struct colander_family **family,
                     struct colander_error *err)
{
    struct colander_family *made;
    struct colander_engine_family *met;
    struct colander_error why;
    enum colander_code code;

    *family = NULL;
    if (!utf8_is_valid((const uint8_t *)name, strlen(name)))
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a family's name must be UTF-8");
    made = calloc(1, sizeof(*made) + strlen(name) + 1);
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot open family '%s'",
                             name);
    made->store = store;
    strcpy(made->name, name);
    atomic_fetch_add(&store->handle_count, 1);
    code = family_find(made, &met, &why);
    if (code == COLANDER_DROPPED) { /* this moment: as if it had been before */
        colander_engine_family_close(
            atomic_exchange(&made->engine_family, NULL));
        code = COLANDER_OK;
    }
    if (code != COLANDER_OK) {
        colander_family_close(made);
        return COLANDER_FAIL(err, code, "%s", why.message);
    }
    *family = made;
    return COLANDER_OK;
}

void
colander_family_close(struct colander_family *family)
{
    if (family == NULL)
        return;
    colander_engine_family_close(atomic_load(&family->engine_family));
    atomic_fetch_sub(&family->store->handle_count, 1);
    free(family);
}

const char *
colander_family_name(const struct colander_family *family)
{
    return family->name;
}

/* Meets the family, once for all threads that use the handle. */
static enum colander_code
meet(struct colander_family *family, bool create,
     struct colander_engine_family **engine_family, struct colander_error *err)
{
    struct colander_engine_family *met =
        atomic_load_explicit(&family->engine_family, memory_order_acquire);
    struct colander_engine_family *nobody = NULL;
    enum colander_code code;

    *engine_family = NULL;
    if (met == NULL) {
        code = colander_engine_family_open(family->store->engine, family->name,
                                           create, &met, err);
        if (code != COLANDER_OK)
            return code;
        if (!atomic_compare_exchange_strong(&family->engine_family, &nobody,
                                            met)) {
            colander_engine_family_close(met);
            met = nobody;
        }
    }
    if (colander_engine_family_is_dropped(met))
        return COLANDER_FAIL(err, COLANDER_DROPPED, "family '%s' was dropped",
                             family->name);
    *engine_family = met;
    return COLANDER_OK;
}

enum colander_code
family_find(struct colander_family *family,
            struct colander_engine_family **engine_family,
            struct colander_error *err)
{
    struct colander_error mine;
    enum colander_code code = meet(family, false, engine_family, &mine);

    if (code == COLANDER_NOT_FOUND)
        return COLANDER_OK;
    if (code != COLANDER_OK && err != NULL)
        *err = mine;
    return code;
}

enum colander_code
family_make(struct colander_family *family,
            struct colander_engine_family **engine_family,
            struct colander_error *err)
{
    return meet(family, true, engine_family, err);
}

enum colander_code
family_engine(struct colander_family *family,
              struct colander_engine_family **engine_family,
              struct colander_error *err)
{
    return family_find(family, engine_family, err);
}

enum colander_code
store_check_writable(const struct colander_store *store,
                     struct colander_error *err)
{
    struct colander_options options;

    colander_engine_options(store->engine, &options);
    if (options.mode != COLANDER_OPEN_READ_ONLY)
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_READ_ONLY,
                         "store '%s' is open for reading only",
                         colander_engine_path(store->engine));
}

struct colander_store *
family_store(const struct colander_family *family)
{
    return family->store;
}

bool
colander_family_exists(struct colander_family *family)
{
    struct colander_engine_family *met;

    return family_find(family, &met, NULL) == COLANDER_OK && met != NULL;
}

enum colander_code
colander_family_create(struct colander_family *family,
                       struct colander_error *err)
{
    struct colander_engine_family *met;
    enum colander_code code = store_check_writable(family->store, err);

    if (code != COLANDER_OK)
        return code;
    return family_make(family, &met, err);
}

enum colander_code
colander_family_drop(struct colander_family *family, struct colander_error *err)
{
    const struct store_extension *extension = &family->store->extension;
    struct colander_engine_family *met;
    enum colander_code code = meet(family, false, &met, err);

    if (code != COLANDER_OK)
        return code;
    code = colander_engine_family_drop(met, err);
    if (code == COLANDER_OK && extension->dropped != NULL)
        extension->dropped(extension->context, met);
    return code;
}

/* -------------------------------------------------------- housekeeping --- */

enum colander_code
colander_family_flush(struct colander_family *family,
                      struct colander_error *err)
{
    struct colander_engine_family *met;
    enum colander_code code = family_find(family, &met, err);

    if (code != COLANDER_OK || met == NULL)
        return code;
    return colander_engine_family_flush(met, err);
}

enum colander_code
colander_family_compact(struct colander_family *family,
                        struct colander_error *err)
{
    struct colander_engine_family *met;
    enum colander_code code = family_find(family, &met, err);

    if (code != COLANDER_OK || met == NULL)
        return code;
    return colander_engine_family_compact(met, err);
}

enum colander_code
colander_family_sizes(struct colander_family *family,
                      struct colander_family_sizes *sizes,
                      struct colander_error *err)
{
    struct colander_engine_family *met;
    enum colander_code code = family_find(family, &met, err);

    memset(sizes, 0, sizeof(*sizes));
    if (code != COLANDER_OK || met == NULL)
        return code;
    return colander_engine_family_sizes(met, sizes, err);
}

enum colander_code
colander_family_spread(struct colander_family *family,
                       struct colander_buffer *keys, size_t count,
                       size_t *found, struct colander_error *err)
{
    struct colander_engine_family *met;
    enum colander_code code = family_find(family, &met, err);

    *found = 0;
    if (code != COLANDER_OK || met == NULL)
        return code;
    return colander_engine_family_spread(met, keys, count, found, err);
}

void
tell_row(const struct colander_family *family, struct colander_slice key,
         struct colander_error *err)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;

    if (err != NULL &&
        colander_json_append_key(&text, key, NULL) == COLANDER_OK)
        colander_error_context(err, "family '%s', row %.*s", family->name,
                               (int)utf8_cut(text.data, text.size, 200),
                               (const char *)text.data);
    colander_buffer_release(&text);
}
