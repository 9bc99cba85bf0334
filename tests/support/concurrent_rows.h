/*
 * Rows that threads write while others read them, and what each reader may see
 * of them.
 *
 * Families: "rows", in which each row contains its version and has one writer;
 * "left" and "right", to which batches write two rows at once. A reader checks
 * only what follows from what was acknowledged before its read, and what was
 * begun by the end of it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_CONCURRENT_ROWS_H
#define TESTS_SUPPORT_CONCURRENT_ROWS_H

#include "support/claims.h"
#include "support/compared_finds.h"
#include "support/history.h"
#include "support/scoped.h"

#include <pthread.h>

#define WRITERS 2
#define KEYS 240      /* of "rows"; a writer has every WRITERS-th one */
#define KEYS_ALL 3000 /* with those that are written before all threads begin */
#define PAIRS 40      /* of "left" and "right" */
#define PATCHED PAIRS /* a row of "left" that all writers patch */
#define BATCH_MAX 12
#define HOT 8 /* keys of "rows" that are used as often as all the others */

/*
 * The numbers that threads share must not order what they do in the store: a
 * sanitizer would take them for the store's own locks, and not notice a missing
 * one. A processor may need the order.
 */
#ifdef __SANITIZE_THREAD__
#define SHARED_ORDER memory_order_relaxed
#else
#define SHARED_ORDER memory_order_seq_cst
#endif

typedef _Atomic(uint64_t) shared_number;

static inline uint64_t
shared_load(shared_number *number)
{
    return atomic_load_explicit(number, SHARED_ORDER);
}

static inline void
shared_store(shared_number *number, uint64_t value)
{
    atomic_store_explicit(number, value, SHARED_ORDER);
}

/* Odd versions of rows are deletes. */
struct world {
    struct colander_store *store;
    struct colander_family *rows;
    struct colander_family *left;
    struct colander_family *right;
    struct history versions[KEYS];
    struct history stamps[PAIRS];
    struct history patches[WRITERS];
    uint64_t settled_count; /* the rows from KEYS on */
};

/* The state of a thread. */
struct actor {
    struct world *world;
    uint64_t number; /* among those with the same job */
    uint64_t random;
    struct colander_row_builder *builder;
    struct colander_batch *batch;   /* for a writer */
    uint64_t seen[KEYS];            /* for a reader: versions of rows, */
    uint64_t seen_stamps[PAIRS];    /* stamps of pairs, */
    uint64_t seen_patches[WRITERS]; /* and patches, as read outside snapshots */
    struct find_counts finds;
    uint64_t turn_count;
};

/* Returns an integer column; UINT64_MAX: it is missing. */
static inline uint64_t
number_in(struct colander_slice row, const char *path)
{
    struct colander_value value;
    bool is_found;

    DID(colander_row_get(row, path, &value, &is_found, why()));
    return is_found ? (uint64_t)value.integer : UINT64_MAX;
}

/* A random row; half of the time one of the few that all threads ask for. */
static inline uint64_t
some_row(uint64_t *random)
{
    return random_below(random, random_below(random, 2) == 0 ? HOT : KEYS);
}

/* -------------------------------------------------------------- writers --- */

static inline struct colander_slice
version_row(struct actor *actor, uint64_t index, uint64_t version)
{
    struct colander_slice row;
    char text[48];

    colander_row_builder_add(actor->builder, "version",
                             version_text(index, version, text));
    colander_row_builder_add(actor->builder, "number",
                             colander_integer((int64_t)version));
    random_columns(actor->builder, &actor->random);
    DID(colander_row_builder_finish(actor->builder, &row, why()));
    return row;
}

/* Adds the next version of a row to the batch, or writes it if that is NULL. */
static inline void
write_version(struct actor *actor, struct colander_batch *batch, uint64_t index)
{
    struct colander_family *rows = actor->world->rows;
    struct history *versions = &actor->world->versions[index];
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    struct colander_slice key = integer_key(index, &bytes);
    const uint64_t choice = random_below(&actor->random, 8);
    uint64_t version = shared_load(&versions->begun) + 1;
    struct colander_slice row = {NULL, 0};
    enum colander_code code;

    if (choice >= 2)
        version += version % 2; /* not a delete */
    shared_store(&versions->begun, version);
    if (version % 2 == 0)
        row = version_row(actor, index, version);
    if (version % 2 != 0)
        code = batch == NULL ? colander_family_delete(rows, key, NULL, why())
                             : colander_batch_delete(batch, rows, key, why());
    else if (choice < 5)
        code = batch == NULL ? colander_family_put(rows, key, row, NULL, why())
                             : colander_batch_put(batch, rows, key, row, why());
    else
        code = batch == NULL
                   ? colander_family_patch(rows, key, row, NULL, why())
                   : colander_batch_patch(batch, rows, key, row, why());
    DID(code);
    if (batch == NULL)
        shared_store(&versions->acknowledged, version);
}

