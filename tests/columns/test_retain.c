/*
 * Retaining: the rows that stay are those of a naive model, over months of a
 * clock that goes where it wants, with rows of every kind, snapshots, reopened
 * stores and writers at the same time.
 *
 * COLANDER_SEED repeats a run, COLANDER_RUNS sets the number of steps.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/retention.h"
#include "support/claims.h"
#include "support/random.h"
#include "support/store_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#define KEYS 300
#define DAY INT64_C(86400)
#define TIMES_MAX 3
#define LEVELS 4

/* ---------------------------------------------------------------- model --- */

struct model_row {
    bool exists;
    bool is_timed;
    struct colander_value time; /* the latest */
    int64_t level;              /* -1: none */
    uint64_t size;              /* of its key and row */
};

struct model {
    struct store_fixture *fixture;
    struct colander_family *family;
    const char *path; /* of the time column */
    struct model_row rows[KEYS];
    uint64_t random;
    int64_t now; /* the true time; the clock may be wrong */
};

static struct colander_value
random_time(struct model *model)
{
    int64_t second = model->now - (int64_t)random_below(&model->random, DAY);

    switch (random_below(&model->random, 12)) {
    case 0: /* late */
        second -= (int64_t)random_below(&model->random, 60 * (uint64_t)DAY);
        break;
    case 1: /* several rows of the same time */
        second -= second % DAY;
        break;
    case 2:
        if (random_below(&model->random, 30) == 0)
            second = INT64_MAX - (int64_t)random_below(&model->random, 2);
        break;
    case 3:
        if (random_below(&model->random, 10) == 0)
            second = INT64_MIN + (int64_t)random_below(&model->random, 2);
        break;
    default:
        break;
    }
    return colander_timestamp(second,
                              (uint32_t)random_below(&model->random, 3));
}

/* Another value where a time is expected. */
static struct colander_value
random_other(struct model *model)
{
    switch (random_below(&model->random, 4)) {
    case 0:
        return colander_integer(model->now - 90 * (int64_t)DAY);
    case 1:
        return colander_text("1999-01-01T00:00:00Z");
    case 2:
        return colander_null();
    default:
        return colander_boolean(true);
    }
}

static void
add_value(struct model *model, struct model_row *row, const char *name)
{
    struct colander_value value = random_below(&model->random, 5) == 0
                                      ? random_other(model)
                                      : random_time(model);

    colander_row_builder_add(model->fixture->builder, name, value);
    if (value.type == COLANDER_TIMESTAMP &&
        (!row->is_timed || colander_value_compare(&value, &row->time) > 0)) {
        row->is_timed = true;
        row->time = value;
    }
}

/* Puts a random row. */
static void
put_row(struct model *model, size_t number)
{
    struct colander_row_builder *builder = model->fixture->builder;
    struct model_row *row = &model->rows[number];
    const struct colander_value part = colander_integer((int64_t)number);
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_slice bytes;
    char text[64];

    memset(row, 0, sizeof(*row));
    row->exists = true;
    row->level = (int64_t)random_below(&model->random, LEVELS + 1) - 1;
    if (row->level >= 0)
        colander_row_builder_add(builder, "level",
                                 colander_integer(row->level));
    (void)snprintf(text, sizeof(text), "%.*s",
                   (int)random_below(&model->random, 50),
                   "..................................................");
    colander_row_builder_add(builder, "text", colander_text(text));
    if (strchr(model->path, '[') != NULL) {
        colander_row_builder_begin_array(builder, "at");
        for (uint64_t i = random_below(&model->random, TIMES_MAX + 1); i > 0;
             i--)
            add_value(model, row, NULL);
        colander_row_builder_end(builder);
    } else if (random_below(&model->random, 8) > 0) {
        add_value(model, row, "at");
    }
    OK(colander_row_builder_finish(builder, &bytes, NULL));
    OK(colander_key_encode(&part, 1, &key, NULL));
    row->size = key.size + bytes.size;
    OK(colander_family_put(model->family, colander_buffer_slice(&key), bytes,
                           NULL, NULL));
}

