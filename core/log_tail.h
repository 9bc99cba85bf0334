/*
 * The whole records of a log that is being written.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_LOG_TAIL_H
#define COLANDER_CORE_LOG_TAIL_H

#include <stddef.h>
#include <stdint.h>

/* Starts zeroed. */
struct log_tail {
    uint64_t size;
    uint64_t whole;    /* bytes up to the end of the last whole record */
    size_t head_size;  /* bytes of the next head, as far as they were added */
    size_t piece_left; /* bytes of the content that are still to come */
    uint8_t head[7];
};

/* Adds bytes, which may be cut anywhere. */
void log_tail_add(struct log_tail *tail, const uint8_t *bytes, size_t size);

#endif
