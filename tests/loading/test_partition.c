/*
 * Loads into families by time, while these are dropped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/thread.h"
#include "loading/load.h"
#include "support/claims.h"
#include "support/store_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define ROWS 60000
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
                "row that takes some time to write\"}\n",
                i / 2, i % 2);
    assert_int_equal(fclose(file), 0);
}

static enum colander_code
load(struct store_fixture *fixture, const char *name,
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
    options.schema = schema;
    OK(colander_load_create(fixture->store, family, &options, load, why()));
    code = colander_load_run(*load, &name, 1, why());
    *stats = colander_load_stats(*load);
    colander_schema_close(schema);
    return code;
}

struct dropper {
    struct colander_store *store;
    atomic_bool is_over;
    unsigned count;
};

/* Drops the family of one of the days, again and again. */
static void *
drop(void *context)
{
    const struct timespec moment = {0, 1000000};
    struct dropper *dropper = context;

    while (!atomic_load(&dropper->is_over)) {
        struct colander_family *family;

        DID(colander_family_open(dropper->store, "logs/2026-11-20", &family,
                                 why()));
        if (colander_family_exists(family) &&
            colander_family_drop(family, NULL) == COLANDER_OK)
            dropper->count++;
        colander_family_close(family);
        (void)nanosleep(&moment, NULL);
    }
    return NULL;
}

FIXTURE_TEST(a_family_that_is_dropped_meanwhile_does_not_end_a_load)
{
    struct dropper dropper = {.store = fixture->store};
    const struct colander_load_stats *stats;
    struct colander_load *run;
    char name[TEMPORARY_SIZE + 32];
    pthread_t thread;

    (void)snprintf(name, sizeof(name), "%s.jsonl", fixture->directory);
    write_rows(name);
    assert_int_equal(thread_create(&thread, drop, &dropper), 0);
    OK(load(fixture, name, &stats, &run));
    atomic_store(&dropper.is_over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(stats->row_count, ROWS);
    assert_int_equal(stats->reject_count, 0);
    assert_true(dropper.count > 0);
    assert_int_equal(count_rows(kept_family(fixture, "logs/2026-11-21")),
                     ROWS / 2);
    assert_int_equal(count_rows(kept_family(fixture, PATTERN)), 0);
    colander_load_destroy(run);
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
}
