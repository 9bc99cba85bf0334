/*
 * Most texts are ASCII, whose characters are looked up in a table of bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/tokens.h"

#include "columns/text/ascii.h"

/* Returns the class of the character at `at`, and sets *size. */
static enum character_class
class_at(const uint8_t *at, const uint8_t *end, size_t *size)
{
    const struct character character = character_at(at, end);

    *size = character.size;
    return character_class_of(character);
}

static const uint8_t *
skip_marks(const uint8_t *at, const uint8_t *end)
{
    size_t size;

    while (at < end && *at >= 0x80 &&
           class_at(at, end, &size) == CHARACTER_MARK)
        at += size;
    return at;
}

/* Returns the end of a run of letters and marks. */
static const uint8_t *
skip_letters(const uint8_t *at, const uint8_t *end)
{
    for (;;) {
        enum character_class class;
        size_t size;

        while (at < end && ascii_folded[*at] > ASCII_NONE)
            at++;
        if (at == end || ascii_folded[*at] == ASCII_SIGN)
            return at;
        class = class_at(at, end, &size);
        if (class != CHARACTER_LETTER && class != CHARACTER_MARK)
            return at;
        at += size;
    }
}

/* Returns the end of the unspaced letter at `at`, or `at` if there is none. */
static const uint8_t *
skip_unspaced(const uint8_t *at, const uint8_t *end)
{
    size_t size;

    if (at == end || *at < 0x80 ||
        class_at(at, end, &size) != CHARACTER_UNSPACED)
        return at;
    return skip_marks(at + size, end);
}

/* Returns the beginning of the next token that is not joined, or the end. */
static const uint8_t *
skip_others(const uint8_t *at, const uint8_t *end, bool *is_unspaced)
{
    for (;;) {
        enum character_class class;
        size_t size;

        while (at < end && ascii_folded[*at] == ASCII_SIGN)
            at++;
        if (at == end || ascii_folded[*at] > ASCII_NONE)
            return at;
        class = class_at(at, end, &size);
        *is_unspaced = class == CHARACTER_UNSPACED;
        if (*is_unspaced || class == CHARACTER_LETTER)
            return at;
        at += size;
    }
}

static bool
take(struct tokens *tokens, struct token *token, const uint8_t *begin,
     const uint8_t *end)
{
    token->text = colander_slice_of(begin, (size_t)(end - begin));
    tokens->at = end;
    return true;
}

bool
tokens_next(struct tokens *tokens, struct token *token)
{
    const uint8_t *end = tokens->end;
    const uint8_t *begin = tokens->last;
    const uint8_t *at;

    if (begin != NULL) {
        at = skip_unspaced(tokens->at, end);
        if (at != tokens->at) {
            tokens->last = tokens->at;
            token->is_joined = true;
            token->is_unspaced = true;
            return take(tokens, token, begin, at);
        }
        tokens->last = NULL;
    }
    token->is_joined = false;
    token->is_unspaced = false;
    begin = skip_others(tokens->at, end, &token->is_unspaced);
    if (begin == end)
        return take(tokens, token, end, end) && false;
    if (!token->is_unspaced)
        return take(tokens, token, begin, skip_letters(begin, end));
    at = skip_unspaced(begin, end);
    if (skip_unspaced(at, end) != at)
        tokens->last = at;
    return take(tokens, token, begin, skip_unspaced(at, end));
}

size_t
token_first_size(const struct token *token)
{
    const uint8_t *end = token->text.data + token->text.size;

    return (size_t)(skip_unspaced(token->text.data, end) - token->text.data);
}
