/*
 * serve: a store that another process serves, over its Unix socket.
 *
 * What the socket adds to a find of five rows is the difference of two medians:
 * that of the rows as JSON from the same store in this process, and that of the
 * answer to a request. Clients and server share the processors, as do those of
 * PostgreSQL and Redis, which are asked for the same rows. Loads are of JSON
 * lines by the program, with the store closed and with a server. Memory is that
 * of the server, without the system's cache of files.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_figures.h"
#include "bench_gets.h"
#include "bench_http.h"
#include "bench_lines.h"
#include "bench_served.h"
#include "bench_store.h"
#include "bench_tweets.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define ROWS 200000
#define CLIENTS 8     /* threads that ask */
#define POST_ROWS 100 /* of a request that writes */
#define PEER_ROWS_MAX 100000
#define POSTS_MIN 20

/* How much is done with so many rows. */
#define FINDS(it) ((it)->rows / 50 + 10)
#define GETS(it) ((it)->rows / 10 + CLIENTS) /* of a way, in a round */
#define CONNECTIONS(it) ((it)->rows / 200)   /* 1,000 with the default */
#define REQUESTS(it) (5 * (it)->rows)        /* a million */

struct experiment {
    const struct bench_options *options;
    uint64_t rows;
    char *directory;
    char *path; /* of the store that finds use */
    char lines[4200];
    uint64_t number; /* of families that were loaded */
    struct bench_documents documents;
    double local_us; /* medians */
    double socket_us;
    double load_ratio;
    double post_ratio;
    double post_p50_ms;
    double post_p99_ms;
    double connections_mb;
    double growth_mb;
};

/* --------------------------------------------------------------- finds --- */

static void
add_row(void *context, struct colander_slice key, struct colander_slice row)
{
    struct colander_buffer *json = context;

    bench_check(colander_json_append_row(json, key, row, &bench_error));
    bench_append(json, "\n", 1);
}

/* Makes the rows of question `number` as JSON lines. */
static void
find_here(struct bench_store *store, const struct bench_question *question,
          struct colander_buffer *json)
{
    struct colander_predicate *where = bench_sound(colander_where(
        question->path, COLANDER_EQ, question->value, &bench_error));

    colander_buffer_clear(json);
    if (bench_store_find(store, where, add_row, json, NULL) !=
        question->expected)
        bench_fail("serve", "found a wrong number of rows");
    colander_predicate_destroy(where);
}

/* Checks that the answer has the rows, and then its end. */
static void
check_answer(struct colander_slice answer, const struct colander_buffer *json)
{
    static const char end[] = "{\"_end\":{\"rows\":";

    if (answer.size < json->size + sizeof(end) - 1 ||
        memcmp(answer.data, json->data, json->size) != 0 ||
        memcmp(answer.data + json->size, end, sizeof(end) - 1) != 0)
        bench_fail("serve", "an answer has other rows");
}

static void
ask(struct bench_http *http, const struct bench_question *question,
    struct colander_slice *answer)
{
    char target[200];

    (void)snprintf(target, sizeof(target), "/find/rows?q=%s%%3D%s",
                   question->path, question->text);
    *answer = bench_http_get(http, target);
}

/* Sets the median microseconds of a find here and over the socket. */
static void
compare_finds(struct experiment *it, struct bench_store *store,
              struct bench_http *http, double *local_us, double *socket_us)
{
    const uint64_t finds = FINDS(it);
    double *here = bench_allocate(finds, sizeof(*here));
    double *there = bench_allocate(finds, sizeof(*there));
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;

    for (uint64_t i = 0; i < finds; i++) {
        struct bench_question question;
        struct colander_slice answer;
        double start;

        bench_question_make(&question, BENCH_FIVE, it->rows, i);
        start = bench_now();
        find_here(store, &question, &json);
        here[i] = (bench_now() - start) * 1e6;
        start = bench_now();
        ask(http, &question, &answer);
        there[i] = (bench_now() - start) * 1e6;
        check_answer(answer, &json);
    }
    *local_us = bench_median(here, finds);
    *socket_us = bench_median(there, finds);
    colander_buffer_release(&json);
    free(here);
    free(there);
}

