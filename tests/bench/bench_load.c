/*
 * load: JSON lines into a store until it is ready for finds (all in SST files,
 * each with its filter): into a family that has as many rows already, and as a
 * bulk.
 *
 * For comparison, finished rows are put through RocksDB's C API, in batches of
 * 1,000, without any text to parse or filters to build, into a database that
 * has as many. SQLite, with an index on each column, and LevelDB load the lines
 * into an empty one. `peers` compares with more.
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

/* clang-format off */
enum way {
    LOAD, BULK, PUT, PARSE,
#ifdef BENCH_SQLITE
    SQLITE,
#endif
#ifdef BENCH_LEVELDB
    LEVELDB,
#endif
    WAYS
};
/* clang-format on */
enum time { ELAPSED }; /* of a turn */

static const char *const names[WAYS] = {
    [LOAD] = "load",       [BULK] = "bulk", [PUT] = "put", [PARSE] = "parse",
#ifdef BENCH_SQLITE
    [SQLITE] = "sqlite",
#endif
#ifdef BENCH_LEVELDB
    [LEVELDB] = "leveldb",
#endif
};

/* The columns of tweets, which SQLite indexes. */
static const char *const columns[] = {"user", "text",  "likes",
                                      "lang", "place", "time"};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* The ways of peers. */
enum { COLANDER_BULK = 1, LEVELDB_SCAN = 0, SQLITE_INDEX_ON_ALL = 2 };

struct experiment {
    const struct bench_options *options;
    struct bench_work work; /* has only what a load needs */
    char *directory;
    char earlier_path[4200]; /* as many lines, of rows that are there before */
    struct bench_rows rows;  /* parsed */
    struct bench_turns turns;
    enum way alone; /* of load_alone */
};

/* ---------------------------------------------------------------- ways --- */

/* Loads the lines until they are ready for finds. Returns seconds. */
static double
load(const struct experiment *it, const struct bench_peer *peer, int way,
     bool has_rows, const char *path)
{
    const char *reason;
    void *opened = peer->open(path, &it->work, &peer->ways[way], &reason);
    double start;

    if (has_rows) {
        peer->load(opened, it->earlier_path);
        peer->index(opened);
    }
    start = bench_now();
    peer->load(opened, it->work.lines_path);
    if (peer->index != NULL)
        peer->index(opened);
    start = bench_now() - start;
    peer->close(opened);
    return start;
}

static double
put(const struct experiment *it, const char *path)
{
    const struct bench_rows *rows = &it->rows;
    struct bench_rocksdb *db = bench_rocksdb_open(path, false, 0);
    double start;

    (void)bench_lines_parse(it->earlier_path, it->work.key_name,
                            bench_rocksdb_put, db);
    bench_rocksdb_flush(db);
    start = bench_now();
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
    double seconds = 0;

    if (way == PARSE)
        seconds = parse(it);
    else if (way == PUT)
        seconds = put(it, path);
#ifdef BENCH_SQLITE
    else if (way == SQLITE)
        seconds =
            load(it, &bench_peer_sqlite, SQLITE_INDEX_ON_ALL, false, path);
#endif
#ifdef BENCH_LEVELDB
    else if (way == LEVELDB)
        seconds = load(it, &bench_peer_leveldb, LEVELDB_SCAN, false, path);
#endif
    else
        seconds =
            load(it, &bench_peer_colander, COLANDER_BULK, way == LOAD, path);
    bench_remove_directory(path);
    return seconds;
}

static void
take_turn(void *context, unsigned way, double times[BENCH_TIMES])
{
    times[ELAPSED] = run_way(context, (enum way)way);
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
rate(const struct experiment *it, enum way way)
{
    return (double)it->work.row_count /
           bench_turns_median(&it->turns, way, ELAPSED);
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
#ifdef BENCH_SQLITE
    print_ratio(figures, it, LOAD, SQLITE, "load_over_sqlite_indexed");
#endif
#ifdef BENCH_LEVELDB
    print_ratio(figures, it, LOAD, LEVELDB, "load_over_leveldb");
#endif
    print_ratio(figures, it, BULK, LOAD, "bulk_over_load");
    bench_figure(figures, 1,
                 rate(it, PARSE) * (double)it->work.lines_size /
                     (double)it->work.row_count / 1e6,
                 "parse_mb_per_s");
    bench_figure(figures, 1, load_memory, "peak_memory_mb");
    bench_figure(figures, 1, bulk_memory, "bulk_peak_memory_mb");
    for (enum way way = 0; way < WAYS; way++) {
        bench_figure(figures, 0, rate(it, way), "%s_rows_per_second",
                     names[way]);
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
    (void)snprintf(it.earlier_path, sizeof(it.earlier_path), "%s/earlier.jsonl",
                   it.directory);
    bench_tweets_write(it.earlier_path, 0, it.work.row_count);
    bench_tweets_write(it.work.lines_path, it.work.row_count,
                       it.work.row_count);
    for (size_t i = 0; i < COLUMNS; i++)
        it.work.paths[it.work.path_count++] = (char *)columns[i];
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