static void
delete_row(struct model *model, size_t number)
{
    const struct colander_value part = colander_integer((int64_t)number);
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;

    OK(colander_key_encode(&part, 1, &key, NULL));
    OK(colander_family_delete(model->family, colander_buffer_slice(&key), NULL,
                              NULL));
    model->rows[number].exists = false;
}

/* --------------------------------------------------------------- policy --- */

struct model_policy {
    struct colander_retention shown;
    struct colander_keep keeps[3];
    const char *words[3];
    char texts[3][32];
    int64_t level[3]; /* that a row must have, or at least; -1: any row */
    bool is_least[3];
};

static void
random_policy(struct model *model, struct model_policy *policy)
{
    uint64_t *random = &model->random;
    size_t count = random_below(random, 4);

    memset(policy, 0, sizeof(*policy));
    colander_retention_init(&policy->shown);
    for (size_t i = 0; i < count; i++) {
        struct colander_keep *keep = &policy->keeps[i];
        const bool is_last = i + 1 == count;

        keep->seconds = 1 + (int64_t)random_below(random, 40 * (uint64_t)DAY);
        if (random_below(random, 40) == 0)
            keep->seconds = INT64_MAX;
        policy->level[i] = is_last && random_below(random, 3) > 0
                               ? -1
                               : (int64_t)random_below(random, LEVELS);
        policy->is_least[i] = random_below(random, 2) == 0;
        (void)snprintf(policy->texts[i], sizeof(policy->texts[i]),
                       "level%s%" PRId64, policy->is_least[i] ? ">=" : "=",
                       policy->level[i]);
        policy->words[i] = policy->texts[i];
        keep->words = &policy->words[i];
        keep->word_count = policy->level[i] >= 0;
    }
    policy->shown.keeps = policy->keeps;
    policy->shown.keep_count = count;
    if (count == 0 || random_below(random, 3) == 0)
        policy->shown.size_max = 1 + random_below(random, KEYS * 45);
}

/* Whether the policy's keep `index` is about the row. */
static bool
is_about(const struct model_policy *policy, size_t index,
         const struct model_row *row)
{
    if (policy->level[index] < 0)
        return true;
    return row->level >= 0 &&
           (policy->is_least[index] ? row->level >= policy->level[index]
                                    : row->level == policy->level[index]);
}

static bool
is_too_old(const struct model_policy *policy, const struct model_row *row,
           struct colander_value reference)
{
    for (size_t i = 0; i < policy->shown.keep_count; i++) {
        if (!is_about(policy, i, row))
            continue;
        if (__builtin_sub_overflow(reference.second, policy->keeps[i].seconds,
                                   &reference.second))
            return false;
        return colander_value_compare(&row->time, &reference) < 0;
    }
    return false;
}

/* What the model expects of a call. */
struct expected {
    bool goes[KEYS];
    uint64_t count;
    uint64_t all;
    uint64_t untimed;
    uint64_t size;
    bool is_over; /* no row with a time would stay */
    struct colander_value newest;
    struct colander_value reference;
};

/* Marks the rows that do not fit, from the latest to the oldest. */
static void
expect_size(const struct model *model, const struct model_policy *policy,
            struct expected *expected)
{
    uint64_t kept = 0;
    bool stays = expected->newest.type == COLANDER_NULL;

    for (size_t i = 0; i < KEYS; i++)
        if (model->rows[i].exists && !model->rows[i].is_timed)
            kept += model->rows[i].size;
    for (size_t i = 0; i < KEYS; i++) {
        const struct model_row *row = &model->rows[i];
        uint64_t later = kept; /* and of the same time */

        if (!row->exists || !row->is_timed || expected->goes[i])
            continue;
        for (size_t j = 0; j < KEYS; j++) {
            const struct model_row *other = &model->rows[j];

            if (other->exists && other->is_timed &&
                colander_value_compare(&other->time, &row->time) >= 0 &&
                !is_too_old(policy, other, expected->reference))
                later += other->size;
        }
        expected->goes[i] = later > policy->shown.size_max;
        stays = stays || !expected->goes[i];
    }
    expected->is_over = kept > policy->shown.size_max || !stays;
}

