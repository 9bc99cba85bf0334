/*
 * ingest: rows in batches of 1,000 by one writer, with value filters, without
 * them, and into an index made by hand over RocksDB's C API.
 *
 * Two times are told: until all is in SST files, and until those are fully
 * compacted and each has its filter. The ratios are of the second, which owes
 * nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_rocksdb.h"
#include "bench_store.h"

#include <inttypes.h>
#include <stdlib.h>

#define BATCH 1000

enum { FILTERS, PLAIN, INDEX, WAYS };

static const char *const names[WAYS] = {"filters", "no filters", "index"};

/* Seconds of each round. */
struct times {
    double *flushed;
    double *compacted;
};

static void
ingest_into_store(const struct bench_rows *rows, const char *path,
                  bool has_filters, double *flushed, double *compacted)
{
    struct colander_filter_options filters;
    struct colander_batch *batch;
    struct colander_error err;
    struct bench_store it;
    double start;

    colander_filter_options_init(&filters);
    filters.is_on = has_filters;
    bench_store_open(&it, path, NULL, &filters);
    bench_check(colander_batch_create(it.store, &batch, &err), &err);
    start = bench_now();
    for (uint64_t i = 0; i < rows->count; i++) {
        bench_check(colander_batch_put(batch, it.family, bench_key(rows, i),
                                       bench_row(rows, i), &err),
                    &err);
        if (i % BATCH == BATCH - 1 || i == rows->count - 1)
            bench_check(colander_batch_commit(batch, COLANDER_NO_SYNC, &err),
                        &err);
    }
    bench_check(colander_family_flush(it.family, &err), &err);
    *flushed = bench_now() - start;
    bench_check(colander_family_compact(it.family, &err), &err);
    if (has_filters)
        bench_check(colander_family_await_filters(it.family, &err), &err);
    *compacted = bench_now() - start;
    colander_batch_destroy(batch);
    bench_store_close(&it);
}

static void
ingest_into_index(const struct bench_rows *rows, const char *path,
                  double *flushed, double *compacted)
{
    struct bench_index *index = bench_index_open(path);
    double start = bench_now();

    for (uint64_t i = 0; i < rows->count; i++) {
        bench_index_put(index, bench_key(rows, i), bench_row(rows, i));
        if (i % BATCH == BATCH - 1 || i == rows->count - 1)
            bench_index_commit(index);
    }
    bench_index_flush(index);
    *flushed = bench_now() - start;
    bench_index_compact(index);
    *compacted = bench_now() - start;
    bench_index_close(index);
}

static void
measure(const struct bench_options *options, const struct bench_rows *rows,
        struct times *times)
{
    for (unsigned round = 0; round < options->rounds; round++) {
        for (unsigned turn = 0; turn < WAYS; turn++) {
            unsigned way = (turn + round) % WAYS;
            const char *path = bench_make_directory(options);
            double *flushed = &times[way].flushed[round];
            double *compacted = &times[way].compacted[round];

            bench_progress("round %u of %u: %s", round + 1, options->rounds,
                           names[way]);
            if (way == INDEX)
                ingest_into_index(rows, path, flushed, compacted);
            else
                ingest_into_store(rows, path, way == FILTERS, flushed,
                                  compacted);
            bench_remove_directory(path);
        }
    }
    bench_progress("%s", "");
}

int
bench_ingest(const struct bench_options *options)
{
    uint64_t count =
        bench_round_rows(options->rows == 0 ? 1000000 : options->rows);
    unsigned rounds = options->rounds;
    double flushed[WAYS];
    double compacted[WAYS];
    struct times times[WAYS];
    struct bench_rows rows;
    double over_plain;
    double over_index;

    bench_rows_make_grouped(&rows, count);
    for (size_t i = 0; i < WAYS; i++) {
        times[i].flushed = bench_allocate(rounds, sizeof(double));
        times[i].compacted = bench_allocate(rounds, sizeof(double));
    }
    measure(options, &rows, times);
    over_plain =
        bench_ratio(times[PLAIN].compacted, times[FILTERS].compacted, rounds);
    over_index =
        bench_ratio(times[INDEX].compacted, times[FILTERS].compacted, rounds);
    printf("ingest: %" PRIu64 " rows of 6 columns, %.1f bytes each, batches of "
           "%d, median of %u rounds\n"
           "                     until flushed      until compacted\n",
           count, (double)rows.bytes.size / (double)count, BATCH, rounds);
    for (size_t i = 0; i < WAYS; i++) {
        flushed[i] = (double)count / bench_middle(times[i].flushed, rounds);
        compacted[i] = (double)count / bench_middle(times[i].compacted, rounds);
        printf("  %-12s %14.0f rows/s %14.0f rows/s\n", names[i], flushed[i],
               compacted[i]);
    }
    printf("  filters / no filters %6.3f %21.3f\n"
           "  filters / index      %6.3f %21.3f\n",
           bench_ratio(times[PLAIN].flushed, times[FILTERS].flushed, rounds),
           over_plain,
           bench_ratio(times[INDEX].flushed, times[FILTERS].flushed, rounds),
           over_index);
    if (options->is_json)
        printf(
            "{\"experiment\":\"ingest\",\"rows\":%" PRIu64 ",\"rounds\":%u,"
            "\"filters_over_plain\":%.3f,\"filters_over_index\":%.3f,"
            "\"flushed_filters_over_plain\":%.3f,"
            "\"filters_rows_per_second\":%.0f,"
            "\"plain_rows_per_second\":%.0f,"
            "\"index_rows_per_second\":%.0f,"
            "\"flushed_filters_rows_per_second\":%.0f,"
            "\"flushed_plain_rows_per_second\":%.0f,"
            "\"flushed_index_rows_per_second\":%.0f}\n",
            count, rounds, over_plain, over_index,
            bench_ratio(times[PLAIN].flushed, times[FILTERS].flushed, rounds),
            compacted[FILTERS], compacted[PLAIN], compacted[INDEX],
            flushed[FILTERS], flushed[PLAIN], flushed[INDEX]);
    for (size_t i = 0; i < WAYS; i++) {
        free(times[i].flushed);
        free(times[i].compacted);
    }
    bench_rows_release(&rows);
    return 0;
}
