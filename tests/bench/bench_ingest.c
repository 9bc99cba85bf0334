/*
 * ingest: rows in batches of 1,000 by one writer, with value filters, without
 * them, and into an index made by hand over RocksDB's C API.
 *
 * Three times are told: until all is in SST files, until those are fully
 * compacted and each has its filter on disk, and until what the hierarchy needs
 * of those is in memory, which otherwise happens in the background. The ratio
 * that counts is of the second. Beside them stands what processors did for all
 * of it, in all threads: that says more on a machine that is busy with other
 * things.
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

/* Of one round, in seconds. */
struct cost {
    double flushed;
    double compacted;
    double loaded;
    double processor; /* of all threads, until loaded */
};

/* Of each round. */
struct costs {
    double *flushed;
    double *compacted;
    double *loaded;
    double *processor;
};

struct experiment {
    struct bench_rows rows;
    unsigned rounds;
    struct costs costs[WAYS];
};

/* ----------------------------------------------------------- measuring --- */

static void
put_all(const struct bench_rows *rows, struct bench_store *it)
{
    struct colander_batch *batch;
    struct colander_error err;

    bench_check(colander_batch_create(it->store, &batch, &err), &err);
    for (uint64_t i = 0; i < rows->count; i++) {
        bench_check(colander_batch_put(batch, it->family, bench_key(rows, i),
                                       bench_row(rows, i), &err),
                    &err);
        if (i % BATCH == BATCH - 1 || i == rows->count - 1)
            bench_check(colander_batch_commit(batch, COLANDER_NO_SYNC, &err),
                        &err);
    }
    colander_batch_destroy(batch);
}

static struct cost
ingest_into_store(const struct bench_rows *rows, const char *path,
                  bool has_filters)
{
    struct colander_filter_options filters;
    struct colander_error err;
    struct bench_store it;
    struct cost cost;
    double processor;
    double start;

    colander_filter_options_init(&filters);
    filters.is_on = has_filters;
    bench_store_open(&it, path, NULL, &filters);
    processor = bench_processor_now();
    start = bench_now();
    put_all(rows, &it);
    bench_check(colander_family_flush(it.family, &err), &err);
    cost.flushed = bench_now() - start;
    bench_check(colander_family_compact(it.family, &err), &err);
    cost.compacted = bench_now() - start;
    if (has_filters)
        bench_check(colander_family_await_filters(it.family, &err), &err);
    cost.loaded = bench_now() - start;
    cost.processor = bench_processor_now() - processor;
    bench_store_close(&it);
    return cost;
}

static struct cost
ingest_into_index(const struct bench_rows *rows, const char *path)
{
    struct bench_index *index = bench_index_open(path);
    double processor = bench_processor_now();
    double start = bench_now();
    struct cost cost;

    for (uint64_t i = 0; i < rows->count; i++) {
        bench_index_put(index, bench_key(rows, i), bench_row(rows, i));
        if (i % BATCH == BATCH - 1 || i == rows->count - 1)
            bench_index_commit(index);
    }
    bench_index_flush(index);
    cost.flushed = bench_now() - start;
    bench_index_compact(index);
    cost.compacted = bench_now() - start;
    cost.loaded = cost.compacted;
    cost.processor = bench_processor_now() - processor;
    bench_index_close(index);
    return cost;
}

static void
measure(struct experiment *it, const struct bench_options *options)
{
    for (unsigned round = 0; round < it->rounds; round++) {
        for (unsigned turn = 0; turn < WAYS; turn++) {
            unsigned way = (turn + round) % WAYS;
            const char *path = bench_make_directory(options);
            struct cost cost;

            bench_progress("round %u of %u: %s", round + 1, it->rounds,
                           names[way]);
            if (way == INDEX)
                cost = ingest_into_index(&it->rows, path);
            else
                cost = ingest_into_store(&it->rows, path, way == FILTERS);
            it->costs[way].flushed[round] = cost.flushed;
            it->costs[way].compacted[round] = cost.compacted;
            it->costs[way].loaded[round] = cost.loaded;
            it->costs[way].processor[round] = cost.processor;
            bench_remove_directory(path);
        }
    }
    bench_progress("%s", "");
}