static void
expect(const struct model *model, const struct model_policy *policy,
       struct colander_value clock, struct expected *expected)
{
    memset(expected, 0, sizeof(*expected));
    for (size_t i = 0; i < KEYS; i++) {
        const struct model_row *row = &model->rows[i];

        expected->all += row->exists;
        expected->size += row->exists ? row->size : 0;
        expected->untimed += row->exists && !row->is_timed;
        if (row->exists && row->is_timed &&
            (expected->newest.type == COLANDER_NULL ||
             colander_value_compare(&row->time, &expected->newest) > 0))
            expected->newest = row->time;
    }
    expected->reference =
        expected->newest.type != COLANDER_NULL &&
                colander_value_compare(&clock, &expected->newest) < 0
            ? clock
            : expected->newest;
    for (size_t i = 0; i < KEYS; i++) {
        const struct model_row *row = &model->rows[i];

        expected->goes[i] = row->exists && row->is_timed &&
                            is_too_old(policy, row, expected->reference);
    }
    if (policy->shown.size_max != UINT64_MAX)
        expect_size(model, policy, expected);
    for (size_t i = 0; i < KEYS; i++)
        expected->count += expected->goes[i];
}

/* -------------------------------------------------------------- compare --- */

/* Asserts that the family has exactly the rows of the model, in a snapshot. */
static void
assert_rows(const struct model *model, const struct model_row *rows,
            const struct colander_snapshot *snapshot)
{
    struct colander_query query = usual_query();
    SCOPED_CURSOR cursor = NULL;
    SCOPED_BUFFER scratch = COLANDER_BUFFER_EMPTY;
    struct colander_result result;
    size_t next = 0;
    bool is_row = true;

    query.snapshot = snapshot;
    OK(colander_family_find(model->family, &query, &cursor, NULL));
    while (is_row) {
        struct colander_value part;
        size_t count;

        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        if (!is_row)
            break;
        OK(colander_key_decode(result.key, &part, &count, &scratch, NULL));
        while (next < (size_t)part.integer)
            assert_false(rows[next++].exists);
        assert_true(rows[next].exists);
        assert_int_equal(result.key.size + result.row.size, rows[next].size);
        next++;
    }
    while (next < KEYS)
        assert_false(rows[next++].exists);
}

static void
assert_value(struct colander_value value, struct colander_value wanted)
{
    assert_int_equal(value.type, wanted.type);
    if (value.type != COLANDER_NULL)
        assert_int_equal(colander_value_compare(&value, &wanted), 0);
}

/* Applies a policy, or the family's own, and compares. Returns the number of
 * rows that went. */
static uint64_t
retain(struct model *model, const struct model_policy *policy, bool is_own)
{
    const struct colander_retention *given = is_own ? NULL : &policy->shown;
    struct colander_retain_options options;
    struct colander_retained done;
    struct expected expected;

    colander_retain_options_init(&options);
    options.now = colander_timestamp(model->now, 5);
    if (random_below(&model->random, 4) == 0)
        options.now.second +=
            ((int64_t)random_below(&model->random, 3) - 1) * 9000 * DAY;
    options.counts = random_below(&model->random, 2) == 0;
    options.yields = random_below(&model->random, 2) == 0;
    expect(model, policy, options.now, &expected);
    for (unsigned is_dry = 2; is_dry-- > 0;) {
        options.is_dry = is_dry == 1;
        if (expected.is_over) {
            FAILS(colander_family_retain(model->family, given, &options, &done,
                                         why()),
                  COLANDER_LIMIT);
            assert_int_equal(done.row_count, 0);
            expected.count = 0;
        } else {
            OK(colander_family_retain(model->family, given, &options, &done,
                                      why()));
        }
        assert_int_equal(done.row_count, expected.count);
        assert_value(done.newest, expected.newest);
        assert_value(done.reference, expected.reference);
        if (policy->shown.size_max < expected.size || options.counts)
            assert_true(done.is_counted);
        else if (policy->shown.size_max == UINT64_MAX)
            assert_false(done.is_counted);
        if (done.is_counted) {
            assert_int_equal(done.all_count, expected.all);
            assert_int_equal(done.untimed_count, expected.untimed);
            assert_int_equal(done.size, expected.size);
        }
    }
    for (size_t i = 0; i < KEYS && !expected.is_over; i++)
        model->rows[i].exists = model->rows[i].exists && !expected.goes[i];
    assert_rows(model, model->rows, NULL);
    return expected.count;
}

