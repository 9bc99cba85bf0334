/*
 * A text cut by the splitter into a list of pieces.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_LOADING_PIECES_H
#define TESTS_LOADING_PIECES_H

#include "loading/splitter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct piece {
    enum split split; /* RECORD, BAD, BROKEN, END */
    size_t from;      /* of the record in the text */
    size_t size;
    size_t at;
    char why[80];
};

struct pieces {
    struct piece *pieces;
    size_t count;
    size_t capacity;
};

static inline void
pieces_add(struct pieces *pieces, struct piece piece)
{
    if (pieces->count == pieces->capacity) {
        pieces->capacity = pieces->capacity * 2 + 16;
        pieces->pieces =
            realloc(pieces->pieces, pieces->capacity * sizeof(piece));
        assert_non_null(pieces->pieces);
    }
    pieces->pieces[pieces->count++] = piece;
}

static inline void
pieces_release(struct pieces *pieces)
{
    free(pieces->pieces);
    memset(pieces, 0, sizeof(*pieces));
}

/* How much more of the text, at least a byte, the splitter sees per request. */
typedef size_t chunk_function(void *context);

static inline size_t
chunk_whole(void *context)
{
    (void)context;
    return SIZE_MAX / 2;
}

static inline size_t
chunk_byte(void *context)
{
    (void)context;
    return 0;
}

/* Converts the splitter's result for text[from...] to offsets in the text. */
static inline struct piece
piece_of(enum split split, struct colander_slice text, size_t from,
         const struct split_record *ended, const struct colander_error *err)
{
    struct piece piece = {split, from + ended->size, 0, ended->at, ""};

    assert_true(from + ended->size <= text.size);
    if (ended->record.size > 0) {
        piece.from = (size_t)(ended->record.data - text.data);
        piece.size = ended->record.size;
        assert_true(piece.from >= from);
        assert_true(piece.from + piece.size <= from + ended->size);
    }
    if (split == SPLIT_BROKEN)
        assert_true(from + ended->size + ended->at < text.size);
    else
        assert_true(ended->at <= ended->record.size);
    if (split == SPLIT_BAD || split == SPLIT_BROKEN)
        (void)snprintf(piece.why, sizeof(piece.why), "%.79s", err->message);
    return piece;
}

/* Replaces the splitter by another that knows only the state of the first. */
static inline void
splitter_forget(struct splitter *splitter)
{
    uint32_t state = splitter_state(splitter);

    splitter_init(splitter, splitter->format, splitter->delimiter);
    splitter_resume(splitter, state);
}

/* Cuts `text`, of which the splitter sees more and more, or a new splitter
 * after each piece. */
static inline void
cut(struct splitter *splitter, struct colander_slice text,
    chunk_function *chunk, void *context, bool forgets, struct pieces *pieces)
{
    struct split_record ended;
    struct colander_error err;
    enum split split = SPLIT_MORE;
    size_t from = 0;
    size_t seen = 0;

    memset(pieces, 0, sizeof(*pieces));
    while (split != SPLIT_END && split != SPLIT_BROKEN) {
        struct colander_slice shown =
            colander_slice_of(text.data + from, seen - from);

        split = splitter_next(splitter, shown, seen == text.size, &ended, &err);
        assert_true(ended.size <= shown.size);
        if (split == SPLIT_MORE) {
            size_t more = 1 + chunk(context);

            assert_true(seen < text.size);
            seen += more < text.size - seen ? more : text.size - seen;
        } else {
            pieces_add(pieces, piece_of(split, text, from, &ended, &err));
            if (forgets)
                splitter_forget(splitter);
        }
        from += ended.size;
    }
    assert_true(from == text.size || split == SPLIT_BROKEN);
}

static inline void
cut_whole(enum record_format format, struct colander_slice text,
          struct pieces *pieces)
{
    struct splitter splitter;

    splitter_init(&splitter, format, ',');
    cut(&splitter, text, chunk_whole, NULL, false, pieces);
}

/* Prints pieces that are wrong. */
static inline void
pieces_show(const char *title, struct colander_slice text,
            const struct pieces *pieces)
{
    printf("%s:\n", title);
    for (size_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->pieces[i];

        printf("  %d %zu+%zu at %zu '%.*s' %s\n", (int)piece->split,
               piece->from, piece->size, piece->at, (int)piece->size,
               text.data + piece->from, piece->why);
    }
}

static inline bool
pieces_equal(const struct pieces *a, const struct pieces *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct piece *one = &a->pieces[i];
        const struct piece *other = &b->pieces[i];

        if (one->split != other->split || one->size != other->size ||
            (one->size > 0 && one->from != other->from))
            return false;
    }
    return true;
}

static inline void
assert_pieces_equal(struct colander_slice text, const struct pieces *a,
                    const struct pieces *b)
{
    if (pieces_equal(a, b))
        return;
    printf("text (%zu):\n%.*s\n", text.size, (int)text.size, text.data);
    pieces_show("is", text, a);
    pieces_show("should be", text, b);
    fail_msg("pieces differ");
}

#endif
