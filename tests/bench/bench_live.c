/*
 * live: finds of 5 rows while the store is idle, while a writer fills the
 * memtable as fast as it can, and beside the full memtable. Medians of single
 * finds: on few cores the writer takes turns with them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_store.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define QUESTIONS 400
#define FINDS 2000
#define FINDS_MAX 1000000 /* beside the writer */
#define BATCH 1000

/* The engine flushes when seven eighths of 64 MiB are used. */
#define FULL (52ull << 20)

struct experiment {
    uint64_t rows;
    struct bench_store store;
    uint64_t next;        /* row to be written */
    atomic_bool is_over;  /* the writer is done */
    double write_seconds; /* of the last filling */
    uint64_t write_count; /* rows in it */
    uint64_t memtable_size;
    double *times; /* of FINDS_MAX finds */
};

/* Microseconds. */
static double
find_once(struct experiment *it, uint64_t number)
{
    struct bench_question question;
    double start;
    uint64_t found;

    bench_question_make(&question, BENCH_FIVE, it->rows, number % QUESTIONS);
    start = bench_now();
    found = bench_find_rows(&it->store, &question);
    start = bench_now() - start;
    if (found != question.expected)
        bench_fail("live", "found a wrong number of rows");
    return start * 1e6;
}

static double
find_many(struct experiment *it)
{
    for (size_t i = 0; i < FINDS; i++)
        it->times[i] = find_once(it, i);
    return bench_median(it->times, FINDS);
}

/* Fills the memtable with rows that no question asks for. */
static void *
fill(void *context)
{
    struct experiment *it = context;
    struct bench_maker maker;
    struct colander_batch *batch;
    struct colander_error err;
    uint64_t first = it->next;
    double start = bench_now();

    bench_maker_init(&maker, it->rows);
    bench_check(colander_batch_create(it->store.store, &batch, &err), &err);
    do {
        for (size_t i = 0; i < BATCH; i++) {
            struct colander_slice key;
            struct colander_slice row;

            bench_make(&maker, it->next++, &key, &row);
            bench_check(
                colander_batch_put(batch, it->store.family, key, row, &err),
                &err);
        }
        bench_check(colander_batch_commit(batch, COLANDER_NO_SYNC, &err), &err);
        it->memtable_size = bench_store_sizes(&it->store).unflushed_size;
    } while (it->memtable_size < FULL);
    it->write_seconds = bench_now() - start;
    it->write_count = it->next - first;
    colander_batch_destroy(batch);
    bench_maker_release(&maker);
    atomic_store(&it->is_over, true);
    return NULL;
}

static double
find_beside_writer(struct experiment *it)
{
    uint64_t sst_size = bench_store_sizes(&it->store).sst_size;
    pthread_t writer;
    size_t count = 0;

    atomic_store(&it->is_over, false);
    if (pthread_create(&writer, NULL, fill, it) != 0)
        bench_fail("live", "cannot start a thread");
    while (!atomic_load(&it->is_over) || count == 0) {
        double time = find_once(it, count);

        if (count < FINDS_MAX)
            it->times[count++] = time;
    }
    (void)pthread_join(writer, NULL);
    if (bench_store_sizes(&it->store).sst_size != sst_size)
        bench_fail("live", "the memtable was flushed before it was full");
    return bench_median(it->times, count);
}

static void
print(const struct experiment *it, const struct bench_options *options,
      double *const *times, double rate)
{
    unsigned rounds = options->rounds;
    double filling = bench_ratio(times[1], times[0], rounds);
    double full = bench_ratio(times[2], times[0], rounds);

    printf("live: finds of 5 rows of %" PRIu64 ", median of %u rounds\n"
           "  idle                       %9.1f us\n"
           "  while the memtable fills   %9.1f us  %6.2f times idle, beside "
           "%.0f rows/s\n"
           "  beside the full memtable   %9.1f us  %6.2f times idle, %.0f "
           "MiB\n",
           it->rows, rounds, bench_middle(times[0], rounds),
           bench_middle(times[1], rounds), filling, rate,
           bench_middle(times[2], rounds), full,
           (double)it->memtable_size / 1048576);
    if (options->is_json)
        printf("{\"experiment\":\"live\",\"rows\":%" PRIu64 ",\"rounds\":%u,"
               "\"live_over_idle\":%.3f,\"filling_over_idle\":%.3f,"
               "\"full_over_idle\":%.3f,\"idle_us\":%.2f,\"filling_us\":%.2f,"
               "\"full_us\":%.2f,\"rows_per_second\":%.0f,"
               "\"memtable_size\":%" PRIu64 "}\n",
               it->rows, rounds, filling > full ? filling : full, filling, full,
               bench_middle(times[0], rounds), bench_middle(times[1], rounds),
               bench_middle(times[2], rounds), rate, it->memtable_size);
}

int
bench_live(const struct bench_options *options)
{
    struct experiment it = {
        .rows = bench_round_rows(options->rows == 0 ? 1000000 : options->rows),
    };
    const char *path = bench_make_directory(options);
    double *times[3];
    double *rates = bench_allocate(options->rounds, sizeof(*rates));

    for (size_t i = 0; i < 3; i++)
        times[i] = bench_allocate(options->rounds, sizeof(double));
    it.times = bench_allocate(FINDS_MAX, sizeof(*it.times));
    it.next = it.rows;
    bench_store_open(&it.store, path, NULL, NULL);
    bench_store_load(&it.store, it.rows, 0, it.rows);
    for (unsigned round = 0; round < options->rounds; round++) {
        bench_store_settle(&it.store);
        bench_progress("round %u of %u", round + 1, options->rounds);
        (void)find_many(&it);
        times[0][round] = find_many(&it);
        times[1][round] = find_beside_writer(&it);
        times[2][round] = find_many(&it);
        rates[round] = (double)it.write_count / it.write_seconds;
    }
    bench_progress("%s", "");
    print(&it, options, times, bench_median(rates, options->rounds));
    bench_store_close(&it.store);
    bench_remove_directory(path);
    for (size_t i = 0; i < 3; i++)
        free(times[i]);
    free(rates);
    free(it.times);
    return 0;
}
