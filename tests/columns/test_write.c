/*
 * Writes: what is rejected, what is atomic, what readers see meanwhile.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/bulk.h"
#include "columns/runs.h"
#include "columns/store.h"
#include "columns/unchecked.h"
#include "core/engine.h"
#include "support/cases.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* --------------------------------------------------------------- limits --- */

FIXTURE_TEST(row_over_a_limit_is_refused_and_nothing_written)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    SCOPED_BUFFER key = text_key("k");
    struct colander_slice bytes = colander_buffer_slice(&key);
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    SCOPED_BATCH batch = NULL;

    /* {"a": <bin 32 of 16 MiB>} */
    OK(colander_buffer_append(&row, "\x81\241a\xc6\x01\x00\x00\x00", 8, NULL));
    OK(colander_buffer_reserve(&row, COLANDER_ROW_SIZE_MAX, NULL));
    memset(row.data + 8, 0, COLANDER_ROW_SIZE_MAX);
    row.size += COLANDER_ROW_SIZE_MAX;
    OK(colander_batch_create(fixture->store, &batch, NULL));
    FAILS(colander_family_put(family, bytes, colander_buffer_slice(&row), NULL,
                              why()),
          COLANDER_LIMIT);
    FAILS(colander_family_patch(family, bytes, colander_buffer_slice(&row),
                                NULL, why()),
          COLANDER_LIMIT);
    FAILS(colander_batch_put(batch, family, bytes, colander_buffer_slice(&row),
                             why()),
          COLANDER_LIMIT);
    assert_memory_equal(error_text(), "family 'f': ", 12);
    assert_int_equal(colander_batch_count(batch), 0);
    assert_false(colander_family_exists(family));
}

FIXTURE_TEST(invalid_keys_and_rows_are_rejected)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    SCOPED_BUFFER key = text_key("k");
    struct colander_slice row = fixture_row(fixture, "a", colander_integer(1));

    FAILS(
        colander_family_put(family, colander_slice_text("k"), row, NULL, why()),
        COLANDER_INVALID);
    assert_string_equal(error_text(), "family 'f': the key is not encoded");
    FAILS(colander_family_put(family, colander_buffer_slice(&key),
                              colander_slice_text("{}"), NULL, why()),
          COLANDER_INVALID);
    FAILS(colander_family_delete(family, colander_slice_of("", 0), NULL, why()),
          COLANDER_INVALID);
    assert_false(colander_family_exists(family));
}

FIXTURE_TEST(patch_that_would_outgrow_the_limits_changes_nothing)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    SCOPED_BUFFER key = text_key("k");
    SCOPED_BUFFER noise = COLANDER_BUFFER_EMPTY;
    struct colander_value half;
    uint64_t count;

    OK(colander_buffer_reserve(&noise, COLANDER_ROW_SIZE_MAX / 2, NULL));
    memset(noise.data, 'x', COLANDER_ROW_SIZE_MAX / 2);
    half = colander_binary(
        colander_slice_of(noise.data, COLANDER_ROW_SIZE_MAX / 2));
    OK(put_text(fixture, family, "k", "a", half, NULL));
    FAILS(colander_family_patch(family, colander_buffer_slice(&key),
                                fixture_row(fixture, "b", half), NULL, why()),
          COLANDER_LIMIT);
    OK(colander_family_patch(family, colander_buffer_slice(&key),
                             fixture_row(fixture, "a", colander_integer(1)),
                             NULL, why()));
    assert_row(family, "k", "{\"_key\":\"k\",\"a\":1}");
    count = count_rows(family);
    assert_int_equal(count, 1);
}

/* -------------------------------------------------------------- batches --- */

