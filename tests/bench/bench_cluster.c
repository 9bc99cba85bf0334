/*
 * cluster: what nodes of a cluster use, as processes of the program on one
 * machine. Times of many nodes on a few processors say little, so this measures
 * processor time.
 *
 * The same rows in as many partitions are read from the log by 1 to 32 nodes.
 * What these use when nothing happens, by the time that it takes, is taken off.
 * Then a node is asked, as a client asks it: it coordinates, and the others
 * are leaves. Rows in 1 to 256 partitions of one node are asked for, too. Lines
 * are fitted by least squares, and extended to more nodes on paper.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_cluster_rows.h"
#include "bench_nodes.h"
#include "tests/support/temporary.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define ROWS 400000
#define SMALL_ROWS 20000 /* fewer than that are for `quick` */
#define POINTS_MAX 9

static const struct bench_cluster_sizes full = {
    .nodes = 32,
    .partitions = 64,
    .parts = 256,
    .small_rows = 16000,
    .finds = 500,
    .idle_ms = 3000,
    .replicas = 1,
};

static const struct bench_cluster_sizes quick = {
    .nodes = 2,
    .partitions = 8,
    .parts = 1,
    .small_rows = 2000,
    .finds = 5,
    .idle_ms = 300,
    .replicas = 2,
    .lost_after = "4s", /* less is too little for brokers of the mock */
};

enum kind { ABSENT, FIVE, KINDS };

/* Processor time of one setting. */
struct point {
    double count;          /* of nodes, or partitions */
    double row_us;         /* without what idle nodes use */
    double all_row_us;     /* with it */
    double idle_ms;        /* a second, of a node */
    double seconds;        /* until all rows were written */
    double find_us[KINDS]; /* of all nodes, */
    double leaf_us[KINDS]; /* and of them, of all but the one that is asked */
};

struct line {
    double a;
    double b;
};

struct experiment {
    const struct bench_options *options;
    struct bench_cluster_sizes sizes;
    struct bench_cluster_rows rows;
    struct bench_cluster_rows few;
    struct point nodes[POINTS_MAX];
    size_t node_points;
    struct point parts[POINTS_MAX];
    size_t part_points;
    double replay_rows; /* a second */
};

/* --------------------------------------------------------------- finds --- */

static void
ask_many(struct bench_http *http, const struct bench_cluster_rows *rows,
         enum kind kind, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const bool is_absent = kind == ABSENT;
        const char *user = is_absent ? "absent" : bench_cluster_user(rows, i);

        if (!bench_cluster_ask(http, user, is_absent ? 0 : BENCH_CLUSTER_FOUND))
            bench_fail("cluster", "a find fails");
    }
}

/* Sets what finds use, less what idle nodes do. */
static void
measure_finds(const struct experiment *it, struct bench_nodes *nodes,
              const struct bench_cluster_rows *rows, struct point *point)
{
    const unsigned finds = it->sizes.finds;
    const double idle = point->idle_ms / 1e3;
    const double leaves = (double)nodes->count - 1;
    struct bench_http http;

    bench_http_open(&http, nodes->nodes[0].directory);
    for (enum kind kind = ABSENT; kind < KINDS; kind++) {
        double first;
        double others;
        double seconds;

        ask_many(&http, rows, kind, finds / 2); /* into caches */
        first = bench_nodes_used(nodes, 0, 1);
        others = bench_nodes_used(nodes, 1, nodes->count - 1);
        seconds = bench_now();
        ask_many(&http, rows, kind, finds);
        seconds = bench_now() - seconds;
        first = bench_nodes_used(nodes, 0, 1) - first - idle * seconds;
        others = bench_nodes_used(nodes, 1, nodes->count - 1) - others -
                 idle * seconds * leaves;
        point->find_us[kind] = (first + others) * 1e6 / finds;
        point->leaf_us[kind] = others * 1e6 / finds;
    }
    bench_http_close(&http);
}

/* ---------------------------------------------------------------- rows --- */

/* Starts nodes, and has them read the rows. */
static void
begin(const struct experiment *it, struct bench_nodes *nodes, size_t count,
      uint32_t partitions, const struct bench_cluster_rows *rows,
      struct point *point)
{
    double used;
    double idle;
    double begun;
    double end;

    bench_nodes_open(nodes, it->options, partitions, 1);
    bench_nodes_start(nodes, count, it->sizes.lost_after, false);
    bench_nodes_await_partitions(nodes);
    (void)usleep(it->sizes.idle_ms * 1000);
    used = bench_nodes_used(nodes, 0, count);
    begun = bench_now();
    (void)usleep(it->sizes.idle_ms * 1000);
    idle = (bench_nodes_used(nodes, 0, count) - used) / (bench_now() - begun);
    point->idle_ms = idle * 1e3 / (double)count;

