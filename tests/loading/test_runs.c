/*
 * Loads that write runs: which loads do, and what is written when one fails.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include "loading/load_inside.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORDS 20000 /* some chunks */

static const struct load_limits small = {0, 1, 0}; /* a run for each chunk */

/* A load, and how it went. */
struct outcome {
    enum colander_code code;
    struct colander_load_stats stats;
    uint64_t runs;
};

static struct outcome
load(struct store_fixture *fixture, struct colander_family *family,
     const char *file, const struct colander_load_options *options,
     const struct load_limits *limits)
{
    struct outcome outcome = {.code = COLANDER_OK};
    struct colander_load *load;

    OK(colander_load_create(fixture->store, family, options, &load, NULL));
    if (limits != NULL)
        load_set_limits(load, limits);
    outcome.code = colander_load_run(load, &file, 1, why());
    outcome.stats = *colander_load_stats(load);
    outcome.runs = load_run_count(load);
    colander_load_destroy(load);
    return outcome;
}

static void
path_of(const struct store_fixture *fixture, char path[TEMPORARY_SIZE + 16])
{
    snprintf(path, TEMPORARY_SIZE + 16, "%s.jsonl", fixture->directory);
}

/* Each key appears twice, half a file apart. */
static void
put_record(FILE *file, unsigned i)
{
    fprintf(file,
            "{\"_key\":%u,\"at\":%u,\"text\":\"................"
            "................................................\"}\n",
            i % (RECORDS / 2), i);
}

static void
write_file(const char *path, const char *end)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    for (unsigned i = 0; i < RECORDS; i++)
        put_record(file, i);
    fputs(end, file);
    ZERO(fclose(file));
}

static void
assert_last_records(struct colander_family *family)
{
    struct colander_cursor *cursor;
    struct colander_result result;
    uint64_t count = 0;
    bool is_row;

    OK(colander_family_find(family, NULL, &cursor, NULL));
    for (;;) {
        struct colander_value at;
        bool found;

        OK(colander_cursor_next(cursor, &is_row, &result, NULL));
        if (!is_row)
            break;
        OK(colander_row_get(result.row, "at", &at, &found, NULL));
        assert_int_equal(at.integer, RECORDS / 2 + count++);
    }
    assert_int_equal(count, RECORDS / 2);
    colander_cursor_close(cursor);
}

/* In runs, in batches, and in batches before runs. */
FIXTURE_TEST(a_later_record_wins_however_rows_are_written)
{
    static const struct load_limits limits[] = {
        {0, 1, 0}, {0, 1 << 20, 0}, {UINT64_MAX, 1, 0}, {1 << 20, 1, 0}};
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    char path[TEMPORARY_SIZE + 16];

    path_of(fixture, path);
    write_file(path, "");
    for (size_t i = 0; i < COUNT(limits); i++) {
        const struct outcome outcome =
            load(fixture, family, path, NULL, &limits[i]);

        assert_int_equal(outcome.code, COLANDER_OK);
        assert_int_equal(outcome.runs > 0, limits[i].large_size != UINT64_MAX);
        assert_int_equal(outcome.stats.row_count, RECORDS);
        if (i == 0) {
            assert_true(outcome.stats.knows_new);
            assert_int_equal(outcome.stats.new_count, RECORDS / 2);
            assert_int_equal(outcome.stats.replaced_count, RECORDS / 2);
        }
        assert_last_records(family);
    }
    ZERO(unlink(path));
}

/* A resumed load reads only what follows. */
FIXTURE_TEST(what_was_read_before_a_failure_is_written)
{
    const struct load_limits whole = {0, UINT64_MAX, 0};
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct colander_load_options options;
    char path[TEMPORARY_SIZE + 16];
    struct outcome outcome;

    colander_load_options_init(&options);
    path_of(fixture, path);
    write_file(path, "{\n");
    options.rejects_max = 0;
    outcome = load(fixture, family, path, &options, &whole);
    assert_int_equal(outcome.code, COLANDER_LIMIT);
    assert_int_equal(outcome.runs, 1);
    assert_int_equal(outcome.stats.row_count, RECORDS);
    assert_last_records(family);
    write_file(path, "{\n{\"_key\":0,\"at\":10000}\n");
    options.resumes = true;
    outcome = load(fixture, family, path, &options, &small);
    assert_int_equal(outcome.code, COLANDER_OK);
    assert_int_equal(outcome.stats.row_count, 1);
    assert_last_records(family);
    ZERO(unlink(path));
}