FIXTURE_TEST(batch_with_a_dropped_family_writes_nothing)
{
    SCOPED_FAMILY kept = fixture_family(fixture, "kept");
    SCOPED_FAMILY doomed = fixture_family(fixture, "doomed");
    SCOPED_BUFFER key = text_key("k");
    SCOPED_BATCH batch = NULL;

    OK(colander_family_create(doomed, NULL));
    OK(colander_batch_create(fixture->store, &batch, NULL));
    OK(colander_batch_put(batch, kept, colander_buffer_slice(&key),
                          fixture_row(fixture, "a", colander_integer(1)),
                          NULL));
    OK(colander_batch_patch(batch, doomed, colander_buffer_slice(&key),
                            fixture_row(fixture, "a", colander_integer(1)),
                            NULL));
    OK(colander_family_drop(doomed, NULL));
    FAILS(colander_batch_commit(batch, NULL, why()), COLANDER_DROPPED);
    assert_row(kept, "k", NULL);
    assert_int_equal(colander_batch_count(batch), 2);
    colander_batch_clear(batch);
    OK(colander_batch_commit(batch, NULL, why()));
    assert_row(kept, "k", NULL);
}

FIXTURE_TEST(a_row_that_was_checked_is_put_as_it_is)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    SCOPED_BUFFER key = text_key("k");
    struct colander_slice row = fixture_row(fixture, "a", colander_integer(1));
    SCOPED_BATCH batch = NULL;

    OK(colander_batch_create(fixture->store, &batch, NULL));
    FAILS(colander_batch_put_checked(batch, family, colander_slice_text("k"),
                                     row, why()),
          COLANDER_INVALID);
    assert_string_equal(error_text(), "family 'f': the key is not encoded");
    OK(colander_batch_put_checked(batch, family, colander_buffer_slice(&key),
                                  row, NULL));
    assert_int_equal(colander_batch_count(batch), 1);
    OK(colander_batch_commit(batch, NULL, NULL));
    assert_int_equal(colander_batch_count(batch), 0);
    assert_row(family, "k", "{\"_key\":\"k\",\"a\":1}");
}

FIXTURE_TEST(batch_takes_families_of_its_own_store_only)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    SCOPED_BUFFER key = text_key("k");
    char directory[TEMPORARY_SIZE];
    struct colander_store *other;
    struct colander_batch *batch;

    temporary_make(directory);
    OK(colander_store_open(directory, NULL, &other, NULL));
    OK(colander_batch_create(other, &batch, NULL));
    FAILS(colander_batch_delete(batch, family, colander_buffer_slice(&key),
                                why()),
          COLANDER_INVALID);
    colander_batch_destroy(batch);
    OK(colander_store_close(other, NULL));
    temporary_remove(directory);
}

FIXTURE_TEST(a_batch_over_the_limit_keeps_what_it_has)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    SCOPED_BUFFER key = text_key("k");
    const struct colander_slice at = colander_buffer_slice(&key);
    const size_t size = COLANDER_ROW_SIZE_MAX - 64;
    SCOPED_MEMORY uint8_t *bytes = calloc(1, size);
    SCOPED_BATCH batch = NULL;
    struct colander_slice row;
    size_t count;

    assert_non_null(bytes);
    row = fixture_row(fixture, "large",
                      colander_binary(colander_slice_of(bytes, size)));
    OK(colander_batch_create(fixture->store, &batch, NULL));
    for (count = 0; count < COLANDER_BATCH_SIZE_MAX / size; count++)
        OK(colander_batch_put(batch, family, at, row, why()));
    FAILS(colander_batch_put(batch, family, at, row, why()), COLANDER_LIMIT);
    assert_int_equal(colander_batch_count(batch), count);
    OK(colander_batch_delete(batch, family, at, why())); /* a delete fits */
    colander_batch_clear(batch);
    OK(colander_batch_put(batch, family, at, row, why()));
    assert_int_equal(count_rows(family), 0);
}

/* ---------------------------------------------------------- in parallel --- */

#define PATCHERS 4
#define PATCHES 300

/* Between the read of a patch and its write, so that others could come between
 * them. The linker redirects the calls here. */
static atomic_bool is_slow;

/* Called once before a write of this thread; NULL: nothing. */
static _Thread_local void (*before_write)(void *context);
static _Thread_local void *before_write_context;

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. */
enum colander_code
__real_engine_batch_write(struct engine_batch *batch,
                          enum colander_durability durability,
                          struct colander_error *err);
enum colander_code
__wrap_engine_batch_write(struct engine_batch *batch,
                          enum colander_durability durability,
                          struct colander_error *err);
