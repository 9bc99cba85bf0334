/*
 * Any bytes as a text, and as what is looked for in it: words, phrases, pieces
 * and patterns. Nothing crashes or takes long. Tokens are whole runs, in order;
 * each is found; what is found agrees with the folded texts.
 *
 * The first line is what is looked for, the rest is the text.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/search.h"
#include "columns/tokens.h"
#include "columns/utf8.h"
#include "fuzz/fuzz.h"

#define SOUGHT_TOKENS 8 /* that are looked for */

static bool is_part(enum character_class class)
{
    return class == CHARACTER_LETTER || class == CHARACTER_UNSPACED;
}

/* Whether the bytes have a letter. */
static bool
has_letter(const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        const struct character character = character_at(at, end);

        expect(character.size > 0 && character.size <= (size_t)(end - at));
        if (is_part(character_class_of(character)))
            return true;
        at += character.size;
    }
    return false;
}

/* Returns whether it is found; false if it cannot be looked for. */
static bool
finds(enum colander_search how, struct colander_slice sought,
      struct colander_slice text, bool is_folded)
{
    struct colander_error err = {.code = COLANDER_OK};
    struct search *search;
    size_t offset = 0;
    bool is_found = false;

    if (search_create(how, sought, is_folded, &search, &offset, &err) ==
        COLANDER_OK)
        OK(search_text(search, text, &is_found, &err));
    else
        expect(err.code == COLANDER_LIMIT ||
               (err.code == COLANDER_INVALID && offset <= sought.size));
    search_destroy(search);
    return is_found;
}

static void
read_tokens(struct colander_slice text)
{
    struct tokens tokens = tokens_of(text);
    const uint8_t *after = text.data;
    struct token token;
    size_t count = 0;

    while (tokens_next(&tokens, &token)) {
        const uint8_t *begin = token.text.data;
        const uint8_t *end = begin + token.text.size;

        expect(token.text.size > 0);
        expect(has_letter(begin, end));
        if (token.is_joined)
            expect(begin < after && end > after);
        else
            expect(begin >= after && !has_letter(after, begin));
        if (token.is_unspaced)
            expect(token_first_size(&token) > 0 &&
                   token_first_size(&token) <= token.text.size);
        after = end;
        if (count++ < SOUGHT_TOKENS) {
            expect(finds(COLANDER_SEARCH_WORDS, token.text, text, true));
            expect(finds(COLANDER_SEARCH_PHRASE, token.text, text, true));
        }
    }
    expect(!has_letter(after, text.data + text.size));
}

/* Folding again changes nothing. */
static void
fold(struct colander_slice text, struct colander_buffer *folded)
{
    struct colander_buffer again = COLANDER_BUFFER_EMPTY;

    OK(fold_append(folded, text, NULL));
    OK(fold_append(&again, colander_buffer_slice(folded), NULL));
    expect(colander_slice_equal(colander_buffer_slice(folded),
                                colander_buffer_slice(&again)));
    expect(fold_matches(text, colander_buffer_slice(folded), false));
    colander_buffer_release(&again);
}

static void
compare(struct colander_slice sought, struct colander_slice text)
{
    struct colander_buffer one = COLANDER_BUFFER_EMPTY;
    struct colander_buffer other = COLANDER_BUFFER_EMPTY;
    const bool is_text = colander_utf8_size(sought) == sought.size;

    fold(sought, &one);
    fold(text, &other);
    expect(finds(COLANDER_SEARCH_EQUAL, sought, text, true) ==
           colander_slice_equal(colander_buffer_slice(&one),
                                colander_buffer_slice(&other)));
    expect(finds(COLANDER_SEARCH_PIECE, sought, text, true) ==
           (one.size == 0 ||
            (other.size > 0 &&
             memmem(other.data, other.size, one.data, one.size) != NULL)));
    if (is_text) /* else it may be the first byte of a character */
        expect(
            finds(COLANDER_SEARCH_BEGINS, sought, text, true) ==
            (other.size >= one.size &&
             (one.size == 0 || memcmp(other.data, one.data, one.size) == 0)));
    colander_buffer_release(&one);
    colander_buffer_release(&other);
}

static void
look_for(struct colander_slice sought, struct colander_slice text)
{
    read_tokens(text);
    compare(sought, text);
    if (finds(COLANDER_SEARCH_PHRASE, sought, text, true))
        expect(finds(COLANDER_SEARCH_WORDS, sought, text, true));
    (void)finds(COLANDER_SEARCH_PATTERN, sought, text, false);
    (void)finds(COLANDER_SEARCH_PATTERN, sought, text, true);
    (void)finds(COLANDER_SEARCH_PIECE, sought, text, false);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = size == 0 ? NULL : memchr(data, '\n', size);
    const size_t sought_size = line == NULL ? size : (size_t)(line - data);
    const size_t text_size = line == NULL ? 0 : size - sought_size - 1;
    uint8_t *sought;
    uint8_t *text;

    if (line == NULL)
        return 0;
    sought = fuzz_copy(data, sought_size);
    text = fuzz_copy(line + 1, text_size);
    look_for(colander_slice_of(sought, sought_size),
             colander_slice_of(text, text_size));
    free(sought);
    free(text);
    return 0;
}