FIXTURE_TEST(only_loads_that_replace_rows_write_runs)
{
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct colander_load_options options;
    char path[TEMPORARY_SIZE + 16];

    path_of(fixture, path);
    write_file(path, "");
    colander_load_options_init(&options);
    assert_int_equal(load(fixture, family, path, &options, NULL).runs, 0);
    for (unsigned i = COLANDER_LOAD_REPLACE; i <= COLANDER_LOAD_REJECT; i++) {
        struct outcome outcome;

        options.duplicates = (enum colander_load_duplicates)i;
        outcome = load(fixture, family, path, &options, &small);
        assert_int_equal(outcome.code, COLANDER_OK);
        assert_int_equal(outcome.runs > 0, i == COLANDER_LOAD_REPLACE);
    }
    ZERO(unlink(path));
}

/* It drops its oldest files, which are those of level 0. */
FIXTURE_TEST(a_fifo_store_gets_no_runs)
{
    char path[TEMPORARY_SIZE + 16];

    path_of(fixture, path);
    write_file(path, "");
    fixture_close(fixture);
    temporary_remove(fixture->directory);
    fixture->options.compaction = COLANDER_COMPACTION_FIFO;
    fixture_open(fixture);
    {
        SCOPED_FAMILY family = fixture_family(fixture, "rows");

        assert_int_equal(load(fixture, family, path, NULL, &small).runs, 0);
        assert_last_records(family);
    }
    ZERO(unlink(path));
}

/* If the family is dropped, the run is not written, and its rows do not
 * count. */
static void
drop(void *context, const struct colander_load_stats *stats)
{
    if (stats->text_size > 0 && colander_family_exists(context))
        OK(colander_family_drop(context, NULL));
}

FIXTURE_TEST(rows_of_a_run_that_fails_do_not_count)
{
    const struct load_limits whole = {0, UINT64_MAX, 0};
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct colander_load_options options;
    char path[TEMPORARY_SIZE + 16];
    struct outcome outcome;

    path_of(fixture, path);
    write_file(path, "");
    colander_load_options_init(&options);
    options.report_progress = drop;
    options.context = family;
    outcome = load(fixture, family, path, &options, &whole);
    assert_int_equal(outcome.code, COLANDER_DROPPED);
    assert_int_equal(outcome.runs, 0);
    assert_int_equal(outcome.stats.row_count, 0);
    assert_int_equal(outcome.stats.new_count, 0);
    ZERO(unlink(path));
}

/* Items are written at once, but not before the run of an earlier file. */
FIXTURE_TEST(items_come_after_the_run_of_an_earlier_file)
{
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    char items[TEMPORARY_SIZE + 32];
    char path[TEMPORARY_SIZE + 16];
    const char *const files[] = {path, items};
    struct colander_load *load;
    struct colander_query query;
    uint64_t count;
    FILE *file;

    path_of(fixture, path);
    file = fopen(path, "we");
    assert_non_null(file);
    for (unsigned i = 0; i < RECORDS; i++)
        fprintf(file, "{\"_key\":\"k%u\"}\n", i);
    ZERO(fclose(file));
    snprintf(items, sizeof(items), "%s.elasticsearch", fixture->directory);
    file = fopen(items, "we");
    assert_non_null(file);
    for (unsigned i = 0; i < 100; i++)
        fprintf(file, "{\"delete\":{\"_id\":\"k%u\"}}\n", RECORDS - 1 - i);
    ZERO(fclose(file));
    OK(colander_load_create(fixture->store, family, NULL, &load, NULL));
    load_set_limits(load, &(struct load_limits){0, UINT64_MAX, 0});
    OK(colander_load_run(load, files, 2, why()));
    colander_load_destroy(load);
    colander_query_init(&query);
    OK(colander_family_count(family, &query, &count, NULL));
    assert_int_equal(count, RECORDS - 100);
    ZERO(unlink(path));
    ZERO(unlink(items));
}

/* Rejects do not make a run larger, but a load can be resumed after them. */
FIXTURE_TEST(a_run_of_rejects_ends)
{
    const struct load_limits limits = {0, 200000, 0};
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct colander_load_options options;
    char path[TEMPORARY_SIZE + 16];
    struct outcome outcome;
    FILE *file;

    colander_load_options_init(&options);
    path_of(fixture, path);
    file = fopen(path, "we");
    assert_non_null(file);
    fputs("{\"_key\":1}\n", file);
    for (unsigned i = 0; i < 5 * RECORDS; i++)
        fprintf(file, "not a record, but as long as one of them, %u\n", i);
    ZERO(fclose(file));
    outcome = load(fixture, family, path, &options, &limits);
    assert_int_equal(outcome.code, COLANDER_OK);
    assert_int_equal(outcome.stats.row_count, 1);
    assert_int_equal(outcome.stats.reject_count, 5 * RECORDS);
    assert_in_range(outcome.runs, 3, 6); /* of 4.8 MB */
    ZERO(unlink(path));
}

/* ---------------------------------------------------------------- pipes --- */

/* Writes to a pipe what write_file writes, in two halves. */
struct pouring {
    char path[TEMPORARY_SIZE + 16];
    struct colander_family *family;
    bool waits;    /* for the rows of the first half */
    bool has_seen; /* these */
};

