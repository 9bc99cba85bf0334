/*
 * Families by time: their names, and a policy that drops them as a whole, as a
 * naive model does, over months of a clock that goes where it wants.
 *
 * COLANDER_SEED repeats a run, COLANDER_RUNS sets the number of steps.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/partitions.h"
#include "support/random.h"
#include "support/store_fixture.h"

#include <time.h>

#define DAY INT64_C(86400)
#define DAYS 40 /* of the model */
#define FIRST INT64_C(20000)
#define PATTERN "logs/{day}"

/* ---------------------------------------------------------------- names --- */

static void
assert_name(const char *pattern, int64_t second, const char *wanted)
{
    SCOPED_BUFFER name = COLANDER_BUFFER_EMPTY;
    int64_t from, until;

    OK(colander_partition_family(pattern, second, &name, why()));
    assert_string_equal((const char *)name.data, wanted);
    assert_true(colander_partition_times(pattern, wanted, &from, &until));
    assert_in_range(second, from, until - 1);
    OK(colander_partition_family(pattern, from, &name, why()));
    assert_string_equal((const char *)name.data, wanted);
    OK(colander_partition_family(pattern, until - 1, &name, why()));
    assert_string_equal((const char *)name.data, wanted);
    OK(colander_partition_family(pattern, until, &name, why()));
    assert_true(strcmp((const char *)name.data, wanted) > 0);
}

TEST(families_are_named_after_their_times)
{
    assert_string_equal(colander_partition_unit("a{day}"), "day");
    assert_string_equal(colander_partition_unit("{hour}"), "hour");
    assert_string_equal(colander_partition_unit("{month}.x"), "month");
    assert_null(colander_partition_unit("logs"));
    assert_null(colander_partition_unit("{year}"));
    assert_null(colander_partition_unit("{day}/{day}"));
    assert_null(colander_partition_unit("{day}/{hour}"));
    assert_name("logs/{day}", 0, "logs/1970-01-01");
    assert_name("logs/{day}", 1709164800, "logs/2024-02-29");
    assert_name("logs/{day}.x", 1709251199, "logs/2024-02-29.x");
    assert_name("{hour}", 1798243199, "2026-12-25T23");
    assert_name("m{month}", 1798675200, "m2026-12");
    assert_name("m{month}", 1798761600, "m2027-01");
}

TEST(times_of_other_centuries_have_no_family)
{
    SCOPED_BUFFER name = COLANDER_BUFFER_EMPTY;

    OK(colander_partition_family("{day}", 7258118399, &name, why()));
    assert_string_equal((const char *)name.data, "2199-12-31");
    FAILS(colander_partition_family("{day}", 7258118400, &name, why()),
          COLANDER_INVALID);
    FAILS(colander_partition_family("{day}", -1, &name, why()),
          COLANDER_INVALID);
    FAILS(colander_partition_family("{day}", INT64_MAX, &name, why()),
          COLANDER_INVALID);
    FAILS(colander_partition_family("{day}", INT64_MIN, &name, why()),
          COLANDER_INVALID);
    FAILS(colander_partition_family("day", 0, &name, why()), COLANDER_INVALID);
}

TEST(other_names_are_not_of_the_pattern)
{
    static const char *const others[] = {
        "logs/",           "logs/2026-1-01",   "logs/2026-13-01",
        "logs/2026-02-29", "logs/2026-02-1",   "logs/2026-02-011",
        "logs/2026-02-0x", "logs/2026-02",     "logs/2026-02-01T00",
        "log/2026-02-01",  "logs/2026-02-01 ", "logs/1969-12-31",
        "logs/2200-01-01", "logs/{day}",       "logs/+026-02-01",
        "logs/2026-00-01", "logs/2026-02-00",  "",
    };
    int64_t from, until;

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(
            colander_partition_times("logs/{day}", others[i], &from, &until));
    assert_false(colander_partition_times("logs", "logs", &from, &until));
    /* what is before and after the time may not overlap */
    assert_false(colander_partition_times("a{day}a", "a", &from, &until));
}

