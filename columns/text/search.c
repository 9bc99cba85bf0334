/*
 * Words are found by bits: a bit for each word says that it, and those before
 * it in its run, end at the present token of the text. A word begins a run of
 * its own, a phrase is one run, and so are the letters of a script without
 * spaces that follow each other. Pieces are found by the automaton of Knuth,
 * Morris and Pratt, over folded bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/search.h"

#include "columns/limits.h"
#include "columns/text/pattern.h"
#include "columns/tokens.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct word {
    struct colander_slice folded; /* of search.folded */
    bool is_beginning;            /* of a word */
    bool is_unspaced;
    bool is_single; /* one letter of a script without spaces: in a text it is
                     * the first or second of a token */
    bool is_joined;
};

struct search {
    enum colander_search how;
    bool is_folded;                /* always, for words */
    struct colander_buffer folded; /* what is looked for, or its words */
    struct word words[COLANDER_SEARCH_WORDS_MAX];
    size_t word_count;
    uint64_t starts; /* words that begin a run */
    uint64_t ends;   /* words that end one */
    /* Of each beginning of `folded`, the size of the longest shorter one that
     * it ends with. Of PIECE. */
    uint32_t *fallbacks;
    struct pattern *pattern;
    /* Words that a text must have, each with a zero byte. */
    struct colander_buffer required;
    size_t required_count;
};

/* --------------------------------------------------------------- words --- */

static enum colander_code
fail_words(enum colander_code code, struct colander_slice text,
           struct colander_error *err)
{
    if (code == COLANDER_LIMIT)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "more than %d words are looked for",
                             COLANDER_SEARCH_WORDS_MAX);
    return COLANDER_FAIL(
        err, COLANDER_INVALID,
        text.size == 0
            ? "expected a word"
            : "it has no words: ~~TEXT and COL~~TEXT find other texts");
}

/* Whether the byte after a word is a * at the end of something. */
static bool
has_star(struct colander_slice text, const uint8_t *after)
{
    const uint8_t *end = text.data + text.size;

    return after < end && *after == '*' &&
           (after + 1 == end || strchr(" \t\r\n", after[1]) != NULL);
}

/* Notes a word. Its folded text gets its place when all are there. */
static enum colander_code
add_word(struct search *search, const struct token *token,
         struct colander_error *err)
{
    struct word *word = &search->words[search->word_count];
    const size_t before = search->folded.size;
    enum colander_code code = fold_append(&search->folded, token->text, err);

    word->folded.size = search->folded.size - before;
    word->is_unspaced = token->is_unspaced;
    word->is_joined = token->is_joined;
    word->is_single =
        token->is_unspaced && token_first_size(token) == token->text.size;
    search->word_count++;
    return code;
}

/* Reads a * after the word. */
static enum colander_code
read_star(struct search *search, struct colander_slice text,
          const struct token *token, size_t *offset, struct colander_error *err)
{
    const uint8_t *after = token->text.data + token->text.size;
    struct tokens rest = tokens_of(text);
    struct token next;

    rest.at = after;
    if (!has_star(text, after))
        return COLANDER_OK;
    if (tokens_next(&rest, &next)) {
        *offset = (size_t)(after - text.data);
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "only the last word may end in *");
    }
    search->words[search->word_count - 1].is_beginning = !token->is_unspaced;
    return COLANDER_OK;
}

/* Sets where the words are, and which of them begin and end a run. */
static void
finish_words(struct search *search)
{
    const uint8_t *at = search->folded.data;

    for (size_t i = 0; i < search->word_count; i++) {
        struct word *word = &search->words[i];
        const uint64_t bit = UINT64_C(1) << i;

        word->folded.data = at;
        at += word->folded.size;
        if (i > 0 &&
            (word->is_joined || search->how == COLANDER_SEARCH_PHRASE)) {
            search->ends &= ~(bit >> 1);
            search->ends |= bit;
            continue;
        }
        search->starts |= bit;
        search->ends |= bit;
    }
}

static enum colander_code
read_words(struct search *search, struct colander_slice text, size_t *offset,
           struct colander_error *err)
{
    struct tokens tokens = tokens_of(text);
    enum colander_code code = COLANDER_OK;
    struct token token;

