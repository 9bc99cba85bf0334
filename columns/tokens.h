/*
 * Tokens: the words of a text.
 *
 * A token is a run of letters, numbers, marks and _, as long as it can be. It
 * does not begin with a mark: one that follows no letter belongs to a sign.
 *
 * Scripts that are written without spaces (Chinese, Japanese, Thai, Lao, Khmer,
 * Burmese and some more) have no such runs. There a token is two letters, each
 * with its marks, and overlaps the token before it: ABC gives AB and BC. A
 * letter that stands alone is a token, too.
 *
 * Tokens are compared folded (columns/fold.h). What this file and that one say
 * has a version, TEXT_WORDS_VERSION: a file that holds words holds it.
 *
 * Life:   tokens_of -> tokens_next, until it returns false
 * Memory: tokens are borrowed from the text
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_TOKENS_H
#define COLANDER_COLUMNS_TOKENS_H

#include "columns/fold.h"

struct token {
    struct colander_slice text; /* as written, not folded */
    bool is_unspaced;           /* of a script without spaces */
    bool is_joined;             /* begins with the last letter of the token
                                 * before it */
};

struct tokens {
    const uint8_t *at;
    const uint8_t *end;
    const uint8_t *last; /* letter of the token before, if it may be joined */
};

static inline struct tokens
tokens_of(struct colander_slice text)
{
    struct tokens tokens = {text.data, text.data, NULL};

    if (text.size > 0) /* else there may be no address */
        tokens.end += text.size;
    return tokens;
}

/* Sets *token to the next one. Returns false at the end. */
bool tokens_next(struct tokens *tokens, struct token *token);

/* Returns the size of the first letter of an unspaced token, with its marks.
 * There are one or two. */
size_t token_first_size(const struct token *token);

#endif
