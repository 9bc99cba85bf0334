/*
 * follow: records of a topic into a store, compared with the same lines in a
 * file that `colander load` reads: processor time of both programs, and their
 * peak memory. Keys are hashes, as their order matters to both, and a topic has
 * that of its partitions, which are read together.
 *
 * The brokers are librdkafka's mock cluster, in this process. It keeps 5 MiB of
 * a partition, so there are as many as the records need. With their addresses
 * in $COLANDER_BROKERS real ones are used, which have the topic "bench"; then
 * the records are sent there once for each run of this program.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_figures.h"
#include "bench_guard.h"
#include "bench_lines.h"
#include "bench_turns.h"
#include "bench_tweets.h"

#include <fcntl.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PARTITION_SIZE ((uint64_t)4 << 20) /* that the mock cluster keeps */

enum way { LOAD, FOLLOW, WAYS };
enum time { PROCESSOR, ELAPSED, MEMORY };

static const char *const names[WAYS] = {"load", "follow"};

struct experiment {
    const struct bench_options *options;
    uint64_t rows;
    char *directory;
    char path[4200];    /* of the file */
    char address[2000]; /* of the topic */
    rd_kafka_t *producer;
    int partition_count;
    struct bench_turns turns;
};

/* -------------------------------------------------------------- brokers --- */

static void
start_brokers(struct experiment *it, uint64_t size)
{
    const char *brokers = getenv("COLANDER_BROKERS");
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_mock_cluster_t *cluster;
    char reason[200];

    it->partition_count = (int)(size / PARTITION_SIZE) + 1;
    rd_kafka_conf_set_log_cb(conf, NULL);
    rd_kafka_conf_set(
        conf, brokers == NULL ? "test.mock.num.brokers" : "bootstrap.servers",
        brokers == NULL ? "1" : brokers, NULL, 0);
    rd_kafka_conf_set(conf, "linger.ms", "100", NULL, 0);
    it->producer =
        rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof(reason));
    if (it->producer == NULL)
        bench_fail("no brokers", reason);
    cluster = rd_kafka_handle_mock_cluster(it->producer);
    if (cluster != NULL) {
        brokers = rd_kafka_mock_cluster_bootstraps(cluster);
        rd_kafka_mock_topic_create(cluster, "bench", it->partition_count, 1);
    }
    (void)snprintf(it->address, sizeof(it->address), "kafka://%s/bench",
                   brokers);
}

/* Sends each line of the file. */
static void
send_lines(const struct experiment *it)
{
    const bool is_mock = rd_kafka_handle_mock_cluster(it->producer) != NULL;
    const struct colander_slice file = bench_map(it->path);
    struct colander_slice lines = file;
    struct colander_slice line;
    uint64_t at = 0;

    while (bench_next_line(&lines, &line)) {
        const int32_t partition =
            is_mock ? (int32_t)(at / PARTITION_SIZE) : RD_KAFKA_PARTITION_UA;
        rd_kafka_resp_err_t error;

        at += line.size + 1;
        do {
            error = rd_kafka_producev(
                it->producer, RD_KAFKA_V_TOPIC("bench"),
                RD_KAFKA_V_PARTITION(partition),
                RD_KAFKA_V_VALUE((void *)(uintptr_t)line.data, line.size),
                RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
            rd_kafka_poll(it->producer,
                          error == RD_KAFKA_RESP_ERR__QUEUE_FULL ? 10 : 0);
        } while (error == RD_KAFKA_RESP_ERR__QUEUE_FULL);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
            bench_fail("cannot send", rd_kafka_err2str(error));
    }
    if (rd_kafka_flush(it->producer, 600000) != RD_KAFKA_RESP_ERR_NO_ERROR)
        bench_fail("cannot send", "brokers do not acknowledge");
    bench_unmap(file);
}

/* ---------------------------------------------------------------- turns --- */

/* Runs the program, and sets what it used. */
static void
run(char *const *arguments, const char *directory, double times[BENCH_TIMES])
{
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int standard[] = {null, null, null};
    const double start = bench_now();
    struct rusage used;
    pid_t process = bench_guard_start(arguments, directory, standard, SIGKILL);
    int status;

    if (wait4(process, &status, 0, &used) != process || status != 0)
        bench_fail(arguments[1], "the program failed");
    times[ELAPSED] = bench_now() - start;
    times[PROCESSOR] =
        (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6 +
        (double)used.ru_stime.tv_sec + (double)used.ru_stime.tv_usec / 1e6;
    times[MEMORY] = (double)used.ru_maxrss / 1000;
    close(null);
}

static void
take_turn(void *context, unsigned way, double times[BENCH_TIMES])
{
    struct experiment *it = context;
    char *store = bench_make_directory(it->options);
    char program[] = BENCH_COLANDER;
    char path[4200];
    char *load[] = {program,  "load",  path,    "rows",
                    it->path, "--key", ":hash", NULL};
    char *follow[] = {program, "follow", path,     "rows", it->address,
                      "--key", ":hash",  "--once", NULL};

    (void)snprintf(path, sizeof(path), "%s/store", store);
    run(way == LOAD ? load : follow, store, times);
    bench_remove_directory(store);
}

void
bench_follow(const struct bench_options *options)
{
    struct experiment it = {
        .options = options,
        .rows = options->rows == 0 ? 1000000 : options->rows,
        .directory = bench_make_directory(options),
    };
    struct bench_figures *figures;
    struct colander_slice file;

    (void)snprintf(it.path, sizeof(it.path), "%s/tweets.jsonl", it.directory);
    bench_tweets_write(it.path, 0, it.rows);
    file = bench_map(it.path);
    start_brokers(&it, file.size);
    send_lines(&it);
    bench_turns_take(&it.turns, options->rounds, WAYS, take_turn, &it);
    figures = bench_figures_begin(options, "follow", it.rows);
    bench_figure(figures, 1, (double)file.size / (double)it.rows,
                 "bytes_per_record");
    bench_figure(figures, 3,
                 bench_turns_ratio(&it.turns, FOLLOW, LOAD, PROCESSOR),
                 "follow_over_load_processor");
    for (unsigned way = 0; way < WAYS; way++) {
        bench_figure(figures, 3,
                     bench_turns_median(&it.turns, way, PROCESSOR) * 1e6 /
                         (double)it.rows,
                     "%s_us_per_row", names[way]);
        bench_figure(figures, 1, bench_turns_median(&it.turns, way, ELAPSED),
                     "%s_seconds", names[way]);
        bench_figure(figures, 1, bench_turns_median(&it.turns, way, MEMORY),
                     "%s_peak_memory_mb", names[way]);
    }
    bench_figures_end(figures);
    bench_unmap(file);
    bench_turns_release(&it.turns);
    rd_kafka_destroy(it.producer);
    bench_remove_directory(it.directory);
}