    while (code == COLANDER_OK && tokens_next(&tokens, &token)) {
        if (search->word_count == COLANDER_SEARCH_WORDS_MAX)
            return fail_words(COLANDER_LIMIT, text, err);
        code = add_word(search, &token, err);
        if (code == COLANDER_OK)
            code = read_star(search, text, &token, offset, err);
    }
    if (code == COLANDER_OK && search->word_count == 0)
        return fail_words(COLANDER_INVALID, text, err);
    finish_words(search);
    return code;
}

/* Whether the token has the letter: as its last one if another word follows in
 * the run, as its first one if one came before. */
static bool
has_letter(const struct token *token, const struct word *word, bool is_start,
           bool is_end)
{
    const size_t first = token_first_size(token);
    const struct colander_slice text = token->text;
    const size_t last = first == text.size ? 0 : first;
    const bool is_first =
        fold_matches(colander_slice_of(text.data, first), word->folded, false);
    const bool is_last =
        fold_matches(colander_slice_of(text.data + last, text.size - last),
                     word->folded, false);

    if (is_start && is_end)
        return is_first || is_last;
    return (is_first || is_start) && (is_last || is_end);
}

/* Returns the bits of the words that the token is, as the next of their runs.
 */
static uint64_t
words_of(const struct search *search, const struct token *token)
{
    uint64_t found = 0;

    for (size_t i = 0; i < search->word_count; i++) {
        const struct word *word = &search->words[i];
        const uint64_t bit = UINT64_C(1) << i;
        const bool is_start = (search->starts & bit) != 0;

        if (word->is_unspaced != token->is_unspaced ||
            (!is_start && word->is_joined != token->is_joined))
            continue;
        if (word->is_single
                ? has_letter(token, word, is_start, (search->ends & bit) != 0)
                : fold_matches(token->text, word->folded, word->is_beginning))
            found |= bit;
    }
    return found;
}

static bool
find_words(const struct search *search, struct colander_slice text)
{
    struct tokens tokens = tokens_of(text);
    uint64_t state = 0;
    uint64_t found = 0;
    struct token token;

    while (found != search->ends && tokens_next(&tokens, &token)) {
        state = (state << 1 | search->starts) & words_of(search, &token);
        found |= state & search->ends;
    }
    return found == search->ends;
}

/* --------------------------------------------------------------- piece --- */

/* Returns how much of `folded` the text so far ends with, after one more byte.
 */
static uint32_t
piece_step(const struct search *search, uint32_t size, uint8_t byte)
{
    const uint8_t *folded = search->folded.data;

    while (size > 0 && folded[size] != byte)
        size = search->fallbacks[size];
    return folded[size] == byte ? size + 1 : 0;
}

static enum colander_code
prepare_piece(struct search *search, struct colander_error *err)
{
    const uint32_t size = (uint32_t)search->folded.size;

    search->fallbacks = calloc((size_t)size + 1, sizeof(uint32_t));
    if (search->fallbacks == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a text");
    for (uint32_t i = 1; i < size; i++)
        search->fallbacks[i + 1] =
            piece_step(search, search->fallbacks[i], search->folded.data[i]);
    return COLANDER_OK;
}

static bool
find_piece(const struct search *search, struct colander_slice text)
{
    const uint8_t *at = text.data;
    const uint8_t *end = text.size > 0 ? at + text.size : at;
    uint32_t size = 0;

    while (size < search->folded.size && at < end) {
        const struct character character = character_at(at, end);
        uint8_t bytes[4];
        const size_t count = character_fold(character, at, bytes);

        for (size_t i = 0; i < count && size < search->folded.size; i++)
            size = piece_step(search, size, bytes[i]);
        at += character.size;
    }
    return size == search->folded.size;
}

/* ------------------------------------------------------ required words --- */

static bool
is_required(const struct search *search, struct colander_slice folded)
{
    const char *word = NULL;

    while ((word = search_word(search, word)) != NULL) {
        if (colander_slice_equal(colander_slice_text(word), folded))
            return true;
    }
    return false;
}

static enum colander_code
require(struct search *search, struct colander_slice folded,
        struct colander_error *err)
{
    enum colander_code code;

    if (search->required_count == COLANDER_SEARCH_WORDS_MAX)
        return COLANDER_OK; /* fewer only mean that more texts are compared */
    if (is_required(search, folded))
        return COLANDER_OK;
    search->required_count++;
    code = colander_buffer_append(&search->required, folded.data, folded.size,
                                  err);
    return code == COLANDER_OK
               ? colander_buffer_append(&search->required, "", 1, err)
               : code;
}

/* A word is one in a text as well, unless only its beginning is looked for, or
 * a letter that may be half a token. */
static enum colander_code
require_words(struct search *search, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < search->word_count && code == COLANDER_OK; i++) {
        const struct word *word = &search->words[i];

        if (!word->is_beginning && !word->is_single)
            code = require(search, word->folded, err);
    }
    return code;
}

