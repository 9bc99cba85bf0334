/*
 * bulk, ingest, put: the same rows written into a new store in several ways, in
 * batches of 1,000 by one writer or by a bulk.
 *
 * Times are measured until all rows are in SST files, until these are fully
 * compacted and each has its filter on disk, until the hierarchy has loaded
 * what it needs of them, which otherwise happens in the background, and until
 * the store is closed. On a busy machine the processor time of all threads is
 * more meaningful.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_figures.h"
#include "bench_rocksdb.h"
#include "bench_store.h"
#include "bench_turns.h"

/* Seconds of a turn, in the order of its steps. */
enum time {
    FLUSHED,
    COMPACTED,
    ELAPSED,
    PROCESSOR, /* of all threads, for that */
    CLOSED,
};

/* One way of writing all rows. */
struct writing {
    const char *name; /* in figures */
    enum { INTO_STORE, INTO_ROCKSDB, BY_BULK } how;
    bool has_filters;
    bool compacts;
    bool has_index; /* INTO_ROCKSDB */
};

struct experiment {
    const struct bench_options *options;
    const struct writing *writings;
    struct bench_rows rows;
    struct bench_turns turns;
};

/* ------------------------------------------------------------- writing --- */

static void
load_by_bulk(const struct bench_rows *rows, struct bench_store *store)
{
    struct colander_bulk *bulk;

    bench_check(colander_bulk_create(store->family, &bulk, &bench_error));
    for (uint64_t i = 0; i < rows->count; i++)
        bench_check(colander_bulk_add(bulk, bench_key(rows, i),
                                      bench_row(rows, i), &bench_error));
    bench_check(colander_bulk_commit(bulk, NULL, &bench_error));
    colander_bulk_destroy(bulk);
}

static void
write_into_store(const struct writing *writing, const struct bench_rows *rows,
                 const char *path, double times[BENCH_TIMES])
{
    const double opened = bench_now();
    struct colander_filter_options filters;
    struct bench_store it;
    double processor;
    double start;

    colander_filter_options_init(&filters);
    filters.is_on = writing->has_filters;
    bench_store_open(&it, path, NULL, &filters);
    processor = bench_processor_now();
    start = bench_now();
    if (writing->how == BY_BULK)
        load_by_bulk(rows, &it);
    else
        bench_store_put_rows(&it, rows);
    bench_check(colander_family_flush(it.family, &bench_error));
    times[FLUSHED] = bench_now() - start;
    if (writing->compacts)
        bench_check(colander_family_compact(it.family, &bench_error));
    times[COMPACTED] = bench_now() - start;
    if (writing->has_filters)
        bench_check(colander_family_await_filters(it.family, &bench_error));
    times[ELAPSED] = bench_now() - start;
    times[PROCESSOR] = bench_processor_now() - processor;
    bench_store_close(&it);
    times[CLOSED] = bench_now() - opened;
}

static void
write_into_rocksdb(const struct writing *writing, const struct bench_rows *rows,
                   const char *path, double times[BENCH_TIMES])
{
    const double opened = bench_now();
    struct bench_rocksdb *it = bench_rocksdb_open(path, writing->has_index, 0);
    const double processor = bench_processor_now();
    const double start = bench_now();

    for (uint64_t i = 0; i < rows->count; i++)
        bench_rocksdb_put(it, bench_key(rows, i), bench_row(rows, i));
    bench_rocksdb_flush(it);
    times[FLUSHED] = bench_now() - start;
    if (writing->compacts)
        bench_rocksdb_compact(it);
    times[COMPACTED] = times[ELAPSED] = bench_now() - start;
    times[PROCESSOR] = bench_processor_now() - processor;
    bench_rocksdb_close(it);
    times[CLOSED] = bench_now() - opened;
}

static void
write_rows(void *context, unsigned way, double times[BENCH_TIMES])
{
    const struct experiment *it = context;
    const struct writing *writing = &it->writings[way];
    char *path = bench_make_directory(it->options);

    if (writing->how == INTO_ROCKSDB)
        write_into_rocksdb(writing, &it->rows, path, times);
    else
        write_into_store(writing, &it->rows, path, times);
    bench_remove_directory(path);
}