/* Whether the family has so many rows soon. */
static bool
has_rows(struct colander_family *family, uint64_t expected)
{
    const struct timespec pause = {0, 10000000};

    for (unsigned i = 0; i < 3000; i++) {
        struct colander_query query;
        uint64_t count = 0;

        colander_query_init(&query);
        if (colander_family_count(family, &query, &count, NULL) ==
                COLANDER_OK &&
            count == expected)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

static void *
pour(void *context)
{
    struct pouring *pouring = context;
    FILE *file = fopen(pouring->path, "we");

    for (unsigned i = 0; file != NULL && i < RECORDS; i++) {
        if (i == RECORDS / 2 && pouring->waits) {
            fflush(file);
            pouring->has_seen = has_rows(pouring->family, RECORDS / 2);
        }
        put_record(file, i);
    }
    if (file != NULL)
        fclose(file);
    return NULL;
}

static struct outcome
load_poured(struct store_fixture *fixture, struct pouring *pouring,
            void *(*pourer)(void *), const struct load_limits *limits)
{
    struct outcome outcome;
    pthread_t thread;

    path_of(fixture, pouring->path);
    ZERO(mkfifo(pouring->path, 0600));
    ZERO(pthread_create(&thread, NULL, pourer, pouring));
    outcome = load(fixture, pouring->family, pouring->path, NULL, limits);
    pthread_join(thread, NULL);
    ZERO(unlink(pouring->path));
    assert_int_equal(outcome.code, COLANDER_OK);
    assert_int_equal(outcome.stats.row_count, RECORDS);
    return outcome;
}

static struct outcome
load_pipe(struct store_fixture *fixture, struct pouring *pouring,
          const struct load_limits *limits)
{
    const struct outcome outcome = load_poured(fixture, pouring, pour, limits);

    assert_last_records(pouring->family);
    return outcome;
}

#define ALWAYS 3600000 /* milliseconds that no test takes */

/* The first rows are written in batches, and after a run the next begins. */
FIXTURE_TEST(a_pipe_that_gives_much_is_loaded_in_runs)
{
    const struct load_limits much = {1 << 18, 1 << 19, ALWAYS};
    const struct load_limits more = {1 << 30, 1 << 19, ALWAYS};
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct pouring pouring = {.family = family};

    assert_true(load_pipe(fixture, &pouring, &much).runs > 1);
    assert_int_equal(load_pipe(fixture, &pouring, &more).runs, 0);
}

#define BURST 500
#define BURST_KEYS 200

/* Writes bursts, each with keys of its own that come again and again: many rows
 * that go in a run, and after a pause some in a batch. */
static void *
pour_bursts(void *context)
{
    const struct pouring *pouring = context;
    const struct timespec pause = {0, 4000000};
    FILE *file = fopen(pouring->path, "we");

    for (unsigned i = 0; file != NULL && i < RECORDS; i++) {
        const unsigned at = i % BURST;

        if (at == 0 || at == BURST - 10) {
            fflush(file);
            nanosleep(&pause, NULL);
        }
        fprintf(file, "{\"_key\":%u,\"is_last\":%s,\"text\":\"%0100u\"}\n",
                i - at + at % BURST_KEYS,
                at >= BURST - BURST_KEYS ? "true" : "false", i);
    }
    if (file != NULL)
        fclose(file);
    return NULL;
}

/* A batch after a run waits until that is written. */
FIXTURE_TEST(a_later_record_wins_when_batches_come_after_runs)
{
    const struct load_limits often = {1 << 15, UINT64_MAX, 2};
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct pouring pouring = {.family = family};
    struct colander_query query;
    uint64_t count;

    colander_query_init(&query);
    query.where =
        colander_where("is_last", COLANDER_EQ, colander_boolean(true), NULL);
    assert_non_null(query.where);
    assert_true(load_poured(fixture, &pouring, pour_bursts, &often).runs > 0);
    OK(colander_family_count(family, &query, &count, NULL));
    assert_int_equal(count, RECORDS / BURST * BURST_KEYS);
    colander_predicate_destroy((struct colander_predicate *)query.where);
}

/* While nothing comes after them. */
FIXTURE_TEST(rows_of_a_pipe_are_visible_soon)
{
    const struct load_limits soon = {0, UINT64_MAX, 500};
    const struct load_limits slow = {1 << 30, 1, 1};
    SCOPED_FAMILY family = fixture_family(fixture, "rows");
    struct pouring pouring = {.family = family, .waits = true};

    assert_true(load_pipe(fixture, &pouring, &soon).runs > 0);
    assert_true(pouring.has_seen);
    OK(colander_family_drop(family, NULL));
    {
        SCOPED_FAMILY other = fixture_family(fixture, "rows");

        pouring.family = other;
        pouring.has_seen = false;
        assert_int_equal(load_pipe(fixture, &pouring, &slow).runs, 0);
        assert_true(pouring.has_seen);
    }
}
