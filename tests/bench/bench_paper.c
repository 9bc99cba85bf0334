/*
 * paper: the experiments of "A Bloom Filter Hierarchy for Non-key Search in
 * Key-Value Stores" reproduced, and Colander compared with its ways.
 *
 * For each number of entries: the time to create a store without filters, with
 * the paper's and with Colander's; lookups in all ways. With the most entries:
 * trees of several orders over leaves of several sizes. With the middle number:
 * values that several entries share. middle: values that several entries have.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_paper.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define COUNTED_LOOKUPS 40 /* of which only filters are counted */
#define MEGA 1e6           /* bytes */

static const unsigned orders[] = {2, PAPER_ORDER, 4, 8, 16};
static const uint64_t bits[PAPER_BITS] = {20000, 200000, PAPER_FILTER_BITS};

#define ORDERS (sizeof(orders) / sizeof(orders[0]))

/* Percent of the entries, and what the paper has: leaves matching, SSTables
 * holding it, leaves read. */
static const struct {
    unsigned percent;
    double published[3];
} domains[] = {
    {1, {56, 55, 250}}, {5, {28, 26, 190}}, {10, {13, 11, 105}},
    {40, {5, 5, 125}},  {70, {2, 1, 70}},   {100, {0, 0, 65}},
};

struct experiment {
    char *path;
    unsigned rounds;
    uint64_t sizes[PAPER_SIZES]; /* numbers of entries */
    size_t size_count;
    double entry_size;
    double cold_share; /* of pages that stayed in memory, at most */
    double node_mb[ORDERS][PAPER_SIZES];
    char titles[PAPER_BITS][160];
    struct bench_table tables[PAPER_TABLES];
};

/* A store with its leaves and lookups, as the ways need it. */
struct setting {
    struct paper_entries entries;
    struct paper_store store;
    struct paper_leaves leaves;
    struct paper_tree tree;
    struct paper_lookup *lookups;
    size_t lookup_count;
    struct paper_asked asked;
};

static void
setting_make(struct setting *setting, struct experiment *it, uint64_t entries,
             unsigned domain, enum paper_filters filters)
{
    const size_t lookup_count =
        it->rounds > COUNTED_LOOKUPS ? it->rounds : COUNTED_LOOKUPS;

    memset(setting, 0, sizeof(*setting));
    paper_entries_init(&setting->entries, entries, domain);
    paper_store_create(&setting->store, it->path, filters, &setting->entries);
    bench_store_settle(&setting->store.store);
    paper_store_list(&setting->store);
    setting->lookups = paper_lookups_make(&setting->entries, lookup_count);
    setting->lookup_count = lookup_count;
    setting->asked = (struct paper_asked){
        .store = &setting->store,
        .leaves = &setting->leaves,
        .tree = &setting->tree,
        .cold_share = &it->cold_share,
        .places = bench_allocate(setting->store.sst_count, sizeof(size_t)),
    };
}

static void
setting_release(struct setting *setting)
{
    paper_store_remove(&setting->store);
    paper_entries_release(&setting->entries);
    free(setting->lookups);
    free(setting->asked.places);
}

/* ------------------------------------------------- numbers of entries --- */

/* The results for one number of entries, by the filters of the store; and of
 * the lookups by the ways, the last of which is a find with the paper's
 * filters. */
struct size {
    double insert[PAPER_DEFAULT_FILTERS + 1]; /* seconds */
    double create[PAPER_DEFAULT_FILTERS + 1];
    double work[PAPER_DEFAULT_FILTERS + 1]; /* of processors */
    double cold[PAPER_WAYS + 1];            /* milliseconds */
    double warm[PAPER_WAYS + 1];
};

/* Creates the store with filters of a kind. */
static void
size_make(struct setting *setting, struct experiment *it, uint64_t entries,
          enum paper_filters kind, struct size *size)
{
    setting_make(setting, it, entries, 0, kind);
    size->insert[kind] = setting->store.insert_seconds;
    size->create[kind] = setting->store.create_seconds;
    size->work[kind] = setting->store.create_work;
}

