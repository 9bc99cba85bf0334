/*
 * Times of the experiment `cluster`.
 *
 * A find over slow links is compared with the same find of the node that takes
 * longest to answer, which is asked as nodes ask each other. Links are relays
 * in this process, as few machines let everyone delay packets.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_cluster_rows.h"
#include "bench_nodes.h"
#include "columns/query_bytes.h"
#include "core/bytes.h"
#include "tests/support/temporary.h"

#include <dirent.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define NODES 4
#define PARTITIONS 16
#define FAILOVER_NODES 3
#define FAILOVER_PARTITIONS 12
#define FAILOVER_SECONDS 120
#define TOKEN_SIZE 100

/* --------------------------------------------------------------- links --- */

/* A node, asked for what is in its own partitions only. */
struct leaf {
    struct bench_http http;
    uint16_t port;
    struct colander_buffer scope; /* frames with its partitions */
    char token[TOKEN_SIZE];
};

static void
add_frame(struct colander_buffer *body, char kind, const void *bytes,
          size_t size)
{
    uint8_t head[5] = {(uint8_t)kind, 0, 0, 0, 0};

    bytes_put_be32(head + 1, (uint32_t)size);
    bench_append(body, head, sizeof(head));
    bench_append(body, bytes, size);
}

static void
open_leaf(struct leaf *leaf, const struct bench_nodes *nodes, size_t at)
{
    const struct bench_node *node = &nodes->nodes[at];
    FILE *token = fopen(nodes->token, "re");
    struct dirent *entry;
    char path[4300];
    DIR *listing;

    memset(leaf, 0, sizeof(*leaf));
    if (token == NULL || fgets(leaf->token, sizeof(leaf->token), token) == NULL)
        bench_fail(nodes->token, "cannot be read");
    (void)fclose(token);
    leaf->token[strcspn(leaf->token, "\n")] = '\0';
    (void)snprintf(path, sizeof(path), "%s/" BENCH_FAMILY, node->directory);
    listing = opendir(path);
    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof(path), BENCH_FAMILY "/%s", entry->d_name);
        add_frame(&leaf->scope, 'p', path, strlen(path) + 1);
    }
    if (listing != NULL)
        (void)closedir(listing);
    /* the one that coordinates is asked without a link */
    leaf->port = at == 0 ? node->port : bench_relay_port(node->relay);
    leaf->http.fd = bench_connect_port(leaf->port);
    if (leaf->http.fd < 0)
        bench_fail("a node", "does not listen");
}

static void
close_leaf(struct leaf *leaf)
{
    bench_http_close(&leaf->http);
    colander_buffer_release(&leaf->scope);
}

/* Returns the milliseconds that a leaf takes. */
static double
ask_leaf(struct leaf *leaf, const char *user)
{
    struct colander_predicate *where =
        colander_where("user", COLANDER_EQ, colander_text(user), &bench_error);
    struct colander_buffer body = COLANDER_BUFFER_EMPTY;
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;
    struct colander_query query;
    double begun;

    colander_query_init(&query);
    query.where = where;
    bench_check(colander_query_encode(&query, &bytes, &bench_error));
    bench_append(&body, leaf->scope.data, leaf->scope.size);
    add_frame(&body, 'q', bytes.data, bytes.size);
    colander_buffer_clear(&leaf->http.sent);
    bench_print(&leaf->http.sent,
                "POST /peer?ask=find&of=" BENCH_FAMILY " HTTP/1.1\r\n"
                "Host: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\n"
                "Content-Length: %zu\r\n\r\n",
                leaf->port, leaf->token, body.size);
    bench_append(&leaf->http.sent, body.data, body.size);
    begun = bench_now();
    (void)bench_http_ask(&leaf->http);
    begun = bench_now() - begun;
    colander_buffer_release(&body);
    colander_buffer_release(&bytes);
    colander_predicate_destroy(where);
    return begun * 1e3;
}

