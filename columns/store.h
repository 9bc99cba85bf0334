/*
 * What the files of columns/ know of a store and a family.
 *
 * A family handle meets its family late: at its first write, or at the first
 * read after somebody created it. From then on it stays with that family,
 * also when another of the same name comes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_STORE_H
#define COLANDER_COLUMNS_STORE_H

#include "columns/candidates.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * Locks on keys: a patch reads and writes, and nobody may write in between.
 * Puts and deletes share a lock, a patch has it alone. A large batch takes them
 * all; thread sanitizers bear 64 at once.
 */
#define KEY_LOCKS 32

struct colander_store {
    struct colander_engine *engine;
    pthread_rwlock_t key_locks[KEY_LOCKS];
    atomic_size_t handle_count;       /* families and batches */
    struct store_extension extension; /* zero: none */
    bool is_extended;                 /* the extension is asked and told */
};

struct colander_family {
    struct colander_store *store;
    _Atomic(struct colander_engine_family *) engine_family; /* NULL: not met */
    char name[];
};

/* The engine's family, borrowed from the handle, or NULL where there is none.
 * DROPPED once the family that the handle met is gone. */
COLANDER_CHECKED enum colander_code
family_find(struct colander_family *family,
            struct colander_engine_family **engine_family,
            struct colander_error *err);

/* The same, but makes the family where there is none. The store is writable. */
COLANDER_CHECKED enum colander_code
family_make(struct colander_family *family,
            struct colander_engine_family **engine_family,
            struct colander_error *err);

/* READ_ONLY when the store is. */
COLANDER_CHECKED enum colander_code
store_check_writable(const struct colander_store *store,
                     struct colander_error *err);

/* Which key locks, a bit for each; start with zeros. */
struct key_locks {
    uint32_t shared;
    uint32_t alone; /* also where shared */
};

void key_locks_add(struct key_locks *locks, struct colander_slice key,
                   bool is_alone);

/* Takes them in one order for everybody. */
void key_locks_lock(const struct key_locks *locks,
                    struct colander_store *store);
void key_locks_unlock(const struct key_locks *locks,
                      struct colander_store *store);

/* Puts family and key before the message. */
void tell_row(const struct colander_family *family, struct colander_slice key,
              struct colander_error *err);

#endif
