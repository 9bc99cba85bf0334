/* SPDX-License-Identifier: MIT */
#include "core/log_tail.h"

#include "core/bytes.h"
#include "core/logs/log_block.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(((struct log_tail *)NULL)->head) == LOG_HEAD_SIZE,
              "a tail keeps one head");

static size_t
smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Skips the rest of a block without room for a head, or the rest of a head or
 * of its content. Returns the number of bytes. */
static size_t
skip(struct log_tail *tail, const uint8_t *bytes, size_t size)
{
    const size_t block_left =
        LOG_BLOCK_SIZE - (size_t)(tail->size % LOG_BLOCK_SIZE);
    size_t step;

    if (tail->piece_left > 0) {
        step = smaller(size, tail->piece_left);
        tail->piece_left -= step;
    } else if (tail->head_size == 0 && block_left < LOG_HEAD_SIZE) {
        step = smaller(size, block_left);
    } else {
        step = smaller(size, LOG_HEAD_SIZE - tail->head_size);
        memcpy(tail->head + tail->head_size, bytes, step);
        tail->head_size += step;
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
