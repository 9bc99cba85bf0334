/*
 * A store with value filters while memory is short: each allocation of a step
 * fails in turn, in whatever thread it is made. A step that says NO_MEMORY has
 * changed nothing; whatever it says, finds give what scans give, and the store
 * opens again.
 *
 * The linker sends every allocation of this program here: see CMakeLists.txt.
 * Those of RocksDB do not fail: it would end the process.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/filters.h"

#include "support/compared_finds.h"

#include <stdatomic.h>

#define KEY_COUNT 60
#define VALUE_COUNT 300 /* more than fit without an allocation */
#define FIND_COUNT 3    /* that are compared after each step */

static atomic_long allocations_left = -1; /* below 0: none fails */
static atomic_bool memory_is_gone; /* all fail behind the first that does */
static atomic_bool has_failed;     /* one */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t line, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t line, size_t size);

static bool
allocation_fails(void)
{
    const long left = atomic_load(&allocations_left);

    if (left < 0)
        return false;
    if (!(left == 0 && atomic_load(&memory_is_gone)) &&
        atomic_fetch_sub(&allocations_left, 1) != 0)
        return false;
    atomic_store(&has_failed, true);
    return true;
}

void *
__wrap_malloc(size_t size)
{
    return allocation_fails() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
    return allocation_fails() ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *memory, size_t size)
{
    return allocation_fails() ? NULL : __real_realloc(memory, size);
}

void *
__wrap_aligned_alloc(size_t line, size_t size)
{
    return allocation_fails() ? NULL : __real_aligned_alloc(line, size);
}

/* ---------------------------------------------------------------- store --- */

struct memory_fixture {
    struct store_fixture *store;
    struct colander_family *family;
    uint64_t random;
    struct find_counts counts;

    /* of a step that puts a row */
    struct colander_buffer key;
    struct colander_slice row; /* the builder's */
    int64_t number;            /* in it, and in no other */
    struct colander_buffer before;
    bool is_before; /* a row was there */

    /* of one that finds rows */
    const struct colander_predicate *where;
    uint64_t found;
    uint64_t expected;
};

static int
setup(void **state)
{
    struct memory_fixture *it = calloc(1, sizeof(*it));

    OK(fixture_setup((void **)&it->store));
    it->family = fixture_family(it->store, "f");
    it->random = random_seed("store memory");
    *state = it;
    return 0;
}

static int
teardown(void **state)
{
    struct memory_fixture *it = *state;
    int result;

    colander_buffer_release(&it->key);
    colander_buffer_release(&it->before);
    colander_family_close(it->family);
    result = fixture_teardown((void **)&it->store);
    free(it);
    return result;
}

/* Puts so many random rows. */
static void
put_rows(struct memory_fixture *it, uint64_t count)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;

    while (count-- > 0) {
        random_key(&it->random, KEY_COUNT, &key);
        OK(colander_family_put(it->family, colander_buffer_slice(&key),
                               random_row(it->store->builder, &it->random),
                               COLANDER_AS_STORE, NULL));
    }
    colander_buffer_release(&key);
}

static void
reopen(struct memory_fixture *it)
{
    colander_family_close(it->family);
    fixture_reopen(it->store, COLANDER_OPEN_EXISTING);
    it->family = fixture_family(it->store, "f");
}

static void
assert_finds_are_right(struct memory_fixture *it)
{
    compare_random_finds(it->store->store, it->family, KEY_COUNT, FIND_COUNT,
                         &it->random, &it->counts);
}

/* ---------------------------------------------------------------- steps --- */

/* What fails, between what is done and what is looked at while there is memory.
 * `prepare` and `check` may be NULL. */
struct step {
    void (*prepare)(struct memory_fixture *it);
    enum colander_code (*take)(struct memory_fixture *it,
                               struct colander_error *err);
    void (*check)(struct memory_fixture *it, enum colander_code code);
};

/* Takes the step, of which so many allocations succeed; whether one failed. */
static bool
take(struct memory_fixture *it, const struct step *step, long allocations)
{
    struct colander_error err = {.code = COLANDER_OK};
    enum colander_code code;

    if (step->prepare != NULL)
        step->prepare(it);
    atomic_store(&has_failed, false);
    atomic_store(&allocations_left, allocations);
    code = step->take(it, &err);
    atomic_store(&allocations_left, -1);
    if (code != COLANDER_OK &&
        (code != COLANDER_NO_MEMORY || !atomic_load(&has_failed)))
        fail_msg("allocation %ld: %s", allocations, err.message);
    if (step->check != NULL)
        step->check(it, code);
    assert_finds_are_right(it);
    return atomic_load(&has_failed);
}

/*
 * Takes the step with the first allocation failing, then with the second, until
 * none is left that could; and once more, with all that come later failing as
 * well. Gives how many there were. Filters and hierarchies are no part of what
 * was asked for: the step may do without, and say OK.
 */
static long
failures_of(struct memory_fixture *it, const struct step *step)
{
    long failed = 0;

    atomic_store(&memory_is_gone, true);
    while (take(it, step, failed))
        failed++;
    atomic_store(&memory_is_gone, false);
    for (failed = 0; take(it, step, failed);)
        failed++;
    return failed;
}

