/*
 * find: rows by a value, in a compacted and warm store, compared with an index
 * maintained by hand over RocksDB's C API, with SQLite (bench_sqlite_rows.h)
 * with an index on each column, a scan, and getting a row by its key.
 *
 * The index answers by walking its entries and reading the rows. All caches
 * have the default size; SQLite's holds everything. The data that is asked for
 * fits into them, except in the figures `wide`. All deliver whole rows: as
 * msgpack, or JSON from SQLite.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_figures.h"
#include "bench_rocksdb.h"
#include "bench_sqlite_rows.h"
#include "bench_store.h"

#include <stdlib.h>
#include <sys/stat.h>

enum {
    FIND,
    FIND20,
    ABSENT,
    ANY,
    WIDE,
    INDEX,
    INDEX20,
    INDEX_ABSENT,
    INDEX_WIDE,
    GET,
    SCAN,
    FIND1,
    FIND1000,
    INDEX1000,
    ANY1,
    ANY20,
    ANY1000,
    SQLITE, /* the first of it; left out without it */
    SQLITE1,
    SQLITE20,
    SQLITE1000,
    SQLITE_ANY,
    SQLITE_ANY1,
    SQLITE_ANY20,
    SQLITE_ANY1000,
    WAYS,
    SETTING_WAYS = ANY + 1, /* the first ones, also with other filters */
};

/* 400 questions read 2,000 rows, each in another block. With the blocks of the
 * index that is about 40 of the 64 MiB of cache. */
static const struct bench_way all_ways[WAYS] = {
    [FIND] = {"find", bench_find_rows, BENCH_FIVE, 5, 400, NULL, 0},
    [FIND20] = {"find20", bench_find_rows, BENCH_TWENTY, 10, 100, NULL, 0},
    [ABSENT] = {"absent", bench_find_rows, BENCH_ABSENT, 5, 2000, NULL, 0},
    [ANY] = {"any", bench_find_rows, BENCH_ANY, 5, 400, NULL, 0},
    [WIDE] = {"wide", bench_find_rows, BENCH_FIVE, 1, 4000, NULL, 0},
    [INDEX] = {"index", bench_index_rows, BENCH_FIVE, 5, 400, NULL, 0},
    [INDEX20] = {"index20", bench_index_rows, BENCH_TWENTY, 10, 100, NULL, 0},
    [INDEX_ABSENT] = {"index_absent", bench_index_rows, BENCH_ABSENT, 5, 400,
                      NULL, 0},
    [INDEX_WIDE] = {"index_wide", bench_index_rows, BENCH_FIVE, 1, 4000, NULL,
                    0},
    [GET] = {"get", bench_get_row, BENCH_KEY, 5, 2000, NULL, 0},
    [SCAN] = {"scan", bench_scan_rows, BENCH_FIVE, 1, 1, NULL, 0},
    [FIND1] = {"find1", bench_find_rows, BENCH_ONE, 5, 2000, NULL, 0},
    [FIND1000] = {"find1000", bench_find_rows, BENCH_THOUSAND, 20, 2, NULL, 0},
    [INDEX1000] = {"index1000", bench_index_rows, BENCH_THOUSAND, 20, 2, NULL,
                   0},
    [ANY1] = {"any1", bench_find_rows, BENCH_ANY_ONE, 5, 2000, NULL, 0},
    [ANY20] = {"any20", bench_find_rows, BENCH_ANY_TWENTY, 10, 100, NULL, 0},
    [ANY1000] = {"any1000", bench_find_rows, BENCH_ANY_THOUSAND, 20, 2, NULL,
                 0},
#ifdef BENCH_SQLITE
    [SQLITE] = {"sqlite", bench_sqlite_find, BENCH_FIVE, 5, 400, NULL, 0},
    [SQLITE1] = {"sqlite1", bench_sqlite_find, BENCH_ONE, 5, 2000, NULL, 0},
    [SQLITE20] = {"sqlite20", bench_sqlite_find, BENCH_TWENTY, 10, 100, NULL,
                  0},
    [SQLITE1000] = {"sqlite1000", bench_sqlite_find, BENCH_THOUSAND, 20, 2,
                    NULL, 0},
    [SQLITE_ANY] = {"sqlite_any", bench_sqlite_find, BENCH_ANY, 5, 400, NULL,
                    0},
    [SQLITE_ANY1] = {"sqlite_any1", bench_sqlite_find, BENCH_ANY_ONE, 5, 2000,
                     NULL, 0},
    [SQLITE_ANY20] = {"sqlite_any20", bench_sqlite_find, BENCH_ANY_TWENTY, 10,
                      100, NULL, 0},
    [SQLITE_ANY1000] = {"sqlite_any1000", bench_sqlite_find, BENCH_ANY_THOUSAND,
                        20, 2, NULL, 0},
#endif
};

