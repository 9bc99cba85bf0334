/*
 * find: rows by a value, in a compacted store that is warm, beside an index
 * made by hand over RocksDB's C API, a scan, and getting a row by its key.
 *
 * The index answers by walking its entries and reading the rows, by MultiGet
 * or one by one, whichever is faster. All caches have the default size. What is
 * asked fits into them, except in the lines `wide`.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_rocksdb.h"
#include "bench_store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#define HASH_BITS 32 /* the default */

enum {
    FIND,
    INDEX,
    FIND20,
    INDEX20,
    ABSENT,
    INDEX_ABSENT,
    ANY,
    WIDE,
    INDEX_WIDE,
    GET,
    SCAN,
    WAYS,
};

struct setting {
    uint32_t rows_per_segment;
    const char *plan;
    double times[4]; /* 5 rows, 20, none, 5 in any column */
    struct colander_filter_stats stats;
};

struct experiment {
    uint64_t rows;
    unsigned rounds;
    bool is_json;
    struct bench_store store;
    struct bench_index *index;
    uint64_t json_size;
    struct bench_way ways[WAYS];
    struct setting settings[5];
    size_t setting_count;
};

/* ------------------------------------------------------------- loading --- */

static void
load_index(struct bench_index *index, uint64_t rows)
{
    struct bench_maker maker;

    bench_maker_init(&maker, rows);
    for (uint64_t i = 0; i < rows; i++) {
        struct colander_slice key;
        struct colander_slice row;

        bench_make(&maker, i, &key, &row);
        bench_index_put(index, key, row);
        if (i % 1000 == 999 || i == rows - 1)
            bench_index_commit(index);
        if (i % 100000 == 0)
            bench_progress("loading the index: %.1f of %.1f M rows",
                           (double)i / 1e6, (double)rows / 1e6);
    }
    bench_progress("compacting the index");
    bench_index_flush(index);
    bench_index_compact(index);
    bench_progress("%s", "");
    bench_maker_release(&maker);
}

static void
load(struct experiment *it, const char *path)
{
    char below[4200];

    (void)snprintf(below, sizeof(below), "%s/store", path);
    bench_store_open(&it->store, below, NULL, NULL);
    bench_store_load(&it->store, it->rows, 0, it->rows);
    bench_store_settle(&it->store);
    (void)snprintf(below, sizeof(below), "%s/index", path);
    it->index = bench_index_open(below);
    load_index(it->index, it->rows);
    it->json_size = bench_json_size(it->rows);
}

/* ----------------------------------------------------------- measuring --- */

/* Chooses how the index reads its rows; true: by MultiGet. */
static bool
choose_reading(struct experiment *it)
{
    struct bench_way ways[2] = {
        {"index", BENCH_FIVE, bench_index_rows, it->index, it->rows, 400, 5,
         NULL},
        {"index", BENCH_FIVE, bench_index_rows, it->index, it->rows, 400, 5,
         NULL},
    };
    bool at_once;

    bench_index_read_at_once(it->index, false);
    bench_measure(&ways[0], 1, 3);
    bench_index_read_at_once(it->index, true);
    bench_measure(&ways[1], 1, 3);
    at_once = bench_middle(ways[1].times, 3) < bench_middle(ways[0].times, 3);
    bench_index_read_at_once(it->index, at_once);
    bench_ways_release(ways, 2);
    return at_once;
}

/* 400 questions read 2,000 rows, each in a block of its own: with the blocks
 * of the index that is about 40 of the 64 MiB of cache. */