/* Whether a token of a piece begins one in each text that has the piece in it.
 * A letter before it may be half a character, or go on before the piece. */
static bool
is_begun(struct colander_slice piece, const struct token *token)
{
    const uint8_t *first = token->text.data;
    const uint8_t *before = first;
    struct character character;

    if (token->is_unspaced && token_first_size(token) < token->text.size)
        return true; /* a pair is a token, whatever is around it */
    if (first == piece.data)
        return false;
    do
        before--;
    while (before > piece.data && (*before & 0xC0) == 0x80);
    character = character_at(before, first);
    return character.is_valid &&
           character_class_of(character) == CHARACTER_OTHER;
}

/* Moves to the next token of a folded piece that is a word of each text which
 * has the piece in it: it touches no end at which a text may go on. */
static bool
next_inner(struct tokens *tokens, struct token *token,
           struct colander_slice piece, bool begins, bool ends)
{
    while (tokens_next(tokens, token)) {
        const uint8_t *end = piece.data + piece.size;
        const uint8_t *after = token->text.data + token->text.size;

        if ((begins || is_begun(piece, token)) &&
            (ends || (after < end && character_at(after, end).is_valid)))
            return true;
    }
    return false;
}

static enum colander_code
require_inner(struct search *search, struct colander_slice piece, bool begins,
              bool ends, struct colander_error *err)
{
    struct tokens tokens = tokens_of(piece);
    enum colander_code code = COLANDER_OK;
    struct token token;

    while (code == COLANDER_OK &&
           next_inner(&tokens, &token, piece, begins, ends))
        code = require(search, token.text, err);
    return code;
}

static bool
piece_has_word(struct colander_slice piece, struct colander_slice word)
{
    struct tokens tokens = tokens_of(piece);
    struct token token;

    while (next_inner(&tokens, &token, piece, false, false)) {
        if (colander_slice_equal(token.text, word))
            return true;
    }
    return false;
}

/* Requires the word if the pattern matches no text without it, and so without
 * each piece that has it. */
static enum colander_code
require_if_needed(struct search *search, const struct pattern_pieces *pieces,
                  struct colander_slice word, struct colander_error *err)
{
    bool are_absent[PATTERN_PIECES_MAX];
    enum colander_code code;
    bool may_match;

    if (is_required(search, word))
        return COLANDER_OK;
    for (size_t i = 0; i < pattern_pieces_count(pieces); i++)
        are_absent[i] = piece_has_word(pattern_piece(pieces, i), word);
    code = pattern_pieces_ask(pieces, are_absent, &may_match, err);
    return code == COLANDER_OK && !may_match ? require(search, word, err)
                                             : code;
}

static enum colander_code
require_of_pattern(struct search *search, struct colander_error *err)
{
    struct pattern_pieces *pieces;
    enum colander_code code =
        pattern_pieces_create(search->pattern, &pieces, err);

    for (size_t i = 0; code == COLANDER_OK && pieces != NULL &&
                       i < pattern_pieces_count(pieces);
         i++) {
        const struct colander_slice piece = pattern_piece(pieces, i);
        struct tokens tokens = tokens_of(piece);
        struct token token;

        while (code == COLANDER_OK &&
               next_inner(&tokens, &token, piece, false, false))
            code = require_if_needed(search, pieces, token.text, err);
    }
    pattern_pieces_destroy(pieces);
    return code;
}

static enum colander_code
require_all(struct search *search, struct colander_error *err)
{
    const bool begins = search->how != COLANDER_SEARCH_PIECE;
    struct colander_buffer folded = COLANDER_BUFFER_EMPTY;
    enum colander_code code;

    if (search_is_of_words(search))
        return require_words(search, err);
    if (search->how == COLANDER_SEARCH_PATTERN)
        return require_of_pattern(search, err);
    code = fold_append(&folded, colander_buffer_slice(&search->folded), err);
    if (code == COLANDER_OK)
        code = require_inner(search, colander_buffer_slice(&folded), begins,
                             search->how == COLANDER_SEARCH_EQUAL, err);
    colander_buffer_release(&folded);
    return code;
}

