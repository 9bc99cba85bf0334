/*
 * Stores while memory is short: each of our own allocations in turn fails, in
 * any thread, once or until there is memory again (invariants I1, I2, I6). Each
 * call succeeds or returns NO_MEMORY, and finds return what scans return, with
 * filters or without those that could not be built. Nothing is lost or leaked
 * (the leak checker verifies that), and once there is memory everything works
 * again.
 *
 * RocksDB ends the process if it gets no memory, so its allocations do not
 * fail. The process is this program, started again. COLANDER_RUNS sets the
 * number of allocations at which each kind of failure is tried.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/fault_runs.h"
#include "support/scoped.h"

#include "loading/load.h"

static const struct plan plans[] = {
    {"memory-once", {FAULT_MEMORY, 0, ENOMEM, false, false}},
    {"memory-always", {FAULT_MEMORY, 0, ENOMEM, false, true}},
};

#define PLANS COUNT(plans)
#define RECORDS 300

/* Outside of the store: shared by all that are created and copied there. */
static void
file_path(const char *store, char path[TEMPORARY_SIZE + 32])
{
    (void)snprintf(path, TEMPORARY_SIZE + 32, "%.*s/records.jsonl",
                   (int)(strrchr(store, '/') - store), store);
}

static void
make_file(const char *store)
{
    char path[TEMPORARY_SIZE + 32];
    FILE *file;

    file_path(store, path);
    file = fopen(path, "we");
    assert_non_null(file);
    for (unsigned i = 0; i < RECORDS; i++)
        assert_true(fprintf(file, "{\"n\":%u,\"text\":\"%u of the records\"}\n",
                            i, i) > 0);
    ZERO(fclose(file));
}

static enum colander_code
run_load(struct scenario *it, struct colander_family *family,
         struct colander_error *err)
{
    struct colander_load_options options;
    struct colander_load *load;
    char path[TEMPORARY_SIZE + 32];
    const char *files[] = {path};
    enum colander_code code;

    file_path(it->path, path);
    colander_load_options_init(&options);
    options.resumes = true;
    code = colander_load_create(it->store, family, &options, &load, err);
    if (code == COLANDER_OK) {
        code = colander_load_run(load, files, 1, err);
        assert_int_equal(colander_load_stats(load)->reject_count, 0);
    }
    colander_load_destroy(load);
    return code;
}

/* A load that resumes where memory became short before: once it succeeds, each
 * record exists once. */
static void
load_records(struct scenario *it)
{
    SCOPED_FAMILY family = NULL;
    struct colander_error err;
    struct colander_query query = usual_query();
    uint64_t count;
    enum colander_code code =
        colander_family_open(it->store, "loaded", &family, &err);

    if (!went_well(it, code, &err))
        return;
    code = run_load(it, family, &err);
    if (went_well(it, code, &err) &&
        went_well(it, colander_family_count(family, &query, &count, &err),
                  &err))
        if (count != RECORDS)
            fail_msg("%llu records", (unsigned long long)count);
}

ROLE(short)
{
    make_file(arguments[2]);
    return run_process(arguments, find_plan(plans, PLANS, arguments[4]),
                       load_records);
}

TEST(short_memory_is_reported_and_loses_nothing)
{
    SCOPED(runs_release) struct runs runs;

    runs_init(&runs, __func__);
    run_plans(&runs, "--short", plans, PLANS, random_runs(10));
    assert_int_equal(runs.stopped_count, 0);
}
