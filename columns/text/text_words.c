/*
 * Most words are ASCII, and are folded while their end is looked for.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/candidates.h"
#include "columns/text/ascii.h"
#include "columns/tokens.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Values have other seeds: see columns/rows/value.c. */
#define SEED_WORD 12

/* A word is hashed in pieces of this size; most have one. */
#define PIECE_SIZE 256

/* Folds characters from *at on, as many as fit, and moves *at after them.
 * Returns the bytes that they take. */
static size_t
fold_piece(const uint8_t **at, const uint8_t *end, uint8_t folded[PIECE_SIZE])
{
    size_t size = 0;

    while (*at < end && size <= PIECE_SIZE - 4) {
        const struct character character = character_at(*at, end);

        size += character_fold(character, *at, folded + size);
        *at += character.size;
    }
    return size;
}

/* Sets `folded` to the first piece of the word. Each piece has the hash of
 * those before it as its seed. */
static struct text_word
fold_word(struct colander_slice text, uint8_t folded[PIECE_SIZE])
{
    const uint8_t *at = text.data;
    const uint8_t *end = text.size > 0 ? at + text.size : at;
    size_t size = fold_piece(&at, end, folded);
    struct text_word word = {SEED_WORD, colander_slice_of(folded, size), false};

    if (at < end)
        word.folded.size = 0;
    while (size > 0) {
        word.hash = XXH3_64bits_withSeed(folded, size, word.hash);
        size = fold_piece(&at, end, folded);
    }
    return word;
}

uint64_t
text_word_hash(struct colander_slice word)
{
    uint8_t folded[PIECE_SIZE];

    return fold_word(word, folded).hash;
}

/* Moves to the next word. If it is short and ASCII, folds it, moves after it
 * and returns its size, otherwise 0. */
static inline size_t
fold_next(struct tokens *tokens, uint8_t folded[PIECE_SIZE])
{
    const uint8_t *at = tokens->at;
    const uint8_t *end = tokens->end;
    const uint8_t *begin;
    size_t size = 0;

    while (at < end && ascii_folded[*at] == ASCII_SIGN)
        at++;
    begin = at;
    while (at < end && ascii_folded[*at] > ASCII_NONE && size < PIECE_SIZE - 4)
        folded[size++] = ascii_folded[*at++];
    if (at < end && ascii_folded[*at] != ASCII_SIGN)
        size = 0; /* more of the word follows, or may follow */
    tokens->at = size > 0 ? at : begin;
    return size;
}

/* Whether the text is one word, and written as it is folded. */
static bool
is_folded_word(struct colander_slice text, const struct token *token)
{
    return token->text.size == text.size && fold_matches(text, text, false);
}

void
text_words(struct colander_slice text,
           void (*visit)(void *context, const struct text_word *word),
           void *context)
{
    struct tokens tokens = tokens_of(text);

    while (tokens.at < tokens.end) {
        uint8_t folded[PIECE_SIZE];
        const size_t size =
            tokens.last == NULL ? fold_next(&tokens, folded) : 0;
        struct text_word word;
        struct token token;

        if (size > 0) {
            word.hash = XXH3_64bits_withSeed(folded, size, SEED_WORD);
            word.folded = colander_slice_of(folded, size);
            word.is_value =
                size == text.size && memcmp(folded, text.data, size) == 0;
            visit(context, &word);
        } else if (tokens_next(&tokens, &token)) {
            word = fold_word(token.text, folded);
            word.is_value = is_folded_word(text, &token);
            visit(context, &word);
        }
    }
}
