/*
 * Predicates of every kind, and what queries with them are as bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_COLUMNS_QUERY_SAMPLES_H
#define TESTS_COLUMNS_QUERY_SAMPLES_H

#include "columns/finds/predicate.h"
#include "support/random_rows.h"

#include <math.h>

static const struct colander_value some_values[] = {
    {.type = COLANDER_NULL},
    {.type = COLANDER_BOOLEAN, .boolean = true},
    {.type = COLANDER_INTEGER, .integer = INT64_MIN},
    {.type = COLANDER_UNSIGNED, .natural = UINT64_MAX},
    {.type = COLANDER_DOUBLE, .number = 0.1},
    {.type = COLANDER_DOUBLE, .number = INFINITY},
    {.type = COLANDER_DOUBLE, .number = NAN},
    {.type = COLANDER_STRING, .bytes = {(const uint8_t *)"\xc3\xa9\0t", 4}},
    {.type = COLANDER_BINARY, .bytes = {(const uint8_t *)"\xff\0", 2}},
    {.type = COLANDER_TIMESTAMP, .second = -1, .nanosecond = 999999999},
    {.type = COLANDER_EXTENSION,
     .extension_type = 7,
     .bytes = {(const uint8_t *)"abc", 3}},
};

/* What only UP_TO has: part of a text, and a value with no bytes. */
static const struct colander_value last_values[] = {
    {.type = COLANDER_STRING, .bytes = {(const uint8_t *)"\xc3", 1}},
    {.type = COLANDER_STRING, .bytes = {(const uint8_t *)"", 0}},
    {.type = COLANDER_ARRAY},
};

static struct colander_predicate *
search(const char *path, enum colander_search how, const char *text,
       unsigned flags)
{
    return colander_where_search(path, how, colander_slice_text(text), flags,
                                 NULL, why());
}

static struct colander_predicate *
joined(bool is_all, struct colander_predicate *one,
       struct colander_predicate *other)
{
    struct colander_predicate *const both[] = {one, other};

    return is_all ? colander_all_of(both, 2, why())
                  : colander_any_of(both, 2, why());
}

/* A query of each kind, and the row that its bytes are, as JSON. */
struct sample {
    struct colander_predicate *where; /* taken */
    const char *json;
};

static struct colander_predicate *
where(const char *path, enum colander_comparison comparison, int64_t integer)
{
    return colander_where(path, comparison, colander_integer(integer), why());
}

#define SAMPLES_MAX 64

