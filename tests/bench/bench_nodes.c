/*
 * Nodes, started and watched from outside.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_nodes.h"
#include "bench_guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <librdkafka/rdkafka_mock.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BROKERS "3"
#define WORDS_MAX 24
#define TRIES 3000 /* of a tenth of a second: until a state is reached */
#define WINDOW_US 200000
#define WINDOWS 4       /* in which nodes must be quiet */
#define QUIET_MORE 0.03 /* of a processor, beside what is idle */

/* -------------------------------------------------------------- brokers --- */

static void
start_brokers(struct bench_nodes *it)
{
    const char *brokers = getenv("COLANDER_BROKERS");
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_mock_cluster_t *cluster;
    char reason[200];
    char topic[60];

    rd_kafka_conf_set_log_cb(conf, NULL);
    rd_kafka_conf_set(
        conf, brokers == NULL ? "test.mock.num.brokers" : "bootstrap.servers",
        brokers == NULL ? BROKERS : brokers, NULL, 0);
    it->producer =
        rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof(reason));
    if (it->producer == NULL)
        bench_fail("no brokers", reason);
    cluster = rd_kafka_handle_mock_cluster(it->producer);
    if (cluster != NULL) {
        brokers = rd_kafka_mock_cluster_bootstraps(cluster);
        (void)snprintf(topic, sizeof(topic), "%s-members", it->name);
        rd_kafka_mock_topic_create(cluster, topic, 1, 1);
        (void)snprintf(topic, sizeof(topic), "%s." BENCH_FAMILY, it->name);
        rd_kafka_mock_topic_create(cluster, topic, (int)it->partition_count, 1);
    }
    (void)snprintf(it->brokers, sizeof(it->brokers), "kafka://%s", brokers);
}

/* -------------------------------------------------------------- program --- */

double
bench_nodes_run(const char *const *words)
{
    char *arguments[WORDS_MAX] = {(char *)BENCH_COLANDER};
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const double begun = bench_now();
    FILE *errors = tmpfile();
    char line[1000] = "the command fails";
    size_t count = 1;
    pid_t command;

    for (; words[count - 1] != NULL && count < WORDS_MAX - 1; count++)
        arguments[count] = (char *)(uintptr_t)words[count - 1];
    if (errors == NULL)
        bench_fail("a file", strerror(errno));
    command = bench_guard_start(
        arguments, "/", (const int[]){null, null, fileno(errors)}, SIGKILL);
    (void)close(null);
    if (bench_guard_await(command) != 0) {
        rewind(errors);
        (void)fgets(line, sizeof(line), errors);
        bench_fail(words[0], line);
    }
    (void)fclose(errors);
    return bench_now() - begun;
}

static void
make_cluster(struct bench_nodes *it)
{
    /* a mock cluster does not create topics when it is asked */
    const bool is_mock = rd_kafka_handle_mock_cluster(it->producer) != NULL;
    const char *topic = is_mock ? "--topic" : NULL;
    char partitions[20];
    char replicas[20];
    char members[60];
    char rows[60];
    FILE *token;

    (void)snprintf(members, sizeof(members), "%s-members", it->name);
    (void)snprintf(rows, sizeof(rows), "%s." BENCH_FAMILY, it->name);
    (void)snprintf(it->token, sizeof(it->token), "%s/token", it->directory);
    token = bench_open_new(it->token);
    (void)fprintf(token, "%016" PRIx64 "%016" PRIx64 "\n",
                  bench_mix(clock_us()), bench_mix(clock_us() + 1));
    bench_close_written(token, it->token);
    if (chmod(it->token, 0600) != 0)
        bench_fail(it->token, strerror(errno));
    (void)snprintf(it->cluster, sizeof(it->cluster), "file://%s/objects",
                   it->directory);
    (void)snprintf(partitions, sizeof(partitions), "%" PRIu32,
                   it->partition_count);
    (void)snprintf(replicas, sizeof(replicas), "%" PRIu32, it->replica_count);
    bench_nodes_run((const char *[]){"cluster", "create", it->cluster, "--log",
                                     it->brokers, "--name", it->name, topic,
                                     members, NULL});
    bench_nodes_run((const char *[]){
        "cluster", "family", it->cluster, BENCH_FAMILY, "--partitions",
        partitions, "--replicas", replicas, "--key", "id", topic, rows, NULL});
}

