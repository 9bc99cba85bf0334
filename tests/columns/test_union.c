/*
 * Unions: read as one store that has the rows of all members.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/groups.h"
#include "columns/source.h"
#include "columns/union.h"
#include "support/compared_finds.h"

#include <pthread.h>

#define MEMBERS 4
#define KEYS 3000

/* A store, and the same rows in several. */
struct united {
    struct store_fixture whole;
    char directories[MEMBERS][TEMPORARY_SIZE];
    struct colander_store *members[MEMBERS];
    struct colander_store *all; /* their union */
};

static int
united_setup(void **state)
{
    static struct united united;
    const struct colander_options options = usual_options();
    struct store_fixture *whole = &united.whole;

    memset(&united, 0, sizeof(united));
    temporary_make(whole->directory);
    whole->options = options;
    fixture_open(whole);
    whole->builder = colander_row_builder_create();
    for (size_t i = 0; i < MEMBERS; i++) {
        temporary_make(united.directories[i]);
        OK(colander_store_open(united.directories[i], &options,
                               &united.members[i], NULL));
    }
    OK(colander_union_open("all", united.members, MEMBERS, &united.all, NULL));
    *state = &united;
    return 0;
}

static int
united_teardown(void **state)
{
    struct united *united = *state;

    OK(colander_store_close(united->all, NULL));
    for (size_t i = 0; i < MEMBERS; i++) {
        OK(colander_store_close(united->members[i], NULL));
        temporary_remove(united->directories[i]);
    }
    colander_row_builder_destroy(united->whole.builder);
    fixture_close(&united->whole);
    temporary_remove(united->whole.directory);
    return 0;
}

#define UNITED_TEST(name)                                                      \
    TEST_WITH(struct united *united, name, united_setup, united_teardown)

static size_t
member_of(uint64_t number)
{
    return number * 7 % 31 % MEMBERS;
}

/* Writes a row under the key `number`, or deletes it. */
static void
write_row(struct united *united, uint64_t number, struct colander_slice row)
{
    struct colander_store *stores[] = {united->whole.store,
                                       united->members[member_of(number)]};
    const struct colander_value part = colander_integer((int64_t)number);
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    OK(colander_key_encode(&part, 1, &key, NULL));
    for (size_t i = 0; i < COUNT(stores); i++) {
        SCOPED_FAMILY family = NULL;

        OK(colander_family_open(stores[i], "rows", &family, NULL));
        if (row.size == 0)
            OK(colander_family_delete(family, colander_buffer_slice(&key), NULL,
                                      NULL));
        else
            OK(colander_family_put(family, colander_buffer_slice(&key), row,
                                   NULL, NULL));
    }
}

/* Random rows; some are deleted, and most are in files. */
static void
fill(struct united *united, uint64_t *random)
{
    const struct colander_slice none = colander_slice_of(NULL, 0);

    for (uint64_t i = 0; i < 2 * KEYS; i++) {
        const uint64_t number = random_below(random, KEYS);

        if (random_below(random, 10) == 0)
            write_row(united, number, none);
        else
            write_row(united, number,
                      random_row(united->whole.builder, random));
        if (i % KEYS == 2000)
            for (size_t at = 0; at < MEMBERS; at++)
                OK(colander_store_flush(united->members[at], NULL));
    }
}

/* Asserts that both cursors have the same rows from here on. Returns their
 * number. */
static uint64_t
compare_cursors(struct colander_cursor *a, struct colander_cursor *b)
{
    struct colander_result one, other;
    uint64_t count = 0;

    while (next_row(a, &one)) {
        assert_true(next_row(b, &other));
        ASSERT_SAME(one.key, other.key);
        ASSERT_SAME(one.row, other.row);
        assert_int_equal(one.columns.count, other.columns.count);
        for (size_t i = 0; i < one.columns.count; i++)
            assert_string_equal(one.columns.paths[i], other.columns.paths[i]);
        count++;
    }
    assert_false(next_row(b, &other));
    return count;
}

