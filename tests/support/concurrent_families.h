/*
 * Families that are written as a whole while others read them: "loaded", which
 * is rewritten again and again, in batches or as a bulk; "passing", which is
 * created with all its rows and dropped; and "brief", which is dropped while
 * other threads write to it.
 *
 * A reader of a batch load sees the batches so far; of a bulk, all rows or
 * none; of a family that is dropped, all rows or an error that says so.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_CONCURRENT_FAMILIES_H
#define TESTS_SUPPORT_CONCURRENT_FAMILIES_H

#include "support/concurrent_rows.h"
#include "support/scoped.h"

#define LOADED 400 /* rows of a load */
#define LOAD_BATCH 50
#define PASSING 30 /* rows of the family that is created and dropped */
#define BRIEF 20   /* writes of one thread to the family being dropped */

/* What the parts share, in addition to the world of concurrent_rows.h. */
struct play {
    struct world world; /* first: an actor points to this */
    pthread_mutex_t bulk_mutex;
    struct colander_bulk *bulk;   /* under way; NULL: none */
    uint64_t generation;          /* of the load under way; the loader's */
    char backups[TEMPORARY_SIZE]; /* directory with them */
    shared_number cancelled_count;
    shared_number turn_count;
};

static inline struct play *
play_of(const struct actor *actor)
{
    return (struct play *)actor->world;
}

static inline struct colander_family *
open_family(struct actor *actor, const char *name)
{
    struct colander_family *family;

    DID(colander_family_open(actor->world->store, name, &family, why()));
    return family;
}

/* A row of two columns, for a family that is written as a whole. */
static inline struct colander_slice
plain_row(struct actor *actor, uint64_t n, uint64_t generation)
{
    struct colander_slice row;

    colander_row_builder_add(actor->builder, "n", colander_integer((int64_t)n));
    colander_row_builder_add(actor->builder, "generation",
                             colander_integer(-1 - (int64_t)generation));
    DID(colander_row_builder_finish(actor->builder, &row, why()));
    return row;
}

/* Returns false if the family was dropped and rows could not be counted. */
static inline bool
count_generation(struct colander_family *family, const char *path,
                 uint64_t generation, const struct colander_snapshot *snapshot,
                 uint64_t *count)
{
    const struct colander_value value =
        colander_integer(-1 - (int64_t)generation);
    struct colander_predicate *where =
        path == NULL ? colander_where_any_column(value, NULL)
                     : colander_where(path, COLANDER_EQ, value, NULL);
    struct colander_query query = usual_query();
    enum colander_code code;

    CLAIM(where != NULL);
    query.where = where;
    query.snapshot = snapshot;
    code = colander_family_count(family, &query, count, NULL);
    colander_predicate_destroy(where);
    CLAIM(code == COLANDER_OK || code == COLANDER_DROPPED);
    return code == COLANDER_OK;
}

/* ---------------------------------------------------------------- loads --- */

/* Whether this generation is loaded in batches, not as a bulk. */
static inline bool
is_in_batches(uint64_t generation)
{
    return generation % 3 == 0;
}

static inline void
load_batches(struct actor *actor, struct colander_family *family,
             uint64_t generation)
{
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    SCOPED_BATCH batch = NULL;

    DID(colander_batch_create(actor->world->store, &batch, why()));
    for (uint64_t i = 0; i < LOADED; i++) {
        DID(colander_batch_put(batch, family, integer_key(i, &bytes),
                               plain_row(actor, i, generation), why()));
        if (i % LOAD_BATCH != LOAD_BATCH - 1)
            continue;
        DID(colander_batch_mark(batch, family, colander_slice_of("place", 5),
                                integer_key(i + 1, &bytes), why()));
        DID(colander_batch_commit(batch, NULL, why()));
    }
}

/* Publishes the bulk, so that the watcher may inspect and cancel it. */
static inline void
show_bulk(struct play *play, struct colander_bulk *bulk)
{
    pthread_mutex_lock(&play->bulk_mutex);
    play->bulk = bulk;
    pthread_mutex_unlock(&play->bulk_mutex);
}

/* Adds keys in ascending or descending order. Returns false if cancelled. */
static inline bool
load_bulk(struct actor *actor, struct colander_family *family,
          uint64_t generation)
{
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    struct colander_bulk *bulk;
    enum colander_code code = COLANDER_OK;

    DID(colander_bulk_create(family, &bulk, why()));
    show_bulk(play_of(actor), bulk);
    for (uint64_t i = 0; i < LOADED && code == COLANDER_OK; i++) {
        const uint64_t n = generation % 2 == 0 ? i : LOADED - 1 - i;

        code = colander_bulk_add(bulk, integer_key(n, &bytes),
                                 plain_row(actor, n, generation), why());
    }
    if (code == COLANDER_OK)
        code = colander_bulk_commit(bulk, NULL, why());
    show_bulk(play_of(actor), NULL);
    colander_bulk_destroy(bulk);
    if (code != COLANDER_CANCELLED)
        DID(code);
    return code == COLANDER_OK;
}

