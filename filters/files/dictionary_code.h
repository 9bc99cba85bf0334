/*
 * Blocks of dictionaries: shared by the builder and the reader.
 *
 * Bytes: filters/FORMAT.md
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_FILES_DICTIONARY_CODE_H
#define COLANDER_FILTERS_FILES_DICTIONARY_CODE_H

#include <stdint.h>

#define DICTIONARY_HEAD_SIZE 4          /* before what zstd has compressed */
#define DICTIONARY_BLOCK_MAX (1u << 20) /* bytes of the words that are read */
#define DICTIONARY_NUMBER_BITS 16       /* of the number of a block */

/* Returns the first of a block of the tag. */
static inline uint32_t
dictionary_first(unsigned tag, uint32_t number)
{
    return (uint32_t)tag << DICTIONARY_NUMBER_BITS | number;
}

#endif