static void
compare_matched(struct colander_cursor *a, struct colander_cursor *b)
{
    uint64_t counts[2];
    const char *paths[2];
    size_t count = 0;

    while (colander_cursor_matched(a, count, &paths[0], &counts[0])) {
        assert_true(colander_cursor_matched(b, count, &paths[1], &counts[1]));
        assert_string_equal(paths[0], paths[1]);
        assert_int_equal(counts[0], counts[1]);
        count++;
    }
    assert_false(colander_cursor_matched(b, count, &paths[1], &counts[1]));
}

static struct colander_family *
rows_of(struct colander_store *store)
{
    struct colander_family *family;

    OK(colander_family_open(store, "rows", &family, NULL));
    return family;
}

UNITED_TEST(random_finds_return_what_one_store_returns)
{
    uint64_t random = random_seed(__func__);
    SCOPED_FAMILY one = NULL;
    SCOPED_FAMILY all = NULL;
    uint64_t found = 0;

    fill(united, &random);
    one = rows_of(united->whole.store);
    all = rows_of(united->all);
    for (uint64_t run = random_runs(400); run > 0; run--) {
        static const char *const some_paths[] = {"likes", "place.city"};
        SCOPED_PREDICATE where = random_predicate(&random, 2);
        struct colander_buffer bounds[2] = {COLANDER_BUFFER_EMPTY,
                                            COLANDER_BUFFER_EMPTY};
        struct colander_query query = usual_query();
        struct colander_explain explain;
        SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
        SCOPED_CURSOR a = NULL;
        SCOPED_CURSOR b = NULL;
        uint64_t count;

        query.where = random_below(&random, 10) == 0 ? NULL : where;
        random_bounds(&random, KEYS, &query, bounds);
        query.reports_columns = random_below(&random, 2) == 0;
        query.keys_only = random_below(&random, 8) == 0;
        if (random_below(&random, 4) == 0) {
            query.paths = some_paths;
            query.path_count = COUNT(some_paths);
        }
        OK(colander_family_find(one, &query, &a, NULL));
        OK(colander_family_find(all, &query, &b, NULL));
        count = compare_cursors(a, b);
        found += count;
        compare_matched(a, b);
        colander_cursor_explain(b, &explain);
        assert_int_equal(explain.rows_returned, count);
        if (query.limit == UINT64_MAX)
            assert_counts_add_up(&explain);
        random_key(&random, KEYS, &key);
        OK(colander_cursor_seek(a, colander_buffer_slice(&key), NULL));
        OK(colander_cursor_seek(b, colander_buffer_slice(&key), NULL));
        (void)compare_cursors(a, b);
        colander_buffer_release(&bounds[0]);
        colander_buffer_release(&bounds[1]);
    }
    assert_true(found > 1000);
}

