/*
 * Loads into families by time, while these are dropped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/load.h"
#include "loading/partition.h"
#include "support/store_fixture.h"

#define ROWS 6000
#define PATTERN "logs/{day}"

/* Writes rows of two days in turn, with the same keys in both. */
static void
write_rows(const char *name)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    for (int i = 0; i < ROWS; i++)
        fprintf(file,
                "{\"_key\":%d,\"at\":\"2026-11-2%dT00:00:00Z\",\"text\":\"a "
                "row of some length\"}\n",
                i / 2, i % 2);
    assert_int_equal(fclose(file), 0);
}

static enum colander_code
load(struct store_fixture *fixture, const char *name,
     enum colander_load_duplicates duplicates,
     const struct colander_load_stats **stats, struct colander_load **load)
{
    struct colander_family *family = kept_family(fixture, PATTERN);
    struct colander_load_options options;
    struct colander_schema *schema;
    enum colander_code code;

    colander_load_options_init(&options);
    OK(colander_schema_create(&schema, why()));
    OK(colander_schema_set_type(schema, "at", "time", why()));
    options.partition = "at";
    options.duplicates = duplicates;
    options.schema = schema;
    OK(colander_load_create(fixture->store, family, &options, load, why()));
    code = colander_load_run(*load, &name, 1, why());
    *stats = colander_load_stats(*load);
    colander_schema_close(schema);
    return code;
}

/* Before a batch is committed, the family of one of the days is dropped, as
 * often as this says: while it is created, and the last times before rows are
 * written. */
static unsigned drops_left;
static struct store_fixture *dropped_from;

/* And another writer has put rows into that of the other day: puts_wanted,
 * under the keys from 0 on. */
static int64_t puts_wanted;
static int64_t puts_done;

static void
put_another(struct store_fixture *fixture)
{
    if (puts_done == puts_wanted)
        return;
    put_at(kept_family(fixture, "logs/2026-11-21"), puts_done++,
           fixture_row(fixture, "text", colander_text("another")));
}

enum colander_code
__real_colander_batch_commit(struct colander_batch *batch,
                             const struct colander_write_options *options,
                             struct colander_error *err);

enum colander_code
__wrap_colander_batch_commit(struct colander_batch *batch,
                             const struct colander_write_options *options,
                             struct colander_error *err)
{
    const bool has_rows = colander_batch_count(batch) > 1;
    struct colander_family *family = NULL;

    if ((drops_left > 4 || (drops_left > 0 && has_rows)) &&
        colander_family_open(dropped_from->store, "logs/2026-11-20", &family,
                             NULL) == COLANDER_OK &&
        colander_family_exists(family) &&
        colander_family_drop(family, NULL) == COLANDER_OK)
        drops_left--;
    colander_family_close(family);
    if (has_rows)
        put_another(dropped_from);
    return __real_colander_batch_commit(batch, options, err);
}

FIXTURE_TEST(a_family_that_is_dropped_meanwhile_does_not_end_a_load)
{
    const struct colander_load_stats *stats;
    struct colander_load *run;
    char name[TEMPORARY_SIZE + 32];

    (void)snprintf(name, sizeof(name), "%s.jsonl", fixture->directory);
    write_rows(name);
    dropped_from = fixture;
    drops_left = 8;
    OK(load(fixture, name, COLANDER_LOAD_REPLACE, &stats, &run));
    assert_int_equal(drops_left, 0);
    assert_int_equal(stats->row_count, ROWS);
    assert_int_equal(stats->reject_count, 0);
    assert_int_equal(count_rows(kept_family(fixture, "logs/2026-11-20")),
                     ROWS / 2);
    assert_int_equal(count_rows(kept_family(fixture, "logs/2026-11-21")),
                     ROWS / 2);
    assert_int_equal(count_rows(kept_family(fixture, PATTERN)), 0);
    colander_load_destroy(run);
    (void)remove(name);
}

/* Rows that must be new: one is known at first, in the family that is dropped.
 * Three are written meanwhile: before each of two commits that fail, and before
 * the one that does not. */
