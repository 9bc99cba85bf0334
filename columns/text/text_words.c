/*
 * Most words are ASCII, and are folded while their end is looked for.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/candidates.h"
#include "columns/text/ascii.h"
#include "columns/tokens.h"
#include "core/bytes.h"

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

/* Returns the next eight bytes, zeros after the end. */
static inline uint64_t
get_eight(const uint8_t *at, const uint8_t *end)
{
    return end - at >= 8 ? bytes_get_le64(at)
                         : bytes_get_le(at, (size_t)(end - at));
}

/* Moves to the next word. If it is short and ASCII, folds it, moves after it
 * and returns its size, otherwise 0. Sets *is_same to whether a word that ends
 * the text was folded already. Stores eight bytes at a time: they are loaded so
 * soon that the processor would wait for single ones. */
static inline size_t
fold_next(struct tokens *tokens, uint8_t folded[PIECE_SIZE], bool *is_same)
{
    const uint8_t *at = tokens->at;
    const uint8_t *end = tokens->end;
    const uint8_t *begin;
    size_t size = 0;
    size_t more = 8;

    while (at < end && ascii_folded[*at] == ASCII_SIGN)
        at++;
    begin = at;
    *is_same = true;
    while (more == 8 && size <= PIECE_SIZE - 8) {
        const uint64_t eight = get_eight(at, end);
        uint64_t lower;

        more = ascii_fold_eight(eight, &lower);
        bytes_put_le64(folded + size, lower);
        *is_same &= lower == eight;
        size += more;
        at += more;
    }
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
        bool is_same;
        const size_t size =
            tokens.last == NULL ? fold_next(&tokens, folded, &is_same) : 0;
        struct text_word word;
        struct token token;

        if (size > 0) {
            word.hash = XXH3_64bits_withSeed(folded, size, SEED_WORD);
            word.folded = colander_slice_of(folded, size);
            word.is_value = size == text.size && is_same;
            visit(context, &word);
        } else if (tokens_next(&tokens, &token)) {
            word = fold_word(token.text, folded);
            word.is_value = is_folded_word(text, &token);
            visit(context, &word);
        }
    }
}