UNITED_TEST(orders_groups_and_times_are_those_of_one_store)
{
    uint64_t random = random_seed(__func__);
    static const char *const paths[] = {"likes", "user", "place.zip", "rare"};
    struct colander_store *stores[] = {united->whole.store, united->all};

    fill(united, &random);
    for (size_t i = 0; i < 2 * COUNT(paths); i++) {
        struct colander_group_key group = {.name = "v", .path = paths[i / 2]};
        struct colander_measure measures[] = {
            {.name = "n", .aggregate = COLANDER_COUNT},
            {.name = "least", .aggregate = COLANDER_MIN, .path = "likes"},
            {.name = "most", .aggregate = COLANDER_MAX, .path = "likes"},
        };
        struct colander_ordered *ordered[2];
        struct colander_groups *groups[2];
        struct colander_result rows[2];
        bool is_row[2] = {true, true};

        for (size_t at = 0; at < 2; at++) {
            SCOPED_FAMILY family = rows_of(stores[at]);
            struct colander_cursor *cursor = NULL;
            struct colander_grouping grouping;
            struct colander_order order;
            bool is_done;

            colander_order_init(&order);
            order.path = paths[i / 2];
            order.is_descending = i % 2 == 0;
            order.limit = 30;
            OK(colander_ordered_create(&order, &ordered[at], NULL));
            for (;;) {
                OK(colander_ordered_find(ordered[at], family, NULL, &cursor,
                                         &is_done, NULL));
                if (is_done)
                    break;
                while (!colander_ordered_is_sated(ordered[at]) &&
                       next_row(cursor, &rows[at]))
                    OK(colander_ordered_add(ordered[at], &rows[at], NULL));
            }
            colander_cursor_close(cursor);
            colander_grouping_init(&grouping);
            if (i > 0) { /* else the ends of columns, which orders know */
                grouping.keys = &group;
                grouping.key_count = 1;
            }
            grouping.measures = measures + (i == 0);
            grouping.measure_count = COUNT(measures) - (i == 0);
            OK(colander_groups_create(&grouping, &groups[at], NULL));
            OK(colander_family_group(family, NULL, groups[at], NULL, NULL));
        }
        while (is_row[0]) {
            for (size_t at = 0; at < 2; at++)
                OK(colander_ordered_next(ordered[at], &is_row[at], &rows[at],
                                         NULL));
            assert_int_equal(is_row[0], is_row[1]);
            if (is_row[0])
                ASSERT_SAME(rows[0].key, rows[1].key);
        }
        for (is_row[0] = true; is_row[0];) {
            struct colander_slice group_rows[2];

            for (size_t at = 0; at < 2; at++)
                OK(colander_groups_next(groups[at], &is_row[at],
                                        &group_rows[at], NULL));
            assert_int_equal(is_row[0], is_row[1]);
            if (is_row[0])
                ASSERT_SAME(group_rows[0], group_rows[1]);
        }
        for (size_t at = 0; at < 2; at++) {
            colander_ordered_destroy(ordered[at]);
            colander_groups_destroy(groups[at]);
        }
    }
}

UNITED_TEST(rows_are_read_by_key_from_the_member_that_has_them)
{
    uint64_t random = random_seed(__func__);
    enum { GETS = 50 };
    SCOPED_FAMILY one = NULL;
    SCOPED_FAMILY all = NULL;
    uint64_t found = 0;

    fill(united, &random);
    one = rows_of(united->whole.store);
    all = rows_of(united->all);
    for (uint64_t run = 0; run < 20; run++) {
        struct colander_buffer keys[GETS] = {COLANDER_BUFFER_EMPTY};
        struct colander_buffer rows[2][GETS] = {{COLANDER_BUFFER_EMPTY}};
        struct colander_slice slices[GETS];
        bool are_found[2][GETS];
        const size_t count = 1 + random_below(&random, GETS);

        for (size_t i = 0; i < count; i++) {
            random_key(&random, KEYS + 100, &keys[i]);
            slices[i] = colander_buffer_slice(&keys[i]);
        }
        OK(colander_family_get_many(one, slices, count, NULL, rows[0],
                                    are_found[0], NULL));
        OK(colander_family_get_many(all, slices, count, NULL, rows[1],
                                    are_found[1], NULL));
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(are_found[0][i], are_found[1][i]);
            ASSERT_SAME(colander_buffer_slice(&rows[0][i]),
                        colander_buffer_slice(&rows[1][i]));
            found += are_found[0][i];
            colander_buffer_release(&keys[i]);
            colander_buffer_release(&rows[0][i]);
            colander_buffer_release(&rows[1][i]);
        }
    }
    assert_true(found > 100);
}

UNITED_TEST(sizes_add_up_and_keys_split_in_order)
{
    uint64_t random = random_seed(__func__);
    struct colander_buffer keys[7] = {COLANDER_BUFFER_EMPTY};
    struct colander_family_sizes sizes;
    struct colander_names names;
    SCOPED_FAMILY all = rows_of(united->all);
    uint64_t count = 0;
    size_t found;

    assert_false(colander_family_exists(all));
    OK(colander_family_count(all, NULL, &count, NULL));
    assert_int_equal(count, 0);
    fill(united, &random);
    assert_true(colander_family_exists(all));
    for (size_t i = 0; i < MEMBERS; i++) {
        SCOPED_FAMILY family = rows_of(united->members[i]);

        OK(colander_family_compact(family, NULL));
        OK(colander_family_sizes(family, &sizes, NULL));
        assert_int_equal(sizes.sst_count, 1);
        count += sizes.key_count;
    }
    OK(colander_family_sizes(all, &sizes, NULL));
    assert_int_equal(sizes.sst_count, MEMBERS);
    assert_int_equal(sizes.key_count, count);
    OK(colander_family_split_keys(all, keys, COUNT(keys), &found, NULL));
    for (size_t i = 0; i < COUNT(keys); i++) {
        if (i > 0 && i < found)
            assert_true(
                colander_slice_compare(colander_buffer_slice(&keys[i - 1]),
                                       colander_buffer_slice(&keys[i])) < 0);
        colander_buffer_release(&keys[i]);
    }
    OK(colander_store_families(united->all, &names, NULL));
    assert_int_equal(names.count, 1);
    assert_string_equal(names.names[0], "rows");
    colander_names_release(&names);
}

