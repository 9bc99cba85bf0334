/*
 * The whole records of a log that is being written.
 *
 * The sum of a log is a hash of the heads of its pieces, in their order. A head
 * has the size and the checksum of a piece. So a log that has the same pieces
 * in another order, or those of another log, has another sum.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_LOG_TAIL_H
#define COLANDER_CORE_LOG_TAIL_H

#include <stddef.h>
#include <stdint.h>

/* The whole records at the beginning of a log. */
struct log_extent {
    uint64_t size;
    uint64_t sum; /* 0: not known, or there are none */
};

/* Starts zeroed. */
struct log_tail {
    uint64_t size;
    struct log_extent whole; /* up to the end of the last whole record */
    uint64_t sum;            /* of all pieces so far */
    size_t head_size;  /* bytes of the next head, as far as they were added */
    size_t piece_left; /* bytes of the content that are still to come */
    uint8_t head[7];
};

/* Adds bytes, which may be cut anywhere. */
void log_tail_add(struct log_tail *tail, const uint8_t *bytes, size_t size);

#endif
