/*
 * load: JSON lines into a store that is ready for finds (all in SST files, each
 * with its filter), as batches and as a bulk.
 *
 * Beside it, ready rows are put through the bare C API of RocksDB, which has
 * neither text to read nor filters to make: in batches of 1,000, the stronger
 * opponent, and singly. And SQLite inserts the same lines: as they are, and
 * with an index on each column, which is what makes them as findable; those
 * made before the rows or after them, whichever is faster.
 *
 * Reading the text and making rows of it is measured alone, on one processor.
 * The memory that a load needs at most is that of a process of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_ready.h"
#ifdef BENCH_SQLITE
#include "bench_sqlite.h"
#endif
#include "bench_store.h"
#include "bench_tweets.h"

#include "loading/loading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define BATCH 1000
#define SLOW 60.0                 /* seconds: such a way has one round */
#define INDEXED_FIRST_MAX 2000000 /* rows; it takes hours beyond them */

enum way {
    LOAD,
    BULK,
    PUT,
    PUT_SINGLY,
    PARSE,
    SQLITE,
    SQLITE_FIRST,
    SQLITE_LAST,
    WAYS
};

static const char *const names[WAYS] = {
    "load",  "bulk",   "put, batches",          "put, singly",
    "parse", "sqlite", "sqlite, indexes first", "sqlite, indexes last"};
static const char *const keys[WAYS] = {"load",          "bulk",        "put",
                                       "single",        "parse",       "sqlite",
                                       "indexed_first", "indexed_last"};

/* Of each round that a way had, in seconds. */
struct costs {
    double *elapsed;
    double *processor; /* of all threads, with opening and closing */
    unsigned count;
};

struct experiment {
    const struct bench_options *options;
    uint64_t rows;
    char *directory;
    char lines_path[4200];
    char ready_path[4200];
    struct colander_slice lines;
    struct colander_slice ready;
    struct costs costs[WAYS];
    double memory[2]; /* in MB, of load and bulk */
};

/* ---------------------------------------------------------------- ways --- */

/* Loads the lines by the key "id". */
static void
run_load(const struct experiment *it, struct bench_store *store, bool is_bulk)
{
    const char *file = it->lines_path;
    struct schema *schema = schema_create();
    struct loading_options options;
    struct loading_figures figures;
    struct colander_error err;

    if (schema == NULL)
        bench_fail("load", "no memory");
    bench_check(schema_texts_add(&schema->key, "id", &err), &err);
    loading_options_init(&options);
    options.schema = schema;
    options.is_bulk = is_bulk;
    bench_check(loading_run(store->store, store->family, &file, 1, &options,
                            &figures, &err),
                &err);
    bench_check(colander_family_flush(store->family, &err), &err);
    bench_check(colander_family_await_filters(store->family, &err), &err);
    if (figures.row_count != it->rows || figures.reject_count != 0)
        bench_fail("load", "not all rows are there");
    schema_destroy(schema);
}

static double
load(const struct experiment *it, const char *path, bool is_bulk)
{
    struct bench_store store;
    double start;

    bench_store_open(&store, path, NULL, NULL);
    start = bench_now();
    run_load(it, &store, is_bulk);
    start = bench_now() - start;
    bench_store_close(&store);
    return start;
}

static bool
can_measure(const struct experiment *it, enum way way, unsigned round)
{
    if (round > 0 && it->costs[way].elapsed[0] > SLOW)
        return false;
#ifdef BENCH_SQLITE
    return way != SQLITE_FIRST || it->rows <= INDEXED_FIRST_MAX;
#else
    return way < SQLITE;
#endif
}

static double
run_way(const struct experiment *it, enum way way, const char *path)
{
    switch (way) {
    case LOAD:
    case BULK:
        return load(it, path, way == BULK);
    case PUT:
        return bench_put_ready(it->ready, path, BATCH);
    case PUT_SINGLY:
        return bench_put_ready(it->ready, path, 1);
    case PARSE:
        return bench_make_ready(it->lines, NULL);
#ifdef BENCH_SQLITE
    case SQLITE:
        return bench_sqlite_load(it->lines, path, BENCH_SQLITE_NONE);
    case SQLITE_FIRST:
        return bench_sqlite_load(it->lines, path, BENCH_SQLITE_FIRST);
    case SQLITE_LAST:
        return bench_sqlite_load(it->lines, path, BENCH_SQLITE_LAST);
#endif
    default:
        bench_fail("load", "there is no such way");
    }
}

/* ----------------------------------------------------------- measuring --- */

static void
measure(struct experiment *it)
{
    const struct bench_options *options = it->options;

    for (unsigned round = 0; round < options->rounds; round++) {
        for (unsigned turn = 0; turn < WAYS; turn++) {
            enum way way = (enum way)((turn + round) % WAYS);
            struct costs *costs = &it->costs[way];
            const char *path;

            if (!can_measure(it, way, round))
                continue;
            path = bench_make_directory(options);
            bench_progress("round %u of %u: %s", round + 1, options->rounds,
                           names[way]);
            costs->processor[round] = bench_processor_now();
            costs->elapsed[round] = run_way(it, way, path);
            costs->processor[round] =
                bench_processor_now() - costs->processor[round];
            costs->count++;
            bench_remove_directory(path);
        }
    }
    bench_progress("%s", "");
}

/* The most memory of a process that does nothing but load, in MB. To be asked
 * while this one has no threads, and hardly any memory that the other would
 * begin with. */