/* NOLINTEND(bugprone-reserved-identifier) */

enum colander_code
__wrap_engine_batch_write(struct engine_batch *batch,
                          enum colander_durability durability,
                          struct colander_error *err)
{
    void (*before)(void *context) = before_write;

    before_write = NULL;
    if (before != NULL)
        before(before_write_context);
    if (is_slow)
        usleep(100);
    return __real_engine_batch_write(batch, durability, err);
}

struct patcher {
    struct store_fixture *fixture;
    struct colander_family *family;
    int number;
    bool uses_batches;
    int failures;
};

/* Whether the patcher's column of the row is `expected`. */
static bool
has_own_column(const struct patcher *patcher, struct colander_slice key,
               const char *name, int64_t expected)
{
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    struct colander_value value;
    bool found;

    return colander_family_get(patcher->family, key, NULL, &row, &found,
                               NULL) == COLANDER_OK &&
           found &&
           colander_row_get(colander_buffer_slice(&row), name, &value, &found,
                            NULL) == COLANDER_OK &&
           found && value.integer == expected;
}

/* Increments its own column of the same row, patch by patch. A lost patch shows
 * only until the next one. */
static void *
patch_own_column(void *context)
{
    struct patcher *patcher = context;
    SCOPED_BUILDER builder = colander_row_builder_create();
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BATCH batch = NULL;
    char name[8];

    (void)snprintf(name, sizeof(name), "c%d", patcher->number);
    patcher->failures += colander_key_text("k", &key, NULL) != COLANDER_OK ||
                         colander_batch_create(patcher->fixture->store, &batch,
                                               NULL) != COLANDER_OK;
    for (int i = 1; i <= PATCHES && patcher->failures == 0; i++) {
        struct colander_slice bytes = colander_buffer_slice(&key);
        struct colander_slice patch;
        enum colander_code code;

        colander_row_builder_add(builder, name, colander_integer(i));
        code = colander_row_builder_finish(builder, &patch, NULL);
        if (code == COLANDER_OK && !patcher->uses_batches)
            code = colander_family_patch(patcher->family, bytes, patch, NULL,
                                         NULL);
        if (code == COLANDER_OK && patcher->uses_batches)
            code = colander_batch_patch(batch, patcher->family, bytes, patch,
                                        NULL);
        if (code == COLANDER_OK && patcher->uses_batches)
            code = colander_batch_commit(batch, NULL, NULL);
        usleep(300); /* a write that would undo this one has ended, too */
        patcher->failures +=
            code != COLANDER_OK || !has_own_column(patcher, bytes, name, i);
    }
    return NULL;
}

/* Every `batch_step`-th patcher uses batches; 0: none. */
static void
patch_at_once(struct store_fixture *fixture, struct colander_family *family,
              int batch_step)
{
    struct patcher patchers[PATCHERS];
    pthread_t threads[PATCHERS];

    is_slow = true;
    for (int i = 0; i < PATCHERS; i++) {
        const bool uses_batches = batch_step > 0 && i % batch_step == 0;

        patchers[i] = (struct patcher){fixture, family, i, uses_batches, 0};
        pthread_create(&threads[i], NULL, patch_own_column, &patchers[i]);
    }
    for (int i = 0; i < PATCHERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(patchers[i].failures, 0);
    }
    is_slow = false;
}

FIXTURE_TEST(patches_of_one_row_at_once_lose_nothing)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");

    for (int batch_step = 0; batch_step <= 2; batch_step++)
        patch_at_once(fixture, family, batch_step);
}

struct inserter {
    struct store_fixture *fixture;
    struct colander_family *family;
    int inserted_count; /* -1: it failed */
};

/* Inserts rows that the others insert, too. */
static void *
insert_rows(void *context)
{
    struct inserter *inserter = context;
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    for (int i = 0; i < PATCHES; i++) {
        const struct colander_value part = colander_integer(i);
        bool is_inserted;

        if (colander_key_encode(&part, 1, &key, NULL) != COLANDER_OK ||
            colander_family_insert(inserter->family,
                                   colander_buffer_slice(&key),
                                   colander_slice_of("\x81\241n\x01", 4), NULL,
                                   &is_inserted, NULL) != COLANDER_OK) {
            inserter->inserted_count = -1;
            break;
        }
        inserter->inserted_count += is_inserted;
    }
    return NULL;
}

