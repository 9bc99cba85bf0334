/*
 * load: JSON lines into a store until it is ready for finds (all in SST files,
 * each with its filter), in batches and as a bulk.
 *
 * For comparison, finished rows are put through RocksDB's C API, in batches of
 * 1,000, without any text to parse or filters to build. `peers` compares with
 * other databases.
 *
 * Parsing the text into rows is also measured alone, on one processor. The peak
 * memory of a load is measured in a separate process.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_figures.h"
#include "bench_guard.h"
#include "bench_peer.h"
#include "bench_rocksdb.h"
#include "bench_turns.h"
#include "bench_tweets.h"

enum way { LOAD, BULK, PUT, PARSE, WAYS };
enum time { ELAPSED, PROCESSOR }; /* of a turn */

static const char *const names[WAYS] = {"load", "bulk", "put", "parse"};

struct experiment {
    const struct bench_options *options;
    struct bench_work work; /* has only what a load needs */
    char *directory;
    struct bench_rows rows; /* parsed */
    struct bench_turns turns;
    enum way alone; /* of load_alone */
};

/* ---------------------------------------------------------------- ways --- */

/* Loads the lines until they are ready for finds. Returns seconds. */
static double
load(const struct experiment *it, enum way way, const char *path)
{
    const struct bench_peer *peer = &bench_peer_colander;
    const char *reason;
    void *opened = peer->open(path, &it->work, &peer->ways[way], &reason);
    double start = bench_now();

    peer->load(opened, it->work.lines_path);
    peer->index(opened);
    start = bench_now() - start;
    peer->close(opened);
    return start;
}

static double
put(const struct bench_rows *rows, const char *path)
{
    struct bench_rocksdb *db = bench_rocksdb_open(path, false);
    double start = bench_now();

    for (uint64_t i = 0; i < rows->count; i++)
        bench_rocksdb_put(db, bench_key(rows, i), bench_row(rows, i));
    bench_rocksdb_flush(db);
    start = bench_now() - start;
    bench_rocksdb_close(db);
    return start;
}

static double
parse(const struct experiment *it)
{
    const double start = bench_thread_now();

    (void)bench_lines_parse(it->work.lines_path, it->work.key_name, NULL, NULL);
    return bench_thread_now() - start;
}

static double
run_way(const struct experiment *it, enum way way)
{
    char *path = bench_make_directory(it->options);
    double seconds;

    if (way == PARSE)
        seconds = parse(it);
    else if (way == PUT)
        seconds = put(&it->rows, path);
    else
        seconds = load(it, way, path);
    bench_remove_directory(path);
    return seconds;
}

static void
take_turn(void *context, unsigned way, double times[BENCH_TIMES])
{
    times[PROCESSOR] = bench_processor_now();
    times[ELAPSED] = run_way(context, (enum way)way);
    times[PROCESSOR] = bench_processor_now() - times[PROCESSOR];
}

/* Only a load, to measure its peak memory. */
static void
load_alone(void *context, void *result)
{
    const struct experiment *it = context;

    (void)result;
    (void)run_way(it, it->alone);
}

/* ------------------------------------------------------------- figures --- */

static double
rate(const struct experiment *it, enum way way, enum time time)
{
    return (double)it->work.row_count /
           bench_turns_median(&it->turns, way, time);
}

/* Prints how much faster one way is. */
static void
print_ratio(struct bench_figures *figures, const struct experiment *it,
            enum way way, enum way other, const char *name)
{
    bench_figure(figures, 3, bench_turns_ratio(&it->turns, other, way, ELAPSED),
                 "%s", name);
}

static void
print(const struct experiment *it, double load_memory, double bulk_memory)
{
    struct bench_figures *figures =
        bench_figures_begin(it->options, "load", it->work.row_count);

    print_ratio(figures, it, LOAD, PUT, "load_over_put");
    print_ratio(figures, it, BULK, LOAD, "bulk_over_load");
    bench_figure(figures, 1,
                 rate(it, PARSE, ELAPSED) * (double)it->work.lines_size /
                     (double)it->work.row_count / 1e6,
                 "parse_mb_per_s");
    bench_figure(figures, 1, load_memory, "peak_memory_mb");
    bench_figure(figures, 1, bulk_memory, "bulk_peak_memory_mb");
    for (enum way way = 0; way < WAYS; way++) {
        bench_figure(figures, 0, rate(it, way, ELAPSED), "%s_rows_per_second",
                     names[way]);
        bench_figure(figures, 0, rate(it, way, PROCESSOR),
                     "processor_%s_rows_per_second", names[way]);
    }
    bench_figures_end(figures);
}

/* ---------------------------------------------------------- experiment --- */

void
bench_load(const struct bench_options *options)
{
    struct experiment it = {
        .options = options,
        .directory = bench_make_directory(options),
        .work = {.name = "load",
                 .key_name = "id",
                 .key_at = BENCH_TWEET_ID_AT,
                 .row_count = options->rows == 0 ? 1000000 : options->rows},
    };
    double load_memory;
    double bulk_memory;

    (void)snprintf(it.work.lines_path, sizeof(it.work.lines_path),
                   "%s/tweets.jsonl", it.directory);
    bench_tweets_write(it.work.lines_path, it.work.row_count);
    /* while this process has no threads, and hardly any memory */
    load_memory = bench_guard_measure(load_alone, &it, NULL, 0);
    it.alone = BULK;
    bulk_memory = bench_guard_measure(load_alone, &it, NULL, 0);
    bench_progress("parsing rows");
    it.work.lines_size = bench_lines_parse(it.work.lines_path, it.work.key_name,
                                           bench_rows_add, &it.rows);
    bench_turns_take(&it.turns, options->rounds, WAYS, take_turn, &it);
    print(&it, load_memory, bulk_memory);
    bench_rows_release(&it.rows);
    bench_remove_directory(it.directory);
    bench_turns_release(&it.turns);
}
