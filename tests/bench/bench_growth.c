/*
 * growth: finds of 5 rows in stores of 1/64, 1/16, 1/4 and all of the rows:
 * what a find costs should depend on what it finds, not on how much there is.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_store.h"

#include <inttypes.h>

#define STORES 4
#define QUESTIONS 400

static void
print(const struct bench_options *options, const struct bench_way *ways,
      const uint64_t *sst_counts)
{
    double growth =
        bench_ratio(ways[STORES - 1].times, ways[1].times, options->rounds);

    printf("growth: finds of 5 rows, median of %u rounds\n"
           "          rows   SST files      find\n",
           options->rounds);
    for (size_t i = 0; i < STORES; i++)
        printf("  %12" PRIu64 " %11" PRIu64 " %9.1f us\n", ways[i].rows,
               sst_counts[i], bench_middle(ways[i].times, options->rounds));
    printf("  16 times the rows: %.2f times as long\n", growth);
    if (!options->is_json)
        return;
    printf("{\"experiment\":\"growth\",\"rows\":%" PRIu64 ",\"rounds\":%u,"
           "\"growth_16x\":%.3f,\"sizes\":[",
           ways[STORES - 1].rows, options->rounds, growth);
    for (size_t i = 0; i < STORES; i++)
        printf("%s{\"rows\":%" PRIu64 ",\"sst_count\":%" PRIu64
               ",\"find_us\":%.2f}",
               i == 0 ? "" : ",", ways[i].rows, sst_counts[i],
               bench_middle(ways[i].times, options->rounds));
    printf("]}\n");
}

int
bench_growth(const struct bench_options *options)
{
    uint64_t rows = options->rows == 0 ? 16000000 : options->rows;
    const char *path = bench_make_directory(options);
    struct bench_way ways[STORES];
    struct bench_store stores[STORES];
    uint64_t sst_counts[STORES];
    char below[4200];

    for (size_t i = 0; i < STORES; i++) {
        uint64_t part = bench_round_rows(rows >> 2 * (STORES - 1 - i));

        ways[i] = (struct bench_way){"find",     BENCH_FIVE, bench_find_rows,
                                     &stores[i], part,       QUESTIONS,
                                     5,          NULL};
        (void)snprintf(below, sizeof(below), "%s/%zu", path, i);
        bench_store_open(&stores[i], below, NULL, NULL);
        bench_store_load(&stores[i], part, 0, part);
        bench_store_settle(&stores[i]);
        sst_counts[i] = bench_store_sizes(&stores[i]).sst_count;
    }
    bench_measure(ways, STORES, options->rounds);
    print(options, ways, sst_counts);
    bench_ways_release(ways, STORES);
    for (size_t i = 0; i < STORES; i++)
        bench_store_close(&stores[i]);
    bench_remove_directory(path);
    return 0;
}