/* -------------------------------------------------------------- telling --- */

static double
rate(const struct experiment *it, const double *seconds)
{
    return (double)it->rows.count / bench_middle(seconds, it->rounds);
}

static void
print_ratios(const struct experiment *it, unsigned way)
{
    const struct costs *filters = &it->costs[FILTERS];
    const struct costs *other = &it->costs[way];

    printf(
        "  filters / %-10s %8.3f        %10.3f        %10.3f        %10.3f\n",
        names[way], bench_ratio(other->flushed, filters->flushed, it->rounds),
        bench_ratio(other->compacted, filters->compacted, it->rounds),
        bench_ratio(other->loaded, filters->loaded, it->rounds),
        bench_ratio(other->processor, filters->processor, it->rounds));
}

static void
print_table(const struct experiment *it)
{
    uint64_t count = it->rows.count;

    printf("ingest: %" PRIu64 " rows of 6 columns, %.1f bytes each, batches of "
           "%d, median of %u rounds\n"
           "                   until flushed   until compacted      until "
           "loaded    of processor time\n",
           count, (double)it->rows.bytes.size / (double)count, BATCH,
           it->rounds);
    for (unsigned i = 0; i < WAYS; i++)
        printf("  %-12s %10.0f rows/s %10.0f rows/s %10.0f rows/s %10.0f "
               "rows/s\n",
               names[i], rate(it, it->costs[i].flushed),
               rate(it, it->costs[i].compacted), rate(it, it->costs[i].loaded),
               rate(it, it->costs[i].processor));
    print_ratios(it, PLAIN);
    print_ratios(it, INDEX);
}

static void
print_json(const struct experiment *it)
{
    static const char *const keys[WAYS] = {"filters", "plain", "index"};

    printf("{\"experiment\":\"ingest\",\"rows\":%" PRIu64 ",\"rounds\":%u",
           it->rows.count, it->rounds);
    for (unsigned i = PLAIN; i <= INDEX; i++)
        printf(",\"filters_over_%s\":%.3f,\"loaded_filters_over_%s\":%.3f,"
               "\"flushed_filters_over_%s\":%.3f,"
               "\"processor_filters_over_%s\":%.3f",
               keys[i],
               bench_ratio(it->costs[i].compacted, it->costs[FILTERS].compacted,
                           it->rounds),
               keys[i],
               bench_ratio(it->costs[i].loaded, it->costs[FILTERS].loaded,
                           it->rounds),
               keys[i],
               bench_ratio(it->costs[i].flushed, it->costs[FILTERS].flushed,
                           it->rounds),
               keys[i],
               bench_ratio(it->costs[i].processor, it->costs[FILTERS].processor,
                           it->rounds));
    for (unsigned i = 0; i < WAYS; i++)
        printf(",\"%s_rows_per_second\":%.0f,"
               "\"flushed_%s_rows_per_second\":%.0f",
               keys[i], rate(it, it->costs[i].compacted), keys[i],
               rate(it, it->costs[i].flushed));
    printf("}\n");
}

int
bench_ingest(const struct bench_options *options)
{
    struct experiment it = {.rounds = options->rounds};

    bench_rows_make_grouped(
        &it.rows,
        bench_round_rows(options->rows == 0 ? 1000000 : options->rows));
    for (size_t i = 0; i < WAYS; i++) {
        it.costs[i].flushed = bench_allocate(it.rounds, sizeof(double));
        it.costs[i].compacted = bench_allocate(it.rounds, sizeof(double));
        it.costs[i].loaded = bench_allocate(it.rounds, sizeof(double));
        it.costs[i].processor = bench_allocate(it.rounds, sizeof(double));
    }
    measure(&it, options);
    print_table(&it);
    if (options->is_json)
        print_json(&it);
    for (size_t i = 0; i < WAYS; i++) {
        free(it.costs[i].flushed);
        free(it.costs[i].compacted);
        free(it.costs[i].loaded);
        free(it.costs[i].processor);
    }
    bench_rows_release(&it.rows);
    return 0;
}
