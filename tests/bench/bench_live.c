/*
 * live: finds of 5 rows while the store is idle, while a writer fills the
 * memtable as fast as it can, and with a full memtable. Medians of single
 * finds: with few cores the writer takes turns with them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_figures.h"
#include "bench_store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define QUESTIONS 400
#define FINDS 2000
#define FINDS_MAX 1000000 /* while the writer runs */

/* The engine flushes when seven eighths of 64 MiB are used. With few rows, a
 * smaller memtable counts as full. */
#define FULL (52ull << 20)
#define FULL_OF_ROW 1000ull /* bytes */

/* The times of a round. */
enum {
    FILLING_RATIO, /* to IDLE */
    FULL_RATIO,    /* the same */
    IDLE,          /* microseconds */
    FILLING,
    FULL_MEMTABLE,
    RATE, /* rows a second of the filling */
};

struct experiment {
    uint64_t rows;
    struct bench_store store;
    atomic_bool is_over; /* the writer is done */
    double rate;         /* rows a second of the last filling */
    uint64_t memtable_size;
    uint64_t full_size;
    double *times; /* of FINDS_MAX finds */
};

/* Returns microseconds. */
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
    const uint64_t first = it->store.put_count;
    double start = bench_now();

    do {
        bench_make_rows(it->rows, it->store.put_count,
                        it->store.put_count + BENCH_BATCH, bench_store_put,
                        &it->store);
        it->memtable_size = bench_store_sizes(&it->store).unflushed_size;
    } while (it->memtable_size < it->full_size);
    it->rate = (double)(it->store.put_count - first) / (bench_now() - start);
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
take_turn(void *context, unsigned way, double times[BENCH_TIMES])
{
    struct experiment *it = context;

    (void)way;
    bench_store_settle(&it->store);
    (void)find_many(it);
    times[IDLE] = find_many(it);
    times[FILLING] = find_beside_writer(it);
    (void)find_many(it);
    times[FULL_MEMTABLE] = find_many(it);
    times[RATE] = it->rate;
    times[FILLING_RATIO] = times[FILLING] / times[IDLE];
    times[FULL_RATIO] = times[FULL_MEMTABLE] / times[IDLE];
}

void
bench_live(const struct bench_options *options)
{
    static const struct {
        const char *name;
        int decimals;
    } printed[] = {
        [FILLING_RATIO] = {"filling_over_idle", 3},
        [FULL_RATIO] = {"full_over_idle", 3},
        [IDLE] = {"idle_us", 2},
        [FILLING] = {"filling_us", 2},
        [FULL_MEMTABLE] = {"full_us", 2},
        [RATE] = {"rows_per_second", 0},
    };
    struct experiment it = {.rows = bench_round_rows(options, 1000000)};
    char *path = bench_make_directory(options);
    struct bench_figures *figures;
    struct bench_turns turns;
    double filling;
    double full;

    it.full_size = it.rows < FULL / FULL_OF_ROW ? it.rows * FULL_OF_ROW : FULL;
    it.times = bench_allocate(FINDS_MAX, sizeof(*it.times));
    bench_store_open(&it.store, path, NULL, NULL);
    bench_store_load(&it.store, it.rows);
    bench_turns_take(&turns, options->rounds, 1, take_turn, &it);
    filling = bench_turns_median(&turns, 0, FILLING_RATIO);
    full = bench_turns_median(&turns, 0, FULL_RATIO);
    figures = bench_figures_begin(options, "live", it.rows);
    bench_figure(figures, 3, filling > full ? filling : full, "live_over_idle");
    for (unsigned i = 0; i < sizeof(printed) / sizeof(printed[0]); i++)
        bench_figure(figures, printed[i].decimals,
                     bench_turns_median(&turns, 0, i), "%s", printed[i].name);
    bench_figure(figures, 0, (double)it.memtable_size, "memtable_size");
    bench_figures_end(figures);
    bench_store_close(&it.store);
    bench_remove_directory(path);
    bench_turns_release(&turns);
    free(it.times);
}