/* Recreates the family with all rows of the next generation. */
static inline void
load_once(struct actor *actor)
{
    struct colander_family *family = open_family(actor, "loaded");
    const uint64_t generation = play_of(actor)->generation++;
    bool is_loaded = true;
    uint64_t count;

    if (colander_family_exists(family)) {
        DID(colander_family_drop(family, why()));
        colander_family_close(family);
        family = open_family(actor, "loaded");
    }
    if (is_in_batches(generation))
        load_batches(actor, family, generation);
    else
        is_loaded = load_bulk(actor, family, generation);
    CLAIM(count_generation(family, "generation", generation, NULL, &count));
    CLAIM(count == (is_loaded ? LOADED : 0));
    colander_family_close(family);
    if (!is_loaded)
        atomic_fetch_add_explicit(&play_of(actor)->cancelled_count, 1,
                                  SHARED_ORDER);
}

/* Checks that the rows of the load are of one generation, as many as there may
 * be. Returns the generation. */
static inline uint64_t
walk_load(struct colander_cursor *cursor, uint64_t *count)
{
    uint64_t generation = UINT64_MAX;
    struct colander_result result;

    for (*count = 0; next_row(cursor, &result); ++*count) {
        if (*count == 0)
            generation = number_in(result.row, "generation");
        CLAIM(number_in(result.row, "generation") == generation);
        CLAIM(number_in(result.row, "n") == *count);
    }
    return UINT64_MAX - generation; /* stored as -1 - generation */
}

/* Checks that the batches so far of a load are visible, or all of it. */
static inline void
check_load(struct actor *actor)
{
    SCOPED_FAMILY family = open_family(actor, "loaded");
    SCOPED_SNAPSHOT now = take_snapshot(actor->world);
    struct colander_query query = usual_query();
    struct colander_cursor *cursor;
    uint64_t counts[2];

    query.snapshot = now;
    if (colander_family_find(family, &query, &cursor, NULL) == COLANDER_OK) {
        const uint64_t generation = walk_load(cursor, &counts[0]);

        CLAIM(counts[0] == 0 || counts[0] == LOADED ||
              (is_in_batches(generation) && counts[0] % LOAD_BATCH == 0));
        if (counts[0] > 0 &&
            count_generation(
                family,
                random_below(&actor->random, 2) == 0 ? NULL : "generation",
                generation, now, &counts[1]))
            CLAIM(counts[0] == counts[1]);
        colander_cursor_close(cursor);
    }
}

/* ----------------------------------------------------- a dropped family --- */

static inline void
make_and_drop(struct actor *actor)
{
    struct colander_family *family = open_family(actor, "passing");
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    struct colander_batch *batch;
    uint64_t count;

    DID(colander_batch_create(actor->world->store, &batch, why()));
    for (uint64_t i = 0; i < PASSING; i++)
        DID(colander_batch_put(batch, family, integer_key(i, &bytes),
                               plain_row(actor, i, actor->turn_count), why()));
    DID(colander_batch_commit(batch, NULL, why()));
    colander_batch_destroy(batch);
    if (random_below(&actor->random, 2) == 0)
        DID(colander_family_flush(family, why()));
    CLAIM(count_generation(family, NULL, actor->turn_count, NULL, &count));
    CLAIM(count == PASSING);
    DID(colander_family_drop(family, why()));
    CLAIM(!count_generation(family, NULL, actor->turn_count, NULL, &count));
    colander_family_close(family);
    family = open_family(actor, "passing");
    CLAIM(!colander_family_exists(family));
    colander_family_close(family);
}

/* Writes until the family is dropped. Other families are not affected. */
static inline void
write_brief(struct actor *actor)
{
    SCOPED_FAMILY family = open_family(actor, "brief");
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    enum colander_code code = COLANDER_OK;

    for (uint64_t i = 0; i < BRIEF && code == COLANDER_OK; i++)
        code = colander_family_patch(family, integer_key(i, &bytes),
                                     plain_row(actor, i, actor->number), NULL,
                                     NULL);
    CLAIM(code == COLANDER_OK || code == COLANDER_DROPPED);
}

static inline void
drop_brief(struct actor *actor)
{
    SCOPED_FAMILY family = open_family(actor, "brief");
    const enum colander_code code = colander_family_drop(family, NULL);

    CLAIM(code == COLANDER_OK || code == COLANDER_NOT_FOUND);
}

/* Checks for all of its rows, none, or the error that it was dropped. */
static inline void
check_passing(struct actor *actor)
{
    SCOPED_FAMILY family = open_family(actor, "passing");
    const struct colander_value value =
        colander_integer((int64_t)random_below(&actor->random, PASSING));
    SCOPED_PREDICATE where = colander_where("n", COLANDER_GE, value, NULL);
    struct colander_query query = usual_query();
    enum colander_code code;
    uint64_t count;

    CLAIM(where != NULL);
    query.where = where;
    code = colander_family_count(family, &query, &count, NULL);
    CLAIM(code == COLANDER_OK || code == COLANDER_DROPPED);
    if (code == COLANDER_OK)
        CLAIM(count == 0 || count == PASSING - (uint64_t)value.integer);
}

#endif