/* Prints the median of finds, and of what they take beyond the slowest leaf. */
static void
measure_link(const struct bench_nodes *nodes, struct leaf leaves[NODES],
             const struct bench_cluster_rows *rows, unsigned finds,
             struct bench_figures *figures)
{
    double *times = bench_allocate(finds, sizeof(*times));
    double *over = bench_allocate(finds, sizeof(*over));
    struct bench_http http;

    bench_http_open(&http, nodes->nodes[0].directory);
    for (unsigned i = 0; i < 2 * finds; i++) { /* the first half warms up */
        const char *user = bench_cluster_user(rows, i % finds);
        const double begun = bench_now();
        double slowest = 0;

        if (!bench_cluster_ask(&http, user, BENCH_CLUSTER_FOUND))
            bench_fail("cluster", "a find fails");
        times[i % finds] = (bench_now() - begun) * 1e3;
        for (size_t j = 0; j < NODES; j++) {
            const double time = ask_leaf(&leaves[j], user);

            slowest = time > slowest ? time : slowest;
        }
        over[i % finds] = times[i % finds] - slowest;
    }
    bench_figure(figures, 3, bench_median(times, finds), "find_ms");
    bench_figure(figures, 3, bench_median(over, finds), "over_slowest_ms");
    bench_http_close(&http);
    free(times);
    free(over);
}

static void
measure_links(const struct bench_options *options,
              const struct bench_cluster_sizes *sizes,
              const struct bench_cluster_rows *rows,
              struct bench_figures *figures)
{
    static const unsigned delays_us[] = {0, 500, 20000};
    struct bench_nodes nodes;
    struct leaf leaves[NODES];

    bench_nodes_open(&nodes, options, PARTITIONS, 1);
    bench_nodes_start(&nodes, NODES, sizes->lost_after, true);
    bench_nodes_await_partitions(&nodes);
    bench_nodes_load(&nodes, rows->path);
    bench_nodes_await_rows(&nodes, 0, rows->count);
    for (size_t i = 0; i < NODES; i++)
        open_leaf(&leaves[i], &nodes, i);
    bench_figures_open(figures, "find_over_slowest", '[');
    for (size_t i = 0; i < 3; i++) {
        bench_progress("links of %u us", delays_us[i]);
        for (size_t j = 0; j < NODES; j++)
            bench_relay_delay(nodes.nodes[j].relay, delays_us[i]);
        bench_figures_open(figures, NULL, '{');
        bench_figure(figures, 1, delays_us[i] / 1e3, "link_ms_each_way");
        measure_link(&nodes, leaves, rows,
                     delays_us[i] > 1000 ? sizes->finds / 10 + 1 : sizes->finds,
                     figures);
        bench_figures_close(figures, '}');
    }
    bench_figures_close(figures, ']');
    for (size_t i = 0; i < NODES; i++)
        close_leaf(&leaves[i]);
    bench_nodes_close(&nodes);
}

/* ------------------------------------------------------------- failover --- */

/* Kills a node, and asks another one until it answers for all partitions. */
static void
measure_failover(const struct bench_options *options,
                 const struct bench_cluster_sizes *sizes,
                 const struct bench_cluster_rows *rows, uint32_t replicas,
                 struct bench_figures *figures)
{
    struct bench_nodes nodes;
    struct bench_http http;
    unsigned failed = 0;
    double begun;

