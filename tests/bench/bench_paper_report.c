/*
 * The report on the paper's experiments, with the paper's own figures.
 * docs/benchmarks.md says what they mean.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_paper.h"

#include <inttypes.h>
#include <math.h>

/* What the paper has for a number of entries; 0: nothing. */
struct published {
    uint64_t entries;
    double lookup_seconds; /* of a non-key value */
    double sst_mb;
    double leaf_mb;
    double node_mb;
};

static struct published
published_for(uint64_t entries)
{
    static const struct published all[] = {
        {10000000, 5, 293, 29, 7},
        {50000000, 27, 0, 0, 0},
        {100000000, 54, 0, 0, 0},
        {500000000, 281, 0, 0, 0},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i].entries == entries)
            return all[i];
    }
    return (struct published){.entries = entries};
}

static void
add_published(struct bench_table *table, double figure)
{
    bench_table_number(table, figure == 0 ? NAN : figure);
}

static void
add_numbers(struct bench_table *table, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bench_table_number(table, numbers[i]);
}

static void
report_conditions(struct bench_report *report,
                  const struct paper_results *results)
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
        results->sizes[0].entry_size, PAPER_SST_SIZE >> 20,
        PAPER_BUFFER_SIZE >> 20, PAPER_BLOCK_SIZE >> 10, PAPER_CACHE_SIZE >> 20,
        PAPER_FILTER_BITS, PAPER_ORDER, results->lookup_count, PAPER_SCANS_MAX,
        100 * results->cold_share);
}

/* -------------------------------------------------------------- Table I --- */

static void
report_ratios(struct bench_report *report, const struct paper_results *results)
{
    struct bench_table table;

    bench_table_init(&table, "ratios", "How many times as long a lookup takes",
                     "entries;scan / Colander, cold;"
                     "classical / Colander, cold;hierarchy / Colander, cold;"
                     "classical / hierarchy, cold;scan / Colander, warm;"
                     "hierarchy / Colander, warm;classical / hierarchy, warm");
    for (size_t i = 0; i < results->size_count; i++) {
        const struct paper_figures *ways = results->sizes[i].ways;
        const struct paper_figures *colander = &ways[PAPER_COLANDER];
        const struct paper_figures *tree = &ways[PAPER_HIERARCHY];

        bench_table_number(&table, (double)results->sizes[i].entries);
        for (int way = PAPER_SCAN; way <= PAPER_HIERARCHY; way++)
            bench_table_number(&table, ways[way].cold / colander->cold);
        bench_table_number(&table, ways[PAPER_CLASSICAL].cold / tree->cold);
        bench_table_number(&table, ways[PAPER_SCAN].warm / colander->warm);
        bench_table_number(&table, tree->warm / colander->warm);
        bench_table_number(&table, ways[PAPER_CLASSICAL].warm / tree->warm);
    }
    bench_report_table(report, &table, NULL);
}

static void
report_lookups(struct bench_report *report, const struct paper_results *results,
               bool is_cold)
{
    static const struct bench_plot plot = {
        "fig8", BENCH_LINES, "entries", "cold lookup of a value (ms)",
        2,      4,           true};
    struct bench_table table;

    bench_table_init(&table, is_cold ? "table1" : "table1_warm",
                     is_cold ? "Table I: cold" : "Table I: warm",
                     "entries;insert (s);SSTable scan (ms);"
                     "classical Bloom (ms);Bloom hierarchy (ms);Colander (ms);"
                     "key (ms);Colander, tree option (ms);paper: non-key (ms);"
                     "paper: key (ms)");
    for (size_t i = 0; i < results->size_count; i++) {
        const struct paper_size *size = &results->sizes[i];
        const struct paper_figures *tree = &size->tree_find;

        bench_table_number(&table, (double)size->entries);
        bench_table_number(&table, size->insert_seconds[PAPER_DEFAULT_FILTERS]);
        for (int way = 0; way < PAPER_WAYS; way++)
            bench_table_number(&table, is_cold ? size->ways[way].cold
                                               : size->ways[way].warm);
        bench_table_number(&table, is_cold ? tree->cold : tree->warm);
        add_published(&table,
                      1000 * published_for(size->entries).lookup_seconds);
        bench_table_text(&table, "0.09 - 0.9");
    }
    bench_report_table(report, &table, is_cold ? &plot : NULL);
}

/* ----------------------------------------------------- Fig. 6, Table II --- */

