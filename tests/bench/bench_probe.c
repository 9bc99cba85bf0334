/*
 * probe: which of many parts may hold a value, by looking at one presence after
 * the other, through the published tree, and bit-sliced. 1,024 parts of 100,000
 * values (--rows: of so many), and 8,192 of a fifth, 10 bits a value; values
 * that no part holds, and values that one part does. All in memory, warm.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench.h"

#include <stdlib.h>

#include "filters/hierarchy.h"

#define BITS_PER_VALUE 10
#define ORDER 8 /* of the tree */
#define COMPARISONS 500
#define HASH_BITS 40

enum way { SCAN, TREE, SLICES, WAYS };

/* Questions a round: about as long for each way. */
static const unsigned question_counts[WAYS] = {500, 500, 20000};

struct parts {
    struct presence *presences;
    uint64_t *held; /* a value of each */
    uint32_t count;
    struct hierarchy *hierarchies[WAYS]; /* but SCAN */
    struct hierarchy_edition *editions[WAYS];
    uint64_t *answer; /* a bit for each */
    size_t answer_size;
    double build_seconds[WAYS];
};

/* Microseconds a question, and what is told for absent values. */
struct figures {
    double absent[WAYS];
    double present[WAYS];
    double told;
};

static uint64_t
next_hash(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* ---------------------------------------------------------------- parts --- */

static void
build(struct parts *parts, enum way way, enum hierarchy_kind kind)
{
    struct colander_error err;
    double start = bench_now();

    parts->hierarchies[way] = hierarchy_create(kind, ORDER, UINT64_MAX);
    if (parts->hierarchies[way] == NULL)
        bench_fail("probe", "no memory");
    for (uint32_t i = 0; i < parts->count; i++)
        bench_check(hierarchy_add(parts->hierarchies[way], i,
                                  &parts->presences[i], &err),
                    &err);
    bench_check(
        hierarchy_publish(parts->hierarchies[way], &parts->editions[way], &err),
        &err);
    parts->build_seconds[way] = bench_now() - start;
}

static void
parts_make(struct parts *parts, uint32_t count, uint64_t value_count)
{
    struct presence_shape shape =
        presence_shape_for_bits(value_count, value_count * BITS_PER_VALUE);
    struct colander_error err;
    uint64_t state = count;

    shape.hash_bits = HASH_BITS;
    parts->count = count;
    parts->presences = calloc(count, sizeof(*parts->presences));
    parts->held = calloc(count, sizeof(*parts->held));
    parts->answer_size = (count / 64 + 1) * sizeof(*parts->answer);
    parts->answer = calloc(1, parts->answer_size);
    if (parts->presences == NULL || parts->held == NULL ||
        parts->answer == NULL)
        bench_fail("probe", "no memory");
    for (uint32_t i = 0; i < count; i++) {
        bench_check(presence_init(&parts->presences[i], &shape, &err), &err);
        parts->held[i] = state;
        for (uint64_t j = 0; j < value_count; j++)
            presence_add(&parts->presences[i], next_hash(&state));
        parts->held[i] = next_hash(&parts->held[i]);
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
        hierarchy_edition_release(parts->editions[way]);
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
        hierarchy_find(parts->editions[way], hash, parts->answer);
}

/* Asks for values that are not held, or that one part holds; all ways are
 * asked the same. Gives microseconds. */
static double
ask(const struct parts *parts, enum way way, bool is_held, uint64_t seed)
{
    const unsigned count = question_counts[way];
    uint64_t state = seed;
    double start = bench_now();

    for (unsigned i = 0; i < count; i++) {
        uint64_t hash = next_hash(&state);

        find(parts, way, is_held ? parts->held[hash % parts->count] : hash);
    }
    return (bench_now() - start) * 1e6 / count;
}

/* Fails unless all ways tell the same for a value: presences have one shape,
 * and none is folded. Gives how many parts are told. */
static unsigned
compare(const struct parts *parts, uint64_t hash)
{
    unsigned told[WAYS] = {0};

    for (unsigned way = 0; way < WAYS; way++) {
        find(parts, (enum way)way, hash);
        for (uint32_t i = 0; i < parts->answer_size / 8; i++)
            told[way] += presence_bit_count(parts->answer[i]);
    }
    if (told[TREE] != told[SCAN] || told[SLICES] != told[SCAN])
        bench_fail("probe", "the ways disagree");
    return told[SCAN];
}

/* How many parts are told for a value that none holds, on average. */
static double
told_for_absent(const struct parts *parts)
{
    uint64_t state = 99;
    uint64_t told = 0;

    for (unsigned i = 0; i < COMPARISONS; i++) {
        if (compare(parts, parts->held[i % parts->count]) == 0)
            bench_fail("probe", "a value is denied");
        told += compare(parts, next_hash(&state));
    }
    return (double)told / COMPARISONS;
}

static struct figures
measure(const struct bench_options *options, uint32_t count,
        uint64_t value_count)
{
    double *times[2 * WAYS];
    struct figures figures;
    struct parts parts = {0};

    parts_make(&parts, count, value_count);
    figures.told = told_for_absent(&parts);
    for (unsigned i = 0; i < 2 * WAYS; i++) {
        times[i] = calloc(options->rounds, sizeof(double));
        if (times[i] == NULL)
            bench_fail("probe", "no memory");
    }
    for (unsigned round = 0; round < options->rounds; round++) {
        for (unsigned way = 0; way < WAYS; way++) {
            times[way][round] = ask(&parts, (enum way)way, false, round + 1000);
            times[WAYS + way][round] = ask(&parts, (enum way)way, true, round);
        }
    }
    for (unsigned way = 0; way < WAYS; way++) {
        figures.absent[way] = bench_median(times[way], options->rounds);
        figures.present[way] = bench_median(times[WAYS + way], options->rounds);
        free(times[way]);
        free(times[WAYS + way]);
    }
    printf("probe: %u parts of %llu values, %d bits a value, median of %u "
           "rounds\n  wrong maybes of an absent value: %.2f\n"
           "  built in %.1f s (tree of height %u), %.1f s (slices, %.0f MB)\n",
           count, (unsigned long long)value_count, BITS_PER_VALUE,
           options->rounds, figures.told, parts.build_seconds[TREE],
           hierarchy_sizes(parts.hierarchies[TREE]).height,
           parts.build_seconds[SLICES],
           (double)hierarchy_sizes(parts.hierarchies[SLICES]).bytes / 1e6);
    parts_release(&parts);
    return figures;
}

static void
print_figures(const struct figures *figures)
{
    static const char *const names[WAYS] = {"one by one", "tree", "slices"};

    printf("  microseconds   absent   present\n");
    for (unsigned way = 0; way < WAYS; way++)
        printf("  %-11s %9.2f %9.2f\n", names[way], figures->absent[way],
               figures->present[way]);
}

/* With `suffix` behind each name. */
static void
print_json(const struct figures *figures, const char *suffix)
{
    printf(",\"slices%s_us\":%.3f,\"tree%s_us\":%.2f,\"scan%s_us\":%.2f,"
           "\"slices%s_present_us\":%.3f,\"tree%s_present_us\":%.2f,"
           "\"scan%s_present_us\":%.2f,\"scan_over_slices%s\":%.1f,"
           "\"tree_over_slices%s\":%.1f,\"tree_over_scan%s\":%.2f",
           suffix, figures->absent[SLICES], suffix, figures->absent[TREE],
           suffix, figures->absent[SCAN], suffix, figures->present[SLICES],
           suffix, figures->present[TREE], suffix, figures->present[SCAN],
           suffix, figures->absent[SCAN] / figures->absent[SLICES], suffix,
           figures->absent[TREE] / figures->absent[SLICES], suffix,
           figures->absent[TREE] / figures->absent[SCAN]);
}

int
bench_probe(const struct bench_options *options)
{
    uint64_t value_count = options->rows == 0 ? 100000 : options->rows;
    struct figures few;
    struct figures many;

    few = measure(options, 1024, value_count);
    print_figures(&few);
    many = measure(options, 8192, (value_count + 4) / 5);
    print_figures(&many);
    if (options->is_json) {
        printf("{\"experiment\":\"probe\",\"rounds\":%u", options->rounds);
        print_json(&few, "");
        print_json(&many, "_8192");
        printf("}\n");
    }
    return 0;
}
