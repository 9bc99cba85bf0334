/*
 * Stores and families, for the files of columns/.
 *
 * A family handle is bound to its family late: at its first write, or at the
 * first read after the family was created. From then on it refers to that
 * family, also if another of the same name is created later.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_STORE_H
#define COLANDER_COLUMNS_STORE_H

#include "columns/candidates.h"
#include "columns/source.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * Locks on keys. A patch or an insert reads and writes, and no other write may
 * come in between. Puts and deletes share a lock, these take it exclusively. A
 * large batch takes all of them; ThreadSanitizer allows 64 at once.
 */
#define KEY_LOCKS 32

struct colander_store {
    struct engine *engine;         /* NULL: it has */
    struct colander_source source; /* zero: none */
    pthread_rwlock_t key_locks[KEY_LOCKS];
    atomic_size_t handle_count; /* families and batches */
    struct store_hooks hooks;   /* zero: none */
    bool are_hooks_open;        /* the hooks are called */
};

struct colander_family {
    struct colander_store *store;
    _Atomic(struct engine_family *) engine_family; /* NULL: not bound */
    char name[];
};

/* Does what family_engine does, but creates the family if there is none.
 * Requires a writable store. */
COLANDER_CHECKED enum colander_code
family_make(struct colander_family *family,
            struct engine_family **engine_family, struct colander_error *err);

/* Fails with READ_ONLY if the store is. */
COLANDER_CHECKED enum colander_code
store_check_writable(const struct colander_store *store,
                     struct colander_error *err);

/* Sets of key locks, a bit for each. Start with zeros. */
struct key_locks {
    uint32_t shared;
    uint32_t alone; /* wins over shared */
};

void key_locks_add(struct key_locks *locks, struct colander_slice key,
                   bool is_alone);

/* Takes the locks, in the same order in every thread. */
void key_locks_lock(const struct key_locks *locks,
                    struct colander_store *store);
void key_locks_unlock(const struct key_locks *locks,
                      struct colander_store *store);

/* Creates a batch of the engine; with `reads` it may be read. Fails with
 * READ_ONLY if the store is. */
COLANDER_CHECKED enum colander_code
store_begin_batch(const struct colander_store *store, bool reads,
                  struct engine_batch **batch, struct colander_error *err);

/* Fails with INVALID if the store has a source: there are no files that could
 * be `acted` on. */
COLANDER_CHECKED enum colander_code
store_check_files(const struct colander_store *store, const char *acted,
                  struct colander_error *err);

/* Whether colander_family_order_bound may find something. */
bool family_may_bound(const struct colander_family *family);

/* Puts the names of family and row before the message. */
void error_add_row(const struct colander_family *family,
                   struct colander_slice key, struct colander_error *err);

#endif
