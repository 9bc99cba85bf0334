/*
 * CRC-32C, the checksum of RocksDB's logs.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_CORE_CRC32C_H
#define COLANDER_CORE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of bytes whose checksum is `crc` (none: 0), followed by
 * `data`. */
uint32_t crc32c(uint32_t crc, const uint8_t *data, size_t size);

/* The same, without special instructions. */
uint32_t crc32c_by_table(uint32_t crc, const uint8_t *data, size_t size);

#endif
