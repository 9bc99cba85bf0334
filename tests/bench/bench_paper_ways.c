/*
 * The ways of answering that the paper compares: see bench_paper_ways.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_paper_ways.h"

#include <stdlib.h>

const char *const paper_way_names[PAPER_WAYS] = {
    [PAPER_SCAN] = "SSTable scan",
    [PAPER_CLASSICAL] = "classical Bloom scan",
    [PAPER_HIERARCHY] = "Bloom hierarchy scan",
    [PAPER_COLANDER] = "Colander",
    [PAPER_KEY] = "key",
};

/* ----------------------------------------------------------- answering --- */

static struct colander_predicate *
predicate_of(const struct paper_lookup *lookup)
{
    struct colander_error err;
    struct colander_predicate *predicate =
        colander_where("v", COLANDER_EQ, lookup->value, &err);

    if (predicate == NULL)
        bench_fail("predicate", err.message);
    return predicate;
}

static enum colander_plan
find(const struct paper_asked *asked, const struct colander_predicate *where,
     struct paper_answer *answer)
{
    struct colander_cursor *cursor;
    struct colander_explain explain;
    struct colander_result result;
    struct colander_query query;
    struct colander_error err;
    bool is_row;

    colander_query_init(&query);
    query.where = where;
    bench_check(
        colander_family_find(asked->store->store.family, &query, &cursor, &err),
        &err);
    bench_check(colander_cursor_next(cursor, &is_row, &result, &err), &err);
    while (is_row) {
        paper_answer_add(answer, result.key);
        bench_check(colander_cursor_next(cursor, &is_row, &result, &err), &err);
    }
    colander_cursor_explain(cursor, &explain);
    colander_cursor_close(cursor);
    return explain.plan;
}

/* Filters cannot help with a double denial. */
static void
answer_by_scan(const struct paper_asked *asked,
               const struct paper_lookup *lookup, struct paper_answer *answer)
{
    struct colander_error err;
    struct colander_predicate *predicate =
        colander_not(colander_not(predicate_of(lookup), &err), &err);

    if (predicate == NULL)
        bench_fail("scan", err.message);
    if (find(asked, predicate, answer) != COLANDER_PLAN_SCAN)
        bench_fail("scan", "it was answered without one");
    colander_predicate_destroy(predicate);
}

static void
answer_by_find(const struct paper_asked *asked,
               const struct paper_lookup *lookup, struct paper_answer *answer)
{
    struct colander_predicate *predicate = predicate_of(lookup);

    (void)find(asked, predicate, answer);
    colander_predicate_destroy(predicate);
}

static void
answer_by_leaves(const struct paper_asked *asked, bool by_tree,
                 const struct paper_lookup *lookup, struct paper_answer *answer,
                 struct paper_counts *counts)
{
    struct colander_predicate *predicate = predicate_of(lookup);
    const size_t count =
        by_tree
            ? paper_tree_find(asked->tree, lookup->hash, asked->places, counts)
            : paper_leaves_find(asked->leaves, lookup->hash, asked->places,
                                counts);

    for (size_t i = 0; i < count; i++) {
        const uint64_t before = answer->count;

        paper_store_read(asked->store, asked->places[i], predicate, answer);
        counts->ssts_holding += answer->count > before;
    }
    colander_predicate_destroy(predicate);
}

static void
answer_by_key(const struct paper_asked *asked,
              const struct paper_lookup *lookup, struct paper_answer *answer)
{
    struct colander_buffer key = COLANDER_BUFFER_EMPTY;
    struct colander_buffer row = COLANDER_BUFFER_EMPTY;
    struct colander_error err;
    bool is_found;

    bench_check(colander_key_encode(&lookup->key, 1, &key, &err), &err);
    bench_check(colander_family_get(asked->store->store.family,
                                    colander_buffer_slice(&key), NULL, &row,
                                    &is_found, &err),
                &err);
    if (is_found)
        paper_answer_add(answer, colander_buffer_slice(&key));
    colander_buffer_release(&key);
    colander_buffer_release(&row);
}

