/*
 * Finds at old snapshots, and finds that continue while files change: they
 * return what existed when the snapshot was taken (invariant I2), as kept by a
 * model in memory, and as returned by a scan.
 *
 * COLANDER_RUNS sets the number of steps.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/filter_files.h"
#include "support/scoped.h"

#define KEYS_MAX 1200
#define MOMENTS 6

/* All rows at one moment; a row without bytes does not exist. */
struct picture {
    struct colander_buffer rows[KEYS_MAX];
    uint64_t versions; /* rows written so far */
};

struct moment {
    struct colander_snapshot *snapshot; /* NULL: unused */
    struct picture picture;
};

struct history {
    struct store_fixture *fixture;
    struct colander_family *family;
    uint64_t random;
    uint64_t hot_count; /* keys that are being written */
    struct picture now;
    struct moment moments[MOMENTS];
    struct find_counts counts;
    uint64_t found_count;
};

/* ---------------------------------------------------------------- model --- */

static struct colander_buffer
key_of(uint64_t index)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_value part = colander_integer((int64_t)index);

    OK(colander_key_encode(&part, 1, &key, NULL));
    return key;
}

static void
copy_bytes(struct colander_buffer *into, struct colander_slice bytes)
{
    colander_buffer_clear(into);
    OK(colander_buffer_append(into, bytes.data, bytes.size, NULL));
}

static void
release_picture(struct picture *picture)
{
    for (size_t i = 0; i < KEYS_MAX; i++)
        colander_buffer_release(&picture->rows[i]);
}

static void
release_moment(struct moment *moment)
{
    colander_snapshot_release(moment->snapshot);
    moment->snapshot = NULL;
}

static void
take_moment(struct history *history, struct moment *moment)
{
    release_moment(moment);
    OK(colander_store_snapshot(history->fixture->store, &moment->snapshot,
                               NULL));
    for (uint64_t i = 0; i < KEYS_MAX; i++)
        copy_bytes(&moment->picture.rows[i],
                   colander_buffer_slice(&history->now.rows[i]));
    moment->picture.versions = history->now.versions;
}

/* -------------------------------------------------------------- writing --- */

/* A row with a number that no other version of any row has. */
static struct colander_slice
numbered_row(struct history *history)
{
    struct colander_row_builder *builder = history->fixture->builder;
    struct colander_slice row;

    random_columns(builder, &history->random);
    colander_row_builder_add(
        builder, "version", colander_integer((int64_t)history->now.versions++));
    OK(colander_row_builder_finish(builder, &row, NULL));
    return row;
}

static void
write_row(struct history *history)
{
    uint64_t index = random_below(&history->random, history->hot_count);
    struct colander_buffer *kept = &history->now.rows[index];
    SCOPED_BUFFER patched = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER key = key_of(index);
    struct colander_slice at = colander_buffer_slice(&key);
    uint64_t choice = random_below(&history->random, 10);
    struct colander_slice row;

    if (choice < 2) {
        OK(colander_family_delete(history->family, at, NULL, NULL));
        colander_buffer_clear(kept);
    } else if (choice < 5) {
        row = numbered_row(history);
        OK(colander_row_patch(colander_buffer_slice(kept), row, &patched,
                              NULL));
        OK(colander_family_patch(history->family, at, row, NULL, NULL));
        copy_bytes(kept, colander_buffer_slice(&patched));
    } else {
        row = numbered_row(history);
        OK(colander_family_put(history->family, at, row, NULL, NULL));
        copy_bytes(kept, row);
    }
}

static void
write_rows(struct history *history, uint64_t count)
{
    while (count-- > 0)
        write_row(history);
}

/* Removes the filters of some files, or damages them. */
static void
spoil_filters(struct history *history)
{
    struct file_numbers filters;
    char path[FILE_NAME_SIZE];

    list_filters(history->fixture, &filters);
    for (size_t i = 0; i < filters.count; i++) {
        if (random_below(&history->random, 3) != 0 ||
            !find_filter(history->fixture, filters.numbers[i], path))
            continue;
        if (random_below(&history->random, 2) == 0)
            (void)unlink(path);
        else
            (void)!truncate(path, 100);
    }
}

