/*
 * retain: old rows deleted while another thread puts rows one by one, against
 * puts alone and beside a thread that only reads; how the bytes on disk follow;
 * and a family of a day dropped, with as many rows.
 *
 * Each round deletes a slice of the rows, the oldest ones. So the number of
 * rows falls from round to round, down to those of one slice.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_figures.h"
#include "bench_store.h"
#include "core/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define DAY 86400
#define PUTS_MIN 2000 /* of a phase, which also lasts as long as the deletes */
#define PAUSE_US 200  /* between two puts */
#define SAMPLES_MAX 1000000
#define SETTLE_S 600 /* waited at most for compactions */
#define SETTLED 0.05 /* more bytes than the rows need */

struct latencies {
    double *seconds; /* of each put */
    size_t count;
};

struct experiment {
    const struct bench_options *options;
    uint64_t rows;
    unsigned slices; /* one is left at the end */
    struct bench_store store;
    struct colander_row_builder *builder;
    int64_t next_key; /* of the rows that are put one by one */
    double *alone;    /* 99th percentile of a round: of puts alone, */
    double *reading;  /* beside a scan, */
    double *beside;   /* and beside deletes */
    double *retain_s;
    uint64_t deleted;
};

/* ----------------------------------------------------------------- rows --- */

static struct colander_slice
make_row(struct experiment *it, uint64_t number, int64_t at)
{
    struct colander_slice row;
    char text[64];

    (void)snprintf(text, sizeof(text), "message %llu of %llu",
                   (unsigned long long)(bench_mix(number) % 100000),
                   (unsigned long long)number);
    colander_row_builder_add(it->builder, "at", colander_timestamp(at, 0));
    colander_row_builder_add(it->builder, "text", colander_text(text));
    colander_row_builder_add(
        it->builder, "n",
        colander_integer((int64_t)(bench_mix(number + 5) % 1000)));
    bench_check(colander_row_builder_finish(it->builder, &row, &bench_error));
    return row;
}

/* A slice has the times of one day. */
static int64_t
time_of(const struct experiment *it, uint64_t number)
{
    const uint64_t slice_rows = it->rows / it->slices + 1;
    const uint64_t in_slice = number % slice_rows;

    return (int64_t)(number / slice_rows * DAY + in_slice * DAY / slice_rows);
}

static void
load(struct experiment *it)
{
    struct colander_key key;

    for (uint64_t i = 0; i < it->rows; i++) {
        const struct colander_value part = colander_integer((int64_t)i);

        bench_store_put(&it->store, colander_key_of(&key, &part, 1),
                        make_row(it, i, time_of(it, i)));
    }
    bench_check(colander_family_set_time_column(
        it->store.store, it->store.family, "at", &bench_error));
    bench_store_settle(&it->store);
}

/* ----------------------------------------------------------------- puts --- */

static int
compare(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;

    return (*x > *y) - (*x < *y);
}

/* Puts one new row, and notes how long that took. */
static void
put_one(struct experiment *it, struct latencies *latencies)
{
    const struct timespec pause = {0, PAUSE_US * 1000L};
    const struct colander_value part = colander_integer(it->next_key++);
    struct colander_key key;
    struct colander_slice row =
        make_row(it, (uint64_t)it->next_key, it->slices * (int64_t)DAY - 1);
    double start;

    (void)nanosleep(&pause, NULL);
    start = bench_now();
    bench_check(colander_family_put(it->store.family,
                                    colander_key_of(&key, &part, 1), row, NULL,
                                    &bench_error));
    if (latencies->count < SAMPLES_MAX)
        latencies->seconds[latencies->count++] = bench_now() - start;
}

static double
percentile(struct latencies *latencies, double part)
{
    qsort(latencies->seconds, latencies->count, sizeof(double), compare);
    return latencies->seconds[(size_t)((double)(latencies->count - 1) * part)];
}

/* -------------------------------------------------------------- deletes --- */

struct deletes {
    struct experiment *it;
    unsigned slices_kept;
    atomic_bool is_over;
    uint64_t count;
    double seconds;
};