void
bench_nodes_open(struct bench_nodes *it, const struct bench_options *options,
                 uint32_t partition_count, uint32_t replica_count)
{
    memset(it, 0, sizeof(*it));
    it->options = options;
    it->directory = bench_make_directory(options);
    it->partition_count = partition_count;
    it->replica_count = replica_count;
    (void)snprintf(it->name, sizeof(it->name), "b%" PRIx64, clock_us());
    start_brokers(it);
    make_cluster(it);
}

void
bench_nodes_close(struct bench_nodes *it)
{
    for (size_t i = 0; i < it->count; i++) {
        if (it->nodes[i].process != 0)
            bench_nodes_stop(it, i, SIGKILL);
        if (it->nodes[i].relay != NULL)
            bench_relay_stop(it->nodes[i].relay);
        free(it->nodes[i].directory);
    }
    rd_kafka_destroy(it->producer);
    bench_remove_directory(it->directory);
}

void
bench_nodes_load(struct bench_nodes *it, const char *path)
{
    char topic[1200];

    (void)snprintf(topic, sizeof(topic), "%s/%s." BENCH_FAMILY, it->brokers,
                   it->name);
    bench_nodes_run((const char *[]){"load", topic, path, "--key", "id", NULL});
}

/* ---------------------------------------------------------------- nodes --- */

void
bench_nodes_start_one(struct bench_nodes *it, size_t at, const char *lost_after)
{
    struct bench_node *node = &it->nodes[at];
    char listen[40];
    char advertise[60];
    char name[20];
    char *arguments[] = {(char *)BENCH_COLANDER,
                         (char *)"serve",
                         it->cluster,
                         (char *)"--dir",
                         node->directory,
                         (char *)"--name",
                         name,
                         (char *)"--listen",
                         listen,
                         (char *)"--token-file",
                         it->token,
                         (char *)"--advertise",
                         advertise,
                         lost_after == NULL ? NULL : (char *)"--lost-after",
                         (char *)(uintptr_t)lost_after,
                         NULL};
    char errors[4200];
    char line[4200];
    FILE *ready;
    int ends[2];
    int file;

    (void)snprintf(name, sizeof(name), "n%zu", at);
    (void)snprintf(listen, sizeof(listen), "127.0.0.1:%u", node->port);
    (void)snprintf(advertise, sizeof(advertise), "http://127.0.0.1:%u",
                   node->relay == NULL ? node->port
                                       : bench_relay_port(node->relay));
    (void)snprintf(errors, sizeof(errors), "%s.errors", node->directory);
    file = open(errors, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0 || pipe2(ends, O_CLOEXEC) != 0)
        bench_fail(errors, strerror(errno));
    node->process = bench_guard_start(
        arguments, "/", (const int[]){STDIN_FILENO, ends[1], file}, SIGKILL);
    (void)close(ends[1]);
    (void)close(file);
    ready = fdopen(ends[0], "r");
    if (ready == NULL || fgets(line, sizeof(line), ready) == NULL)
        bench_fail(errors, "a node does not start");
    (void)fclose(ready);
    if (clock_getcpuclockid(node->process, &node->clock) != 0)
        bench_fail("a node", "its processor time cannot be read");
}

void
bench_nodes_start(struct bench_nodes *it, size_t count, const char *lost_after,
                  bool has_relays)
{
    int held[BENCH_NODES_MAX]; /* so that all ports differ */

    it->count = count;
    for (size_t i = 0; i < count; i++) {
        char path[4300];

        (void)snprintf(path, sizeof(path), "%s/n%zu", it->directory, i);
        it->nodes[i].directory = bench_copy(path);
        held[i] = bench_listen(&it->nodes[i].port);
        if (has_relays)
            it->nodes[i].relay = bench_relay_start(it->nodes[i].port);
    }
    for (size_t i = 0; i < count; i++) {
        (void)close(held[i]);
        bench_nodes_start_one(it, i, lost_after);
    }
}

void
bench_nodes_stop(struct bench_nodes *it, size_t at, int signal)
{
    bench_guard_stop(it->nodes[at].process, signal);
    it->nodes[at].process = 0;
}

