/*
 * A store with value filters, with one failure after another in a step, in any
 * thread: each allocation, or each system call. The step reports NO_MEMORY or
 * IO, never damage, and has changed nothing, or it succeeds without the call.
 * Whatever it reports, finds return what scans return, and the store opens
 * again with what was acknowledged.
 *
 * RocksDB's allocations and calls do not fail here: without memory it would end
 * the process, and io_faults.h makes its calls fail.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/filters.h"
#include "support/cases.h"

#include "support/compared_finds.h"
#include "support/failing_calls.h"
#include "support/failing_memory.h"
#include "support/scoped.h"

#define KEY_COUNT 60
#define VALUE_COUNT 300 /* more than fit without an allocation */
#define FIND_COUNT 3    /* compared after each step */

/* What fails, and what a step then reports. */
static const struct failing {
    atomic_long *left;
    atomic_bool *has_failed;
    enum colander_code code;
    bool can_be_gone; /* all later ones fail as well */
} memory = {&allocations_left, &allocation_failed, COLANDER_NO_MEMORY, true},
  calls = {&calls_left, &call_failed, COLANDER_IO, false};

/* ---------------------------------------------------------------- store --- */

struct steps {
    struct store_fixture *store;
    struct colander_family *family;
    uint64_t random;
    uint64_t key_count;
    struct find_counts counts;

    /* for a step that puts a row */
    struct colander_buffer key;
    struct colander_slice row; /* the builder's */
    int64_t number;            /* only in this row */
    struct colander_buffer before;
    bool is_before; /* a row existed */

    /* for a step that finds rows */
    const struct colander_predicate *where;
    uint64_t found;
    uint64_t expected;
};

static int
setup(void **state)
{
    struct steps *it = calloc(1, sizeof(*it));

    ZERO(fixture_setup((void **)&it->store));
    it->family = fixture_family(it->store, "f");
    it->key_count = KEY_COUNT;
    it->random = random_seed("store steps");
    *state = it;
    return 0;
}

static int
teardown(void **state)
{
    struct steps *it = *state;
    int result;

    colander_buffer_release(&it->key);
    colander_buffer_release(&it->before);
    colander_family_close(it->family);
    result = fixture_teardown((void **)&it->store);
    free(it);
    return result;
}

static void
put_rows(struct steps *it, uint64_t count)
{
    put_random_rows(it->store, it->family, KEY_COUNT, count, &it->random);
}

static void
reopen(struct steps *it)
{
    colander_family_close(it->family);
    fixture_reopen(it->store, COLANDER_OPEN_EXISTING);
    it->family = fixture_family(it->store, "f");
}

static void
assert_finds_are_right(struct steps *it)
{
    compare_random_finds(it->store->store, it->family, it->key_count,
                         FIND_COUNT, &it->random, &it->counts);
}

/* ---------------------------------------------------------------- steps --- */

/* The part that fails, after the preparation and before the check, which have
 * memory. `prepare` and `check` may be NULL. */
struct step {
    void (*prepare)(struct steps *it);
    enum colander_code (*take)(struct steps *it, struct colander_error *err);
    void (*check)(struct steps *it, enum colander_code code);
};

/* Takes the step, in which `left` calls succeed. Returns whether one failed. */
static bool
take(struct steps *it, const struct step *step, const struct failing *failing,
     long left)
{
    struct colander_error err = {.code = COLANDER_OK};
    enum colander_code code;

    if (step->prepare != NULL)
        step->prepare(it);
    atomic_store(failing->has_failed, false);
    atomic_store(failing->left, left);
    code = step->take(it, &err);
    atomic_store(failing->left, -1);
    if (code != COLANDER_OK &&
        (code != failing->code || !atomic_load(failing->has_failed)))
        fail_msg("number %ld: %d: %s", left, (int)code, err.message);
    if (step->check != NULL)
        step->check(it, code);
    assert_finds_are_right(it);
    return atomic_load(failing->has_failed);
}

/* The distance between failures: 1 with many runs, otherwise 1 to 3. */
static long
stride(struct steps *it)
{
    return random_runs(1) > 1 ? 1 : 1 + (long)random_below(&it->random, 3);
}

/*
 * Takes the step with the first allocation or call failing, then with a later
 * one, until no later one could fail; for allocations also with all later ones
 * failing. Returns their number, or up to 2 more. Filters and hierarchies are
 * optional: the step may omit them and succeed. COLANDER_RUNS makes each
 * allocation and call fail in turn.
 */
static long
failures_of(struct steps *it, const struct step *step,
            const struct failing *failing)
{
    long failed = 0;

    atomic_store(&memory_is_gone, true);
    while (failing->can_be_gone && take(it, step, failing, failed))
        failed += stride(it);
    atomic_store(&memory_is_gone, false);
    for (failed = 0; take(it, step, failing, failed);)
        failed += stride(it);
    return failed;
}

/* --------------------------------------------------------------- writes --- */

/* Puts a row of many values, perhaps in place of another. */
static void
prepare_put(struct steps *it)
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
put(struct steps *it, struct colander_error *err)
{
    return colander_family_put(it->family, colander_buffer_slice(&it->key),
                               it->row, NULL, err);
}