static void
measure_ways(struct setting *setting, unsigned rounds, double *cold,
             double *warm)
{
    for (unsigned way = 0; way < PAPER_WAYS; way++)
        paper_measure(&setting->asked, (enum paper_way)way, setting->lookups,
                      rounds, &cold[way], &warm[way]);
}

/* Adds the lines of Table I and Fig. 6. */
static void
add_times(struct experiment *it, uint64_t entries, const struct size *size)
{
    const struct paper_published published = paper_published_for(entries);
    const double *cold = size->cold;
    const double *warm = size->warm;
    const double ratios[] = {
        (double)entries,
        cold[PAPER_SCAN] / cold[PAPER_COLANDER],
        cold[PAPER_CLASSICAL] / cold[PAPER_COLANDER],
        cold[PAPER_HIERARCHY] / cold[PAPER_COLANDER],
        cold[PAPER_CLASSICAL] / cold[PAPER_HIERARCHY],
        warm[PAPER_SCAN] / warm[PAPER_COLANDER],
        warm[PAPER_HIERARCHY] / warm[PAPER_COLANDER],
        warm[PAPER_CLASSICAL] / warm[PAPER_HIERARCHY],
    };
    const double creation[] = {
        (double)entries,
        size->create[PAPER_TREE_FILTERS] / size->create[PAPER_NO_FILTERS],
        size->create[PAPER_DEFAULT_FILTERS] / size->create[PAPER_NO_FILTERS],
        size->work[PAPER_TREE_FILTERS] / size->work[PAPER_NO_FILTERS],
        size->work[PAPER_DEFAULT_FILTERS] / size->work[PAPER_NO_FILTERS],
    };
    struct bench_table *table = &it->tables[PAPER_TABLE1];

    bench_table_numbers(&it->tables[PAPER_RATIOS], ratios, 8);
    for (unsigned i = 0; i < 2; i++, table++) {
        bench_table_number(table, (double)entries);
        bench_table_number(table, size->insert[PAPER_DEFAULT_FILTERS]);
        bench_table_numbers(table, i == 0 ? cold : warm, PAPER_WAYS + 1);
        bench_table_number(table, published.lookup_ms);
        bench_table_text(table, "0.09 - 0.9");
    }
    table = &it->tables[PAPER_FIG6];
    bench_table_numbers(table, creation, 5);
    bench_table_numbers(table, size->create, PAPER_DEFAULT_FILTERS + 1);
    bench_table_numbers(table, size->work, PAPER_DEFAULT_FILTERS + 1);
}

static void
add_bytes(struct experiment *it, struct setting *setting, double node_mb)
{
    const struct paper_store *store = &setting->store;
    const struct colander_filter_stats stats =
        bench_store_stats(&setting->store.store);
    const uint64_t entries = setting->entries.count;
    const double numbers[] = {
        (double)entries,
        (double)store->sst_count,
        (double)store->sst_size / MEGA,
        (double)setting->leaves.size * (double)store->sst_count / MEGA,
        node_mb,
        (double)stats.filter_size / MEGA,
        (double)stats.hierarchy_size / MEGA,
    };

    bench_table_numbers(&it->tables[PAPER_TABLE2], numbers, 7);
    bench_table_numbers(&it->tables[PAPER_TABLE2],
                        paper_published_for(entries).megabytes, 3);
}

/* Leaves of one size, below trees of all orders. Times are measured for the
 * largest size, as with fewer bits almost every SST is read. */
static void
measure_orders(struct experiment *it, struct setting *setting, unsigned kind)
{
    const double lookups = (double)setting->lookup_count;
    const double leaves = (double)setting->leaves.count;
    const bool is_published = bits[kind] == PAPER_FILTER_BITS;

    (void)snprintf(it->titles[kind], sizeof(it->titles[kind]),
                   "Leaves of %" PRIu64 " bits, %u set for a value, %.0f %% of "
                   "all set; %.0f leaves",
                   bits[kind], setting->leaves.shape.probes,
                   100 * setting->leaves.fill, leaves);
    for (size_t i = 0; i < ORDERS; i++) {
        struct paper_counts counts;
        double times[4] = {orders[i]}; /* cold, warm, levels */

        paper_tree_make(&setting->tree, &setting->leaves, orders[i]);
        counts = paper_count(&setting->asked, setting->lookups,
                             setting->lookup_count);
        bench_table_numbers(
            &it->tables[PAPER_FIG10 + kind],
            (const double[]){
                orders[i], (double)counts.leaves_read / lookups,
                (double)counts.nodes_asked / lookups,
                100 * (double)counts.leaves_read / lookups / leaves,
                (double)counts.leaves_matching / lookups,
                is_published && orders[i] == PAPER_ORDER ? 6 : (double)NAN},
            6);
        if (is_published) {
            paper_measure(&setting->asked, PAPER_HIERARCHY, setting->lookups,
                          it->rounds, &times[1], &times[2]);
            times[3] = setting->tree.height;
            bench_table_numbers(&it->tables[PAPER_FIG9], times, 4);
        }
        paper_tree_release(&setting->tree);
    }
}