FIXTURE_TEST(rows_of_families_that_must_be_new_are_counted_once)
{
    char name[TEMPORARY_SIZE + 32];

    (void)snprintf(name, sizeof(name), "%s.jsonl", fixture->directory);
    write_rows(name);
    for (int i = 0; i < 2; i++) {
        struct colander_family *first = kept_family(fixture, "logs/2026-11-20");
        struct colander_family *second =
            kept_family(fixture, "logs/2026-11-21");
        const struct colander_load_stats *stats;
        struct colander_load *run;

        put_at(first, 5, fixture_row(fixture, "text", colander_text("known")));
        dropped_from = fixture;
        drops_left = 2;
        puts_wanted = 3;
        puts_done = 0;
        OK(load(fixture, name,
                i == 0 ? COLANDER_LOAD_KEEP : COLANDER_LOAD_REJECT, &stats,
                &run));
        assert_int_equal(drops_left, 0);
        assert_int_equal(puts_done, 3);
        assert_int_equal(stats->row_count, ROWS - 4);
        assert_int_equal(stats->new_count, ROWS - 4);
        assert_int_equal(stats->kept_count, i == 0 ? 4 : 0);
        assert_int_equal(stats->reject_count, i == 0 ? 0 : 4);
        colander_load_destroy(run);
        first = kept_family(fixture, "logs/2026-11-20");
        assert_int_equal(count_rows(first), ROWS / 2 - 1);
        assert_int_equal(count_rows(second), ROWS / 2);
        OK(colander_family_drop(first, NULL));
        OK(colander_family_drop(second, NULL));
    }
    puts_wanted = puts_done = 0;
    (void)remove(name);
}

FIXTURE_TEST(a_pattern_and_a_column_of_times_belong_together)
{
    struct colander_family *plain = kept_family(fixture, "logs");
    struct colander_family *pattern = kept_family(fixture, PATTERN);
    struct colander_load_options options;
    struct colander_load *run;

    colander_load_options_init(&options);
    FAILS(colander_load_create(fixture->store, pattern, &options, &run, why()),
          COLANDER_INVALID);
    options.partition = "at";
    FAILS(colander_load_create(fixture->store, plain, &options, &run, why()),
          COLANDER_INVALID);
    options.partition = "at[]";
    FAILS(colander_load_create(fixture->store, pattern, &options, &run, why()),
          COLANDER_INVALID);
    options.partition = "at";
    options.is_bulk = true;
    FAILS(colander_load_create(fixture->store, pattern, &options, &run, why()),
          COLANDER_INVALID);
    options.is_bulk = false;
    options.format = "elasticsearch";
    FAILS(colander_load_create(fixture->store, pattern, &options, &run, why()),
          COLANDER_INVALID);
    assert_non_null(strstr(error_text(), "elasticsearch"));
}

/* Places rows of this many hours. */
static enum colander_code
place(struct partition *partition, int64_t first, size_t count)
{
    struct waiting_row *waiting = calloc(count, sizeof(*waiting));
    struct chunk chunk = {.waiting = waiting, .waiting_count = count};
    enum colander_code code;

    assert_non_null(waiting);
    for (size_t i = 0; i < count; i++)
        waiting[i].second = (first + (int64_t)i) * 3600;
    code = partition_place(partition, &chunk, why());
    assert_int_equal(partition_is_placed(&chunk), code == COLANDER_OK);
    free(waiting);
    return code;
}

static size_t
count_families(struct store_fixture *fixture)
{
    struct colander_names names = {NULL, 0};
    size_t count;

    OK(colander_store_families(fixture->store, &names, why()));
    count = names.count;
    colander_names_release(&names);
    return count;
}

FIXTURE_TEST(too_many_families_are_none_and_an_hour_later_others_are_created)
{
    for (int i = 0; i < 2; i++) {
        struct partition partition = {
            .store = fixture->store,
            .pattern = kept_family(fixture, i == 0 ? "a{hour}" : "b{hour}"),
            .column = "at",
            .follows = i == 1,
        };
        size_t before;

        OK(partition_begin(&partition, why()));
        OK(place(&partition, 0, 5));
        assert_int_equal(partition.new_count, 5);
        before = count_families(fixture);
        partition.new_count = PARTITION_NEW_MAX - 3; /* that many before */
        FAILS(place(&partition, 3, 6), COLANDER_LIMIT);
        assert_int_equal(count_families(fixture), before);
        OK(place(&partition, 3, 5));
        assert_int_equal(count_families(fixture), before + 3);
        FAILS(place(&partition, 0, 9), COLANDER_LIMIT);
        partition.hour_begun -= PARTITION_HOUR_US;
        if (partition.follows) {
            OK(place(&partition, 0, 9));
            assert_int_equal(partition.new_count, 1);
        } else {
            FAILS(place(&partition, 0, 9), COLANDER_LIMIT);
        }
        partition_release(&partition);
    }
}
