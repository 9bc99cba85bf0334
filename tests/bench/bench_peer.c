/*
 * How a peer is measured.
 *
 * Questions are asked twice, the first time so that what they read is in
 * memory. Slow ones are asked a few times, or once.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_peer.h"
#include "bench_store.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#define ASKING 1.5          /* seconds for all questions of a kind, at most; */
#define ASKING_OF_ROW 10e-6 /* less for few rows, to be done soon */
#define ASKED_MIN 3         /* questions, even if they take longer; */
#define SLOW 4.0            /* but if one takes that long, it is the only one */

static uint64_t directory_size; /* nftw has no context */

static int
add_size(const char *path, const struct stat *status, int kind,
         struct FTW *place)
{
    (void)path;
    (void)place;
    if (kind == FTW_F)
        directory_size += (uint64_t)status->st_size;
    return 0;
}

static uint64_t
size_of(const char *path)
{
    directory_size = 0;
    if (nftw(path, add_size, 16, FTW_PHYS) != 0)
        bench_fail("cannot find the size of", path);
    return directory_size;
}

/* -------------------------------------------------------------- asking --- */

struct measuring {
    const struct bench_peer *peer;
    const struct bench_peer_way *way;
    const struct bench_work *work;
    void *it;
};

static void
prepare(const struct measuring *measuring, enum bench_work_kind kind)
{
    if (measuring->peer->prepare != NULL)
        measuring->peer->prepare(measuring->it,
                                 &measuring->work->kinds[kind].questions[0]);
}

/* Seconds for a right answer. */
static double
ask(const struct measuring *measuring,
    const struct bench_work_question *question)
{
    const double start = bench_now();
    const uint64_t found = measuring->peer->ask(measuring->it, question);
    const double elapsed = bench_now() - start;
    char text[1000];

    if (found == question->expected)
        return elapsed;
    (void)snprintf(text, sizeof(text),
                   "%s: '%.500s': %" PRIu64 " rows instead of %" PRIu64,
                   question->column == NULL ? "any column" : question->column,
                   question->value, found, question->expected);
    bench_fail(measuring->way->name, text);
}

static double
seconds_of_asking(const struct bench_work *work)
{
    const double seconds = ASKING_OF_ROW * (double)work->row_count;

    return seconds < ASKING ? seconds : ASKING;
}

/* Asks questions for a third of the time, and returns how many there can be. */
static size_t
warm(const struct measuring *measuring,
     const struct bench_work_questions *questions)
{
    const double end = bench_now() + seconds_of_asking(measuring->work) / 3;
    size_t count = 1; /* was asked before */

    while (count < questions->count && bench_now() < end)
        (void)ask(measuring, &questions->questions[count++]);
    return count;
}

/* The middle, in microseconds. */
static double
ask_kind(const struct measuring *measuring, enum bench_work_kind kind)
{
    const struct bench_work_questions *questions =
        &measuring->work->kinds[kind];
    double times[BENCH_WORK_QUESTIONS_MAX];
    double first;
    double end;
    size_t warmed;
    size_t count = 0;

    bench_progress("%s, %s: question %u of %u", measuring->work->name,
                   measuring->way->name, kind + 1, BENCH_WORK_KINDS);
    prepare(measuring, kind);
    first = ask(measuring, &questions->questions[0]);
    if (first > SLOW)
        return first * 1e6;
    warmed = warm(measuring, questions);
    end = bench_now() + seconds_of_asking(measuring->work);
    while (count < questions->count &&
           (count < ASKED_MIN || (count < warmed && bench_now() < end))) {
        times[count] = ask(measuring, &questions->questions[count]);
        count++;
    }
    return bench_median(times, count) * 1e6;
}

/* ----------------------------------------------------------- measuring --- */

static double
load(const struct measuring *measuring)
{
    const double start = bench_now();

    bench_progress("%s, %s: loading", measuring->work->name,
                   measuring->way->name);
    measuring->peer->load(measuring->it, measuring->work->lines_path);
    if (measuring->peer->index != NULL)
        measuring->peer->index(measuring->it);
    return bench_now() - start;
}

