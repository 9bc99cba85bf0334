/*
 * Words, and parts of words, that a search requires: each text in which it
 * finds something has them. So filters that know the words of texts deny none.
 *
 * COLANDER_SEED repeats a run. COLANDER_RUNS sets the number of texts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/candidates.h"
#include "columns/search.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/scoped.h"

#include <stdio.h>

#define TEXT_MAX 400
#define PIECES_OF_A_TEXT 12

/* Parts of texts: of each class, of several sizes, that change size when they
 * are folded, and that are no characters. */
static const char *const parts[] = {
    " rain ", " AB ",   " ab! ",  " rain K ",   "\u0130", "\u0130",
    "a",      "b",      "K",      "s",          "ab",     "Rain",
    "rain",   "_",      "7",      "\u00e9",     "\u00c9", "\u212a",
    "\u017f", "\u023a", "\u2c65", "\u0345",     "\u03b9", "\u0399",
    "\u1fbe", "\u0301", "\u0e34", "\u4eac",     "\u90fd", "\u5927",
    "\u30ab", "\u0e01", "\u0e02", "\U00020000", " ",      " ",
    " ",      "!",      ". ",     "\u3002",     "\u200b", "\U0001f600",
    "\xff",   "\x80",   "\xc3",   "\xe4\xba",   "\n",
};

static size_t
draw_text(uint64_t *random, char text[TEXT_MAX])
{
    size_t size = 0;

    for (uint64_t i = random_below(random, 24); i > 0; i--) {
        const char *part = parts[random_below(random, COUNT(parts))];

        if (size + strlen(part) > TEXT_MAX)
            break;
        memcpy(text + size, part, strlen(part));
        size += strlen(part);
    }
    if (random_below(random, 40) == 0 && size < 40)
        while (size < TEXT_MAX - 1) {
            text[size] = "abK"[size % 3];
            size++;
        }
    return size;
}

struct words {
    uint64_t hashes[TEXT_MAX]; /* of those that are not all of the text */
    size_t count;
    const struct search_term *term; /* that is looked for; or NULL */
    bool has_term;
};

/* Whether a word has the term, as a dictionary would say. */
static bool
word_has(const struct text_word *word, const struct search_term *term)
{
    char text[TEXT_MAX + 2] = {0};

    if (term->begins && term->ends)
        return word->hash == text_word_hash(term->piece);
    memcpy(text + 1, word->folded.data, word->folded.size);
    return word->folded.size == 0 || /* it is not in the dictionary */
           memmem(text, word->folded.size + 2, term->piece.data - term->begins,
                  term->begins + term->piece.size + term->ends) != NULL;
}

static void
add_word(void *context, const struct text_word *word)
{
    struct words *words = context;

    if (!word->is_value)
        words->hashes[words->count++] = word->hash;
    if (words->term != NULL)
        words->has_term |= word_has(word, words->term);
}

static bool
has_term(struct colander_slice text, const struct search_term *term)
{
    struct words words = {.term = term};

    text_words(text, add_word, &words);
    return words.has_term;
}

#define KINDS ((unsigned)COLANDER_SEARCH_PATTERN + 1)

struct counts {
    uint64_t found[KINDS];
    uint64_t required[KINDS];
    uint64_t pieces[KINDS]; /* of these, of parts of words */
    uint64_t pruned[KINDS];
};

/* Creates a pattern; NULL: it is none, or there are no patterns. */
static struct search *
draw_pattern(uint64_t *random)
{
    static const char *const pieces[] = {
        "rain",  "K",          "s",        "ab",     "a",      " ",
        " ",     "!",          "\\.",      "[ab]",   ".*",     "\\s+",
        "a+",    "b",          "^",        "$",      "\\b",    "(rain|ab)",
        "( b)?", "\u0130",     "\\x{130}", "\u212a", " rain ", " ab ",
        " ab! ", " (rain|K) ",
    };
    char text[TEXT_MAX] = "";
    struct search *search;
    size_t offset;

    for (uint64_t i = 1 + random_below(random, 5); i > 0; i--)
        strcat(text, pieces[random_below(random, COUNT(pieces))]);
    if (search_create(COLANDER_SEARCH_PATTERN, colander_slice_text(text),
                      random_below(random, 2) == 0, &search, &offset,
                      NULL) != COLANDER_OK)
        return NULL;
    return search;
}

