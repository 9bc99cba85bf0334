/*
 * Rows made from their number, and questions about them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_made.h"

#include <inttypes.h>
#include <stdlib.h>

/* What a way may take of a round, in seconds: once to warm, once measured. */
#define WAY_TIME_MAX 1.5

/* ---------------------------------------------------------------- rows --- */

uint64_t
bench_round_rows(uint64_t rows)
{
    if (rows < 1000)
        bench_fail("--rows", "this experiment needs 1000 or more");
    return rows - rows % 20;
}

void
bench_maker_init(struct bench_maker *maker, uint64_t rows)
{
    memset(maker, 0, sizeof(*maker));
    maker->rows = rows;
    maker->builder = colander_row_builder_create();
    if (maker->builder == NULL)
        bench_fail("rows", "no memory");
}

void
bench_maker_release(struct bench_maker *maker)
{
    colander_buffer_release(&maker->key);
    colander_row_builder_destroy(maker->builder);
}

static struct colander_value
key_of(uint64_t number)
{
    return colander_integer((int64_t)(bench_mix(8 * number) >> 1));
}

/* The value of group `group` in column group5; names look alike, as users'
 * names do, and are in no order. */
static struct colander_value
group5_of(uint64_t group, char *text, size_t size)
{
    (void)snprintf(text, size, "user%" PRIu64 "x%02x", group,
                   (unsigned)bench_mix(group) & 0xff);
    return colander_text(text);
}

/* Above all numbers in `likes`. */
static struct colander_value
group20_of(uint64_t group)
{
    return colander_integer((int64_t)(1000000 + group));
}

/* The group of a row when groups have `size` rows. */
static uint64_t
group_of(uint64_t number, uint64_t rows, uint64_t size)
{
    uint64_t groups = rows / size;

    return number / rows * groups + number % rows % groups;
}

void
bench_make(struct bench_maker *maker, uint64_t number,
           struct colander_slice *key, struct colander_slice *row)
{
    static const char *const languages[] = {"en", "pl", "de", "fr", "ja"};
    struct colander_row_builder *builder = maker->builder;
    struct colander_value part = key_of(number);
    struct colander_error err;
    char user[40];
    char text[40];

    bench_check(colander_key_encode(&part, 1, &maker->key, &err), &err);
    *key = colander_buffer_slice(&maker->key);
    (void)snprintf(text, sizeof(text), "text %016" PRIx64,
                   bench_mix(8 * number + 1));
    colander_row_builder_add(
        builder, "id",
        colander_integer((int64_t)(bench_mix(8 * number + 2) >> 1)));
    colander_row_builder_add(
        builder, "group5",
        group5_of(group_of(number, maker->rows, 5), user, sizeof(user)));
    colander_row_builder_add(
        builder, "lang",
        colander_text(languages[bench_mix(8 * number + 3) % 5]));
    colander_row_builder_add(
        builder, "likes",
        colander_integer((int64_t)(bench_mix(8 * number + 4) % 1000)));
    colander_row_builder_add(builder, "group20",
                             group20_of(group_of(number, maker->rows, 20)));
    colander_row_builder_add(builder, "text", colander_text(text));
    bench_check(colander_row_builder_finish(builder, row, &err), &err);
}

void
bench_rows_make_grouped(struct bench_rows *rows, uint64_t count)
{
    struct bench_maker maker;
    struct colander_error err;

    memset(rows, 0, sizeof(*rows));
    rows->count = count;
    rows->offsets = bench_allocate(2 * count + 1, sizeof(*rows->offsets));
    bench_maker_init(&maker, count);
    for (uint64_t i = 0; i < count; i++) {
        struct colander_slice key;
        struct colander_slice row;

        bench_make(&maker, i, &key, &row);
        bench_check(
            colander_buffer_append(&rows->bytes, key.data, key.size, &err),
            &err);
        rows->offsets[2 * i + 1] = rows->bytes.size;
        bench_check(
            colander_buffer_append(&rows->bytes, row.data, row.size, &err),
            &err);
        rows->offsets[2 * i + 2] = rows->bytes.size;
    }
    bench_maker_release(&maker);
}

/* ----------------------------------------------------------- questions --- */

void
bench_question_make(struct bench_question *question, enum bench_kind kind,
                    uint64_t rows, uint64_t number)
{
    uint64_t random = bench_mix(number ^ UINT64_C(0x5eed) << 40);

    memset(question, 0, sizeof(*question));
    question->path = kind == BENCH_ANY ? NULL : "group5";
    question->expected = 5;
    switch (kind) {
    case BENCH_FIVE:
    case BENCH_ANY:
        question->value = group5_of(random % (rows / 5), question->text,
                                    sizeof(question->text));
        break;
    case BENCH_TWENTY:
        question->path = "group20";
        question->value = group20_of(random % (rows / 20));
        question->expected = 20;
        break;
    case BENCH_ABSENT: /* a group that no row has, nor any made later */
        question->value = group5_of(random >> 8 | UINT64_C(1) << 56,
                                    question->text, sizeof(question->text));
        question->expected = 0;
        break;
    case BENCH_KEY:
        question->key = key_of(random % rows);
        question->expected = 1;
        break;
    }
}

/* Asks all questions of a way `repeats` times; microseconds for each. */
static double
ask(const struct bench_way *way, unsigned repeats)
{
    struct bench_question question;
    uint64_t asked = 0;
    double spent = 0;

    for (unsigned repeat = 0; repeat < repeats; repeat++) {
        for (uint64_t i = 0; i < way->questions; i++) {
            uint64_t found;
            double start;

            if (spent > WAY_TIME_MAX)
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

void
bench_measure(struct bench_way *ways, size_t count, unsigned rounds)
{
    for (size_t i = 0; i < count; i++)
        ways[i].times = bench_allocate(rounds, sizeof(*ways[i].times));
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            struct bench_way *way = &ways[(i + round) % count];

            bench_progress("round %u of %u: %s", round + 1, rounds, way->name);
            (void)ask(way, 1);
            way->times[round] = ask(way, way->repeats);
        }
    }
    bench_progress("%s", "");
}

void
bench_ways_release(struct bench_way *ways, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(ways[i].times);
}