/* --------------------------------------------------------------- writes --- */

/* A row of many values is to be put where perhaps another is. */
static void
prepare_put(struct memory_fixture *it)
{
    struct colander_row_builder *builder = it->store->builder;

    it->number++;
    random_key(&it->random, KEY_COUNT, &it->key);
    colander_row_builder_begin_array(builder, "many");
    for (int64_t i = 0; i < VALUE_COUNT; i++)
        colander_row_builder_add(builder, NULL, colander_integer(i));
    colander_row_builder_end(builder);
    it->row = fixture_row(it->store, "number", colander_integer(it->number));
    OK(colander_family_get(it->family, colander_buffer_slice(&it->key), NULL,
                           &it->before, &it->is_before, NULL));
}

static enum colander_code
put(struct memory_fixture *it, struct colander_error *err)
{
    return colander_family_put(it->family, colander_buffer_slice(&it->key),
                               it->row, COLANDER_AS_STORE, err);
}

static enum colander_code
commit(struct memory_fixture *it, struct colander_error *err)
{
    const struct colander_slice key = colander_buffer_slice(&it->key);
    struct colander_batch *batch = NULL;
    enum colander_code code;

    code = colander_batch_create(it->store->store, &batch, err);
    if (code == COLANDER_OK)
        code = colander_batch_delete(batch, it->family, key, err);
    if (code == COLANDER_OK)
        code = colander_batch_patch(batch, it->family, key, it->row, err);
    if (code == COLANDER_OK)
        code = colander_batch_commit(batch, COLANDER_AS_STORE, err);
    colander_batch_destroy(batch);
    return code;
}

/* The row is there, and found by its value; or nothing has changed. */
static void
check_put(struct memory_fixture *it, enum colander_code code)
{
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    const bool is_put = code == COLANDER_OK;
    bool is_there;

    OK(colander_family_get(it->family, colander_buffer_slice(&it->key), NULL,
                           &row, &is_there, NULL));
    assert_int_equal(is_there, is_put || it->is_before);
    assert_true(colander_slice_equal(
        colander_buffer_slice(&row),
        is_put ? it->row : colander_buffer_slice(&it->before)));
    assert_int_equal(count_equal(it->store, it->family, "number", it->number),
                     is_put);
    colander_buffer_release(&row);
}

static void
a_write_is_whole_or_has_changed_nothing(void **state)
{
    const struct step puts = {prepare_put, put, check_put};
    const struct step commits = {prepare_put, commit, check_put};
    struct memory_fixture *it = *state;

    put_rows(it, KEY_COUNT);
    assert_true(failures_of(it, &puts) >= 1);
    assert_true(failures_of(it, &commits) >= 1);
}

/* ---------------------------------------------------------------- finds --- */

static enum colander_code
find(struct memory_fixture *it, struct colander_error *err)
{
    struct colander_query query;

    colander_query_init(&query);
    query.where = it->where;
    query.tells_columns = true;
    return colander_family_count(it->family, &query, &it->found, err);
}

static void
check_find(struct memory_fixture *it, enum colander_code code)
{
    if (code == COLANDER_OK)
        assert_int_equal(it->found, it->expected);
}

static void
a_find_gives_all_rows_or_none(void **state)
{
    const struct step step = {NULL, find, check_find};
    const struct colander_value one = colander_integer(1);
    struct memory_fixture *it = *state;
    struct colander_predicate *both[2];
    struct colander_predicate *questions[6];

    for (size_t i = 0; i < 4; i++) {
        put_rows(it, KEY_COUNT / 2);
        if (i < 3)
            OK(colander_family_flush(it->family, NULL));
    }
    OK(colander_family_await_filters(it->family, NULL));
    both[0] = colander_where("likes", COLANDER_LT, colander_integer(9), NULL);
    both[1] = colander_where_any(colander_boolean(true), NULL);
    questions[0] = colander_where("likes", COLANDER_EQ, one, NULL);
    questions[1] = colander_where_any(one, NULL);
    questions[2] = colander_where_prefix("user", colander_text("a"), NULL);
    questions[3] = colander_where_exists("place.city", NULL);
    questions[4] = colander_where("tags[]", COLANDER_GE, one, NULL);
    questions[5] = colander_all_of(both, 2, NULL);
    for (size_t i = 0; i < 6; i++) {
        struct colander_error err;

        it->where = questions[i];
        OK(find(it, &err));
        it->expected = it->found;
        assert_true(failures_of(it, &step) >= 3);
        colander_predicate_destroy(questions[i]);
    }
}

/* ---------------------------------------------------------------- files --- */

static void
prepare_flush(struct memory_fixture *it)
{
    put_rows(it, KEY_COUNT);
}

static enum colander_code
flush(struct memory_fixture *it, struct colander_error *err)
{
    enum colander_code code = colander_family_flush(it->family, err);

    if (code == COLANDER_OK)
        code = colander_family_await_filters(it->family, err);
    return code;
}

