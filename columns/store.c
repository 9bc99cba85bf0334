/*
 * Stores and families: handles over the engine.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/store.h"

#include "columns/utf8.h"

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

/* -------------------------------------------------------------- stores --- */

enum colander_code
colander_store_open(const char *path, const struct colander_options *options,
                    struct colander_store **store, struct colander_error *err)
{
    struct colander_store *made = calloc(1, sizeof(*made));
    enum colander_code code;

    *store = NULL;
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "cannot open store '%s'",
                             path);
    code = colander_engine_open(path, options, &made->engine, err);
    if (code != COLANDER_OK) {
        free(made);
        return code;
    }
    init_key_locks(made);
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
    code = colander_engine_close(store->engine, err);
    if (code == COLANDER_BUSY)
        return code;
    for (size_t i = 0; i < KEY_LOCKS; i++)
        pthread_rwlock_destroy(&store->key_locks[i]);
    free(store);
    return code;
}

void
colander_store_options(const struct colander_store *store,
                       struct colander_options *options)
{
    colander_engine_options(store->engine, options);
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
    code = family_find(made, &met, err);
    if (code != COLANDER_OK) {
        colander_family_close(made);
        return code;
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
    struct colander_engine_family *met;
    enum colander_code code = meet(family, false, &met, err);

    if (code != COLANDER_OK)
        return code;
    return colander_engine_family_drop(met, err);
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
