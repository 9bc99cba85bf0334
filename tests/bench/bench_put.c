/*
 * put: rows in batches of 1,000, against the same bytes put through the bare
 * C API of RocksDB with the same settings. Both from the first batch until
 * all is in SST files and the store is closed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_rocksdb.h"

#ifdef BENCH_FILTERS
#include "filters/filters.h"
#endif

#include <stdlib.h>

#define BATCH 1000

/* The bare RocksDB has none; what they cost is what `ingest` measures. */
static void
leave_filters_out(struct colander_family *family)
{
#ifdef BENCH_FILTERS
    struct colander_filter_options options;
    struct colander_error err;

    colander_filter_options_init(&options);
    options.is_on = false;
    bench_check(colander_family_set_filters(family, &options, &err), &err);
#else
    (void)family;
#endif
}

static double
put_through_colander(const struct bench_rows *rows, const char *path)
{
    struct colander_store *store;
    struct colander_family *family;
    struct colander_batch *batch;
    struct colander_error err;
    double start = bench_now();

    bench_check(colander_store_open(path, NULL, &store, &err), &err);
    bench_check(colander_family_open(store, "rows", &family, &err), &err);
    leave_filters_out(family);
    bench_check(colander_batch_create(store, &batch, &err), &err);
    for (uint64_t i = 0; i < rows->count; i++) {
        bench_check(colander_batch_put(batch, family, bench_key(rows, i),
                                       bench_row(rows, i), &err),
                    &err);
        if (i % BATCH == BATCH - 1 || i == rows->count - 1)
            bench_check(colander_batch_commit(batch, COLANDER_NO_SYNC, &err),
                        &err);
    }
    colander_batch_destroy(batch);
    colander_family_close(family);
    bench_check(colander_store_close(store, &err), &err);
    return bench_now() - start;
}

static double
put_through_rocksdb(const struct bench_rows *rows, const char *path)
{
    rocksdb_options_t *options = bench_rocksdb_options();
    rocksdb_writeoptions_t *how = rocksdb_writeoptions_create();
    rocksdb_flushoptions_t *flush = rocksdb_flushoptions_create();
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    char *message = NULL;
    double start = bench_now();
    rocksdb_t *db = rocksdb_open(options, path, &message);

    bench_rocksdb_check(message);
    for (uint64_t i = 0; i < rows->count; i++) {
        struct colander_slice key = bench_key(rows, i);
        struct colander_slice row = bench_row(rows, i);

        rocksdb_writebatch_put(batch, (const char *)key.data, key.size,
                               (const char *)row.data, row.size);
        if (i % BATCH == BATCH - 1 || i == rows->count - 1) {
            rocksdb_write(db, how, batch, &message);
            bench_rocksdb_check(message);
            rocksdb_writebatch_clear(batch);
        }
    }
    rocksdb_flush(db, flush, &message);
    bench_rocksdb_check(message);
    rocksdb_close(db);
    start = bench_now() - start;
    rocksdb_writebatch_destroy(batch);
    rocksdb_flushoptions_destroy(flush);
    rocksdb_writeoptions_destroy(how);
    rocksdb_options_destroy(options);
    return start;
}

int
bench_put(const struct bench_options *options)
{
    uint64_t count = options->rows == 0 ? 1000000 : options->rows;
    double *ours = calloc(options->rounds, sizeof(*ours));
    double *bare = calloc(options->rounds, sizeof(*bare));
    double *ratios = calloc(options->rounds, sizeof(*ratios));
    struct bench_rows rows;
    double ratio;

    if (ours == NULL || bare == NULL || ratios == NULL)
        bench_fail("put", "no memory");
    bench_rows_make(&rows, count);
    for (unsigned round = 0; round < options->rounds; round++) {
        for (unsigned turn = 0; turn < 2; turn++) {
            const char *path = bench_make_directory(options);

            if (turn == round % 2)
                ours[round] = put_through_colander(&rows, path);
            else
                bare[round] = put_through_rocksdb(&rows, path);
            bench_remove_directory(path);
        }
        ratios[round] = bare[round] / ours[round];
    }
    ratio = bench_median(ratios, options->rounds);
    printf("put: %llu rows of 6 columns, %.1f bytes each, batches of %d, "
           "median of %u rounds\n"
           "  colander      %10.0f rows/s\n"
           "  bare rocksdb  %10.0f rows/s\n"
           "  put_over_bare %10.3f\n",
           (unsigned long long)count, (double)rows.bytes.size / (double)count,
           BATCH, options->rounds,
           (double)count / bench_median(ours, options->rounds),
           (double)count / bench_median(bare, options->rounds), ratio);
    if (options->is_json)
        printf("{\"experiment\":\"put\",\"rows\":%llu,\"rounds\":%u,"
               "\"rows_per_second\":%.0f,\"bare_rows_per_second\":%.0f,"
               "\"put_over_bare\":%.3f}\n",
               (unsigned long long)count, options->rounds,
               (double)count / bench_median(ours, options->rounds),
               (double)count / bench_median(bare, options->rounds), ratio);
    bench_rows_release(&rows);
    free(ours);
    free(bare);
    free(ratios);
    return 0;
}