/* ---------------------------------------------------------------- tests --- */

struct held {
    struct colander_snapshot *snapshot;
    struct model_row rows[KEYS];
};

/* Releases a snapshot, which must have the rows that it had. */
static void
let_go(const struct model *model, struct held *held)
{
    if (held->snapshot == NULL)
        return;
    assert_rows(model, held->rows, held->snapshot);
    colander_snapshot_release(held->snapshot);
    held->snapshot = NULL;
}

static void
open_family(struct model *model)
{
    model->family = kept_family(model->fixture, "rows");
    OK(colander_family_create(model->family, NULL));
    OK(colander_family_set_time_column(model->fixture->store, model->family,
                                       model->path, NULL));
}

/* Some rows come and some go, and days pass. */
static void
live(struct model *model)
{
    model->now += (int64_t)random_below(&model->random, 4 * (uint64_t)DAY);
    for (uint64_t i = random_below(&model->random, 60); i > 0; i--)
        put_row(model, random_below(&model->random, KEYS));
    if (random_below(&model->random, 3) == 0)
        delete_row(model, random_below(&model->random, KEYS));
    if (random_below(&model->random, 3) == 0)
        OK(colander_family_flush(model->family, NULL));
    if (random_below(&model->random, 20) == 0)
        OK(colander_family_compact(model->family, NULL));
}

static void
run_model(struct store_fixture *fixture, const char *path, const char *test)
{
    struct model *model = calloc(1, sizeof(*model));
    struct held held = {.snapshot = NULL};
    struct model_policy policy;
    uint64_t gone = 0;

    assert_non_null(model);
    model->fixture = fixture;
    model->path = path;
    model->random = random_seed(test);
    model->now = 1700000000;
    open_family(model);
    random_policy(model, &policy);
    OK(colander_family_set_retention(model->family, &policy.shown, why()));
    for (uint64_t run = random_runs(120); run > 0; run--) {
        const uint64_t what = random_below(&model->random, 10);

        live(model);
        if (what == 0) {
            let_go(model, &held);
            fixture_reopen(fixture, COLANDER_OPEN_EXISTING);
            open_family(model);
        } else if (what < 3) {
            let_go(model, &held);
            OK(colander_store_snapshot(fixture->store, &held.snapshot, NULL));
            memcpy(held.rows, model->rows, sizeof(held.rows));
        } else if (what < 5) {
            random_policy(model, &policy);
            OK(colander_family_set_retention(model->family, &policy.shown,
                                             why()));
        }
        gone += retain(model, &policy, what % 2 == 0);
    }
    let_go(model, &held);
    assert_true(gone > 0);
    free(model);
}

FIXTURE_TEST(what_stays_is_what_a_model_keeps)
{
    run_model(fixture, "at", __func__);
}

FIXTURE_TEST(of_several_times_in_a_row_the_latest_counts)
{
    run_model(fixture, "at[]", __func__);
}

/* ----------------------------------------------------------------- ends --- */

