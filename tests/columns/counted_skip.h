/*
 * Counts the bytes that the source included after this header skips.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_COLUMNS_COUNTED_SKIP_H
#define TESTS_COLUMNS_COUNTED_SKIP_H

#include "columns/msgpack.h"

static size_t skipped;

static inline enum msgpack_result
counted_skip(struct msgpack_reader *reader)
{
    const uint8_t *start = reader->at;
    enum msgpack_result result = msgpack_skip(reader);

    skipped += (size_t)(reader->at - start);
    return result;
}

#define msgpack_skip(reader) counted_skip(reader)

#endif
