/*
 * Answers questions about texts for compare_texts.py: a question and an answer
 * are a line each. Texts are in hex, and "-" is the empty one.
 *
 *     fold TEXT              -> TEXT
 *     tokens TEXT            -> TEXT[us][j] ...  folded; u: unspaced, j: joined
 *     HOW FLAGS SOUGHT TEXT  -> yes, no, invalid or limit
 *
 * HOW is words, phrase, equal, begins, piece or pattern.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/columns.h"
#include "columns/search.h"
#include "columns/tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"words",  "phrase", "equal",
                                    "begins", "piece",  "pattern"};

static void
require(bool claim, const char *what)
{
    if (!claim) {
        fprintf(stderr, "answer_texts: %s\n", what);
        exit(2);
    }
}

/* Replaces the hex text by its bytes. */
static struct colander_slice
text_of(char *hex)
{
    size_t size = 0;

    for (const char *at = hex; at[0] != '-' && at[0] != '\0'; at += 2) {
        unsigned byte;

        require(sscanf(at, "%2x", &byte) == 1, "not hex");
        hex[size++] = (char)byte;
    }
    return colander_slice_of(hex, size);
}

static void
print_hex(struct colander_slice text)
{
    for (size_t i = 0; i < text.size; i++)
        printf("%02x", text.data[i]);
    if (text.size == 0)
        printf("-");
}

static void
print_folded(struct colander_slice text)
{
    struct colander_buffer folded = COLANDER_BUFFER_EMPTY;

    require(fold_append(&folded, text, NULL) == COLANDER_OK, "no memory");
    print_hex(colander_buffer_slice(&folded));
    colander_buffer_release(&folded);
}

static void
print_tokens(struct colander_slice text)
{
    struct tokens tokens = tokens_of(text);
    struct token token;

    while (tokens_next(&tokens, &token)) {
        print_folded(token.text);
        printf("%s%s ", token.is_unspaced ? "u" : "",
               token.is_joined ? "j" : "");
    }
}

/* The answer of a predicate on a row with the text in a column, in any. */
static void
print_answer(const char *how, unsigned flags, struct colander_slice sought,
             struct colander_slice text)
{
    struct colander_row_builder *builder = colander_row_builder_create();
    struct colander_predicate *predicate;
    struct colander_slice row;
    struct colander_error err;
    bool is_match = false;
    int kind = 0;

    while (strcmp(kinds[kind], how) != 0)
        require(++kind < 6, "no such question");
    colander_row_builder_add(builder, "a", colander_string(text));
    require(colander_row_builder_finish(builder, &row, &err) == COLANDER_OK,
            err.message);
    predicate = colander_where_search("a", (enum colander_search)kind, sought,
                                      flags, NULL, &err);
    if (predicate == NULL)
        printf(err.code == COLANDER_INVALID ? "invalid" : "limit");
    else if (colander_predicate_evaluate(predicate, row, &is_match, NULL,
                                         &err) == COLANDER_OK)
        printf(is_match ? "yes" : "no");
    colander_predicate_destroy(predicate);
    colander_row_builder_destroy(builder);
}

static void
answer(char *line)
{
    char *at = line;
    const char *how = strsep(&at, " ");

    if (strcmp(how, "fold") == 0) {
        print_folded(text_of(at));
    } else if (strcmp(how, "tokens") == 0) {
        print_tokens(text_of(at));
    } else {
        const unsigned flags = (unsigned)atoi(strsep(&at, " "));
        const struct colander_slice sought = text_of(strsep(&at, " "));

        print_answer(how, flags, sought, text_of(at));
    }
    printf("\n");
}

int
main(void)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size;

    while ((size = getline(&line, &room, stdin)) > 0) {
        line[size - 1] = '\0';
        answer(line);
    }
    free(line);
    return 0;
}
