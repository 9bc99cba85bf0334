/*
 * The report on the paper's experiments, with the paper's own figures beside:
 * what is about numbers of entries.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_paper.h"

#include <inttypes.h>
#include <math.h>

/* What the paper tells of a number of entries; 0: nothing. */
struct told {
    uint64_t entries;
    double lookup_seconds; /* of a non-key value */
    double sst_mb;
    double leaf_mb;
    double node_mb;
};

static const struct told all_told[] = {
    {10000000, 5, 293, 29, 7},
    {50000000, 27, 0, 0, 0},
    {100000000, 54, 0, 0, 0},
    {500000000, 281, 0, 0, 0},
};

static struct told
told_of(uint64_t entries)
{
    for (size_t i = 0; i < sizeof(all_told) / sizeof(all_told[0]); i++) {
        if (all_told[i].entries == entries)
            return all_told[i];
    }
    return (struct told){.entries = entries};
}

static void
add_told(struct bench_table *table, double figure)
{
    bench_table_number(table, figure == 0 ? NAN : figure);
}

static void
report_and_release(struct bench_report *report, struct bench_table *table)
{
    bench_report_table(report, table);
    bench_table_release(table);
}

/* ----------------------------------------------------------- conditions --- */

static void
report_conditions(struct bench_report *report,
                  const struct paper_results *results)
{
    bench_report_machine(report);
    bench_report_text(
        report,
        "Entries: a key and a row of one column, strings of 11 characters, "
        "%.1f bytes encoded; keys in no order, every value once unless said. "
        "Store: SST files of %u MB, a write buffer of %u MB, blocks of %u KiB "
        "without compression, a block cache of %u MB, RocksDB's 7 levels, each "
        "ten times the one before. It is compacted before lookups, so that all "
        "ways read the same SST files.",
        results->sizes[0].entry_size, PAPER_SST_SIZE >> 20,
        PAPER_BUFFER_SIZE >> 20, PAPER_BLOCK_SIZE >> 10,
        PAPER_CACHE_SIZE >> 20);
    bench_report_text(
        report,
        "Lookups: medians of %u different values (scans: %u at most), warm "
        "(the "
        "second of two) and cold, every answer checked. Cold: the store is "
        "opened anew, which is not counted, and its files are read from "
        "storage. %s In a virtual machine the host may remember them "
        "nevertheless.",
        results->lookup_count, PAPER_SCANS_MAX,
        bench_cold_about(&results->cold));
    bench_report_text(
        report,
        "Ways: the SSTable scan reads every row. The classical Bloom scan "
        "reads every leaf filter from a file, and those SST files whole that "
        "may hold the value. The Bloom hierarchy scan reads the leaf filters "
        "that the paper's tree does not rule out; what is above the leaves is "
        "in memory. Colander is the find of a store with default filters. "
        "Leaves have %u bits, trees order %u (a node has %u to %u children), "
        "unless said.",
        PAPER_FILTER_BITS, PAPER_ORDER, PAPER_ORDER, 2 * PAPER_ORDER);
}

/* -------------------------------------------------------------- Table I --- */

static void
report_ratios(struct bench_report *report, const struct paper_results *results)
{
    static const char *const columns[] = {"entries",
                                          "scan / Colander, cold",
                                          "classical / Colander, cold",
                                          "hierarchy / Colander, cold",
                                          "classical / hierarchy, cold",
                                          "scan / Colander, warm",
                                          "hierarchy / Colander, warm",
                                          "classical / hierarchy, warm",
                                          NULL};
    struct bench_table table;

    bench_table_init(&table, "ratios", "How many times as long a lookup takes",
                     columns);
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
    report_and_release(report, &table);
}

static const char *const lookup_columns[] = {"entries",
                                             "insert (s)",
                                             "SSTable scan (ms)",
                                             "classical Bloom (ms)",
                                             "Bloom hierarchy (ms)",
                                             "Colander (ms)",
                                             "key (ms)",
                                             "Colander, tree option (ms)",
                                             "paper: non-key (ms)",
                                             "paper: key (ms)",
                                             NULL};

static void
fill_lookups(struct bench_table *table, const struct paper_results *results,
             bool is_cold)
{
    for (size_t i = 0; i < results->size_count; i++) {
        const struct paper_size *size = &results->sizes[i];

        bench_table_number(table, (double)size->entries);
        bench_table_number(table, size->insert_seconds[PAPER_DEFAULT_FILTERS]);
        for (int way = 0; way < PAPER_WAYS; way++)
            bench_table_number(table, is_cold ? size->ways[way].cold
                                              : size->ways[way].warm);
        bench_table_number(table, is_cold ? size->tree_find.cold
                                          : size->tree_find.warm);
        add_told(table, 1000 * told_of(size->entries).lookup_seconds);
        bench_table_text(table, "0.09 - 0.9");
    }
}

