/*
 * Matrices of presences.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/hierarchy/slice_matrix.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#define CACHE_LINE 64
#define LARGE_PAGE (2u << 20)

static inline uint64_t
load(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

/* Only one thread writes, so a load and a store need not be atomic together. */
static inline void
store(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static inline size_t
row_count_of(const struct slice_matrix *matrix)
{
    return (size_t)matrix->shape.block_count * PRESENCE_BLOCK_BITS;
}

/* ---------------------------------------------------------------- life --- */

bool
slice_matrix_init(struct slice_matrix *matrix,
                  const struct presence_shape *shape, uint32_t column_count)
{
    uint64_t size = slice_matrix_size(shape, column_count);
    size_t alignment = size < LARGE_PAGE ? CACHE_LINE : LARGE_PAGE;

    assert(column_count >= SLICE_COLUMNS_MIN &&
           column_count <= SLICE_COLUMNS_MAX);
    assert((column_count & (column_count - 1)) == 0);
    matrix->words = NULL;
    if (size > SIZE_MAX - LARGE_PAGE)
        return false;
    size = (size + alignment - 1) / alignment * alignment;
    matrix->words = aligned_alloc(alignment, size);
    if (matrix->words == NULL)
        return false;
    /* Each query looks at places far apart. With small pages, address
     * translation would cost more than the bits. The system may refuse. */
    if (alignment == LARGE_PAGE)
        (void)madvise((void *)matrix->words, size, MADV_HUGEPAGE);
    memset((void *)matrix->words, 0, size);
    matrix->shape = *shape;
    matrix->column_count = column_count;
    return true;
}

void
slice_matrix_release(struct slice_matrix *matrix)
{
    free((void *)matrix->words);
    matrix->words = NULL;
}

/* ------------------------------------------------------------- changing --- */

/* Moves eight bits to the lowest bits of eight bytes. */
static inline uint64_t
spread(uint64_t bits)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t apart = bits * ones & UINT64_C(0x8040201008040201);

    return (apart + 0x7f * ones) >> 7 & ones;
}

/* Writes bits of 64 rows of 8 columns, from bit `at` on, 8 rows a word. Written
 * one by one, each would wait for the one before in its word. */
static void
write_narrow(struct slice_matrix *matrix, size_t at, uint64_t bits)
{
    const uint64_t written = spread(0xff) << at % 64;

    for (_Atomic uint64_t *place = matrix->words + at / 64, *end = place + 8;
         place < end; place++, bits >>= 8)
        store(place, (load(place) & ~written) | spread(bits & 0xff) << at % 64);
}

static void
write_wide(struct slice_matrix *matrix, size_t at, uint64_t bits)
{
    for (unsigned row = 0; row < 64; row++, bits >>= 1) {
        _Atomic uint64_t *place = matrix->words + at / 64;

        store(place, (load(place) & ~(UINT64_C(1) << at % 64)) |
                         (bits & 1) << at % 64);
        at += matrix->column_count;
    }
}

void
slice_matrix_write(struct slice_matrix *matrix, uint32_t column,
                   const struct presence *presence)
{
    const size_t count =
        (size_t)matrix->shape.block_count * PRESENCE_BLOCK_WORDS;
    const size_t all =
        (size_t)presence->shape.block_count * PRESENCE_BLOCK_WORDS;

    assert(column < matrix->column_count);
    assert(all % count == 0);
    for (size_t i = 0; i < count; i++) {
        size_t at = i * 64 * matrix->column_count + column;
        uint64_t word = 0;

        for (size_t j = i; j < all; j += count)
            word |= presence->words[j];
        if (matrix->column_count == 8)
            write_narrow(matrix, at, word);
        else
            write_wide(matrix, at, word);
    }
}

/* Returns the bits of a narrow row, or the first word of a wide one. */
static inline uint64_t
row_start(const struct slice_matrix *matrix, size_t row)
{
    size_t at = row * matrix->column_count;
    uint64_t bits = load(matrix->words + at / 64) >> at % 64;

    if (matrix->column_count < 64)
        bits &= (UINT64_C(1) << matrix->column_count) - 1;
    return bits;
}

void
slice_matrix_copy(struct slice_matrix *to, const struct slice_matrix *from)
{
    const uint32_t common = to->column_count < from->column_count
                                ? to->column_count
                                : from->column_count;
    const size_t rows = row_count_of(to);
    const uint64_t mask =
        common < 64 ? (UINT64_C(1) << common) - 1 : UINT64_MAX;

    assert(rows == row_count_of(from));
    if (to->column_count == from->column_count) {
        for (size_t i = 0; i < rows * common / 64; i++)
            store(to->words + i, load(from->words + i));
        return;
    }
    for (size_t row = 0; row < rows; row++) {
        size_t to_at = row * to->column_count;
        size_t from_at = row * from->column_count;

        if (common < 64) {
            _Atomic uint64_t *place = to->words + to_at / 64;

            store(place, load(place) | (row_start(from, row) & mask)
                                           << to_at % 64);
            continue;
        }
        for (size_t i = 0; i < common / 64; i++)
            store(to->words + to_at / 64 + i,
                  load(from->words + from_at / 64 + i));
    }
}