struct experiment {
    uint64_t rows;
    unsigned rounds;
    struct bench_store store;
    struct bench_rocksdb *index;
    struct bench_sqlite *sqlite;                   /* NULL: it is not there */
    struct bench_sqlite_question *questions[WAYS]; /* of its ways */
    struct bench_turns turns;                      /* of all ways */
};

/* ------------------------------------------------------------- loading --- */

#ifdef BENCH_SQLITE
static void
load_sqlite(struct experiment *it, const char *path)
{
    static const char *const columns[] = {
        "group5", "id", "group20", "group1000", "lang", "likes", "text"};
    const size_t count = sizeof(columns) / sizeof(columns[0]);
    char below[4200];

    (void)snprintf(below, sizeof(below), "%s/sqlite", path);
    if (mkdir(below, 0700) != 0)
        bench_fail(below, "cannot be created");
    bench_progress("loading SQLite");
    it->sqlite = bench_sqlite_open(below);
    bench_make_wide_rows(it->rows, 0, it->rows, bench_sqlite_put, it->sqlite);
    bench_sqlite_commit(it->sqlite);
    for (size_t i = 0; i < count; i++)
        bench_sqlite_index(it->sqlite, columns[i]);
    bench_sqlite_settle(it->sqlite);
    for (unsigned way = SQLITE; way < SQLITE_ANY; way++)
        it->questions[way] = bench_sqlite_question_prepare(
            it->sqlite, &columns[way - SQLITE], 1);
    for (unsigned way = SQLITE_ANY; way < WAYS; way++)
        it->questions[way] =
            bench_sqlite_question_prepare(it->sqlite, columns, count);
}

static void
close_sqlite(struct experiment *it)
{
    for (unsigned way = SQLITE; way < WAYS; way++)
        bench_sqlite_question_destroy(it->questions[way]);
    bench_sqlite_close(it->sqlite);
}
#else
static void
load_sqlite(struct experiment *it, const char *path)
{
    (void)it;
    (void)path;
}

static void
close_sqlite(struct experiment *it)
{
    (void)it;
}
#endif

static void
load(struct experiment *it, const char *path)
{
    char below[4200];

    (void)snprintf(below, sizeof(below), "%s/store", path);
    bench_store_open(&it->store, below, NULL, NULL);
    bench_make_wide_rows(it->rows, 0, it->rows, bench_store_put, &it->store);
    bench_store_settle(&it->store);
    (void)snprintf(below, sizeof(below), "%s/index", path);
    it->index = bench_rocksdb_open(below, true, 0);
    bench_progress("loading the index");
    bench_make_wide_rows(it->rows, 0, it->rows, bench_rocksdb_put, it->index);
    bench_rocksdb_flush(it->index);
    bench_rocksdb_compact(it->index);
    load_sqlite(it, path);
}

/* ----------------------------------------------------------- measuring --- */

static unsigned
way_count(const struct experiment *it)
{
    return it->sqlite == NULL ? SQLITE : WAYS;
}

static void *
context_of(struct experiment *it, unsigned way)
{
    if (way >= SQLITE)
        return it->questions[way];
    return all_ways[way].answer == bench_index_rows ? (void *)it->index
                                                    : (void *)&it->store;
}

/* Measures `count` of the ways, from `first` on. */
static void
measure(struct experiment *it, struct bench_turns *turns, unsigned rounds,
        unsigned first, unsigned count)
{
    struct bench_way ways[WAYS];

    for (unsigned i = 0; i < count; i++) {
        ways[i] = all_ways[first + i];
        ways[i].context = context_of(it, first + i);
        ways[i].rows = it->rows;
    }
    bench_measure(turns, rounds, ways, count);
}

static void
measure_setting(struct experiment *it, uint32_t rows_per_segment,
                struct bench_figures *figures)
{
    /* Without a locator whole files are read: once is enough. */
    const unsigned rounds = rows_per_segment == 0 ? 1 : it->rounds;
    struct bench_turns turns;
    struct colander_filter_stats stats;

