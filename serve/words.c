/* See words.h. SPDX-License-Identifier: MIT */
#include "serve/words.h"

#include <stdlib.h>

/* Where the splitting is. */
struct split {
    struct words *words;
    const char *from;
    size_t at;   /* in `from` */
    size_t size; /* of the text that was written */
};

static void
put(struct split *split, char byte)
{
    split->words->places[split->size] = split->at;
    split->words->text[split->size++] = byte;
}

/* Takes a part in quotes. Returns false if it does not end. */
static bool
take_quoted(struct split *split, char quote)
{
    const char *from = split->from;

    for (split->at++; from[split->at] != quote; split->at++) {
        if (quote == '"' && from[split->at] == '\\' &&
            (from[split->at + 1] == '"' || from[split->at + 1] == '\\'))
            split->at++;
        if (from[split->at] == '\0')
            return false;
        put(split, from[split->at]);
    }
    split->at++;
    return true;
}

static bool
is_blank(char character)
{
    return character == ' ' || (character >= '\t' && character <= '\r');
}

static enum colander_code
take_word(struct split *split, size_t *offset, struct colander_error *err)
{
    const char *from = split->from;

    split->words->words[split->words->count++] =
        split->words->text + split->size;
    while (from[split->at] != '\0' && !is_blank(from[split->at])) {
        const char first = from[split->at];

        *offset = split->at;
        if (first == '\'' || first == '"') {
            if (!take_quoted(split, first))
                return COLANDER_FAIL(err, COLANDER_INVALID,
                                     "a quote is not closed");
            continue;
        }
        if (first == '\\' && from[split->at + 1] != '\0')
            split->at++;
        put(split, from[split->at]);
        split->at++;
    }
    put(split, '\0');
    return COLANDER_OK;
}

enum colander_code
words_split(struct words *words, const char *text, size_t *offset,
            struct colander_error *err)
{
    const size_t room = 2 * strlen(text) + 2; /* each word and its end */
    struct split split = {words, text, 0, 0};
    enum colander_code code = COLANDER_OK;

    memset(words, 0, sizeof(*words));
    words->words = calloc(room, sizeof(*words->words));
    words->text = malloc(room);
    words->places = calloc(room, sizeof(*words->places));
    if (words->words == NULL || words->text == NULL || words->places == NULL)
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for words");
    while (code == COLANDER_OK) {
        while (is_blank(text[split.at]))
            split.at++;
        if (text[split.at] == '\0')
            break;
        code = take_word(&split, offset, err);
    }
    if (code != COLANDER_OK)
        words_release(words);
    return code;
}

size_t
words_place(const struct words *words, size_t word, size_t offset)
{
    if (word >= words->count)
        return 0;
    if (offset > strlen(words->words[word]))
        offset = strlen(words->words[word]);
    return words->places[(size_t)(words->words[word] - words->text) + offset];
}

void
words_release(struct words *words)
{
    free(words->words);
    free(words->text);
    free(words->places);
    memset(words, 0, sizeof(*words));
}