FIXTURE_TEST(one_of_several_inserts_of_a_key_writes_it)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    struct inserter inserters[PATCHERS];
    pthread_t threads[PATCHERS];
    int count = 0;

    is_slow = true;
    for (int i = 0; i < PATCHERS; i++) {
        inserters[i] = (struct inserter){fixture, family, 0};
        pthread_create(&threads[i], NULL, insert_rows, &inserters[i]);
    }
    for (int i = 0; i < PATCHERS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(inserters[i].inserted_count >= 0);
        count += inserters[i].inserted_count;
    }
    is_slow = false;
    assert_int_equal(count, PATCHES);
}

struct commit {
    struct colander_family *family;
    struct colander_bulk *bulk;
    pthread_t thread;
    enum colander_code code;
};

static void *
run_commit(void *context)
{
    struct commit *commit = context;

    commit->code = colander_bulk_commit(commit->bulk, NULL, NULL);
    return NULL;
}

/* Begins the commit, and gives it time to end. */
static void
begin_commit(void *context)
{
    struct commit *commit = context;

    pthread_create(&commit->thread, NULL, run_commit, commit);
    usleep(200000);
}

/* The bulk has the row that is being patched, and would be read before it and
 * written after it. */
FIXTURE_TEST(a_bulk_waits_for_a_patch)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    SCOPED_BUFFER key = text_key("k");
    const struct colander_slice at = colander_buffer_slice(&key);
    struct commit commit = {.bulk = NULL};

    OK(colander_bulk_create(family, &commit.bulk, NULL));
    OK(colander_bulk_add(commit.bulk, at,
                         fixture_row(fixture, "a", colander_integer(1)), NULL));
    before_write = begin_commit;
    before_write_context = &commit;
    OK(colander_family_patch(family, at,
                             fixture_row(fixture, "b", colander_integer(2)),
                             NULL, NULL));
    pthread_join(commit.thread, NULL);
    /* it is refused: the family has a row now */
    assert_int_not_equal(commit.code, COLANDER_OK);
    assert_row(family, "k", "{\"_key\":\"k\",\"b\":2}");
    colander_bulk_destroy(commit.bulk);
}

/* Waits until a commit has flushed the family, while the caller holds locks of
 * keys. Fails if it does not. */
static void
await_flush(void *context)
{
    struct commit *commit = context;
    struct engine_family *engine_family;
    unsigned tries = 0;

    OK(family_make(commit->family, &engine_family, NULL));
    assert_false(engine_family_is_flushed(engine_family));
    pthread_create(&commit->thread, NULL, run_commit, commit);
    while (!engine_family_is_flushed(engine_family)) {
        assert_true(tries++ < 3000);
        usleep(10000);
    }
}

/* Writers of all families wait while files join, and must not for a flush. */
FIXTURE_TEST(a_run_flushes_the_family_before_it_locks_keys)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    SCOPED_BUFFER key = text_key("k");
    const struct colander_slice at = colander_buffer_slice(&key);
    struct commit commit = {.family = family};

    OK(put_text(fixture, family, "old", "a", colander_integer(1), NULL));
    OK(colander_run_create(family, &commit.bulk, NULL));
    OK(colander_bulk_add(commit.bulk, at,
                         fixture_row(fixture, "a", colander_integer(1)), NULL));
    before_write = await_flush;
    before_write_context = &commit;
    OK(colander_family_patch(family, at,
                             fixture_row(fixture, "b", colander_integer(2)),
                             NULL, NULL));
    pthread_join(commit.thread, NULL);
    assert_int_equal(commit.code, COLANDER_OK);
    assert_row(family, "k", "{\"_key\":\"k\",\"a\":1}"); /* it came later */
    colander_bulk_destroy(commit.bulk);
}

#define ACCOUNTS 16
#define TOTAL (ACCOUNTS * 100)