static enum colander_code
compact(struct memory_fixture *it, struct colander_error *err)
{
    enum colander_code code = colander_family_compact(it->family, err);

    if (code == COLANDER_OK)
        code = colander_family_await_filters(it->family, err);
    return code;
}

static enum colander_code
refilter(struct memory_fixture *it, struct colander_error *err)
{
    return colander_family_refilter(it->family, NULL, err);
}

static void
prepare_compaction(struct memory_fixture *it)
{
    put_rows(it, 5);
    OK(colander_family_flush(it->family, NULL));
}

static void
filters_of_files_are_right_or_none(void **state)
{
    const struct step flushes = {prepare_flush, flush, NULL};
    const struct step compactions = {prepare_compaction, compact, NULL};
    const struct step refilters = {NULL, refilter, NULL};
    struct memory_fixture *it = *state;

    assert_true(failures_of(it, &flushes) >= 20);
    assert_true(failures_of(it, &compactions) >= 20);
    assert_true(failures_of(it, &refilters) >= 20);
    reopen(it);
    OK(colander_family_await_filters(it->family, NULL));
    memset(&it->counts, 0, sizeof(it->counts));
    for (int i = 0; i < 50; i++)
        assert_finds_are_right(it);
    assert_true(it->counts.plans[COLANDER_PLAN_CANDIDATES] > 0);
}

/* ---------------------------------------------------------------- store --- */

static void
prepare_open(struct memory_fixture *it)
{
    colander_family_close(it->family);
    it->family = NULL;
    fixture_close(it->store);
}

static enum colander_code
open_store(struct memory_fixture *it, struct colander_error *err)
{
    struct store_fixture *store = it->store;
    enum colander_code code;

    code = colander_store_open(store->directory, &store->options, &store->store,
                               err);
    if (code == COLANDER_OK)
        code = colander_family_open(store->store, "f", &it->family, err);
    return code;
}

static void
check_open(struct memory_fixture *it, enum colander_code code)
{
    if (it->store->store == NULL)
        fixture_open(it->store);
    if (it->family == NULL)
        it->family = fixture_family(it->store, "f");
    (void)code;
}

static void
a_store_opens_or_memory_is_short(void **state)
{
    const struct step step = {prepare_open, open_store, check_open};
    struct memory_fixture *it = *state;

    put_rows(it, KEY_COUNT);
    OK(colander_family_flush(it->family, NULL));
    put_rows(it, KEY_COUNT / 2); /* these are in the log only */
    assert_true(failures_of(it, &step) >= 20);
}

static void
tell(void *context, const char *file, const char *what)
{
    (void)context;
    fail_msg("%s: %s", file, what);
}

static enum colander_code
check_store(struct memory_fixture *it, struct colander_error *err)
{
    struct colander_check check = {0};
    enum colander_code code;

    code = colander_store_check(it->store->store, &check, tell, NULL, err);
    if (code == COLANDER_OK)
        code = colander_store_check_filters(it->store->store, false, &check,
                                            tell, NULL, err);
    return code;
}

static enum colander_code
measure(struct memory_fixture *it, struct colander_error *err)
{
    struct colander_filter_measure measured;

    return colander_family_measure_filters(it->family, 200, &measured, err);
}

static void
want_of_memory_is_no_damage(void **state)
{
    const struct step checks = {NULL, check_store, NULL};
    const struct step measures = {NULL, measure, NULL};
    struct memory_fixture *it = *state;

    put_rows(it, KEY_COUNT);
    OK(colander_family_flush(it->family, NULL));
    OK(colander_family_await_filters(it->family, NULL));
    assert_true(failures_of(it, &checks) >= 5);
    assert_true(failures_of(it, &measures) >= 1);
}

/* -------------------------------------------------------------- options --- */

static enum colander_code
set_options(struct memory_fixture *it, struct colander_error *err)
{
    static const char *const left_out[] = {"user", "tags[]"};
    struct colander_filter_options options;

    colander_filter_options_init(&options);
    options.left_out = left_out;
    options.left_out_count = it->number % 2 == 0 ? 2 : 1;
    return colander_family_set_filters(it->family, &options, err);
}

static void
prepare_options(struct memory_fixture *it)
{
    it->number++;
}

/* They are the new ones, or those before. */
static void
check_options(struct memory_fixture *it, enum colander_code code)
{
    struct colander_filter_options options;

    OK(colander_family_get_filters(it->family, &options, NULL));
    if (code == COLANDER_OK)
        it->expected = it->number % 2 == 0 ? 2 : 1;
    assert_int_equal(options.left_out_count, it->expected);
    colander_filter_options_release(&options);
}

static void
options_are_changed_or_stay(void **state)
{
    const struct step step = {prepare_options, set_options, check_options};
    struct memory_fixture *it = *state;

    put_rows(it, KEY_COUNT);
    assert_true(failures_of(it, &step) >= 3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_write_is_whole_or_has_changed_nothing,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_find_gives_all_rows_or_none, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(filters_of_files_are_right_or_none,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_store_opens_or_memory_is_short, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(want_of_memory_is_no_damage, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(options_are_changed_or_stay, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