static void
measure_default(struct experiment *it)
{
    void *store = &it->store;
    void *index = it->index;
    const uint64_t rows = it->rows;
    const struct bench_way ways[WAYS] = {
        [FIND] = {"find", BENCH_FIVE, bench_find_rows, store, rows, 400, 5,
                  NULL},
        [INDEX] = {"index", BENCH_FIVE, bench_index_rows, index, rows, 400, 5,
                   NULL},
        [FIND20] = {"find of 20", BENCH_TWENTY, bench_find_rows, store, rows,
                    100, 10, NULL},
        [INDEX20] = {"index of 20", BENCH_TWENTY, bench_index_rows, index, rows,
                     100, 10, NULL},
        [ABSENT] = {"absent", BENCH_ABSENT, bench_find_rows, store, rows, 400,
                    5, NULL},
        [INDEX_ABSENT] = {"absent in the index", BENCH_ABSENT, bench_index_rows,
                          index, rows, 400, 5, NULL},
        [ANY] = {"any column", BENCH_ANY, bench_find_rows, store, rows, 400, 5,
                 NULL},
        [WIDE] = {"wide find", BENCH_FIVE, bench_find_rows, store, rows, 4000,
                  1, NULL},
        [INDEX_WIDE] = {"wide index", BENCH_FIVE, bench_index_rows, index, rows,
                        4000, 1, NULL},
        [GET] = {"get", BENCH_KEY, bench_get_row, store, rows, 2000, 5, NULL},
        [SCAN] = {"scan", BENCH_FIVE, bench_scan_rows, store, rows, 1, 1, NULL},
    };

    memcpy(it->ways, ways, sizeof(ways));
    bench_measure(it->ways, WAYS, it->rounds);
}

static void
measure_setting(struct experiment *it, uint32_t rows_per_segment)
{
    struct setting *setting = &it->settings[it->setting_count++];
    /* Without a locator whole files are read: once is enough. */
    unsigned rounds = rows_per_segment == 0 ? 1 : it->rounds;
    struct bench_way ways[4] = {
        {"find", BENCH_FIVE, bench_find_rows, &it->store, it->rows, 400, 5,
         NULL},
        {"find of 20", BENCH_TWENTY, bench_find_rows, &it->store, it->rows, 100,
         10, NULL},
        {"absent", BENCH_ABSENT, bench_find_rows, &it->store, it->rows, 400, 5,
         NULL},
        {"any column", BENCH_ANY, bench_find_rows, &it->store, it->rows, 400, 5,
         NULL},
    };

    bench_progress("making filters of %s rows per segment",
                   bench_segment_name(rows_per_segment));
    bench_store_refilter(&it->store, rows_per_segment, HASH_BITS);
    setting->rows_per_segment = rows_per_segment;
    setting->plan = bench_plan(&it->store, BENCH_FIVE, it->rows);
    setting->stats = bench_store_stats(&it->store);
    bench_measure(ways, 4, rounds);
    for (size_t i = 0; i < 4; i++)
        setting->times[i] = bench_middle(ways[i].times, rounds);
    bench_ways_release(ways, 4);
}

/* -------------------------------------------------------------- telling --- */

static double
time_of(const struct experiment *it, size_t way)
{
    return bench_middle(it->ways[way].times, it->rounds);
}

static double
over(const struct experiment *it, size_t a, size_t b)
{
    return bench_ratio(it->ways[a].times, it->ways[b].times, it->rounds);
}

static void
print_table(const struct experiment *it, bool at_once)
{
    printf("find: %" PRIu64 " rows of 6 columns, default options, median of "
           "%u rounds; the index reads rows %s\n"
           "                          colander         index   "
           "colander / index\n",
           it->rows, it->rounds, at_once ? "by MultiGet" : "one by one");
    printf("  column = x, 5 rows   %9.1f us  %9.1f us  %9.2f\n",
           time_of(it, FIND), time_of(it, INDEX), over(it, FIND, INDEX));
    printf("  column = x, 20 rows  %9.1f us  %9.1f us  %9.2f\n",
           time_of(it, FIND20), time_of(it, INDEX20),
           over(it, FIND20, INDEX20));
    printf("  column = x, none     %9.1f us  %9.1f us  %9.2f\n",
           time_of(it, ABSENT), time_of(it, INDEX_ABSENT),
           over(it, ABSENT, INDEX_ABSENT));
    printf("  any = x, 5 rows      %9.1f us\n", time_of(it, ANY));
    printf("  wide, 5 rows         %9.1f us  %9.1f us  %9.2f\n",
           time_of(it, WIDE), time_of(it, INDEX_WIDE),
           over(it, WIDE, INDEX_WIDE));
    printf("  get one row          %9.1f us  a row of 20 found costs %.2f "
           "gets\n",
           time_of(it, GET), over(it, FIND20, GET) / 20);
    printf("  scan, 5 rows         %9.0f us  %.0f finds\n", time_of(it, SCAN),
           over(it, SCAN, FIND));
    printf("  entries of the index are %.1f %% of its rows' SST bytes\n\n",
           100. * (double)bench_index_entry_size(it->index) /
               (double)bench_index_row_size(it->index));
    printf("  rows per   5 rows   20 rows   none     any      filters   "
           "of SST  of JSON  plan\n"
           "  segment        us        us     us      us          MiB   "
           "     %%        %%\n");
    for (size_t i = 0; i < it->setting_count; i++) {
        const struct setting *setting = &it->settings[i];
        double filter = (double)setting->stats.filter_size;

        printf("  %-7s %9.1f %9.1f %6.1f %7.1f %12.1f %8.1f %8.1f  %s\n",
               bench_segment_name(setting->rows_per_segment), setting->times[0],
               setting->times[1], setting->times[2], setting->times[3],
               filter / 1048576, 100 * filter / (double)setting->stats.sst_size,
               100 * filter / (double)it->json_size, setting->plan);
    }
}

