/*
 * The bytes of summaries: shared by their writer and their reader.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_FILTERS_FILES_SUMMARY_BYTES_H
#define COLANDER_FILTERS_FILES_SUMMARY_BYTES_H

#include "filters/summary.h"

#define SUMMARY_MAGIC "COLSUMM\n" /* at the beginning and at the end */
#define SUMMARY_MAGIC_SIZE 8
#define SUMMARY_BEGINNING_SIZE 8
#define SUMMARY_FOOTER_SIZE 48

#define SUMMARY_CELL_SIZE ((size_t)PRESENCE_BLOCK_BITS / 8)

/* Returns the bytes of a block without its checksum: the same block of the
 * presence of each part. */
static inline size_t
summary_block_size(uint32_t column_count)
{
    return column_count * SUMMARY_CELL_SIZE;
}

#endif