UNITED_TEST(a_snapshot_has_those_of_all_members)
{
    uint64_t random = random_seed(__func__);
    SCOPED_SNAPSHOT snapshot = NULL;
    SCOPED_FAMILY all = rows_of(united->all);
    struct colander_query query = usual_query();
    uint64_t counts[3];

    fill(united, &random);
    OK(colander_family_count(all, NULL, &counts[0], NULL));
    OK(colander_store_snapshot(united->all, &snapshot, NULL));
    for (uint64_t i = 0; i < 50; i++)
        write_row(united, KEYS + i, random_row(united->whole.builder, &random));
    query.snapshot = snapshot;
    OK(colander_family_count(all, &query, &counts[1], NULL));
    OK(colander_family_count(all, NULL, &counts[2], NULL));
    assert_int_equal(counts[1], counts[0]);
    assert_int_equal(counts[2], counts[0] + 50);
}

UNITED_TEST(writes_are_refused_and_files_are_not_there)
{
    uint64_t random = random_seed(__func__);
    SCOPED_FAMILY all = rows_of(united->all);
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BATCH batch = NULL;
    struct colander_backup backup;
    struct colander_check check;
    struct colander_bulk *bulk;
    bool is_inserted;
    uint64_t count;

    fill(united, &random);
    random_key(&random, KEYS, &key);
    FAILS(colander_family_put(all, colander_buffer_slice(&key),
                              random_row(united->whole.builder, &random), NULL,
                              why()),
          COLANDER_READ_ONLY);
    assert_string_equal(error_text(), "store 'all' is open for reading only");
    FAILS(colander_family_insert(all, colander_buffer_slice(&key),
                                 random_row(united->whole.builder, &random),
                                 NULL, &is_inserted, NULL),
          COLANDER_READ_ONLY);
    FAILS(colander_family_patch(all, colander_buffer_slice(&key),
                                random_row(united->whole.builder, &random),
                                NULL, NULL),
          COLANDER_READ_ONLY);
    FAILS(colander_family_delete(all, colander_buffer_slice(&key), NULL, NULL),
          COLANDER_READ_ONLY);
    FAILS(colander_family_delete_range(all, NULL, NULL, &count, NULL),
          COLANDER_READ_ONLY);
    FAILS(colander_family_delete_found(all, NULL, NULL, &count, NULL),
          COLANDER_READ_ONLY);
    FAILS(colander_family_create(all, NULL), COLANDER_READ_ONLY);
    FAILS(colander_bulk_create(all, &bulk, NULL), COLANDER_READ_ONLY);
    OK(colander_batch_create(united->all, &batch, NULL));
    OK(colander_batch_delete(batch, all, colander_buffer_slice(&key), NULL));
    FAILS(colander_batch_commit(batch, NULL, NULL), COLANDER_READ_ONLY);
    FAILS(colander_store_flush(united->all, NULL), COLANDER_READ_ONLY);
    FAILS(colander_family_set_time_column(united->all, all, "at", NULL),
          COLANDER_READ_ONLY);
    FAILS(colander_family_drop(all, NULL), COLANDER_INVALID);
    FAILS(colander_family_rename(all, "other", NULL), COLANDER_INVALID);
    FAILS(colander_family_flush(all, NULL), COLANDER_INVALID);
    FAILS(colander_family_compact(all, NULL), COLANDER_INVALID);
    FAILS(colander_store_backup(united->all, united->directories[0], 0, &backup,
                                NULL),
          COLANDER_INVALID);
    memset(&check, 0, sizeof(check));
    FAILS(colander_store_check(united->all, &check, NULL, NULL, NULL),
          COLANDER_INVALID);
}

