/* SPDX-License-Identifier: MIT */
#include "columns/candidates.h"
#include "columns/tokens.h"

#include <xxhash.h>

/* Values have other seeds: see columns/rows/value.c. */
#define SEED_WORD 12

/* A word is hashed in pieces of this size; most have one. */
#define PIECE_SIZE 256

/* Folds characters from *at on, as many as fit, and moves *at after them.
 * Returns the bytes that they take. */
static inline size_t
fold_piece(const uint8_t **at, const uint8_t *end, uint8_t folded[PIECE_SIZE])
{
    size_t size = 0;

    while (*at < end && size <= PIECE_SIZE - 4) {
        struct character character;

        if (**at < 0x80) {
            folded[size++] = character_fold_ascii(*(*at)++);
            continue;
        }
        character = character_at(*at, end);
        size += character_fold(character, *at, folded + size);
        *at += character.size;
    }
    return size;
}

/* Hashes a word. Each piece has the hash of those before it as its seed. Sets
 * *is_folded to whether it is written as it is folded. */
static inline uint64_t
hash_word(struct colander_slice word, bool *is_folded)
{
    const uint8_t *at = word.data;
    const uint8_t *end = at + word.size;
    uint64_t hash = SEED_WORD;

    *is_folded = true;
    while (at < end) {
        const uint8_t *begin = at;
        uint8_t folded[PIECE_SIZE];
        const size_t size = fold_piece(&at, end, folded);

        *is_folded = *is_folded && size == (size_t)(at - begin) &&
                     memcmp(begin, folded, size) == 0;
        hash = XXH3_64bits_withSeed(folded, size, hash);
    }
    return hash;
}

uint64_t
text_word_hash(struct colander_slice word)
{
    bool is_folded;

    return hash_word(word, &is_folded);
}

void
text_words(struct colander_slice text,
           void (*visit)(void *context, uint64_t hash), void *context)
{
    struct tokens tokens = tokens_of(text);
    struct token token;

    while (tokens_next(&tokens, &token)) {
        bool is_folded;
        const uint64_t hash = hash_word(token.text, &is_folded);

        if (!is_folded || token.text.size < text.size)
            visit(context, hash);
    }
}
