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
#include "core/array.h"

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
    struct search_term *terms; /* that a text must have, */
    size_t term_count;
    size_t term_capacity;
    struct colander_buffer pieces; /* and their pieces */
    size_t clause_count;           /* terms that are not instead of another */
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

/* --------------------------------------------------------------- terms --- */

/* Of a pattern, at most this many terms with alternatives are looked for. */
#define CHOICES_MAX 8

static bool
is_word(const struct search_term *term)
{
    return term->begins && term->ends;
}

/* Whether each text that has the term has the other, too. */
static bool
implies(const struct search_term *term, const struct search_term *other)
{
    return term->begins == other->begins && term->ends == other->ends &&
           colander_slice_equal(term->piece, other->piece);
}

/* Whether the term is required already. */
static bool
is_required(const struct search *search, const struct search_term *term)
{
    for (size_t i = 0; i < search->term_count; i++) {
        const bool is_single =
            !search->terms[i].is_other &&
            (i + 1 == search->term_count || !search->terms[i + 1].is_other);

        if (is_single && implies(&search->terms[i], term))
            return true;
    }
    return false;
}

/* Appends a term. All pieces move when their buffer does. */
static enum colander_code
add_term(struct search *search, const struct search_term *term, bool is_other,
         struct colander_error *err)
{
    struct colander_buffer *pieces = &search->pieces;
    enum colander_code code = array_reserve(&search->terms, search->term_count,
                                            &search->term_capacity, 1, err);
    uint8_t *at;

    if (code == COLANDER_OK)
        code = colander_buffer_reserve(pieces, term->piece.size + 2, err);
    if (code != COLANDER_OK)
        return code;
    pieces->data[pieces->size] = 0;
    memcpy(pieces->data + pieces->size + 1, term->piece.data, term->piece.size);
    pieces->size += term->piece.size + 2;
    pieces->data[pieces->size - 1] = 0;
    search->terms[search->term_count] = *term;
    search->terms[search->term_count++].is_other = is_other;
    at = pieces->data + 1;
    for (size_t i = 0; i < search->term_count; i++) {
        search->terms[i].piece.data = at;
        at += search->terms[i].piece.size + 2;
    }
    search->clause_count += !is_other;
    return COLANDER_OK;
}

static enum colander_code
require(struct search *search, const struct search_term *term,
        struct colander_error *err)
{
    if (search->clause_count == COLANDER_SEARCH_WORDS_MAX)
        return COLANDER_OK; /* fewer only mean that more texts are compared */
    return is_required(search, term) ? COLANDER_OK
                                     : add_term(search, term, false, err);
}

/* A letter of a script without spaces may be half a token. */
static enum colander_code
require_words(struct search *search, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < search->word_count && code == COLANDER_OK; i++) {
        const struct word *word = &search->words[i];
        const struct search_term term = {
            .piece = word->folded,
            .begins = !word->is_single,
            .ends = !word->is_single && !word->is_beginning,
        };

        code = require(search, &term, err);
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

/* Moves to the next token of a folded piece, and sets *term to what each text
 * has of it that has the piece. At an end of the piece a text may go on, unless
 * it `begins` or `ends` there. */
static bool
next_term(struct tokens *tokens, struct search_term *term,
          struct colander_slice piece, bool begins, bool ends)
{
    const uint8_t *end;
    const uint8_t *after;
    struct token token;

    if (!tokens_next(tokens, &token))
        return false; /* an empty piece may have no address */
    end = piece.data + piece.size;
    after = token.text.data + token.text.size;
    term->piece = token.text;
    term->begins = begins || is_begun(piece, &token);
    term->ends = ends || (after < end && character_at(after, end).is_valid);
    term->is_other = false;
    return true;
}

static enum colander_code
require_piece(struct search *search, struct colander_slice piece, bool begins,
              bool ends, struct colander_error *err)
{
    struct tokens tokens = tokens_of(piece);
    enum colander_code code = COLANDER_OK;
    struct search_term term;

    while (code == COLANDER_OK &&
           next_term(&tokens, &term, piece, begins, ends))
        code = require(search, &term, err);
    return code;
}

/* ------------------------------------------------------------- patterns --- */

static bool
piece_has_word(struct colander_slice piece, const struct search_term *word)
{
    struct tokens tokens = tokens_of(piece);
    struct search_term term;

    while (next_term(&tokens, &term, piece, false, false)) {
        if (implies(&term, word))
            return true;
    }
    return false;
}

/* Requires the word if the pattern matches no text without it, and so without
 * each piece that has it. */
static enum colander_code
require_if_needed(struct search *search, const struct pattern_pieces *pieces,
                  const struct search_term *word, struct colander_error *err)
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

/* Requires the whole words of a piece, as far as they are needed. */
static enum colander_code
require_words_of(struct search *search, const struct pattern_pieces *pieces,
                 size_t index, struct colander_error *err)
{
    const struct colander_slice piece = pattern_piece(pieces, index);
    struct tokens tokens = tokens_of(piece);
    enum colander_code code = COLANDER_OK;
    struct search_term term;

    while (code == COLANDER_OK &&
           next_term(&tokens, &term, piece, false, false)) {
        if (is_word(&term))
            code = require_if_needed(search, pieces, &term, err);
    }
    return code;
}

/* Sets *longest to the term of a piece that fewest words have, probably. */
static bool
longest_term(struct colander_slice piece, struct search_term *longest)
{
    struct tokens tokens = tokens_of(piece);
    struct search_term term;

    longest->piece.size = 0;
    while (next_term(&tokens, &term, piece, false, false)) {
        if (term.piece.size > longest->piece.size)
            *longest = term;
    }
    return longest->piece.size > 0;
}

/* Leaves pieces out, those with short words first and `kept` last, as long as
 * the pattern matches no text without the others. */
static enum colander_code
choose_pieces(const struct pattern_pieces *pieces, size_t kept,
              const uint8_t *order, size_t count, bool *are_chosen,
              struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i <= count && code == COLANDER_OK; i++) {
        const size_t piece = i < count ? order[i] : kept;
        bool may_match = false;

        if (!are_chosen[piece] || (i < count && piece == kept))
            continue;
        are_chosen[piece] = false;
        code = pattern_pieces_ask(pieces, are_chosen, &may_match, err);
        are_chosen[piece] = may_match;
    }
    return code;
}

