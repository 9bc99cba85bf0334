/*
 * paper: the experiments of "A Bloom Filter Hierarchy for Non-key Search in
 * Key-Value Stores" reproduced, and Colander compared with its ways.
 *
 * For each number of entries: the time to create a store without filters, with
 * the paper's and with Colander's; lookups in all ways. With the most entries:
 * trees of several orders over leaves of several sizes. With the number in the
 * middle: values that several entries have.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_paper.h"

#include <inttypes.h>
#include <stdlib.h>

#define COUNTED_LOOKUPS 40 /* of which only filters are counted */

const uint32_t paper_orders[PAPER_ORDERS] = {2, PAPER_ORDER, 4, 8, 16};
const uint64_t paper_bits[PAPER_BITS] = {20000, 200000, PAPER_FILTER_BITS};
const unsigned paper_domains[PAPER_DOMAINS] = {1, 5, 10, 40, 70, 100};

struct experiment {
    char *path;
    unsigned rounds;
    struct paper_results results;
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
             unsigned domain)
{
    const size_t lookup_count =
        it->rounds > COUNTED_LOOKUPS ? it->rounds : COUNTED_LOOKUPS;

    memset(setting, 0, sizeof(*setting));
    paper_entries_init(&setting->entries, entries, domain);
    paper_store_create(&setting->store, it->path, PAPER_DEFAULT_FILTERS,
                       &setting->entries);
    bench_store_settle(&setting->store.store);
    paper_store_list(&setting->store);
    setting->lookups = paper_lookups_make(&setting->entries, lookup_count);
    setting->lookup_count = lookup_count;
    setting->asked = (struct paper_asked){
        .store = &setting->store,
        .leaves = &setting->leaves,
        .tree = &setting->tree,
        .cold_share = &it->results.cold_share,
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

/* The store without filters, and the one with the paper's, which is asked, too:
 * the fifth way. */
static void
measure_other_filters(struct experiment *it, struct paper_size *size,
                      enum paper_filters kind)
{
    struct paper_entries entries;
    struct paper_store store;
    struct paper_asked asked = {.store = &store,
                                .cold_share = &it->results.cold_share};

    paper_entries_init(&entries, size->entries, 0);
    paper_store_create(&store, it->path, kind, &entries);
    size->insert_seconds[kind] = store.insert_seconds;
    size->create_seconds[kind] = store.create_seconds;
    size->create_work[kind] = store.create_work;
    if (kind == PAPER_TREE_FILTERS) {
        struct paper_lookup *lookups = paper_lookups_make(&entries, it->rounds);

        bench_store_settle(&store.store);
        paper_measure(&asked, PAPER_COLANDER, lookups, it->rounds,
                      &size->tree_find);
        free(lookups);
    }
    paper_store_remove(&store);
    paper_entries_release(&entries);
}

static void
note_sizes(struct setting *setting, struct paper_size *size)
{
    const struct paper_store *store = &setting->store;
    const struct colander_filter_stats stats =
        bench_store_stats(&setting->store.store);

    size->entry_size = paper_entry_size(&setting->entries);
    size->insert_seconds[PAPER_DEFAULT_FILTERS] = store->insert_seconds;
    size->create_seconds[PAPER_DEFAULT_FILTERS] = store->create_seconds;
    size->create_work[PAPER_DEFAULT_FILTERS] = store->create_work;
    size->sst_count = store->sst_count;
    size->sst_size = store->sst_size;
    size->filter_size = stats.filter_size;
    size->hierarchy_size = stats.hierarchy_size;
    size->leaf_size = (uint64_t)setting->leaves.size * store->sst_count;
}

static void
measure_ways(struct setting *setting, unsigned rounds,
             struct paper_figures *figures)
{
    for (int way = 0; way < PAPER_WAYS; way++)
        paper_measure(&setting->asked, (enum paper_way)way, setting->lookups,
                      rounds, &figures[way]);
}

/* Leaves of one size, below trees of all orders; their times where the bits are
 * the most, as with fewer almost every SST is read. */
static void
measure_orders(struct experiment *it, struct setting *setting, size_t bits)
{
    struct paper_leaf_kind *kind = &it->results.kinds[bits];
    const bool has_times = paper_bits[bits] == PAPER_FILTER_BITS;

    kind->probes = setting->leaves.shape.probes;
    kind->fill = setting->leaves.fill;
    for (size_t i = 0; i < PAPER_ORDERS; i++) {
        struct paper_shape *shape = &it->results.shapes[bits][i];

        paper_tree_make(&setting->tree, &setting->leaves, paper_orders[i]);
        shape->height = setting->tree.height;
        paper_count(&setting->asked, setting->lookups, setting->lookup_count,
                    &shape->counts);
        if (has_times)
            paper_measure(&setting->asked, PAPER_HIERARCHY, setting->lookups,
                          it->rounds, &shape->times);
        paper_tree_release(&setting->tree);
    }
}

static void
measure_shapes(struct experiment *it, struct setting *setting)
{
    for (size_t i = 0; i < PAPER_BITS; i++) {
        paper_leaves_make(&setting->leaves, &setting->store, it->path,
                          paper_bits[i]);
        measure_orders(it, setting, i);
        paper_leaves_release(&setting->leaves);
    }
}

static void
measure_size(struct experiment *it, struct paper_size *size, bool is_largest)
{
    struct setting setting;

    measure_other_filters(it, size, PAPER_NO_FILTERS);
    measure_other_filters(it, size, PAPER_TREE_FILTERS);
    setting_make(&setting, it, size->entries, 0);
    paper_leaves_make(&setting.leaves, &setting.store, it->path,
                      PAPER_FILTER_BITS);
    note_sizes(&setting, size);
    for (size_t i = 0; i < PAPER_ORDERS; i++) {
        paper_tree_make(&setting.tree, &setting.leaves, paper_orders[i]);
        size->node_size[i] = setting.tree.size;
        if (paper_orders[i] == PAPER_ORDER)
            measure_ways(&setting, it->rounds, size->ways);
        paper_tree_release(&setting.tree);
    }
    paper_leaves_release(&setting.leaves);
    if (is_largest)
        measure_shapes(it, &setting);
    setting_release(&setting);
}

/* -------------------------------------------------------- value domains --- */

static void
measure_domain(struct experiment *it, size_t i)
{
    struct paper_domain *domain = &it->results.domains[i];
    struct setting setting;

    setting_make(&setting, it, it->results.domain_entries, paper_domains[i]);
    domain->leaf_count = setting.store.sst_count;
    paper_leaves_make(&setting.leaves, &setting.store, it->path,
                      PAPER_FILTER_BITS);
    paper_tree_make(&setting.tree, &setting.leaves, PAPER_ORDER);
    paper_count(&setting.asked, setting.lookups, setting.lookup_count,
                &domain->counts);
    domain->ssts_holding = paper_count_holding(&setting.store, setting.lookups,
                                               setting.lookup_count);
    measure_ways(&setting, it->rounds, domain->ways);
    paper_tree_release(&setting.tree);
    paper_leaves_release(&setting.leaves);
    setting_release(&setting);
}

/* --------------------------------------------------------------- driver --- */

static void
choose_sizes(const struct bench_options *options, struct paper_results *results)
{
    static const uint64_t suggested[PAPER_SIZES] = {1000000, 5000000, 10000000};

    for (size_t i = 0; i < PAPER_SIZES; i++)
        results->sizes[i].entries = suggested[i];
    results->size_count = PAPER_SIZES;
    if (options->rows != 0) {
        results->sizes[0].entries = options->rows;
        results->size_count = 1;
    }
    results->domain_entries = results->sizes[results->size_count / 2].entries;
}

void
bench_paper(const struct bench_options *options)
{
    struct experiment *it = bench_allocate(1, sizeof(*it));
    struct bench_report *report;

    it->rounds = options->rounds;
    it->results.lookup_count = options->rounds;
    choose_sizes(options, &it->results);
    report = bench_report_open(
        options->report_directory,
        "The paper's experiments: non-key search in a key-value store");
    it->path = bench_make_directory(options);
    for (size_t i = 0; i < it->results.size_count; i++)
        measure_size(it, &it->results.sizes[i],
                     i + 1 == it->results.size_count);
    paper_report(report, &it->results);
    for (size_t i = 0; i < PAPER_DOMAINS; i++)
        measure_domain(it, i);
    paper_report_domains(report, &it->results);
    bench_report_close(report);
    bench_remove_directory(it->path);
    free(it);
}
