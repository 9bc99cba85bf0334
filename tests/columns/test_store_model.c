/*
 * A store compared with a naive model: random operations (I2).
 *
 * The model is an array of model_row.h's rows per family. COLANDER_RUNS sets
 * the number of operations, COLANDER_SEED repeats a run.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/model_row.h"
#include "support/cases.h"
#include "support/scoped.h"

#include "support/temporary.h"
#include "support/usual.h"

#define FAMILIES 3
#define SNAPSHOTS 3
#define BATCH_MAX 20

struct world {
    struct row rows[FAMILIES][KEYS];
};

struct run {
    char directory[TEMPORARY_SIZE];
    struct colander_store *store;
    struct colander_family *families[FAMILIES];
    struct colander_row_builder *builder;
    struct world now;
    struct colander_snapshot *snapshots[SNAPSHOTS];
    struct world *then[SNAPSHOTS];
    uint64_t random;
};

static const char *const family_names[] = {"tweets", "sensors", "default"};
/* -------------------------------------------------------------- opening --- */

static void
open_store(struct run *run)
{
    struct colander_options options = usual_options();

    options.write_buffer_size = 1 << 20;
    options.sst_size = 64 << 10;
    options.block_size = 1 << 10;
    OK(colander_store_open(run->directory, &options, &run->store, NULL));
    for (int i = 0; i < FAMILIES; i++)
        OK(colander_family_open(run->store, family_names[i], &run->families[i],
                                NULL));
}

static void
forget_snapshot(struct run *run, size_t place)
{
    colander_snapshot_release(run->snapshots[place]);
    free(run->then[place]);
    run->snapshots[place] = NULL;
    run->then[place] = NULL;
}

static void
close_store(struct run *run)
{
    for (size_t i = 0; i < SNAPSHOTS; i++)
        forget_snapshot(run, i);
    for (int i = 0; i < FAMILIES; i++)
        colander_family_close(run->families[i]);
    OK(colander_store_close(run->store, NULL));
}

/* --------------------------------------------------------------- writes --- */

static void
do_write(struct run *run, struct colander_batch *batch)
{
    size_t family = random_below(&run->random, FAMILIES);
    size_t index = random_below(&run->random, KEYS);
    struct row *row = &run->now.rows[family][index];
    struct colander_family *handle = run->families[family];
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    uint64_t choice = random_below(&run->random, 10);
    struct colander_slice bytes = {NULL, 0};
    struct row other = random_row(&run->random, choice >= 4);

    encode_key(index, &key);
    if (choice < 8)
        bytes = encode_row(run->builder, &other);
    if (choice < 4) {
        OK(batch == NULL
               ? colander_family_put(handle, colander_buffer_slice(&key), bytes,
                                     NULL, NULL)
               : colander_batch_put(batch, handle, colander_buffer_slice(&key),
                                    bytes, NULL));
        *row = other;
    } else if (choice < 8) {
        OK(batch == NULL
               ? colander_family_patch(handle, colander_buffer_slice(&key),
                                       bytes, NULL, NULL)
               : colander_batch_patch(
                     batch, handle, colander_buffer_slice(&key), bytes, NULL));
        patch_row(row, &other);
    } else {
        OK(batch == NULL
               ? colander_family_delete(handle, colander_buffer_slice(&key),
                                        NULL, NULL)
               : colander_batch_delete(batch, handle,
                                       colander_buffer_slice(&key), NULL));
        row->exists = false;
    }
}

static void
do_batch(struct run *run)
{
    size_t count = 1 + random_below(&run->random, BATCH_MAX);
    struct world before = run->now;
    SCOPED_BATCH batch = NULL;

    OK(colander_batch_create(run->store, &batch, NULL));
    for (size_t i = 0; i < count; i++)
        do_write(run, batch);
    assert_int_equal(colander_batch_count(batch), count);
    if (random_below(&run->random, 8) == 0)
        run->now = before; /* destroyed without a commit: no effect */
    else
        OK(colander_batch_commit(batch, NULL, NULL));
}

/* --------------------------------------------------------------- ranges --- */

/* A random range as keys, and the indexes that it includes. */
struct range {
    struct colander_buffer bytes[4]; /* prefix, from, to, exact */
    struct colander_key_range keys;
    bool covers[KEYS];
};

