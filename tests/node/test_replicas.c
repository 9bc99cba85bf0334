/*
 * Replicas: what the first place cannot answer is asked of the second, once,
 * and nothing is answered twice or in part.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/group_bytes.h"
#include "columns/source.h"
#include "core/clock.h"
#include "node/replicas.h"
#include "support/compared_finds.h"

#include <stdatomic.h>

#define ROWS 1000

/* A place that has the rows of a store, and may fail. */
enum behaviour { FINE, DOWN, CUT, SILENT, WRONG, DAMAGED };

struct flaky {
    struct colander_store *store;
    enum behaviour behaviour;
    uint64_t rows; /* before it is cut off */
    atomic_uint asked;
};

struct flaky_find {
    struct flaky *flaky;
    struct colander_family *family;
    struct colander_cursor *cursor;
    uint64_t rows;
    uint64_t pause_us;
    atomic_bool is_cancelled;
};

static enum colander_code
try(struct flaky *flaky, const char *family, struct colander_family **opened,
    struct colander_error *err)
{
    *opened = NULL;
    flaky->asked++;
    if (flaky->behaviour == DOWN || flaky->behaviour == CUT)
        return COLANDER_FAIL(err, COLANDER_BUSY, "it is down");
    if (flaky->behaviour == WRONG)
        return COLANDER_FAIL(err, COLANDER_INVALID, "it is wrong");
    if (flaky->behaviour == DAMAGED)
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "it is damaged");
    return colander_family_open(flaky->store, family, opened, err);
}

static enum colander_code
flaky_families(void *context, struct colander_names *names,
               struct colander_error *err)
{
    SCOPED_FAMILY family = NULL;
    const enum colander_code code = try(context, "rows", &family, err);

    return code == COLANDER_OK
               ? colander_store_families(((struct flaky *)context)->store,
                                         names, err)
               : code;
}

static enum colander_code
flaky_snapshot(void *context, struct colander_snapshot **snapshot,
               struct colander_error *err)
{
    *snapshot = NULL;
    return COLANDER_OK;
}

static enum colander_code
flaky_exists(void *context, const char *name, bool *exists,
             struct colander_error *err)
{
    SCOPED_FAMILY family = NULL;
    const enum colander_code code = try(context, name, &family, err);

    *exists = code == COLANDER_OK && colander_family_exists(family);
    return code;
}

static enum colander_code
flaky_sizes(void *context, const char *name,
            struct colander_family_sizes *sizes, struct colander_error *err)
{
    SCOPED_FAMILY family = NULL;
    const enum colander_code code = try(context, name, &family, err);

    return code == COLANDER_OK ? colander_family_sizes(family, sizes, err)
                               : code;
}

static enum colander_code
flaky_split(void *context, const char *name, struct colander_buffer *keys,
            size_t count, size_t *found, struct colander_error *err)
{
    SCOPED_FAMILY family = NULL;
    const enum colander_code code = try(context, name, &family, err);

    return code == COLANDER_OK
               ? colander_family_split_keys(family, keys, count, found, err)
               : code;
}

static enum colander_code
flaky_mark(void *context, const char *name, struct colander_slice mark,
           struct colander_buffer *value, bool *found,
           struct colander_error *err)
{
    SCOPED_FAMILY family = NULL;
    const enum colander_code code = try(context, name, &family, err);

    return code == COLANDER_OK
               ? colander_family_mark(family, mark, value, found, err)
               : code;
}

static enum colander_code
flaky_get(void *context, const char *name, const struct colander_slice *keys,
          size_t count, const struct colander_read *read,
          struct colander_buffer *rows, bool *found, struct colander_error *err)
{
    SCOPED_FAMILY family = NULL;
    const enum colander_code code = try(context, name, &family, err);

    return code == COLANDER_OK
               ? colander_family_get_many(family, keys, count, read, rows,
                                          found, err)
               : code;
}

static enum colander_code
flaky_find(void *context, const char *name, const struct colander_query *query,
           void **opened, struct colander_error *err)
{
    struct flaky *flaky = context;
    struct flaky_find *find = calloc(1, sizeof(*find));

    assert_non_null(find);
    flaky->asked++;
    find->flaky = flaky;
    OK(colander_family_open(flaky->store, name, &find->family, why()));
    OK(colander_family_find(find->family, query, &find->cursor, why()));
    *opened = find;
    return COLANDER_OK;
}

static enum colander_code
flaky_next(void *context, bool *is_row, struct colander_result *row,
           struct colander_error *err)
{
    struct flaky_find *find = context;