static void
report_creation(struct bench_report *report,
                const struct paper_results *results)
{
    static const struct bench_plot plot = {
        "fig6", BENCH_BARS, "entries", "creation (s)", 5, 3, false};
    struct bench_table table;

    bench_report_section(report, "Fig. 6: creation with and without filters");
    bench_table_init(&table, "fig6",
                     "From the first insert until compactions and filters are "
                     "done",
                     "entries;paper's / none;Colander's / none;"
                     "processors: paper's / none;"
                     "processors: Colander's / none;none (s);"
                     "paper's filters (s);Colander's filters (s);"
                     "processors: none (s);processors: paper's (s);"
                     "processors: Colander's (s)");
    for (size_t i = 0; i < results->size_count; i++) {
        const double *seconds = results->sizes[i].create_seconds;
        const double *work = results->sizes[i].create_work;

        bench_table_number(&table, (double)results->sizes[i].entries);
        for (int kind = PAPER_TREE_FILTERS; kind < PAPER_FILTERS; kind++)
            bench_table_number(&table,
                               seconds[kind] / seconds[PAPER_NO_FILTERS]);
        for (int kind = PAPER_TREE_FILTERS; kind < PAPER_FILTERS; kind++)
            bench_table_number(&table, work[kind] / work[PAPER_NO_FILTERS]);
        add_numbers(&table, seconds, PAPER_FILTERS);
        add_numbers(&table, work, PAPER_FILTERS);
    }
    bench_report_table(report, &table, &plot);
}

static void
report_space(struct bench_report *report, const struct paper_results *results)
{
    struct bench_table table;

    bench_report_section(report, "Table II: bytes of filters");
    bench_table_init(&table, "table2", "Table II",
                     "entries;SST files;SST (MB);leaves (MB);non-leaves (MB);"
                     "Colander on disk (MB);Colander in memory (MB);"
                     "paper: SST (MB);paper: leaves (MB);"
                     "paper: non-leaves (MB)");
    for (size_t i = 0; i < results->size_count; i++) {
        const struct paper_size *size = &results->sizes[i];
        const struct published published = published_for(size->entries);
        const double numbers[] = {
            (double)size->entries,
            (double)size->sst_count,
            (double)size->sst_size / PAPER_MEGA,
            (double)size->leaf_size / PAPER_MEGA,
            (double)size->node_size[1] / PAPER_MEGA,
            (double)size->filter_size / PAPER_MEGA,
            (double)size->hierarchy_size / PAPER_MEGA,
        };

        add_numbers(&table, numbers, sizeof(numbers) / sizeof(numbers[0]));
        add_published(&table, published.sst_mb);
        add_published(&table, published.leaf_mb);
        add_published(&table, published.node_mb);
    }
    bench_report_table(report, &table, NULL);
}

/* ---------------------------------------------------------- Figs. 7, 9 --- */

static void
report_memory(struct bench_report *report, const struct paper_results *results)
{
    const struct bench_plot plot = {
        "fig7", BENCH_LINES,         "order d", "non-leaf filters (MB)",
        1,      results->size_count, false};
    struct colander_buffer columns = COLANDER_BUFFER_EMPTY;
    struct bench_table table;

    bench_report_section(report, "Fig. 7: memory of the tree by its order");
    bench_print(&columns, "order");
    for (size_t i = 0; i < results->size_count; i++)
        bench_print(&columns, ";%" PRIu64 " entries",
                    results->sizes[i].entries);
    bench_table_init(&table, "fig7", "Non-leaf filters, MB",
                     (const char *)columns.data);
    for (size_t i = 0; i < PAPER_ORDERS; i++) {
        bench_table_number(&table, paper_orders[i]);
        for (size_t j = 0; j < results->size_count; j++)
            bench_table_number(&table, (double)results->sizes[j].node_size[i] /
                                           PAPER_MEGA);
    }
    bench_report_table(report, &table, &plot);
    colander_buffer_release(&columns);
}

static void
report_orders(struct bench_report *report, const struct paper_results *results)
{
    static const struct bench_plot plot = {
        "fig9", BENCH_LINES, "order d", "lookup by the hierarchy (ms)",
        1,      2,           false};
    const struct paper_shape *shapes = results->shapes[PAPER_BITS - 1];
    struct bench_table table;

    bench_report_section(report, "Fig. 9: lookups by the order of the tree");
    bench_table_init(&table, "fig9", "With the most entries",
                     "order;cold (ms);warm (ms);levels");
    for (size_t i = 0; i < PAPER_ORDERS; i++) {
        bench_table_number(&table, paper_orders[i]);
        bench_table_number(&table, shapes[i].times.cold);
        bench_table_number(&table, shapes[i].times.warm);
        bench_table_number(&table, shapes[i].height);
    }
    bench_report_table(report, &table, &plot);
}

