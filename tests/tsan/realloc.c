/*
 * Reports to ThreadSanitizer what realloc moves. Separate from accesses.c,
 * because some tests define a failing realloc.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tsan/accesses.h"

void *
__wrap_realloc(void *memory, size_t size)
{
    tsan_freed(memory);
    return __real_realloc(memory, size);
}
