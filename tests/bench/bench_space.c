/*
 * space: the size of value filters on disk, compared with the rows as JSON
 * lines and as SST files. The rows are generated, or come from files (--data,
 * all in one family, with record numbers as keys). Options are the defaults,
 * with different rows per segment.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_data.h"
#include "bench_figures.h"
#include "bench_store.h"

/* One family under measurement. */
struct experiment {
    struct bench_store store;
    struct colander_buffer key;
    struct colander_buffer json;
    uint64_t json_size;
    struct bench_figures *figures;
};

/* ------------------------------------------------------------- loading --- */

static void
put(void *context, struct colander_slice key, struct colander_slice row)
{
    struct experiment *it = context;

    bench_store_put(&it->store, key, row);
    colander_buffer_clear(&it->json);
    bench_check(colander_json_append_row(&it->json, key, row, &bench_error));
    it->json_size += it->json.size + 1;
}

static void
put_numbered(void *context, struct colander_slice key,
             struct colander_slice row)
{
    struct experiment *it = context;
    struct colander_value part = colander_integer((int64_t)it->store.put_count);

    (void)key;
    bench_check(colander_key_encode(&part, 1, &it->key, &bench_error));
    put(it, colander_buffer_slice(&it->key), row);
}

/* ----------------------------------------------------------- measuring --- */

static double
over_sst(const struct colander_filter_stats *stats)
{
    return (double)stats->filter_size / (double)stats->sst_size;
}

/* Rebuilds the filters and prints their sizes as a group of a list. */
static void
measure(struct experiment *it, uint32_t rows_per_segment)
{
    struct colander_filter_stats stats;

    bench_progress("building filters of %s rows per segment",
                   bench_segment_name(rows_per_segment));
    bench_store_refilter(&it->store, rows_per_segment);
    bench_progress("%s", "");
    stats = bench_store_stats(&it->store);
    bench_figures_open(it->figures, NULL, '{');
    bench_figure_text(it->figures, "rows_per_segment",
                      bench_segment_name(rows_per_segment));
    bench_figure(it->figures, 4,
                 (double)stats.filter_size / (double)it->json_size,
                 "over_json");
    bench_figure(it->figures, 4, over_sst(&stats), "over_sst");
    bench_figure(it->figures, 0, (double)stats.filter_size, "filter_size");
    bench_figure(it->figures, 0, (double)stats.locator_size, "locator_size");
    bench_figure(it->figures, 0, (double)stats.presence_size, "presence_size");
    bench_figure(it->figures, 0, (double)stats.keys_size, "keys_size");
    bench_figure(it->figures, 0, (double)stats.order_size, "order_size");
    bench_figures_close(it->figures, '}');
}

/* ---------------------------------------------------------- experiment --- */

void
bench_space(const struct bench_options *options)
{
    static const uint32_t settings[] = {COLANDER_SEGMENT_AUTO, 1, 16, 64};
    const uint64_t generated = bench_round_rows(options, 1000000);
    char *path = bench_make_directory(options);
    struct colander_filter_stats stats;
    struct experiment it = {0};

    bench_store_open(&it.store, path, NULL, NULL);
    for (size_t i = 0; i < options->file_count; i++)
        bench_data_read(options, options->files[i], put_numbered, &it);
    if (options->file_count == 0)
        bench_make_rows(generated, 0, generated, put, &it);
    if (it.store.put_count == 0)
        bench_fail("space", "there are no rows");
    bench_store_settle(&it.store);
    stats = bench_store_stats(&it.store);
    it.figures = bench_figures_begin(options, "space", it.store.put_count);
    bench_figure(it.figures, 4,
                 (double)stats.filter_size / (double)it.json_size, "over_json");
    bench_figure(it.figures, 4, over_sst(&stats), "over_sst");
    bench_figure(it.figures, 6, (double)stats.order_size / (double)it.json_size,
                 "order_over_json");
    bench_figure(it.figures, 0, (double)it.json_size, "json_size");
    bench_figure(it.figures, 0, (double)stats.sst_size, "sst_size");
    bench_figure(it.figures, 1,
                 (double)stats.value_count / (double)it.store.put_count,
                 "values_per_row");
    bench_figures_open(it.figures, "settings", '[');
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        measure(&it, settings[i]);
    bench_figures_close(it.figures, ']');
    bench_figures_end(it.figures);
    colander_buffer_release(&it.key);
    colander_buffer_release(&it.json);
    bench_store_close(&it.store);
    bench_remove_directory(path);
}
