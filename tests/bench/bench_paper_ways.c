/*
 * The ways of answering that the paper compares.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_paper.h"

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
    return bench_sound(
        colander_where("v", COLANDER_EQ, lookup->value, &bench_error));
}

static void
add_key(void *context, struct colander_slice key, struct colander_slice row)
{
    (void)row;
    paper_answer_add(context, key);
}

static void
answer_by_find(const struct paper_asked *asked,
               const struct paper_lookup *lookup, struct paper_answer *answer)
{
    struct colander_predicate *predicate = predicate_of(lookup);

    (void)bench_store_find(&asked->store->store, predicate, add_key, answer,
                           NULL);
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

    for (size_t i = 0; i < count; i++)
        paper_store_read(asked->store, asked->places[i], predicate, answer);
    colander_predicate_destroy(predicate);
}

/* Answers, checks the answer, and returns the milliseconds. */
static double
answer(const struct paper_asked *asked, enum paper_way way,
       const struct paper_lookup *lookup, struct paper_counts *counts)
{
    const struct paper_answer one = {1, 0};
    const struct paper_answer *expected =
        way == PAPER_KEY ? &one : &lookup->by_value;
    const struct bench_question by_key = {.key = lookup->key};
    struct paper_answer found = {0, 0};
    const double start = bench_now();
    double seconds;

    memset(counts, 0, sizeof(*counts));
    if (way == PAPER_SCAN)
        (void)bench_store_scan(&asked->store->store, predicate_of(lookup),
                               add_key, &found);
    else if (way == PAPER_COLANDER)
        answer_by_find(asked, lookup, &found);
    else if (way == PAPER_KEY)
        found.count = bench_get_row(&asked->store->store, &by_key);
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
    paper_store_cool(asked->store, asked->cold_share);
    if (asked->leaves != NULL && asked->leaves->count > 0)
        paper_cool(asked->cold_share, asked->leaves->path);
}

void
paper_measure(const struct paper_asked *asked, enum paper_way way,
              struct paper_lookup *lookups, size_t count, double *cold,
              double *warm)
{
    double *times = bench_allocate(count, sizeof(*times));
    struct paper_counts counts;

    if (way == PAPER_SCAN && count > PAPER_SCANS_MAX)
        count = PAPER_SCANS_MAX;
    bench_progress("%s, warm", paper_way_names[way]);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || way != PAPER_SCAN)
            (void)answer(asked, way, &lookups[i], &counts);
        times[i] = answer(asked, way, &lookups[i], &counts);
    }
    *warm = bench_median(times, count);
    bench_progress("%s, cold", paper_way_names[way]);
    for (size_t i = 0; i < count; i++) {
        cool(asked);
        times[i] = answer(asked, way, &lookups[i], &counts);
    }
    *cold = bench_median(times, count);
    bench_progress("%s", "");
    free(times);
}

struct paper_counts
paper_count(const struct paper_asked *asked, const struct paper_lookup *lookups,
            size_t count)
{
    struct paper_counts counts = {0, 0, 0};

    for (size_t i = 0; i < count; i++)
        (void)paper_tree_find(asked->tree, lookups[i].hash, asked->places,
                              &counts);
    return counts;
}

static bool
is_holding(const struct paper_sst *file, uint64_t hash)
{
    for (size_t i = 0; i < file->hash_count; i++) {
        if (file->hashes[i] == hash)
            return true;
    }
    return false;
}

uint64_t
paper_count_holding(const struct paper_store *store,
                    const struct paper_lookup *lookups, size_t count)
{
    uint64_t holding = 0;

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < store->sst_count; j++)
            holding += is_holding(&store->ssts[j], lookups[i].hash);
    }
    return holding;
}