static size_t
make_samples(struct sample samples[SAMPLES_MAX])
{
    const struct colander_value b = colander_text("b");
    const struct colander_value numbers[] = {
        colander_integer(1), colander_integer(2), colander_double(2.5),
        colander_integer(4)};
    const struct sample made[] = {
        {where("a", COLANDER_EQ, 1), "[\"compare\",\"a\",\"=\",1]"},
        {where("a", COLANDER_NE, 1), "[\"compare\",\"a\",\"!=\",1]"},
        {where("a", COLANDER_LT, 1), "[\"compare\",\"a\",\"<\",1]"},
        {where("a.b", COLANDER_LE, 1), "[\"compare\",\"a.b\",\"<=\",1]"},
        {where("a[]", COLANDER_GT, 1), "[\"compare\",\"a[]\",\">\",1]"},
        {where("", COLANDER_GE, 1), "[\"compare\",\"\",\">=\",1]"},
        {colander_where_null("a", why()), "[\"compare\",\"a\",\"=\",null]"},
        {colander_where_in("a", numbers, 4, why()), "[\"in\",\"a\",1,2,2.5,4]"},
        {colander_where_in("a", NULL, 0, why()), "[\"in\",\"a\"]"},
        {colander_where_between("a", numbers[0], numbers[2], why()),
         "[\"between\",\"a\",1,2.5]"},
        {colander_where_prefix("a", b, why()), "[\"prefix\",\"a\",\"b\"]"},
        {colander_where_contains("a", b, why()), "[\"contains\",\"a\",\"b\"]"},
        {search(NULL, COLANDER_SEARCH_WORDS, "b c*", 0),
         "[\"search\",null,\"words\",0,\"b c*\"]"},
        {search("a", COLANDER_SEARCH_PHRASE, "b c", COLANDER_SEARCH_NOT),
         "[\"search\",\"a\",\"phrase\",2,\"b c\"]"},
        {search("a", COLANDER_SEARCH_EQUAL, "B", COLANDER_SEARCH_ICASE),
         "[\"search\",\"a\",\"equal\",1,\"B\"]"},
        {search("a", COLANDER_SEARCH_BEGINS, "B",
                COLANDER_SEARCH_ICASE | COLANDER_SEARCH_NOT),
         "[\"search\",\"a\",\"begins\",3,\"B\"]"},
        {search(NULL, COLANDER_SEARCH_BEGINS, "B", 0),
         "[\"search\",null,\"begins\",0,\"B\"]"},
        {search("a", COLANDER_SEARCH_PIECE, "", 0),
         "[\"search\",\"a\",\"piece\",0,\"\"]"},
        {search("a", COLANDER_SEARCH_PATTERN, "b+", COLANDER_SEARCH_ICASE),
         "[\"search\",\"a\",\"pattern\",1,\"b+\"]"},
        {colander_where_exists("a", why()), "[\"exists\",\"a\"]"},
        {colander_where_missing("a", why()), "[\"missing\",\"a\"]"},
        {predicate_up_to("a", COLANDER_LE, numbers[0], why()),
         "[\"up_to\",\"a\",\"<=\",1]"},
        {predicate_up_to("a", COLANDER_GT, last_values[2], why()),
         "[\"up_to\",\"a\",\">\",[]]"},
        {predicate_outside("a", numbers, 2, why()),
         "[\"outside\",\"a\",1,2,2.5,4]"},
        {colander_where_any_column(b, why()), "[\"any\",\"b\"]"},
        {predicate_any_between(numbers[0], numbers[2], why()),
         "[\"any_between\",1,2.5]"},
        {joined(true, where("a", COLANDER_EQ, 1), where("b", COLANDER_EQ, 2)),
         "[\"compare\",\"a\",\"=\",1],[\"compare\",\"b\",\"=\",2],"
         "[\"all_of\",2]"},
        {joined(false, where("a", COLANDER_EQ, 1),
                colander_not(where("b", COLANDER_EQ, 2), why())),
         "[\"compare\",\"a\",\"=\",1],[\"compare\",\"b\",\"=\",2],[\"not\"],"
         "[\"any_of\",2]"},
        {colander_all_of(NULL, 0, why()), "[\"all_of\",0]"},
        {colander_any_of(NULL, 0, why()), "[\"any_of\",0]"},
    };
    size_t count = 0;

    for (size_t i = 0; i < COUNT(made); i++) {
        /* a library without patterns has no such predicate */
        if (made[i].where != NULL)
            samples[count++] = made[i];
        else
            assert_non_null(strstr(made[i].json, "\"pattern\""));
    }
    return count;
}

static void
drop_samples(struct sample samples[SAMPLES_MAX], size_t count)
{
    while (count > 0)
        colander_predicate_destroy(samples[--count].where);
}

/* One of the samples, or one with a value of any type. */
static struct colander_predicate *
any_leaf(uint64_t *random)
{
    const struct colander_value *value =
        &some_values[random_below(random, COUNT(some_values))];
    const struct colander_value *last =
        &last_values[random_below(random, COUNT(last_values))];
    struct colander_predicate *made;
    struct sample samples[SAMPLES_MAX];
    size_t count;
    size_t chosen;

    switch (random_below(random, 6)) {
    case 0:
        return random_leaf(random);
    case 1:
        return random_text_leaf(random);
    case 2:
        return predicate_up_to(
            random_path(random),
            COLANDER_LT + (enum colander_comparison)random_below(random, 4),
            random_below(random, 2) == 0 ? *value : *last, why());
    case 3:
        return colander_where_any_column(*value, why());
    case 4:
        return colander_where_in(
            random_path(random), value,
            1 + random_below(random, (uint64_t)(some_values +
                                                COUNT(some_values) - value)),
            why());
    default:
        count = make_samples(samples);
        chosen = random_below(random, count);
        made = samples[chosen].where;
        samples[chosen].where = NULL;
        drop_samples(samples, count);
        return made;
    }
}

#endif
