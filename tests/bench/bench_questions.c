/*
 * Questions about generated rows.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_questions.h"

/* The time of a way in a round, in seconds: once to warm, once measured. Less
 * for few rows, to finish soon. */
#define WAY_TIME_MAX 1.5
#define WAY_TIME_OF_ROW 10e-6

void
bench_question_make(struct bench_question *question, enum bench_kind kind,
                    uint64_t rows, uint64_t number)
{
    uint64_t random = bench_mix(number ^ UINT64_C(0x5eed) << 40);

    memset(question, 0, sizeof(*question));
    question->path = "group5";
    question->expected = 5;
    switch (kind) {
    case BENCH_FIVE:
    case BENCH_ANY:
        question->value =
            bench_made_group5(random % (rows / 5), question->text);
        break;
    case BENCH_ONE:
    case BENCH_ANY_ONE:
        question->path = "id";
        question->value = bench_made_id(random % rows);
        question->expected = 1;
        break;
    case BENCH_THOUSAND:
    case BENCH_ANY_THOUSAND:
        question->path = "group1000";
        question->value = bench_made_group1000(random % (rows / 1000));
        question->expected = 1000;
        break;
    case BENCH_TWENTY:
    case BENCH_ANY_TWENTY:
        question->path = "group20";
        question->value = bench_made_group20(random % (rows / 20));
        question->expected = 20;
        break;
    case BENCH_ABSENT: /* a group that no row has or gets */
        question->value =
            bench_made_group5(random >> 8 | UINT64_C(1) << 56, question->text);
        question->expected = 0;
        break;
    case BENCH_KEY:
        question->key = bench_made_key(random % rows);
        question->expected = 1;
        break;
    }
    if (kind >= BENCH_ANY)
        question->path = NULL;
}

/* Asks all questions of a way `repeats` times. Returns microseconds for one. */
static double
ask(const struct bench_way *way, unsigned repeats)
{
    const double time = WAY_TIME_OF_ROW * (double)way->rows;
    struct bench_question question;
    uint64_t asked = 0;
    double spent = 0;

    for (unsigned repeat = 0; repeat < repeats; repeat++) {
        for (uint64_t i = 0; i < way->questions; i++) {
            uint64_t found;
            double start;

            if (spent > (time < WAY_TIME_MAX ? time : WAY_TIME_MAX))
                return spent / (double)asked * 1e6;
            bench_question_make(&question, way->kind, way->rows, i);
            start = bench_now();
            found = way->answer(way->context, &question);
            spent += bench_now() - start;
            asked++;
            if (found != question.expected)
                bench_fail(way->name, "found a wrong number of rows");
        }
    }
    return spent / (double)asked * 1e6;
}

/* Warms, and measures. */
static void
take_turn(void *context, unsigned number, double times[BENCH_TIMES])
{
    const struct bench_way *way = (const struct bench_way *)context + number;

    (void)ask(way, 1);
    times[0] = ask(way, way->repeats);
}

void
bench_measure(struct bench_turns *turns, unsigned rounds,
              struct bench_way *ways, unsigned count)
{
    bench_turns_take(turns, rounds, count, take_turn, ways);
}