static void
random_range(struct run *run, struct range *range)
{
    size_t station = random_below(&run->random, STATIONS);
    size_t from = random_below(&run->random, KEYS);
    size_t to = random_below(&run->random, KEYS);
    uint64_t choice = random_below(&run->random, 8);
    bool has_prefix = choice & 1;
    bool has_from = choice & 2;
    bool has_to = choice & 4;
    bool has_exact = random_below(&run->random, 6) == 0;
    size_t exact = random_below(&run->random, KEYS);
    char text[16];

    memset(range, 0, sizeof(*range));
    (void)snprintf(text, sizeof(text), "s%zu", station);
    if (has_prefix)
        OK(colander_key_text(text, &range->bytes[0], NULL));
    if (has_from)
        encode_key(from, &range->bytes[1]);
    if (has_to && random_below(&run->random, 4) == 0) {
        /* All keys of a station, by their first part alone. */
        OK(colander_key_text(text, &range->bytes[2], NULL));
        to = station * TIMES + TIMES - 1;
    } else if (has_to) {
        encode_key(to, &range->bytes[2]);
    }
    range->keys.prefix = colander_buffer_slice(&range->bytes[0]);
    range->keys.from = colander_buffer_slice(&range->bytes[1]);
    range->keys.to = colander_buffer_slice(&range->bytes[2]);
    if (has_exact)
        encode_key(exact, &range->bytes[3]);
    range->keys.exact = colander_buffer_slice(&range->bytes[3]);
    for (size_t i = 0; i < KEYS; i++)
        range->covers[i] = (!has_prefix || i / TIMES == station) &&
                           (!has_from || i >= from) && (!has_to || i <= to) &&
                           (!has_exact || i == exact);
}

static void
release_range(struct range *range)
{
    for (size_t i = 0; i < 4; i++)
        colander_buffer_release(&range->bytes[i]);
}

static void
do_delete_range(struct run *run)
{
    size_t family = random_below(&run->random, FAMILIES);
    struct row *rows = run->now.rows[family];
    struct range range;
    uint64_t expected = 0;
    uint64_t deleted;

    random_range(run, &range);
    for (size_t i = 0; i < KEYS; i++) {
        if (range.covers[i] && rows[i].exists) {
            rows[i].exists = false;
            expected++;
        }
    }
    OK(colander_family_delete_range(run->families[family], &range.keys, NULL,
                                    &deleted, NULL));
    assert_int_equal(deleted, expected);
    release_range(&range);
}

/* ---------------------------------------------------------------- reads --- */

/* The present, or one of the snapshots. */
static const struct world *
pick_world(struct run *run, const struct colander_snapshot **snapshot)
{
    size_t place = random_below(&run->random, SNAPSHOTS + 1);

    *snapshot = NULL;
    if (place == SNAPSHOTS || run->snapshots[place] == NULL)
        return &run->now;
    *snapshot = run->snapshots[place];
    return run->then[place];
}

static void
do_get(struct run *run)
{
    size_t family = random_below(&run->random, FAMILIES);
    size_t count = 1 + random_below(&run->random, 4);
    size_t column = random_below(&run->random, COLUMNS);
    bool is_selecting = random_below(&run->random, 3) == 0;
    struct colander_buffer keys[4] = {COLANDER_BUFFER_EMPTY};
    struct colander_buffer rows[4] = {COLANDER_BUFFER_EMPTY};
    struct colander_slice slices[4];
    struct colander_read read = {NULL, NULL, 0};
    const struct world *world = pick_world(run, &read.snapshot);
    size_t indexes[4];
    bool found[4];

    if (is_selecting) {
        read.paths = &column_paths[column];
        read.path_count = 1;
    }
    for (size_t i = 0; i < count; i++) {
        indexes[i] = random_below(&run->random, KEYS);
        encode_key(indexes[i], &keys[i]);
        slices[i] = colander_buffer_slice(&keys[i]);
    }
    OK(colander_family_get_many(run->families[family], slices, count, &read,
                                rows, found, NULL));
    for (size_t i = 0; i < count; i++) {
        struct row expected = world->rows[family][indexes[i]];
        struct row got = {false, {{ABSENT, 0, {0, 0}}}};

        for (size_t j = 0; j < COLUMNS && is_selecting; j++) {
            if (j != column)
                expected.cells[j].kind = ABSENT;
        }
        if (found[i])
            got = decode_row(colander_buffer_slice(&rows[i]));
        assert_same_row(&expected, &got);
        colander_buffer_release(&keys[i]);
        colander_buffer_release(&rows[i]);
    }
}

static bool
is_wanted(const struct row *row, const struct cell *wanted, size_t column)
{
    const struct cell *cell = &row->cells[column];

    if (!row->exists)
        return false;
    return wanted->kind == ABSENT ||
           (cell->kind == wanted->kind && cell->value == wanted->value);
}

static void
check_rows(struct run *run, const struct row *rows, const struct range *range,
           const struct cell *wanted, size_t column, size_t family,
           struct colander_query *query)
{
    struct colander_cursor *cursor;
    struct colander_explain explain;
    struct colander_result result;
    uint64_t expected_count = 0;
    uint64_t left = query->limit;
    uint64_t count;
    bool is_row;