/* Both rows have a time before the bound, and one at it. */
FIXTURE_TEST(a_row_whose_latest_time_is_the_bound_is_kept)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_keep keep = {.seconds = 10};
    struct colander_retention retention;
    struct colander_retained done;
    struct colander_slice row;

    for (int64_t i = 0; i < 3; i++) {
        colander_row_builder_begin_array(fixture->builder, "at");
        colander_row_builder_add(fixture->builder, NULL,
                                 colander_timestamp(80, 0));
        colander_row_builder_add(fixture->builder, NULL,
                                 colander_timestamp(89 + i, 9));
        colander_row_builder_end(fixture->builder);
        OK(colander_row_builder_finish(fixture->builder, &row, NULL));
        put_at(family, i, row);
    }
    put_at(family, 3, fixture_row(fixture, "at", colander_null()));
    colander_row_builder_begin_array(fixture->builder, "at");
    colander_row_builder_add(fixture->builder, NULL,
                             colander_timestamp(100, 9));
    colander_row_builder_end(fixture->builder);
    OK(colander_row_builder_finish(fixture->builder, &row, NULL));
    put_at(family, 4, row);
    OK(colander_family_set_time_column(fixture->store, family, "at[]", NULL));
    colander_retention_init(&retention);
    retention.keeps = &keep;
    retention.keep_count = 1;
    OK(colander_family_retain(family, &retention, NULL, &done, why()));
    assert_int_equal(done.row_count, 1);
    assert_int_equal(count_rows(family), 4);
}

/* The time of a cut is a number of nanoseconds, also before 1970. */
FIXTURE_TEST(rows_before_1970_are_cut_by_size)
{
    struct colander_family *family = kept_family(fixture, "rows");
    struct colander_retention retention;
    struct colander_retain_options options;
    struct colander_retained done;

    for (int64_t i = 0; i < 8; i++)
        put_at(family, i,
               fixture_row(fixture, "at",
                           colander_timestamp(-5, (uint32_t)i * 10)));
    OK(colander_family_set_time_column(fixture->store, family, "at", NULL));
    colander_retention_init(&retention);
    colander_retain_options_init(&options);
    options.counts = true;
    for (uint64_t left = 8; left > 1; left--) {
        retention.size_max = UINT64_MAX - 1;
        OK(colander_family_retain(family, &retention, &options, &done, why()));
        assert_int_equal(done.all_count, left);
        retention.size_max = done.size - 1;
        OK(colander_family_retain(family, &retention, NULL, &done, why()));
        assert_int_equal(done.row_count, 1);
    }
    retention.size_max = 1;
    FAILS(colander_family_retain(family, &retention, NULL, &done, why()),
          COLANDER_LIMIT);
    assert_non_null(strstr(error_text(), "the rows of the newest time alone"));
    assert_int_equal(count_rows(family), 1);
}

/* ---------------------------------------------------------------- clock --- */

static struct colander_retention
keep_days(struct colander_keep *keep, int64_t days)
{
    struct colander_retention retention;

    memset(keep, 0, sizeof(*keep));
    keep->seconds = days * DAY;
    colander_retention_init(&retention);
    retention.keeps = keep;
    retention.keep_count = 1;
    return retention;
}

static struct colander_family *
family_of_days(struct store_fixture *fixture, int64_t first, int64_t count)
{
    struct colander_family *family = kept_family(fixture, "rows");

    for (int64_t i = 0; i < count; i++)
        put_at(family, i,
               fixture_row(fixture, "at",
                           colander_timestamp((first + i) * DAY, 0)));
    OK(colander_family_set_time_column(fixture->store, family, "at", NULL));
    return family;
}

/* Lets others write if the number of days is odd. */
static uint64_t
retain_at(struct colander_family *family, int64_t days, int64_t clock)
{
    struct colander_keep keep;
    const struct colander_retention retention = keep_days(&keep, days);
    struct colander_retain_options options;
    struct colander_retained done;

    colander_retain_options_init(&options);
    options.now = colander_timestamp(clock * DAY, 0);
    options.yields = days % 2 != 0;
    OK(colander_family_retain(family, &retention, &options, &done, why()));
    return done.row_count;
}