static inline void
write_batch(struct actor *actor)
{
    const uint64_t count = 1 + random_below(&actor->random, BATCH_MAX);
    const uint64_t first = random_below(&actor->random, KEYS / WRITERS - count);
    struct history *versions = actor->world->versions;

    for (uint64_t i = first; i < first + count; i++)
        write_version(actor, actor->batch, i * WRITERS + actor->number);
    DID(colander_batch_commit(actor->batch, NULL, why()));
    for (uint64_t i = first; i < first + count; i++) {
        struct history *one = &versions[i * WRITERS + actor->number];

        shared_store(&one->acknowledged, shared_load(&one->begun));
    }
}

/* Writes the same stamp to two families at once. */
static inline void
write_pair(struct actor *actor)
{
    struct world *world = actor->world;
    const uint64_t index =
        random_below(&actor->random, PAIRS / WRITERS) * WRITERS + actor->number;
    const uint64_t stamp = shared_load(&world->stamps[index].begun) + 1;
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    struct colander_slice key = integer_key(index, &bytes);
    struct colander_slice row;

    colander_row_builder_add(actor->builder, "stamp",
                             colander_integer((int64_t)stamp));
    DID(colander_row_builder_finish(actor->builder, &row, why()));
    DID(colander_batch_put(actor->batch, world->left, key, row, why()));
    DID(colander_batch_patch(actor->batch, world->right, key, row, why()));
    shared_store(&world->stamps[index].begun, stamp);
    DID(colander_batch_commit(actor->batch, NULL, why()));
    shared_store(&world->stamps[index].acknowledged, stamp);
}

static inline const char *
patched_column(uint64_t writer)
{
    static const char *const names[WRITERS] = {"first", "second"};

    return names[writer];
}

/* Patches a row that other writers patch, too: no patch may be lost. */
static inline void
write_patch(struct actor *actor)
{
    struct history *patches = &actor->world->patches[actor->number];
    const uint64_t patch = shared_load(&patches->begun) + 1;
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    struct colander_slice row;

    colander_row_builder_add(actor->builder, patched_column(actor->number),
                             colander_integer((int64_t)patch));
    DID(colander_row_builder_finish(actor->builder, &row, why()));
    shared_store(&patches->begun, patch);
    DID(colander_family_patch(actor->world->left, integer_key(PATCHED, &bytes),
                              row, NULL, why()));
    shared_store(&patches->acknowledged, patch);
}

static inline void
write_something(struct actor *actor)
{
    const uint64_t index =
        some_row(&actor->random) / WRITERS * WRITERS + actor->number;

    switch (random_below(&actor->random, 8)) {
    case 0:
    case 1:
        write_batch(actor);
        break;
    case 2:
    case 3:
        write_pair(actor);
        break;
    case 4:
        write_patch(actor);
        break;
    default:
        write_version(actor, NULL, index);
    }
}

/* -------------------------------------------------------------- readers --- */

static inline struct colander_snapshot *
take_snapshot(struct world *world)
{
    struct colander_snapshot *snapshot;

    DID(colander_store_snapshot(world->store, &snapshot, why()));
    return snapshot;
}

/* Asks any question: named and any columns, ranges of values and of keys. */
static inline void
check_question(struct actor *actor)
{
    compare_random_finds(actor->world->store, actor->world->rows, KEYS_ALL, 1,
                         &actor->random, &actor->finds);
}

/* Finds and scans rows with the value. Returns their number. */
static inline uint64_t
count_value(struct actor *actor, struct colander_family *family,
            const struct colander_snapshot *snapshot, const char *path,
            struct colander_value value)
{
    return compare_equal_at(family, snapshot, path, value, &actor->finds);
}

/* Returns the number in a column of a row; UINT64_MAX: it is missing. */
static inline uint64_t
get_number(struct colander_family *family, uint64_t index,
           const struct colander_snapshot *snapshot, const char *path)
{
    const struct colander_read read = {.snapshot = snapshot};
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    uint64_t number = UINT64_MAX;
    bool is_found;

    DID(colander_family_get(family, integer_key(index, &bytes), &read, &row,
                            &is_found, why()));
    if (is_found)
        number = number_in(colander_buffer_slice(&row), path);
    return number;
}

/* A row that exists has a version that was acknowledged by `done` or begun by
 * now. A missing row was deleted then. */
static inline void
claim_version(struct history *versions, uint64_t done, uint64_t version)
{
    const uint64_t begun = shared_load(&versions->begun);

    if (version == UINT64_MAX)
        CLAIM(done == 0 || done % 2 != 0 || begun > done);
    else
        CLAIM(version % 2 == 0 && version >= done && version <= begun);
}

