/*
 * Rows that threads write while others read them, and what each reader may see
 * of them.
 *
 * Families: "rows", in which each row tells its version and has one writer;
 * "left" and "right", of whose rows batches write two at once. All that a
 * reader claims follows from what was acknowledged before it looked, and what
 * was begun when it had.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_CONCURRENT_ROWS_H
#define TESTS_SUPPORT_CONCURRENT_ROWS_H

#include "support/claims.h"
#include "support/random_rows.h"

#include <pthread.h>
#include <stdatomic.h>

#define WRITERS 2
#define KEYS 240      /* of "rows"; a writer has every WRITERS-th */
#define PAIRS 40      /* of "left" and "right" */
#define PATCHED PAIRS /* a row of "left" that all writers patch */
#define BATCH_MAX 12
#define HOT                                                                    \
    8 /* keys of "rows" that are written and read as often as others           \
       */

/*
 * What threads tell each other must put nothing in order between what they do
 * in the store: a sanitizer would take it for the store's own locks, and say
 * nothing where these are missing. A processor may need the order.
 */
#ifdef __SANITIZE_THREAD__
#define TOLD memory_order_relaxed
#else
#define TOLD memory_order_seq_cst
#endif

typedef _Atomic(uint64_t) told_number;

static inline uint64_t
told(told_number *number)
{
    return atomic_load_explicit(number, TOLD);
}

static inline void
tell(told_number *number, uint64_t value)
{
    atomic_store_explicit(number, value, TOLD);
}

/* Numbers that go up, as one side knows them: odd versions of rows are deletes.
 * Between the two, a write is under way. */
struct rising {
    told_number begun;
    told_number acknowledged;
};

struct world {
    struct colander_store *store;
    struct colander_family *rows;
    struct colander_family *left;
    struct colander_family *right;
    struct rising versions[KEYS];
    struct rising stamps[PAIRS];
    struct rising patches[WRITERS];
};

/* A thread's own. */
struct actor {
    struct world *world;
    uint64_t number; /* among those that do the same */
    uint64_t random;
    struct colander_row_builder *builder;
    struct colander_batch *batch;   /* of a writer */
    uint64_t seen[KEYS];            /* a reader: versions of rows, */
    uint64_t seen_stamps[PAIRS];    /* stamps of pairs, */
    uint64_t seen_patches[WRITERS]; /* and patches, as read outside snapshots */
    uint64_t plans[3];              /* finds, by enum colander_plan */
    uint64_t recent_found;
    uint64_t turn_count;
};

/* Filled, and borrowed until it is filled again or released. */
static inline struct colander_slice
key_of(uint64_t index, struct colander_buffer *key)
{
    struct colander_value part = colander_integer((int64_t)index);
    struct colander_error err;

    colander_buffer_clear(key);
    DID(colander_key_encode(&part, 1, key, &err), &err);
    return colander_buffer_slice(key);
}

/* A column that is an integer; UINT64_MAX: there is none. */
static inline uint64_t
number_in(struct colander_slice row, const char *path)
{
    struct colander_value value;
    struct colander_error err;
    bool is_found;

    DID(colander_row_get(row, path, &value, &is_found, &err), &err);
    return is_found ? (uint64_t)value.integer : UINT64_MAX;
}

/* The value that this version of this row has, and no other. */
static inline struct colander_value
version_text(uint64_t index, uint64_t version, char text[48])
{
    snprintf(text, 48, "%llu of %llu", (unsigned long long)version,
             (unsigned long long)index);
    return colander_text(text);
}

/* One of the rows; half of the time one that all others ask for as well. */
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
    struct colander_error err;
    char text[48];

    colander_row_builder_add(actor->builder, "version",
                             version_text(index, version, text));
    colander_row_builder_add(actor->builder, "number",
                             colander_integer((int64_t)version));
    random_columns(actor->builder, &actor->random);
    DID(colander_row_builder_finish(actor->builder, &row, &err), &err);
    return row;
}