FIXTURE_TEST(a_clock_that_is_wrong_deletes_nothing_more)
{
    struct colander_family *family = family_of_days(fixture, 20000, 100);

    assert_int_equal(retain_at(family, 30, 60000), 69);
    assert_int_equal(count_rows(family), 31); /* the bound itself stays */
    assert_int_equal(retain_at(family, 30, 0), 0);
    assert_int_equal(retain_at(family, 30, 60000), 0);
}

FIXTURE_TEST(a_row_of_the_future_deletes_nothing)
{
    struct colander_family *family = family_of_days(fixture, 20000, 100);

    put_at(family, 1000,
           fixture_row(fixture, "at", colander_timestamp(50000 * DAY, 0)));
    assert_int_equal(retain_at(family, 30, 20099), 69);
    assert_int_equal(count_rows(family), 32);
}

/* The clock of the system is the default. */
FIXTURE_TEST(the_clock_is_that_of_the_system)
{
    const int64_t today = time(NULL) / DAY;
    struct colander_family *family = family_of_days(fixture, today - 50, 100);
    struct colander_keep keep;
    const struct colander_retention retention = keep_days(&keep, 30);
    struct colander_retained done;

    OK(colander_family_retain(family, &retention, NULL, &done, why()));
    assert_in_range(done.row_count, 19, 21);
    assert_true(done.reference.second / DAY - today <= 1);
}

/* -------------------------------------------------------------- writers --- */

#define WRITTEN 4000

struct writer {
    struct store_fixture *fixture;
    struct colander_family *family;
    atomic_bool is_over;
};

/* Puts rows again, every second one with a time that is kept. */
static void *
rejuvenate(void *context)
{
    struct writer *writer = context;
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;

    for (int64_t i = 0; i < WRITTEN; i += 2) {
        const struct colander_value part = colander_integer(WRITTEN - 2 - i);
        struct colander_slice row;

        colander_row_builder_add(builder, "at",
                                 colander_timestamp(99 * DAY, 0));
        DID(colander_row_builder_finish(builder, &row, why()));
        DID(colander_key_encode(&part, 1, &key, why()));
        DID(colander_family_put(writer->family, colander_buffer_slice(&key),
                                row, NULL, why()));
    }
    colander_buffer_release(&key);
    colander_row_builder_destroy(builder);
    atomic_store(&writer->is_over, true);
    return NULL;
}

/* A row that becomes young while others are deleted stays. */
FIXTURE_TEST(what_is_written_meanwhile_stays)
{
    struct writer writer = {.fixture = fixture};
    pthread_t thread;

    writer.family = kept_family(fixture, "rows");
    for (int64_t i = 0; i < WRITTEN; i++)
        put_at(writer.family, i,
               fixture_row(fixture, "at", colander_timestamp(i, 0)));
    put_at(writer.family, WRITTEN,
           fixture_row(fixture, "at", colander_timestamp(100 * DAY, 0)));
    OK(colander_family_set_time_column(fixture->store, writer.family, "at",
                                       NULL));
    ZERO(pthread_create(&thread, NULL, rejuvenate, &writer));
    for (int64_t days = 30; !atomic_load(&writer.is_over); days ^= 1)
        (void)retain_at(writer.family, days, 20000);
    ZERO(pthread_join(thread, NULL));
    (void)retain_at(writer.family, 30, 20000);
    assert_int_equal(count_rows(writer.family), WRITTEN / 2 + 1);
}

/* A row that becomes young between the find and its delete: the caller is
 * asked every 1,000 rows, which is before each batch. */
static bool
make_young(void *context, uint64_t row_count)
{
    struct writer *writer = context;

    if (!atomic_exchange(&writer->is_over, true))
        put_at(writer->family, 0,
               fixture_row(writer->fixture, "at",
                           colander_timestamp(99 * DAY, 0)));
    return row_count < WRITTEN / 2;
}