/* Both have the store open to read. */
static void
measure_finds(struct experiment *it)
{
    const unsigned rounds = it->options->rounds;
    double *here = bench_allocate(rounds, sizeof(*here));
    double *there = bench_allocate(rounds, sizeof(*there));
    const pid_t server = bench_served_start(it->path, true);
    struct colander_options options;
    struct bench_store store;
    struct bench_http http;

    colander_options_init(&options);
    options.mode = COLANDER_OPEN_READ_ONLY;
    bench_store_open(&store, it->path, &options, NULL);
    bench_http_open(&http, it->path);
    compare_finds(it, &store, &http, &here[0], &there[0]); /* into caches */
    for (unsigned i = 0; i < rounds; i++)
        compare_finds(it, &store, &http, &here[i], &there[i]);
    it->local_us = bench_median(here, rounds);
    it->socket_us = bench_median(there, rounds);
    bench_http_close(&http);
    bench_store_close(&store);
    bench_served_stop(server);
    free(here);
    free(there);
}

/* ---------------------------------------------------------- point finds --- */

static const char *served_path; /* of the store of this experiment */

static void *
open_http(void)
{
    struct bench_http *http = bench_allocate(1, sizeof(*http));

    bench_http_open(http, served_path);
    return http;
}

static void
close_http(void *connection)
{
    bench_http_close(connection);
    free(connection);
}

static void
expect_row(struct colander_slice answer, const char *text)
{
    if (answer.size < strlen(text) ||
        memcmp(answer.data, text, strlen(text)) != 0)
        bench_fail("serve", "a request returns another row");
}

static void
get_by_key(void *connection, uint64_t key, const char *text)
{
    char target[100];

    (void)snprintf(target, sizeof(target), "/get/rows?key=%" PRIu64, key);
    expect_row(bench_http_get(connection, target), text);
}

/* By a value in a column, which no one has declared. */
static void
find_by_value(void *connection, uint64_t key, const char *text)
{
    const char *id = strstr(text, "\"id\":") + strlen("\"id\":");
    char target[100];

    (void)key;
    (void)snprintf(target, sizeof(target), "/find/rows?q=id%%3D%.*s",
                   (int)strcspn(id, ","), id);
    expect_row(bench_http_get(connection, target), text);
}

static const struct bench_gets by_value = {
    "find_by_value", NULL, NULL, open_http, close_http, find_by_value};
static const struct bench_gets by_key = {"get_by_key", NULL,       NULL,
                                         open_http,    close_http, get_by_key};