static double
measure_memory(const struct experiment *it, bool is_bulk)
{
    const char *path = bench_make_directory(it->options);
    struct rusage usage;
    int status;
    pid_t child;

    bench_progress("memory of a %s", names[is_bulk ? BULK : LOAD]);
    child = fork();
    if (child < 0)
        bench_fail("cannot start a process", strerror(errno));
    if (child == 0) {
        (void)load(it, path, is_bulk);
        _exit(0);
    }
    if (wait4(child, &status, 0, &usage) != child || status != 0)
        bench_fail("load", "it failed in a process of its own");
    bench_remove_directory(path);
    return (double)usage.ru_maxrss * 1024 / 1e6;
}

/* -------------------------------------------------------------- telling --- */

static double
rate(const struct experiment *it, enum way way)
{
    const struct costs *costs = &it->costs[way];

    return (double)it->rows / bench_middle(costs->elapsed, costs->count);
}

static double
parse_rate(const struct experiment *it)
{
    return rate(it, PARSE) * (double)it->lines.size / (double)it->rows / 1e6;
}

/* How much faster one way is, in rounds that both had. */
static double
ratio(const struct experiment *it, enum way way, enum way other)
{
    unsigned count = it->costs[way].count;

    if (it->costs[other].count < count)
        count = it->costs[other].count;
    return bench_ratio(it->costs[other].elapsed, it->costs[way].elapsed, count);
}

/* The better way of having indexes. */
static enum way
indexed(const struct experiment *it)
{
    if (it->costs[SQLITE_FIRST].count == 0 ||
        rate(it, SQLITE_LAST) > rate(it, SQLITE_FIRST))
        return SQLITE_LAST;
    return SQLITE_FIRST;
}

static void
print_ratio(const struct experiment *it, enum way way, enum way other)
{
    printf("  %s / %-24s %10.3f\n", names[way], names[other],
           ratio(it, way, other));
}

static void
print_table(const struct experiment *it)
{
    printf("load: %" PRIu64 " tweets of 7 columns, %.1f bytes a line, median "
           "of %u rounds\n"
           "                            until ready    of processor time\n",
           it->rows, (double)it->lines.size / (double)it->rows,
           it->options->rounds);
    for (enum way way = 0; way < WAYS; way++) {
        const struct costs *costs = &it->costs[way];

        if (costs->count > 0)
            printf("  %-22s %10.0f rows/s %10.0f rows/s\n", names[way],
                   rate(it, way),
                   (double)it->rows /
                       bench_middle(costs->processor, costs->count));
    }
    print_ratio(it, LOAD, PUT);
    print_ratio(it, LOAD, PUT_SINGLY);
    print_ratio(it, BULK, LOAD);
#ifdef BENCH_SQLITE
    print_ratio(it, LOAD, SQLITE);
    print_ratio(it, LOAD, indexed(it));
    printf("  (SQLite %s)\n", bench_sqlite_version());
#else
    printf("  (built without SQLite)\n");
#endif
    printf("  parse: %.0f MB/s of one processor\n"
           "  peak memory: load %.0f MB, bulk %.0f MB\n",
           parse_rate(it), it->memory[0], it->memory[1]);
}

static void
print_json(const struct experiment *it)
{
    printf("{\"experiment\":\"load\",\"rows\":%" PRIu64 ",\"rounds\":%u"
           ",\"load_over_put\":%.3f,\"load_over_single\":%.3f"
           ",\"bulk_over_load\":%.3f",
           it->rows, it->options->rounds, ratio(it, LOAD, PUT),
           ratio(it, LOAD, PUT_SINGLY), ratio(it, BULK, LOAD));
    if (it->costs[SQLITE].count > 0)
        printf(",\"load_over_sqlite\":%.3f,\"load_over_sqlite_indexed\":%.3f",
               ratio(it, LOAD, SQLITE), ratio(it, LOAD, indexed(it)));
    printf(",\"parse_mb_per_s\":%.1f,\"peak_memory_mb\":%.1f"
           ",\"bulk_peak_memory_mb\":%.1f",
           parse_rate(it), it->memory[0], it->memory[1]);
    for (enum way way = 0; way < WAYS; way++) {
        if (it->costs[way].count > 0)
            printf(",\"%s_rows_per_second\":%.0f", keys[way], rate(it, way));
    }
    printf("}\n");
}

/* ---------------------------------------------------------- experiment --- */

static void
prepare(struct experiment *it)
{
    it->directory = strdup(bench_make_directory(it->options));
    if (it->directory == NULL)
        bench_fail("load", "no memory");
    (void)snprintf(it->lines_path, sizeof(it->lines_path), "%s/tweets.jsonl",
                   it->directory);
    (void)snprintf(it->ready_path, sizeof(it->ready_path), "%s/tweets.ready",
                   it->directory);
    bench_tweets_write(it->lines_path, it->rows);
    it->memory[0] = measure_memory(it, false);
    it->memory[1] = measure_memory(it, true);
    it->lines = bench_map(it->lines_path);
    bench_progress("making rows ready");
    (void)bench_make_ready(it->lines, it->ready_path);
    it->ready = bench_map(it->ready_path);
    for (enum way way = 0; way < WAYS; way++) {
        struct costs *costs = &it->costs[way];

        costs->elapsed = bench_allocate(it->options->rounds, sizeof(double));
        costs->processor = bench_allocate(it->options->rounds, sizeof(double));
    }
}

static void
clean_up(struct experiment *it)
{
    bench_unmap(it->lines);
    bench_unmap(it->ready);
    bench_remove_directory(it->directory);
    free(it->directory);
    for (enum way way = 0; way < WAYS; way++) {
        free(it->costs[way].elapsed);
        free(it->costs[way].processor);
    }
}

int
bench_load(const struct bench_options *options)
{
    struct experiment it = {
        .options = options,
        .rows = options->rows == 0 ? 1000000 : options->rows,
    };

    prepare(&it);
    measure(&it);
    print_table(&it);
    if (options->is_json)
        print_json(&it);
    clean_up(&it);
    return 0;
}
