/*
 * Blocks of RocksDB's logs: see log_block.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/log_block.h"

#include "core/crc32c.h"

#include <errno.h>
#include <unistd.h>

enum colander_code
log_block_fail(const char *name, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_IO, "cannot read %s: %s", name,
                         strerror(errno));
}

/* Puts zeros, which are no piece, where a sector cannot be read. */
static bool
step_over(struct log_block *block)
{
    const size_t sector = 4096 - block->size % 4096;

    if (!block->steps_over || block->at + block->size >= block->end)
        return false;
    memset(block->bytes + block->size, 0, sector);
    block->size += sector;
    if (block->at + block->size > block->end)
        block->size = (size_t)(block->end - block->at);
    return true;
}

enum colander_code
log_block_read(struct log_block *block, uint64_t at, struct colander_error *err)
{
    block->at = at;
    block->size = 0;
    while (block->size < LOG_BLOCK_SIZE) {
        /* what a disk that fails may read by itself is asked for so */
        const size_t left = block->has_failed ? 4096 - block->size % 4096
                                              : LOG_BLOCK_SIZE - block->size;
        ssize_t got = pread(block->fd, block->bytes + block->size, left,
                            (off_t)(at + block->size));

        if (got < 0 && errno != EINTR) {
            if (block->steps_over && !block->has_failed)
                block->has_failed = true; /* once more, by sectors */
            else if (!step_over(block))
                return log_block_fail(block->name, err);
            continue;
        }
        if (got == 0)
            break;
        block->size += got > 0 ? (size_t)got : 0;
    }
    return COLANDER_OK;
}

static uint32_t
get_32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
           (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Checksums are stored so that those of bytes with checksums differ. */
static uint32_t
masked(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8);
}

enum log_piece
log_block_piece(const struct log_block *block, size_t place,
                struct colander_slice *content)
{
    const uint8_t *head = block->bytes + place;
    size_t size;

    if (place > block->size || block->size - place < LOG_HEAD_SIZE)
        return LOG_PIECE_BAD;
    size = (size_t)head[4] | (size_t)head[5] << 8;
    if (head[6] < LOG_PIECE_FULL || head[6] > LOG_PIECE_LAST ||
        size > block->size - place - LOG_HEAD_SIZE)
        return LOG_PIECE_BAD;
    if (masked(crc32c(0, head + LOG_HEAD_SIZE - 1, size + 1)) != get_32(head))
        return LOG_PIECE_BAD;
    *content = colander_slice_of(head + LOG_HEAD_SIZE, size);
    return (enum log_piece)head[6];
}
