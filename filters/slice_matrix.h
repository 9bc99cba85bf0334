/*
 * Matrices of presences: one column for each presence, one row for each bit, so
 * that a question of all of them reads a few rows.
 *
 * Rows are packed: 8 columns are a byte, 64 a word, more of them several words.
 * One thread writes columns that no reader asks for, while readers look at
 * others in the same words: so words are atomic, and nothing else is needed.
 *
 * Life:   init -> write, copy, fold, move -> find -> release
 * Memory: on cache lines, large ones on large pages
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_SLICE_MATRIX_H
#define COLANDER_FILTERS_SLICE_MATRIX_H

#include "filters/presence.h"

/* Columns in a row: a power of two between these. */
#define SLICE_COLUMNS_MIN 8u
#define SLICE_COLUMNS_MAX 1024u
#define SLICE_WORDS_MAX (SLICE_COLUMNS_MAX / 64)

struct slice_matrix {
    struct presence_shape shape;
    uint32_t column_count;
    _Atomic uint64_t *words;
};

/* Bytes that the bits take. */
static inline uint64_t
slice_matrix_size(const struct presence_shape *shape, uint32_t column_count)
{
    return (uint64_t)presence_size(shape) * column_count;
}

/* All zero; false when memory is short. */
bool slice_matrix_init(struct slice_matrix *matrix,
                       const struct presence_shape *shape,
                       uint32_t column_count);
void slice_matrix_release(struct slice_matrix *matrix);

/* Makes `column` the presence, folded if need be; what was there is gone. */
void slice_matrix_write(struct slice_matrix *matrix, uint32_t column,
                        const struct presence *presence);

/* Fills an empty `to` from `from` of as many blocks: the columns both have. */
void slice_matrix_copy(struct slice_matrix *to,
                       const struct slice_matrix *from);

/* Fills an empty `to` from `from` of twice as many blocks, columns alike. */
void slice_matrix_fold(struct slice_matrix *to,
                       const struct slice_matrix *from);

/* Makes columns of `to` those of `from`, blocks alike. */
struct slice_move {
    uint16_t from;
    uint16_t to;
};

void slice_matrix_move(struct slice_matrix *to, const struct slice_matrix *from,
                       const struct slice_move *moves, size_t count);

/* Asks for the rows of a probe ahead of slice_matrix_find. */
void slice_matrix_prefetch(const struct slice_matrix *matrix,
                           const struct presence_probe *probe);

/* The columns of `mask` that may hold the value, in `hits`; both have a bit for
 * each column, in at least one word. */
void slice_matrix_find(const struct slice_matrix *matrix,
                       const struct presence_probe *probe, const uint64_t *mask,
                       uint64_t *hits);

#endif
