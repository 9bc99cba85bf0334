/*
 * Bits: numbers in as few bits as possible, one after the other.
 *
 * The first bit is the lowest bit of the first byte. A number of fixed width
 * begins with its lowest bit. The codes:
 *     unary   n zeros and a one                               1 + n bits
 *     gamma   of n >= 1, of which 2^z is the highest bit:
 *             z in unary, then the z bits below the highest   1 + 2z bits
 *     rice    of n, with parameter k: n >> k in unary, then
 *             the k lowest bits                               1 + k + (n >> k)
 *     below   of n < limit, where 2^(w-1) < limit <= 2^w and u = 2^w - limit:
 *             n < u: n in w-1 bits; else n + u: its upper w-1 bits, then its
 *             lowest                                          w-1 or w bits
 *
 * A reader never leaves its bytes, whatever they hold. Reading past `end`
 * returns some number, and from then on bit_overran returns true. A writer
 * writes only into room that bit_writer_reserve made.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_BITS_H
#define COLANDER_FILTERS_BITS_H

#include "core/core.h"

#include <endian.h>

#define BITS_WIDTH_MAX 56 /* of a number of fixed width */
#define BITS_PEEK 57      /* bits that a reader can see at once */
#define BITS_GAMMA_MAX 27 /* highest z of a gamma that can be read */

/* Returns 2^width - 1. Requires width < 64. */
static inline uint64_t
bits_mask(unsigned width)
{
    return (UINT64_C(1) << width) - 1;
}

/* Returns the position of the highest bit of `number`, which is not 0. */
static inline unsigned
bits_log2(uint64_t number)
{
    return 63u - (unsigned)__builtin_clzll(number);
}

/* Returns the fewest bits that hold all numbers below `limit` (>= 1): w. */
static inline unsigned
bits_width_below(uint64_t limit)
{
    return limit == 1 ? 0 : bits_log2(limit - 1) + 1;
}

static inline unsigned
bits_gamma_size(uint64_t number)
{
    return 2 * bits_log2(number) + 1;
}

/* Returns the Rice parameter for the gaps of `count` evenly distributed numbers
 * below `limit`: log2 of the mean gap. */
static inline unsigned
bits_rice_parameter(uint32_t limit, uint32_t count)
{
    uint32_t mean = limit / (count + 1);

    return mean == 0 ? 0 : bits_log2(mean);
}

/* ------------------------------------------------------------- writing --- */

struct bit_writer {
    struct colander_buffer bytes; /* whole bytes; owned */
    uint64_t word;                /* bits that do not fill a byte yet */
    unsigned filled;              /* how many: 0 to 7 */
};

#define BIT_WRITER_EMPTY                                                       \
    {                                                                          \
        COLANDER_BUFFER_EMPTY, 0, 0                                            \
    }

/* Makes room for `size` more bytes of bits. */
static inline enum colander_code
bit_writer_reserve(struct bit_writer *writer, size_t size,
                   struct colander_error *err)
{
    /* Each write stores a whole word. */
    return colander_buffer_reserve(&writer->bytes, size + sizeof(uint64_t),
                                   err);
}

/* Requires `number` < 2^width, and `width` at most BITS_WIDTH_MAX. */
static inline void
bit_put(struct bit_writer *writer, uint64_t number, unsigned width)
{
    struct colander_buffer *bytes = &writer->bytes;
    uint64_t stored;

    writer->word |= number << writer->filled;
    writer->filled += width;
    stored = htole64(writer->word);
    memcpy(bytes->data + bytes->size, &stored, sizeof(stored));
    bytes->size += writer->filled / 8;
    writer->word >>= writer->filled / 8 * 8;
    writer->filled %= 8;
}

/* Fills the last byte with zeros. */
static inline void
bit_put_padding(struct bit_writer *writer)
{
    if (writer->filled > 0)
        bit_put(writer, 0, 8 - writer->filled);
}

static inline void
bit_put_unary(struct bit_writer *writer, uint64_t number)
{
    for (; number >= 32; number -= 32)
        bit_put(writer, 0, 32);
    bit_put(writer, UINT64_C(1) << number, (unsigned)number + 1);
}