/* Adds the next version of a row to the batch, or (NULL) writes it. */
static inline void
write_version(struct actor *actor, struct colander_batch *batch, uint64_t index)
{
    struct colander_family *rows = actor->world->rows;
    struct rising *versions = &actor->world->versions[index];
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    struct colander_slice key = key_of(index, &bytes);
    const uint64_t choice = random_below(&actor->random, 8);
    uint64_t version = told(&versions->begun) + 1;
    struct colander_slice row = {NULL, 0};
    enum colander_code code;
    struct colander_error err;

    if (choice >= 2)
        version += version % 2; /* no delete */
    tell(&versions->begun, version);
    if (version % 2 == 0)
        row = version_row(actor, index, version);
    if (version % 2 != 0)
        code = batch == NULL
                   ? colander_family_delete(rows, key, COLANDER_AS_STORE, &err)
                   : colander_batch_delete(batch, rows, key, &err);
    else if (choice < 5)
        code = batch == NULL ? colander_family_put(rows, key, row,
                                                   COLANDER_AS_STORE, &err)
                             : colander_batch_put(batch, rows, key, row, &err);
    else
        code =
            batch == NULL
                ? colander_family_patch(rows, key, row, COLANDER_AS_STORE, &err)
                : colander_batch_patch(batch, rows, key, row, &err);
    DID(code, &err);
    if (batch == NULL)
        tell(&versions->acknowledged, version);
    colander_buffer_release(&bytes);
}

static inline void
write_batch(struct actor *actor)
{
    const uint64_t count = 1 + random_below(&actor->random, BATCH_MAX);
    const uint64_t first = random_below(&actor->random, KEYS / WRITERS - count);
    struct rising *versions = actor->world->versions;
    struct colander_error err;

    for (uint64_t i = first; i < first + count; i++)
        write_version(actor, actor->batch, i * WRITERS + actor->number);
    DID(colander_batch_commit(actor->batch, COLANDER_AS_STORE, &err), &err);
    for (uint64_t i = first; i < first + count; i++) {
        struct rising *one = &versions[i * WRITERS + actor->number];

        tell(&one->acknowledged, told(&one->begun));
    }
}

/* The same stamp, into two families at once. */
static inline void
write_pair(struct actor *actor)
{
    struct world *world = actor->world;
    const uint64_t index =
        random_below(&actor->random, PAIRS / WRITERS) * WRITERS + actor->number;
    const uint64_t stamp = told(&world->stamps[index].begun) + 1;
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    struct colander_slice key = key_of(index, &bytes);
    struct colander_slice row;
    struct colander_error err;

    colander_row_builder_add(actor->builder, "stamp",
                             colander_integer((int64_t)stamp));
    DID(colander_row_builder_finish(actor->builder, &row, &err), &err);
    DID(colander_batch_put(actor->batch, world->left, key, row, &err), &err);
    DID(colander_batch_patch(actor->batch, world->right, key, row, &err), &err);
    tell(&world->stamps[index].begun, stamp);
    DID(colander_batch_commit(actor->batch, COLANDER_AS_STORE, &err), &err);
    tell(&world->stamps[index].acknowledged, stamp);
    colander_buffer_release(&bytes);
}

static inline const char *
patched_column(uint64_t writer)
{
    static const char *const names[WRITERS] = {"first", "second"};

    return names[writer];
}