    bench_progress("a node is killed, of %u", (unsigned)replicas);
    bench_nodes_open(&nodes, options, FAILOVER_PARTITIONS, replicas);
    bench_nodes_start(&nodes, FAILOVER_NODES, sizes->lost_after, false);
    bench_nodes_await_partitions(&nodes);
    bench_nodes_load(&nodes, rows->path);
    bench_nodes_await_rows(&nodes, 0, rows->count);
    (void)usleep(sizes->idle_ms * 1000); /* replicas, too */
    bench_http_open(&http, nodes.nodes[0].directory);
    for (unsigned i = 0; i < 20; i++)
        (void)bench_cluster_ask(&http, bench_cluster_user(rows, i),
                                BENCH_CLUSTER_FOUND);
    begun = bench_now();
    bench_nodes_stop(&nodes, 1, SIGKILL);
    while (!bench_cluster_ask(&http, bench_cluster_user(rows, failed),
                              BENCH_CLUSTER_FOUND)) {
        failed++;
        (void)usleep(1000);
        if (bench_now() - begun > FAILOVER_SECONDS)
            bench_fail("cluster", "a killed node is missed for too long");
    }
    bench_figure(figures, 3, bench_now() - begun, "failover_seconds_r%u",
                 (unsigned)replicas);
    bench_figure(figures, 0, failed, "failover_failed_finds_r%u",
                 (unsigned)replicas);
    bench_http_close(&http);
    bench_nodes_close(&nodes);
}

/* ---------------------------------------------------------- checkpoints --- */

static double bytes_found;

static int
add_bytes(const char *path, const struct stat *status, int kind,
          struct FTW *place)
{
    (void)path;
    (void)place;
    if (kind == FTW_F)
        bytes_found += (double)status->st_size;
    return 0;
}

/* Makes and restores a checkpoint: a backup of a store, as of a partition.
 * Returns the MB/s of restoring it. */
static double
measure_objects(const char *store, const char *address, const char *directory,
                const char *name, struct bench_figures *figures)
{
    char restored[4300];
    double made;
    double seconds;

    (void)snprintf(restored, sizeof(restored), "%s/restored-%s", directory,
                   name);
    made = bench_nodes_run((const char *[]){"backup", store, address, NULL});
    seconds =
        bench_nodes_run((const char *[]){"restore", address, restored, NULL});
    bytes_found = 0;
    (void)nftw(restored, add_bytes, 16, FTW_PHYS);
    bench_figure(figures, 1, bytes_found / 1e6 / made, "checkpoint_%s_mb_s",
                 name);
    bench_figure(figures, 1, bytes_found / 1e6 / seconds, "restore_%s_mb_s",
                 name);
    temporary_remove(restored);
    return bytes_found / 1e6 / seconds;
}

static double
measure_checkpoints(const struct bench_options *options,
                    const struct bench_cluster_rows *rows,
                    struct bench_figures *figures)
{
    const char *s3 = getenv("COLANDER_OBJECTS");
    char *directory = bench_make_directory(options);
    char store[4200];
    char address[4300];
    double mb_s;

    bench_progress("checkpoints");
    (void)snprintf(store, sizeof(store), "%s/store", directory);
    (void)snprintf(address, sizeof(address), "file://%s/objects", directory);
    bench_nodes_run((const char *[]){"load", store, BENCH_FAMILY, rows->path,
                                     "--key", "id", NULL});
    mb_s = measure_objects(store, address, directory, "file", figures);
    if (s3 != NULL) {
        (void)snprintf(address, sizeof(address), "%s/%016" PRIx64, s3,
                       clock_us());
        mb_s = measure_objects(store, address, directory, "s3", figures);
    } else {
        bench_figure_text(figures, "restore_s3_mb_s",
                          "$COLANDER_OBJECTS has no address");
    }
    bench_remove_directory(directory);
    return mb_s;
}

void
bench_cluster_times(const struct bench_options *options,
                    const struct bench_cluster_sizes *sizes,
                    const struct bench_cluster_rows *rows,
                    const struct bench_cluster_rows *all,
                    struct bench_figures *figures, double *restore_mb_s)
{
    measure_links(options, sizes, rows, figures);
    for (uint32_t i = sizes->replicas; i <= 2; i++)
        measure_failover(options, sizes, rows, i, figures);
    *restore_mb_s = measure_checkpoints(options, all, figures);
}