    *is_row = false;
    while (find->flaky->behaviour == SILENT) {
        if (atomic_load(&find->is_cancelled))
            return COLANDER_FAIL(err, COLANDER_CANCELLED, "cancelled");
        if (find->pause_us != 0 && clock_us() >= find->pause_us)
            return COLANDER_FAIL(err, COLANDER_BUSY, "paused");
        (void)usleep(100);
    }
    if (find->flaky->behaviour == DOWN ||
        (find->flaky->behaviour == CUT && find->rows == find->flaky->rows))
        return COLANDER_FAIL(err, COLANDER_BUSY, "it is cut off");
    if (find->flaky->behaviour == WRONG)
        return COLANDER_FAIL(err, COLANDER_INVALID, "it is wrong");
    if (find->flaky->behaviour == DAMAGED)
        return COLANDER_FAIL(err, COLANDER_CORRUPT, "it is damaged");
    find->rows++;
    return colander_cursor_next(find->cursor, is_row, row, err);
}

static enum colander_code
flaky_seek(void *context, struct colander_slice key, struct colander_error *err)
{
    return colander_cursor_seek(((struct flaky_find *)context)->cursor, key,
                                err);
}

static void
flaky_cancel(void *context)
{
    atomic_store(&((struct flaky_find *)context)->is_cancelled, true);
}

static void
flaky_pause(void *context, uint64_t time_us)
{
    ((struct flaky_find *)context)->pause_us =
        time_us == 0 ? 0 : clock_us() + time_us;
}

static void
flaky_explain(const void *context, struct colander_explain *explain)
{
    colander_cursor_explain(((const struct flaky_find *)context)->cursor,
                            explain);
}

static void
flaky_close(void *context)
{
    struct flaky_find *find = context;

    colander_cursor_close(find->cursor);
    colander_family_close(find->family);
    free(find);
}

static void
keep(void *context)
{
    (void)context;
}

static struct colander_store *
open_flaky(struct flaky *flaky, const char *name)
{
    const struct colander_source source = {
        .context = flaky,
        .name = name,
        .closed = keep,
        .families = flaky_families,
        .snapshot = flaky_snapshot,
        .exists = flaky_exists,
        .sizes = flaky_sizes,
        .split_keys = flaky_split,
        .mark = flaky_mark,
        .get_many = flaky_get,
        .find = flaky_find,
        .find_next = flaky_next,
        .find_seek = flaky_seek,
        .find_cancel = flaky_cancel,
        .find_pause = flaky_pause,
        .find_explain = flaky_explain,
        .find_close = flaky_close,
    };
    struct colander_store *store;

    OK(colander_store_open_source(&source, &store, why()));
    return store;
}

/* ----------------------------------------------------------- two places --- */

struct pair {
    struct store_fixture fixture;
    struct flaky places[2];
    struct colander_store *stores[2];
    struct colander_store *both;
    struct colander_family *rows; /* of both */
};

static int
pair_setup(void **state)
{
    static struct pair pair;
    SCOPED_FAMILY family = NULL;

    memset(&pair, 0, sizeof(pair));
    temporary_make(pair.fixture.directory);
    pair.fixture.options = usual_options();
    fixture_open(&pair.fixture);
    pair.fixture.builder = colander_row_builder_create();
    OK(colander_family_open(pair.fixture.store, "rows", &family, why()));
    for (int64_t i = 0; i < ROWS; i++) {
        struct colander_slice row;

        colander_row_builder_add(pair.fixture.builder, "n",
                                 colander_integer(i));
        OK(colander_row_builder_finish(pair.fixture.builder, &row, why()));
        put_at(family, i, row);
    }
    for (size_t i = 0; i < 2; i++) {
        pair.places[i].store = pair.fixture.store;
        pair.stores[i] = open_flaky(&pair.places[i], i == 0 ? "one" : "two");
    }
    OK(replicas_open(pair.stores[0], pair.stores[1], &pair.both, why()));
    OK(colander_family_open(pair.both, "rows", &pair.rows, why()));
    *state = &pair;
    return 0;
}

static int
pair_teardown(void **state)
{
    struct pair *pair = *state;

    colander_family_close(pair->rows);
    OK(colander_store_close(pair->both, why()));
    for (size_t i = 0; i < 2; i++)
        OK(colander_store_close(pair->stores[i], why()));
    colander_row_builder_destroy(pair->fixture.builder);
    fixture_close(&pair->fixture);
    temporary_remove(pair->fixture.directory);
    return 0;
}

#define PAIR_TEST(name)                                                        \
    TEST_WITH(struct pair *pair, name, pair_setup, pair_teardown)