/* ------------------------------------------------------------- figures --- */

/* Measures all ways with rows of 6 columns, and begins the figures. */
static struct bench_figures *
measure(struct experiment *it, const struct bench_options *options,
        const char *name, const struct writing *writings, unsigned way_count)
{
    const uint64_t rows = bench_round_rows(options, 1000000);

    *it = (struct experiment){.options = options, .writings = writings};
    bench_make_rows(rows, 0, rows, bench_rows_add, &it->rows);
    bench_turns_take(&it->turns, options->rounds, way_count, write_rows, it);
    return bench_figures_begin(options, name, it->rows.count);
}

static void
end(struct experiment *it, struct bench_figures *figures)
{
    bench_figures_end(figures);
    bench_turns_release(&it->turns);
    bench_rows_release(&it->rows);
}

static double
rate(const struct experiment *it, unsigned way, enum time time)
{
    return (double)it->rows.count / bench_turns_median(&it->turns, way, time);
}

void
bench_bulk(const struct bench_options *options)
{
    static const struct writing writings[] = {
        {"bulk", BY_BULK, true, false, false},
        {"put", INTO_STORE, true, false, false},
        {"compacted", INTO_STORE, true, true, false},
    };
    struct experiment it;
    struct bench_figures *figures = measure(&it, options, "bulk", writings, 3);

    for (unsigned i = 1; i < 3; i++) {
        bench_figure(figures, 3, bench_turns_ratio(&it.turns, i, 0, ELAPSED),
                     "bulk_over_%s", writings[i].name);
        bench_figure(figures, 3, bench_turns_ratio(&it.turns, i, 0, PROCESSOR),
                     "processor_bulk_over_%s", writings[i].name);
    }
    for (unsigned i = 0; i < 3; i++)
        bench_figure(figures, 0, rate(&it, i, ELAPSED), "%s_rows_per_second",
                     writings[i].name);
    end(&it, figures);
}

void
bench_ingest(const struct bench_options *options)
{
    static const struct writing writings[] = {
        {"filters", INTO_STORE, true, true, false},
        {"plain", INTO_STORE, false, true, false},
        {"index", INTO_ROCKSDB, false, true, true},
    };
    static const struct {
        const char *prefix;
        enum time time;
    } ratios[] = {{"", COMPACTED},
                  {"loaded_", ELAPSED},
                  {"flushed_", FLUSHED},
                  {"processor_", PROCESSOR}};
    struct experiment it;
    struct bench_figures *figures =
        measure(&it, options, "ingest", writings, 3);

    for (unsigned i = 1; i < 3; i++) {
        for (size_t j = 0; j < sizeof(ratios) / sizeof(ratios[0]); j++)
            bench_figure(
                figures, 3, bench_turns_ratio(&it.turns, i, 0, ratios[j].time),
                "%sfilters_over_%s", ratios[j].prefix, writings[i].name);
    }
    for (unsigned i = 0; i < 3; i++) {
        bench_figure(figures, 0, rate(&it, i, COMPACTED), "%s_rows_per_second",
                     writings[i].name);
        bench_figure(figures, 0, rate(&it, i, FLUSHED),
                     "flushed_%s_rows_per_second", writings[i].name);
    }
    end(&it, figures);
}

/* Without filters, as RocksDB alone has none. */
void
bench_put(const struct bench_options *options)
{
    static const struct writing writings[] = {
        {"colander", INTO_STORE, false, false, false},
        {"rocksdb", INTO_ROCKSDB, false, false, false},
    };
    struct experiment it;
    struct bench_figures *figures = measure(&it, options, "put", writings, 2);

    bench_figure(figures, 0, rate(&it, 0, CLOSED), "rows_per_second");
    bench_figure(figures, 0, rate(&it, 1, CLOSED), "bare_rows_per_second");
    bench_figure(figures, 3, bench_turns_ratio(&it.turns, 1, 0, CLOSED),
                 "put_over_bare");
    end(&it, figures);
}
