/*
 * Bytes from outside, taken from the front as RocksDB encodes numbers and
 * texts. What is not there, or is none, makes the rest bad, and reads as 0.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_BYTES_IN_H
#define COLANDER_CORE_BYTES_IN_H

#include "core/core.h"

struct bytes_in {
    struct colander_slice left;
    bool is_bad;
};

static inline struct bytes_in
bytes_in(struct colander_slice bytes)
{
    const struct bytes_in in = {bytes, false};

    return in;
}

static inline bool
bytes_in_are_left(const struct bytes_in *in)
{
    return !in->is_bad && in->left.size > 0;
}

/* The next `size` bytes, borrowed. */
static inline struct colander_slice
bytes_in_take(struct bytes_in *in, uint64_t size)
{
    struct colander_slice taken = {NULL, 0};

    in->is_bad = in->is_bad || size > in->left.size;
    if (in->is_bad)
        return taken;
    taken = colander_slice_of(in->left.data, (size_t)size);
    in->left.data += size;
    in->left.size -= (size_t)size;
    return taken;
}

/* A number of `size` bytes, little-endian. */
static inline uint64_t
bytes_in_fixed(struct bytes_in *in, size_t size)
{
    const struct colander_slice bytes = bytes_in_take(in, size);
    uint64_t number = 0;

    for (size_t i = bytes.size; i-- > 0;)
        number = number << 8 | bytes.data[i];
    return number;
}

/* Seven bits a byte, the lowest first; the highest bit: there are more. */
static inline uint64_t
bytes_in_varint(struct bytes_in *in)
{
    uint64_t number = 0;
    uint64_t byte = 0x80;

    for (unsigned shift = 0; (byte & 0x80) != 0; shift += 7) {
        byte = bytes_in_fixed(in, 1);
        in->is_bad = in->is_bad || shift > 63 || (shift == 63 && byte > 1);
        if (in->is_bad)
            return 0;
        number |= (byte & 0x7f) << shift;
    }
    return number;
}

/* A varint and so many bytes. */
static inline struct colander_slice
bytes_in_text(struct bytes_in *in)
{
    return bytes_in_take(in, bytes_in_varint(in));
}

#endif