FIXTURE_TEST(a_row_that_became_young_stays_and_a_call_can_be_cancelled)
{
    struct writer writer = {.fixture = fixture};
    struct colander_keep keep;
    const struct colander_retention retention = keep_days(&keep, 30);
    struct colander_retain_options options;
    struct colander_retained done;

    writer.family = kept_family(fixture, "rows");
    for (int64_t i = 0; i < WRITTEN; i++)
        put_at(writer.family, i,
               fixture_row(fixture, "at", colander_timestamp(i, 0)));
    put_at(writer.family, WRITTEN,
           fixture_row(fixture, "at", colander_timestamp(100 * DAY, 0)));
    OK(colander_family_set_time_column(fixture->store, writer.family, "at",
                                       NULL));
    colander_retain_options_init(&options);
    options.goes_on = make_young;
    options.context = &writer;
    FAILS(colander_family_retain(writer.family, &retention, &options, &done,
                                 why()),
          COLANDER_CANCELLED);
    assert_in_range(done.row_count, WRITTEN / 2, WRITTEN - 1);
    assert_int_equal(count_rows(writer.family), WRITTEN + 1 - done.row_count);
    OK(colander_family_retain(writer.family, &retention, NULL, &done, why()));
    assert_int_equal(count_rows(writer.family), 2);
}

static void
cancel_at_once(void *context, struct colander_cursor *cursor)
{
    ++*(unsigned *)context;
    if (cursor != NULL)
        colander_cursor_cancel(cursor);
}

/* Also those that other threads hardly wait for. */
FIXTURE_TEST(many_rows_are_deleted_and_flushed)
{
    for (int64_t days = 30; days < 32; days++) {
        struct colander_family *family = kept_family(fixture, "rows");
        struct colander_family_sizes sizes;

        for (int64_t i = 0; i < 12000; i++)
            put_at(family, i,
                   fixture_row(fixture, "at", colander_timestamp(i, 0)));
        put_at(family, 12000,
               fixture_row(fixture, "at", colander_timestamp(99 * DAY, 0)));
        OK(colander_family_set_time_column(fixture->store, family, "at", NULL));
        assert_int_equal(retain_at(family, days, 20000), 12000);
        assert_int_equal(count_rows(family), 1);
        OK(colander_family_sizes(family, &sizes, NULL));
        assert_true(sizes.unflushed_size < 100000);
        OK(colander_family_drop(family, NULL));
    }
}

/* The first cursor is that of the search for the newest time. */
static void
cancel_second(void *context, struct colander_cursor *cursor)
{
    unsigned *calls = context;

    if (++*calls > 2 && cursor != NULL)
        colander_cursor_cancel(cursor);
}

FIXTURE_TEST(a_watched_cursor_can_be_cancelled)
{
    struct colander_family *family = family_of_days(fixture, 0, 100);
    struct colander_keep keep;
    const struct colander_retention retention = keep_days(&keep, 30);
    struct colander_retain_options options;
    struct colander_retained done;
    unsigned calls = 0;

    colander_retain_options_init(&options);
    options.watch = cancel_second;
    options.context = &calls;
    FAILS(colander_family_retain(family, &retention, &options, &done, why()),
          COLANDER_CANCELLED);
    assert_int_equal(calls, 4);
    assert_int_equal(done.row_count, 0);
    assert_int_equal(count_rows(family), 100);
}

FIXTURE_TEST(the_search_for_the_newest_time_can_be_cancelled)
{
    struct colander_family *family = family_of_days(fixture, 0, 100);
    struct colander_keep keep;
    const struct colander_retention retention = keep_days(&keep, 1000);
    struct colander_retain_options options;
    struct colander_retained done;
    unsigned calls = 0;

    colander_retain_options_init(&options);
    options.watch = cancel_at_once;
    options.context = &calls;
    FAILS(colander_family_retain(family, &retention, &options, &done, why()),
          COLANDER_CANCELLED);
    assert_int_equal(calls, 2);
}
