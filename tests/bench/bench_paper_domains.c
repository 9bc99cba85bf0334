/*
 * The report on the paper's experiments: what is about value domains.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_paper.h"

#include <inttypes.h>

/* Table III of the paper. */
static const struct {
    unsigned matching;
    unsigned holding;
    unsigned read;
} told[PAPER_DOMAINS] = {
    {56, 55, 250}, {28, 26, 190}, {13, 11, 105},
    {5, 5, 125},   {2, 1, 70},    {0, 0, 65},
};

static void
report_times(struct bench_report *report, const struct paper_results *results)
{
    static const char *const columns[] = {
        "domain (%)",           "scan (ms)",
        "classical Bloom (ms)", "Bloom hierarchy (ms)",
        "Colander (ms)",        "scan, warm (ms)",
        "classical, warm (ms)", "hierarchy, warm (ms)",
        "Colander, warm (ms)",  NULL};
    static const struct bench_plot plot = {
        .name = "fig13",
        .x_label = "value domain (% of the entries)",
        .y_label = "cold lookup of a value (ms)",
        .first = 1,
        .count = 4,
        .is_log_y = true,
    };
    struct bench_table table;

    bench_table_init(&table, "fig13", "Lookups by value domain", columns);
    for (size_t i = 0; i < PAPER_DOMAINS; i++) {
        const struct paper_figures *ways = results->domains[i].ways;

        bench_table_number(&table, paper_domains[i]);
        for (int way = PAPER_SCAN; way <= PAPER_COLANDER; way++)
            bench_table_number(&table, ways[way].cold);
        for (int way = PAPER_SCAN; way <= PAPER_COLANDER; way++)
            bench_table_number(&table, ways[way].warm);
    }
    bench_report_table(report, &table);
    bench_report_plot(report, &table, &plot);
    bench_table_release(&table);
}

static void
report_counts(struct bench_report *report, const struct paper_results *results)
{
    static const char *const columns[] = {
        "domain (%)",     "leaves matching", "SSTables holding it",
        "leaves read",    "leaves in all",   "paper: matching",
        "paper: holding", "paper: read",     NULL};
    struct bench_table table;

    bench_table_init(&table, "table3", "Table III: means over many values",
                     columns);
    for (size_t i = 0; i < PAPER_DOMAINS; i++) {
        const struct paper_domain *domain = &results->domains[i];

        bench_table_number(&table, paper_domains[i]);
        bench_table_number(&table, domain->counts.leaves_matching);
        bench_table_number(&table, domain->ssts_holding);
        bench_table_number(&table, domain->counts.leaves_read);
        bench_table_number(&table, (double)domain->leaf_count);
        bench_table_number(&table, told[i].matching);
        bench_table_number(&table, told[i].holding);
        bench_table_number(&table, told[i].read);
    }
    bench_report_table(report, &table);
    bench_table_release(&table);
}

void
paper_report_domains(struct bench_report *report,
                     const struct paper_results *results)
{
    bench_report_section(report, "Fig. 13 and Table III: value domains");
    bench_report_text(
        report,
        "%" PRIu64 " entries. A domain of p %% is read as: there are p %% as "
        "many different values as entries, and each entry has one drawn at "
        "random; so a value is in about 100 / p entries, and with 100 %% it "
        "may be in none, as in the paper's last line. The paper's lines are "
        "read as: leaf filters that match, SSTables that truly hold the value, "
        "leaf filters read. What holds it falls more slowly there from 1 to "
        "5 %% than by this reading.",
        results->domain_entries);
    report_times(report, results);
    report_counts(report, results);
}