/* What was acknowledged exists, and is found by its value at once. What it
 * replaced is not found, nor is what is being written meanwhile. */
static inline void
check_version(struct actor *actor)
{
    struct world *world = actor->world;
    const uint64_t index = some_row(&actor->random);
    const char *path = random_below(&actor->random, 2) == 0 ? NULL : "version";
    const uint64_t done = shared_load(&world->versions[index].acknowledged);
    SCOPED_SNAPSHOT now = take_snapshot(world);
    const uint64_t version = get_number(world->rows, index, now, "number");
    char text[48];

    claim_version(&world->versions[index], done, version);
    CLAIM(count_value(actor, world->rows, now, path,
                      version_text(index, version, text)) ==
          (version != UINT64_MAX));
    for (uint64_t other = done + done % 2; other < done + 6; other += 2)
        CLAIM(count_value(actor, world->rows, now, path,
                          version_text(index, other, text)) ==
              (other == version));
}

/* Reads rows outside snapshots: none goes back to an older version. */
static inline void
check_now(struct actor *actor)
{
    struct world *world = actor->world;
    const uint64_t index = some_row(&actor->random);
    const uint64_t pair = random_below(&actor->random, PAIRS);
    const uint64_t done = shared_load(&world->versions[index].acknowledged);
    const uint64_t stamped = shared_load(&world->stamps[pair].acknowledged);
    uint64_t number = get_number(world->rows, index, NULL, "number");

    claim_version(&world->versions[index], done, number);
    if (number != UINT64_MAX) {
        CLAIM(number >= actor->seen[index]);
        actor->seen[index] = number;
    }
    number = get_number(world->right, pair, NULL, "stamp");
    CLAIM(number == UINT64_MAX
              ? actor->seen_stamps[pair] + stamped == 0
              : number >= actor->seen_stamps[pair] && number >= stamped);
    if (number != UINT64_MAX)
        actor->seen_stamps[pair] = number;
    for (uint64_t i = 0; i < WRITERS; i++) {
        const uint64_t patched = shared_load(&world->patches[i].acknowledged);

        number = get_number(world->left, PATCHED, NULL, patched_column(i));
        if (number == UINT64_MAX)
            number = 0;
        CLAIM(number >= patched && number >= actor->seen_patches[i]);
        actor->seen_patches[i] = number;
    }
}

/* Both rows of a batch are visible, or neither, by key and by value. */
static inline void
check_pair(struct actor *actor)
{
    struct world *world = actor->world;
    const uint64_t index = random_below(&actor->random, PAIRS);
    const uint64_t stamped = shared_load(&world->stamps[index].acknowledged);
    SCOPED_SNAPSHOT now = take_snapshot(world);
    const uint64_t left = get_number(world->left, index, now, "stamp");
    const uint64_t right = get_number(world->right, index, now, "stamp");
    uint64_t counts[2];

    CLAIM(left == right);
    CLAIM(left == UINT64_MAX ? stamped == 0 : left >= stamped);
    counts[0] = count_value(actor, world->left, now, "stamp",
                            colander_integer((int64_t)left));
    counts[1] = count_value(actor, world->right, now, "stamp",
                            colander_integer((int64_t)left));
    CLAIM(counts[0] == counts[1] && counts[0] >= (left != UINT64_MAX));
}

/* Reads all rows of a snapshot: they are in order, none is older than what was
 * acknowledged, and none is missing. */
static inline void
check_scan(struct actor *actor)
{
    struct world *world = actor->world;
    SCOPED_BUFFER bytes = COLANDER_BUFFER_EMPTY;
    struct colander_result result;
    SCOPED_SNAPSHOT now = NULL;
    SCOPED_CURSOR cursor = NULL;
    struct colander_query query = usual_query();
    uint64_t done[KEYS];
    bool is_row;

    for (uint64_t i = 0; i < KEYS; i++)
        done[i] = shared_load(&world->versions[i].acknowledged);
    now = take_snapshot(world);
    query.snapshot = now;
    DID(colander_family_find(world->rows, &query, &cursor, why()));
    is_row = next_row(cursor, &result);
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t version = UINT64_MAX;

        if (is_row &&
            colander_slice_equal(result.key, integer_key(i, &bytes))) {
            version = number_in(result.row, "number");
            is_row = next_row(cursor, &result);
        }
        claim_version(&world->versions[i], done[i], version);
    }
    for (uint64_t i = 0; i < world->settled_count; i++) {
        CLAIM(is_row);
        is_row = next_row(cursor, &result);
    }
    CLAIM(!is_row);
}

#endif
