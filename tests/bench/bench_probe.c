/*
 * probe: which of many parts may hold a value, by checking one presence after
 * the other, through the published tree, and bit-sliced. There are 1,024 parts
 * of 100,000 values (--rows), or 8,192 of a fifth, with 10 bits for each value.
 * Values are in no part, or in one. All data is in memory and warm.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_figures.h"
#include "bench_turns.h"

#include <stdlib.h>

#include "filters/hierarchy.h"
#include "tests/support/random.h"

#define BITS_PER_VALUE 10
#define ORDER 8 /* of the tree */
#define COMPARISONS 500
#define HASH_BITS 40

enum way { SCAN, TREE, SLICES, WAYS };
enum { ABSENT, PRESENT }; /* times of a turn: of values */

/* Questions a round: about as long for each way. */
static const unsigned question_counts[WAYS] = {500, 500, 20000};

struct parts {
    struct presence *presences;
    uint64_t *held; /* a value of each */
    uint32_t count;
    struct hierarchy *hierarchies[WAYS]; /* but SCAN */
    struct hierarchy_version *versions[WAYS];
    uint64_t *answer; /* a bit for each */
    size_t answer_size;
    double build_seconds[WAYS];
    uint64_t turn_count;
};

/* ---------------------------------------------------------------- parts --- */

static void
build(struct parts *parts, enum way way, enum hierarchy_kind kind)
{
    double start = bench_now();

    parts->hierarchies[way] = hierarchy_create(kind, ORDER, UINT64_MAX);
    if (parts->hierarchies[way] == NULL)
        bench_fail("probe", "no memory");
    for (uint32_t i = 0; i < parts->count; i++)
        bench_check(hierarchy_add(parts->hierarchies[way], i,
                                  &parts->presences[i], &bench_error));
    bench_check(hierarchy_publish(parts->hierarchies[way],
                                  &parts->versions[way], &bench_error));
    parts->build_seconds[way] = bench_now() - start;
}

static void
parts_make(struct parts *parts, uint32_t count, uint64_t value_count)
{
    struct presence_shape shape =
        presence_shape_for_bits(value_count, value_count * BITS_PER_VALUE);
    uint64_t state = count;

    shape.hash_bits = HASH_BITS;
    parts->count = count;
    parts->presences = bench_allocate(count, sizeof(*parts->presences));
    parts->held = bench_allocate(count, sizeof(*parts->held));
    parts->answer_size = (count / 64 + 1) * sizeof(*parts->answer);
    parts->answer = bench_allocate(1, parts->answer_size);
    for (uint32_t i = 0; i < count; i++) {
        bench_check(presence_init(&parts->presences[i], &shape, &bench_error));
        parts->held[i] = state;
        for (uint64_t j = 0; j < value_count; j++)
            presence_add(&parts->presences[i], random_next(&state));
        parts->held[i] = random_next(&parts->held[i]);
    }
    build(parts, TREE, HIERARCHY_TREE);
    build(parts, SLICES, HIERARCHY_SLICES);
}

static void
parts_release(struct parts *parts)
{
    for (uint32_t i = 0; i < parts->count; i++)
        presence_release(&parts->presences[i]);
    for (unsigned way = TREE; way < WAYS; way++) {
        hierarchy_version_release(parts->versions[way]);
        hierarchy_destroy(parts->hierarchies[way]);
    }
    free(parts->presences);
    free(parts->held);
    free(parts->answer);
}

/* ------------------------------------------------------------ questions --- */

static void
scan(const struct parts *parts, uint64_t hash)
{
    struct presence_probe probe;

    presence_locate(&parts->presences[0].shape, hash, &probe);
    for (uint32_t i = 0; i < parts->count; i++) {
        if (presence_may_hold_probe(&parts->presences[i], &probe, probe.block))
            parts->answer[i / 64] |= UINT64_C(1) << i % 64;
    }
}

static void
find(const struct parts *parts, enum way way, uint64_t hash)
{
    memset(parts->answer, 0, parts->answer_size);
    if (way == SCAN)
        scan(parts, hash);
    else
        hierarchy_find(parts->versions[way], hash, parts->answer);
}