static void *
run_deletes(void *context)
{
    struct deletes *deletes = context;
    const struct colander_keep keep = {NULL, 0,
                                       (int64_t)deletes->slices_kept * DAY - 1};
    struct colander_retention retention;
    struct colander_retain_options options;
    struct colander_retained done;
    const double start = bench_now();

    colander_retention_init(&retention);
    retention.keeps = &keep;
    retention.keep_count = 1;
    colander_retain_options_init(&options);
    options.yields = true;
    options.now = colander_timestamp((int64_t)deletes->it->slices * DAY - 1, 0);
    bench_check(colander_family_retain(deletes->it->store.family, &retention,
                                       &options, &done, &bench_error));
    deletes->seconds = bench_now() - start;
    deletes->count = done.row_count;
    atomic_store(&deletes->is_over, true);
    return NULL;
}

/* ----------------------------------------------------------------- scan --- */

struct scan {
    struct experiment *it;
    atomic_bool is_stopped;
};

/* Counts all rows until it is stopped. */
static void *
run_scan(void *context)
{
    struct scan *scan = context;
    struct colander_query query;

    colander_query_init(&query);
    query.thread_count = 1;
    while (!atomic_load(&scan->is_stopped)) {
        struct colander_cursor *cursor;
        struct colander_result result;
        bool is_row = true;

        bench_check(colander_family_find(scan->it->store.family, &query,
                                         &cursor, &bench_error));
        while (is_row && !atomic_load(&scan->is_stopped))
            bench_check(
                colander_cursor_next(cursor, &is_row, &result, &bench_error));
        colander_cursor_close(cursor);
    }
    return NULL;
}

/* Puts rows beside a scan. */
static void
put_beside_scan(struct experiment *it, struct latencies *latencies)
{
    struct scan scan = {.it = it};
    pthread_t thread;

    if (thread_create(&thread, run_scan, &scan) != 0)
        bench_fail("retain", "cannot start a thread");
    while (latencies->count < PUTS_MIN)
        put_one(it, latencies);
    atomic_store(&scan.is_stopped, true);
    (void)pthread_join(thread, NULL);
}

/* Puts rows alone, beside a scan, and beside deletes of the oldest slice. */
static void
run_round(struct experiment *it, unsigned round)
{
    struct latencies latencies = {bench_allocate(SAMPLES_MAX, sizeof(double)),
                                  0};
    struct deletes deletes = {.it = it, .slices_kept = it->slices - round - 1};
    pthread_t thread;

    bench_progress("retaining: round %u", round + 1);
    while (latencies.count < PUTS_MIN)
        put_one(it, &latencies);
    it->alone[round] = percentile(&latencies, 0.99);
    latencies.count = 0;
    put_beside_scan(it, &latencies);
    it->reading[round] = percentile(&latencies, 0.99);
    latencies.count = 0;
    if (thread_create(&thread, run_deletes, &deletes) != 0)
        bench_fail("retain", "cannot start a thread");
    while (!atomic_load(&deletes.is_over))
        put_one(it, &latencies);
    (void)pthread_join(thread, NULL);
    if (deletes.count == 0)
        bench_fail("retain", "no row was old");
    if (latencies.count == 0)
        put_one(it, &latencies);
    it->beside[round] = percentile(&latencies, 0.99);
    it->retain_s[round] = deletes.seconds;
    it->deleted += deletes.count;
    free(latencies.seconds);
}

/* ---------------------------------------------------------------- bytes --- */

static double
megabytes(struct experiment *it)
{
    return (double)bench_store_sizes(&it->store).sst_size / 1e6;
}

/* Prints how the bytes on disk follow without a compaction being asked for, and
 * what they are after one. */
static void
print_bytes(struct experiment *it, struct bench_figures *figures, double before)
{
    static const double moments[] = {0, 1, 10, 60, 300, SETTLE_S};
    const double start = bench_now();
    double followed = 0;
    double last = megabytes(it);

    bench_figure(figures, 1, before, "mb_before");
    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        while (bench_now() - start < moments[i]) {
            const struct timespec pause = {0, 100000000L};

            (void)nanosleep(&pause, NULL);
        }
        if (i > 0 && megabytes(it) >= last * (1 - SETTLED / 10))
            break; /* nothing compacts any more */
        last = megabytes(it);
        followed = bench_now() - start;
        bench_figure(figures, 1, last, "mb_after_%.0f_s", moments[i]);
    }
    bench_store_settle(&it->store);
    bench_figure(figures, 1, megabytes(it), "mb_compacted");
    bench_figure(figures, 3, last / megabytes(it), "followed_over_compacted");
    bench_figure(figures, 0, followed, "followed_s");
}