TEST(a_star_is_any_bytes)
{
    assert_true(colander_name_is_like("logs/2026", "logs/*"));
    assert_true(colander_name_is_like("logs/", "logs/*"));
    assert_true(colander_name_is_like("a/b/c", "a*c"));
    assert_true(colander_name_is_like("abcbc", "a*bc"));
    assert_true(colander_name_is_like("abab", "*ab"));
    assert_true(colander_name_is_like("a", "**a**"));
    assert_false(colander_name_is_like("abcbd", "a*bc"));
    assert_false(colander_name_is_like("log", "logs/*"));
    assert_false(colander_name_is_like("xlogs/1", "logs/*"));
    assert_false(colander_name_is_like("aab", "ab"));
    assert_true(colander_name_selects("a*"));
    assert_true(colander_name_selects("a{hour}"));
    assert_false(colander_name_selects("a[1]?"));
}

FIXTURE_TEST(names_with_a_place_are_never_selected)
{
    static const char *const made[] = {"logs/{day}", "logs/2026-01-02",
                                       "logs/2026-01-01", "logs/x", "other"};
    struct colander_names names;

    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
        OK(colander_family_create(kept_family(fixture, made[i]), why()));
    OK(colander_store_families(fixture->store, &names, why()));
    colander_names_select(&names, "logs/*");
    assert_int_equal(names.count, 3);
    assert_string_equal(names.names[0], "logs/2026-01-01");
    assert_string_equal(names.names[2], "logs/x");
    colander_names_select(&names, "logs/{day}");
    assert_int_equal(names.count, 2);
    colander_names_select(&names, "nothing");
    assert_int_equal(names.count, 0);
    colander_names_release(&names);
}

/* ---------------------------------------------------------------- model --- */

struct model_family {
    bool exists;
    bool is_timed;
    struct colander_value newest;
    uint64_t row_count;
};

struct model {
    struct store_fixture *fixture;
    struct colander_family *pattern;
    struct model_family families[DAYS];
    uint64_t random;
    int64_t now;
};

static struct colander_family *
open_day(struct model *model, int64_t day)
{
    struct colander_family *family;
    SCOPED_BUFFER name = COLANDER_BUFFER_EMPTY;

    OK(colander_partition_family(PATTERN, day * DAY, &name, why()));
    OK(colander_family_open(model->fixture->store, (const char *)name.data,
                            &family, why()));
    return family;
}

/* Puts a row into a family that need not exist: mostly one of its times. */
static void
put_row(struct model *model)
{
    uint64_t *random = &model->random;
    const int64_t today = model->now / DAY - FIRST;
    int64_t day = today - (int64_t)random_below(random, 3);
    struct colander_family *family;
    struct model_family *known;
    struct colander_value time;

    if (random_below(random, 10) == 0)
        day = (int64_t)random_below(random, DAYS);
    day = day < 0 ? 0 : day >= DAYS ? DAYS - 1 : day;
    known = &model->families[day];
    family = open_day(model, FIRST + day);
    time = colander_timestamp(
        (FIRST + day) * DAY + (int64_t)random_below(random, (uint64_t)DAY), 0);
    if (random_below(random, 20) == 0) /* of another time than its name says */
        time.second += 20 * DAY - 40 * DAY * (int64_t)random_below(random, 2);
    if (random_below(random, 15) == 0)
        time = colander_text("1999-01-01T00:00:00Z");
    put_at(family, (int64_t)known->row_count,
           fixture_row(model->fixture, "at", time));
    known->exists = true;
    known->row_count++;
    if (time.type == COLANDER_TIMESTAMP &&
        (!known->is_timed ||
         colander_value_compare(&time, &known->newest) > 0)) {
        known->newest = time;
        known->is_timed = true;
    }
    colander_family_close(family);
}

/* Empties or creates a family without a row. */
static void
empty_family(struct model *model)
{
    const int64_t day = (int64_t)random_below(&model->random, DAYS);
    struct colander_family *family = open_day(model, FIRST + day);

    OK(colander_family_create(family, why()));
    OK(colander_family_delete_range(family, NULL, NULL, NULL, why()));
    memset(&model->families[day], 0, sizeof(model->families[day]));
    model->families[day].exists = true;
    colander_family_close(family);
}

/* Returns the time from which ages count; null: no family has one. */
static struct colander_value
reference_of(const struct model *model, struct colander_value clock)
{
    for (int64_t i = DAYS; i-- > 0;) {
        const struct model_family *family = &model->families[i];

        if (family->exists && family->is_timed)
            return colander_value_compare(&clock, &family->newest) < 0
                       ? clock
                       : family->newest;
    }
    return colander_null();
}

