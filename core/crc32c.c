/*
 * CRC-32C: by an instruction of the processor if it has one, or else by a
 * table.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/crc32c.h"

#include <pthread.h>
#include <string.h>

#define POLYNOMIAL UINT32_C(0x82f63b78) /* reflected */

static uint32_t table[256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void
fill_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        table[i] = crc;
    }
}

uint32_t
crc32c_by_table(uint32_t crc, const uint8_t *data, size_t size)
{
    (void)pthread_once(&table_once, fill_table);
    crc = ~crc;
    for (size_t i = 0; i < size; i++)
        crc = crc >> 8 ^ table[(crc ^ data[i]) & 255];
    return ~crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t
add_by_instruction(uint32_t crc, const uint8_t *data, size_t size)
{
    uint64_t wide = crc;
    uint64_t word;

    for (; size >= sizeof(word); size -= sizeof(word), data += sizeof(word)) {
        memcpy(&word, data, sizeof(word));
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; size > 0; size--)
        crc = __builtin_ia32_crc32qi(crc, *data++);
    return crc;
}

uint32_t
crc32c(uint32_t crc, const uint8_t *data, size_t size)
{
    return __builtin_cpu_supports("sse4.2")
               ? ~add_by_instruction(~crc, data, size)
               : crc32c_by_table(crc, data, size);
}
#else
uint32_t
crc32c(uint32_t crc, const uint8_t *data, size_t size)
{
    return crc32c_by_table(crc, data, size);
}
#endif
