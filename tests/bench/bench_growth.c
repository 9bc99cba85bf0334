/*
 * growth: finds of 5 rows in stores of 1/64, 1/16, 1/4 and all of the rows. The
 * cost of a find should depend on what it finds, not on the size of the store.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_figures.h"
#include "bench_store.h"

#define STORES 4

void
bench_growth(const struct bench_options *options)
{
    const uint64_t rows = options->rows == 0 ? 16000000 : options->rows;
    char *path = bench_make_directory(options);
    struct bench_way ways[STORES];
    struct bench_store stores[STORES];
    struct bench_figures *figures;
    struct bench_turns turns;
    char below[4200];

    for (unsigned i = 0; i < STORES; i++) {
        const struct bench_options part = {.rows =
                                               rows >> 2 * (STORES - 1 - i)};

        ways[i] = (struct bench_way){
            "find",     bench_find_rows,           BENCH_FIVE, 5, 400,
            &stores[i], bench_round_rows(&part, 0)};
        (void)snprintf(below, sizeof(below), "%s/%u", path, i);
        bench_store_open(&stores[i], below, NULL, NULL);
        bench_store_load(&stores[i], ways[i].rows);
    }
    bench_measure(&turns, options->rounds, ways, STORES);
    figures = bench_figures_begin(options, "growth", ways[STORES - 1].rows);
    bench_figure(figures, 3, bench_turns_ratio(&turns, STORES - 1, 1, 0),
                 "growth_16x");
    bench_figures_open(figures, "sizes", '[');
    for (unsigned i = 0; i < STORES; i++) {
        bench_figures_open(figures, NULL, '{');
        bench_figure(figures, 0, (double)ways[i].rows, "rows");
        bench_figure(figures, 0,
                     (double)bench_store_sizes(&stores[i]).sst_count,
                     "sst_count");
        bench_figure(figures, 2, bench_turns_median(&turns, i, 0), "find_us");
        bench_figures_close(figures, '}');
        bench_store_close(&stores[i]);
    }
    bench_figures_close(figures, ']');
    bench_figures_end(figures);
    bench_turns_release(&turns);
    bench_remove_directory(path);
}