    bench_progress("building filters of %s rows per segment",
                   bench_segment_name(rows_per_segment));
    bench_store_refilter(&it->store, rows_per_segment);
    stats = bench_store_stats(&it->store);
    measure(it, &turns, rounds, 0, SETTING_WAYS);
    bench_figures_open(figures, NULL, '{');
    bench_figure_text(figures, "rows_per_segment",
                      bench_segment_name(rows_per_segment));
    for (unsigned i = 0; i < SETTING_WAYS; i++)
        bench_figure(figures, 2, bench_turns_median(&turns, i, 0), "%s_us",
                     all_ways[i].name);
    bench_figure(figures, 0, (double)stats.filter_size, "filter_size");
    bench_figure(figures, 4, (double)stats.filter_size / (double)stats.sst_size,
                 "over_sst");
    bench_figure_text(figures, "plan",
                      bench_plan(&it->store, BENCH_FIVE, it->rows));
    bench_figures_close(figures, '}');
    bench_turns_release(&turns);
}

/* ------------------------------------------------------------- figures --- */

static double
over(const struct experiment *it, unsigned a, unsigned b)
{
    return bench_turns_ratio(&it->turns, a, b, 0);
}

static void
print_sqlite(const struct experiment *it, struct bench_figures *figures)
{
    static const struct {
        const char *name;
        unsigned way;
        unsigned other;
    } ratios[] = {
        {"find_over_sqlite", FIND, SQLITE},
        {"find1_over_sqlite", FIND1, SQLITE1},
        {"find20_over_sqlite", FIND20, SQLITE20},
        {"find1000_over_sqlite", FIND1000, SQLITE1000},
        {"any_over_sqlite", ANY, SQLITE_ANY},
        {"any1_over_sqlite", ANY1, SQLITE_ANY1},
        {"any20_over_sqlite", ANY20, SQLITE_ANY20},
        {"any1000_over_sqlite", ANY1000, SQLITE_ANY1000},
    };

    for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++)
        bench_figure(figures, 3, over(it, ratios[i].way, ratios[i].other), "%s",
                     ratios[i].name);
}

static void
print_ways(const struct experiment *it, struct bench_figures *figures)
{
    bench_figure(figures, 3, over(it, FIND, INDEX), "find_over_index");
    bench_figure(figures, 3, over(it, FIND20, INDEX20), "find20_over_index");
    bench_figure(figures, 3, over(it, FIND1000, INDEX1000),
                 "find1000_over_index");
    if (it->sqlite != NULL)
        print_sqlite(it, figures);
    bench_figure(figures, 3, over(it, WIDE, INDEX_WIDE), "wide_over_index");
    bench_figure(figures, 3, over(it, FIND20, GET) / 20, "row_over_get");
    bench_figure(figures, 0, over(it, SCAN, FIND), "scan_over_find");
    for (unsigned i = 0; i < way_count(it); i++)
        bench_figure(figures, i == SCAN ? 0 : 2,
                     bench_turns_median(&it->turns, i, 0), "%s_us",
                     all_ways[i].name);
    bench_figure(figures, 3,
                 (double)bench_rocksdb_entry_size(it->index) /
                     (double)bench_rocksdb_row_size(it->index),
                 "index_over_sst");
}

void
bench_find(const struct bench_options *options)
{
    static const uint32_t settings[] = {COLANDER_SEGMENT_AUTO, 1, 16, 64, 0};
    struct experiment it = {
        .rows = bench_round_rows(options, 2000000),
        .rounds = options->rounds,
    };
    char *path = bench_make_directory(options);
    struct bench_figures *figures;

    it.rows -= it.rows % 1000; /* whole groups */
    load(&it, path);
    measure(&it, &it.turns, it.rounds, 0, way_count(&it));
    figures = bench_figures_begin(options, "find", it.rows);
    print_ways(&it, figures);
    bench_figures_open(figures, "settings", '[');
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        measure_setting(&it, settings[i], figures);
    bench_figures_close(figures, ']');
    bench_figures_end(figures);
    bench_turns_release(&it.turns);
    close_sqlite(&it);
    bench_rocksdb_close(it.index);
    bench_store_close(&it.store);
    bench_remove_directory(path);
}