/* ---------------------------------------------------------- Figs. 10-12 --- */

static void
report_reads(struct bench_report *report, const struct paper_results *results,
             size_t bits)
{
    static const char *const names[PAPER_BITS] = {"fig10", "fig11", "fig12"};
    const bool is_published = paper_bits[bits] == PAPER_FILTER_BITS;
    const struct paper_leaf_kind *kind = &results->kinds[bits];
    const double leaves =
        (double)results->sizes[results->size_count - 1].sst_count;
    const struct bench_plot plot = {
        names[bits], BENCH_LINES, "order d", "filters", 1, 2, false};
    struct bench_table table;
    char title[160];

    (void)snprintf(title, sizeof(title),
                   "Leaves of %" PRIu64 " bits, %u set for a value, %.0f %% of "
                   "all set; %.0f leaves",
                   paper_bits[bits], kind->probes, 100 * kind->fill, leaves);
    bench_table_init(&table, names[bits], title,
                     "order;leaves read;non-leaves looked at;leaves read (%);"
                     "leaves that may contain it;paper: filters read (%)");
    for (size_t i = 0; i < PAPER_ORDERS; i++) {
        const struct paper_figures *counts = &results->shapes[bits][i].counts;

        bench_table_number(&table, paper_orders[i]);
        bench_table_number(&table, counts->leaves_read);
        bench_table_number(&table, counts->nodes_asked);
        bench_table_number(&table, 100 * counts->leaves_read / leaves);
        bench_table_number(&table, counts->leaves_matching);
        bench_table_number(
            &table, is_published && paper_orders[i] == PAPER_ORDER ? 6 : NAN);
    }
    bench_report_table(report, &table, &plot);
}

void
paper_report(struct bench_report *report, const struct paper_results *results)
{
    report_conditions(report, results);
    bench_report_section(report, "Table I and Fig. 8: lookups by entries");
    report_ratios(report, results);
    report_lookups(report, results, true);
    report_lookups(report, results, false);
    report_creation(report, results);
    report_space(report, results);
    report_memory(report, results);
    report_orders(report, results);
    bench_report_section(report, "Figs. 10 to 12: filters read");
    for (size_t i = 0; i < PAPER_BITS; i++)
        report_reads(report, results, i);
}

/* -------------------------------------------------------- value domains --- */

void
paper_report_domains(struct bench_report *report,
                     const struct paper_results *results)
{
    static const struct bench_plot plot = {"fig13",
                                           BENCH_LINES,
                                           "value domain (% of the entries)",
                                           "cold lookup of a value (ms)",
                                           1,
                                           4,
                                           true};
    static const double published[PAPER_DOMAINS][3] = {
        {56, 55, 250}, {28, 26, 190}, {13, 11, 105},
        {5, 5, 125},   {2, 1, 70},    {0, 0, 65}};
    struct bench_table times;
    struct bench_table counts;

    bench_report_section(report, "Fig. 13 and Table III: value domains");
    bench_report_text(report, "%" PRIu64 " entries.", results->domain_entries);
    bench_table_init(&times, "fig13", "Lookups by value domain",
                     "domain (%);scan (ms);classical Bloom (ms);"
                     "Bloom hierarchy (ms);Colander (ms);scan, warm (ms);"
                     "classical, warm (ms);hierarchy, warm (ms);"
                     "Colander, warm (ms)");
    bench_table_init(&counts, "table3", "Table III: means over many values",
                     "domain (%);leaves matching;SSTables holding it;"
                     "leaves read;leaves in all;paper: matching;"
                     "paper: holding;paper: read");
    for (size_t i = 0; i < PAPER_DOMAINS; i++) {
        const struct paper_domain *domain = &results->domains[i];

        bench_table_number(&times, paper_domains[i]);
        for (int way = PAPER_SCAN; way <= PAPER_COLANDER; way++)
            bench_table_number(&times, domain->ways[way].cold);
        for (int way = PAPER_SCAN; way <= PAPER_COLANDER; way++)
            bench_table_number(&times, domain->ways[way].warm);
        bench_table_number(&counts, paper_domains[i]);
        bench_table_number(&counts, domain->counts.leaves_matching);
        bench_table_number(&counts, domain->ssts_holding);
        bench_table_number(&counts, domain->counts.leaves_read);
        bench_table_number(&counts, (double)domain->leaf_count);
        add_numbers(&counts, published[i], 3);
    }
    bench_report_table(report, &times, &plot);
    bench_report_table(report, &counts, NULL);
}
