/*
 * Assignments: words COL=VALUE as patches, and mistakes at their place.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/columns.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/scoped.h"

#include <stdio.h>

#define WORDS_MAX 6

struct words {
    const char *set[WORDS_MAX];
    const char *unset[WORDS_MAX];
};

static size_t
count_words(const char *const *words)
{
    size_t count = 0;

    while (count < WORDS_MAX && words[count] != NULL)
        count++;
    return count;
}

static enum colander_code
read_words(const struct words *words, struct colander_buffer *patch,
           struct colander_fault *fault)
{
    return colander_patch_words(words->set, count_words(words->set),
                                words->unset, count_words(words->unset), patch,
                                fault, why());
}

/* Asserts that the patch is `json`. */
static void
assert_patch(const struct words *words, const char *json)
{
    SCOPED_BUFFER patch = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;
    struct colander_value value = {.type = COLANDER_MAP};

    OK(read_words(words, &patch, NULL));
    value.bytes = colander_buffer_slice(&patch);
    OK(colander_json_append_value(&text, &value, NULL));
    OK(colander_buffer_append(&text, "", 1, NULL));
    assert_string_equal((char *)text.data, json);
}

TEST(words_are_a_patch)
{
    const struct {
        struct words words;
        const char *json;
    } cases[] = {
        {{{NULL}, {NULL}}, "{}"},
        {{{"a=1"}, {NULL}}, "{\"a\":1}"},
        {{{"a=1e2", "b=true", "c=one", "d=\"1\"", "e="}, {NULL}},
         "{\"a\":100.0,\"b\":true,\"c\":\"one\",\"d\":\"1\",\"e\":\"\"}"},
        {{{"a=x=y"}, {NULL}}, "{\"a\":\"x=y\"}"},
        {{{"a=\"a+1\"", "b=a+1", "c=cat"}, {NULL}},
         "{\"a\":\"a+1\",\"b\":\"a+1\",\"c\":\"cat\"}"},
        {{{"a\\=b=c"}, {NULL}}, "{\"a=b\":\"c\"}"},
        {{{"a<b=c"}, {NULL}}, "{\"a<b\":\"c\"}"},
        {{{"a\\.b=c"}, {NULL}}, "{\"a.b\":\"c\"}"},
        {{{NULL}, {"b", "a.c"}}, "{\"a\":{\"c\":null},\"b\":null}"},
        {{{"p.b=1", "a=2", "p.a=3"}, {"p.c.d"}},
         "{\"a\":2,\"p\":{\"a\":3,\"b\":1,\"c\":{\"d\":null}}}"},
        {{{"a.b.c=1", "a.d=2", "e.f=3"}, {NULL}},
         "{\"a\":{\"b\":{\"c\":1},\"d\":2},\"e\":{\"f\":3}}"},
        {{{"t=[1,{\"x\":[]},null]", "m={\"k\":\"v\"}"}, {NULL}},
         "{\"m\":{\"k\":\"v\"},\"t\":[1,{\"x\":[]},null]}"},
        {{{"at=2015-03-24"}, {NULL}}, "{\"at\":\"2015-03-24\"}"},
        {{{"at=@2015-03-24"}, {NULL}}, "{\"at\":\"2015-03-24T00:00:00Z\"}"},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_patch(&cases[i].words, cases[i].json);
}

/* Only a time after @ is a timestamp; JSON shows no difference. */
TEST(a_time_after_at_is_a_timestamp)
{
    const struct words words = {{"a=2015-03-24", "b=@2015-03-24"}, {NULL}};
    SCOPED_BUFFER patch = COLANDER_BUFFER_EMPTY;
    struct colander_value value;
    bool found;

    OK(read_words(&words, &patch, NULL));
    OK(colander_row_get(colander_buffer_slice(&patch), "a", &value, &found,
                        NULL));
    assert_int_equal(value.type, COLANDER_STRING);
    OK(colander_row_get(colander_buffer_slice(&patch), "b", &value, &found,
                        NULL));
    assert_int_equal(value.type, COLANDER_TIMESTAMP);
}

TEST(a_mistake_is_reported_at_its_word)
{
    const struct {
        struct words words;
        struct colander_fault fault;
    } cases[] = {
        {{{"a=1", "b"}, {NULL}}, {1, 1}},
        {{{"=1"}, {NULL}}, {0, 0}},
        {{{"a=null"}, {NULL}}, {0, 2}},
        {{{"a==1"}, {NULL}}, {0, 2}},
        {{{"a=[1,]"}, {NULL}}, {0, 5}},
        {{{"b=a+1", "a=a+1"}, {NULL}}, {1, 2}},
        {{{"ab=ab - 1"}, {NULL}}, {0, 3}},
        {{{"a={\"b\":1"}, {NULL}}, {0, 8}},
        {{{"a[]=1"}, {NULL}}, {0, 0}},
        {{{"a=1", "b=2"}, {"c[].d"}}, {2, 0}},
        {{{"a=1", "b=2", "a=3"}, {NULL}}, {2, 0}},
        {{{"a.b=1"}, {"a"}}, {1, 0}},
        {{{"a=1", "a.b.c=2"}, {NULL}}, {1, 0}},
        {{{"a.b.c=1", "a.bc=2"}, {"a.b"}}, {2, 0}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        SCOPED_BUFFER patch = COLANDER_BUFFER_EMPTY;
        struct colander_fault fault;

        FAILS(read_words(&cases[i].words, &patch, &fault), COLANDER_INVALID);
        assert_int_equal(fault.word, cases[i].fault.word);
        assert_int_equal(fault.offset, cases[i].fault.offset);
        assert_int_equal(patch.size, 0);
    }
}

TEST(the_key_cannot_be_set)
{
    const struct words set = {{"_key=1"}, {NULL}};
    SCOPED_BUFFER patch = COLANDER_BUFFER_EMPTY;

    FAILS(read_words(&set, &patch, NULL), COLANDER_INVALID);
}

/* Whether one of the paths is another one, or leads into it. */
static bool
collide(const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++) {
            const size_t size = strlen(paths[i]);

            if (i != k && strncmp(paths[i], paths[k], size) == 0 &&
                (paths[k][size] == '\0' || paths[k][size] == '.'))
                return true;
        }
    }
    return false;
}

