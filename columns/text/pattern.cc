/*
 * RE2 throws nothing itself, but runs out of memory by an exception.
 *
 * SPDX-License-Identifier: MIT
 */
extern "C" {
#include "columns/text/pattern.h"
}

#include "columns/limits.h"

#ifdef COLANDER_RE2

#include <algorithm>
#include <memory>
#include <new>
#include <re2/filtered_re2.h>
#include <re2/re2.h>

/* Bytes of a compiled pattern and its automata. */
#define MEMORY_MAX (1 << 20)

/* A shorter piece has no word between two other characters. Of more pieces, few
 * words are in all texts. */
#define PIECE_MIN 3
#define PIECES_MAX PATTERN_PIECES_MAX

struct pattern {
    re2::RE2 re2;

    pattern(re2::StringPiece text, const re2::RE2::Options &options)
        : re2(text, options)
    {
    }
};

static re2::StringPiece
piece_of(struct colander_slice text)
{
    return re2::StringPiece(reinterpret_cast<const char *>(text.data),
                            text.size);
}

/* RE2 names the part of the pattern that is wrong. */
static size_t
place_of(struct colander_slice text, const std::string &part)
{
    const uint8_t *end = text.data + text.size;
    const uint8_t *found =
        std::search(text.data, end, part.begin(), part.end(),
                    [](uint8_t a, char b) { return a == (uint8_t)b; });

    return found == end ? 0 : (size_t)(found - text.data);
}

static enum colander_code
report(const re2::RE2 &re2, struct colander_slice text, size_t *offset,
       struct colander_error *err)
{
    if (re2.error_code() == re2::RE2::ErrorPatternTooLarge)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "the pattern takes too much memory: repeat less");
    *offset = place_of(text, re2.error_arg());
    return COLANDER_FAIL(err, COLANDER_INVALID, "pattern: %.160s",
                         re2.error().c_str());
}

enum colander_code
pattern_create(struct colander_slice text, bool is_folded,
               struct pattern **pattern, size_t *offset,
               struct colander_error *err)
{
    *pattern = nullptr;
    *offset = 0;
    if (text.size > COLANDER_PATTERN_SIZE_MAX)
        return COLANDER_FAIL(err, COLANDER_LIMIT,
                             "a pattern of %zu bytes, over the limit of %d",
                             text.size, COLANDER_PATTERN_SIZE_MAX);
    try {
        re2::RE2::Options options(re2::RE2::Quiet);

        options.set_max_mem(MEMORY_MAX);
        options.set_case_sensitive(!is_folded);
        options.set_never_capture(true);
        *pattern = new struct pattern(piece_of(text), options);
        if ((*pattern)->re2.ok())
            return COLANDER_OK;

        const enum colander_code code =
            report((*pattern)->re2, text, offset, err);

        pattern_destroy(*pattern);
        *pattern = nullptr;
        return code;
    } catch (const std::bad_alloc &) {
        pattern_destroy(*pattern);
        *pattern = nullptr;
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a pattern");
    }
}

void
pattern_destroy(struct pattern *pattern)
{
    delete pattern;
}

static bool
is_ascii(const std::string &text)
{
    return std::all_of(text.begin(), text.end(),
                       [](char byte) { return (uint8_t)byte < 0x80; });
}

/* Whether the pattern can only name ASCII. RE2 folds other characters to ASCII
 * that fold.h does not. */
static bool
names_ascii(const std::string &pattern)
{
    for (size_t i = 0; i + 1 < pattern.size(); i++) {
        if (pattern[i] != '\\')
            continue;
        i++;
        if (pattern[i] == 'x' || pattern[i] == 'p' || pattern[i] == 'P' ||
            (pattern[i] >= '0' && pattern[i] <= '9'))
            return false;
    }
    return is_ascii(pattern);
}

struct pattern_pieces {
    re2::FilteredRE2 filtered;
    std::vector<std::string> pieces;

    pattern_pieces() : filtered(PIECE_MIN)
    {
    }
};

