/*
 * What happens at the moment at which the files of a run join a family: it is
 * dropped, a file cannot be linked, a compaction replaces the files at once. No
 * filter is left over, and rows are found.
 *
 * RocksDB links the files into the database, installs them, removes their
 * former names, and reports them. The calls for both names are replaced here.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/bulk/bulk_inside.h"
#include "columns/runs.h"
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/filter_files.h"
#include "support/history.h"
#include "support/interposed_calls.h"
#include "support/scoped.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#define ROWS 600

/* What is done when the next file is linked, and when the next former name is
 * removed; NULL: nothing. */
static void (*_Atomic on_link)(void);
static void (*_Atomic on_unlink)(void);

/* How many links are made before one fails; below 0: none does. */
static atomic_int links_left = -1;

static struct colander_family *joined; /* for both */
static pthread_t thread;
static enum colander_code thread_code;

static void
act(void (*_Atomic *action)(void))
{
    void (*due)(void) = atomic_exchange(action, NULL);

    if (due != NULL)
        due();
}

PUBLIC int
link(const char *from, const char *to)
{
    act(&on_link);
    if (atomic_load(&links_left) >= 0 &&
        atomic_fetch_sub(&links_left, 1) == 0) {
        errno = EIO;
        return -1;
    }
    return REAL(link)(from, to);
}

PUBLIC int
unlink(const char *path)
{
    if (strstr(path, "/bulk-") != NULL)
        act(&on_unlink);
    return REAL(unlink)(path);
}

/* Begins a run of several files. */
static struct colander_bulk *
make_run(struct store_fixture *fixture, struct colander_family *family,
         int64_t version)
{
    struct bulk_limits limits = bulk_limits_usual();
    struct colander_bulk *run;
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    char text[101] = "";

    memset(text, 't', sizeof(text) - 1); /* blocks are not large */

    limits.is_run = true;
    limits.sst_size = 4000;
    OK(bulk_create_limited(family, &limits, &run, NULL));
    for (unsigned i = 0; i < ROWS; i++) {
        colander_row_builder_add(fixture->builder, "text", colander_text(text));
        OK(colander_bulk_add(
            run, integer_key(i, &key),
            fixture_row(fixture, "version", colander_integer(version)), NULL));
    }
    return run;
}

static void
assert_rows_have(struct store_fixture *fixture, struct colander_family *family,
                 int64_t version)
{
    struct find_counts counts = {.row_count = 0};

    assert_int_equal(compare_equal(fixture->store, family, "version",
                                   colander_integer(version), &counts),
                     ROWS);
}

/* Asserts that there are no filters soon, whatever their names. */
static void
assert_no_filters(const struct store_fixture *fixture)
{
    struct file_numbers filters;

    for (unsigned i = 0; i < 2000; i++) {
        list_filters(fixture, &filters);
        if (filters.count + filters.other_count == 0)
            return;
        pause_shortly();
    }
    fail_msg("%zu filters and %zu others", filters.count, filters.other_count);
}

/* -------------------------------------------------------------- dropped --- */

static void *
drop(void *context)
{
    thread_code = colander_family_drop(context, NULL);
    return NULL;
}

/* Begins a drop, which waits for the files. */
static void
begin_drop(void)
{
    pthread_create(&thread, NULL, drop, joined);
    while (colander_family_exists(joined))
        pause_shortly();
}

FIXTURE_TEST(a_family_that_is_dropped_while_files_join_leaves_no_filter)
{
    struct colander_bulk *run;

    joined = fixture_family(fixture, "rows");
    run = make_run(fixture, joined, 1);
    atomic_store(&on_link, begin_drop);
    OK(colander_bulk_commit(run, NULL, why()));
    pthread_join(thread, NULL);
    OK(thread_code);
    colander_bulk_destroy(run);
    colander_family_close(joined); /* only then are its files removed */
    assert_no_filters(fixture);
}

/* --------------------------------------------------------------- failed --- */

/* The disk fails at each link in turn. */
FIXTURE_TEST(a_run_that_cannot_join_leaves_no_filter)
{
    struct colander_family *family;
    enum colander_code code;
    int failures = 0;

    fixture->options.compression = COLANDER_COMPRESSION_NONE;
    do {
        struct colander_bulk *run;

        fixture_remake(fixture);
        family = kept_family(fixture, "rows");
        run = make_run(fixture, family, 1);
        atomic_store(&links_left, failures);
        code = colander_bulk_commit(run, NULL, why());
        atomic_store(&links_left, -1);
        colander_bulk_destroy(run);
        if (code != COLANDER_OK) {
            failures++;
            assert_no_filters(fixture);
            run = make_run(fixture, family, 2);
            OK(colander_bulk_commit(run, NULL, why()));
            colander_bulk_destroy(run);
            assert_rows_have(fixture, family, 2);
        }
        assert_filters_of_ssts(fixture, &family, 1);
    } while (code != COLANDER_OK);
    assert_true(failures > 2);
}

/* ------------------------------------------------------------- replaced --- */

static void *
compact(void *context)
{
    thread_code = colander_family_compact(context, NULL);
    return NULL;
}

static void
compact_all(void)
{
    pthread_create(&thread, NULL, compact, joined);
    pthread_join(thread, NULL);
}

/* They are reported as installed only after a compaction has replaced them. */
FIXTURE_TEST(files_that_are_replaced_before_they_are_reported_are_not_listed)
{
    struct colander_bulk *run;

    joined = kept_family(fixture, "rows");
    for (int64_t version = 1; version <= 3; version++) {
        run = make_run(fixture, joined, version);
        atomic_store(&on_unlink, compact_all);
        OK(colander_bulk_commit(run, NULL, why()));
        OK(thread_code);
        assert_null(atomic_load(&on_unlink));
        colander_bulk_destroy(run);
        assert_filters_of_ssts(fixture, &joined, 1);
        assert_rows_have(fixture, joined, version);
    }
    assert_int_equal(filter_stats(joined).damaged_count, 0);
    assert_int_equal(filter_stats(joined).rebuilt_count, 0);
}