static void
report_lookups(struct bench_report *report, const struct paper_results *results)
{
    static const struct bench_plot plot = {
        .name = "fig8",
        .x_label = "entries",
        .y_label = "cold lookup of a value (ms)",
        .first = 2,
        .count = 4,
        .is_log_y = true,
    };
    struct bench_table table;

    bench_report_section(report, "Table I and Fig. 8: lookups by entries");
    report_ratios(report, results);
    bench_table_init(&table, "table1", "Table I: cold", lookup_columns);
    fill_lookups(&table, results, true);
    bench_report_table(report, &table);
    bench_report_plot(report, &table, &plot);
    bench_table_release(&table);
    bench_table_init(&table, "table1_warm", "Table I: warm", lookup_columns);
    fill_lookups(&table, results, false);
    report_and_release(report, &table);
    bench_report_text(
        report,
        "The paper's figures are of its own machine: a lookup of a value took "
        "5, 27, 54 and 281 s at 10, 50, 100 and 500 M entries, of a key 0.09 "
        "to 0.9 ms; the hierarchy took 80 %% less time than the others. Insert "
        "is until the last entry is taken, with Colander's default filters. "
        "\"Tree option\" is Colander's find with a tree of the same order "
        "(rows_per_segment 0, hierarchy tree) over leaves of as many bits, all "
        "of them in memory; a value sets as many of those as make a leaf err "
        "least.");
}

/* --------------------------------------------------------------- Fig. 6 --- */

static void
fill_creation(struct bench_table *table, const struct paper_results *results)
{
    for (size_t i = 0; i < results->size_count; i++) {
        const double *seconds = results->sizes[i].create_seconds;
        const double *work = results->sizes[i].create_work;

        bench_table_number(table, (double)results->sizes[i].entries);
        for (int kind = PAPER_TREE_FILTERS; kind < PAPER_FILTERS; kind++)
            bench_table_number(table,
                               seconds[kind] / seconds[PAPER_NO_FILTERS]);
        for (int kind = PAPER_TREE_FILTERS; kind < PAPER_FILTERS; kind++)
            bench_table_number(table, work[kind] / work[PAPER_NO_FILTERS]);
        for (int kind = 0; kind < PAPER_FILTERS; kind++)
            bench_table_number(table, seconds[kind]);
        for (int kind = 0; kind < PAPER_FILTERS; kind++)
            bench_table_number(table, work[kind]);
    }
}

static void
report_creation(struct bench_report *report,
                const struct paper_results *results)
{
    static const char *const columns[] = {"entries",
                                          "paper's / none",
                                          "Colander's / none",
                                          "processors: paper's / none",
                                          "processors: Colander's / none",
                                          "none (s)",
                                          "paper's filters (s)",
                                          "Colander's filters (s)",
                                          "processors: none (s)",
                                          "processors: paper's (s)",
                                          "processors: Colander's (s)",
                                          NULL};
    static const struct bench_plot plot = {
        .name = "fig6",
        .kind = BENCH_BARS,
        .x_label = "entries",
        .y_label = "creation (s)",
        .first = 5,
        .count = 3,
    };
    struct bench_table table;

    bench_report_section(report, "Fig. 6: creation with and without filters");
    bench_table_init(&table, "fig6",
                     "From the first insert until compactions and filters are "
                     "done",
                     columns);
    fill_creation(&table, results);
    bench_report_table(report, &table);
    bench_report_plot(report, &table, &plot);
    bench_table_release(&table);
    bench_report_text(
        report,
        "Each store is made once. Filters are made by the store, beside each "
        "SST that it writes. What processors did for it, in all threads, says "
        "more on a machine that is busy with other things.");
}

/* ------------------------------------------------------------- Table II --- */

static void
report_space(struct bench_report *report, const struct paper_results *results)
{
    static const char *const columns[] = {"entries",
                                          "SST files",
                                          "SST (MB)",
                                          "leaves (MB)",
                                          "non-leaves (MB)",
                                          "Colander on disk (MB)",
                                          "Colander in memory (MB)",
                                          "paper: SST (MB)",
                                          "paper: leaves (MB)",
                                          "paper: non-leaves (MB)",
                                          NULL};
    struct bench_table table;

    bench_report_section(report, "Table II: bytes of filters");
    bench_table_init(&table, "table2", "Table II", columns);
    for (size_t i = 0; i < results->size_count; i++) {
        const struct paper_size *size = &results->sizes[i];
        const struct told told = told_of(size->entries);

        bench_table_number(&table, (double)size->entries);
        bench_table_number(&table, (double)size->sst_count);
        bench_table_number(&table, (double)size->sst_size / PAPER_MEGA);
        bench_table_number(&table, (double)size->leaf_size / PAPER_MEGA);
        bench_table_number(&table, (double)size->node_size[1] / PAPER_MEGA);
        bench_table_number(&table, (double)size->filter_size / PAPER_MEGA);
        bench_table_number(&table, (double)size->hierarchy_size / PAPER_MEGA);
        add_told(&table, told.sst_mb);
        add_told(&table, told.leaf_mb);
        add_told(&table, told.node_mb);
    }
    report_and_release(report, &table);
    bench_report_text(report,
                      "Colander's filters also tell which rows hold a value, "
                      "and that is most of what they take on disk.");
}

void
paper_report(struct bench_report *report, const struct paper_results *results)
{
    report_conditions(report, results);
    report_lookups(report, results);
    report_creation(report, results);
    report_space(report, results);
    paper_report_shapes(report, results);
}