/* Creates a search for a piece of a text; NULL: there are no words in it. */
static struct search *
draw_search(uint64_t *random, const char *text, size_t size,
            enum colander_search how)
{
    const size_t from =
        random_below(random, 3) ? random_below(random, size + 1) : 0;
    size_t count = random_below(random, size - from + 1);
    char sought[TEXT_MAX + 1];
    struct search *search;
    size_t offset;

    memcpy(sought, text + from, count);
    if (random_below(random, 4) == 0)
        count = size - from, memcpy(sought, text + from, count);
    for (size_t i = 0; i < count; i++) {
        if (random_below(random, 8) == 0 && sought[i] >= 'a' &&
            sought[i] <= 'z')
            sought[i] = (char)(sought[i] - 'a' + 'A');
    }
    if (random_below(random, 8) == 0)
        sought[count++] = '*';
    if (search_create(how, colander_slice_of(sought, count),
                      random_below(random, 2) == 0, &search, &offset,
                      NULL) != COLANDER_OK)
        return NULL;
    return search;
}

static void
compare(const struct search *search, enum colander_search how,
        struct colander_slice text, struct counts *counts)
{
    const struct search_term *terms;
    bool has_all = true;
    bool has_one = true;
    bool is_found;
    size_t count;

    OK(search_text(search, text, &is_found, NULL));
    terms = search_terms(search, &count);
    for (size_t i = 0; i < count; i++) {
        const bool has = has_term(text, &terms[i]);

        assert_true(i > 0 || !terms[i].is_other);
        has_one = has || (terms[i].is_other && has_one);
        counts->required[how] += is_found;
        counts->pieces[how] += is_found && !(terms[i].begins && terms[i].ends);
        if (i + 1 == count || !terms[i + 1].is_other)
            has_all = has_all && has_one;
    }
    assert_true(has_all || !is_found);
    counts->found[how] += is_found;
    counts->pruned[how] += !has_all;
}

TEST(texts_that_are_found_have_the_words_that_are_required)
{
    uint64_t random = random_seed(__func__);
    struct counts counts = {.found = {0}};
    bool has_patterns = false;
    char text[TEXT_MAX];
    char other[TEXT_MAX];

    for (uint64_t runs = random_runs(15000); runs > 0; runs--) {
        const struct colander_slice one =
            colander_slice_of(text, draw_text(&random, text));
        const struct colander_slice two =
            colander_slice_of(other, draw_text(&random, other));

        for (unsigned i = 0; i < PIECES_OF_A_TEXT; i++) {
            const enum colander_search how =
                (enum colander_search)random_below(&random, KINDS);
            struct search *search =
                how == COLANDER_SEARCH_PATTERN
                    ? draw_pattern(&random)
                    : draw_search(&random, text, one.size, how);

            if (search == NULL)
                continue;
            has_patterns |= how == COLANDER_SEARCH_PATTERN;
            compare(search, how, one, &counts);
            compare(search, how, two, &counts);
            search_destroy(search);
        }
    }
    for (unsigned how = 0;
         how < (has_patterns ? KINDS : COLANDER_SEARCH_PATTERN); how++) {
        printf("search %u: %" PRIu64 " found, of %" PRIu64
               " words, of which %" PRIu64 " are parts; %" PRIu64
               " ruled out\n",
               how, counts.found[how], counts.required[how], counts.pieces[how],
               counts.pruned[how]);
        assert_true(counts.found[how] > 0 && counts.required[how] > 0 &&
                    counts.pruned[how] > 0);
        assert_true(how == COLANDER_SEARCH_EQUAL || counts.pieces[how] > 0);
    }
}

/* A hash of a word is in files. */
TEST(words_have_these_hashes)
{
    struct words words = {.count = 0};
    struct words none = {.count = 0};

    text_words(colander_slice_text("Rain \u00c9T\u00c9"), add_word, &words);
    assert_int_equal(words.count, 2);
    assert_int_equal(words.hashes[0],
                     text_word_hash(colander_slice_text("rain")));
    assert_int_equal(words.hashes[1],
                     text_word_hash(colander_slice_text("\u00e9t\u00e9")));
    assert_int_equal(words.hashes[0], UINT64_C(0xdc98ea5d57f928b0));
    text_words(colander_slice_text("rain"), add_word, &none);
    assert_int_equal(none.count, 0);
    text_words(colander_slice_text("Rain"), add_word, &none);
    assert_int_equal(none.count, 1);
}