static inline void
bit_put_gamma(struct bit_writer *writer, uint64_t number)
{
    unsigned log2 = bits_log2(number);

    bit_put_unary(writer, log2);
    bit_put(writer, number & bits_mask(log2), log2);
}

static inline void
bit_put_rice(struct bit_writer *writer, uint64_t number, unsigned parameter)
{
    bit_put_unary(writer, number >> parameter);
    bit_put(writer, number & bits_mask(parameter), parameter);
}

static inline void
bit_put_below(struct bit_writer *writer, uint32_t number, uint32_t limit)
{
    unsigned width = bits_width_below(limit);
    uint64_t spare = (UINT64_C(1) << width) - limit;

    if (width == 0)
        return;
    if (number < spare) {
        bit_put(writer, number, width - 1);
    } else {
        bit_put(writer, (number + spare) >> 1, width - 1);
        bit_put(writer, (number + spare) & 1, 1);
    }
}

/* ------------------------------------------------------------- reading --- */

struct bit_reader {
    const uint8_t *data; /* borrowed */
    size_t size;         /* bytes that may be read */
    uint64_t at;         /* the next bit */
    uint64_t end;        /* the first bit that may not be used */
};

static inline bool
bit_overran(const struct bit_reader *reader)
{
    return reader->at > reader->end;
}

/* Marks the reader as one that overran: its contents are impossible. */
static inline void
bit_spoil(struct bit_reader *reader)
{
    reader->at = reader->end + 1;
}

/* Returns at least the next BITS_PEEK bits; after the last byte, zeros. */
static inline uint64_t
bit_peek(const struct bit_reader *reader)
{
    uint64_t byte = reader->at / 8;
    uint64_t word = 0;

    if (__builtin_expect(byte + sizeof(word) <= reader->size, 1))
        memcpy(&word, reader->data + byte, sizeof(word));
    else if (byte < reader->size)
        memcpy(&word, reader->data + byte, reader->size - byte);
    return le64toh(word) >> reader->at % 8;
}

/* Requires `width` of at most BITS_WIDTH_MAX. */
static inline uint64_t
bit_take(struct bit_reader *reader, unsigned width)
{
    uint64_t number = bit_peek(reader) & bits_mask(width);

    reader->at += width;
    return number;
}

static inline uint64_t
bit_take_unary(struct bit_reader *reader)
{
    uint64_t zeros = 0;

    for (;;) {
        uint64_t word = bit_peek(reader);

        if (word != 0) {
            unsigned last = (unsigned)__builtin_ctzll(word);

            reader->at += last + 1;
            return zeros + last;
        }
        zeros += BITS_PEEK;
        reader->at += BITS_PEEK;
        if (bit_overran(reader))
            return zeros;
    }
}

/* Returns 1 to 2^28 - 1. */
static inline uint32_t
bit_take_gamma(struct bit_reader *reader)
{
    const uint64_t word = bit_peek(reader);
    const uint64_t guard = UINT64_C(1) << (BITS_GAMMA_MAX + 1);
    unsigned log2 = (unsigned)__builtin_ctzll(word | guard);

    if (log2 > BITS_GAMMA_MAX) {
        bit_spoil(reader);
        return 1;
    }
    reader->at += 2 * log2 + 1;
    return (uint32_t)(UINT64_C(1) << log2 |
                      (word >> (log2 + 1) & bits_mask(log2)));
}

static inline uint64_t
bit_take_rice(struct bit_reader *reader, unsigned parameter)
{
    uint64_t upper = bit_take_unary(reader);

    return upper << parameter | bit_take(reader, parameter);
}

/* Returns a number below `limit`. */
static inline uint32_t
bit_take_below(struct bit_reader *reader, uint32_t limit)
{
    unsigned width = bits_width_below(limit);
    uint64_t spare = (UINT64_C(1) << width) - limit;
    uint64_t word;
    uint64_t number;

    if (width == 0)
        return 0;
    word = bit_peek(reader);
    number = word & bits_mask(width - 1);
    if (number < spare) {
        reader->at += width - 1;
        return (uint32_t)number;
    }
    reader->at += width;
    return (uint32_t)((number << 1 | (word >> (width - 1) & 1)) - spare);
}

#endif