/* ----------------------------------------------------------------- drop --- */

/* Loads a family of a day and drops it, as a policy of its pattern does. */
static double
time_drop(struct experiment *it)
{
    const struct colander_keep keep = {NULL, 0, DAY};
    struct colander_retention retention;
    struct colander_retain_options options;
    struct colander_retained done;
    struct colander_family *pattern;
    struct colander_family *next;
    const struct colander_value part = colander_integer(0);
    struct colander_key key;
    double start;

    bench_check(colander_family_open(it->store.store, "logs/{day}", &pattern,
                                     &bench_error));
    bench_check(colander_family_set_time_column(it->store.store, pattern, "at",
                                                &bench_error));
    colander_family_close(it->store.family);
    bench_check(colander_family_open(it->store.store, "logs/1970-01-02",
                                     &it->store.family, &bench_error));
    for (uint64_t i = 0; i < it->rows; i++) {
        const struct colander_value number = colander_integer((int64_t)i);

        bench_store_put(&it->store, colander_key_of(&key, &number, 1),
                        make_row(it, i, DAY + (int64_t)(i % DAY)));
    }
    bench_store_settle(&it->store);
    bench_check(colander_family_open(it->store.store, "logs/1970-01-05", &next,
                                     &bench_error));
    bench_check(colander_family_put(next, colander_key_of(&key, &part, 1),
                                    make_row(it, 0, 4 * DAY + 1), NULL,
                                    &bench_error));
    colander_retention_init(&retention);
    retention.keeps = &keep;
    retention.keep_count = 1;
    colander_retain_options_init(&options);
    start = bench_now();
    bench_check(colander_family_retain(pattern, &retention, &options, &done,
                                       &bench_error));
    start = bench_now() - start;
    if (done.family_count != 1 || colander_family_exists(it->store.family))
        bench_fail("retain", "the family was not dropped");
    colander_family_close(next);
    colander_family_close(pattern);
    return start;
}

/* ------------------------------------------------------------------ run --- */

static void
print(struct experiment *it, double before)
{
    struct bench_figures *figures =
        bench_figures_begin(it->options, "retain", it->rows);
    const unsigned rounds = it->slices - 1;
    double seconds = 0;

    for (unsigned i = 0; i < rounds; i++)
        seconds += it->retain_s[i];
    bench_figure(figures, 3, bench_ratio(it->beside, it->alone, rounds),
                 "put_p99_over_alone");
    bench_figure(figures, 3, bench_ratio(it->beside, it->reading, rounds),
                 "put_p99_over_beside_scan");
    bench_figure(figures, 1, bench_median(it->alone, rounds) * 1e6,
                 "put_p99_alone_us");
    bench_figure(figures, 1, bench_median(it->reading, rounds) * 1e6,
                 "put_p99_beside_scan_us");
    bench_figure(figures, 1, bench_median(it->beside, rounds) * 1e6,
                 "put_p99_us");
    bench_figure(figures, 0, (double)it->deleted / seconds,
                 "deletes_per_second");
    print_bytes(it, figures, before);
    bench_figure(figures, 3, time_drop(it), "drop_s");
    bench_figures_end(figures);
}

void
bench_retain(const struct bench_options *options)
{
    struct experiment it = {.options = options,
                            .rows =
                                options->rows == 0 ? 1000000 : options->rows,
                            .slices = options->rounds + 1,
                            .builder = colander_row_builder_create()};
    char *path = bench_make_directory(options);
    struct colander_options settings;
    double before;

    if (it.builder == NULL)
        bench_fail("retain", "no memory");
    it.next_key = (int64_t)it.rows;
    it.alone = bench_allocate(options->rounds, sizeof(double));
    it.reading = bench_allocate(options->rounds, sizeof(double));
    it.beside = bench_allocate(options->rounds, sizeof(double));
    it.retain_s = bench_allocate(options->rounds, sizeof(double));
    colander_options_init(&settings);
    bench_store_open(&it.store, path, &settings, NULL);
    load(&it);
    before = megabytes(&it);
    for (unsigned i = 0; i < options->rounds; i++)
        run_round(&it, i);
    print(&it, before);
    bench_store_close(&it.store);
    colander_row_builder_destroy(it.builder);
    free(it.alone);
    free(it.reading);
    free(it.beside);
    free(it.retain_s);
    bench_remove_directory(path);
}