/* Of a row that the other writers patch, too: none of the patches is lost. */
static inline void
write_patch(struct actor *actor)
{
    struct rising *patches = &actor->world->patches[actor->number];
    const uint64_t patch = told(&patches->begun) + 1;
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    struct colander_slice row;
    struct colander_error err;

    colander_row_builder_add(actor->builder, patched_column(actor->number),
                             colander_integer((int64_t)patch));
    DID(colander_row_builder_finish(actor->builder, &row, &err), &err);
    tell(&patches->begun, patch);
    DID(colander_family_patch(actor->world->left, key_of(PATCHED, &bytes), row,
                              COLANDER_AS_STORE, &err),
        &err);
    tell(&patches->acknowledged, patch);
    colander_buffer_release(&bytes);
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

static inline void
begin_find(struct colander_family *family, struct colander_predicate *where,
           struct colander_query *query, struct colander_cursor **cursor)
{
    struct colander_error err;

    CLAIM(where != NULL);
    query->where = where;
    DID(colander_family_find(family, query, cursor, &err), &err);
}

static inline bool
step(struct colander_cursor *cursor, struct colander_result *result)
{
    struct colander_error err;
    bool is_row;

    DID(colander_cursor_next(cursor, &is_row, result, &err), &err);
    return is_row;
}

static inline void
end_find(struct actor *actor, struct colander_cursor *cursor,
         const struct colander_query *query)
{
    struct colander_explain explain;

    colander_cursor_explain(cursor, &explain);
    CLAIM(explain.file_count ==
          explain.files_pruned + explain.files_located + explain.files_read);
    actor->plans[explain.plan]++;
    actor->recent_found += explain.recent_found;
    colander_cursor_close(cursor);
    colander_predicate_destroy((struct colander_predicate *)query->where);
}

/*
 * A find and the scan of the same query give the same rows, in order; how many.
 * `query` has a snapshot. Takes the predicates: the second is behind two
 * negations, through which filters do not see.
 */
static inline uint64_t
compare_with_scan(struct actor *actor, struct colander_family *family,
                  struct colander_query *query, struct colander_predicate *find,
                  struct colander_predicate *scan)
{
    struct colander_query scanned = *query;
    struct colander_cursor *cursors[2];
    struct colander_result results[2];
    uint64_t count = 0;

    begin_find(family, find, query, &cursors[0]);
    begin_find(family, colander_not(colander_not(scan, NULL), NULL), &scanned,
               &cursors[1]);
    for (;;) {
        const bool is_row = step(cursors[0], &results[0]);

        CLAIM(step(cursors[1], &results[1]) == is_row);
        if (!is_row)
            break;
        CLAIM(colander_slice_equal(results[0].key, results[1].key));
        CLAIM(colander_slice_equal(results[0].row, results[1].row));
        count++;
    }
    end_find(actor, cursors[0], query);
    end_find(actor, cursors[1], &scanned);
    return count;
}

static inline struct colander_snapshot *
take_snapshot(struct world *world)
{
    struct colander_snapshot *snapshot;
    struct colander_error err;

    DID(colander_store_snapshot(world->store, &snapshot, &err), &err);
    return snapshot;
}

/* Any question: named and any columns, ranges of values and of keys. */
static inline void
check_question(struct actor *actor)
{
    struct colander_snapshot *now = take_snapshot(actor->world);
    struct colander_buffer bounds[2] = {COLANDER_BUFFER_EMPTY,
                                        COLANDER_BUFFER_EMPTY};
    struct colander_predicate *find;
    struct colander_query query;
    uint64_t again;

    colander_query_init(&query);
    query.snapshot = now;
    random_bounds(&actor->random, KEYS, &query, bounds);
    again = actor->random;
    find = random_predicate(&actor->random, 2);
    (void)compare_with_scan(actor, actor->world->rows, &query, find,
                            random_predicate(&again, 2));
    colander_snapshot_release(now);
    colander_buffer_release(&bounds[0]);
    colander_buffer_release(&bounds[1]);
}

/* How many rows have the value, found and scanned. */
static inline uint64_t
count_value(struct actor *actor, struct colander_family *family,
            const struct colander_snapshot *snapshot, const char *path,
            struct colander_value value)
{
    struct colander_predicate *both[2];
    struct colander_query query;

    for (size_t i = 0; i < 2; i++)
        both[i] = path == NULL ? colander_where_any(value, NULL)
                               : colander_where(path, COLANDER_EQ, value, NULL);
    colander_query_init(&query);
    query.snapshot = snapshot;
    return compare_with_scan(actor, family, &query, both[0], both[1]);
}

/* The number in a column of a row; UINT64_MAX: there is none. */
static inline uint64_t
get_number(struct colander_family *family, uint64_t index,
           const struct colander_snapshot *snapshot, const char *path)
{
    const struct colander_read read = {.snapshot = snapshot};
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    uint64_t number = UINT64_MAX;
    struct colander_error err;
    bool is_found;

    DID(colander_family_get(family, key_of(index, &bytes), &read, &row,
                            &is_found, &err),
        &err);
    if (is_found)
        number = number_in(colander_buffer_slice(&row), path);
    colander_buffer_release(&bytes);
    colander_buffer_release(&row);
    return number;
}

/* A row that is there has a version that was acknowledged by `done` or begun
 * by now; one that is not was deleted then. */
static inline void
claim_version(struct rising *versions, uint64_t done, uint64_t version)
{
    const uint64_t begun = told(&versions->begun);

    if (version == UINT64_MAX)
        CLAIM(done == 0 || done % 2 != 0 || begun > done);
    else
        CLAIM(version % 2 == 0 && version >= done && version <= begun);
}

/* What was acknowledged is there, and is found by its value at once; what it
 * replaced is not, nor what is being written beside it. */
static inline void
check_version(struct actor *actor)
{
    struct world *world = actor->world;
    const uint64_t index = some_row(&actor->random);
    const char *path = random_below(&actor->random, 2) == 0 ? NULL : "version";
    const uint64_t done = told(&world->versions[index].acknowledged);
    struct colander_snapshot *now = take_snapshot(world);
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
    colander_snapshot_release(now);
}

/* Rows that are read outside snapshots: none goes back. */
static inline void
check_now(struct actor *actor)
{
    struct world *world = actor->world;
    const uint64_t index = some_row(&actor->random);
    const uint64_t pair = random_below(&actor->random, PAIRS);
    const uint64_t done = told(&world->versions[index].acknowledged);
    const uint64_t stamped = told(&world->stamps[pair].acknowledged);
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
        const uint64_t patched = told(&world->patches[i].acknowledged);

        number = get_number(world->left, PATCHED, NULL, patched_column(i));
        if (number == UINT64_MAX)
            number = 0;
        CLAIM(number >= patched && number >= actor->seen_patches[i]);
        actor->seen_patches[i] = number;
    }
}