UNITED_TEST(a_find_is_cancelled_and_paused)
{
    uint64_t random = random_seed(__func__);
    SCOPED_FAMILY one = NULL;
    SCOPED_FAMILY all = NULL;
    SCOPED_CURSOR a = NULL;
    SCOPED_CURSOR b = NULL;
    struct colander_result row, wanted;
    bool is_row = true;

    fill(united, &random);
    one = rows_of(united->whole.store);
    all = rows_of(united->all);
    OK(colander_family_find(one, NULL, &a, NULL));
    OK(colander_family_find(all, NULL, &b, NULL));
    while (is_row) { /* it is paused between any two rows of any member */
        enum colander_code code;

        colander_cursor_pause(b, 1 + random_below(&random, 3));
        code = colander_cursor_next(b, &is_row, &row, NULL);
        if (code == COLANDER_BUSY) {
            colander_cursor_pause(b, 0);
            OK(colander_cursor_next(b, &is_row, &row, NULL));
        } else {
            OK(code);
        }
        assert_int_equal(next_row(a, &wanted), is_row);
        if (is_row)
            ASSERT_SAME(row.key, wanted.key);
    }
    colander_cursor_pause(b, 0);
    OK(colander_cursor_seek(b, colander_slice_of(NULL, 0), NULL));
    assert_true(next_row(b, &row));
    colander_cursor_cancel(b);
    FAILS(colander_cursor_next(b, &is_row, &row, NULL), COLANDER_CANCELLED);
}

/* Finds all rows again and again. */
static void *
read_all(void *context)
{
    struct united *united = context;
    struct colander_family *all = rows_of(united->all);

    for (unsigned i = 0; i < 300; i++) {
        uint64_t count;

        DID(colander_family_count(all, NULL, &count, why()));
        CLAIM(count == 10 || count == 20);
    }
    colander_family_close(all);
    return NULL;
}

UNITED_TEST(members_are_replaced_under_readers)
{
    uint64_t random = random_seed(__func__);
    SCOPED_FAMILY all = rows_of(united->all);
    SCOPED_CURSOR old = NULL;
    struct colander_result row;
    uint64_t written = 0;
    uint64_t count = 0;
    pthread_t reader;

    for (uint64_t number = 0; written < 20; number++) {
        const size_t member = member_of(number);

        if (member > 1)
            continue;
        if ((member == 0 ? count : written - count) == 10)
            continue;
        write_row(united, number, random_row(united->whole.builder, &random));
        count += member == 0;
        written++;
    }
    OK(colander_union_replace(united->all, united->members, 2, NULL));
    OK(colander_family_find(all, NULL, &old, NULL));
    ZERO(pthread_create(&reader, NULL, read_all, united));
    for (size_t i = 0; i < 1000; i++)
        OK(colander_union_replace(united->all, united->members + i % 2,
                                  1 + (i % 4 == 0), NULL));
    ZERO(pthread_join(reader, NULL));

    /* a cursor goes on with the members of its beginning, and holds them */
    OK(colander_union_replace(united->all, united->members + 2, 2, NULL));
    for (count = 0; next_row(old, &row); count++)
        continue;
    assert_int_equal(count, 20);
    FAILS(colander_store_close(united->members[0], NULL), COLANDER_BUSY);
    OK(colander_family_count(all, NULL, &count, NULL));
    assert_int_equal(count, 0);
}

