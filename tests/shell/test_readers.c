/*
 * 64 readers beside one loader: each answer is that of one moment.
 *
 * The loader loads the same rows again and again, in the order of their keys,
 * each time with a greater round. So at any moment the rounds of all rows, in
 * the order of keys, are one number and then at most one other, one less. That
 * shows whether rows of an answer are of one moment, and whether one is missing
 * or there twice, however the server found them.
 *
 * $COLANDER_SECONDS is how long it goes on.
 *
 * SPDX-License-Identifier: MIT
 */
#include "serve/served.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>

#define READERS 64
#define ROWS 2000
#define GROUPS 8       /* a row is in group n % GROUPS */
#define ROUNDS 3       /* at least */
#define LARGE_ROW 9000 /* bytes, so that a file of them is loaded in runs */

enum question { ALL, GROUP, SINCE, ONE, COUNTS, QUESTIONS };

struct readers {
    char directory[TEMPORARY_SIZE];
    char store[TEMPORARY_SIZE + 10]; /* in the directory */
    atomic_int begun;                /* the round that is being loaded */
    atomic_int acknowledged;         /* that was loaded last */
    atomic_bool is_over;
    pthread_mutex_t lock;
    char failure[2000]; /* the first */
};

struct reader {
    struct readers *readers;
    unsigned number;
    atomic_uint answers;
    pthread_t thread;
};

extern char **environ;

/* ------------------------------------------------------------- program --- */

static pid_t
start(const char *const *words, int out)
{
    posix_spawn_file_actions_t actions;
    pid_t process;

    ZERO(posix_spawn_file_actions_init(&actions));
    ZERO(posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO));
    ZERO(posix_spawn(&process, words[0], &actions, NULL, (char *const *)words,
                     environ));
    ZERO(posix_spawn_file_actions_destroy(&actions));
    return process;
}

/* Waits until it is ready. */
static pid_t
start_server(const char *directory)
{
    const char *const words[] = {getenv("COLANDER"), "serve", directory, NULL};
    char byte;
    int ends[2];
    pid_t server;

    ZERO(pipe2(ends, O_CLOEXEC));
    server = start(words, ends[1]);
    (void)close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    (void)close(ends[0]);
    return server;
}

static void
await(pid_t process)
{
    int status = 0;

    assert_int_equal(waitpid(process, &status, 0), process);
    assert_int_equal(status, 0);
}

static void
write_round(const char *path, int round, size_t size)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    for (int i = 0; i < ROWS; i++)
        (void)fprintf(file,
                      "{\"id\":%d,\"round\":%d,\"group\":%d,\"filler\":"
                      "\"%0*d\"}\n",
                      i, round, i % GROUPS, (int)size, 0);
    ZERO(fclose(file));
}

static void
load_round(struct readers *readers, int round, size_t size)
{
    char path[TEMPORARY_SIZE + 20];
    const char *const words[] = {getenv("COLANDER"),
                                 "load",
                                 readers->store,
                                 "rows",
                                 path,
                                 "--key",
                                 "id",
                                 NULL};

    (void)snprintf(path, sizeof(path), "%s/round.jsonl", readers->directory);
    write_round(path, round, size);
    atomic_store(&readers->begun, round);
    await(start(words, STDOUT_FILENO));
    atomic_store(&readers->acknowledged, round);
}

/* -------------------------------------------------------------- reader --- */

/* Keeps the first failure, and ends all. */
static void
keep_failure(struct readers *readers, const char *target, const char *what,
             const char *answer)
{
    pthread_mutex_lock(&readers->lock);
    if (readers->failure[0] == '\0')
        (void)snprintf(readers->failure, sizeof(readers->failure),
                       "%s: %s: %.1500s", target, what, answer);
    pthread_mutex_unlock(&readers->lock);
    atomic_store(&readers->is_over, true);
}

/* Returns the reply, to be freed. A slow reader takes some of it at a time. */
static char *
ask(const struct reader *reader, const char *target)
{
    const size_t step = reader->number % 8 == 7 ? 2000 : 65536;
    int fd = client_connect(reader->readers->store);
    size_t capacity = 1 << 20;
    char *reply = calloc(1, capacity);
    char request[300];
    size_t size = 0;
    ssize_t got = fd < 0 || reply == NULL ? 0 : 1;
    const int length = snprintf(
        request, sizeof(request),
        "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", target);

    if (got > 0 && send(fd, request, (size_t)length, MSG_NOSIGNAL) != length)
        got = 0;
    while (got > 0 && size < capacity - 1) {
        got = recv(fd, reply + size,
                   capacity - 1 - size < step ? capacity - 1 - size : step, 0);
        size += got > 0 ? (size_t)got : 0;
        if (step == 2000)
            usleep(100);
    }
    if (fd >= 0)
        (void)close(fd);
    return reply;
}

/* What the rows of an answer have in common. */
struct seen {
    int count;
    int first; /* round */
    int last;
    int next; /* the key that the next row must have; -1: any */
    int step; /* between keys */
};

/* Takes a row. Returns what is wrong with it; NULL: nothing. */
static const char *
see(struct seen *seen, int key, int round)
{
    if (seen->next >= 0 && key != seen->next)
        return "a row is missing, or there twice";
    if (seen->count == 0)
        seen->first = seen->last = round;
    if (round > seen->last || round < seen->first - 1)
        return "the rows are of different moments";
    seen->last = round;
    seen->next = key + seen->step;
    seen->count++;
    return NULL;
}

