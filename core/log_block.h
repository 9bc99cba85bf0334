/*
 * Blocks of RocksDB's logs, and the pieces of records in them.
 *
 * A log is a row of blocks of 32 KiB. A record lies in one of them, or in
 * several as a first, middle and last piece. Before each piece stands its head:
 * checksum of type and content, size, type. Where less than a head is left of a
 * block there are zeros.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_LOG_BLOCK_H
#define COLANDER_CORE_LOG_BLOCK_H

#include "core/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LOG_BLOCK_SIZE 32768
#define LOG_HEAD_SIZE 7

enum log_piece {
    LOG_PIECE_BAD, /* none, or not what was written */
    LOG_PIECE_FULL,
    LOG_PIECE_FIRST,
    LOG_PIECE_MIDDLE,
    LOG_PIECE_LAST,
};

/* A block of the log that is open under `fd`. */
struct log_block {
    int fd;
    const char *name;
    bool steps_over; /* what cannot be read is zeros: then it is told by */
    bool has_failed; /* this, and */
    uint64_t end;    /* the file goes on up to here */
    uint64_t at;     /* in the file */
    size_t size;     /* less than LOG_BLOCK_SIZE: the last */
    uint8_t bytes[LOG_BLOCK_SIZE];
};

/* Reads the block at `at`; an empty one at the end. */
COLANDER_CHECKED enum colander_code log_block_read(struct log_block *block,
                                                   uint64_t at,
                                                   struct colander_error *err);

/* The piece at a place of the block; *content is what it has, borrowed. */
enum log_piece log_block_piece(const struct log_block *block, size_t place,
                               struct colander_slice *content);

/* IO: the log cannot be read, as errno says. */
enum colander_code log_block_fail(const char *name, struct colander_error *err);

#ifdef __cplusplus
}
#endif

#endif