UNITED_TEST(a_part_has_some_members_or_fails)
{
    uint64_t random = random_seed(__func__);
    const char *const ends[] = {strrchr(united->directories[1], '/') + 1,
                                strrchr(united->directories[3], '/') + 1};
    struct colander_store *part;
    struct colander_family *rows;
    uint64_t counts[3];

    fill(united, &random);
    OK(colander_union_open_part(united->all, ends, 2, &part, NULL));
    rows = rows_of(part);
    OK(colander_family_count(rows, NULL, &counts[0], NULL));
    for (size_t i = 0; i < 2; i++) {
        SCOPED_FAMILY family = rows_of(united->members[1 + 2 * i]);

        OK(colander_family_count(family, NULL, &counts[1 + i], NULL));
    }
    assert_int_equal(counts[0], counts[1] + counts[2]);
    assert_true(counts[1] > 0 && counts[2] > 0);
    OK(colander_union_replace(united->all, united->members, 3, NULL));
    FAILS(colander_family_count(rows, NULL, &counts[0], why()), COLANDER_BUSY);
    assert_non_null(strstr(error_text(), ends[1]));
    OK(colander_union_replace(united->all, united->members, 4, NULL));
    OK(colander_family_count(rows, NULL, &counts[0], NULL));
    assert_int_equal(counts[0], counts[1] + counts[2]);
    colander_family_close(rows);
    OK(colander_store_close(part, NULL));
}

/* A member that cannot be asked: */
static enum colander_code
no_find(void *context, const char *family, const struct colander_query *query,
        void **find, struct colander_error *err)
{
    (void)context;
    (void)family;
    (void)query;
    *find = NULL;
    return COLANDER_FAIL(err, COLANDER_BUSY, "it is away");
}

static enum colander_code
no_get(void *context, const char *family, const struct colander_slice *keys,
       size_t count, const struct colander_read *read,
       struct colander_buffer *rows, bool *found, struct colander_error *err)
{
    void *find;

    (void)keys;
    (void)count;
    (void)read;
    (void)rows;
    (void)found;
    return no_find(context, family, NULL, &find, err);
}

static enum colander_code
is_there(void *context, const char *family, bool *exists,
         struct colander_error *err)
{
    (void)context;
    (void)family;
    (void)err;
    *exists = true;
    return COLANDER_OK;
}

static enum colander_code
no_sizes(void *context, const char *family, struct colander_family_sizes *sizes,
         struct colander_error *err)
{
    (void)context;
    (void)family;
    (void)err;
    memset(sizes, 0, sizeof(*sizes));
    return COLANDER_OK;
}

static void
keep_context(void *context)
{
    (void)context;
}

static struct colander_store *
open_away(const char *path)
{
    const struct colander_source source = {.name = path,
                                           .closed = keep_context,
                                           .exists = is_there,
                                           .sizes = no_sizes,
                                           .get_many = no_get,
                                           .find = no_find};
    struct colander_store *store;

    OK(colander_store_open_source(&source, &store, NULL));
    return store;
}

static size_t
count_missing(struct colander_store *view, const char *last)
{
    struct colander_names names;
    size_t count;

    OK(colander_union_missing(view, &names, NULL));
    count = names.count;
    if (count > 0)
        assert_string_equal(names.names[count - 1], last);
    colander_names_release(&names);
    return count;
}

UNITED_TEST(a_view_goes_on_without_members_that_cannot_be_asked)
{
    const struct colander_union_view how = {.is_partial = true};
    struct colander_store *others = open_away("node other/0000 other/0001");
    struct colander_store *away =
        open_away("node other/0002 rows/0001 rows.1/0004");
    struct colander_store *stores[] = {others, united->members[0], away};
    uint64_t random = random_seed(__func__);
    struct colander_store *view;
    struct colander_family *rows;
    struct colander_family *whole;
    struct colander_family *first;
    uint64_t count;
    uint64_t wanted;

    fill(united, &random);
    first = rows_of(united->members[0]);
    OK(colander_family_count(first, NULL, &wanted, NULL));
    OK(colander_union_replace(united->all, stores, 3, NULL));
    whole = rows_of(united->all);
    FAILS(colander_family_count(whole, NULL, &count, why()), COLANDER_BUSY);
    assert_non_null(
        strstr(error_text(), "other/0002 rows/0001 rows.1/0004: it is away"));
    OK(colander_union_open_view(united->all, &how, &view, NULL));
    assert_true(colander_store_is_union(view));
    assert_false(colander_store_is_union(united->members[0]));
    assert_int_equal(count_missing(view, ""), 0);
    rows = rows_of(view);
    OK(colander_family_count(rows, NULL, &count, NULL));
    assert_int_equal(count, wanted);
    assert_int_equal(count_missing(view, "rows/0001"), 2);

    /* it is not asked for families of others */
    stores[2] = others;
    OK(colander_union_replace(united->all, stores, 3, NULL));
    OK(colander_family_count(whole, NULL, &count, NULL));
    assert_int_equal(count, wanted);
    OK(colander_union_replace(united->all, united->members, MEMBERS, NULL));
    colander_family_close(rows);
    colander_family_close(whole);
    colander_family_close(first);
    OK(colander_store_close(view, NULL));
    OK(colander_store_close(away, NULL));
    OK(colander_store_close(others, NULL));
}

