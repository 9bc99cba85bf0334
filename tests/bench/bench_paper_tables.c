/*
 * The tables of the paper's experiments, and the paper's own figures.
 * docs/benchmarks.md explains them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_paper.h"

#include <math.h>

struct paper_published
paper_published_for(uint64_t entries)
{
    static const struct paper_published all[] = {
        {10000000, 5000, {293, 29, 7}},
        {50000000, 27000, {NAN, NAN, NAN}},
        {100000000, 54000, {NAN, NAN, NAN}},
        {500000000, 281000, {NAN, NAN, NAN}},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i].entries == entries)
            return all[i];
    }
    return (struct paper_published){entries, NAN, {NAN, NAN, NAN}};
}

#define LOOKUP_COLUMNS                                                         \
    "entries;insert (s);SSTable scan (ms);classical Bloom (ms);"               \
    "Bloom hierarchy (ms);Colander (ms);key (ms);Colander, tree option (ms);"  \
    "paper: non-key (ms);paper: key (ms)"
#define SHAPE_COLUMNS                                                          \
    "order;leaves read;non-leaves looked at;leaves read (%);"                  \
    "leaves that may contain it;paper: filters read (%)"

const struct paper_table_kind paper_tables[PAPER_TABLES] = {
    [PAPER_RATIOS] = {"Table I and Fig. 8: lookups by entries",
                      "ratios",
                      "How many times as long a lookup takes",
                      "entries;scan / Colander, cold;"
                      "classical / Colander, cold;hierarchy / Colander, cold;"
                      "classical / hierarchy, cold;scan / Colander, warm;"
                      "hierarchy / Colander, warm;classical / hierarchy, warm",
                      {.name = NULL}},
    [PAPER_TABLE1] = {NULL,
                      "table1",
                      "Table I: cold",
                      LOOKUP_COLUMNS,
                      {"fig8", BENCH_LINES, "entries",
                       "cold lookup of a value (ms)", 2, 4, true}},
    [PAPER_TABLE1_WARM] =
        {NULL, "table1_warm", "Table I: warm", LOOKUP_COLUMNS, {.name = NULL}},
    [PAPER_FIG6] = {"Fig. 6: creation with and without filters",
                    "fig6",
                    "From the first insert until compactions and filters are "
                    "done",
                    "entries;paper's / none;Colander's / none;"
                    "processors: paper's / none;"
                    "processors: Colander's / none;none (s);"
                    "paper's filters (s);Colander's filters (s);"
                    "processors: none (s);processors: paper's (s);"
                    "processors: Colander's (s)",
                    {"fig6", BENCH_BARS, "entries", "creation (s)", 5, 3,
                     false}},
    [PAPER_TABLE2] = {"Table II: bytes of filters",
                      "table2",
                      "Table II",
                      "entries;SST files;SST (MB);leaves (MB);non-leaves (MB);"
                      "Colander on disk (MB);Colander in memory (MB);"
                      "paper: SST (MB);paper: leaves (MB);"
                      "paper: non-leaves (MB)",
                      {.name = NULL}},
    [PAPER_FIG7] = {"Fig. 7: memory of the tree by its order",
                    "fig7",
                    "Non-leaf filters, MB",
                    NULL,
                    {"fig7", BENCH_LINES, "order d", "non-leaf filters (MB)", 1,
                     0, false}},
    [PAPER_FIG9] = {"Fig. 9: lookups by the order of the tree",
                    "fig9",
                    "With the most entries",
                    "order;cold (ms);warm (ms);levels",
                    {"fig9", BENCH_LINES, "order d",
                     "lookup by the hierarchy (ms)", 1, 2, false}},
    [PAPER_FIG10] = {"Figs. 10 to 12: filters read",
                     "fig10",
                     NULL,
                     SHAPE_COLUMNS,
                     {"fig10", BENCH_LINES, "order d", "filters", 1, 2, false}},
    {NULL,
     "fig11",
     NULL,
     SHAPE_COLUMNS,
     {"fig11", BENCH_LINES, "order d", "filters", 1, 2, false}},
    {NULL,
     "fig12",
     NULL,
     SHAPE_COLUMNS,
     {"fig12", BENCH_LINES, "order d", "filters", 1, 2, false}},
    [PAPER_FIG13] = {NULL,
                     "fig13",
                     "Lookups by value domain",
                     "domain (%);scan (ms);classical Bloom (ms);"
                     "Bloom hierarchy (ms);Colander (ms);scan, warm (ms);"
                     "classical, warm (ms);hierarchy, warm (ms);"
                     "Colander, warm (ms)",
                     {"fig13", BENCH_LINES, "value domain (% of the entries)",
                      "cold lookup of a value (ms)", 1, 4, true}},
    [PAPER_TABLE3] = {NULL,
                      "table3",
                      "Table III: means over many values",
                      "domain (%);leaves matching;SSTables holding it;"
                      "leaves read;leaves in all;paper: matching;"
                      "paper: holding;paper: read",
                      {.name = NULL}},
};