    used = bench_nodes_used(nodes, 0, count);
    begun = bench_now();
    bench_nodes_load(nodes, rows->path);
    do {
        double until;

        end = bench_nodes_await_quiet(nodes, idle, &until);
        point->seconds = end - begun;
        point->all_row_us = (until - used) * 1e6 / (double)rows->count;
    } while (bench_nodes_count(nodes, 0) < rows->count);
    point->row_us =
        point->all_row_us - idle * point->seconds * 1e6 / (double)rows->count;
    if (bench_nodes_count(nodes, count - 1) != rows->count)
        bench_fail("cluster", "a node counts too many rows");
}

/* A node that has lost its directory reads the log again. */
static void
measure_replay(struct experiment *it, struct bench_nodes *nodes)
{
    char path[4300];
    double begun;
    double used;

    bench_nodes_stop(nodes, 0, SIGKILL);
    temporary_remove(nodes->nodes[0].directory);
    bench_nodes_start_one(nodes, 0, it->sizes.lost_after);
    (void)snprintf(path, sizeof(path), "%s/" BENCH_FAMILY,
                   nodes->nodes[0].directory);
    while (access(path, F_OK) != 0) /* until it knows who else is there */
        (void)usleep(10000);
    begun = bench_now();
    do
        it->replay_rows =
            (double)it->rows.count /
            (bench_nodes_await_quiet(nodes, it->nodes[0].idle_ms / 1e3, &used) -
             begun);
    while (bench_nodes_count(nodes, 0) < it->rows.count);
}

static void
measure_nodes(struct experiment *it)
{
    for (size_t count = 1; count <= it->sizes.nodes; count *= 2) {
        struct point *point = &it->nodes[it->node_points++];
        struct bench_nodes nodes;

        bench_progress("%zu nodes", count);
        point->count = (double)count;
        begin(it, &nodes, count, it->sizes.partitions, &it->rows, point);
        measure_finds(it, &nodes, &it->rows, point);
        if (count == 1)
            measure_replay(it, &nodes);
        bench_nodes_close(&nodes);
    }
}

static void
measure_parts(struct experiment *it)
{
    for (uint32_t count = 1; count <= it->sizes.parts; count *= 4) {
        struct point *point = &it->parts[it->part_points++];
        struct bench_nodes nodes;

        bench_progress("%u partitions", (unsigned)count);
        point->count = count;
        begin(it, &nodes, 1, count, &it->few, point);
        measure_finds(it, &nodes, &it->few, point);
        bench_nodes_close(&nodes);
    }
}

/* --------------------------------------------------------------- lines --- */

typedef double value_of(const struct point *point, enum kind kind);

static double
all_of(const struct point *point, enum kind kind)
{
    return point->find_us[kind];
}

static double
coordinator_of(const struct point *point, enum kind kind)
{
    return point->find_us[kind] - point->leaf_us[kind];
}

static double
leaves_of(const struct point *point, enum kind kind)
{
    return point->leaf_us[kind];
}

static double
idle_of(const struct point *point, enum kind kind)
{
    (void)kind;
    return point->idle_ms;
}

/* Returns the line a + b * count with the least squares. */
static struct line
fit(const struct point *points, size_t count, value_of *value, enum kind kind)
{
    double x = 0;
    double y = 0;
    double xx = 0;
    double xy = 0;
    struct line line;

    for (size_t i = 0; i < count; i++) {
        x += points[i].count / (double)count;
        y += value(&points[i], kind) / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        const double dx = points[i].count - x;

        xx += dx * dx;
        xy += dx * (value(&points[i], kind) - y);
    }
    line.b = xx > 0 ? xy / xx : 0;
    line.a = y - line.b * x;
    return line;
}

static void
print_fit(struct bench_figures *figures, const char *name,
          const struct point *points, size_t count, value_of *value,
          enum kind kind)
{
    const struct line line = fit(points, count, value, kind);

    bench_figures_open(figures, name, '{');
    bench_figure(figures, 1, line.a, "a");
    bench_figure(figures, 2, line.b, "b");
    bench_figures_close(figures, '}');
}

static void
print_points(struct bench_figures *figures, const char *name,
             const struct point *points, size_t count)
{
    bench_figures_open(figures, name, '[');
    for (size_t i = 0; i < count; i++) {
        const struct point *point = &points[i];

        bench_figures_open(figures, NULL, '{');
        bench_figure(figures, 0, point->count, "%s", name);
        bench_figure(figures, 2, point->row_us, "cpu_us_per_row");
        bench_figure(figures, 2, point->all_row_us, "cpu_us_per_row_with_idle");
        bench_figure(figures, 1, point->seconds, "seconds");
        bench_figure(figures, 2, point->idle_ms, "idle_ms_per_second");
        bench_figure(figures, 0, point->find_us[ABSENT], "absent_us");
        bench_figure(figures, 0, point->leaf_us[ABSENT], "absent_leaves_us");
        bench_figure(figures, 0, point->find_us[FIVE], "five_us");
        bench_figure(figures, 0, point->leaf_us[FIVE], "five_leaves_us");
        bench_figures_close(figures, '}');
    }
    bench_figures_close(figures, ']');
}