enum colander_code
pattern_pieces_create(const struct pattern *pattern,
                      struct pattern_pieces **pieces,
                      struct colander_error *err)
{
    *pieces = nullptr;
    try {
        if (!names_ascii(pattern->re2.pattern()))
            return COLANDER_OK;

        std::unique_ptr<struct pattern_pieces> made(new struct pattern_pieces);
        int id;

        if (made->filtered.Add(pattern->re2.pattern(), pattern->re2.options(),
                               &id) != re2::RE2::NoError)
            return COLANDER_OK;
        made->filtered.Compile(&made->pieces);

        size_t size = 0;

        for (const std::string &piece : made->pieces)
            size += piece.size();
        /* repetitions are expanded in pieces */
        if (size <= COLANDER_PATTERN_SIZE_MAX &&
            made->pieces.size() <= PIECES_MAX &&
            std::all_of(made->pieces.begin(), made->pieces.end(), is_ascii))
            *pieces = made.release();
        return COLANDER_OK;
    } catch (const std::bad_alloc &) {
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a pattern");
    }
}

void
pattern_pieces_destroy(struct pattern_pieces *pieces)
{
    delete pieces;
}

size_t
pattern_pieces_count(const struct pattern_pieces *pieces)
{
    return pieces->pieces.size();
}

struct colander_slice
pattern_piece(const struct pattern_pieces *pieces, size_t index)
{
    const std::string &piece = pieces->pieces[index];

    return colander_slice{reinterpret_cast<const uint8_t *>(piece.data()),
                          piece.size()};
}

enum colander_code
pattern_pieces_ask(const struct pattern_pieces *pieces, const bool *are_absent,
                   bool *may_match, struct colander_error *err)
{
    *may_match = true;
    try {
        std::vector<int> present;
        std::vector<int> potentials;

        for (size_t i = 0; i < pieces->pieces.size(); i++) {
            if (!are_absent[i])
                present.push_back((int)i);
        }
        pieces->filtered.AllPotentials(present, &potentials);
        *may_match = !potentials.empty();
        return COLANDER_OK;
    } catch (const std::bad_alloc &) {
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for a pattern");
    }
}

enum colander_code
pattern_matches(const struct pattern *pattern, struct colander_slice text,
                bool *is_found, struct colander_error *err)
{
    try {
        *is_found = pattern->re2.Match(piece_of(text), 0, text.size,
                                       re2::RE2::UNANCHORED, nullptr, 0);
        return COLANDER_OK;
    } catch (const std::bad_alloc &) {
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for matching a pattern");
    }
}

#else

enum colander_code
pattern_create(struct colander_slice text, bool is_folded,
               struct pattern **pattern, size_t *offset,
               struct colander_error *err)
{
    (void)text;
    (void)is_folded;
    *pattern = nullptr;
    *offset = 0;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "patterns were not built: this library lacks RE2 "
                         "(libre2-dev)");
}

void
pattern_destroy(struct pattern *pattern)
{
    (void)pattern;
}

enum colander_code
pattern_pieces_create(const struct pattern *pattern,
                      struct pattern_pieces **pieces,
                      struct colander_error *err)
{
    (void)pattern;
    (void)err;
    *pieces = nullptr;
    return COLANDER_OK;
}

void
pattern_pieces_destroy(struct pattern_pieces *pieces)
{
    (void)pieces;
}

size_t
pattern_pieces_count(const struct pattern_pieces *pieces)
{
    (void)pieces;
    return 0;
}

struct colander_slice
pattern_piece(const struct pattern_pieces *pieces, size_t index)
{
    (void)pieces;
    (void)index;
    return colander_slice{nullptr, 0};
}

enum colander_code
pattern_pieces_ask(const struct pattern_pieces *pieces, const bool *are_absent,
                   bool *may_match, struct colander_error *err)
{
    (void)pieces;
    (void)are_absent;
    (void)err;
    *may_match = true;
    return COLANDER_OK;
}

enum colander_code
pattern_matches(const struct pattern *pattern, struct colander_slice text,
                bool *is_found, struct colander_error *err)
{
    (void)pattern;
    (void)text;
    *is_found = false;
    return COLANDER_FAIL(err, COLANDER_INVALID, "patterns were not built");
}

#endif
