/*
 * The report on the paper's experiments: what is about the shapes of filters,
 * orders of trees and bits of leaves.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_paper.h"

#include <inttypes.h>
#include <math.h>

/* --------------------------------------------------------- Figs. 7, 9 --- */

static void
report_memory(struct bench_report *report, const struct paper_results *results)
{
    const struct bench_plot plot = {
        .name = "fig7",
        .x_label = "order d",
        .y_label = "non-leaf filters (MB)",
        .first = 1,
        .count = results->size_count,
    };
    const char *columns[BENCH_ENTRIES_MAX + 2] = {"order"};
    char names[BENCH_ENTRIES_MAX][32];
    struct bench_table table;

    bench_report_section(report, "Fig. 7: memory of the tree by its order");
    for (size_t i = 0; i < results->size_count; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "%" PRIu64 " entries",
                       results->sizes[i].entries);
        columns[i + 1] = names[i];
    }
    bench_table_init(&table, "fig7", "Non-leaf filters, MB", columns);
    for (size_t i = 0; i < PAPER_ORDERS; i++) {
        bench_table_number(&table, paper_orders[i]);
        for (size_t j = 0; j < results->size_count; j++)
            bench_table_number(&table, (double)results->sizes[j].node_size[i] /
                                           PAPER_MEGA);
    }
    bench_report_table(report, &table);
    bench_report_plot(report, &table, &plot);
    bench_table_release(&table);
}

static void
report_orders(struct bench_report *report, const struct paper_results *results)
{
    static const char *const columns[] = {"order", "cold (ms)", "warm (ms)",
                                          "levels", NULL};
    static const struct bench_plot plot = {
        .name = "fig9",
        .x_label = "order d",
        .y_label = "lookup by the hierarchy (ms)",
        .first = 1,
        .count = 2,
    };
    const struct paper_shape *shapes = results->shapes[PAPER_BITS - 1];
    struct bench_table table;

    bench_report_section(report, "Fig. 9: lookups by the order of the tree");
    bench_table_init(&table, "fig9", "With the most entries", columns);
    for (size_t i = 0; i < PAPER_ORDERS; i++) {
        bench_table_number(&table, paper_orders[i]);
        bench_table_number(&table, shapes[i].times.cold);
        bench_table_number(&table, shapes[i].times.warm);
        bench_table_number(&table, shapes[i].height);
    }
    bench_report_table(report, &table);
    bench_report_plot(report, &table, &plot);
    bench_table_release(&table);
}

/* ---------------------------------------------------------- Figs. 10-12 --- */

static void
report_reads(struct bench_report *report, const struct paper_results *results,
             size_t bits)
{
    const bool is_told = paper_bits[bits] == PAPER_FILTER_BITS;
    const char *const columns[] = {"order",
                                   "leaves read",
                                   "non-leaves looked at",
                                   "leaves read (%)",
                                   "leaves that say maybe",
                                   is_told ? "paper: filters read (%)" : NULL,
                                   NULL};
    static const char *const names[PAPER_BITS] = {"fig10", "fig11", "fig12"};
    const struct paper_leaf_kind *kind = &results->kinds[bits];
    const struct paper_size *largest = &results->sizes[results->size_count - 1];
    const struct bench_plot plot = {
        .name = names[bits],
        .x_label = "order d",
        .y_label = "filters",
        .first = 1,
        .count = 2,
    };
    struct bench_table table;
    char title[160];

    (void)snprintf(title, sizeof(title),
                   "Leaves of %" PRIu64 " bits, %u set for a value, %.0f %% of "
                   "all set; %" PRIu64 " leaves",
                   paper_bits[bits], kind->probes, 100 * kind->fill,
                   largest->sst_count);
    bench_table_init(&table, names[bits], title, columns);
    for (size_t i = 0; i < PAPER_ORDERS; i++) {
        const struct paper_figures *counts = &results->shapes[bits][i].counts;

        bench_table_number(&table, paper_orders[i]);
        bench_table_number(&table, counts->leaves_read);
        bench_table_number(&table, counts->nodes_asked);
        bench_table_number(&table, 100 * counts->leaves_read /
                                       (double)largest->sst_count);
        bench_table_number(&table, counts->leaves_matching);
        if (is_told)
            bench_table_number(&table,
                               paper_orders[i] == PAPER_ORDER ? 6 : NAN);
    }
    bench_report_table(report, &table);
    bench_report_plot(report, &table, &plot);
    bench_table_release(&table);
}

static void
report_probes(struct bench_report *report, const struct paper_results *results)
{
    static const char *const columns[] = {
        "bits set for a value", "bits set in a leaf (%)", "leaves read (%)",
        "leaves that say maybe", NULL};
    const struct paper_size *largest = &results->sizes[results->size_count - 1];
    struct bench_table table;

    bench_table_init(&table, "probes", "The same leaves with other probes",
                     columns);
    for (size_t i = 0; i < PAPER_PROBES; i++) {
        const struct paper_leaf_kind *kind = &results->probes[i];

        bench_table_number(&table, kind->probes);
        bench_table_number(&table, 100 * kind->fill);
        bench_table_number(&table, 100 * kind->counts.leaves_read /
                                       (double)largest->sst_count);
        bench_table_number(&table, kind->counts.leaves_matching);
    }
    bench_report_table(report, &table);
    bench_table_release(&table);
    bench_report_text(
        report,
        "Values looked up are there: one leaf says maybe rightly, and those "
        "beside it below the same node are read with it. The paper reads 6 %% "
        "of the filters with leaves of 2 M bits and order 3. That is "
        "dozens of bits for a value, few of them set, so that an OR of some "
        "leaves still has zeros and the tree rules leaves out. At ordinary "
        "fill, a third to a half of the bits set, the OR of a few leaves is "
        "nearly all ones: the tree says maybe to everything, and its nodes are "
        "looked at for nothing, before all leaves are read. Larger orders do "
        "the same.");
    bench_report_text(
        report,
        "That is why Colander's default differs. Slices keep the leaves' bits "
        "transposed, a row for each bit with a column for each file, so that "
        "one AND of a few rows asks all files at once, and no OR loses what a "
        "leaf knew. The locator beside each SST then tells which rows hold the "
        "value, where leaves alone leave a file of 2 MB to be read.");
}

void
paper_report_shapes(struct bench_report *report,
                    const struct paper_results *results)
{
    report_memory(report, results);
    report_orders(report, results);
    bench_report_section(report, "Figs. 10 to 12: filters read");
    for (size_t i = 0; i < PAPER_BITS; i++)
        report_reads(report, results, i);
    report_probes(report, results);
}
