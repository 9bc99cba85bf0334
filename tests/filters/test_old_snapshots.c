/*
 * Finds at snapshots that are older than a deleted range, a compaction or a
 * filter made anew: they give what was there when the snapshot was taken.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/compared_finds.h"
#include "support/filter_files.h"

#define KEYS 600
#define MOMENTS 12
#define VALUES 20

/* How many rows had each value of `user` when the snapshot was taken. */
struct moment {
    struct colander_snapshot *snapshot;
    uint64_t counts[VALUES];
};

struct past {
    struct store_fixture *fixture;
    struct colander_family *family;
    uint64_t random;
    struct moment moments[MOMENTS];
    size_t moment_count;
    struct find_counts counts;
};

static uint64_t
count_at(struct past *past, const struct moment *moment, int64_t value)
{
    struct colander_predicate *predicate =
        colander_where("user", COLANDER_EQ, colander_integer(value), NULL);
    struct colander_cursor *cursor;
    struct colander_result result;
    struct colander_query query;
    uint64_t count = 0;

    colander_query_init(&query);
    query.snapshot = moment->snapshot;
    query.where = predicate;
    OK(colander_family_find(past->family, &query, &cursor, NULL));
    while (next_row(cursor, &result))
        count++;
    count_find(cursor, &past->counts);
    colander_cursor_close(cursor);
    colander_predicate_destroy(predicate);
    return count;
}

static void
take_moment(struct past *past)
{
    struct moment *moment = &past->moments[past->moment_count++];

    OK(colander_store_snapshot(past->fixture->store, &moment->snapshot, NULL));
    for (int64_t i = 0; i < VALUES; i++)
        moment->counts[i] = count_at(past, moment, i);
}

static void
check_moments(struct past *past)
{
    for (size_t m = 0; m < past->moment_count; m++) {
        struct moment *moment = &past->moments[m];

        for (int64_t i = 0; i < VALUES; i++)
            assert_int_equal(count_at(past, moment, i), moment->counts[i]);
        for (unsigned i = 0; i < 8; i++)
            compare_random_find(past->family, moment->snapshot, KEYS,
                                &past->random, &past->counts);
    }
}

/* -------------------------------------------------------------- changes --- */

static void
write_some(struct past *past, unsigned count)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;

    while (count-- > 0) {
        struct colander_slice row =
            random_row(past->fixture->builder, &past->random);

        random_key(&past->random, KEYS, &key);
        if (random_below(&past->random, 3) == 0)
            OK(colander_family_patch(past->family, colander_buffer_slice(&key),
                                     row, COLANDER_AS_STORE, NULL));
        else
            OK(colander_family_put(past->family, colander_buffer_slice(&key),
                                   row, COLANDER_AS_STORE, NULL));
    }
    colander_buffer_release(&key);
}

/* Of about half the keys. */
static void
delete_range(struct past *past)
{
    const int64_t first = (int64_t)random_below(&past->random, KEYS / 2);
    const struct colander_value parts[] = {colander_integer(first),
                                           colander_integer(first + KEYS / 2)};
    struct colander_buffer bounds[2] = {COLANDER_BUFFER_EMPTY,
                                        COLANDER_BUFFER_EMPTY};
    struct colander_key_range range;

    memset(&range, 0, sizeof(range));
    OK(colander_key_encode(&parts[0], 1, &bounds[0], NULL));
    OK(colander_key_encode(&parts[1], 1, &bounds[1], NULL));
    range.from = colander_buffer_slice(&bounds[0]);
    range.to = colander_buffer_slice(&bounds[1]);
    OK(colander_family_delete_range(past->family, &range, COLANDER_AS_STORE,
                                    NULL, NULL));
    colander_buffer_release(&bounds[0]);
    colander_buffer_release(&bounds[1]);
}

static void
change(struct past *past, unsigned turn)
{
    switch (turn % 4) {
    case 0:
        delete_range(past);
        break;
    case 1:
        OK(colander_family_compact(past->family, NULL));
        break;
    case 2:
        OK(colander_family_refilter(past->family, NULL, NULL));
        break;
    default:
        delete_range(past);
        OK(colander_family_flush(past->family, NULL));
        OK(colander_family_refilter(past->family, NULL, NULL));
        OK(colander_family_compact(past->family, NULL));
    }
}

static void
run_past(struct past *past)
{
    past->family = fixture_family(past->fixture, "rows");
    for (unsigned i = 0; i < MOMENTS; i++) {
        write_some(past, 400);
        if (i % 2 == 0)
            OK(colander_family_flush(past->family, NULL));
        take_moment(past);
        write_some(past, 100);
        change(past, i);
        check_moments(past);
    }
    assert_true(past->counts.row_count > 0);
    for (size_t i = 0; i < past->moment_count; i++)
        colander_snapshot_release(past->moments[i].snapshot);
    colander_family_close(past->family);
}

static void
finds_at_old_snapshots_give_what_was_there(void **state)
{
    struct past past = {.fixture = *state};

    past.random = random_seed("old snapshots");
    run_past(&past);
}

static void
finds_at_old_snapshots_of_a_universal_store_give_what_was_there(void **state)
{
    struct past past = {.fixture = *state};

    past.fixture->options.compaction = COLANDER_COMPACTION_UNIVERSAL;
    fixture_remake(past.fixture);
    past.random = random_seed("old snapshots, universal");
    run_past(&past);
}

int
main(void)
{
#define TEST(test)                                                             \
    cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(finds_at_old_snapshots_give_what_was_there),
        TEST(finds_at_old_snapshots_of_a_universal_store_give_what_was_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