static void
print_json_settings(const struct experiment *it)
{
    printf(",\"settings\":[");
    for (size_t i = 0; i < it->setting_count; i++) {
        const struct setting *setting = &it->settings[i];
        double filter = (double)setting->stats.filter_size;

        printf("%s{\"rows_per_segment\":\"%s\",\"find_us\":%.2f,"
               "\"find20_us\":%.2f,\"absent_us\":%.2f,\"any_us\":%.2f,"
               "\"filter_size\":%.0f,\"over_sst\":%.4f,\"over_json\":%.4f,"
               "\"plan\":\"%s\"}",
               i == 0 ? "" : ",", bench_segment_name(setting->rows_per_segment),
               setting->times[0], setting->times[1], setting->times[2],
               setting->times[3], filter,
               filter / (double)setting->stats.sst_size,
               filter / (double)it->json_size, setting->plan);
    }
    printf("]}\n");
}

static void
print_json(const struct experiment *it)
{
    printf("{\"experiment\":\"find\",\"rows\":%" PRIu64 ",\"rounds\":%u,"
           "\"find_over_index\":%.3f,\"find20_over_index\":%.3f,"
           "\"wide_over_index\":%.3f,\"row_over_get\":%.3f,"
           "\"scan_over_find\":%.0f",
           it->rows, it->rounds, over(it, FIND, INDEX),
           over(it, FIND20, INDEX20), over(it, WIDE, INDEX_WIDE),
           over(it, FIND20, GET) / 20, over(it, SCAN, FIND));
    printf(",\"find_us\":%.2f,\"find20_us\":%.2f,\"absent_us\":%.2f,"
           "\"any_us\":%.2f,\"wide_us\":%.2f,\"index_us\":%.2f,"
           "\"index20_us\":%.2f,\"index_absent_us\":%.2f,"
           "\"index_wide_us\":%.2f,\"get_us\":%.2f,\"scan_us\":%.0f,"
           "\"index_over_sst\":%.3f",
           time_of(it, FIND), time_of(it, FIND20), time_of(it, ABSENT),
           time_of(it, ANY), time_of(it, WIDE), time_of(it, INDEX),
           time_of(it, INDEX20), time_of(it, INDEX_ABSENT),
           time_of(it, INDEX_WIDE), time_of(it, GET), time_of(it, SCAN),
           (double)bench_index_entry_size(it->index) /
               (double)bench_index_row_size(it->index));
    print_json_settings(it);
}

int
bench_find(const struct bench_options *options)
{
    static const uint32_t settings[] = {COLANDER_SEGMENT_AUTO, 1, 16, 64, 0};
    struct experiment it = {
        .rows = bench_round_rows(options->rows == 0 ? 2000000 : options->rows),
        .rounds = options->rounds,
        .is_json = options->is_json,
    };
    const char *path = bench_make_directory(options);
    bool at_once;

    load(&it, path);
    at_once = choose_reading(&it);
    measure_default(&it);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        measure_setting(&it, settings[i]);
    print_table(&it, at_once);
    if (it.is_json)
        print_json(&it);
    bench_ways_release(it.ways, WAYS);
    bench_index_close(it.index);
    bench_store_close(&it.store);
    bench_remove_directory(path);
    return 0;
}
