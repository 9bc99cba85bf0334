/* SPDX-License-Identifier: MIT */
#include "core/log_tail.h"

#include "core/bytes.h"
#include "core/logs/log_block.h"

#include <assert.h>

static_assert(sizeof(((struct log_tail *)NULL)->head) == LOG_HEAD_SIZE,
              "a tail keeps one head");

/* Skips the rest of a block without room for a head, one byte of a head, or
 * content. Returns the number of bytes. */
static size_t
skip(struct log_tail *tail, const uint8_t *bytes, size_t size)
{
    const size_t block_left =
        LOG_BLOCK_SIZE - (size_t)(tail->size % LOG_BLOCK_SIZE);
    size_t step = 1;

    if (tail->piece_left > 0) {
        step = size < tail->piece_left ? size : tail->piece_left;
        tail->piece_left -= step;
    } else if (tail->head_size == 0 && block_left < LOG_HEAD_SIZE) {
        return size < block_left ? size : block_left;
    } else {
        tail->head[tail->head_size++] = bytes[0];
        if (tail->head_size == LOG_HEAD_SIZE)
            tail->piece_left = bytes_get_le16(tail->head + LOG_HEAD_SIZE_AT);
    }
    return step;
}

void
log_tail_add(struct log_tail *tail, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        const size_t step = skip(tail, bytes, size);

        tail->size += step;
        bytes += step;
        size -= step;
        if (tail->head_size == LOG_HEAD_SIZE && tail->piece_left == 0) {
            tail->sum = log_sum_add(tail->sum, tail->head);
            if (tail->head[LOG_HEAD_TYPE_AT] == LOG_PIECE_FULL ||
                tail->head[LOG_HEAD_TYPE_AT] == LOG_PIECE_LAST)
                tail->whole = (struct log_extent){tail->size, tail->sum};
            tail->head_size = 0;
        }
    }
}