/* Asks for values that no part holds, or that one part holds, the same in all
 * ways. Returns microseconds. */
static double
ask(const struct parts *parts, enum way way, bool is_held, uint64_t seed)
{
    const unsigned count = question_counts[way];
    uint64_t state = seed;
    double start = bench_now();

    for (unsigned i = 0; i < count; i++) {
        uint64_t hash = random_next(&state);

        find(parts, way, is_held ? parts->held[hash % parts->count] : hash);
    }
    return (bench_now() - start) * 1e6 / count;
}

/* Fails unless all ways return the same parts for a value: presences have one
 * shape, and none is folded. Returns how many they return. */
static unsigned
compare(const struct parts *parts, uint64_t hash)
{
    unsigned counts[WAYS] = {0};

    for (unsigned way = 0; way < WAYS; way++) {
        find(parts, (enum way)way, hash);
        for (uint32_t i = 0; i < parts->answer_size / 8; i++)
            counts[way] += presence_bit_count(parts->answer[i]);
    }
    if (counts[TREE] != counts[SCAN] || counts[SLICES] != counts[SCAN])
        bench_fail("probe", "the ways disagree");
    return counts[SCAN];
}

/* Returns the mean number of parts for a value that none holds. */
static double
false_positives(const struct parts *parts)
{
    uint64_t state = 99;
    uint64_t count = 0;

    for (unsigned i = 0; i < COMPARISONS; i++) {
        if (compare(parts, parts->held[i % parts->count]) == 0)
            bench_fail("probe", "a value is denied");
        count += compare(parts, random_next(&state));
    }
    return (double)count / COMPARISONS;
}

/* Each round has different questions. */
static void
take_turn(void *context, unsigned way, double times[BENCH_TIMES])
{
    struct parts *parts = context;
    const uint64_t round = parts->turn_count++ / WAYS;

    times[ABSENT] = ask(parts, (enum way)way, false, round + 1000);
    times[PRESENT] = ask(parts, (enum way)way, true, round);
}

/* All names of figures have the suffix. */
static void
measure(const struct bench_options *options, struct bench_figures *figures,
        uint32_t count, uint64_t value_count, const char *suffix)
{
    static const char *const names[WAYS] = {"scan", "tree", "slices"};
    struct parts parts = {0};
    struct bench_turns turns;
    double absent[WAYS];

    parts_make(&parts, count, value_count);
    bench_figure(figures, 2, false_positives(&parts), "false_positives%s",
                 suffix);
    bench_turns_take(&turns, options->rounds, WAYS, take_turn, &parts);
    for (unsigned way = 0; way < WAYS; way++) {
        absent[way] = bench_turns_median(&turns, way, ABSENT);
        bench_figure(figures, 3, absent[way], "%s%s_us", names[way], suffix);
        bench_figure(figures, 3, bench_turns_median(&turns, way, PRESENT),
                     "%s%s_present_us", names[way], suffix);
        if (way != SCAN)
            bench_figure(figures, 1, parts.build_seconds[way],
                         "%s%s_build_seconds", names[way], suffix);
    }
    bench_figure(figures, 1, absent[SCAN] / absent[SLICES],
                 "scan_over_slices%s", suffix);
    bench_figure(figures, 1, absent[TREE] / absent[SLICES],
                 "tree_over_slices%s", suffix);
    bench_figure(figures, 2, absent[TREE] / absent[SCAN], "tree_over_scan%s",
                 suffix);
    bench_figure(figures, 0,
                 (double)hierarchy_sizes(parts.hierarchies[SLICES]).bytes,
                 "slices%s_size", suffix);
    bench_turns_release(&turns);
    parts_release(&parts);
}

void
bench_probe(const struct bench_options *options)
{
    const uint64_t value_count = options->rows == 0 ? 100000 : options->rows;
    struct bench_figures *figures = bench_figures_begin(options, "probe", 0);

    measure(options, figures, 1024, value_count, "");
    measure(options, figures, 8192, (value_count + 4) / 5, "_8192");
    bench_figures_end(figures);
}
