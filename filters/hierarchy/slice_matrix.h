/*
 * Matrices of presences: one column for each presence and one row for each bit,
 * so that a query of all presences reads a few rows.
 *
 * Rows are packed: 8 columns take a byte, 64 a word, more of them several
 * words. One thread writes columns that no reader uses while readers use others
 * in the same words. For that, words only need to be atomic.
 *
 * Life:   init -> write, copy, fold, move -> find -> release
 * Memory: aligned to cache lines; large ones are on large pages
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_HIERARCHY_SLICE_MATRIX_H
#define COLANDER_FILTERS_HIERARCHY_SLICE_MATRIX_H

#include "filters/presence.h"

/* Columns of a row are a power of two between these. */
#define SLICE_COLUMNS_MIN 8u
#define SLICE_COLUMNS_MAX 1024u
#define SLICE_WORDS_MAX (SLICE_COLUMNS_MAX / 64)

struct slice_matrix {
    struct presence_shape shape;
    uint32_t column_count;
    _Atomic uint64_t *words;
};

/* Returns the bytes that the bits take. */
static inline uint64_t
slice_matrix_size(const struct presence_shape *shape, uint32_t column_count)
{
    return (uint64_t)presence_size(shape) * column_count;
}

/* All bits are 0. Returns false if memory is short. */
bool slice_matrix_init(struct slice_matrix *matrix,
                       const struct presence_shape *shape,
                       uint32_t column_count);
void slice_matrix_release(struct slice_matrix *matrix);

/* Replaces `column` by the presence, folded if necessary. */
void slice_matrix_write(struct slice_matrix *matrix, uint32_t column,
                        const struct presence *presence);

/* Fills an empty `to` from `from`, which has as many blocks: the columns that
 * both have. */
void slice_matrix_copy(struct slice_matrix *to,
                       const struct slice_matrix *from);

/* Fills an empty `to` from `from`, which has twice as many blocks and the same
 * columns. */
void slice_matrix_fold(struct slice_matrix *to,
                       const struct slice_matrix *from);

/* Copies columns of `from` to columns of `to`, which has as many blocks. */
struct slice_move {
    uint16_t from;
    uint16_t to;
};

void slice_matrix_move(struct slice_matrix *to, const struct slice_matrix *from,
                       const struct slice_move *moves, size_t count);

/* Prefetches the rows of a probe for slice_matrix_find. */
void slice_matrix_prefetch(const struct slice_matrix *matrix,
                           const struct presence_probe *probe);

/* Sets in `hits` the columns of `mask` that may hold the value. Both have a bit
 * for each column, in at least one word. */
void slice_matrix_find(const struct slice_matrix *matrix,
                       const struct presence_probe *probe, const uint64_t *mask,
                       uint64_t *hits);

#endif