/* --------------------------------------------------------------- paper --- */

/*
 * The sheet, of nodes with 16 processors and 8 stores each, of which every one
 * is twice there, and a broker for ten nodes that takes 200 MB a second and
 * has each byte three times. docs/benchmarks.md has the formulas.
 */
#define PROCESSORS 16
#define STORES 8
#define REPLICAS 2
#define BROKER_MB 200
#define COPIES 3
#define STORE_GB 500

static void
print_sheet(const struct experiment *it, struct bench_figures *figures,
            double restore_mb_s)
{
    static const double counts[] = {10, 100, 1000};
    const struct line asked =
        fit(it->nodes, it->node_points, coordinator_of, FIVE);
    const struct line idle = fit(it->parts, it->part_points, idle_of, ABSENT);
    const double bytes = (double)it->rows.size / (double)it->rows.count;

    bench_figures_open(figures, "sheet", '[');
    for (size_t i = 0; i < 3; i++) {
        const double nodes = counts[i];

        bench_figures_open(figures, NULL, '{');
        bench_figure(figures, 0, nodes, "nodes");
        bench_figure(figures, 0, nodes * STORES / REPLICAS, "partitions");
        bench_figure(figures, 1,
                     nodes * PROCESSORS / it->nodes[0].row_us / REPLICAS,
                     "ingest_by_nodes_m_rows_s");
        bench_figure(figures, 1, nodes / 10 * BROKER_MB / COPIES / bytes,
                     "ingest_by_log_m_rows_s");
        bench_figure(figures, 2, (asked.a + asked.b * nodes) / 1e3,
                     "coordinator_ms_flat");
        bench_figure(figures, 2, 2 * (asked.a + asked.b * sqrt(nodes)) / 1e3,
                     "coordinator_ms_two_levels");
        bench_figure(figures, 1, idle.a + idle.b * STORES,
                     "idle_ms_per_second_of_a_node");
        bench_figure(figures, 1,
                     STORES * STORE_GB * 1e3 / nodes / restore_mb_s / 60,
                     "restore_of_a_dead_node_minutes");
        bench_figures_close(figures, '}');
    }
    bench_figures_close(figures, ']');
}

void
bench_cluster(const struct bench_options *options)
{
    const uint64_t rows = options->rows == 0 ? ROWS : options->rows;
    struct experiment it = {
        .options = options,
        .sizes = rows < SMALL_ROWS ? quick : full,
    };
    char *directory = bench_make_directory(options);
    struct bench_figures *figures;
    const struct point *last;
    double restore_mb_s;

    bench_cluster_rows_make(&it.rows, directory, rows);
    bench_cluster_rows_make(&it.few, directory, it.sizes.small_rows);
    measure_nodes(&it);
    measure_parts(&it);
    last = &it.nodes[it.node_points - 1];
    figures = bench_figures_begin(options, "cluster", rows);
    bench_figure(figures, 3, last->row_us / it.nodes[0].row_us,
                 "cpu_per_row_%.0f_over_1", last->count);
    bench_figure(figures, 0, it.sizes.partitions, "partitions_of_nodes");
    print_points(figures, "nodes", it.nodes, it.node_points);
    print_fit(figures, "find_cpu_us_by_nodes", it.nodes, it.node_points, all_of,
              FIVE);
    print_fit(figures, "find_cpu_us_by_nodes_absent", it.nodes, it.node_points,
              all_of, ABSENT);
    print_fit(figures, "coordinator_cpu_us_by_nodes", it.nodes, it.node_points,
              coordinator_of, FIVE);
    print_fit(figures, "leaves_cpu_us_by_nodes", it.nodes, it.node_points,
              leaves_of, FIVE);
    print_points(figures, "partitions", it.parts, it.part_points);
    print_fit(figures, "find_cpu_us_by_partitions", it.parts, it.part_points,
              all_of, FIVE);
    print_fit(figures, "find_cpu_us_by_partitions_absent", it.parts,
              it.part_points, all_of, ABSENT);
    print_fit(figures, "idle_ms_by_partitions", it.parts, it.part_points,
              idle_of, ABSENT);
    bench_figure(figures, 0, it.replay_rows, "replay_rows_per_second");
    bench_cluster_times(options, &it.sizes, &it.few, &it.rows, figures,
                        &restore_mb_s);
    print_sheet(&it, figures, restore_mb_s);
    bench_figures_end(figures);
    bench_cluster_rows_release(&it.rows);
    bench_cluster_rows_release(&it.few);
    bench_remove_directory(directory);
}