static enum colander_code
commit(struct steps *it, struct colander_error *err)
{
    const struct colander_slice key = colander_buffer_slice(&it->key);
    SCOPED_BATCH batch = NULL;
    enum colander_code code =
        colander_batch_create(it->store->store, &batch, err);

    if (code == COLANDER_OK)
        code = colander_batch_delete(batch, it->family, key, err);
    if (code == COLANDER_OK)
        code = colander_batch_patch(batch, it->family, key, it->row, err);
    if (code == COLANDER_OK)
        code = colander_batch_commit(batch, NULL, err);
    return code;
}

/* The row exists, and is found by its value; or nothing has changed. */
static void
check_put(struct steps *it, enum colander_code code)
{
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    const bool is_put = code == COLANDER_OK;
    bool is_there;

    OK(colander_family_get(it->family, colander_buffer_slice(&it->key), NULL,
                           &row, &is_there, NULL));
    assert_int_equal(is_there, is_put || it->is_before);
    ASSERT_SAME(colander_buffer_slice(&row),
                is_put ? it->row : colander_buffer_slice(&it->before));
    assert_int_equal(count_equal(it->store, it->family, "number", it->number),
                     is_put);
}

#define PREPARED_TEST(name) TEST_WITH(struct steps *it, name, setup, teardown)

PREPARED_TEST(a_write_is_whole_or_has_changed_nothing)
{
    const struct step puts = {prepare_put, put, check_put};
    const struct step commits = {prepare_put, commit, check_put};

    put_rows(it, KEY_COUNT);
    assert_true(failures_of(it, &puts, &memory) >= 1);
    assert_true(failures_of(it, &commits, &memory) >= 1);
}

/* ---------------------------------------------------------------- finds --- */

static enum colander_code
find(struct steps *it, struct colander_error *err)
{
    struct colander_query query = usual_query();

    query.where = it->where;
    query.reports_columns = true;
    return colander_family_count(it->family, &query, &it->found, err);
}

static void
check_find(struct steps *it, enum colander_code code)
{
    if (code == COLANDER_OK)
        assert_int_equal(it->found, it->expected);
}

PREPARED_TEST(a_find_returns_all_rows_or_none)
{
    const struct step step = {NULL, find, check_find};
    const struct colander_value one = colander_integer(1);
    struct colander_predicate *both[2];
    struct colander_predicate *questions[6];

    for (size_t i = 0; i < 4; i++) {
        put_rows(it, KEY_COUNT / 2);
        if (i < 3)
            OK(colander_family_flush(it->family, NULL));
    }
    OK(colander_family_await_filters(it->family, NULL));
    both[0] = colander_where("likes", COLANDER_LT, colander_integer(9), NULL);
    both[1] = colander_where_any_column(colander_boolean(true), NULL);
    questions[0] = colander_where("likes", COLANDER_EQ, one, NULL);
    questions[1] = colander_where_any_column(one, NULL);
    questions[2] = colander_where_prefix("user", colander_text("a"), NULL);
    questions[3] = colander_where_exists("place.city", NULL);
    questions[4] = colander_where("tags[]", COLANDER_GE, one, NULL);
    questions[5] = colander_all_of(both, 2, NULL);
    for (size_t i = 0; i < 6; i++) {
        it->where = questions[i];
        OK(find(it, why()));
        it->expected = it->found;
        assert_true(failures_of(it, &step, &memory) >= 3);
        colander_predicate_destroy(questions[i]);
    }
}

/* ---------------------------------------------------------------- files --- */

static void
prepare_flush(struct steps *it)
{
    put_rows(it, KEY_COUNT);
}

static enum colander_code
flush(struct steps *it, struct colander_error *err)
{
    enum colander_code code = colander_family_flush(it->family, err);

    if (code == COLANDER_OK)
        code = colander_family_await_filters(it->family, err);
    return code;
}

static enum colander_code
compact(struct steps *it, struct colander_error *err)
{
    enum colander_code code = colander_family_compact(it->family, err);

    if (code == COLANDER_OK)
        code = colander_family_await_filters(it->family, err);
    return code;
}

static enum colander_code
refilter(struct steps *it, struct colander_error *err)
{
    return colander_family_refilter(it->family, NULL, err);
}

static void
prepare_compaction(struct steps *it)
{
    put_rows(it, 5);
    OK(colander_family_flush(it->family, NULL));
}

PREPARED_TEST(filters_of_files_are_right_or_none)
{
    const struct step flushes = {prepare_flush, flush, NULL};
    const struct step compactions = {prepare_compaction, compact, NULL};
    const struct step refilters = {NULL, refilter, NULL};

    assert_true(failures_of(it, &flushes, &memory) >= 20);
    assert_true(failures_of(it, &compactions, &memory) >= 20);
    assert_true(failures_of(it, &refilters, &memory) >= 20);
    reopen(it);
    OK(colander_family_await_filters(it->family, NULL));
    memset(&it->counts, 0, sizeof(it->counts));
    for (int i = 0; i < 50; i++)
        assert_finds_are_right(it);
    assert_true(it->counts.plans[COLANDER_PLAN_CANDIDATES] > 0);
}

