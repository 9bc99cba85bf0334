/*
 * Copies of families: the rows of a find, all at once, also into another store.
 *
 * COLANDER_SEED repeats a run. COLANDER_RUNS sets the number of copies, and a
 * tenth of that the number of kills.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/children.h"
#include "support/claims.h"
#include "support/random_rows.h"
#include "support/store_fixture.h"

#include <signal.h>
#include <sys/wait.h>

#define KEYS 200
#define KILL_ROWS 5000

/* Asserts that `to` has the rows that the query returns, and no others. */
static void
assert_copied(struct colander_family *from, const struct colander_query *query,
              struct colander_family *to, uint64_t row_count)
{
    SCOPED_CURSOR found = NULL;
    uint64_t count = 0;
    bool is_row = true;

    OK(colander_family_find(from, query, &found, NULL));
    for (;;) {
        SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
        struct colander_result result;
        bool is_there;

        OK(colander_cursor_next(found, &is_row, &result, NULL));
        if (!is_row)
            break;
        OK(colander_family_get(to, result.key, NULL, &row, &is_there, NULL));
        assert_true(is_there);
        ASSERT_SAME(colander_buffer_slice(&row), result.row);
        count++;
    }
    assert_int_equal(count, row_count);
    assert_int_equal(count_rows(to), row_count);
}

FIXTURE_TEST(a_copy_has_the_rows_of_the_find)
{
    struct colander_family *from = kept_family(fixture, "rows");
    uint64_t random = random_seed(__func__);

    for (uint64_t run = random_runs(40); run > 0; run--) {
        SCOPED_PREDICATE where = random_predicate(&random, 2);
        SCOPED_FAMILY to = fixture_family(fixture, "copy");
        struct colander_buffer bounds[2] = {COLANDER_BUFFER_EMPTY,
                                            COLANDER_BUFFER_EMPTY};
        struct colander_query query = usual_query();
        uint64_t count;

        put_random_rows(fixture, from, KEYS, KEYS / 4, &random);
        query.where = random_below(&random, 3) == 0 ? NULL : where;
        random_bounds(&random, KEYS, &query, bounds);
        OK(colander_family_copy(from, &query, to, NULL, NULL, &count, NULL));
        assert_copied(from, &query, to, count);
        if (count > 0)
            FAILS(colander_family_copy(from, NULL, to, NULL, NULL, NULL, NULL),
                  COLANDER_INVALID);
        OK(colander_family_drop(to, NULL));
        colander_buffer_release(&bounds[0]);
        colander_buffer_release(&bounds[1]);
    }
}

FIXTURE_TEST(a_copy_into_another_store_has_the_time_column)
{
    struct colander_family *from = kept_family(fixture, "rows");
    char path[TEMPORARY_SIZE + 16];
    SCOPED_BUFFER time = COLANDER_BUFFER_EMPTY;
    struct colander_store *store;
    struct colander_family *to;
    uint64_t count;
    bool found;

    OK(put_text(fixture, from, "k", "n", colander_integer(1), NULL));
    OK(colander_family_set_time_column(fixture->store, from, "at", NULL));
    snprintf(path, sizeof(path), "%s.other", fixture->directory);
    OK(colander_store_open(path, NULL, &store, NULL));
    OK(colander_family_open(store, "copy", &to, NULL));
    OK(colander_family_copy(from, NULL, to, NULL, NULL, &count, NULL));
    assert_int_equal(count, 1);
    assert_row(to, "k", "{\"_key\":\"k\",\"n\":1}");
    OK(colander_family_time_column(to, &time, &found, NULL));
    assert_true(found);
    assert_string_equal((char *)time.data, "at");
    colander_family_close(to);
    OK(colander_store_close(store, NULL));
    temporary_remove(path);
}

/* Stops a copy that has read as many rows. */
static bool
goes_on_below(void *limit, uint64_t row_count)
{
    return row_count < *(uint64_t *)limit;
}

FIXTURE_TEST(a_copy_that_fails_leaves_no_family)
{
    struct colander_family *from = kept_family(fixture, "rows");
    struct colander_family *to = kept_family(fixture, "copy");
    uint64_t limit = 2000;

    FAILS(colander_family_copy(from, NULL, to, NULL, NULL, NULL, NULL),
          COLANDER_NOT_FOUND);
    assert_false(colander_family_exists(to));
    for (int64_t i = 0; i < 2500; i++)
        put_at(from, i, fixture_row(fixture, "n", colander_integer(i)));
    FAILS(
        colander_family_copy(from, NULL, to, goes_on_below, &limit, NULL, NULL),
        COLANDER_CANCELLED);
    assert_false(colander_family_exists(to));
    FAILS(colander_family_copy(from, NULL, from, NULL, NULL, NULL, NULL),
          COLANDER_INVALID);
    assert_int_equal(count_rows(from), 2500);
}

/* ---------------------------------------------------------------- kills --- */

/* The process that is killed: copies, drops, and copies again. */
ROLE(copy)
{
    struct colander_store *store;
    struct colander_family *from, *to;

    DID(colander_store_open(arguments[2], NULL, &store, why()));
    DID(colander_family_open(store, "rows", &from, why()));
    CLAIM(write(STDOUT_FILENO, "!", 1) == 1);
    for (;;) {
        DID(colander_family_open(store, "copy", &to, why()));
        if (count_rows(to) > 0) {
            DID(colander_family_drop(to, why()));
        } else {
            DID(colander_family_copy(from, NULL, to, NULL, NULL, NULL, why()));
        }
        colander_family_close(to);
    }
    return 1;
}

static void
copy_for(const char *store, uint64_t microseconds)
{
    const char *const arguments[] = {"test", "--copy", store, NULL};

    child_kill_after(arguments, microseconds);
}

FIXTURE_TEST(a_killed_copy_leaves_all_rows_or_none)
{
    uint64_t random = random_seed(__func__);
    uint64_t whole = 0;

    for (int64_t i = 0; i < KILL_ROWS; i++)
        put_at(kept_family(fixture, "rows"), i,
               fixture_row(fixture, "n", colander_integer(i)));
    for (uint64_t kill = (random_runs(200) + 9) / 10; kill > 0; kill--) {
        uint64_t count;

        fixture_close(fixture);
        copy_for(fixture->directory, random_below(&random, 60000));
        fixture_open(fixture);
        assert_int_equal(count_rows(kept_family(fixture, "rows")), KILL_ROWS);
        count = count_rows(kept_family(fixture, "copy"));
        assert_true(count == 0 || count == KILL_ROWS);
        whole += count > 0;
    }
    printf("%" PRIu64 " kills left a whole copy\n", whole);
}