static void
measure_size(struct experiment *it, size_t number)
{
    const uint64_t entries = it->sizes[number];
    struct setting setting;
    struct size size;

    size_make(&setting, it, entries, PAPER_NO_FILTERS, &size);
    setting_release(&setting);
    size_make(&setting, it, entries, PAPER_TREE_FILTERS, &size);
    paper_measure(&setting.asked, PAPER_COLANDER, setting.lookups, it->rounds,
                  &size.cold[PAPER_WAYS], &size.warm[PAPER_WAYS]);
    setting_release(&setting);
    size_make(&setting, it, entries, PAPER_DEFAULT_FILTERS, &size);
    it->entry_size = paper_entry_size(&setting.entries);
    paper_leaves_make(&setting.leaves, &setting.store, it->path,
                      PAPER_FILTER_BITS);
    for (size_t i = 0; i < ORDERS; i++) {
        const double *node_mb = &it->node_mb[i][number];

        paper_tree_make(&setting.tree, &setting.leaves, orders[i]);
        it->node_mb[i][number] = (double)setting.tree.size / MEGA;
        if (orders[i] == PAPER_ORDER) {
            measure_ways(&setting, it->rounds, size.cold, size.warm);
            add_times(it, entries, &size);
            add_bytes(it, &setting, *node_mb);
        }
        paper_tree_release(&setting.tree);
    }
    paper_leaves_release(&setting.leaves);
    for (unsigned i = 0; number + 1 == it->size_count && i < PAPER_BITS; i++) {
        paper_leaves_make(&setting.leaves, &setting.store, it->path, bits[i]);
        measure_orders(it, &setting, i);
        paper_leaves_release(&setting.leaves);
    }
    setting_release(&setting);
}

/* -------------------------------------------------------- value domains --- */

static void
measure_domain(struct experiment *it, uint64_t entries, size_t number)
{
    const double percent = domains[number].percent;
    double cold[PAPER_WAYS];
    double warm[PAPER_WAYS];
    struct paper_counts counts;
    struct setting setting;
    double lookups;

    setting_make(&setting, it, entries, domains[number].percent,
                 PAPER_DEFAULT_FILTERS);
    lookups = (double)setting.lookup_count;
    paper_leaves_make(&setting.leaves, &setting.store, it->path,
                      PAPER_FILTER_BITS);
    paper_tree_make(&setting.tree, &setting.leaves, PAPER_ORDER);
    counts = paper_count(&setting.asked, setting.lookups, setting.lookup_count);
    bench_table_numbers(
        &it->tables[PAPER_TABLE3],
        (const double[]){percent, (double)counts.leaves_matching / lookups,
                         (double)paper_count_holding(&setting.store,
                                                     setting.lookups,
                                                     setting.lookup_count) /
                             lookups,
                         (double)counts.leaves_read / lookups,
                         (double)setting.store.sst_count},
        5);
    bench_table_numbers(&it->tables[PAPER_TABLE3], domains[number].published,
                        3);
    measure_ways(&setting, it->rounds, cold, warm);
    bench_table_number(&it->tables[PAPER_FIG13], percent);
    bench_table_numbers(&it->tables[PAPER_FIG13], cold, PAPER_COLANDER + 1);
    bench_table_numbers(&it->tables[PAPER_FIG13], warm, PAPER_COLANDER + 1);
    paper_tree_release(&setting.tree);
    paper_leaves_release(&setting.leaves);
    setting_release(&setting);
}