/* Reads all rows; returns how it ends. */
static enum colander_code
read_all(struct pair *pair, uint64_t *count, struct colander_explain *explain)
{
    struct colander_cursor *cursor;
    struct colander_result row;
    bool is_row = true;
    enum colander_code code =
        colander_family_find(pair->rows, NULL, &cursor, why());

    for (*count = 0; code == COLANDER_OK && is_row; *count += is_row)
        code = colander_cursor_next(cursor, &is_row, &row, why());
    if (cursor != NULL)
        colander_cursor_explain(cursor, explain);
    colander_cursor_close(cursor);
    return code;
}

PAIR_TEST(a_find_that_fails_before_its_first_row_is_asked_of_the_second)
{
    struct colander_explain explain;
    uint64_t count;

    OK(read_all(pair, &count, &explain));
    assert_int_equal(count, ROWS);
    assert_int_equal(explain.nodes_asked_again, 0);
    assert_int_equal(pair->places[1].asked, 0);
    pair->places[0].behaviour = DOWN;
    OK(read_all(pair, &count, &explain));
    assert_int_equal(count, ROWS);
    assert_int_equal(explain.nodes_asked_again, 1);
    assert_int_equal(pair->places[0].asked, 2);
    assert_int_equal(pair->places[1].asked, 1);
    OK(read_all(pair, &count, &explain)); /* the first is a suspect now */
    assert_int_equal(count, ROWS);
    assert_int_equal(pair->places[0].asked, 2);
    pair->places[0].behaviour = FINE;
    pair->places[1].behaviour = DOWN; /* asked last, but asked */
    OK(read_all(pair, &count, &explain));
    assert_int_equal(count, ROWS);
    assert_int_equal(pair->places[0].asked, 3);
    pair->places[0].behaviour = DOWN;
    assert_int_equal(read_all(pair, &count, &explain), COLANDER_BUSY);
    assert_int_equal(count, 0);
    assert_int_equal(pair->places[0].asked, 4);
}

PAIR_TEST(a_find_that_is_cut_off_after_a_row_is_an_error)
{
    struct colander_explain explain;
    uint64_t count;

    pair->places[0].behaviour = CUT;
    for (pair->places[0].rows = 1; pair->places[0].rows < 5;
         pair->places[0].rows++) {
        assert_int_equal(read_all(pair, &count, &explain), COLANDER_BUSY);
        assert_int_equal(count, pair->places[0].rows);
        assert_int_equal(pair->places[1].asked, 0);
    }
}

PAIR_TEST(a_mistake_is_not_asked_twice)
{
    struct colander_explain explain;
    struct colander_family_sizes sizes;
    uint64_t count;

    pair->places[0].behaviour = WRONG;
    assert_int_equal(read_all(pair, &count, &explain), COLANDER_INVALID);
    FAILS(colander_family_sizes(pair->rows, &sizes, why()), COLANDER_INVALID);
    assert_int_equal(pair->places[1].asked, 0);
}

PAIR_TEST(whatever_is_asked_is_asked_of_the_second)
{
    struct colander_buffer keys[3] = {COLANDER_BUFFER_EMPTY};
    struct colander_names names = {NULL, 0};
    struct colander_family_sizes sizes;
    struct colander_key key;
    const struct colander_value part = colander_integer(7);
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER value = COLANDER_BUFFER_EMPTY;
    size_t split;
    bool found;

    for (unsigned i = 0; i < 4; i++) {
        pair->places[i % 2].behaviour = i < 2 ? DOWN : DAMAGED;
        pair->places[1 - i % 2].behaviour = FINE;
        OK(colander_family_get(pair->rows, colander_key_of(&key, &part, 1),
                               NULL, &row, &found, why()));
        assert_true(found);
        assert_true(colander_family_exists(pair->rows));
        OK(colander_family_sizes(pair->rows, &sizes, why()));
        assert_true(sizes.key_count > 0);
        OK(colander_family_split_keys(pair->rows, keys, COUNT(keys), &split,
                                      why()));
        OK(colander_family_mark(pair->rows, colander_slice_text("no"), &value,
                                &found, why()));
        assert_false(found);
        OK(colander_store_families(pair->both, &names, why()));
        assert_int_equal(names.count, 1);
        colander_names_release(&names);
    }
    pair->places[0].behaviour = DOWN;
    pair->places[1].behaviour = DOWN;
    FAILS(colander_family_get(pair->rows, colander_key_of(&key, &part, 1), NULL,
                              &row, &found, why()),
          COLANDER_BUSY);
    for (size_t i = 0; i < COUNT(keys); i++)
        colander_buffer_release(&keys[i]);
}

