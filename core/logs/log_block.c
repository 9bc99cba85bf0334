/* SPDX-License-Identifier: MIT */
#include "core/logs/log_block.h"

#include "core/bytes.h"
#include "core/crc32c.h"

#include <errno.h>
#include <unistd.h>
#include <xxhash.h>

enum colander_code
log_block_fail(const char *name, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_IO, "cannot read %s: %s", name,
                         strerror(errno));
}

/* Fills a sector that cannot be read with zeros, which are not a piece. */
static bool
skip_sector(struct log_block *block)
{
    const size_t sector = 4096 - block->size % 4096;

    if (block->at + block->size >= block->end)
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
        /* a failing disk may still read other sectors */
        const size_t left = block->has_failed ? 4096 - block->size % 4096
                                              : LOG_BLOCK_SIZE - block->size;
        ssize_t got = pread(block->fd, block->bytes + block->size, left,
                            (off_t)(at + block->size));

        if (got < 0 && errno != EINTR) {
            if (!block->has_failed)
                block->has_failed = true; /* try again, by sectors */
            else if (!skip_sector(block))
                return log_block_fail(block->name, err);
            continue;
        }
        if (got == 0)
            break;
        block->size += got > 0 ? (size_t)got : 0;
    }
    return COLANDER_OK;
}

uint64_t
log_sum_add(uint64_t sum, const uint8_t head[LOG_HEAD_SIZE])
{
    return XXH3_64bits_withSeed(head, LOG_HEAD_SIZE, sum);
}

uint64_t
log_block_after_hole(const struct log_block *block)
{
    const uint64_t next = block->at + LOG_BLOCK_SIZE;
    uint64_t data = next;
    off_t found;

    if (next >= block->end)
        return next;
    found = lseek(block->fd, (off_t)next, SEEK_DATA);
    if (found >= 0)
        data = (uint64_t)found;
    else if (errno == ENXIO)
        data = block->end - 1; /* a hole up to the end */
    return data - data % LOG_BLOCK_SIZE;
}

/* RocksDB masks checksums, since content may contain checksums. */
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
    size = bytes_get_le16(head + LOG_HEAD_SIZE_AT);
    if (head[LOG_HEAD_TYPE_AT] < LOG_PIECE_FULL ||
        head[LOG_HEAD_TYPE_AT] > LOG_PIECE_LAST ||
        size > block->size - place - LOG_HEAD_SIZE)
        return LOG_PIECE_BAD;
    if (masked(crc32c(0, head + LOG_HEAD_TYPE_AT, size + 1)) !=
        bytes_get_le32(head))
        return LOG_PIECE_BAD;
    *content = colander_slice_of(head + LOG_HEAD_SIZE, size);
    return (enum log_piece)head[LOG_HEAD_TYPE_AT];
}