static bool
goes(const struct model *model, int64_t day, int64_t cut)
{
    const struct model_family *family = &model->families[day];

    return family->exists && (FIRST + day + 1) * DAY <= cut &&
           (family->is_timed ? family->newest.second < cut
                             : family->row_count == 0);
}

static void
assert_families(struct model *model)
{
    for (int64_t i = 0; i < DAYS; i++) {
        struct colander_family *family = open_day(model, FIRST + i);

        assert_int_equal(colander_family_exists(family),
                         model->families[i].exists);
        if (model->families[i].exists)
            assert_int_equal(count_rows(family), model->families[i].row_count);
        colander_family_close(family);
    }
}

static uint64_t
retain(struct model *model)
{
    uint64_t *random = &model->random;
    const struct colander_keep keep = {
        NULL, 0, 1 + (int64_t)random_below(random, 15 * (uint64_t)DAY)};
    struct colander_retention retention;
    struct colander_retain_options options;
    struct colander_retained done;
    struct colander_value clock = colander_timestamp(model->now, 0);
    struct colander_value reference;
    uint64_t count = 0;

    if (random_below(random, 5) == 0) /* the clock is wrong */
        clock.second +=
            4000 * DAY - 8000 * DAY * (int64_t)(random_below(random, 2));
    reference = reference_of(model, clock);
    colander_retention_init(&retention);
    retention.keeps = &keep;
    retention.keep_count = 1;
    colander_retain_options_init(&options);
    options.now = clock;
    options.is_dry = random_below(random, 4) == 0;
    if (random_below(random, 2) == 0 && !options.is_dry) {
        OK(colander_family_set_retention(model->pattern, &retention, why()));
        OK(colander_family_retain(model->pattern, NULL, &options, &done,
                                  why()));
    } else {
        OK(colander_family_retain(model->pattern, &retention, &options, &done,
                                  why()));
    }
    for (int64_t i = 0; i < DAYS && reference.type != COLANDER_NULL; i++) {
        if (!goes(model, i, reference.second - keep.seconds))
            continue;
        count++;
        if (!options.is_dry)
            memset(&model->families[i], 0, sizeof(model->families[i]));
    }
    assert_int_equal(done.family_count, count);
    return count;
}

FIXTURE_TEST(families_that_are_old_are_those_of_a_model)
{
    struct model model = {.fixture = fixture,
                          .random = random_seed("model"),
                          .now = (FIRST + 3) * DAY};
    uint64_t dropped = 0;

    model.pattern = kept_family(fixture, PATTERN);
    OK(colander_family_set_time_column(fixture->store, model.pattern, "at",
                                       why()));
    for (uint64_t step = random_runs(120); step > 0; step--) {
        for (uint64_t i = random_below(&model.random, 15); i > 0; i--)
            put_row(&model);
        if (random_below(&model.random, 10) == 0)
            empty_family(&model);
        if (random_below(&model.random, 10) == 0)
            OK(colander_store_flush(fixture->store, why()));
        dropped += retain(&model);
        assert_families(&model);
        model.now += (int64_t)random_below(&model.random, DAY);
    }
    if (getenv("COLANDER_SEED") == NULL && getenv("COLANDER_RUNS") == NULL)
        assert_in_range(dropped, 5, 100000);
}

/* ------------------------------------------------------------- policies --- */

static struct colander_retention
keep_seconds(struct colander_keep *keep, int64_t seconds)
{
    struct colander_retention retention;

    memset(keep, 0, sizeof(*keep));
    keep->seconds = seconds;
    colander_retention_init(&retention);
    retention.keeps = keep;
    retention.keep_count = 1;
    return retention;
}

/* Makes families of `count` days with `rows` rows each, and their pattern. */
static struct colander_family *
make_days(struct store_fixture *fixture, int64_t count, int64_t rows)
{
    struct colander_family *pattern = kept_family(fixture, PATTERN);
    struct model model = {.fixture = fixture};

    OK(colander_family_set_time_column(fixture->store, pattern, "at", why()));
    for (int64_t day = 0; day < count; day++) {
        struct colander_family *family = open_day(&model, FIRST + day);

        for (int64_t i = 0; i < rows; i++)
            put_at(family, i,
                   fixture_row(fixture, "at",
                               colander_timestamp((FIRST + day) * DAY + i, 0)));
        colander_family_close(family);
    }
    return pattern;
}