double
bench_nodes_used(const struct bench_nodes *it, size_t first, size_t count)
{
    double used = 0;

    for (size_t i = first; i < first + count; i++) {
        struct timespec time;

        if (it->nodes[i].process == 0)
            continue;
        if (clock_gettime(it->nodes[i].clock, &time) != 0)
            bench_fail("a node", "it has ended");
        used += (double)time.tv_sec + (double)time.tv_nsec / 1e9;
    }
    return used;
}

double
bench_nodes_await_quiet(const struct bench_nodes *it, double idle, double *used)
{
    const double most = idle * 1.5 + QUIET_MORE;
    double begun = bench_now();
    unsigned quiet = 0;

    *used = bench_nodes_used(it, 0, it->count);
    for (double before = *used, now = begun; quiet < WINDOWS; quiet++) {
        double later;
        double more;

        (void)usleep(WINDOW_US);
        later = bench_now();
        more = bench_nodes_used(it, 0, it->count);
        if (more - before > most * (later - now)) {
            quiet = (unsigned)-1; /* 0 in the next window */
            begun = later;
            *used = more;
        }
        before = more;
        now = later;
    }
    return begun;
}

/* ------------------------------------------------------------ questions --- */

/* Counts the directories of partitions, and those that are being given up. */
static size_t
count_partitions(const struct bench_nodes *it, size_t at)
{
    char path[4300];
    struct dirent *entry;
    size_t count = 0;
    DIR *listing;

    (void)snprintf(path, sizeof(path), "%s/" BENCH_FAMILY,
                   it->nodes[at].directory);
    listing = opendir(path);
    while (listing != NULL && (entry = readdir(listing)) != NULL)
        count += entry->d_name[0] != '.';
    if (listing != NULL)
        (void)closedir(listing);
    return count;
}

/* Fails, with what it has said last, if a node has ended. */
static void
check_node(const struct bench_nodes *it, size_t at)
{
    char said[1000] = "it has ended, and said nothing";
    char path[4300];
    FILE *errors;

    if (waitpid(it->nodes[at].process, NULL, WNOHANG) == 0)
        return;
    (void)snprintf(path, sizeof(path), "%s.errors", it->nodes[at].directory);
    errors = fopen(path, "re");
    while (errors != NULL && fgets(said, sizeof(said), errors) != NULL)
        continue;
    bench_fail("a node", said);
}

/* Counts rows; false: a partition is missing. */
static bool
try_count(const struct bench_nodes *it, size_t at, uint64_t *rows)
{
    struct colander_slice answer;
    struct bench_http http;
    bool is_whole;

    check_node(it, at);
    bench_http_open(&http, it->nodes[at].directory);
    is_whole = bench_http_try(&http, "/group/" BENCH_FAMILY "?count", &answer);
    *rows = 0;
    if (is_whole)
        (void)sscanf((const char *)answer.data, "{\"count\":%" SCNu64, rows);
    bench_http_close(&http);
    return is_whole;
}

void
bench_nodes_await_partitions(struct bench_nodes *it)
{
    const size_t wanted = (size_t)it->partition_count * it->replica_count;

    for (unsigned i = 0; i < TRIES; i++) {
        size_t count = 0;
        uint64_t rows;
        bool is_whole = true;

        for (size_t j = 0; j < it->count; j++)
            count += it->nodes[j].process == 0 ? 0 : count_partitions(it, j);
        for (size_t j = 0; j < it->count && is_whole && count == wanted; j++)
            is_whole = it->nodes[j].process == 0 || try_count(it, j, &rows);
        if (is_whole && count == wanted)
            return;
        (void)usleep(100000);
    }
    bench_fail("nodes", "do not have the partitions that they should");
}

uint64_t
bench_nodes_count(const struct bench_nodes *it, size_t at)
{
    uint64_t rows;

    if (!try_count(it, at, &rows))
        bench_fail("a node", "a partition is missing");
    return rows;
}

void
bench_nodes_await_rows(const struct bench_nodes *it, size_t at, uint64_t rows)
{
    uint64_t count;

    for (unsigned i = 0; i < TRIES; i++) {
        if (try_count(it, at, &count) && count == rows)
            return;
        (void)usleep(100000);
    }
    bench_fail("a node", "has not all rows");
}