const char *
search_word(const struct search *search, const char *after)
{
    const char *words = (const char *)search->required.data;
    const char *next = after == NULL ? words : after + strlen(after) + 1;

    return words == NULL || next == words + search->required.size ? NULL : next;
}

/* -------------------------------------------------------------- search --- */

static enum colander_code
prepare(struct search *search, struct colander_slice text, bool is_folded,
        size_t *offset, struct colander_error *err)
{
    enum colander_code code;

    if (search->how == COLANDER_SEARCH_PATTERN)
        return pattern_create(text, is_folded, &search->pattern, offset, err);
    if (search_is_of_words(search))
        return read_words(search, text, offset, err);
    if (!is_folded)
        return colander_buffer_append(&search->folded, text.data, text.size,
                                      err);
    search->is_folded = true;
    code = fold_append(&search->folded, text, err);
    if (code == COLANDER_OK && search->how == COLANDER_SEARCH_PIECE)
        code = prepare_piece(search, err);
    return code;
}

enum colander_code
search_create(enum colander_search how, struct colander_slice text,
              bool is_folded, struct search **search, size_t *offset,
              struct colander_error *err)
{
    enum colander_code code;

    *search = NULL;
    *offset = 0;
    if (how < COLANDER_SEARCH_WORDS || how > COLANDER_SEARCH_PATTERN)
        return COLANDER_FAIL(err, COLANDER_INVALID, "unknown search %d",
                             (int)how);
    if (text.size > COLANDER_SEARCH_SIZE_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "a text of %zu bytes is looked for, over the "
                             "limit of %d",
                             text.size, COLANDER_SEARCH_SIZE_MAX);
    *search = calloc(1, sizeof(**search));
    if (*search == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a search");
    (*search)->how = how;
    code = prepare(*search, text, is_folded, offset, err);
    if (code == COLANDER_OK)
        code = require_all(*search, err);
    if (code != COLANDER_OK) {
        search_destroy(*search);
        *search = NULL;
    }
    return code;
}

bool
search_is_of_words(const struct search *search)
{
    return search->how == COLANDER_SEARCH_WORDS ||
           search->how == COLANDER_SEARCH_PHRASE;
}

void
search_destroy(struct search *search)
{
    if (search == NULL)
        return;
    colander_buffer_release(&search->folded);
    colander_buffer_release(&search->required);
    pattern_destroy(search->pattern);
    free(search->fallbacks);
    free(search);
}

/* Whether the text is `sought`, begins with it, or has it in it. */
static bool
find_bytes(enum colander_search how, struct colander_slice text,
           struct colander_slice sought)
{
    if (how == COLANDER_SEARCH_EQUAL)
        return colander_slice_equal(text, sought);
    if (how == COLANDER_SEARCH_BEGINS && text.size > sought.size)
        text.size = sought.size;
    return how == COLANDER_SEARCH_BEGINS
               ? colander_slice_equal(text, sought)
               : sought.size == 0 || memmem(text.data, text.size, sought.data,
                                            sought.size) != NULL;
}

enum colander_code
search_text(const struct search *search, struct colander_slice text,
            bool *is_found, struct colander_error *err)
{
    const struct colander_slice sought = colander_buffer_slice(&search->folded);

    switch (search->how) {
    case COLANDER_SEARCH_WORDS:
    case COLANDER_SEARCH_PHRASE:
        *is_found = find_words(search, text);
        return COLANDER_OK;
    case COLANDER_SEARCH_EQUAL:
    case COLANDER_SEARCH_BEGINS:
    case COLANDER_SEARCH_PIECE:
        if (!search->is_folded)
            *is_found = find_bytes(search->how, text, sought);
        else if (search->how == COLANDER_SEARCH_PIECE)
            *is_found = find_piece(search, text);
        else
            *is_found = fold_matches(text, sought,
                                     search->how == COLANDER_SEARCH_BEGINS);
        return COLANDER_OK;
    case COLANDER_SEARCH_PATTERN:
        return pattern_matches(search->pattern, text, is_found, err);
    }
    *is_found = false;
    return COLANDER_OK;
}
