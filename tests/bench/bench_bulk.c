/*
 * bulk: the rows of a family that has none by a bulk, and in batches of 1,000,
 * both into a store that is ready for finds: all in SST files, each with its
 * filter, and what the hierarchy needs of those in memory.
 *
 * Batches end in two states, flushed and compacted; a bulk ends in the second.
 * Beside the times stands what processors did, in all threads: that says more
 * on a machine that is busy with other things.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_store.h"

#include <inttypes.h>
#include <stdlib.h>

#define BATCH 1000

enum { BULK, FLUSHED, COMPACTED, WAYS };

static const char *const names[WAYS] = {"bulk", "put, flushed",
                                        "put, compacted"};
static const char *const keys[WAYS] = {"bulk", "put", "compacted"};

/* Of each round, in seconds. */
struct costs {
    double *elapsed;
    double *processor; /* of all threads */
};

static void
load_by_bulk(const struct bench_rows *rows, struct bench_store *it)
{
    struct colander_bulk *bulk;
    struct colander_error err;
    uint64_t count;

    bench_check(colander_bulk_create(it->family, &bulk, &err), &err);
    for (uint64_t i = 0; i < rows->count; i++)
        bench_check(colander_bulk_add(bulk, bench_key(rows, i),
                                      bench_row(rows, i), &err),
                    &err);
    bench_check(colander_bulk_commit(bulk, &count, &err), &err);
    colander_bulk_destroy(bulk);
}

static void
load_by_puts(const struct bench_rows *rows, struct bench_store *it,
             bool compacts)
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
    bench_check(colander_family_flush(it->family, &err), &err);
    if (compacts)
        bench_check(colander_family_compact(it->family, &err), &err);
}

static void
measure(const struct bench_rows *rows, unsigned way, const char *path,
        double *elapsed, double *processor)
{
    struct colander_filter_options filters;
    struct colander_error err;
    struct bench_store it;

    colander_filter_options_init(&filters);
    bench_store_open(&it, path, NULL, &filters);
    *processor = bench_processor_now();
    *elapsed = bench_now();
    if (way == BULK)
        load_by_bulk(rows, &it);
    else
        load_by_puts(rows, &it, way == COMPACTED);
    bench_check(colander_family_await_filters(it.family, &err), &err);
    *elapsed = bench_now() - *elapsed;
    *processor = bench_processor_now() - *processor;
    bench_store_close(&it);
}

static void
print_results(const struct bench_rows *rows, const struct costs *costs,
              const struct bench_options *options)
{
    const double count = (double)rows->count;
    const unsigned rounds = options->rounds;

    printf("bulk: %" PRIu64 " rows of 6 columns, %.1f bytes each, median of %u "
           "rounds\n"
           "                         until loaded    of processor time\n",
           rows->count, (double)rows->bytes.size / count, rounds);
    for (unsigned way = 0; way < WAYS; way++)
        printf("  %-16s %12.0f rows/s %12.0f rows/s\n", names[way],
               count / bench_middle(costs[way].elapsed, rounds),
               count / bench_middle(costs[way].processor, rounds));
    for (unsigned way = FLUSHED; way < WAYS; way++)
        printf(
            "  bulk / %-14s %11.3f  %18.3f\n", names[way],
            bench_ratio(costs[way].elapsed, costs[BULK].elapsed, rounds),
            bench_ratio(costs[way].processor, costs[BULK].processor, rounds));
    if (!options->is_json)
        return;
    printf("{\"experiment\":\"bulk\",\"rows\":%" PRIu64 ",\"rounds\":%u",
           rows->count, rounds);
    for (unsigned way = FLUSHED; way < WAYS; way++)
        printf(
            ",\"bulk_over_%s\":%.3f,\"processor_bulk_over_%s\":%.3f", keys[way],
            bench_ratio(costs[way].elapsed, costs[BULK].elapsed, rounds),
            keys[way],
            bench_ratio(costs[way].processor, costs[BULK].processor, rounds));
    for (unsigned way = 0; way < WAYS; way++)
        printf(",\"%s_rows_per_second\":%.0f", keys[way],
               count / bench_middle(costs[way].elapsed, rounds));
    printf("}\n");
}

int
bench_bulk(const struct bench_options *options)
{
    struct costs costs[WAYS];
    struct bench_rows rows;

    bench_rows_make_grouped(
        &rows, bench_round_rows(options->rows == 0 ? 1000000 : options->rows));
    for (unsigned way = 0; way < WAYS; way++) {
        costs[way].elapsed = bench_allocate(options->rounds, sizeof(double));
        costs[way].processor = bench_allocate(options->rounds, sizeof(double));
    }
    for (unsigned round = 0; round < options->rounds; round++) {
        for (unsigned turn = 0; turn < WAYS; turn++) {
            unsigned way = (turn + round) % WAYS;
            const char *path = bench_make_directory(options);

            bench_progress("round %u of %u: %s", round + 1, options->rounds,
                           names[way]);
            measure(&rows, way, path, &costs[way].elapsed[round],
                    &costs[way].processor[round]);
            bench_remove_directory(path);
        }
    }
    bench_progress("%s", "");
    print_results(&rows, costs, options);
    for (unsigned way = 0; way < WAYS; way++) {
        free(costs[way].elapsed);
        free(costs[way].processor);
    }
    bench_rows_release(&rows);
    return 0;
}