/* Requires a term of one of the chosen pieces; all terms if it is one piece. */
static enum colander_code
require_choice(struct search *search, const struct pattern_pieces *pieces,
               const bool *are_chosen, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    struct search_term term;
    size_t count = 0;
    size_t last = 0;

    for (size_t i = 0; i < pattern_pieces_count(pieces); i++) {
        count += are_chosen[i];
        last = are_chosen[i] ? i : last;
    }
    if (count == 1)
        return require_piece(search, pattern_piece(pieces, last), false, false,
                             err);
    if (search->clause_count == COLANDER_SEARCH_WORDS_MAX)
        return COLANDER_OK;
    count = 0;
    for (size_t i = 0; i < pattern_pieces_count(pieces) && code == COLANDER_OK;
         i++) {
        if (are_chosen[i] && longest_term(pattern_piece(pieces, i), &term))
            code = add_term(search, &term, count++ > 0, err);
    }
    return code;
}

/* Lists the pieces that have letters, those with the shortest words first. */
static size_t
order_pieces(const struct pattern_pieces *pieces,
             uint8_t order[PATTERN_PIECES_MAX])
{
    size_t sizes[PATTERN_PIECES_MAX];
    size_t count = 0;

    for (size_t i = 0; i < pattern_pieces_count(pieces); i++) {
        struct search_term term;
        size_t place = count;

        if (!longest_term(pattern_piece(pieces, i), &term))
            continue;
        for (; place > 0 && sizes[place - 1] > term.piece.size; place--) {
            sizes[place] = sizes[place - 1];
            order[place] = order[place - 1];
        }
        sizes[place] = term.piece.size;
        order[place] = (uint8_t)i;
        count++;
    }
    return count;
}

/* Requires terms of which the pattern needs some: for each of the pieces, from
 * the longest on, those without which it is needed. */
static enum colander_code
require_choices(struct search *search, const struct pattern_pieces *pieces,
                struct colander_error *err)
{
    bool are_done[PATTERN_PIECES_MAX] = {false};
    uint8_t order[PATTERN_PIECES_MAX];
    const size_t count = order_pieces(pieces, order);
    enum colander_code code = COLANDER_OK;
    unsigned choices = 0;

    for (size_t i = count;
         i-- > 0 && choices < CHOICES_MAX && code == COLANDER_OK;) {
        bool are_chosen[PATTERN_PIECES_MAX] = {false};
        bool may_match;

        if (are_done[order[i]])
            continue;
        for (size_t k = 0; k < count; k++)
            are_chosen[order[k]] = true;
        code = pattern_pieces_ask(pieces, are_chosen, &may_match, err);
        if (code != COLANDER_OK || may_match)
            return code;
        choices++;
        code = choose_pieces(pieces, order[i], order, count, are_chosen, err);
        if (code != COLANDER_OK || !are_chosen[order[i]])
            continue; /* it is in no smallest choice */
        for (size_t k = 0; k < count; k++)
            are_done[order[k]] |= are_chosen[order[k]];
        code = require_choice(search, pieces, are_chosen, err);
    }
    return code;
}

static enum colander_code
require_of_pattern(struct search *search, struct colander_error *err)
{
    struct pattern_pieces *pieces;
    enum colander_code code =
        pattern_pieces_create(search->pattern, &pieces, err);

    if (pieces == NULL)
        return code;
    for (size_t i = 0; code == COLANDER_OK && i < pattern_pieces_count(pieces);
         i++)
        code = require_words_of(search, pieces, i, err);
    if (code == COLANDER_OK)
        code = require_choices(search, pieces, err);
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
        code = require_piece(search, colander_buffer_slice(&folded), begins,
                             search->how == COLANDER_SEARCH_EQUAL, err);
    colander_buffer_release(&folded);
    return code;
}

const struct search_term *
search_terms(const struct search *search, size_t *count)
{
    *count = search->term_count;
    return search->terms;
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
    colander_buffer_release(&search->pieces);
    free(search->terms);
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