/* Loads later rows and asks for them, first without and then with an index. */
static void
measure_added(const struct measuring *measuring, double *values)
{
    const struct bench_work *work = measuring->work;
    double start = bench_now();

    measuring->peer->load(measuring->it, work->later_path);
    prepare(measuring, BENCH_WORK_ADDED);
    (void)ask(measuring, &work->kinds[BENCH_WORK_ADDED].questions[0]);
    values[BENCH_PEER_FIRST] = bench_now() - start;
    start = bench_now();
    if (measuring->peer->add_column != NULL &&
        measuring->peer->add_column(measuring->it, BENCH_WORK_ADDED_COLUMN))
        values[BENCH_PEER_ADDING] = bench_now() - start;
}

static void
measure(const struct measuring *measuring, const char *directory,
        double *values)
{
    const struct bench_peer *peer = measuring->peer;

    values[BENCH_PEER_LOAD] = load(measuring);
    bench_progress("%s, %s: settling", measuring->work->name,
                   measuring->way->name);
    if (peer->settle != NULL)
        peer->settle(measuring->it);
    values[BENCH_PEER_SIZE] =
        (double)(peer->size == NULL ? size_of(directory)
                                    : peer->size(measuring->it));
    for (enum bench_work_kind kind = 0; kind < BENCH_WORK_KINDS; kind++) {
        if (measuring->work->kinds[kind].count == 0)
            continue;
        if (kind == BENCH_WORK_ADDED)
            measure_added(measuring, values);
        values[BENCH_PEER_ASKED + kind] = ask_kind(measuring, kind);
    }
}

const char *
bench_peer_measure(const struct bench_peer *peer,
                   const struct bench_peer_way *way,
                   const struct bench_work *work, const char *directory,
                   struct bench_peer_figures *figures)
{
    struct measuring measuring = {peer, way, work, NULL};
    const char *reason = NULL;

    memset(figures, 0, sizeof(*figures));
    figures->name = way->name;
    figures->is_server = peer->is_server;
    measuring.it = peer->open(directory, work, way, &reason);
    if (measuring.it == NULL)
        return reason;
    measure(&measuring, directory, figures->values);
    peer->close(measuring.it);
    bench_progress("%s", "");
    return NULL;
}

/* ----------------------------------------------------------- predicates --- */

struct colander_predicate *
bench_peer_predicate(const struct bench_work_question *question)
{
    const struct colander_value value = colander_text(question->value);
    struct colander_buffer path = COLANDER_BUFFER_EMPTY;
    struct colander_predicate *predicate;

    if (question->column == NULL) {
        predicate = colander_where_any_column(value, &bench_error);
    } else {
        bench_check(colander_path_append_name(
            &path, colander_slice_text(question->column), &bench_error));
        bench_append(&path, "", 1);
        if (question->how == BENCH_WORK_FROM_TO)
            predicate = colander_where_between(
                (const char *)path.data,
                colander_integer(strtoll(question->value, NULL, 10)),
                colander_integer(strtoll(question->to, NULL, 10)),
                &bench_error);
        else if (question->how == BENCH_WORK_EQUAL)
            predicate = colander_where((const char *)path.data, COLANDER_EQ,
                                       value, &bench_error);
        else
            predicate = colander_where_search(
                (const char *)path.data,
                question->how == BENCH_WORK_HAS_PIECE ? COLANDER_SEARCH_PIECE
                                                      : COLANDER_SEARCH_PHRASE,
                value.bytes, 0, NULL, &bench_error);
        colander_buffer_release(&path);
    }
    return bench_sound(predicate);
}

bool
bench_peer_matches(const struct colander_predicate *predicate,
                   struct colander_slice row)
{
    bool is_match;

    bench_check(colander_predicate_evaluate(predicate, row, &is_match, NULL,
                                            &bench_error));
    return is_match;
}

void
bench_print_quoted(struct colander_buffer *statement, const char *text,
                   size_t size)
{
    for (size_t i = 0; i < size; i++)
        bench_print(statement, text[i] == '\'' ? "'%c" : "%c", text[i]);
}