static void
change_filters(struct history *history)
{
    static const char *const left_out[] = {"likes", "place"};
    static const uint32_t rows[] = {0, 1, 16, COLANDER_SEGMENT_AUTO};
    struct colander_filter_options options = usual_filters();

    options.rows_per_segment = rows[random_below(&history->random, 4)];
    options.unfiltered = left_out;
    options.unfiltered_count = random_below(&history->random, 3);
    options.hierarchy = random_below(&history->random, 4) == 0
                            ? COLANDER_HIERARCHY_TREE
                            : COLANDER_HIERARCHY_SLICES;
    OK(colander_family_set_filters(history->family, &options, NULL));
}

/* Deletes about half the keys. */
static void
delete_range(struct history *history)
{
    const uint64_t from = random_below(&history->random, KEYS_MAX / 2);
    struct colander_buffer bounds[2] = {key_of(from),
                                        key_of(from + KEYS_MAX / 2)};
    struct colander_key_range range = {
        .from = colander_buffer_slice(&bounds[0]),
        .to = colander_buffer_slice(&bounds[1]),
    };

    OK(colander_family_delete_range(history->family, &range, NULL, NULL, NULL));
    for (uint64_t i = from; i <= from + KEYS_MAX / 2; i++)
        colander_buffer_clear(&history->now.rows[i]);
    colander_buffer_release(&bounds[0]);
    colander_buffer_release(&bounds[1]);
}

static void
disturb(struct history *history)
{
    struct colander_family *family = history->family;

    switch (random_below(&history->random, 14)) {
    case 0:
        OK(colander_family_compact(family, NULL));
        break;
    case 1:
        OK(colander_family_refilter(family, NULL, NULL));
        break;
    case 2:
        spoil_filters(history);
        break;
    case 3:
        OK(colander_family_await_filters(family, NULL));
        break;
    case 4:
        change_filters(history);
        break;
    case 5: /* if few keys are written, nothing would be left */
        if (history->hot_count == KEYS_MAX)
            delete_range(history);
        break;
    default:
        OK(colander_family_flush(family, NULL));
    }
}

/* ------------------------------------------------------------- checking --- */

/* A find under way, and its expected result. */
struct asked {
    const struct picture *picture;
    struct colander_predicate *predicate;
    struct colander_query query;
    struct colander_buffer bounds[2];
    struct colander_cursor *cursor;
    uint64_t place; /* position in the keys of the model */
    uint64_t given;
};

/* Any of many versions: most results are rows found by candidates. */
static struct colander_predicate *
one_of_many_versions(struct history *history, const struct picture *picture)
{
    struct colander_value values[50];
    const size_t count = COUNT(values);

    for (size_t i = 0; i < count; i++) {
        uint64_t back = random_below(&history->random, 2 * KEYS_MAX);
        uint64_t version =
            picture->versions > back ? picture->versions - back : back;

        values[i] = colander_integer((int64_t)version);
    }
    return colander_where_in("version", values, count, NULL);
}

/* A predicate that asks for versions as often as for other values. */
static struct colander_predicate *
question_of(struct history *history, const struct picture *picture)
{
    const int64_t version =
        (int64_t)random_below(&history->random, picture->versions + 1);
    struct colander_predicate *both[2];

    switch (random_below(&history->random, 8)) {
    case 0:
        return colander_where("version", COLANDER_EQ, colander_integer(version),
                              NULL);
    case 1:
        return colander_where_any_column(colander_integer(version), NULL);
    case 2:
        return colander_where_between(
            "version", colander_integer(version),
            colander_integer(version +
                             (int64_t)random_below(&history->random, 500)),
            NULL);
    case 3:
        both[0] = random_leaf(&history->random);
        both[1] = colander_where("version", COLANDER_EQ,
                                 colander_integer(version), NULL);
        return colander_any_of(both, 2, NULL);
    case 4:
    case 5:
        return one_of_many_versions(history, picture);
    default:
        return random_predicate(&history->random, 2);
    }
}