/* ---------------------------------------------------------------- store --- */

static void
prepare_open(struct steps *it)
{
    colander_family_close(it->family);
    it->family = NULL;
    fixture_close(it->store);
}

static enum colander_code
open_store(struct steps *it, struct colander_error *err)
{
    struct store_fixture *store = it->store;
    enum colander_code code = colander_store_open(
        store->directory, &store->options, &store->store, err);

    if (code == COLANDER_OK)
        code = colander_family_open(store->store, "f", &it->family, err);
    return code;
}

static void
check_open(struct steps *it, enum colander_code code)
{
    if (it->store->store == NULL)
        fixture_open(it->store);
    if (it->family == NULL)
        it->family = fixture_family(it->store, "f");
    (void)code;
}

PREPARED_TEST(a_store_opens_or_memory_is_short)
{
    const struct step step = {prepare_open, open_store, check_open};

    put_rows(it, KEY_COUNT);
    OK(colander_family_flush(it->family, NULL));
    put_rows(it, KEY_COUNT / 2); /* these are only in the log */
    assert_true(failures_of(it, &step, &memory) >= 20);
}

static void
report(void *context, const char *file, const char *what)
{
    (void)context;
    fail_msg("%s: %s", file, what);
}

static enum colander_code
check_store(struct steps *it, struct colander_error *err)
{
    struct colander_check check = {0};
    enum colander_code code =
        colander_store_check(it->store->store, &check, report, NULL, err);

    if (code == COLANDER_OK)
        code = colander_store_check_filters(it->store->store, false, &check,
                                            report, NULL, err);
    return code;
}

static enum colander_code
measure(struct steps *it, struct colander_error *err)
{
    struct colander_filter_measure measured;

    return colander_family_measure_filters(it->family, 200, &measured, err);
}

PREPARED_TEST(lack_of_memory_is_not_damage)
{
    const struct step checks = {NULL, check_store, NULL};
    const struct step measures = {NULL, measure, NULL};

    put_rows(it, KEY_COUNT);
    OK(colander_family_flush(it->family, NULL));
    OK(colander_family_await_filters(it->family, NULL));
    assert_true(failures_of(it, &checks, &memory) >= 5);
    assert_true(failures_of(it, &measures, &memory) >= 1);
}

/* -------------------------------------------------------------- options --- */

static enum colander_code
set_options(struct steps *it, struct colander_error *err)
{
    static const char *const left_out[] = {"user", "tags[]"};
    struct colander_filter_options options = usual_filters();

    options.unfiltered = left_out;
    options.unfiltered_count = it->number % 2 == 0 ? 2 : 1;
    return colander_family_set_filters(it->family, &options, err);
}

static void
prepare_options(struct steps *it)
{
    it->number++;
}

/* They are the new ones, or the old ones. */
static void
check_options(struct steps *it, enum colander_code code)
{
    struct colander_filter_options options;

    OK(colander_family_get_filters(it->family, &options, NULL));
    if (code == COLANDER_OK)
        it->expected = it->number % 2 == 0 ? 2 : 1;
    assert_int_equal(options.unfiltered_count, it->expected);
    colander_filter_options_release(&options);
}

PREPARED_TEST(options_are_changed_or_stay)
{
    const struct step step = {prepare_options, set_options, check_options};

    put_rows(it, KEY_COUNT);
    assert_true(failures_of(it, &step, &memory) >= 3);
}

/* ---------------------------------------------------------------- calls --- */

/* Rows that did not exist: what is acknowledged is their number. */
static void
put_new_rows(struct steps *it)
{
    for (int i = 0; i < KEY_COUNT; i++)
        put_at(it->family, (int64_t)it->expected++,
               random_row(it->store->builder, &it->random));
    it->key_count = it->expected + 1;
}

/* A failure may leave writes that are only in the log, which close reports. */
static void
close_after_failure(struct steps *it)
{
    colander_family_close(it->family);
    it->family = NULL;
    (void)(colander_store_close(it->store->store, NULL) == COLANDER_OK);
    it->store->store = NULL;
}

static void
prepare_logged(struct steps *it)
{
    put_new_rows(it);
    close_after_failure(it);
}

static void
prepare_new(struct steps *it)
{
    close_after_failure(it);
    temporary_remove(it->store->directory);
    it->expected = 0;
    it->key_count = 1;
}

static void
check_reopened(struct steps *it, enum colander_code code)
{
    if (it->family != NULL)
        close_after_failure(it);
    check_open(it, code);
    assert_int_equal(count_rows(it->family), it->expected);
}

PREPARED_TEST(a_failed_call_is_reported_and_loses_nothing)
{
    const struct step opens = {prepare_logged, open_store, check_reopened};
    const struct step flushes = {put_new_rows, flush, check_reopened};
    const struct step makes = {prepare_new, open_store, check_reopened};

    assert_true(failures_of(it, &opens, &calls) >= 10);
    assert_true(failures_of(it, &flushes, &calls) >= 4);
    assert_true(failures_of(it, &makes, &calls) >= 10);
}