/* Reads the rows of an answer, each {"_key":KEY,"round":ROUND}. */
static const char *
see_rows(struct seen *seen, const char *body)
{
    const char *problem = NULL;
    int key, round;

    while (problem == NULL &&
           sscanf(body, "{\"_key\":%d,\"round\":%d}", &key, &round) == 2) {
        problem = see(seen, key, round);
        body = strchr(body, '\n') + 1;
    }
    return problem == NULL && strncmp(body, "{\"_end\":", 8) != 0
               ? "the answer is not whole"
               : problem;
}

/* Reads groups, each {"round":ROUND,"count":COUNT}, the greatest round first:
 * of rows in the order of their keys. */
static const char *
see_groups(struct seen *seen, const char *body)
{
    int round, count;

    while (sscanf(body, "{\"round\":%d,\"count\":%d}", &round, &count) == 2) {
        if (seen->count == 0)
            seen->first = round;
        if (round < seen->first - 1)
            return "the rows are of different moments";
        seen->last = round;
        seen->count += count;
        body = strchr(body, '\n') + 1;
    }
    return strncmp(body, "{\"_end\":", 8) == 0 ? NULL
                                               : "the answer is not whole";
}

/* Checks an answer to a question that was asked after the round `asked` was
 * acknowledged, and was whole before the round after `latest` began. */
static const char *
check(enum question question, int asked, int latest, const char *body)
{
    struct seen seen = {.step = question == GROUP ? GROUPS : 1};
    const char *problem;

    if (question == GROUP)
        seen.next = asked % GROUPS;
    if (question == ONE)
        seen.next = -1;
    problem =
        question == COUNTS ? see_groups(&seen, body) : see_rows(&seen, body);
    if (problem != NULL)
        return problem;
    if (question == ONE && seen.count == 0)
        return latest > asked ? NULL : "no row is there";
    if (question == ONE && (seen.next != ROWS || seen.first != asked))
        return "a row at the end is missing";
    if (question != ONE &&
        seen.count != (question == GROUP ? ROWS / GROUPS : ROWS))
        return "rows are missing";
    return seen.last < asked || seen.first > latest ? "a moment that is not now"
                                                    : NULL;
}

static void
make_target(enum question question, int asked, char *target, size_t size)
{
    static const char *const formats[] = {
        [ALL] = "/find/rows?select=round",
        [GROUP] = "/find/rows?select=round&q=group%%3D%d",
        [SINCE] = "/find/rows?select=round&q=round%%3E%%3D%d",
        [ONE] = "/find/rows?select=round&q=round%%3D%d",
        [COUNTS] = "/group/rows?by=round&count&order=round:desc",
    };

    (void)snprintf(target, size, formats[question],
                   question == GROUP ? asked % GROUPS : asked);
}

static void *
read_on(void *context)
{
    struct reader *reader = context;
    struct readers *readers = reader->readers;

    for (unsigned i = reader->number; !atomic_load(&readers->is_over); i++) {
        const enum question question = (enum question)(i % QUESTIONS);
        const int asked = atomic_load(&readers->acknowledged);
        const char *problem = "no reply";
        char target[200];
        char *reply;

        make_target(question, asked, target, sizeof(target));
        reply = ask(reader, target);
        if (reply != NULL && reply_status(reply) == 200) {
            char *body = body_of(reply);

            if (strstr(reply, "Transfer-Encoding: chunked") == NULL ||
                unchunk(body))
                problem =
                    check(question, asked, atomic_load(&readers->begun), body);
        }
        if (problem != NULL)
            keep_failure(readers, target, problem, reply == NULL ? "" : reply);
        free(reply);
        atomic_fetch_add(&reader->answers, 1);
    }
    return NULL;
}

/* ----------------------------------------------------------------- test --- */

static bool
have_all_read(struct reader *all)
{
    for (size_t i = 0; i < READERS; i++) {
        if (atomic_load(&all[i].answers) == 0)
            return false;
    }
    return true;
}

TEST(each_answer_is_of_one_moment)
{
    static struct reader all[READERS];
    static struct readers readers;
    const char *seconds = getenv("COLANDER_SECONDS");
    const time_t end = time(NULL) + (seconds == NULL ? 0 : atoi(seconds));
    unsigned answers = 0;
    int round = 1;
    pid_t server;

    pthread_mutex_init(&readers.lock, NULL);
    temporary_make(readers.directory);
    (void)snprintf(readers.store, sizeof(readers.store), "%s/store",
                   readers.directory);
    load_round(&readers, 0, 60); /* creates the store */
    server = start_server(readers.store);
    for (unsigned i = 0; i < READERS; i++) {
        all[i].readers = &readers;
        all[i].number = i;
        ZERO(pthread_create(&all[i].thread, NULL, read_on, &all[i]));
    }
    while (!atomic_load(&readers.is_over) &&
           (round <= ROUNDS || time(NULL) < end || !have_all_read(all))) {
        load_round(&readers, round,
                   seconds != NULL && round % 8 == 0 ? LARGE_ROW : 60);
        round++;
    }
    atomic_store(&readers.is_over, true);
    for (unsigned i = 0; i < READERS; i++) {
        ZERO(pthread_join(all[i].thread, NULL));
        answers += atomic_load(&all[i].answers);
    }
    ZERO(kill(server, SIGTERM));
    await(server);
    temporary_remove(readers.directory);
    pthread_mutex_destroy(&readers.lock);
    if (readers.failure[0] != '\0')
        fail_msg("%s", readers.failure);
    printf("%u answers beside %d loads\n", answers, round - 1);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