static void
begin_asking(struct history *history, const struct moment *moment,
             struct asked *asked)
{
    memset(asked, 0, sizeof(*asked));
    asked->picture = &moment->picture;
    asked->predicate = question_of(history, asked->picture);
    assert_non_null(asked->predicate);
    colander_query_init(&asked->query);
    random_bounds(&history->random, KEYS_MAX, &asked->query, asked->bounds);
    asked->query.snapshot = moment->snapshot;
    asked->query.where = asked->predicate;
    OK(colander_family_find(history->family, &asked->query, &asked->cursor,
                            NULL));
}

/* Returns whether the find must return row `index` of the model. */
static bool
is_wanted(const struct asked *asked, uint64_t index, struct colander_slice key)
{
    const struct colander_key_range *keys = &asked->query.keys;
    const struct colander_buffer *row = &asked->picture->rows[index];
    bool is_match;

    if (row->size == 0 || colander_slice_compare(key, keys->from) < 0 ||
        (keys->to.size > 0 && colander_slice_compare(key, keys->to) > 0))
        return false;
    OK(colander_predicate_evaluate(asked->predicate, colander_buffer_slice(row),
                                   &is_match, NULL, NULL));
    return is_match;
}

/* The next row of the model, and its key to be released; false at the end. */
static bool
next_wanted(struct asked *asked, struct colander_buffer *key, uint64_t *index)
{
    if (asked->given == asked->query.limit)
        return false;
    while (asked->place < KEYS_MAX) {
        *index = asked->place++;
        if (asked->query.is_reverse)
            *index = KEYS_MAX - 1 - *index;
        *key = key_of(*index);
        if (is_wanted(asked, *index, colander_buffer_slice(key)))
            return true;
        colander_buffer_release(key);
    }
    return false;
}

/* Reads up to `count` rows, and compares each. */
static void
go_on_asking(struct asked *asked, uint64_t count)
{
    while (count-- > 0) {
        SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
        struct colander_result result;
        uint64_t index = 0;
        bool is_row = next_row(asked->cursor, &result);

        assert_int_equal(is_row, next_wanted(asked, &key, &index));
        if (!is_row)
            return;
        assert_true(
            colander_slice_equal(result.key, colander_buffer_slice(&key)));
        ASSERT_SAME(result.row,
                    colander_buffer_slice(&asked->picture->rows[index]));
        asked->given++;
    }
}

static void
end_asking(struct history *history, struct asked *asked)
{
    go_on_asking(asked, UINT64_MAX);
    count_find(asked->cursor, &history->counts);
    history->found_count += asked->given;
    colander_cursor_close(asked->cursor);
    colander_predicate_destroy(asked->predicate);
    colander_buffer_release(&asked->bounds[0]);
    colander_buffer_release(&asked->bounds[1]);
}

/* Finds at some moment, and compares with a scan. */
static void
ask(struct history *history)
{
    struct moment *moment =
        &history->moments[random_below(&history->random, MOMENTS)];
    struct asked asked;

    if (moment->snapshot == NULL)
        return;
    begin_asking(history, moment, &asked);
    end_asking(history, &asked);
    if (random_below(&history->random, 4) == 0)
        compare_random_find(history->family, moment->snapshot, KEYS_MAX,
                            &history->random, &history->counts);
}

/* ---------------------------------------------------------------- tests --- */

static struct history *
begin_history(struct store_fixture *fixture, const char *name,
              uint64_t hot_count)
{
    struct history *history = calloc(1, sizeof(*history));

    assert_non_null(history);
    history->fixture = fixture;
    history->family = kept_family(fixture, "history");
    history->random = random_seed(name);
    history->hot_count = KEYS_MAX;
    write_rows(history, 2 * KEYS_MAX);
    history->hot_count = hot_count;
    return history;
}