/* Both rows of a batch, or neither, and by value as well. */
static inline void
check_pair(struct actor *actor)
{
    struct world *world = actor->world;
    const uint64_t index = random_below(&actor->random, PAIRS);
    const uint64_t stamped = told(&world->stamps[index].acknowledged);
    struct colander_snapshot *now = take_snapshot(world);
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
    colander_snapshot_release(now);
}

/* All rows of a snapshot: in order, none older than was acknowledged, and none
 * missing. */
static inline void
check_scan(struct actor *actor)
{
    struct world *world = actor->world;
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    struct colander_cursor *cursor;
    struct colander_result result;
    struct colander_snapshot *now;
    struct colander_query query;
    uint64_t done[KEYS];
    bool is_row;

    for (uint64_t i = 0; i < KEYS; i++)
        done[i] = told(&world->versions[i].acknowledged);
    now = take_snapshot(world);
    colander_query_init(&query);
    query.snapshot = now;
    begin_find(world->rows, colander_all_of(NULL, 0, NULL), &query, &cursor);
    is_row = step(cursor, &result);
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t version = UINT64_MAX;

        if (is_row && colander_slice_equal(result.key, key_of(i, &bytes))) {
            version = number_in(result.row, "number");
            is_row = step(cursor, &result);
        }
        claim_version(&world->versions[i], done[i], version);
    }
    CLAIM(!is_row);
    end_find(actor, cursor, &query);
    colander_snapshot_release(now);
    colander_buffer_release(&bytes);
}

#endif