/* --------------------------------------------------------------- driver --- */

static void
choose_sizes(struct experiment *it, uint64_t rows)
{
    static const uint64_t suggested[PAPER_SIZES] = {1000000, 5000000, 10000000};

    memcpy(it->sizes, suggested, sizeof(suggested));
    it->size_count = PAPER_SIZES;
    if (rows != 0) {
        it->sizes[0] = rows;
        it->size_count = 1;
    }
}

/* The columns of Fig. 7 are printed into `columns`. */
static void
init_tables(struct experiment *it, struct colander_buffer *columns)
{
    bench_print(columns, "order");
    for (size_t i = 0; i < it->size_count; i++)
        bench_print(columns, ";%" PRIu64 " entries", it->sizes[i]);
    for (unsigned i = 0; i < PAPER_TABLES; i++) {
        const struct paper_table_kind *kind = &paper_tables[i];
        const bool is_shape = i >= PAPER_FIG10 && i < PAPER_FIG13;

        bench_table_init(&it->tables[i], kind->name,
                         is_shape ? it->titles[i - PAPER_FIG10] : kind->title,
                         i == PAPER_FIG7 ? (const char *)columns->data
                                         : kind->columns);
    }
}

static void
report_tables(struct experiment *it, struct bench_report *report,
              unsigned first, unsigned end)
{
    for (unsigned i = first; i < end; i++) {
        const struct paper_table_kind *kind = &paper_tables[i];
        struct bench_plot plot = kind->plot;

        if (i == PAPER_FIG7)
            plot.count = it->size_count;
        if (kind->section != NULL)
            bench_report_section(report, kind->section);
        bench_report_table(report, &it->tables[i],
                           plot.name == NULL ? NULL : &plot);
    }
}

static void
report_conditions(const struct experiment *it, struct bench_report *report)
{
    bench_report_machine(report);
    bench_report_text(
        report,
        "Entries have %.1f bytes, encoded. SST files of %u MB, a write buffer "
        "of %u MB, blocks of %u KiB without compression, a block cache of %u "
        "MB. Leaves have %u bits, trees order %u, unless stated otherwise. "
        "Lookups: medians of %u different values (scans: %u at most), warm "
        "(the second of two) and cold: at most %.2g %% of the files stayed in "
        "memory. docs/benchmarks.md has more.",
        it->entry_size, PAPER_SST_SIZE >> 20, PAPER_BUFFER_SIZE >> 20,
        PAPER_BLOCK_SIZE >> 10, PAPER_CACHE_SIZE >> 20, PAPER_FILTER_BITS,
        PAPER_ORDER, it->rounds, PAPER_SCANS_MAX, 100 * it->cold_share);
}

void
bench_paper(const struct bench_options *options)
{
    struct experiment *it = bench_allocate(1, sizeof(*it));
    struct colander_buffer columns = COLANDER_BUFFER_EMPTY;
    struct bench_report *report = bench_report_open(
        options->report_directory,
        "The paper's experiments: non-key search in a key-value store");
    uint64_t domain_entries;

    it->rounds = options->rounds;
    it->path = bench_make_directory(options);
    choose_sizes(it, options->rows);
    init_tables(it, &columns);
    for (size_t i = 0; i < it->size_count; i++)
        measure_size(it, i);
    for (size_t i = 0; i < ORDERS; i++) {
        bench_table_number(&it->tables[PAPER_FIG7], orders[i]);
        bench_table_numbers(&it->tables[PAPER_FIG7], it->node_mb[i],
                            it->size_count);
    }
    report_conditions(it, report);
    report_tables(it, report, 0, PAPER_FIG13);
    domain_entries = it->sizes[it->size_count / 2];
    for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++)
        measure_domain(it, domain_entries, i);
    bench_report_section(report, "Fig. 13 and Table III: value domains");
    bench_report_text(report, "%" PRIu64 " entries.", domain_entries);
    report_tables(it, report, PAPER_FIG13, PAPER_TABLES);
    bench_report_close(report);
    bench_remove_directory(it->path);
    colander_buffer_release(&columns);
    free(it);
}