/* Answers, checks the answer, and gives the milliseconds. */
static double
answer(const struct paper_asked *asked, enum paper_way way,
       const struct paper_lookup *lookup, struct paper_counts *counts)
{
    const struct paper_answer *expected =
        way == PAPER_KEY ? &lookup->by_key : &lookup->by_value;
    struct paper_answer found = {0, 0};
    const double start = bench_now();
    double seconds;

    memset(counts, 0, sizeof(*counts));
    if (way == PAPER_SCAN)
        answer_by_scan(asked, lookup, &found);
    else if (way == PAPER_COLANDER)
        answer_by_find(asked, lookup, &found);
    else if (way == PAPER_KEY)
        answer_by_key(asked, lookup, &found);
    else
        answer_by_leaves(asked, way == PAPER_HIERARCHY, lookup, &found, counts);
    seconds = bench_now() - start;
    if (found.count != expected->count || found.key_sum != expected->key_sum)
        bench_fail(paper_way_names[way], "it found wrong rows");
    return seconds * 1000;
}

/* ----------------------------------------------------------- measuring --- */

static void
cool(const struct paper_asked *asked)
{
    paper_store_cool(asked->store, asked->cold);
    if (asked->leaves != NULL)
        bench_cold_make(asked->cold, asked->leaves->path);
}

/* Medians of what the lookups looked at. */
static void
count_middles(const struct paper_counts *counts, size_t count,
              struct paper_figures *figures)
{
    double *nodes = bench_allocate(count, sizeof(*nodes));
    double *leaves = bench_allocate(count, sizeof(*leaves));
    double *matching = bench_allocate(count, sizeof(*matching));
    double *holding = bench_allocate(count, sizeof(*holding));

    for (size_t i = 0; i < count; i++) {
        nodes[i] = (double)counts[i].nodes_asked;
        leaves[i] = (double)counts[i].leaves_read;
        matching[i] = (double)counts[i].leaves_matching;
        holding[i] = (double)counts[i].ssts_holding;
    }
    figures->nodes_asked = bench_median(nodes, count);
    figures->leaves_read = bench_median(leaves, count);
    figures->leaves_matching = bench_median(matching, count);
    figures->ssts_holding = bench_median(holding, count);
    free(nodes);
    free(leaves);
    free(matching);
    free(holding);
}

void
paper_measure(const struct paper_asked *asked, enum paper_way way,
              struct paper_lookup *lookups, size_t count,
              struct paper_figures *figures)
{
    const size_t cold_count = count < PAPER_COLD_MAX ? count : PAPER_COLD_MAX;
    struct paper_counts *counts = bench_allocate(count, sizeof(*counts));
    double *times = bench_allocate(count, sizeof(*times));

    bench_progress("%s, warm", paper_way_names[way]);
    for (size_t i = 0; i < count; i++) {
        /* a scan reads the same whatever it looks for */
        if (i == 0 || way != PAPER_SCAN)
            (void)answer(asked, way, &lookups[i], &counts[i]);
        times[i] = answer(asked, way, &lookups[i], &counts[i]);
    }
    figures->warm = bench_median(times, count);
    count_middles(counts, count, figures);
    bench_progress("%s, cold", paper_way_names[way]);
    for (size_t i = 0; i < cold_count; i++) {
        cool(asked);
        times[i] = answer(asked, way, &lookups[i], &counts[i]);
    }
    figures->cold = bench_median(times, cold_count);
    bench_progress("%s", "");
    free(counts);
    free(times);
}

void
paper_count(const struct paper_asked *asked, const struct paper_lookup *lookups,
            size_t count, struct paper_figures *figures)
{
    struct paper_counts counts = {0, 0, 0, 0};

    memset(figures, 0, sizeof(*figures));
    for (size_t i = 0; i < count; i++)
        (void)paper_tree_find(asked->tree, lookups[i].hash, asked->places,
                              &counts);
    figures->nodes_asked = (double)counts.nodes_asked / (double)count;
    figures->leaves_read = (double)counts.leaves_read / (double)count;
    figures->leaves_matching = (double)counts.leaves_matching / (double)count;
}