static const struct bench_gets *const ways[] = {
    &by_value,
    &by_key,
#ifdef BENCH_POSTGRES
    &bench_gets_postgres,
#endif
    &bench_gets_redis,
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

struct asking {
    const struct experiment *it;
    const struct bench_gets *gets;
    unsigned number; /* of the client */
    uint64_t count;  /* of its requests */
    pthread_t thread;
};

static void *
ask_many(void *context)
{
    const struct asking *asking = context;
    const struct bench_documents *documents = &asking->it->documents;
    void *connection = asking->gets->open();

    for (uint64_t i = 0; i < asking->count; i++) {
        const uint64_t at =
            bench_mix(i * CLIENTS + asking->number) % documents->count;

        asking->gets->get(connection, documents->keys[at],
                          documents->texts[at]);
    }
    asking->gets->close(connection);
    return NULL;
}

/* Returns the requests in a second of all clients together. */
static double
ask_all(const struct experiment *it, const struct bench_gets *gets,
        uint64_t count)
{
    const uint64_t each = count / CLIENTS;
    struct asking asking[CLIENTS];
    const double start = bench_now();

    for (unsigned i = 0; i < CLIENTS; i++) {
        asking[i] = (struct asking){it, gets, i, each, 0};
        if (pthread_create(&asking[i].thread, NULL, ask_many, &asking[i]) != 0)
            bench_fail("serve", "cannot start a thread");
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        (void)pthread_join(asking[i].thread, NULL);
    return (double)(each * CLIENTS) / (bench_now() - start);
}

struct way_state {
    const char *reason; /* why it is left out; NULL: it is not */
};

struct asked_ways {
    const struct experiment *it;
    struct way_state states[WAYS];
};

static void
take_turn(void *context, unsigned way, double times[BENCH_TIMES])
{
    const struct asked_ways *asked = context;

    if (asked->states[way].reason == NULL)
        times[0] = ask_all(asked->it, ways[way], GETS(asked->it));
}

static void
print_gets(struct experiment *it, struct bench_figures *figures)
{
    const pid_t server = bench_served_start(it->path, false);
    struct asked_ways asked = {.it = it};
    struct bench_turns turns;

    for (unsigned i = 0; i < WAYS; i++) {
        if (ways[i]->start != NULL)
            asked.states[i].reason =
                ways[i]->start(it->directory, &it->documents);
    }
    bench_turns_take(&turns, it->options->rounds, WAYS, take_turn, &asked);
    for (unsigned i = 0; i < WAYS; i++) {
        char name[100];

        (void)snprintf(name, sizeof(name), "%s_per_second", ways[i]->name);
        if (asked.states[i].reason == NULL)
            bench_figure(figures, 0, bench_turns_median(&turns, i, 0), "%s",
                         name);
        else
            bench_figure_text(figures, name, asked.states[i].reason);
        if (ways[i]->stop != NULL && asked.states[i].reason == NULL)
            ways[i]->stop();
    }
    bench_turns_release(&turns);
    bench_served_stop(server);
}

/* -------------------------------------------------------------- memory --- */

/* What idle connections take, each of which has asked once. */
static void
measure_connections(struct experiment *it, pid_t server)
{
    const uint64_t count = CONNECTIONS(it);
    struct bench_http *https = bench_allocate(count, sizeof(*https));
    const struct rlimit limit = {count + 200, count + 200};
    double before;

    (void)setrlimit(RLIMIT_NOFILE, &limit); /* if not, opening fails */
    before = bench_served_memory(server);
    for (uint64_t i = 0; i < count; i++) {
        bench_http_open(&https[i], it->path);
        (void)bench_http_get(&https[i], "/health");
    }
    it->connections_mb = bench_served_memory(server) - before;
    for (uint64_t i = 0; i < count; i++)
        bench_http_close(&https[i]);
    free(https);
}

/* How much it grows in nine tenths of the requests. */
static void
measure_growth(struct experiment *it, pid_t server)
{
    double before;

    (void)ask_all(it, &by_value, REQUESTS(it) / 10);
    before = bench_served_memory(server);
    (void)ask_all(it, &by_value, REQUESTS(it) / 10 * 9);
    it->growth_mb = bench_served_memory(server) - before;
}

static void
measure_memory(struct experiment *it)
{
    const pid_t server = bench_served_start(it->path, false);

    bench_progress("connections");
    (void)ask_all(it, &by_value, GETS(it));
    measure_connections(it, server);
    bench_progress("requests");
    measure_growth(it, server);
    bench_served_stop(server);
}

/* --------------------------------------------------------------- loads --- */

static void
name_family(struct experiment *it, char name[32])
{
    (void)snprintf(name, 32, "load%" PRIu64, it->number++);
}

static double
load_by_program(struct experiment *it, const char *store)
{
    const double start = bench_now();
    char family[32];

    name_family(it, family);
    bench_served_await(bench_served_load(store, family, it->lines));
    return bench_now() - start;
}

static double
load_by_request(struct experiment *it, const char *store)
{
    const struct colander_slice lines = bench_map(it->lines);
    struct bench_http http;
    char target[100];
    char family[32];
    double start;

    bench_http_open(&http, store);
    name_family(it, family);
    (void)snprintf(target, sizeof(target), "/load/%s?key=id", family);
    start = bench_now();
    (void)bench_http_post(&http, target, lines);
    start = bench_now() - start;
    bench_http_close(&http);
    bench_unmap(lines);
    return start;
}

/* Each load is into a family without rows: here and in a server in turns. */
static void
measure_loads(struct experiment *it)
{
    const unsigned rounds = it->options->rounds;
    double *local = bench_allocate(rounds, sizeof(*local));
    double *held = bench_allocate(rounds, sizeof(*held));
    double *posted = bench_allocate(rounds, sizeof(*posted));
    char *store = bench_make_directory(it->options);

    for (unsigned i = 0; i < rounds; i++) {
        pid_t server;

        bench_progress("load %u of %u", i + 1, rounds);
        local[i] = load_by_program(it, store);
        server = bench_served_start(store, false);
        held[i] = load_by_program(it, store);
        posted[i] = load_by_request(it, store);
        bench_served_stop(server);
    }
    it->load_ratio = bench_ratio(local, held, rounds);
    it->post_ratio = bench_ratio(local, posted, rounds);
    bench_remove_directory(store);
    free(local);
    free(held);
    free(posted);
}

static struct colander_buffer
make_post(uint64_t number)
{
    struct colander_buffer body = COLANDER_BUFFER_EMPTY;

    for (uint64_t i = 0; i < POST_ROWS; i++)
        bench_print(&body,
                    "{\"id\":%" PRIu64 ",\"level\":\"info\",\"message\":"
                    "\"text %016" PRIx64 "\"}\n",
                    number * POST_ROWS + i, bench_mix(number * POST_ROWS + i));
    return body;
}

static int
compare_times(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* How long posts take while the program loads the lines, again and again. */
static void
measure_posts(struct experiment *it)
{
    const uint64_t wanted = it->rows / 100 + POSTS_MIN;
    double *times = bench_allocate(wanted, sizeof(*times));
    char *store = bench_make_directory(it->options);
    struct bench_http http;
    pid_t server;
    pid_t load;

    bench_served_await(bench_served_load(store, "lines", it->lines));
    server = bench_served_start(store, false);
    load = bench_served_load(store, "lines", it->lines);
    bench_http_open(&http, store);
    for (uint64_t i = 0; i < wanted; i++) {
        struct colander_buffer body = make_post(i);
        double start = bench_now();

        (void)bench_http_post(&http, "/load/posts?key=id",
                              colander_buffer_slice(&body));
        times[i] = (bench_now() - start) * 1e3;
        colander_buffer_release(&body);
        if (waitpid(load, NULL, WNOHANG) == load)
            load = bench_served_load(store, "lines", it->lines);
    }
    bench_served_await(load);
    qsort(times, wanted, sizeof(*times), compare_times);
    it->post_p50_ms = bench_median(times, wanted);
    it->post_p99_ms = times[wanted * 99 / 100];
    bench_http_close(&http);
    bench_served_stop(server);
    bench_remove_directory(store);
    free(times);
}

/* ---------------------------------------------------------- experiment --- */

static void
keep_document(void *context, struct colander_slice key,
              struct colander_slice row)
{
    struct bench_documents *documents = context;
    struct colander_buffer json = COLANDER_BUFFER_EMPTY;

    if (documents->count == PEER_ROWS_MAX)
        return;
    bench_check(colander_json_append_row(&json, key, row, &bench_error));
    bench_append(&json, "", 1);
    documents->keys[documents->count] =
        strtoull((const char *)json.data + strlen("{\"_key\":"), NULL, 10);
    documents->texts[documents->count++] = (char *)json.data;
}

static void
make_store(struct experiment *it)
{
    struct bench_store store;

    it->documents.keys = bench_allocate(PEER_ROWS_MAX, sizeof(uint64_t));
    it->documents.texts = bench_allocate(PEER_ROWS_MAX, sizeof(char *));
    bench_store_open(&store, it->path, NULL, NULL);
    bench_store_load(&store, it->rows);
    bench_store_close(&store);
    bench_make_rows(it->rows, 0, it->rows, keep_document, &it->documents);
    bench_tweets_write(it->lines, 0, it->rows);
}

void
bench_serve(const struct bench_options *options)
{
    struct experiment it = {.options = options,
                            .rows = bench_round_rows(options, ROWS)};
    const uint64_t connections = CONNECTIONS(&it);
    struct bench_figures *figures;

    it.directory = bench_make_directory(options);
    it.path = bench_make_directory(options);
    served_path = it.path;
    (void)snprintf(it.lines, sizeof(it.lines), "%s/tweets.jsonl", it.directory);
    make_store(&it);
    measure_finds(&it);
    measure_memory(&it);
    measure_loads(&it);
    measure_posts(&it);
    figures = bench_figures_begin(options, "serve", it.rows);
    bench_figure(figures, 1, it.socket_us - it.local_us, "find_over_socket_us");
    bench_figure(figures, 1, it.local_us, "find_local_us");
    bench_figure(figures, 1, it.socket_us, "find_socket_us");
    print_gets(&it, figures);
    bench_figure(figures, 3, it.load_ratio, "load_over_local");
    bench_figure(figures, 3, it.post_ratio, "post_over_local");
    bench_figure(figures, 2, it.post_p50_ms, "post_p50_ms");
    bench_figure(figures, 1, it.post_p99_ms, "post_p99_ms");
    bench_figure(figures, 0, (double)connections, "connections");
    bench_figure(figures, 1, it.connections_mb, "connections_mb");
    bench_figure(figures, 0, (double)REQUESTS(&it), "requests");
    bench_figure(figures, 1, it.growth_mb, "requests_growth_mb");
    bench_figures_end(figures);
    for (uint64_t i = 0; i < it.documents.count; i++)
        free(it.documents.texts[i]);
    free(it.documents.keys);
    free(it.documents.texts);
    bench_remove_directory(it.directory);
    bench_remove_directory(it.path);
}