void
slice_matrix_fold(struct slice_matrix *to, const struct slice_matrix *from)
{
    const size_t half = row_count_of(to) * to->column_count / 64;

    assert(to->column_count == from->column_count);
    assert(to->shape.block_count * 2 == from->shape.block_count);
    for (size_t i = 0; i < half; i++)
        store(to->words + i,
              load(from->words + i) | load(from->words + half + i));
}

void
slice_matrix_move(struct slice_matrix *to, const struct slice_matrix *from,
                  const struct slice_move *moves, size_t count)
{
    const size_t rows = row_count_of(to);

    assert(rows == row_count_of(from));
    for (size_t row = 0; count > 0 && row < rows; row++) {
        for (size_t i = 0; i < count; i++) {
            size_t from_at = row * from->column_count + moves[i].from;
            size_t to_at = row * to->column_count + moves[i].to;
            _Atomic uint64_t *place = to->words + to_at / 64;
            uint64_t bit = load(from->words + from_at / 64) >> from_at % 64 & 1;

            store(place, (load(place) & ~(UINT64_C(1) << to_at % 64)) |
                             bit << to_at % 64);
        }
    }
}

/* -------------------------------------------------------------- asking --- */

/* Returns the position in the matrix of the row of the probe's n-th bit. */
static inline size_t
row_at(const struct slice_matrix *matrix, const struct presence_probe *probe,
       unsigned n)
{
    size_t row = (size_t)probe->block * PRESENCE_BLOCK_BITS + probe->bits[n];

    return row * matrix->column_count;
}

void
slice_matrix_prefetch(const struct slice_matrix *matrix,
                      const struct presence_probe *probe)
{
    const size_t line_words = CACHE_LINE / sizeof(uint64_t);

    for (unsigned n = 0; n < matrix->shape.probes; n++) {
        const _Atomic uint64_t *row =
            matrix->words + row_at(matrix, probe, n) / 64;

        for (size_t i = 0; i == 0 || i < matrix->column_count / 64;
             i += line_words)
            __builtin_prefetch((const void *)(row + i));
    }
}

/* ANDs `count` words of the rows into `hits`. They stay in registers, because
 * `count` is a constant wherever this is inlined. */
static inline __attribute__((always_inline)) void
and_strip(const struct slice_matrix *matrix, const struct presence_probe *probe,
          size_t first, size_t count, uint64_t *hits)
{
    uint64_t strip[8];

    for (size_t i = 0; i < count; i++)
        strip[i] = hits[first + i];
    for (unsigned n = 0; n < matrix->shape.probes; n++) {
        const _Atomic uint64_t *row =
            matrix->words + row_at(matrix, probe, n) / 64 + first;
        uint64_t any = 0;

        for (size_t i = 0; i < count; i++) {
            strip[i] &= load(row + i);
            any |= strip[i];
        }
        if (any == 0)
            break;
    }
    for (size_t i = 0; i < count; i++)
        hits[first + i] = strip[i];
}

static void
and_narrow(const struct slice_matrix *matrix,
           const struct presence_probe *probe, uint64_t *hits)
{
    uint64_t row = *hits;

    for (unsigned n = 0; n < matrix->shape.probes && row != 0; n++) {
        size_t at = row_at(matrix, probe, n);

        row &= load(matrix->words + at / 64) >> at % 64;
    }
    *hits = row;
}

void
slice_matrix_find(const struct slice_matrix *matrix,
                  const struct presence_probe *probe, const uint64_t *mask,
                  uint64_t *hits)
{
    const size_t word_count = matrix->column_count / 64;

    for (size_t i = 0; i == 0 || i < word_count; i++)
        hits[i] = mask[i];
    switch (word_count) {
    case 0:
        /* the mask has no bits of the next row */
        and_narrow(matrix, probe, hits);
        break;
    case 1:
        and_strip(matrix, probe, 0, 1, hits);
        break;
    case 2:
        and_strip(matrix, probe, 0, 2, hits);
        break;
    case 4:
        and_strip(matrix, probe, 0, 4, hits);
        break;
    default:
        for (size_t first = 0; first < word_count; first += 8)
            and_strip(matrix, probe, first, 8, hits);
    }
}