UNITED_TEST(a_fixed_view_ends_with_its_members)
{
    const struct colander_union_view how = {.is_fixed = true};
    struct colander_store *view;
    struct colander_family *rows;
    uint64_t random = random_seed(__func__);
    uint64_t count;

    fill(united, &random);
    OK(colander_union_open_view(united->all, &how, &view, NULL));
    rows = rows_of(view);
    OK(colander_union_replace(united->all, united->members, MEMBERS, NULL));
    OK(colander_family_count(rows, NULL, &count, NULL));
    OK(colander_union_replace(united->all, united->members, 3, NULL));
    FAILS(colander_family_count(rows, NULL, &count, why()), COLANDER_BUSY);
    assert_non_null(strstr(error_text(), "have moved meanwhile"));
    OK(colander_union_replace(united->all, united->members, MEMBERS, NULL));
    FAILS(colander_family_count(rows, NULL, &count, NULL), COLANDER_BUSY);
    colander_family_close(rows);
    OK(colander_store_close(view, NULL));
}

/* ------------------------------------------------ a member that is slow --- */

/* A member that answers when it may. */
struct slow {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_asked;
    bool may_answer;
    struct colander_store *all;
};

static enum colander_code
answer_late(void *context, const char *family, bool *exists,
            struct colander_error *err)
{
    struct slow *slow = context;

    pthread_mutex_lock(&slow->mutex);
    slow->is_asked = true;
    pthread_cond_broadcast(&slow->changed);
    while (!slow->may_answer)
        pthread_cond_wait(&slow->changed, &slow->mutex);
    pthread_mutex_unlock(&slow->mutex);
    *exists = true;
    return COLANDER_OK;
}

static void
keep_slow(void *context)
{
    (void)context;
}

static void *
ask_slow(void *context)
{
    SCOPED_FAMILY family = NULL;

    DID(colander_family_open(((struct slow *)context)->all, "none", &family,
                             NULL));
    CLAIM(colander_family_exists(family));
    return NULL;
}

UNITED_TEST(members_are_replaced_while_one_does_not_answer)
{
    struct slow slow = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                        .changed = PTHREAD_COND_INITIALIZER,
                        .all = united->all};
    const struct colander_source source = {.context = &slow,
                                           .name = "slow",
                                           .closed = keep_slow,
                                           .exists = answer_late};
    struct colander_store *members[2] = {united->members[0], NULL};
    pthread_t thread;

    OK(colander_store_open_source(&source, &members[1], NULL));
    OK(colander_union_replace(united->all, members, 2, NULL));
    ZERO(pthread_create(&thread, NULL, ask_slow, &slow));
    pthread_mutex_lock(&slow.mutex);
    while (!slow.is_asked)
        pthread_cond_wait(&slow.changed, &slow.mutex);
    pthread_mutex_unlock(&slow.mutex);
    OK(colander_union_replace(united->all, united->members, MEMBERS, NULL));
    FAILS(colander_store_close(members[1], NULL), COLANDER_BUSY);
    pthread_mutex_lock(&slow.mutex);
    slow.may_answer = true;
    pthread_cond_broadcast(&slow.changed);
    pthread_mutex_unlock(&slow.mutex);
    ZERO(pthread_join(thread, NULL));
    OK(colander_store_close(members[1], NULL));
}