PAIR_TEST(groups_that_are_cut_off_are_not_counted_twice)
{
    uint64_t count;

    pair->places[0].behaviour = CUT;
    pair->places[0].rows = ROWS / 2;
    OK(colander_family_count(pair->rows, NULL, &count, why()));
    assert_int_equal(count, ROWS);
    pair->places[1].behaviour = CUT;
    FAILS(colander_family_count(pair->rows, NULL, &count, why()),
          COLANDER_BUSY);
}

PAIR_TEST(a_first_place_that_is_late_is_not_waited_for_but_rarely_asked_twice)
{
    struct colander_explain explain;
    uint64_t count;
    unsigned twice = 0;

    pair->places[0].behaviour = SILENT;
    OK(read_all(pair, &count, &explain));
    assert_int_equal(count, ROWS);
    assert_int_equal(explain.nodes_asked_again, 1);
    for (int i = 0; i < 20; i++) {
        OK(read_all(pair, &count, &explain));
        assert_int_equal(count, ROWS);
        twice += explain.nodes_asked_again > 0;
    }
    assert_true(twice < 5); /* it is a suspect */
}

/* What comes first has read all rows: so it is late, and to ask twice is work
 * done twice. */
PAIR_TEST(a_find_with_functions_is_asked_twice_only_if_it_fails)
{
    struct colander_query query = usual_query();
    struct colander_cursor *cursor;
    struct colander_result row;
    bool is_row = true;
    uint64_t count = 0;

    query.map = "function(row) return 1 end";
    query.reduce = "function(a, b) return a + b end";
    pair->places[0].behaviour = SILENT;
    OK(colander_family_find(pair->rows, &query, &cursor, why()));
    for (int i = 0; i < 5; i++) {
        colander_cursor_pause(cursor, 100000);
        FAILS(colander_cursor_next(cursor, &is_row, &row, why()),
              COLANDER_BUSY);
    }
    assert_int_equal(pair->places[1].asked, 0);
    pair->places[0].behaviour = DOWN;
    colander_cursor_pause(cursor, 0);
    for (is_row = true; is_row; count += is_row)
        OK(colander_cursor_next(cursor, &is_row, &row, why()));
    assert_int_equal(count, ROWS);
    assert_int_equal(pair->places[1].asked, 1);
    colander_cursor_close(cursor);
}

PAIR_TEST(a_find_that_waits_for_two_places_can_be_paused_and_cancelled)
{
    struct colander_cursor *cursor;
    struct colander_result row;
    uint64_t count = 0;
    bool is_row = true;

    for (size_t i = 0; i < 2; i++)
        pair->places[i].behaviour = SILENT;
    OK(colander_family_find(pair->rows, NULL, &cursor, why()));
    for (int i = 0; i < 3; i++) {
        colander_cursor_pause(cursor, 100000);
        FAILS(colander_cursor_next(cursor, &is_row, &row, why()),
              COLANDER_BUSY);
    }
    assert_int_equal(pair->places[1].asked, 1);
    pair->places[1].behaviour = FINE;
    colander_cursor_pause(cursor, 0);
    for (is_row = true; is_row; count += is_row)
        OK(colander_cursor_next(cursor, &is_row, &row, why()));
    assert_int_equal(count, ROWS);
    colander_cursor_close(cursor);

    pair->places[1].behaviour = SILENT;
    OK(colander_family_find(pair->rows, NULL, &cursor, why()));
    colander_cursor_cancel(cursor);
    FAILS(colander_cursor_next(cursor, &is_row, &row, why()),
          COLANDER_CANCELLED);
    colander_cursor_close(cursor);
}

PAIR_TEST(a_seek_holds_in_the_second_place)
{
    struct colander_cursor *cursor;
    struct colander_result row;
    struct colander_key key;
    const struct colander_value part = colander_integer(ROWS - 3);
    bool is_row = true;
    uint64_t count = 0;

    OK(colander_family_find(pair->rows, NULL, &cursor, why()));
    OK(colander_cursor_seek(cursor, colander_key_of(&key, &part, 1), why()));
    pair->places[0].behaviour = DOWN;
    for (; is_row; count += is_row)
        OK(colander_cursor_next(cursor, &is_row, &row, why()));
    assert_int_equal(count, 3);
    OK(colander_cursor_seek(cursor, colander_key_of(&key, &part, 1), why()));
    for (count = 0, is_row = true; is_row; count += is_row)
        OK(colander_cursor_next(cursor, &is_row, &row, why()));
    assert_int_equal(count, 3);
    colander_cursor_close(cursor);
}
