/*
 * Blocks of RocksDB's logs, and the pieces of records in them.
 *
 * A log is a sequence of blocks of 32 KiB. A record is one piece in a block, or
 * a first, middle and last piece in several. A piece has a head: checksum u32
 * of type and content, size u16, type u8. Zeros fill a block that has no room
 * for a head.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_LOGS_LOG_BLOCK_H
#define COLANDER_CORE_LOGS_LOG_BLOCK_H

#include "core/core.h"

#define LOG_BLOCK_SIZE 32768
#define LOG_HEAD_SIZE 7
#define LOG_HEAD_SIZE_AT 4
#define LOG_HEAD_TYPE_AT 6

enum log_piece {
    LOG_PIECE_BAD, /* not a piece, or not what was written */
    LOG_PIECE_FULL,
    LOG_PIECE_FIRST,
    LOG_PIECE_MIDDLE,
    LOG_PIECE_LAST,
};

/* A block of the log that is open as `fd`. */
struct log_block {
    int fd;
    const char *name;
    uint64_t end;    /* the size of the file */
    bool has_failed; /* the disk could not read some of it: there are zeros */
    uint64_t at;     /* offset in the file */
    size_t size;     /* less than LOG_BLOCK_SIZE: this is the last block */
    uint8_t bytes[LOG_BLOCK_SIZE];
};

/* Reads the block at `at`, which is empty at the end of the file. */
COLANDER_CHECKED enum colander_code log_block_read(struct log_block *block,
                                                   uint64_t at,
                                                   struct colander_error *err);

/* Returns the offset of the next block that is not in a hole of the file. A
 * hole reads as zeros, and may be larger than any disk. Of one at the end, the
 * last block is returned. */
uint64_t log_block_after_hole(const struct log_block *block);

/* Returns the kind of the piece at `place` of the block. Sets *content to its
 * content, borrowed. */
enum log_piece log_block_piece(const struct log_block *block, size_t place,
                               struct colander_slice *content);

/* Returns the sum of a log after a piece with this head. See log_tail.h. */
uint64_t log_sum_add(uint64_t sum, const uint8_t head[LOG_HEAD_SIZE]);

/* Reports that the log cannot be read, as errno says. Returns IO. */
enum colander_code log_block_fail(const char *name, struct colander_error *err);

#endif