static uint64_t
retain_days(struct colander_family *pattern, int64_t days, bool is_dry)
{
    struct colander_keep keep;
    const struct colander_retention retention = keep_seconds(&keep, days * DAY);
    struct colander_retain_options options;
    struct colander_retained done;

    colander_retain_options_init(&options);
    options.now = colander_timestamp(2 * FIRST * DAY, 0);
    options.is_dry = is_dry;
    OK(colander_family_retain(pattern, &retention, &options, &done, why()));
    return done.family_count;
}

FIXTURE_TEST(a_family_partly_within_stays)
{
    struct colander_family *pattern = make_days(fixture, 10, 3);
    struct model model = {.fixture = fixture};
    struct colander_family *old;

    /* the newest time is two seconds into the last day */
    assert_int_equal(retain_days(pattern, 3, true), 6);
    old = open_day(&model, FIRST);
    assert_int_equal(count_rows(old), 3);
    assert_int_equal(retain_days(pattern, 3, false), 6);
    assert_false(colander_family_exists(old));
    colander_family_close(old);
    assert_int_equal(retain_days(pattern, 3, false), 0);
    old = open_day(&model, FIRST + 6);
    assert_true(colander_family_exists(old));
    colander_family_close(old);
}

FIXTURE_TEST(a_cursor_of_a_dropped_family_goes_on)
{
    struct colander_family *pattern = make_days(fixture, 10, 50);
    struct model model = {.fixture = fixture};
    struct colander_family *old = open_day(&model, FIRST);
    struct colander_query query = usual_query();
    struct colander_cursor *cursor = NULL;
    struct colander_result result;
    uint64_t count = 0;
    bool is_row = true;

    OK(colander_family_find(old, &query, &cursor, why()));
    OK(colander_cursor_next(cursor, &is_row, &result, why()));
    assert_int_equal(retain_days(pattern, 3, false), 6);
    for (; is_row; count++)
        OK(colander_cursor_next(cursor, &is_row, &result, why()));
    assert_int_equal(count, 50);
    colander_cursor_close(cursor);
    colander_family_close(old);
}

FIXTURE_TEST(a_policy_of_families_has_no_conditions)
{
    static const char *const words[] = {"level=debug"};
    struct colander_family *pattern = make_days(fixture, 2, 1);
    const struct colander_keep keep = {words, 1, DAY};
    struct colander_retention retention;
    struct colander_retained done;

    colander_retention_init(&retention);
    retention.keeps = &keep;
    retention.keep_count = 1;
    FAILS(colander_family_set_retention(pattern, &retention, why()),
          COLANDER_INVALID);
    FAILS(colander_family_retain(pattern, &retention, NULL, &done, why()),
          COLANDER_INVALID);
}

FIXTURE_TEST(the_oldest_families_go_until_the_others_are_small)
{
    struct colander_family *pattern = make_days(fixture, 10, 200);
    struct model model = {.fixture = fixture};
    struct colander_retention retention;
    struct colander_family_sizes sizes;
    struct colander_retained done;
    struct colander_family *last;

    OK(colander_store_flush(fixture->store, why()));
    last = open_day(&model, FIRST + 9);
    OK(colander_family_sizes(last, &sizes, why()));
    colander_retention_init(&retention);
    retention.size_max = sizes.sst_size * 7 / 2;
    OK(colander_family_retain(pattern, &retention, NULL, &done, why()));
    assert_int_equal(done.family_count, 7);
    retention.size_max = 1;
    OK(colander_family_retain(pattern, &retention, NULL, &done, why()));
    assert_int_equal(done.family_count, 2); /* the last one stays */
    assert_int_equal(count_rows(last), 200);
    colander_family_close(last);
}

static bool
stop_at_second_call(void *context, uint64_t row_count)
{
    unsigned *calls = context;

    (void)row_count;
    return ++*calls < 2;
}