static void
end_history(struct history *history)
{
    struct colander_filter_stats stats = filter_stats(history->family);

    printf("%llu scans, %llu by candidates (%llu rows, %llu files in doubt), "
           "%llu filters made again\n",
           (unsigned long long)history->counts.plans[COLANDER_PLAN_SCAN],
           (unsigned long long)history->counts.plans[COLANDER_PLAN_CANDIDATES],
           (unsigned long long)history->counts.row_count,
           (unsigned long long)history->counts.files_unsure,
           (unsigned long long)stats.rebuilt_count);
    assert_true(history->counts.plans[COLANDER_PLAN_CANDIDATES] > 0);
    for (size_t i = 0; i < MOMENTS; i++) {
        release_moment(&history->moments[i]);
        release_picture(&history->moments[i].picture);
    }
    release_picture(&history->now);
    free(history);
}

static void
run_history(struct store_fixture *fixture, const char *name, uint64_t hot_count,
            uint64_t steps)
{
    struct history *history = begin_history(fixture, name, hot_count);

    for (uint64_t i = 0; i < steps; i++) {
        uint64_t choice = random_below(&history->random, 16);

        if (choice == 0)
            take_moment(
                history,
                &history->moments[random_below(&history->random, MOMENTS)]);
        else if (choice == 1)
            release_moment(
                &history->moments[random_below(&history->random, MOMENTS)]);
        else if (choice < 4)
            disturb(history);
        else if (choice < 9)
            write_rows(history, random_below(&history->random, 40));
        else
            ask(history);
    }
    end_history(history);
}

FIXTURE_TEST(finds_at_old_snapshots_return_the_rows_of_their_moment)
{
    run_history(fixture, "many rows", KEYS_MAX, random_runs(2000));
}

/* Each key has hundreds of versions, most of which a snapshot holds. */
FIXTURE_TEST(rows_of_many_versions_are_found_by_the_version_of_the_snapshot)
{
    run_history(fixture, "few rows", 12, random_runs(2000));
}

FIXTURE_TEST(finds_at_old_snapshots_of_a_universal_store_return_the_same)
{
    fixture->options.compaction = COLANDER_COMPACTION_UNIVERSAL;
    fixture_remake(fixture);
    run_history(fixture, "universal", KEYS_MAX, random_runs(1000));
}

/* The files that a find uses are replaced while it is under way. */
FIXTURE_TEST(finds_continue_over_compactions)
{
    struct history *history = begin_history(fixture, "going on", KEYS_MAX);
    struct asked asked[MOMENTS];

    for (uint64_t i = random_runs(2000) / 100; i > 0; i--) {
        change_filters(history);
        for (size_t k = 0; k < 3; k++) {
            write_rows(history, 400);
            OK(colander_family_flush(history->family, NULL));
        }
        write_rows(history, 20);
        OK(colander_family_await_filters(history->family, NULL));
        for (size_t k = 0; k < MOMENTS; k++) {
            take_moment(history, &history->moments[k]);
            begin_asking(history, &history->moments[k], &asked[k]);
            go_on_asking(&asked[k], random_below(&history->random, 40));
            write_rows(history, 10);
        }
        if (i % 4 == 0)
            spoil_filters(history);
        write_rows(history, 100);
        if (i % 2 == 0)
            OK(colander_family_compact(history->family, NULL));
        OK(colander_family_delete_range(history->family, NULL, NULL, NULL,
                                        NULL));
        for (uint64_t k = 0; k < KEYS_MAX; k++)
            colander_buffer_clear(&history->now.rows[k]);
        OK(colander_family_compact(history->family, NULL));
        for (size_t k = 0; k < MOMENTS; k++)
            end_asking(history, &asked[k]);
    }
    end_history(history);
}