    OK(colander_family_find(run->families[family], query, &cursor, NULL));
    for (size_t step = 0; step < KEYS; step++) {
        size_t i = query->is_reverse ? KEYS - 1 - step : step;
        struct row got;

        if (!range->covers[i] || !is_wanted(&rows[i], wanted, column) ||
            left == 0)
            continue;
        left--;
        expected_count++;
        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        assert_true(is_row);
        assert_int_equal(decode_key(result.key), i);
        got = decode_row(result.row);
        assert_same_row(&rows[i], &got);
    }
    OK(colander_cursor_next(cursor, &is_row, &result, NULL));
    assert_false(is_row);
    colander_cursor_explain(cursor, &explain);
    assert_int_equal(explain.rows_returned, expected_count);
    colander_cursor_close(cursor);
    OK(colander_family_count(run->families[family], query, &count, NULL));
    assert_int_equal(count, expected_count);
}

static void
do_find(struct run *run)
{
    size_t family = random_below(&run->random, FAMILIES);
    size_t column = random_below(&run->random, COLUMNS);
    struct cell wanted = random_cell(&run->random, false);
    struct colander_predicate *where = NULL;
    struct colander_query query = usual_query();
    const struct world *world;
    struct range range;
    char text[16];

    if (wanted.kind == MAP || wanted.kind == IS_NULL)
        wanted.kind = ABSENT;
    (void)snprintf(text, sizeof(text), "text %d", wanted.value);
    if (wanted.kind != ABSENT)
        where =
            colander_where(column_paths[column], COLANDER_EQ,
                           wanted.kind == TEXT ? colander_text(text)
                                               : colander_integer(wanted.value),
                           NULL);
    random_range(run, &range);
    world = pick_world(run, &query.snapshot);
    query.where = where;
    query.keys = range.keys;
    query.is_reverse = random_below(&run->random, 2) == 0;
    if (random_below(&run->random, 4) == 0)
        query.limit = random_below(&run->random, 20);
    check_rows(run, world->rows[family], &range, &wanted, column, family,
               &query);
    colander_predicate_destroy(where);
    release_range(&range);
}

/* ------------------------------------------------------------ whole run --- */

static void
do_snapshot(struct run *run)
{
    size_t place = random_below(&run->random, SNAPSHOTS);

    forget_snapshot(run, place);
    OK(colander_store_snapshot(run->store, &run->snapshots[place], NULL));
    run->then[place] = malloc(sizeof(struct world));
    *run->then[place] = run->now;
}

/* A dropped family is missing in snapshots, too: its handles report it. */
static void
do_drop(struct run *run)
{
    size_t family = random_below(&run->random, FAMILIES);
    struct colander_family *handle = run->families[family];

    if (!colander_family_exists(handle))
        return;
    OK(colander_family_drop(handle, NULL));
    FAILS(colander_family_create(handle, NULL), COLANDER_DROPPED);
    colander_family_close(handle);
    OK(colander_family_open(run->store, family_names[family],
                            &run->families[family], NULL));
    memset(run->now.rows[family], 0, sizeof(run->now.rows[family]));
    for (size_t i = 0; i < SNAPSHOTS; i++) {
        if (run->then[i] != NULL)
            memset(run->then[i]->rows[family], 0,
                   sizeof(run->then[i]->rows[family]));
    }
}

static void
do_something(struct run *run)
{
    uint64_t choice = random_below(&run->random, 10000);
    size_t family = random_below(&run->random, FAMILIES);

    if (choice < 4500)
        do_write(run, NULL);
    else if (choice < 5500)
        do_batch(run);
    else if (choice < 8900)
        do_get(run);
    else if (choice < 9700)
        do_find(run);
    else if (choice < 9850)
        do_snapshot(run);
    else if (choice < 9930)
        do_delete_range(run);
    else if (choice < 9970)
        OK(colander_family_flush(run->families[family], NULL));
    else if (choice < 9980)
        OK(colander_family_compact(run->families[family], NULL));
    else if (choice < 9985)
        do_drop(run);
    else if (choice < 9993) {
        close_store(run);
        open_store(run);
    }
}

TEST(store_does_what_the_model_does)
{
    SCOPED_MEMORY struct run *run = calloc(1, sizeof(*run));
    uint64_t runs = random_runs(20000);

    run->random = random_seed("store_does_what_the_model_does");
    run->builder = colander_row_builder_create();
    temporary_make(run->directory);
    open_store(run);
    for (uint64_t i = 0; i < runs; i++)
        do_something(run);
    close_store(run);
    colander_row_builder_destroy(run->builder);
    temporary_remove(run->directory);
}