FIXTURE_TEST(dropping_can_be_cancelled_between_families)
{
    struct colander_family *pattern = make_days(fixture, 10, 1);
    struct colander_keep keep;
    const struct colander_retention retention = keep_seconds(&keep, DAY);
    struct colander_retain_options options;
    struct colander_retained done;
    unsigned calls = 0;

    colander_retain_options_init(&options);
    options.goes_on = stop_at_second_call;
    options.context = &calls;
    FAILS(colander_family_retain(pattern, &retention, &options, &done, why()),
          COLANDER_CANCELLED);
    assert_int_equal(done.family_count, 1);
}

/* Returns bytes of SST files of a day that all days of make_days have. */
static uint64_t
flushed_size(struct store_fixture *fixture, int64_t day)
{
    struct model model = {.fixture = fixture};
    struct colander_family *family = open_day(&model, day);
    struct colander_family_sizes sizes;

    OK(colander_store_flush(fixture->store, why()));
    OK(colander_family_sizes(family, &sizes, why()));
    colander_family_close(family);
    return sizes.sst_size;
}

FIXTURE_TEST(rows_in_memory_do_not_count_as_bytes_on_disk)
{
    struct colander_family *pattern = make_days(fixture, 5, 200);
    const uint64_t size = flushed_size(fixture, FIRST);
    struct model model = {.fixture = fixture};
    struct colander_retention retention;
    struct colander_retained done;

    for (int64_t day = FIRST; day < FIRST + 5; day++) {
        struct colander_family *family = open_day(&model, day);

        put_at(family, 1000,
               fixture_row(fixture, "at", colander_timestamp(day * DAY, 0)));
        colander_family_close(family);
    }
    colander_retention_init(&retention);
    retention.size_max = size * 6; /* an empty memtable is larger */
    OK(colander_family_retain(pattern, &retention, NULL, &done, why()));
    assert_int_equal(done.family_count, 0);
}

/* Drops the two oldest families, as another application of the same policy
 * does. */
static bool
drop_two(void *context, uint64_t row_count)
{
    struct model *model = context;

    (void)row_count;
    for (int64_t day = FIRST; day < FIRST + 2; day++) {
        struct colander_family *family = open_day(model, day);

        if (colander_family_exists(family))
            OK(colander_family_drop(family, why()));
        colander_family_close(family);
    }
    return true;
}

FIXTURE_TEST(families_that_another_drops_meanwhile_count_as_dropped)
{
    struct colander_family *pattern = make_days(fixture, 5, 200);
    const uint64_t size = flushed_size(fixture, FIRST);
    struct model model = {.fixture = fixture};
    struct colander_retention retention;
    struct colander_retain_options options;
    struct colander_retained done;

    colander_retention_init(&retention);
    retention.size_max = size * 7 / 2;
    colander_retain_options_init(&options);
    options.goes_on = drop_two;
    options.context = &model;
    OK(colander_family_retain(pattern, &retention, &options, &done, why()));
    assert_int_equal(done.family_count, 0);
    for (int64_t day = FIRST + 2; day < FIRST + 5; day++) {
        struct colander_family *family = open_day(&model, day);

        assert_int_equal(count_rows(family), 200);
        colander_family_close(family);
    }
}

FIXTURE_TEST(a_row_of_the_future_drops_no_family_by_its_size)
{
    struct colander_family *pattern = make_days(fixture, 5, 200);
    struct model model = {.fixture = fixture};
    struct colander_retention retention;
    struct colander_retain_options options;
    struct colander_retained done;
    struct colander_family *family = open_day(&model, FIRST + 1000);

    put_at(family, 1,
           fixture_row(fixture, "at",
                       colander_timestamp((FIRST + 1000) * DAY, 0)));
    (void)flushed_size(fixture, FIRST);
    colander_retention_init(&retention);
    retention.size_max = 1;
    colander_retain_options_init(&options);
    options.now = colander_timestamp((FIRST + 4) * DAY + 5, 0);
    OK(colander_family_retain(pattern, &retention, &options, &done, why()));
    assert_int_equal(done.family_count, 4);
    assert_int_equal(count_rows(family), 1);
    colander_family_close(family);
    family = open_day(&model, FIRST + 4);
    assert_int_equal(count_rows(family), 200);
    colander_family_close(family);

    options.now = colander_timestamp(FIRST * DAY, 0); /* all is later */
    OK(colander_family_retain(pattern, &retention, &options, &done, why()));
    assert_int_equal(done.family_count, 0);
}
