/*
 * find: rows by a value, in a compacted and warm store, compared with an index
 * maintained by hand over RocksDB's C API, a scan, and getting a row by its
 * key.
 *
 * The index answers by walking its entries and reading the rows. All caches
 * have the default size. The data that is asked for fits into them, except in
 * the figures `wide`.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_figures.h"
#include "bench_rocksdb.h"
#include "bench_store.h"

#include <stdlib.h>

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
    WAYS,
    SETTING_WAYS = ANY + 1, /* the first ones, also with other filters */
};

/* 400 questions read 2,000 rows, each in another block. With the blocks of the
 * index that is about 40 of the 64 MiB of cache. */
static const struct bench_way all_ways[WAYS] = {
    [FIND] = {"find", bench_find_rows, BENCH_FIVE, 5, 400, NULL, 0},
    [FIND20] = {"find20", bench_find_rows, BENCH_TWENTY, 10, 100, NULL, 0},
    [ABSENT] = {"absent", bench_find_rows, BENCH_ABSENT, 5, 400, NULL, 0},
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
};

struct experiment {
    uint64_t rows;
    unsigned rounds;
    struct bench_store store;
    struct bench_rocksdb *index;
    struct bench_turns turns; /* of all ways */
};

/* ------------------------------------------------------------- loading --- */

static void
load(struct experiment *it, const char *path)
{
    char below[4200];

    (void)snprintf(below, sizeof(below), "%s/store", path);
    bench_store_open(&it->store, below, NULL, NULL);
    bench_store_load(&it->store, it->rows);
    (void)snprintf(below, sizeof(below), "%s/index", path);
    it->index = bench_rocksdb_open(below, true);
    bench_progress("loading the index");
    bench_make_rows(it->rows, 0, it->rows, bench_rocksdb_put, it->index);
    bench_rocksdb_flush(it->index);
    bench_rocksdb_compact(it->index);
}

/* ----------------------------------------------------------- measuring --- */

/* Measures `count` of the ways, from `first` on. */
static void
measure(struct experiment *it, struct bench_turns *turns, unsigned rounds,
        unsigned first, unsigned count)
{
    struct bench_way ways[WAYS];

    for (unsigned i = 0; i < count; i++) {
        const bool is_index = all_ways[first + i].answer == bench_index_rows;

        ways[i] = all_ways[first + i];
        ways[i].context = is_index ? (void *)it->index : (void *)&it->store;
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
print_ways(const struct experiment *it, struct bench_figures *figures)
{
    bench_figure(figures, 3, over(it, FIND, INDEX), "find_over_index");
    bench_figure(figures, 3, over(it, FIND20, INDEX20), "find20_over_index");
    bench_figure(figures, 3, over(it, WIDE, INDEX_WIDE), "wide_over_index");
    bench_figure(figures, 3, over(it, FIND20, GET) / 20, "row_over_get");
    bench_figure(figures, 0, over(it, SCAN, FIND), "scan_over_find");
    for (unsigned i = 0; i < WAYS; i++)
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

    load(&it, path);
    measure(&it, &it.turns, it.rounds, 0, WAYS);
    figures = bench_figures_begin(options, "find", it.rows);
    print_ways(&it, figures);
    bench_figures_open(figures, "settings", '[');
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        measure_setting(&it, settings[i], figures);
    bench_figures_close(figures, ']');
    bench_figures_end(figures);
    bench_turns_release(&it.turns);
    bench_rocksdb_close(it.index);
    bench_store_close(&it.store);
    bench_remove_directory(path);
}
