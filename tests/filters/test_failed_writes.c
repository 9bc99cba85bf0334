/*
 * Failed writes in parallel with successful ones: values that the failed ones
 * added lead to no row, and are removed like the others.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/cases.h"
#include "support/compared_finds.h"
#include "support/file_limit.h"
#include "support/filter_files.h"
#include "support/plain_finds.h"
#include "support/scoped.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#define WRITERS 3
#define KEYS 200 /* of each writer */
#define ROUNDS 3000
#define VALUES 400

struct writers {
    struct store_fixture *fixture;
    struct colander_family *kept;
    struct colander_family *gone; /* dropped: batches with it fail */
    _Atomic(int64_t) next_writer;
    atomic_uint wrong;
    atomic_uint running;
    struct find_counts counts;
};

static enum colander_code
add_row(struct colander_batch *batch, struct colander_family *family,
        struct colander_row_builder *builder, int64_t key_number, int64_t n)
{
    const struct colander_value part = colander_integer(key_number);
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    struct colander_slice row;
    enum colander_code code = colander_key_encode(&part, 1, &key, NULL);

    colander_row_builder_add(builder, "n", colander_integer(n));
    if (code == COLANDER_OK)
        code = colander_row_builder_finish(builder, &row, NULL);
    if (code == COLANDER_OK)
        code = colander_batch_put(batch, family, colander_buffer_slice(&key),
                                  row, NULL);
    return code;
}

/* Good batches put values from 0 on, bad ones negative values. */
static bool
write_batch(struct writers *writers, struct colander_row_builder *builder,
            struct colander_batch *batch, int64_t first, int64_t round)
{
    const bool is_bad = round % 2 == 1;
    enum colander_code code = COLANDER_OK;

    for (int64_t i = 0; i < 5 && code == COLANDER_OK; i++) {
        int64_t key = first + (round * 7 + i) % KEYS;

        code = add_row(batch, writers->kept, builder, key,
                       is_bad ? -1 - round % VALUES : round % VALUES);
    }
    if (code == COLANDER_OK && is_bad)
        code = add_row(batch, writers->gone, builder, first, -1);
    if (code != COLANDER_OK)
        return false;
    code = colander_batch_commit(batch, NULL, NULL);
    colander_batch_clear(batch);
    return code == (is_bad ? COLANDER_DROPPED : COLANDER_OK);
}

static void *
write_batches(void *context)
{
    struct writers *writers = context;
    const int64_t first = KEYS * atomic_fetch_add(&writers->next_writer, 1);
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_batch *batch;

    if (colander_batch_create(writers->fixture->store, &batch, NULL) !=
        COLANDER_OK)
        return NULL;
    for (int64_t i = 0; i < ROUNDS; i++) {
        if (!write_batch(writers, builder, batch, first, i))
            atomic_fetch_add(&writers->wrong, 1);
    }
    colander_batch_destroy(batch);
    colander_row_builder_destroy(builder);
    atomic_fetch_sub(&writers->running, 1);
    return NULL;
}

static void
assert_no_notes(struct colander_family *family)
{
    for (unsigned i = 0; i < 400 && filter_stats(family).recent_size > 0; i++)
        pause_shortly();
    assert_int_equal(filter_stats(family).recent_count, 0);
    assert_int_equal(filter_stats(family).recent_size, 0);
}

/* Rows are found by the values of good writes, and by no others. */
static void
check_rows(struct writers *writers)
{
    for (int64_t n = -3; n < VALUES; n += 7) {
        uint64_t found = compare_equal(writers->fixture->store, writers->kept,
                                       n % 2 == 0 ? NULL : "n",
                                       colander_integer(n), &writers->counts);

        if (n < 0)
            assert_int_equal(found, 0);
    }
}

FIXTURE_TEST(failed_writes_next_to_good_ones_leave_nothing)
{
    struct writers writers = {.fixture = fixture};
    pthread_t threads[WRITERS];

    writers.kept = kept_family(writers.fixture, "kept");
    writers.gone = kept_family(writers.fixture, "gone");
    OK(colander_family_create(writers.gone, NULL));
    OK(colander_family_drop(writers.gone, NULL));
    atomic_store(&writers.running, WRITERS);
    for (size_t i = 0; i < WRITERS; i++)
        ZERO(pthread_create(&threads[i], NULL, write_batches, &writers));
    for (unsigned i = 0; atomic_load(&writers.running) > 0; i++) {
        check_rows(&writers);
        if (i % 3 == 2)
            OK(colander_family_flush(writers.kept, NULL));
    }
    for (size_t i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&writers.wrong), 0);
    check_rows(&writers);
    OK(colander_family_flush(writers.kept, NULL));
    assert_no_notes(writers.kept);
    check_rows(&writers);
    assert_true(writers.counts.row_count > 0);
    assert_int_equal(count_rows(writers.kept), WRITERS * KEYS);
}

/* ------------------------------------------------------------- the disk --- */

/* Writes rows until the log may not grow, then some more, which also fail. The
 * values are the numbers of the rows. Returns how many succeeded. */
static int64_t
write_until_refused(struct store_fixture *fixture,
                    struct colander_family *family, int64_t count)
{
    char filler[400];
    int64_t done = 0;

    memset(filler, 'f', sizeof(filler) - 1);
    filler[sizeof(filler) - 1] = '\0';
    for (int64_t i = 0; i < count; i++) {
        char key[16];

        snprintf(key, sizeof(key), "%d", (int)i);
        colander_row_builder_add(fixture->builder, "filler",
                                 colander_text(filler));
        if (put_text(fixture, family, key, "n", colander_integer(i), NULL) ==
            COLANDER_OK) {
            assert_int_equal(done, i); /* none after a failed one */
            done = i + 1;
        }
    }
    return done;
}

FIXTURE_TEST(rows_that_the_disk_refused_are_not_found)
{
    enum { COUNT = 400 };
    struct colander_family *family = fixture_family(fixture, "rows");
    int64_t done;

    OK(put_text(fixture, family, "first", "n", colander_integer(-1), NULL));
    limit_files(60000);
    done = write_until_refused(fixture, family, COUNT);
    assert_in_range(done, 10, COUNT - 10);
    for (int64_t i = -1; i < COUNT; i += 3)
        assert_int_equal(count_equal(fixture, family, "n", i), i < done);
    limit_files(RLIM_INFINITY);
    colander_family_close(family);
    assert_int_not_equal(colander_store_close(fixture->store, NULL),
                         COLANDER_BUSY); /* it may be unable to flush */
    fixture_open(fixture);
    family = fixture_family(fixture, "rows");
    for (int64_t i = -1; i < done; i++)
        assert_int_equal(count_equal(fixture, family, "n", i), 1);
    for (int64_t i = done; i < COUNT; i += 7)
        (void)count_equal(fixture, family, "n", i); /* the same as a scan */
    OK(colander_family_flush(family, NULL));
    assert_no_notes(family);
    colander_family_close(family);
}