struct mover {
    struct store_fixture *fixture;
    struct colander_family *families[2];
    atomic_bool *stop;
    int failures;
};

static enum colander_code
set_account(struct mover *mover, struct colander_batch *batch,
            struct colander_row_builder *builder, int account, int64_t amount)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_value part = colander_integer(account);
    struct colander_slice row;
    enum colander_code code;

    colander_row_builder_add(builder, "amount", colander_integer(amount));
    code = colander_row_builder_finish(builder, &row, NULL);
    if (code == COLANDER_OK)
        code = colander_key_encode(&part, 1, &key, NULL);
    if (code == COLANDER_OK)
        code = colander_batch_put(batch, mover->families[account % 2],
                                  colander_buffer_slice(&key), row, NULL);
    return code;
}

/* Moves amounts between accounts of two families, in one batch each. */
static void *
move_amounts(void *context)
{
    struct mover *mover = context;
    SCOPED_BUILDER builder = colander_row_builder_create();
    SCOPED_BATCH batch = NULL;
    int64_t amounts[ACCOUNTS];
    uint64_t random = 1;

    mover->failures += colander_batch_create(mover->fixture->store, &batch,
                                             NULL) != COLANDER_OK;
    for (int i = 0; i < ACCOUNTS; i++)
        amounts[i] = 100;
    while (!*mover->stop && mover->failures == 0) {
        int from;
        int to;

        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        from = (int)(random >> 33) % ACCOUNTS;
        to = (from + 1 + (int)(random >> 40) % (ACCOUNTS - 1)) % ACCOUNTS;
        amounts[from] -= 7;
        amounts[to] += 7;
        mover->failures +=
            set_account(mover, batch, builder, from, amounts[from]) !=
                COLANDER_OK ||
            set_account(mover, batch, builder, to, amounts[to]) !=
                COLANDER_OK ||
            colander_batch_commit(batch, NULL, NULL) != COLANDER_OK;
    }
    return NULL;
}

static int64_t
sum_of(struct colander_family *family, const struct colander_snapshot *snapshot,
       uint64_t *rows)
{
    SCOPED_CURSOR cursor = NULL;
    struct colander_result result;
    struct colander_query query = usual_query();
    int64_t sum = 0;
    bool is_row = true;

    query.snapshot = snapshot;
    OK(colander_family_find(family, &query, &cursor, NULL));
    while (is_row) {
        struct colander_value value;
        bool found;

        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        if (!is_row)
            break;
        OK(colander_row_get(result.row, "amount", &value, &found, NULL));
        sum += value.integer;
        ++*rows;
    }
    return sum;
}

FIXTURE_TEST(readers_never_see_half_a_batch)
{
    atomic_bool stop = false;
    struct mover mover = {.fixture = fixture, .stop = &stop};
    SCOPED_BUILDER builder = colander_row_builder_create();
    struct colander_batch *batch;
    pthread_t thread;

    mover.families[0] = fixture_family(fixture, "even");
    mover.families[1] = fixture_family(fixture, "odd");
    OK(colander_batch_create(fixture->store, &batch, NULL));
    for (int i = 0; i < ACCOUNTS; i++)
        OK(set_account(&mover, batch, builder, i, 100));
    OK(colander_batch_commit(batch, NULL, NULL));
    colander_batch_destroy(batch);
    pthread_create(&thread, NULL, move_amounts, &mover);
    for (int round = 0; round < 300; round++) {
        SCOPED_SNAPSHOT snapshot = NULL;
        uint64_t rows = 0;
        int64_t sum;

        OK(colander_store_snapshot(fixture->store, &snapshot, NULL));
        if (round % 50 == 49)
            OK(colander_family_compact(mover.families[round / 50 % 2], NULL));
        sum = sum_of(mover.families[0], snapshot, &rows);
        sum += sum_of(mover.families[1], snapshot, &rows);
        assert_int_equal(rows, ACCOUNTS);
        assert_int_equal(sum, TOTAL);
    }
    stop = true;
    pthread_join(thread, NULL);
    assert_int_equal(mover.failures, 0);
    colander_family_close(mover.families[0]);
    colander_family_close(mover.families[1]);
}
