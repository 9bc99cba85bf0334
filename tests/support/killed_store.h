/*
 * A store written by a process that was killed: rows are in SST files of
 * several levels, in files of a bulk, and in write-ahead logs.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_KILLED_STORE_H
#define TESTS_SUPPORT_KILLED_STORE_H

#include "support/children.h"
#include "support/claims.h"
#include "support/filter_files.h"
#include "support/model_steps.h"
#include "support/scoped.h"

#include <signal.h>
#include <sys/wait.h>

/* The family `rows` has the steps of the seed, `bulk` those of the next. */
#define STEPS 3000

/* From here on, steps are only in logs. */
#define LOGGED 2400

/* Puts a row that is in no model under each key; later rows hide it. */
static inline void
write_old_rows(struct colander_family *family, uint64_t seed)
{
    SCOPED_BUILDER builder = colander_row_builder_create();
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct step step;

    for (uint64_t i = 0; i < KEYS; i++) {
        do
            make_step(seed, random_below(&seed, STEPS), builder, &step);
        while (step.is_delete);
        encode_key(i, &key);
        DID(colander_family_put(family, colander_buffer_slice(&key), step.row,
                                NULL, NULL));
    }
}

/* Deletes each key that the model does not have; NULL: every key. */
static inline void
delete_others(struct colander_family *family, const struct model *model)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    for (uint64_t i = 0; i < KEYS; i++) {
        encode_key(i, &key);
        if (model == NULL || !model->is_there[i])
            DID(colander_family_delete(family, colander_buffer_slice(&key),
                                       NULL, NULL));
    }
    DID(colander_family_flush(family, NULL));
}

/* Loads a bulk: the last step of each key, of another seed, and rows that are
 * then deleted. All keys had rows before, which were deleted. */
static inline void
write_bulk(struct colander_store *store, uint64_t seed)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct model *model = calloc(1, sizeof(*model));
    SCOPED_FAMILY family = NULL;
    struct colander_bulk *bulk;
    uint64_t count;

    model_go_to(model, seed + 1, STEPS);
    DID(colander_family_open(store, "bulk", &family, NULL));
    write_old_rows(family, seed + 2);
    DID(colander_family_flush(family, NULL));
    delete_others(family, NULL);
    DID(colander_bulk_create(family, &bulk, NULL));
    for (uint64_t i = 0; i < KEYS; i++) {
        encode_key(i, &key);
        if (model->rows[i].size > 0) /* also rows whose last step is a delete */
            DID(colander_bulk_add(bulk, colander_buffer_slice(&key),
                                  colander_buffer_slice(&model->rows[i]),
                                  NULL));
    }
    DID(colander_bulk_commit(bulk, &count, NULL));
    colander_bulk_destroy(bulk);
    delete_others(family, model);
    DID(colander_family_await_filters(family, NULL));
}

/* Drops a family of that name, which differs from the later one. */
static inline void
write_dropped(struct colander_store *store, const char *name, uint64_t seed)
{
    SCOPED_FAMILY family = NULL;

    DID(colander_family_open(store, name, &family, NULL));
    write_old_rows(family, seed);
    DID(colander_family_flush(family, NULL));
    write_old_rows(family, seed + 1);
    DID(colander_family_drop(family, NULL));
}

static inline void
write_step(struct colander_family *family, const struct step *step,
           struct colander_buffer *key)
{
    encode_key(step->key, key);
    if (step->is_delete)
        DID(colander_family_delete(family, colander_buffer_slice(key), NULL,
                                   NULL));
    else
        DID(colander_family_put(family, colander_buffer_slice(key), step->row,
                                NULL, NULL));
}

/* The program that is killed: --write <store> <seed>. */
ROLE(write)
{
    const char *path = arguments[2];
    const uint64_t seed = strtoull(arguments[3], NULL, 10);
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_options options = usual_options();
    struct colander_family *family;
    struct colander_family *other;
    struct colander_store *store;
    struct step step;

    options.sst_size = 64 << 10;
    options.block_size = 4 << 10;
    DID(colander_store_open(path, &options, &store, NULL));
    write_bulk(store, seed);
    DID(colander_family_open(store, "unknown", &other, NULL));
    write_old_rows(other, seed + 5);
    DID(colander_family_flush(other, NULL));
    colander_family_close(other);
    write_dropped(store, "rows", seed + 3);
    DID(colander_family_open(store, "rows", &family, NULL));
    DID(colander_family_open(store, "other", &other, NULL));
    for (uint64_t i = 0; i < STEPS; i++) {
        make_step(seed, i, builder, &step);
        write_step(family, &step, &key);
        if (i % 300 == 299 && i < LOGGED)
            DID(colander_family_flush(family, NULL));
        if (i == LOGGED / 2)
            DID(colander_family_compact(family, NULL));
        if (i % 200 == 150 && i >= LOGGED) { /* another log */
            make_step(seed, 0, builder, &step);
            write_step(other, &step, &key);
            DID(colander_family_flush(other, NULL));
        }
    }
    assert_all_loaded(family);
    (void)kill(getpid(), SIGKILL);
    return 3;
}

/* Writes the store at that path, as a killed process leaves it. */
static inline void
write_killed_store(const char *path, uint64_t random_seed)
{
    char seed[24];
    const char *const arguments[] = {"test", "--write", path, seed, NULL};

    (void)snprintf(seed, sizeof(seed), "%llu", (unsigned long long)random_seed);
    assert_true(WIFSIGNALED(child_run(arguments)));
}

#endif