/* Each path is set to its number, in any order; the patch has that number at
 * that path. */
TEST(each_assignment_is_in_the_patch)
{
    static const char *const names[] = {
        "a", "b", "a.b", "a.c", "a.c.d", "b.a.a.a", "b.a.b", "c", "a.b.c.d"};
    uint64_t *random = random_state();

    for (uint64_t run = random_runs(2000); run > 0; run--) {
        SCOPED_BUFFER patch = COLANDER_BUFFER_EMPTY;
        struct words words = {{NULL}, {NULL}};
        char texts[WORDS_MAX][20];
        const char *chosen[WORDS_MAX];
        size_t count = 1 + random_below(random, WORDS_MAX - 1);

        for (size_t i = 0; i < count; i++) {
            chosen[i] = names[random_below(random, COUNT(names))];
            snprintf(texts[i], sizeof(texts[i]), "%s=%zu", chosen[i], i);
            words.set[i] = texts[i];
        }
        if (collide(chosen, count)) {
            FAILS(read_words(&words, &patch, NULL), COLANDER_INVALID);
            continue;
        }
        OK(read_words(&words, &patch, NULL));
        OK(colander_row_check(colander_buffer_slice(&patch), NULL));
        for (size_t i = 0; i < count; i++) {
            struct colander_value value;
            bool found;

            OK(colander_row_get(colander_buffer_slice(&patch), chosen[i],
                                &value, &found, NULL));
            assert_true(found && value.integer == (int64_t)i);
        }
    }
}
