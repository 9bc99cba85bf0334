/*
 * Loads that write runs: which loads do, and what is written when one fails.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include "loading/load_inside.h"

#include <unistd.h>

#define RECORDS 20000 /* some chunks */

static const struct load_limits small = {0, 1}; /* a run for each chunk */

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

/* Writes records; each key appears twice, half a file apart. */
static void
write_file(const char *path, const char *end)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    for (unsigned i = 0; i < RECORDS; i++)
        fprintf(file,
                "{\"_key\":%u,\"at\":%u,\"text\":\"................"
                "................................................\"}\n",
                i % (RECORDS / 2), i);
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
        {0, 1}, {0, 1 << 20}, {UINT64_MAX, 1}, {1 << 20, 1}};
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
    const struct load_limits whole = {0, UINT64_MAX};
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
    const struct load_limits whole = {0, UINT64_MAX};
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
